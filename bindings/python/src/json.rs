//! From JSON text to Python objects, as `json.loads` makes them.

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::strings::Strings;

/// Reads JSON text that was validated before. On text that was not, it fails; it never panics.
pub(crate) struct Parser<'a, 'py, 's> {
    py: Python<'py>,
    text: &'a str,
    at: usize,
    pub(crate) strings: &'s mut Strings,
    open: Vec<Open<'py>>,
    plain: Vec<u8>,
    /// The interned `type`: its values are few.
    type_name: Bound<'py, PyString>,
}

/// A container whose end has not been read. An explicit stack: nesting is as deep as the CLI likes.
enum Open<'py> {
    List(Bound<'py, PyList>),
    Dict(Bound<'py, PyDict>, Bound<'py, PyString>),
}

/// A string as it stands between its quotes.
#[derive(Clone, Copy)]
pub(crate) struct Quoted<'a> {
    pub(crate) text: &'a str,
    pub(crate) escaped: bool,
}

impl<'a, 'py, 's> Parser<'a, 'py, 's> {
    pub(crate) fn new(py: Python<'py>, text: &'a str, strings: &'s mut Strings) -> Self {
        let type_name = strings.type_name(py);
        Parser {
            py,
            text,
            at: 0,
            strings,
            open: Vec::new(),
            plain: Vec::new(),
            type_name,
        }
    }

