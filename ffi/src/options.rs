//! Options: one document, the same in every language, and setters for what C sets by hand.

use std::ffi::c_char;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use towline_core::protocol::json;
use towline_core::Options;

use crate::boundary;
use crate::buffer::{self, towline_buffer};
use crate::error::{towline_error, Failure};
use crate::handle::{self, handle};
use crate::options_handlers::Registered;
use crate::status::towline_status;
use crate::status::towline_status::*;
use crate::text::{name, names, text};

/// What sessions are started with: options, callbacks and tools. Any number of sessions can be
/// started with one; each takes a copy, so that later changes do not reach it, and it may be freed
/// while they run. Functions on it can be called from any thread.
pub struct towline_options {
    _opaque: [u8; 0],
}

#[derive(Default)]
pub(crate) struct Settings(Mutex<Content>);

#[derive(Default, Clone)]
pub(crate) struct Content {
    pub(crate) options: Options,
    pub(crate) registered: Registered,
}

handle!(towline_options, Settings, b"tow_opts");

impl Settings {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is registered. What `change` returns is dropped when the lock is free again, so
    /// that a finalizer may call functions of these options.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Content) -> Result<T, Failure>,
    ) -> Result<(), Failure> {
        let replaced = change(&mut self.lock());
        replaced.map(drop)
    }
}

/// A share of a callback.
pub(crate) type Shared<T> = Option<Arc<T>>;

unsafe fn set(
    options: *mut towline_options,
    key: *const c_char,
    value: impl FnOnce() -> Result<String, Failure>,
) -> Result<(), Failure> {
    let options = handle::enter::<Settings>(options)?;
    let key = name("key", key)?;
    let value = value()?;
    options.change(|content| Ok(content.options.set(key, &value)?))
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    json::push_string(&mut out, text);
    out
}

/// New options with nothing set. Never NULL. Free them with towline_options_free().
#[no_mangle]
pub extern "C" fn towline_options_new() -> *mut towline_options {
    boundary::value(std::ptr::null_mut(), || {
        Ok(handle::create(Settings::default()))
    })
}

/// A copy, which shares the callbacks: their finalizers run when the last copy and the last
/// session are gone. NULL when `options` are no options. Free it with towline_options_free().
#[no_mangle]
pub unsafe extern "C" fn towline_options_clone(
    options: *const towline_options,
) -> *mut towline_options {
    boundary::value(std::ptr::null_mut(), || {
        let content = handle::enter::<Settings>(options)?.lock().clone();
        Ok(handle::create(Settings(Mutex::new(content))))
    })
}

/// Frees options. NULL is fine. Sessions started with them go on.
#[no_mangle]
pub unsafe extern "C" fn towline_options_free(options: *mut towline_options) -> towline_status {
    boundary::call(std::ptr::null_mut(), || handle::free::<Settings>(options))
}

/// Applies a JSON object of options over what is set: a key that it has replaces that option
/// whole, one that it lacks leaves it alone, `null` sets it back to its default (a time limit to
/// none). All of it is applied or nothing. The keys are described in
/// `include/schema/options.json`.
///
/// Errors: TOWLINE_ERR_JSON when the text is not one JSON object; TOWLINE_ERR_OPTION for an
/// unknown key or a value of the wrong type.
#[no_mangle]
pub unsafe extern "C" fn towline_options_set_json(
    options: *mut towline_options,
    json: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let json = text("json", json, len)?;
        options.change(|content| Ok(content.options.merge_json(json)?))
    })
}

/// Sets an option that is a string, such as `"model"` or `"cwd"`. The keys are those of
/// towline_options_set_json().
///
/// Errors: TOWLINE_ERR_OPTION for an unknown key or one that takes no string.
#[no_mangle]
pub unsafe extern "C" fn towline_options_set_string(
    options: *mut towline_options,
    key: *const c_char,
    value: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        set(options, key, || Ok(quoted(text("value", value, len)?)))
    })
}

/// Sets an option that is a number, such as `"maxTurns"` or `"idleTimeoutMs"`.
///
/// Errors: TOWLINE_ERR_OPTION for an unknown key, one that takes no number, or a number out of
/// range.
#[no_mangle]
pub unsafe extern "C" fn towline_options_set_int(
    options: *mut towline_options,
    key: *const c_char,
    value: i64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || set(options, key, || Ok(value.to_string())))
}

/// Sets an option that is true or false, such as `"includePartialMessages"`.
///
/// Errors: TOWLINE_ERR_OPTION for an unknown key or one that is not true or false.
#[no_mangle]
pub unsafe extern "C" fn towline_options_set_bool(
    options: *mut towline_options,
    key: *const c_char,
    value: bool,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || set(options, key, || Ok(value.to_string())))
}

/// Sets an option that is a list of strings, such as `"allowedTools"`, to `count` NUL-terminated
/// texts; NULL and 0 give an empty list.
///
/// Errors: TOWLINE_ERR_OPTION for an unknown key or one that takes no list.
#[no_mangle]
pub unsafe extern "C" fn towline_options_set_strings(
    options: *mut towline_options,
    key: *const c_char,
    values: *const *const c_char,
    count: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        set(options, key, || {
            let values = names("values", values, count)?;
            let quoted: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            Ok(format!("[{}]", quoted.join(",")))
        })
    })
}

/// Sets a variable of the CLI's environment, or takes one away when `value` is NULL. Variables set
/// earlier stay; the option `"env"` of towline_options_set_json() replaces them all.
///
/// Errors: TOWLINE_ERR_ARGUMENT when `variable` is empty or has a `=`, or a text has a NUL.
#[no_mangle]
pub unsafe extern "C" fn towline_options_set_env(
    options: *mut towline_options,
    variable: *const c_char,
    value: *const c_char,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let variable = name("variable", variable)?;
        if variable.is_empty() || variable.contains('=') {
            return Err(Failure::new(
                TOWLINE_ERR_ARGUMENT,
                format!("variable: no variable can be named {variable:?}"),
            ));
        }
        let value = match value.is_null() {
            true => None,
            false => Some(name("value", value)?.to_string()),
        };
        options.change(|content| {
            let env = content.options.env.get_or_insert_with(Default::default);
            env.0.insert(variable.into(), value);
            Ok(())
        })
    })
}

/// The options that differ from their defaults, as the JSON object that
/// towline_options_set_json() takes, with the values of variables and secrets in it. Callbacks and
/// tools are not part of it. Free `*json` with towline_buffer_free().
#[no_mangle]
pub unsafe extern "C" fn towline_options_json(
    options: *const towline_options,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let json = boundary::required(json, std::ptr::null_mut(), "json")?;
        let options = handle::enter::<Settings>(options)?;
        let document = serde_json::to_string(&options.lock().options)
            .map_err(|error| Failure::new(TOWLINE_ERR_JSON, error.to_string()))?;
        json.set(buffer::create(document));
        Ok(())
    })
}
