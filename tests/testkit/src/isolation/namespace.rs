//! Network namespaces with loopback alone.

use std::fs;
use std::io;

use crate::sys;

/// Which kind of namespace the process got.
#[derive(Debug)]
pub enum Isolation {
    /// A network namespace.
    Network,
    /// A network namespace in a user namespace, in which this user is mapped to root; sandboxes can
    /// therefore be entered inside.
    UserAndNetwork,
    /// None, and why.
    None(String),
}

/// Moves the calling thread into a network namespace with loopback alone, which is up.
///
/// # Errors
/// Not permitted without CAP_SYS_ADMIN. The thread is where it was, unless loopback did not come up:
/// then it is in the namespace, cut off.
pub fn unshare_network() -> io::Result<()> {
    sys::unshare(libc::CLONE_NEWNET)?;
    sys::bring_loopback_up()
}

/// The same for a whole process, which must have one thread; tries a user namespace when the process
/// may not do it as it is.
///
/// # Errors
/// The process is in a namespace it cannot use.
pub fn isolate_process() -> io::Result<Isolation> {
    let first = match sys::try_in_child(unshare_network) {
        Ok(()) => return unshare_network().map(|()| Isolation::Network),
        Err(error) => error,
    };
    // Some systems permit the namespace but not what makes it usable, and there is no way back: so a
    // child tries first.
    match sys::try_in_child(unshare_as_mapped_root) {
        Ok(()) => unshare_as_mapped_root().map(|()| Isolation::UserAndNetwork),
        Err(second) => Ok(Isolation::None(format!(
            "network namespace: {first}; with a user namespace: {second}"
        ))),
    }
}

fn unshare_as_mapped_root() -> io::Result<()> {
    let (user, group) = sys::user_and_group();
    sys::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)?;
    // The kernel lets an unprivileged process map its group only after it gave up setgroups(2).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
    sys::bring_loopback_up()
}
