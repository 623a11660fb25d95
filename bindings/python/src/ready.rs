//! An awaitable that is done already: how a message that has arrived is given to `async for`.
//!
//! Written against the C API, since only the slot `am_send` hands a value over without raising
//! `StopIteration` for it, which would cost more than everything else about a message. It has the
//! methods of a coroutine, so that a task can be made of it.

use std::ffi::{c_int, c_void};
use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

#[repr(C)]
struct Ready {
    base: ffi::PyObject,
    /// Owned; null once it was handed over.
    value: *mut ffi::PyObject,
    /// Whether the value is an exception to raise.
    failed: bool,
}

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// An awaitable with this value.
#[inline]
pub(crate) fn ready<'py>(py: Python<'py>, value: Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
    make(py, value, false)
}

/// An awaitable that raises. An `__anext__` that raised at once would crash `anext(it, default)`
/// of CPython 3.10 and 3.11, which take its result unseen.
#[cold]
pub(crate) fn failed(py: Python<'_>, error: PyErr) -> PyResult<Bound<'_, PyAny>> {
    make(py, error.into_value(py).into_any(), true)
}

#[inline]
fn make(py: Python<'_>, value: Py<PyAny>, failed: bool) -> PyResult<Bound<'_, PyAny>> {
    let class = CLASS.get_or_try_init(py, || make_class(py))?;
    // SAFETY: the class was made below with the size of `Ready`; the interpreter is held. The
    // generic allocator gives zeroed memory, so a failure leaves no wild pointer.
    unsafe {
        let instance = ffi::PyType_GenericAlloc(class.bind(py).as_type_ptr(), 0);
        let bound = Bound::from_owned_ptr_or_err(py, instance)?;
        (*instance.cast::<Ready>()).value = value.into_ptr();
        (*instance.cast::<Ready>()).failed = failed;
        Ok(bound)
    }
}

fn make_class(py: Python<'_>) -> PyResult<Py<PyType>> {
    let slot = |slot: c_int, function: *mut c_void| ffi::PyType_Slot {
        slot,
        pfunc: function,
    };
    let method = |name: &'static std::ffi::CStr, call, flags| ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: call,
        ml_flags: flags,
        ml_doc: ptr::null(),
    };
    // The class keeps pointers to them, and is never freed.
    let methods: &'static mut [ffi::PyMethodDef] = Box::leak(Box::new([
        method(
            c"send",
            ffi::PyMethodDefPointer {
                PyCFunction: send_method,
            },
            ffi::METH_O,
        ),
        method(
            c"throw",
            ffi::PyMethodDefPointer { PyCFunction: throw },
            ffi::METH_VARARGS,
        ),
        method(
            c"close",
            ffi::PyMethodDefPointer { PyCFunction: close },
            ffi::METH_NOARGS,
        ),
        ffi::PyMethodDef::zeroed(),
    ]));
    let mut slots = [
        slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_iter, itself as *mut c_void),
        slot(ffi::Py_tp_iternext, next as *mut c_void),
        slot(ffi::Py_am_await, itself as *mut c_void),
        slot(ffi::Py_am_send, send as *mut c_void),
        slot(0, ptr::null_mut()),
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"towline._native.Ready".as_ptr(),
        basicsize: size_of::<Ready>() as c_int,
        itemsize: 0,
        flags: ffi::Py_TPFLAGS_DEFAULT as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the slots end with a zero and have the signatures that their numbers ask for; the
    // interpreter is held.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
    Ok(class.cast_into::<PyType>()?.unbind())
}

/// Takes the value out, or raises.
///
/// # Safety
///
/// `instance` is a live `Ready`, and the interpreter is held.
unsafe fn value(instance: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the caller's promise.
    let value =
        unsafe { ptr::replace(&raw mut (*instance.cast::<Ready>()).value, ptr::null_mut()) };
    if value.is_null() {
        // SAFETY: the interpreter is held, and the text is a C string.
        unsafe {
            ffi::PyErr_SetString(
                ffi::PyExc_RuntimeError,
                c"cannot reuse already awaited message".as_ptr(),
            );
        }
        return value;
    }
    // SAFETY: the caller's promise; an exception that was kept is owned here.
    unsafe {
        if !(*instance.cast::<Ready>()).failed {
            return value;
        }
        ffi::PyErr_SetObject(ffi::Py_TYPE(value).cast(), value);
        ffi::Py_DECREF(value);
    }
    ptr::null_mut()
}

unsafe extern "C" fn dealloc(instance: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this once, with an instance that nobody refers to. A heap type
    // is referred to by its instances.
    unsafe {
        let class = ffi::Py_TYPE(instance);
        ffi::Py_XDECREF((*instance.cast::<Ready>()).value);
        ffi::PyObject_Free(instance.cast());
        ffi::Py_DECREF(class.cast());
    }
}

unsafe extern "C" fn itself(instance: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this with a live instance.
    unsafe { ffi::Py_NewRef(instance) }
}

unsafe extern "C" fn next(instance: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this with a live instance; `value` is owned here.
    unsafe {
        let value = value(instance);
        if !value.is_null() {
            ffi::PyErr_SetObject(ffi::PyExc_StopIteration, value);
            ffi::Py_DECREF(value);
        }
        ptr::null_mut()
    }
}

unsafe extern "C" fn send(
    instance: *mut ffi::PyObject,
    _sent: *mut ffi::PyObject,
    result: *mut *mut ffi::PyObject,
) -> ffi::PySendResult {
    // SAFETY: the interpreter calls this with a live instance and a place for the result.
    unsafe {
        *result = value(instance);
        match (*result).is_null() {
            true => ffi::PySendResult::PYGEN_ERROR,
            false => ffi::PySendResult::PYGEN_RETURN,
        }
    }
}

unsafe extern "C" fn send_method(
    instance: *mut ffi::PyObject,
    _sent: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this with a live instance.
    unsafe { next(instance) }
}

/// `throw(exception)`, or `throw(class, exception, traceback)`; the value is let go.
unsafe extern "C" fn throw(
    instance: *mut ffi::PyObject,
    arguments: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this with a live instance and a tuple, whose items are borrowed.
    unsafe {
        let given = ffi::PyTuple_Size(arguments);
        if given < 1 {
            ffi::PyErr_SetString(ffi::PyExc_TypeError, c"throw() needs an exception".as_ptr());
            return ptr::null_mut();
        }
        ffi::Py_XDECREF(ptr::replace(
            &raw mut (*instance.cast::<Ready>()).value,
            ptr::null_mut(),
        ));
        let first = ffi::PyTuple_GetItem(arguments, 0);
        if ffi::PyExceptionInstance_Check(first) != 0 {
            ffi::PyErr_SetObject(ffi::Py_TYPE(first).cast(), first);
        } else if given > 1 {
            ffi::PyErr_SetObject(first, ffi::PyTuple_GetItem(arguments, 1));
        } else {
            ffi::PyErr_SetNone(first);
        }
    }
    ptr::null_mut()
}

unsafe extern "C" fn close(
    instance: *mut ffi::PyObject,
    _: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this with a live instance, whose value is owned.
    unsafe {
        ffi::Py_XDECREF(ptr::replace(
            &raw mut (*instance.cast::<Ready>()).value,
            ptr::null_mut(),
        ));
        ffi::Py_NewRef(ffi::Py_None())
    }
}
