//! Messages that wait for their reader, and the iterator over them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use towline::RawMessage;

use crate::message::{decode, Decoded, Types};
use crate::ready::ready;

/// Bytes of lines that wait in all inboxes.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Above this many of them, what a session may take at once is small: an event loop drains all
/// sessions that have something before the first reader runs.
const MUCH: usize = 4 << 20;

/// What a session may take in any case.
const LITTLE: usize = 8 << 10;

/// Places that an empty inbox keeps.
const IDLE_PLACES: usize = 32;

/// How many bytes a session may take now, of `most` that it would.
pub(crate) fn allowance(most: usize) -> usize {
    let left = MUCH.saturating_sub(WAITING.load(Ordering::Relaxed));
    left.min(most).max(LITTLE)
}

/// What waits.
enum Item {
    /// A line, decoded when it is read: a queue of Python objects would set off one round of the
    /// garbage collector after another, and take more memory.
    Line(RawMessage),
    Message(Py<PyAny>),
    /// An exception that is raised in the reader.
    Raise(Py<PyAny>),
}

/// Messages that were received and not read yet, in order.
#[pyclass(module = "towline._native")]
#[derive(Default)]
pub(crate) struct Inbox {
    items: VecDeque<(Item, u32)>,
    /// Bytes of the lines they came from.
    bytes: usize,
    /// Called, and forgotten, when something arrives or the inbox is closed.
    waiters: Vec<Py<PyAny>>,
    closed: bool,
    /// Whether messages of unknown types are delivered.
    unknown: bool,
}

impl Inbox {
    /// Adds a line; `more` of them may follow.
    pub(crate) fn push_line(&mut self, line: RawMessage, unknown: bool, more: usize) {
        self.unknown = unknown;
        if self.items.capacity() == 0 {
            self.items.reserve(more);
        }
        let bytes = line.json().len();
        self.push(Item::Line(line), bytes);
    }

    fn push(&mut self, item: Item, bytes: usize) {
        let weight = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.bytes += weight as usize;
        WAITING.fetch_add(weight as usize, Ordering::Relaxed);
        self.items.push_back((item, weight));
    }

    fn pop(&mut self) -> Option<Item> {
        let (item, weight) = self.items.pop_front()?;
        self.bytes -= weight as usize;
        WAITING.fetch_sub(weight as usize, Ordering::Relaxed);
        if self.items.is_empty() && self.items.capacity() > IDLE_PLACES {
            self.items = VecDeque::new();
        }
        Some(item)
    }

    fn clear(&mut self) {
        self.items.clear();
        WAITING.fetch_sub(std::mem::take(&mut self.bytes), Ordering::Relaxed);
    }

    /// Raises an exception in a reader, behind the last message; more may follow.
    pub(crate) fn fail(slf: &Bound<'_, Self>, error: Py<PyAny>) -> PyResult<()> {
        slf.borrow_mut().push(Item::Raise(error), 0);
        Inbox::wake(slf)
    }

    /// Those to wake, once the inbox is not borrowed any more.
    pub(crate) fn take_waiters(&mut self) -> Vec<Py<PyAny>> {
        std::mem::take(&mut self.waiters)
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.clear();
    }
}

#[pymethods]
impl Inbox {
    #[new]
    fn new() -> Inbox {
        Inbox::default()
    }

    fn __len__(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing more will come.
    #[getter]
    fn closed(&self) -> bool {
        self.closed
    }

    /// Bytes of the lines that what waits came from.
    #[getter]
    fn bytes(&self) -> usize {
        self.bytes
    }

    /// Calls `waiter` once, when something arrives or the inbox is closed.
    fn wait(&mut self, waiter: Py<PyAny>) {
        self.waiters.push(waiter);
    }

    /// Takes back `wait`.
    fn forget(&mut self, py: Python<'_>, waiter: &Bound<'_, PyAny>) {
        self.waiters.retain(|kept| !kept.bind(py).is(waiter));
    }

    /// Adds a message that did not come from the CLI.
    fn put(slf: Bound<'_, Self>, message: Bound<'_, PyAny>) -> PyResult<()> {
        slf.borrow_mut().push(Item::Message(message.unbind()), 0);
        Inbox::wake(&slf)
    }

    /// Nothing more will come; `error` is raised in a reader behind the last message.
    #[pyo3(signature = (error=None))]
    fn close(slf: Bound<'_, Self>, error: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        {
            let mut inbox = slf.borrow_mut();
            if let Some(error) = error {
                if !inbox.closed {
                    inbox.push(Item::Raise(error.unbind()), 0);
                }
            }
            inbox.closed = true;
        }
        Inbox::wake(&slf)
    }

    /// The next message, or `None` when there is none now. Raises what is to be raised.
    fn take<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(message) = Inbox::next(slf)? {
            return Ok(Some(message));
        }
        let item = slf.borrow_mut().pop();
        match item {
            Some(Item::Raise(error)) => Err(PyErr::from_value(error.into_bound(slf.py()))),
            _ => Ok(None),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for waiter in &self.waiters {
            visit.call(waiter)?;
        }
        for (item, _) in &self.items {
            match item {
                Item::Message(object) | Item::Raise(object) => visit.call(object)?,
                Item::Line(_) => {}
            }
        }
        Ok(())
    }

