//! The little of libuv that is needed to watch a descriptor on a JavaScript thread's own loop. Node
//! and Electron export it to addons; its ABI is stable through libuv 1.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd};

/// `uv_handle_type::UV_POLL`
const UV_POLL: c_int = 8;
/// `uv_poll_event::UV_READABLE`
const UV_READABLE: c_int = 1;

type Handle = *mut c_void;

extern "C" {
    fn uv_handle_size(kind: c_int) -> usize;
    fn uv_handle_set_data(handle: Handle, data: *mut c_void);
    fn uv_handle_get_data(handle: Handle) -> *mut c_void;
    fn uv_poll_init(uv_loop: *mut c_void, handle: Handle, fd: c_int) -> c_int;
    fn uv_poll_start(
        handle: Handle,
        events: c_int,
        ready: unsafe extern "C" fn(Handle, c_int, c_int),
    ) -> c_int;
    fn uv_ref(handle: Handle);
    fn uv_unref(handle: Handle);
    fn uv_close(handle: Handle, closed: unsafe extern "C" fn(Handle));
}

/// Who is told that the descriptor is readable. Dropped when the watch is over.
pub(crate) trait Watching {
    fn ready(&mut self);
}

/// A watched descriptor. For the thread of the loop alone.
#[derive(Clone, Copy)]
pub(crate) struct Poll(Handle);

struct Data {
    watching: Box<dyn Watching>,
    closed: Option<Box<dyn FnOnce()>>,
}

fn layout() -> Option<Layout> {
    // SAFETY: a constant of libuv's.
    Layout::from_size_align(unsafe { uv_handle_size(UV_POLL) }, 16).ok()
}

impl Poll {
    /// Watches a descriptor; the loop does not live on for it. `None` when the system refuses.
    ///
    /// # Safety
    ///
    /// `uv_loop` is the running loop of this thread, and the descriptor is open until
    /// [`Poll::close`] has told of the end, which has to be asked for before the loop ends.
    pub(crate) unsafe fn start(
        uv_loop: *mut c_void,
        fd: BorrowedFd<'_>,
        watching: Box<dyn Watching>,
    ) -> Option<Poll> {
        let layout = layout()?;
        // SAFETY: a handle is not empty.
        let handle = unsafe { alloc_zeroed(layout) }.cast::<c_void>();
        if handle.is_null() {
            return None;
        }
        // SAFETY: room for a handle of this kind, and the loop is this thread's.
        if unsafe { uv_poll_init(uv_loop, handle, fd.as_raw_fd()) } != 0 {
            // SAFETY: allocated above with this layout; libuv does not know it.
            unsafe { dealloc(handle.cast(), layout) };
            return None;
        }
        let data = Data {
            watching,
            closed: None,
        };
        // SAFETY: an initialised handle.
        unsafe {
            uv_handle_set_data(handle, Box::into_raw(Box::new(data)).cast());
            uv_unref(handle);
        }
        let poll = Poll(handle);
        // SAFETY: as above.
        if unsafe { uv_poll_start(handle, UV_READABLE, on_ready) } != 0 {
            // SAFETY: not closed yet.
            unsafe { poll.close(Box::new(|| ())) };
            return None;
        }
        Some(poll)
    }

    /// Whether the loop lives on for the watch.
    ///
    /// # Safety
    ///
    /// Not closed yet.
    pub(crate) unsafe fn hold(self, hold: bool) {
        // SAFETY: an open handle of this thread's loop.
        unsafe {
            match hold {
                true => uv_ref(self.0),
                false => uv_unref(self.0),
            }
        }
    }

    /// Ends the watch; `closed` is called by the loop.
    ///
    /// # Safety
    ///
    /// Not closed yet.
    pub(crate) unsafe fn close(self, closed: Box<dyn FnOnce()>) {
        // SAFETY: an open handle of this thread's loop, with the data that it was given.
        unsafe {
            let data = uv_handle_get_data(self.0).cast::<Data>();
            (*data).closed = Some(closed);
            uv_close(self.0, on_closed);
        }
    }
}

unsafe extern "C" fn on_ready(handle: Handle, _status: c_int, _events: c_int) {
    // SAFETY: the data lives until the handle is closed, and nobody else has it meanwhile.
    let data = unsafe { &mut *uv_handle_get_data(handle).cast::<Data>() };
    data.watching.ready();
}

unsafe extern "C" fn on_closed(handle: Handle) {
    // SAFETY: libuv is done with the handle, and both were made by `Poll::start`.
    let data = unsafe {
        let data = Box::from_raw(uv_handle_get_data(handle).cast::<Data>());
        if let Some(layout) = layout() {
            dealloc(handle.cast(), layout);
        }
        data
    };
    if let Some(closed) = data.closed {
        closed();
    }
}
