//! Session stores of the host: one that blocks, on a thread of its own; one that answers later.

mod call;
mod worker;

pub use call::StoreCallHandle;
pub use worker::OpenStore;
