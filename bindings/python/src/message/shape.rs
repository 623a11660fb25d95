//! Making instances of data classes without running their `__init__`.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};

use crate::json::set_item;

/// A data class: its fields in the order of their declaration.
pub(crate) struct Shape {
    class: Py<PyType>,
    names: Vec<Py<PyString>>,
    /// All fields, each `None`; a copy of a dict is cheaper than a new one that grows.
    unset: Py<PyDict>,
    /// The slot for the raw message.
    raw: Option<Py<PyAny>>,
}

impl Shape {
    /// The shape of `class`, which has these fields.
    pub(crate) fn of(class: &Bound<'_, PyAny>, fields: &[&str]) -> PyResult<Shape> {
        let py = class.py();
        let class = class.cast::<PyType>()?;
        let unset = PyDict::new(py);
        let mut names = Vec::with_capacity(fields.len());
        for field in fields {
            let name = PyString::intern(py, field);
            unset.set_item(&name, py.None())?;
            names.push(name.unbind());
        }
        let raw = class.getattr_opt("_raw")?.map(Bound::unbind);
        Ok(Shape {
            class: class.clone().unbind(),
            names,
            unset: unset.unbind(),
            raw,
        })
    }

    /// Whether `instance` is of this very class.
    pub(crate) fn makes(&self, instance: &Bound<'_, PyAny>) -> bool {
        // SAFETY: the object is live and the interpreter held.
        let class = unsafe { ffi::Py_TYPE(instance.as_ptr()) };
        std::ptr::eq(class.cast(), self.class.as_ptr())
    }

    /// An instance without fields that keeps the text of its message in the place of the raw one.
    pub(crate) fn undecoded<'py>(
        &self,
        py: Python<'py>,
        text: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let instance = self.allocate(py)?;
        instance.setattr(pyo3::intern!(py, "_raw"), PyString::new(py, text))?;
        Ok(instance)
    }

    fn allocate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = self.class.bind(py);
        // SAFETY: `class` is a data class, so a heap type made by `class`, whose instances are
        // allocated by the generic allocator. The interpreter is held.
        unsafe {
            let instance = ffi::PyType_GenericAlloc(class.as_type_ptr(), 0);
            Bound::from_owned_ptr_or_err(py, instance)
        }
    }

    /// An instance with these values for its fields, in their order; those without stay `None`.
    pub(crate) fn build<'py>(
        &self,
        py: Python<'py>,
        values: &mut [Option<Bound<'py, PyAny>>],
        raw: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let state = self.unset.bind(py).copy()?;
        for (name, value) in self.names.iter().zip(values) {
            if let Some(value) = value.take() {
                set_item(&state, name.bind(py), &value)?;
            }
        }
        let instance = self.allocate(py)?;
        // SAFETY: instances of a data class have a dict; both objects are live, and the interpreter
        // is held.
        let status = unsafe {
            ffi::PyObject_GenericSetDict(instance.as_ptr(), state.as_ptr(), std::ptr::null_mut())
        };
        if status != 0 {
            return Err(PyErr::fetch(py));
        }
        if let (Some(raw), Some(slot)) = (raw, &self.raw) {
            slot.bind(py)
                .call_method1(pyo3::intern!(py, "__set__"), (&instance, raw))?;
        }
        Ok(instance)
    }
}
