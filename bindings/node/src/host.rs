//! A JavaScript thread (the main one, or a worker) as an owner of sessions.

use std::ffi::c_void;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr;
use std::sync::Arc;

use napi::bindgen_prelude::{Function, JsValue};
use napi::{check_status, sys, Env};
use napi_derive::napi;
use rustix::event::epoll;

use crate::error::to_js;
use crate::uv::{Poll, Watching};
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

/// Calls a function of JavaScript's when the descriptor of its sessions is readable.
struct Wakes {
    env: sys::napi_env,
    wake: sys::napi_ref,
    /// Open as long as it is watched.
    _epoll: Arc<OwnedFd>,
}

impl Watching for Wakes {
    fn ready(&mut self) {
        // SAFETY: called by this environment's own loop, between its turns. A handle scope is
        // opened for the values; what the function throws is an uncaught exception, as from any
        // callback of Node's.
        unsafe {
            let mut scope = ptr::null_mut();
            if sys::napi_open_handle_scope(self.env, &mut scope) != sys::Status::napi_ok {
                return;
            }
            let (mut global, mut wake) = (ptr::null_mut(), ptr::null_mut());
            sys::napi_get_global(self.env, &mut global);
            sys::napi_get_reference_value(self.env, self.wake, &mut wake);
            let called = sys::napi_make_callback(
                self.env,
                ptr::null_mut(),
                global,
                wake,
                0,
                ptr::null(),
                ptr::null_mut(),
            );
            if called == sys::Status::napi_pending_exception {
                let mut thrown = ptr::null_mut();
                if sys::napi_get_and_clear_last_exception(self.env, &mut thrown)
                    == sys::Status::napi_ok
                {
                    sys::napi_fatal_exception(self.env, thrown);
                }
            }
            sys::napi_close_handle_scope(self.env, scope);
        }
    }
}

/// What the clean-up hook of a JavaScript thread has to undo.
struct Registered {
    host: u64,
    callback: sys::napi_threadsafe_function,
    poll: Poll,
}

/// A JavaScript thread that owns sessions. One a thread.
#[napi]
pub struct NativeHost {
    id: u64,
    poll: Poll,
}

#[napi]
impl NativeHost {
    /// `wake` is called when [`ready`](NativeHost::ready) has something to tell.
    #[napi(constructor)]
    pub fn new(env: Env, wake: Function<'_, (), ()>) -> napi::Result<NativeHost> {
        let failed = |error: std::io::Error| to_js(towline::Error::Wait(error));
        let waiter = Waiter::get().map_err(failed)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC);
        let epoll = Arc::new(epoll.map_err(|error| failed(error.into()))?);
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
        let poll = watch(&env, &wake, &epoll)?;
        let host = waiter.add_host(Box::new(Callback(callback)), epoll);
        let registered = Registered {
            host,
            callback,
            poll,
        };
        let registered = Box::into_raw(Box::new(registered));
        // SAFETY: hooks run once, last added first, so before N-API's own for the function, and the
        // environment waits until the handle is closed.
        check_status!(unsafe {
            sys::napi_add_async_cleanup_hook(
                env.raw(),
                Some(clean_up),
                registered.cast(),
                ptr::null_mut(),
            )
        })?;
        Ok(NativeHost { id: host, poll })
    }

    /// Whether the process has to live on for the sessions of this thread.
    #[napi]
    pub fn hold(&self, hold: bool) {
        // SAFETY: JavaScript still runs, so the clean-up hook has not.
        unsafe { self.poll.hold(hold) };
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

/// Has the loop of this thread call `wake` whenever a session is ready.
fn watch(env: &Env, wake: &Function<'_, (), ()>, epoll: &Arc<OwnedFd>) -> napi::Result<Poll> {
    let (mut uv_loop, mut reference) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: values of this environment. The reference goes with the environment.
    check_status!(unsafe { sys::napi_create_reference(env.raw(), wake.raw(), 1, &mut reference) })?;
    // SAFETY: as above.
    check_status!(unsafe { sys::napi_get_uv_event_loop(env.raw(), &mut uv_loop) })?;
    let wakes = Wakes {
        env: env.raw(),
        wake: reference,
        _epoll: Arc::clone(epoll),
    };
    // SAFETY: this thread's loop; the descriptor lives in `wakes` until the handle is closed, which
    // the clean-up hook sees to.
    let poll = unsafe { Poll::start(uv_loop.cast(), epoll.as_fd(), Box::new(wakes)) };
    poll.ok_or_else(|| {
        let refused = std::io::Error::other("the event loop cannot watch a descriptor");
        to_js(towline::Error::Wait(refused))
    })
}

unsafe extern "C" fn clean_up(hook: sys::napi_async_cleanup_hook_handle, registered: *mut c_void) {
    // SAFETY: made by `Box::into_raw` for this one call.
    let registered = unsafe { Box::from_raw(registered.cast::<Registered>()) };
    if let Ok(waiter) = Waiter::get() {
        waiter.remove_host(registered.host);
    }
    // SAFETY: nobody calls the function any more, this was its only user; the handle is open.
    unsafe {
        sys::napi_release_threadsafe_function(
            registered.callback,
            sys::ThreadsafeFunctionReleaseMode::abort,
        );
        let done = move || {
            sys::napi_remove_async_cleanup_hook(hook);
        };
        registered.poll.close(Box::new(done));
    }
}