    fn __clear__(&mut self) {
        self.waiters.clear();
        self.clear();
    }
}

impl Inbox {
    /// The next message; `None` too when an exception comes next. The inbox is not borrowed while
    /// Python runs.
    fn next<'py>(inbox: &Bound<'py, Inbox>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = inbox.py();
        loop {
            let (item, unknown) = {
                let mut inbox = inbox.borrow_mut();
                let item = match inbox.items.front() {
                    None | Some((Item::Raise(_), _)) => return Ok(None),
                    Some(_) => inbox.pop(),
                };
                (item, inbox.unknown)
            };
            match item {
                Some(Item::Line(line)) => match decode(py, &line, unknown)? {
                    Decoded::Message(message) => return Ok(Some(message)),
                    Decoded::Skipped => {}
                    Decoded::Raise(error) => {
                        let item = Item::Raise(error.unbind());
                        inbox.borrow_mut().items.push_front((item, 0));
                        return Ok(None);
                    }
                },
                Some(Item::Message(message)) => return Ok(Some(message.into_bound(py))),
                Some(Item::Raise(_)) | None => return Ok(None),
            }
        }
    }

    /// Calls those who wait. The inbox is not borrowed meanwhile: they may use it.
    pub(crate) fn wake(inbox: &Bound<'_, Inbox>) -> PyResult<()> {
        let waiters = inbox.borrow_mut().take_waiters();
        for waiter in waiters {
            waiter.call0(inbox.py())?;
        }
        Ok(())
    }
}

/// An asynchronous iterator over an inbox. What is there is given at once; `_wait()`, a coroutine
/// of the subclass, gives the next message when nothing is.
#[pyclass(module = "towline._native", subclass)]
pub(crate) struct Stream {
    inbox: Option<Py<Inbox>>,
    /// Whether it ends behind a result.
    until_result: bool,
    ended: bool,
}

#[pymethods]
impl Stream {
    /// The arguments are for the subclass.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Stream {
        Stream {
            inbox: None,
            until_result: false,
            ended: false,
        }
    }

    /// Whether it ends behind a result.
    #[getter]
    fn until_result(&self) -> bool {
        self.until_result
    }

    #[setter]
    fn set_until_result(&mut self, until_result: bool) {
        self.until_result = until_result;
    }

    #[getter]
    fn inbox(&self, py: Python<'_>) -> Option<Py<Inbox>> {
        self.inbox.as_ref().map(|inbox| inbox.clone_ref(py))
    }

    #[setter]
    fn set_inbox(&mut self, inbox: Option<Py<Inbox>>) {
        self.inbox = inbox;
    }

    /// Whether the iteration is over.
    #[getter]
    fn ended(&self) -> bool {
        self.ended
    }

    #[setter]
    fn set_ended(&mut self, ended: bool) {
        self.ended = ended;
    }

    fn __aiter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __anext__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match slf.borrow().is_ready(slf.py()) {
            true => ready(slf),
            false => Stream::wait(slf),
        }
    }

    /// As `Inbox.take`, for `_wait`.
    fn _take<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        let inbox = slf
            .borrow()
            .inbox
            .as_ref()
            .map(|inbox| inbox.bind(py).clone());
        let message = match inbox {
            Some(inbox) => Inbox::take(&inbox)?,
            None => None,
        };
        if let Some(message) = &message {
            Stream::note(slf, message)?;
        }
        Ok(message)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.inbox {
            Some(inbox) => visit.call(inbox),
            None => Ok(()),
        }
    }

    fn __clear__(&mut self) {
        self.inbox = None;
    }
}

impl Stream {
    /// Whether a step needs not wait, as far as can be seen.
    fn is_ready(&self, py: Python<'_>) -> bool {
        self.ended
            || self
                .inbox
                .as_ref()
                .is_some_and(|inbox| !inbox.borrow(py).items.is_empty())
    }

    /// The next message; `None` when it has to be waited for. Raises at the end.
    pub(crate) fn take_next<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        let inbox = {
            let stream = slf.borrow();
            if stream.ended {
                return Err(PyStopAsyncIteration::new_err(()));
            }
            match &stream.inbox {
                Some(inbox) => inbox.bind(py).clone(),
                None => return Ok(None),
            }
        };
        let message = Inbox::next(&inbox)?;
        if let Some(message) = &message {
            Stream::note(slf, message)?;
        }
        Ok(message)
    }

    /// The coroutine of the subclass that waits for the next message.
    pub(crate) fn wait<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.call_method0(pyo3::intern!(slf.py(), "_wait"))
    }

    fn note<'py>(slf: &Bound<'py, Self>, message: &Bound<'py, PyAny>) -> PyResult<()> {
        let until_result = slf.borrow().until_result;
        if until_result && Types::get(slf.py())?.is_result(message) {
            slf.borrow_mut().ended = true;
        }
        Ok(())
    }
}
