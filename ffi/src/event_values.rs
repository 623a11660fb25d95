//! Values inside an event, by JSON Pointer.

use std::ffi::c_char;

use crate::boundary;
use crate::event::{enter, towline_event};
use crate::status::towline_status;
use crate::text::name;
use crate::values;

/// The string at a JSON Pointer (RFC 6901) into towline_event_json(), decoded:
/// `"/message/content/0/text"`. The view belongs to the event. NULL when there is none, or it is no
/// string.
#[no_mangle]
pub unsafe extern "C" fn towline_event_str(
    event: *const towline_event,
    pointer: *const c_char,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let event = enter(event)?;
        let pointer = name("pointer", pointer)?;
        let view = event.with_json(|json| values::string(&event.views, json, pointer))?;
        Ok(view.give(len))
    })
}

/// The JSON text of the value at a JSON Pointer. The view belongs to the event. NULL when there is
/// none.
#[no_mangle]
pub unsafe extern "C" fn towline_event_value(
    event: *const towline_event,
    pointer: *const c_char,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let event = enter(event)?;
        let pointer = name("pointer", pointer)?;
        let view = event.with_json(|json| values::raw(&event.views, json, pointer))?;
        Ok(view.give(len))
    })
}

/// The whole number at a JSON Pointer.
///
/// Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
#[no_mangle]
pub unsafe extern "C" fn towline_event_int(
    event: *const towline_event,
    pointer: *const c_char,
    value: *mut i64,
) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        let value = boundary::required(value, 0, "value")?;
        let event = enter(event)?;
        let pointer = name("pointer", pointer)?;
        value.set(event.with_json(|json| values::integer(json, pointer))?);
        Ok(())
    })
}

/// The number at a JSON Pointer.
///
/// Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
#[no_mangle]
pub unsafe extern "C" fn towline_event_double(
    event: *const towline_event,
    pointer: *const c_char,
    value: *mut f64,
) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        let value = boundary::required(value, 0.0, "value")?;
        let event = enter(event)?;
        let pointer = name("pointer", pointer)?;
        value.set(event.with_json(|json| values::double(json, pointer))?);
        Ok(())
    })
}

/// The true or false at a JSON Pointer.
///
/// Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
#[no_mangle]
pub unsafe extern "C" fn towline_event_bool(
    event: *const towline_event,
    pointer: *const c_char,
    value: *mut bool,
) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        let value = boundary::required(value, false, "value")?;
        let event = enter(event)?;
        let pointer = name("pointer", pointer)?;
        value.set(event.with_json(|json| values::boolean(json, pointer))?);
        Ok(())
    })
}

/// How many elements the array at a JSON Pointer has, members the object, bytes the string.
///
/// Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
#[no_mangle]
pub unsafe extern "C" fn towline_event_length(
    event: *const towline_event,
    pointer: *const c_char,
    value: *mut usize,
) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        let value = boundary::required(value, 0, "value")?;
        let event = enter(event)?;
        let pointer = name("pointer", pointer)?;
        value.set(event.with_json(|json| values::length(json, pointer))?);
        Ok(())
    })
}

/// Whether null stands at a JSON Pointer, or nothing at all. True when `event` is none.
#[no_mangle]
pub unsafe extern "C" fn towline_event_is_null(
    event: *const towline_event,
    pointer: *const c_char,
) -> bool {
    boundary::value(true, || {
        let event = enter(event)?;
        let pointer = name("pointer", pointer)?;
        event.with_json(|json| values::is_null(json, pointer))
    })
}
