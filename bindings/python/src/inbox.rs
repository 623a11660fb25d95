//! Messages that wait for their reader, and the iterator over them.

use std::collections::VecDeque;

use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::message::Types;
use crate::ready::ready;

/// What waits.
enum Item {
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
}

impl Inbox {
    pub(crate) fn push_message(&mut self, message: Bound<'_, PyAny>, bytes: usize) {
        self.push(Item::Message(message.unbind()), bytes);
    }

    pub(crate) fn push_error(&mut self, error: Bound<'_, PyAny>) {
        self.push(Item::Raise(error.unbind()), 0);
    }

    fn push(&mut self, item: Item, bytes: usize) {
        let weight = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.bytes += weight as usize;
        self.items.push_back((item, weight));
    }

    fn pop(&mut self) -> Option<Item> {
        let (item, weight) = self.items.pop_front()?;
        self.bytes -= weight as usize;
        if self.items.is_empty() && self.items.capacity() > 1024 {
            self.items = VecDeque::new();
        }
        Some(item)
    }

    fn pop_message(&mut self) -> Option<Py<PyAny>> {
        if !matches!(self.items.front(), Some((Item::Message(_), _))) {
            return None;
        }
        match self.pop() {
            Some(Item::Message(message)) => Some(message),
            _ => None,
        }
    }

    /// Those to wake, once the inbox is not borrowed any more.
    pub(crate) fn take_waiters(&mut self) -> Vec<Py<PyAny>> {
        std::mem::take(&mut self.waiters)
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
        slf.borrow_mut().push_message(message, 0);
        Inbox::wake(&slf)
    }

    /// Nothing more will come; `error` is raised in a reader behind the last message.
    #[pyo3(signature = (error=None))]
    fn close(slf: Bound<'_, Self>, error: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        {
            let mut inbox = slf.borrow_mut();
            if let Some(error) = error {
                if !inbox.closed {
                    inbox.push_error(error);
                }
            }
            inbox.closed = true;
        }
        Inbox::wake(&slf)
    }

    /// The next message, or `None` when there is none now. Raises what is to be raised.
    fn take(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match self.pop() {
            Some(Item::Message(message)) => Ok(Some(message)),
            Some(Item::Raise(error)) => Err(PyErr::from_value(error.into_bound(py))),
            None => Ok(None),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        for waiter in &self.waiters {
            visit.call(waiter)?;
        }
        for (item, _) in &self.items {
            match item {
                Item::Message(object) | Item::Raise(object) => visit.call(object)?,
            }
        }
        Ok(())
    }

    fn __clear__(&mut self) {
        self.waiters.clear();
        self.items.clear();
    }
}

impl Inbox {
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
        let py = slf.py();
        {
            let mut stream = slf.borrow_mut();
            if stream.ended {
                return Err(PyStopAsyncIteration::new_err(()));
            }
            let message = match &stream.inbox {
                Some(inbox) => inbox.borrow_mut(py).pop_message(),
                None => None,
            };
            if let Some(message) = message {
                stream.note(py, &message)?;
                return ready(py, message);
            }
        }
        slf.call_method0(pyo3::intern!(py, "_wait"))
    }

    /// As `Inbox.take`, for `_wait`.
    fn _take(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let message = match &self.inbox {
            Some(inbox) => inbox.borrow_mut(py).take(py)?,
            None => None,
        };
        if let Some(message) = &message {
            self.note(py, message)?;
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
    fn note(&mut self, py: Python<'_>, message: &Py<PyAny>) -> PyResult<()> {
        if self.until_result && Types::get(py)?.is_result(message.bind(py)) {
            self.ended = true;
        }
        Ok(())
    }
}
