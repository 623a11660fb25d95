//! Structs that look at an object's text: each field read by name, borrowed where it can be.
//!
//! A text is scanned, never built into a tree. Strings borrow from it unless they have escapes, lone
//! surrogates read as U+FFFD, nesting is limited by memory only, and of duplicate members the last
//! one counts, as for `JSON.parse`.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::control::RawJson;
use crate::json::{
    array, members, object, scanned_string, string, value_and_escapes, Fault, JsonText, Kind, Step,
    Visit,
};

/// A field's value from its JSON text.
pub(crate) trait Read<'a>: Sized {
    /// Whether [`parse`](Read::parse) looks into the value while it steps over it, so that a view
    /// with views in it takes one pass.
    const NESTED: bool = false;

    /// The value of a validated text; `None` when it is of another kind.
    fn read(text: &'a str) -> Option<Self>;

    /// The same, told by the scanner whether the text is a string with escapes.
    #[inline(always)]
    fn read_member(text: &'a str, escaped: bool) -> Option<Self> {
        let _ = escaped;
        Self::read(text)
    }

    /// Steps over the value at `at`, validates and reads it.
    #[inline]
    fn parse(text: &'a str, at: usize) -> Result<(Option<Self>, usize), Fault> {
        let (end, escaped) = value_and_escapes(text.as_bytes(), at)?;
        let text = text.get(at..end).unwrap_or_default();
        Ok((Self::read_member(text, escaped), end))
    }
}

/// Steps over a value of another kind than a nested one.
#[cold]
pub(crate) fn other_kind<T>(text: &str, at: usize) -> Result<(Option<T>, usize), Fault> {
    let (end, _) = value_and_escapes(text.as_bytes(), at)?;
    Ok((None, end))
}

impl<'a> Read<'a> for Cow<'a, str> {
    fn read(text: &'a str) -> Option<Self> {
        string(text)
    }

    #[inline(always)]
    fn read_member(text: &'a str, escaped: bool) -> Option<Self> {
        scanned_string(text, escaped)
    }
}

impl Read<'_> for String {
    fn read(text: &str) -> Option<Self> {
        string(text).map(Cow::into_owned)
    }
}

impl Read<'_> for RawJson {
    fn read(text: &str) -> Option<Self> {
        Some(RawJson::of(text))
    }
}

impl<'a> Read<'a> for bool {
    fn read(text: &'a str) -> Option<Self> {
        match text {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
}

impl<'a> Read<'a> for u64 {
    const NESTED: bool = true;

    /// JavaScript has one kind of number, so a whole one may also come as `1.0` or `1e3`.
    fn read(text: &'a str) -> Option<Self> {
        text.parse().ok().or_else(|| {
            f64::read(text)
                .filter(|number| (0.0..=MAX_SAFE_INTEGER).contains(number))
                .map(|number| number as u64)
        })
    }

    fn parse(text: &'a str, at: usize) -> Result<(Option<Self>, usize), Fault> {
        let digits = text.as_bytes().get(at..).unwrap_or_default();
        let mut number: u64 = 0;
        let mut length = 0;
        while let Some(digit @ b'0'..=b'9') = digits.get(length) {
            number = number
                .wrapping_mul(10)
                .wrapping_add(u64::from(digit - b'0'));
            length += 1;
        }
        let plain = (1..=MAX_DIGITS).contains(&length)
            && (length == 1 || digits.first() != Some(&b'0'))
            && matches!(digits.get(length), Some(b',' | b'}' | b']'));
        if plain {
            return Ok((Some(number), at + length));
        }
        let (end, _) = value_and_escapes(text.as_bytes(), at)?;
        Ok((Self::read(text.get(at..end).unwrap_or_default()), end))
    }
}

/// Any number of as many decimal digits is a `u64`.
const MAX_DIGITS: usize = 19;

impl<'a> Read<'a> for i64 {
    fn read(text: &'a str) -> Option<Self> {
        text.parse().ok().or_else(|| {
            f64::read(text)
                .filter(|number| (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(number))
                .map(|number| number as i64)
        })
    }
}

/// The largest number up to which every integer is a double.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

impl<'a> Read<'a> for f64 {
    fn read(text: &'a str) -> Option<Self> {
        match Kind::of(text)? {
            Kind::Number => text.parse().ok(),
            _ => None,
        }
    }
}

impl<'a> Read<'a> for JsonText<'a> {
    fn read(text: &'a str) -> Option<Self> {
        Some(JsonText::of(text))
    }
}

impl<'a, T: Read<'a>> Read<'a> for Option<T> {
    const NESTED: bool = T::NESTED;

    fn read(text: &'a str) -> Option<Self> {
        Some(if text == "null" { None } else { T::read(text) })
    }

    #[inline(always)]
    fn read_member(text: &'a str, escaped: bool) -> Option<Self> {
        Some(if text == "null" {
            None
        } else {
            T::read_member(text, escaped)
        })
    }

    #[inline]
    fn parse(text: &'a str, at: usize) -> Result<(Option<Self>, usize), Fault> {
        let (value, end) = match text.as_bytes().get(at) {
            Some(b'n') => other_kind(text, at)?,
            _ => T::parse(text, at)?,
        };
        Ok((Some(value), end))
    }
}

impl<'a, T: Read<'a>> Read<'a> for Box<T> {
    const NESTED: bool = T::NESTED;

    fn read(text: &'a str) -> Option<Self> {
        T::read(text).map(Box::new)
    }

    #[inline]
    fn parse(text: &'a str, at: usize) -> Result<(Option<Self>, usize), Fault> {
        let (value, end) = T::parse(text, at)?;
        Ok((value.map(Box::new), end))
    }
}

