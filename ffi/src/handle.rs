//! Handles: boxes that begin with a magic word.
//!
//! A call on a handle is counted while it runs, so that a handle cannot be freed under it. The
//! shell of a freed handle is kept for a while, without its contents, so that a call with it is
//! told from one with a live handle and touches no freed memory.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::Mutex;

use crate::error::Failure;
use crate::status::towline_status::*;

/// Shells kept of each type.
const KEPT: usize = 64;
/// The magic word of a freed handle.
const FREED: u64 = 0xdead_70a1_1e00_0000;
/// Stands in the count of calls once a handle is being freed.
const CLOSING: usize = usize::MAX / 2;

/// What a handle of one type holds.
pub(crate) trait Payload: Sized + Send + 'static {
    /// Tells the types apart.
    const MAGIC: u64;
    /// The name of the C type.
    const NAME: &'static str;
    /// The type that C sees.
    type Opaque;
    /// Freed shells of this type.
    fn graveyard() -> &'static Graveyard<Self>;
}

/// Freed shells, the oldest first.
pub(crate) struct Graveyard<T>(Mutex<VecDeque<Box<Shell<T>>>>);

impl<T> Graveyard<T> {
    pub(crate) const fn new() -> Graveyard<T> {
        Graveyard(Mutex::new(VecDeque::new()))
    }

    fn bury(&self, shell: Box<Shell<T>>) {
        // After a fork the lock may be held for ever; then the shell is not kept.
        let Ok(mut shells) = self.0.try_lock() else {
            return;
        };
        shells.push_back(shell);
        if shells.len() > KEPT {
            shells.pop_front();
        }
    }
}

/// What a handle points to. The magic word comes first in every type.
#[repr(C)]
pub(crate) struct Shell<T> {
    magic: AtomicU64,
    calls: AtomicUsize,
    poisoned: AtomicBool,
    payload: UnsafeCell<Option<T>>,
}

// SAFETY: the payload is shared only by `Use`, which asks for Sync, and taken out only when no call
// is running.
unsafe impl<T: Send> Sync for Shell<T> {}

/// Defines an opaque C type and how its handles are told apart.
macro_rules! handle {
    ($(#[$doc:meta])* $opaque:ident, $payload:ty, $magic:literal) => {
        impl $crate::handle::Payload for $payload {
            const MAGIC: u64 = u64::from_be_bytes(*$magic);
            const NAME: &'static str = stringify!($opaque);
            type Opaque = $opaque;
            fn graveyard() -> &'static $crate::handle::Graveyard<Self> {
                static GRAVEYARD: $crate::handle::Graveyard<$payload> =
                    $crate::handle::Graveyard::new();
                &GRAVEYARD
            }
        }
    };
}
pub(crate) use handle;

/// A new handle, for C to keep.
pub(crate) fn create<T: Payload>(payload: T) -> *mut T::Opaque {
    let shell = Box::new(Shell {
        magic: AtomicU64::new(T::MAGIC),
        calls: AtomicUsize::new(0),
        poisoned: AtomicBool::new(false),
        payload: UnsafeCell::new(Some(payload)),
    });
    Box::into_raw(shell).cast()
}

/// A call on a handle, running. A panic while it is held poisons the handle.
pub(crate) struct Use<'a, T> {
    shell: &'a Shell<T>,
    payload: &'a T,
    unwinding_already: bool,
}

impl<T> std::ops::Deref for Use<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.payload
    }
}

impl<T> Drop for Use<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.unwinding_already {
            self.shell.poisoned.store(true, Ordering::Relaxed);
        }
        self.shell.calls.fetch_sub(1, Ordering::Release);
    }
}

fn wrong<T: Payload>(found: &str) -> Failure {
    Failure::new(
        TOWLINE_ERR_HANDLE,
        format!("this is no live {}: {found}", T::NAME),
    )
}

