//! The CLI as a process: how it starts, how its whole tree ends (design: sessions, the process).

mod child;
mod exec;
mod private_file;
mod spawn;
mod tree;
mod watchdog;

pub(crate) use child::Child;
pub use child::{Exit, Signal};
pub(crate) use private_file::PrivateFiles;
pub(crate) use spawn::{account, check_folder, interpreter, spawn, Spawned, Start};
pub(crate) use watchdog::Process as WatchdogProcess;
pub use watchdog::Watchdog;