impl<'a, T: Read<'a>> Read<'a> for Vec<T> {
    const NESTED: bool = true;

    fn read(text: &'a str) -> Option<Self> {
        Self::parse(text, 0).ok()?.0
    }

    fn parse(text: &'a str, at: usize) -> Result<(Option<Self>, usize), Fault> {
        let bytes = text.as_bytes();
        if bytes.get(at) != Some(&b'[') {
            return other_kind(text, at);
        }
        let mut list = Vec::new();
        let end = array(bytes, at, |at| {
            let (element, end) = T::parse(text, at)?;
            list.extend(element);
            Ok(end)
        })?;
        Ok((Some(list), end))
    }
}

impl<'a, T: Read<'a>> Read<'a> for BTreeMap<String, T> {
    const NESTED: bool = true;

    fn read(text: &'a str) -> Option<Self> {
        Self::parse(text, 0).ok()?.0
    }

    fn parse(text: &'a str, at: usize) -> Result<(Option<Self>, usize), Fault> {
        if text.as_bytes().get(at) != Some(&b'{') {
            return other_kind(text, at);
        }
        let mut map = Map(BTreeMap::new());
        let end = object(text, at, &mut map)?;
        Ok((Some(map.0), end))
    }
}

struct Map<T>(BTreeMap<String, T>);

impl<'a, T: Read<'a>> Visit<'a> for Map<T> {
    fn member(&mut self, key: &str, value: &'a str, escaped: bool) {
        if T::NESTED && !value.starts_with('"') {
            return;
        }
        match T::read_member(value, escaped) {
            Some(value) => self.0.insert(key.into(), value),
            None => self.0.remove(key),
        };
    }

    fn step(&mut self, key: &str, text: &'a str, at: usize) -> Step {
        if !T::NESTED {
            return Ok(value_and_escapes(text.as_bytes(), at)?.0);
        }
        let (value, end) = T::parse(text, at)?;
        match value {
            Some(value) => self.0.insert(key.into(), value),
            None => self.0.remove(key),
        };
        Ok(end)
    }
}

/// Declares a struct that is decoded from an object's text.
///
/// A member of another kind than expected reads like an absent one: the CLI's next version must
/// not break a host that does not use that member. `get` reaches every member as it came.
///
/// `field [default]: T` is a field that is not always there although `T` is no `Option`: its JSON
/// Schema does not require it.
macro_rules! view {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $field:ident $(as $wire:literal)? $([$flag:ident])? : $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name<'a> {
            $(
                $(#[$field_meta])*
                $(#[cfg_attr(feature = "schema", schemars(rename = $wire))])?
                $(#[cfg_attr(feature = "schema", schemars($flag))])?
                pub $field: $type,
            )*
            #[cfg_attr(feature = "schema", schemars(skip))]
            json: &'a str,
        }

        impl<'a> $name<'a> {
            /// Reads the fields from the text of an object; an error when it is not one.
            pub fn decode(json: &'a str) -> Result<Self, $crate::json::ScanError> {
                let mut view = $name { json, ..Self::default() };
                $crate::json::whole(json, &mut view)?;
                Ok(view)
            }

            /// The whole object as it came; empty for a default value.
            pub fn json(&self) -> &'a str {
                self.json
            }

            /// The JSON text of a member, listed here or not.
            pub fn get(&self, name: &str) -> Option<&'a str> {
                $crate::view::member(self.json, name)
            }
        }

        impl<'a> $crate::json::Visit<'a> for $name<'a> {
            #[inline(always)]
            fn member(&mut self, key: &str, value: &'a str, escaped: bool) {
                match key {
                    $(
                        $crate::view::wire!($field $(as $wire)?) => {
                            if !<$type as $crate::view::Read>::NESTED || value.starts_with('"') {
                                self.$field = $crate::view::Read::read_member(value, escaped)
                                    .unwrap_or_default();
                            }
                        }
                    )*
                    _ => {}
                }
            }

            #[inline(always)]
            fn step(&mut self, key: &str, text: &'a str, at: usize) -> $crate::json::Step {
                match key {
                    $(
                        $crate::view::wire!($field $(as $wire)?)
                            if <$type as $crate::view::Read>::NESTED =>
                        {
                            let (value, end) = $crate::view::Read::parse(text, at)?;
                            self.$field = value.unwrap_or_default();
                            Ok(end)
                        }
                    )*
                    _ => Ok($crate::json::value_and_escapes(text.as_bytes(), at)?.0),
                }
            }
        }

        impl<'a> $crate::view::Read<'a> for $name<'a> {
            const NESTED: bool = true;

            fn read(text: &'a str) -> Option<Self> {
                Self::decode(text).ok()
            }

            #[inline(never)]
            fn parse(
                text: &'a str,
                at: usize,
            ) -> Result<(Option<Self>, usize), $crate::json::Fault> {
                if text.as_bytes().get(at) != Some(&b'{') {
                    return $crate::view::other_kind(text, at);
                }
                let mut view = Self::default();
                let end = $crate::json::object(text, at, &mut view)?;
                view.json = text.get(at..end).unwrap_or_default();
                Ok((Some(view), end))
            }
        }
    };
}

macro_rules! wire {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident as $wire:literal) => {
        $wire
    };
}

pub(crate) use {view, wire};

/// The JSON text of an object's member; the last one when it stands twice.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    members(object, |key, value| {
        if key == name {
            found = Some(value);
        }
    })
    .ok()?;
    found
}

#[cfg(test)]
mod tests;
