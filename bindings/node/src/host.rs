//! A JavaScript thread (the main one, or a worker) as an owner of sessions.

use std::ffi::c_void;
use std::ptr;

use napi::bindgen_prelude::{Function, JsValue};
use napi::{check_status, sys, Env};
use napi_derive::napi;

use crate::error::to_js;
use crate::waiter::{Waiter, Wake};

/// A function of a JavaScript thread that any thread can have called.
struct Callback(sys::napi_threadsafe_function);

// SAFETY: N-API makes calls of a thread-safe function from any thread its purpose. The waiter holds
// its table locked while it calls, and the clean-up hook of the JavaScript thread takes the function
// out of that table before N-API frees it.
unsafe impl Send for Callback {}

impl Wake for Callback {
    fn wake(&self) {
        // SAFETY: alive, see above. It never blocks; a queue without limit takes every call, and a
        // thread that is about to end needs none.
        unsafe {
            sys::napi_call_threadsafe_function(
                self.0,
                ptr::null_mut(),
                sys::ThreadsafeFunctionCallMode::nonblocking,
            );
        }
    }
}

/// What the clean-up hook of a JavaScript thread has to undo.
struct Registered {
    host: u64,
    callback: sys::napi_threadsafe_function,
}

/// A JavaScript thread that owns sessions. One a thread.
#[napi]
pub struct NativeHost {
    id: u64,
    callback: sys::napi_threadsafe_function,
}

#[napi]
impl NativeHost {
    /// `wake` is called when [`ready`](NativeHost::ready) has something to tell.
    #[napi(constructor)]
    pub fn new(env: Env, wake: Function<'_, (), ()>) -> napi::Result<NativeHost> {
        let waiter = Waiter::get().map_err(|error| to_js(towline::Error::Wait(error)))?;
        let name = env.create_string("towline")?;
        let mut callback = ptr::null_mut();
        // SAFETY: all values belong to this environment; without a call function N-API calls `wake`
        // itself, without arguments.
        check_status!(unsafe {
            sys::napi_create_threadsafe_function(
                env.raw(),
                wake.raw(),
                ptr::null_mut(),
                name.raw(),
                0,
                1,
                ptr::null_mut(),
                None,
                ptr::null_mut(),
                None,
                &mut callback,
            )
        })?;
        // SAFETY: just created in this environment. An idle session keeps no process alive.
        check_status!(unsafe { sys::napi_unref_threadsafe_function(env.raw(), callback) })?;
        let host = waiter.add_host(Box::new(Callback(callback)));
        let registered = Box::into_raw(Box::new(Registered { host, callback }));
        // SAFETY: hooks run once, last added first, so before N-API's own for the function.
        check_status!(unsafe {
            sys::napi_add_env_cleanup_hook(env.raw(), Some(clean_up), registered.cast())
        })?;
        Ok(NativeHost { id: host, callback })
    }

    /// Whether the process has to live on for the sessions of this thread.
    #[napi]
    pub fn hold(&self, env: Env, hold: bool) -> napi::Result<()> {
        // SAFETY: JavaScript still runs, so the clean-up hook has not.
        check_status!(unsafe {
            match hold {
                true => sys::napi_ref_threadsafe_function(env.raw(), self.callback),
                false => sys::napi_unref_threadsafe_function(env.raw(), self.callback),
            }
        })
    }

    /// The ids of sessions that have something to do.
    #[napi]
    pub fn ready(&self) -> Vec<f64> {
        let waiter = Waiter::get();
        let ready = waiter.map(|waiter| waiter.take_ready(self.id));
        let ready = ready.unwrap_or_default().into_iter();
        ready.map(|id| id as f64).collect()
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

unsafe extern "C" fn clean_up(registered: *mut c_void) {
    // SAFETY: made by `Box::into_raw` for this one call.
    let registered = unsafe { Box::from_raw(registered.cast::<Registered>()) };
    if let Ok(waiter) = Waiter::get() {
        waiter.remove_host(registered.host);
    }
    // SAFETY: nobody calls it any more; this was its only user.
    unsafe {
        sys::napi_release_threadsafe_function(
            registered.callback,
            sys::ThreadsafeFunctionReleaseMode::abort,
        );
    }
}