    pub(crate) fn py(&self) -> Python<'py> {
        self.py
    }

    /// Reads the text from its start again.
    pub(crate) fn restart(&mut self) {
        self.at = 0;
        self.open.clear();
    }

    fn malformed<T>(&self) -> PyResult<T> {
        Err(PyValueError::new_err(format!(
            "malformed JSON at byte {}",
            self.at
        )))
    }

    /// The next byte that is not white space; it is not taken. 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return byte;
            }
            self.at += 1;
        }
        0
    }

    /// Takes the next byte if it is this one.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    /// Begins an object: whether it has a member.
    pub(crate) fn begin_object(&mut self) -> PyResult<bool> {
        match self.take(b'{') {
            true => Ok(!self.take(b'}')),
            false => self.malformed(),
        }
    }

    /// Behind a member: whether another one follows.
    pub(crate) fn more_members(&mut self) -> PyResult<bool> {
        match self.peek() {
            b',' => {
                self.at += 1;
                Ok(true)
            }
            b'}' => {
                self.at += 1;
                Ok(false)
            }
            _ => self.malformed(),
        }
    }

    /// Begins an array: whether it has an element.
    pub(crate) fn begin_array(&mut self) -> PyResult<bool> {
        match self.take(b'[') {
            true => Ok(!self.take(b']')),
            false => self.malformed(),
        }
    }

    /// Behind an element: whether another one follows.
    pub(crate) fn more_elements(&mut self) -> PyResult<bool> {
        match self.peek() {
            b',' => {
                self.at += 1;
                Ok(true)
            }
            b']' => {
                self.at += 1;
                Ok(false)
            }
            _ => self.malformed(),
        }
    }

    /// A member's name, and the colon behind it.
    #[inline]
    pub(crate) fn name(&mut self) -> PyResult<Quoted<'a>> {
        let name = self.quoted()?;
        match self.take(b':') {
            true => Ok(name),
            false => self.malformed(),
        }
    }

    #[inline]
    fn quoted(&mut self) -> PyResult<Quoted<'a>> {
        if !self.take(b'"') {
            return self.malformed();
        }
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        loop {
            let rest = bytes.get(self.at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                None => return self.malformed(),
                Some(found) => {
                    self.at += found;
                    if rest.get(found) == Some(&b'"') {
                        break;
                    }
                    escaped = true;
                    self.at += 2;
                }
            }
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        Ok(Quoted { text, escaped })
    }

    /// A whole value.
    pub(crate) fn value(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let floor = self.open.len();
        loop {
            let mut done = match self.peek() {
                b'{' => {
                    let dict = PyDict::new(self.py);
                    if self.begin_object()? {
                        let name = self.interned_name()?;
                        self.open.push(Open::Dict(dict, name));
                        continue;
                    }
                    dict.into_any()
                }
                b'[' => {
                    let list = PyList::empty(self.py);
                    if self.begin_array()? {
                        self.open.push(Open::List(list));
                        continue;
                    }
                    list.into_any()
                }
                b'"' if self.is_type() => self.repeated()?,
                b'"' => {
                    let text = self.quoted()?;
                    self.string(text)?
                }
                _ => self.scalar()?,
            };
            loop {
                if self.open.len() == floor {
                    return Ok(done);
                }
                let more = match self.open.last_mut() {
                    Some(Open::Dict(dict, name)) => {
                        set_item(dict, name, &done)?;
                        self.more_members()?
                    }
                    Some(Open::List(list)) => {
                        append(list, &done)?;
                        self.more_elements()?
                    }
                    None => false,
                };
                if more {
                    break;
                }
                done = match self.open.pop() {
                    Some(Open::Dict(dict, _)) => dict.into_any(),
                    Some(Open::List(list)) => list.into_any(),
                    None => return self.malformed(),
                };
            }
            if matches!(self.open.last(), Some(Open::Dict(..))) {
                let next = self.interned_name()?;
                if let Some(Open::Dict(_, name)) = self.open.last_mut() {
                    *name = next;
                }
            }
        }
    }

    /// Whether the value that is read is that of a member named `type`.
    #[inline]
    fn is_type(&self) -> bool {
        match self.open.last() {
            Some(Open::Dict(_, name)) => name.is(&self.type_name),
            _ => false,
        }
    }

    fn interned_name(&mut self) -> PyResult<Bound<'py, PyString>> {
        let name = self.name()?;
        if !name.escaped {
            return self.strings.get(self.py, name.text);
        }
        let text = self.string(name)?;
        Ok(text.cast_into::<PyString>()?)
    }

    /// The Python string of a quoted one.
    pub(crate) fn string(&mut self, quoted: Quoted<'_>) -> PyResult<Bound<'py, PyAny>> {
        if !quoted.escaped {
            return new_string(self.py, quoted.text.as_bytes());
        }
        self.plain.clear();
        match unescape(quoted.text, &mut self.plain) {
            Some(Surrogates::None) => new_string(self.py, &self.plain),
            Some(Surrogates::Lone) => lone_surrogates(self.py, &self.plain),
            None => self.malformed(),
        }
    }

    /// A value that repeats from message to message: the same Python string each time.
    pub(crate) fn repeated(&mut self) -> PyResult<Bound<'py, PyAny>> {
        if self.peek() != b'"' {
            return self.value();
        }
        let quoted = self.quoted()?;
        if quoted.escaped || quoted.text.len() > Strings::LONGEST {
            return self.string(quoted);
        }
        Ok(self.strings.get(self.py, quoted.text)?.into_any())
    }

    fn scalar(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if !matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') {
                break;
            }
            self.at += 1;
        }
        let py = self.py;
        let text = self.text.get(start..self.at).unwrap_or_default();
        Ok(match text {
            "null" => py.None().into_bound(py),
            "true" => true.into_pyobject(py)?.to_owned().into_any(),
            "false" => false.into_pyobject(py)?.to_owned().into_any(),
            _ => match text.parse::<i64>() {
                // -0 is an integer in JSON and in Python.
                Ok(number) => number.into_pyobject(py)?.into_any(),
                Err(_) if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) => {
                    match text.parse::<f64>() {
                        Ok(number) => number.into_pyobject(py)?.into_any(),
                        Err(_) => return self.malformed(),
                    }
                }
                Err(_) => big_integer(py, text)?,
            },
        })
    }

    /// Steps over a value.
    pub(crate) fn skip(&mut self) -> PyResult<()> {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                b'"' => {
                    self.quoted()?;
                }
                b'{' | b'[' => {
                    self.at += 1;
                    depth += 1;
                    continue;
                }
                b'}' | b']' if depth > 0 => {
                    self.at += 1;
                    depth -= 1;
                }
                b',' | b':' if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                0 => return self.malformed(),
                _ => {
                    let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
                    let length = rest
                        .iter()
                        .position(|byte| {
                            matches!(
                                byte,
                                b',' | b'}' | b']' | b':' | b' ' | b'\n' | b'\r' | b'\t'
                            )
                        })
                        .unwrap_or(rest.len());
                    if length == 0 {
                        return self.malformed();
                    }
                    self.at += length;
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// The Python object of JSON text.
pub(crate) fn loads<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    Strings::with(|strings| Parser::new(py, text, strings).value())
}

/// The values of these members of a JSON object.
pub(crate) fn members<'py, const N: usize>(
    py: Python<'py>,
    text: &str,
    names: [&str; N],
) -> PyResult<[Option<Bound<'py, PyAny>>; N]> {
    Strings::with(|strings| {
        let mut parser = Parser::new(py, text, strings);
        let mut values = [const { None }; N];
        let mut more = parser.begin_object()?;
        while more {
            let name = parser.interned_name()?;
            let name = name.to_str()?;
            let place = names.iter().position(|wanted| *wanted == name);
            match place.and_then(|place| values.get_mut(place)) {
                Some(value) => *value = Some(parser.value()?),
                None => parser.skip()?,
            }
            more = parser.more_members()?;
        }
        Ok(values)
    })
}