unsafe fn shell<'a, T: Payload>(handle: *const T::Opaque) -> Result<&'a Shell<T>, Failure> {
    if handle.is_null() {
        return Err(Failure::new(
            TOWLINE_ERR_NULL,
            format!("a {} is needed, and NULL was given", T::NAME),
        ));
    }
    let word = handle.cast::<AtomicU64>();
    if !word.is_aligned() {
        return Err(wrong::<T>("no handle stands at such an address"));
    }
    // SAFETY: aligned and not null; that it points to a handle, of whatever type and state, is what
    // the header asks of callers. Every handle begins with its magic word.
    match unsafe { &*word }.load(Ordering::Acquire) {
        magic if magic == T::MAGIC => {}
        FREED => return Err(wrong::<T>("it was freed")),
        _ => return Err(wrong::<T>("it is something else")),
    }
    // SAFETY: the magic word says that a shell of this type stands here.
    Ok(unsafe { &*handle.cast::<Shell<T>>() })
}

/// Begins a call on a handle.
pub(crate) unsafe fn enter<'a, T: Payload + Sync>(
    handle: *const T::Opaque,
) -> Result<Use<'a, T>, Failure> {
    let shell = shell::<T>(handle)?;
    if shell.calls.fetch_add(1, Ordering::Acquire) >= CLOSING {
        shell.calls.fetch_sub(1, Ordering::Release);
        return Err(wrong::<T>("it was freed"));
    }
    // SAFETY: while the count is not CLOSING nobody takes the payload out, and our count keeps it
    // from becoming so.
    let payload = unsafe { &*shell.payload.get() }.as_ref();
    let Some(payload) = payload.filter(|_| !shell.poisoned.load(Ordering::Relaxed)) else {
        shell.calls.fetch_sub(1, Ordering::Release);
        return Err(Failure::new(
            TOWLINE_ERR_POISONED,
            format!("a call on this {} has failed inside; only free it", T::NAME),
        ));
    };
    Ok(Use {
        shell,
        payload,
        unwinding_already: std::thread::panicking(),
    })
}

/// Frees a handle. NULL is fine. Fails while a call on it is running.
pub(crate) unsafe fn free<T: Payload>(handle: *mut T::Opaque) -> Result<(), Failure> {
    if handle.is_null() {
        return Ok(());
    }
    let shell = close::<T>(handle)?;
    // SAFETY: no call is running, and none begins any more.
    let payload = unsafe { &mut *shell.payload.get() }.take();
    bury::<T>(handle, shell);
    drop(payload);
    Ok(())
}

/// Gives what a handle holds away and frees it. When `give` fails it has what the handle holds from
/// then on. Fails while a call on it is running.
pub(crate) unsafe fn consume<T: Payload>(
    handle: *mut T::Opaque,
    give: impl FnOnce(T) -> Result<(), Box<(T, Failure)>>,
) -> Result<(), Failure> {
    let shell = close::<T>(handle)?;
    // SAFETY: no call is running, and none begins meanwhile.
    let payload = unsafe { &mut *shell.payload.get() };
    let given = match payload.take() {
        Some(content) => give(content),
        None => Ok(()),
    };
    match given {
        Ok(()) => {
            bury::<T>(handle, shell);
            Ok(())
        }
        Err(back) => {
            let (content, failure) = *back;
            *payload = Some(content);
            shell.calls.store(0, Ordering::Release);
            Err(failure)
        }
    }
}

/// Lets no more calls on a handle begin.
unsafe fn close<'a, T: Payload>(handle: *mut T::Opaque) -> Result<&'a Shell<T>, Failure> {
    let shell = shell::<T>(handle)?;
    let begun = shell
        .calls
        .compare_exchange(0, CLOSING, Ordering::AcqRel, Ordering::Relaxed);
    match begun {
        Ok(_) => Ok(shell),
        Err(calls) if calls >= CLOSING => Err(wrong::<T>("it was freed")),
        Err(_) => Err(Failure::new(
            TOWLINE_ERR_BUSY,
            format!(
                "this {} is in use by a call, on another thread or the one this callback runs in",
                T::NAME
            ),
        )),
    }
}

