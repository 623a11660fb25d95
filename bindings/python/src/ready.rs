//! How a message that has arrived is given to `async for`: an awaitable that takes it off its stream
//! when it is awaited, so that one that never is, as that of a task which was cancelled before its
//! first step, takes none away.
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

use crate::inbox::Stream;

#[repr(C)]
struct Ready {
    base: ffi::PyObject,
    /// Owned; null once it was awaited.
    stream: *mut ffi::PyObject,
    /// The coroutine that waits when another reader has been quicker. Owned, or null.
    waits: *mut ffi::PyObject,
}

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// An awaitable with the next message of this stream, or with what it has to raise. An `__anext__`
/// that raised at once would crash `anext(it, default)` of CPython 3.10 and 3.11, which take its
/// result unseen.
#[inline]
pub(crate) fn ready<'py>(stream: &Bound<'py, Stream>) -> PyResult<Bound<'py, PyAny>> {
    let py = stream.py();
    let class = CLASS.get_or_try_init(py, || make_class(py))?;
    // SAFETY: the class was made below with the size of `Ready`; the interpreter is held. The
    // generic allocator gives zeroed memory, so a failure leaves no wild pointer.
    unsafe {
        let instance = ffi::PyType_GenericAlloc(class.bind(py).as_type_ptr(), 0);
        let bound = Bound::from_owned_ptr_or_err(py, instance)?;
        (*instance.cast::<Ready>()).stream = stream.clone().into_ptr();
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

/// Lets go of what it holds.
///
/// # Safety
///
/// `instance` is a live `Ready`, and the interpreter is held.
unsafe fn clear(instance: *mut ffi::PyObject) {
    let instance = instance.cast::<Ready>();
    // SAFETY: the caller's promise; both are owned or null.
    unsafe {
        ffi::Py_XDECREF(ptr::replace(&raw mut (*instance).stream, ptr::null_mut()));
        ffi::Py_XDECREF(ptr::replace(&raw mut (*instance).waits, ptr::null_mut()));
    }
}

unsafe extern "C" fn dealloc(instance: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this once, with an instance that nobody refers to. A heap type
    // is referred to by its instances.
    unsafe {
        let class = ffi::Py_TYPE(instance);
        clear(instance);
        ffi::PyObject_Free(instance.cast());
        ffi::Py_DECREF(class.cast());
    }
}

/// What a step of a stream gives, owned.
enum Step {
    Message(*mut ffi::PyObject),
    /// A coroutine that waits for the next message.
    Wait(*mut ffi::PyObject),
    /// An exception, which is set.
    Raise,
}

/// Takes the next message off a stream.
///
/// # Safety
///
/// `stream` is an owned reference to a `Stream`, and the interpreter is held.
unsafe fn take(stream: *mut ffi::PyObject) -> Step {
    Python::attach(|py| {
        // SAFETY: the caller's promise.
        let stream = unsafe { Bound::from_owned_ptr(py, stream).cast_into_unchecked::<Stream>() };
        let step = match Stream::take_next(&stream) {
            Ok(Some(message)) => return Step::Message(message.into_ptr()),
            Ok(None) => Stream::wait(&stream),
            Err(error) => Err(error),
        };
        match step {
            Ok(coroutine) => Step::Wait(coroutine.into_ptr()),
            Err(error) => {
                error.restore(py);
                Step::Raise
            }
        }
    })
}

unsafe extern "C" fn send(
    instance: *mut ffi::PyObject,
    sent: *mut ffi::PyObject,
    result: *mut *mut ffi::PyObject,
) -> ffi::PySendResult {
    let own = instance.cast::<Ready>();
    // SAFETY: the interpreter calls this with a live instance and a place for the result. What the
    // instance held is owned here once it was taken out.
    unsafe {
        *result = ptr::null_mut();
        if (*own).waits.is_null() {
            let stream = ptr::replace(&raw mut (*own).stream, ptr::null_mut());
            if stream.is_null() {
                let text = c"cannot reuse already awaited message";
                ffi::PyErr_SetString(ffi::PyExc_RuntimeError, text.as_ptr());
                return ffi::PySendResult::PYGEN_ERROR;
            }
            match take(stream) {
                Step::Message(message) => {
                    *result = message;
                    return ffi::PySendResult::PYGEN_RETURN;
                }
                Step::Raise => return ffi::PySendResult::PYGEN_ERROR,
                Step::Wait(coroutine) => (*own).waits = coroutine,
            }
        }
        let waits = ffi::Py_NewRef((*own).waits);
        let status = ffi::PyIter_Send(waits, sent, result);
        ffi::Py_DECREF(waits);
        if status != ffi::PySendResult::PYGEN_NEXT {
            clear(instance);
        }
        status
    }
}

/// `send` for those who call it by name: a result is an exception.
unsafe extern "C" fn send_method(
    instance: *mut ffi::PyObject,
    sent: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    let mut result = ptr::null_mut();
    // SAFETY: the interpreter calls this with a live instance; the result is owned here.
    unsafe {
        if send(instance, sent, &mut result) == ffi::PySendResult::PYGEN_RETURN {
            ffi::PyErr_SetObject(ffi::PyExc_StopIteration, result);
            ffi::Py_DECREF(result);
            return ptr::null_mut();
        }
    }
    result
}

unsafe extern "C" fn itself(instance: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this with a live instance.
    unsafe { ffi::Py_NewRef(instance) }
}

unsafe extern "C" fn next(instance: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this with a live instance.
    unsafe { send_method(instance, ffi::Py_None()) }
}

/// Calls a method of the coroutine that waits; null with an exception set when it raises.
///
/// # Safety
///
/// `instance` is a live `Ready` whose coroutine is there, `arguments` a tuple or null; the
/// interpreter is held.
unsafe fn pass_on(
    instance: *mut ffi::PyObject,
    method: &std::ffi::CStr,
    arguments: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the caller's promise; what is made here is let go of here.
    unsafe {
        let waits = ffi::Py_NewRef((*instance.cast::<Ready>()).waits);
        let method = ffi::PyObject_GetAttrString(waits, method.as_ptr());
        let result = match method.is_null() {
            true => method,
            false => ffi::PyObject_CallObject(method, arguments),
        };
        ffi::Py_XDECREF(method);
        ffi::Py_DECREF(waits);
        if result.is_null() {
            clear(instance);
        }
        result
    }
}

/// `throw(exception)`, or `throw(class, exception, traceback)`. The message stays where it is.
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
        if !(*instance.cast::<Ready>()).waits.is_null() {
            return pass_on(instance, c"throw", arguments);
        }
        clear(instance);
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
    // SAFETY: the interpreter calls this with a live instance.
    unsafe {
        if !(*instance.cast::<Ready>()).waits.is_null() {
            let closed = pass_on(instance, c"close", ptr::null_mut());
            if closed.is_null() {
                return closed;
            }
            ffi::Py_DECREF(closed);
        }
        clear(instance);
        ffi::Py_NewRef(ffi::Py_None())
    }
}