#[inline]
pub(crate) fn set_item(
    dict: &Bound<'_, PyDict>,
    name: &Bound<'_, PyString>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    // SAFETY: all three are live objects, the first is a dict, and the interpreter is held.
    let status = unsafe { ffi::PyDict_SetItem(dict.as_ptr(), name.as_ptr(), value.as_ptr()) };
    match status {
        0 => Ok(()),
        _ => Err(PyErr::fetch(dict.py())),
    }
}

#[inline]
fn append(list: &Bound<'_, PyList>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    // SAFETY: both are live objects, the first is a list, and the interpreter is held.
    let status = unsafe { ffi::PyList_Append(list.as_ptr(), value.as_ptr()) };
    match status {
        0 => Ok(()),
        _ => Err(PyErr::fetch(list.py())),
    }
}

#[inline]
fn new_string<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the pointer and the length are those of a slice; the result is a new reference.
    unsafe {
        let length = text.len() as ffi::Py_ssize_t;
        let string = ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), length);
        Bound::from_owned_ptr_or_err(py, string)
    }
}

fn lone_surrogates<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: as above; the last argument is a C string.
    unsafe {
        let string = ffi::PyUnicode_DecodeUTF8(
            text.as_ptr().cast(),
            text.len() as ffi::Py_ssize_t,
            c"surrogatepass".as_ptr(),
        );
        Bound::from_owned_ptr_or_err(py, string)
    }
}

fn big_integer<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let integer = py.get_type::<pyo3::types::PyInt>();
    integer.call1((text,))
}

enum Surrogates {
    None,
    /// Some are not paired, which only Python's own strings can hold.
    Lone,
}

/// Appends the UTF-8 of a string with escapes, lone surrogates in three bytes each.
fn unescape(text: &str, out: &mut Vec<u8>) -> Option<Surrogates> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut surrogates = Surrogates::None;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        out.extend_from_slice(bytes.get(at..at + found)?);
        at += found + 1;
        let plain = match bytes.get(at)? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'u' => {
                let first = hex(bytes.get(at + 1..at + 5)?)?;
                at += 5;
                let second = match (first, bytes.get(at..at + 6)) {
                    (0xd800..=0xdbff, Some([b'\\', b'u', low @ ..])) => hex(low),
                    _ => None,
                };
                let mut code = first;
                if let Some(low @ 0xdc00..=0xdfff) = second {
                    at += 6;
                    code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
                }
                match char::from_u32(code) {
                    Some(character) => {
                        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    None => {
                        surrogates = Surrogates::Lone;
                        out.extend_from_slice(&[
                            0xe0 | (code >> 12) as u8,
                            0x80 | (code >> 6 & 0x3f) as u8,
                            0x80 | (code & 0x3f) as u8,
                        ]);
                    }
                }
                continue;
            }
            other => *other,
        };
        out.push(plain);
        at += 1;
    }
    out.extend_from_slice(bytes.get(at..)?);
    Some(surrogates)
}

fn hex(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    u32::from_str_radix(digits, 16).ok()
}