/// Keeps the shell of a handle that is closed.
unsafe fn bury<T: Payload>(handle: *mut T::Opaque, shell: &Shell<T>) {
    shell.magic.store(FREED, Ordering::Release);
    // SAFETY: made by `create`, and freed only once, as the count of calls tells.
    let shell = unsafe { Box::from_raw(handle.cast::<Shell<T>>()) };
    T::graveyard().bury(shell);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary;
    use crate::status::towline_status;

    struct Thing(u32);
    struct opaque;
    handle!(opaque, Thing, b"testthng");

    fn status_of(result: Result<(), Failure>) -> towline_status {
        result.err().map_or(TOWLINE_OK, |failure| failure.status)
    }

    unsafe fn look(handle: *const opaque) -> Result<u32, Failure> {
        enter::<Thing>(handle).map(|thing| thing.0)
    }

    #[test]
    fn live_freed_null_and_wrong() {
        let handle = create(Thing(7));
        // SAFETY: a live handle, then a freed one whose shell is kept, then no handles at all but
        // memory of ours.
        unsafe {
            assert_eq!(look(handle).ok(), Some(7));
            assert_eq!(status_of(free::<Thing>(handle)), TOWLINE_OK);
            let after = look(handle).err().unwrap();
            assert_eq!(after.status, TOWLINE_ERR_HANDLE);
            assert!(after.message.contains("it was freed"), "{}", after.message);
            assert_eq!(status_of(free::<Thing>(handle)), TOWLINE_ERR_HANDLE);
            assert_eq!(status_of(free::<Thing>(std::ptr::null_mut())), TOWLINE_OK);
            let null = look(std::ptr::null()).err().unwrap();
            assert_eq!(null.status, TOWLINE_ERR_NULL);
            let memory = [0u64; 8];
            let wrong = look(memory.as_ptr().cast()).err().unwrap();
            assert_eq!(wrong.status, TOWLINE_ERR_HANDLE);
            let odd = memory.as_ptr().cast::<u8>().add(1);
            let wrong = look(odd.cast()).err().unwrap();
            assert_eq!(wrong.status, TOWLINE_ERR_HANDLE);
        }
    }

    #[test]
    fn a_handle_in_use_cannot_be_freed() {
        let handle = create(Thing(1));
        // SAFETY: a live handle, freed once at the end.
        unsafe {
            let held = enter::<Thing>(handle).ok().unwrap();
            assert_eq!(status_of(free::<Thing>(handle)), TOWLINE_ERR_BUSY);
            assert_eq!(held.0, 1);
            drop(held);
            assert_eq!(status_of(free::<Thing>(handle)), TOWLINE_OK);
        }
    }

    #[test]
    fn a_panic_poisons() {
        let handle = create(Thing(1));
        // SAFETY: a live handle, freed once at the end; no error object is asked for.
        unsafe {
            let status = boundary::call(std::ptr::null_mut(), || {
                let _held = enter::<Thing>(handle)?;
                panic!("a test's panic")
            });
            assert_eq!(status, TOWLINE_ERR_PANIC);
            assert_eq!(look(handle).err().unwrap().status, TOWLINE_ERR_POISONED);
            assert_eq!(status_of(free::<Thing>(handle)), TOWLINE_OK);
        }
    }

    #[test]
    fn shells_are_kept_in_bounds() {
        // Not those that the other tests look at meanwhile.
        struct Many;
        struct many;
        handle!(many, Many, b"testmany");
        let handles: Vec<_> = (0..KEPT + 10).map(|_| create(Many)).collect();
        for handle in &handles {
            // SAFETY: live handles, each freed once.
            assert_eq!(status_of(unsafe { free::<Many>(*handle) }), TOWLINE_OK);
        }
        assert!(Many::graveyard().0.lock().unwrap().len() <= KEPT);
    }
}
