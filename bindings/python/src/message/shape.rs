//! Making instances of data classes without running their `__init__`.

use pyo3::exceptions::PyAttributeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};

use crate::json::set_item;

/// A data class: its fields in the order of their declaration.
pub(crate) struct Shape {
    class: Py<PyType>,
    names: Vec<Py<PyString>>,
    /// All fields, each `None`; a copy of a dict is cheaper than a new one that grows.
    unset: Py<PyDict>,
    /// The slot for the raw message.
    raw: Option<Py<PyAny>>,
    /// The descriptor `__dict__` of the class, and how its type sets it. Some classes hide it behind
    /// one of their own; and `PyObject_GenericSetDict` leaves the values in place that CPython keeps
    /// inside of an instance since 3.13.
    dict: Py<PyAny>,
    set_dict: ffi::descrsetfunc,
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
        let (dict, set_dict) = dict_descriptor(class)?;
        Ok(Shape {
            class: class.clone().unbind(),
            names,
            unset: unset.unbind(),
            raw,
            dict: dict.unbind(),
            set_dict,
        })
    }

    /// Whether `instance` is of this very class.
    pub(crate) fn makes(&self, instance: &Bound<'_, PyAny>) -> bool {
        // SAFETY: the object is live and the interpreter held.
        let class = unsafe { ffi::Py_TYPE(instance.as_ptr()) };
        std::ptr::eq(class.cast(), self.class.as_ptr())
    }

    /// An instance without fields that keeps the line of its message in the place of the raw one.
    pub(crate) fn undecoded<'py>(
        &self,
        py: Python<'py>,
        text: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let instance = self.allocate(py)?;
        let line = PyBytes::new(py, text.as_bytes());
        set_own(&instance, pyo3::intern!(py, "_raw"), line.as_any())?;
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

    /// These values for the fields, in their order; those without are `None`.
    pub(crate) fn fields<'py>(
        &self,
        py: Python<'py>,
        values: &mut [Option<Bound<'py, PyAny>>],
    ) -> PyResult<Bound<'py, PyDict>> {
        let fields = self.unset.bind(py).copy()?;
        for (name, value) in self.names.iter().zip(values) {
            if let Some(value) = value.take() {
                set_item(&fields, name.bind(py), &value)?;
            }
        }
        Ok(fields)
    }

    /// An instance with these values for its fields, in their order; those without stay `None`.
    pub(crate) fn build<'py>(
        &self,
        py: Python<'py>,
        values: &mut [Option<Bound<'py, PyAny>>],
        raw: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let state = self.fields(py, values)?;
        let instance = self.allocate(py)?;
        // SAFETY: the slot belongs to the type of the descriptor; all objects are live, and the
        // interpreter is held.
        let status =
            unsafe { (self.set_dict)(self.dict.as_ptr(), instance.as_ptr(), state.as_ptr()) };
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

/// The `__dict__` that CPython has given a class or its base, and the slot that sets it.
fn dict_descriptor<'py>(
    class: &Bound<'py, PyType>,
) -> PyResult<(Bound<'py, PyAny>, ffi::descrsetfunc)> {
    let py = class.py();
    let name = pyo3::intern!(py, "__dict__");
    let own = py.import("types")?.getattr("GetSetDescriptorType")?;
    for base in class.mro() {
        let found = base.getattr(name)?.call_method1("get", (name,))?;
        if !found.get_type().is(&own) {
            continue;
        }
        // SAFETY: the object is live and the interpreter held; the slot has this type, or is null.
        let slot = unsafe {
            let slot = ffi::PyType_GetSlot(ffi::Py_TYPE(found.as_ptr()), ffi::Py_tp_descr_set);
            std::mem::transmute::<*mut std::ffi::c_void, Option<ffi::descrsetfunc>>(slot)
        };
        if let Some(slot) = slot {
            return Ok((found, slot));
        }
    }
    Err(pyo3::exceptions::PyTypeError::new_err(format!(
        "instances of {class} have no dict"
    )))
}

/// The attributes of an instance of a data class itself, past what its class makes of `__dict__`.
pub(super) fn fields<'py>(instance: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    // SAFETY: the object is live and the interpreter held; the result is a new reference. An object
    // without attributes raises.
    let fields = unsafe {
        let fields = ffi::PyObject_GenericGetDict(instance.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(instance.py(), fields)?
    };
    Ok(fields.cast_into::<PyDict>()?)
}

/// An attribute, past what the class makes of looking one up; `None` if there is none.
pub(super) fn own<'py>(
    instance: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = instance.py();
    // SAFETY: both objects are live, and the interpreter is held; the result is a new reference.
    let found = unsafe {
        let found = ffi::PyObject_GenericGetAttr(instance.as_ptr(), name.as_ptr());
        Bound::from_owned_ptr_or_err(py, found)
    };
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_instance_of::<PyAttributeError>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sets an attribute, past what the class makes of setting one.
pub(super) fn set_own(
    instance: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    set_generic(instance, name, value.as_ptr())
}

/// Deletes an attribute that there is, past what the class makes of that.
pub(super) fn delete_own(instance: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<()> {
    set_generic(instance, name, std::ptr::null_mut())
}

fn set_generic(
    instance: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    value: *mut ffi::PyObject,
) -> PyResult<()> {
    // SAFETY: the objects are live (a null value deletes), and the interpreter is held.
    let status = unsafe { ffi::PyObject_GenericSetAttr(instance.as_ptr(), name.as_ptr(), value) };
    match status {
        0 => Ok(()),
        _ => Err(PyErr::fetch(instance.py())),
    }
}
