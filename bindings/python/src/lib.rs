//! `towline._native`: sessions for Python.

use pyo3::prelude::*;

/// The native half of Towline: sessions, and the decoding of messages.
#[pymodule]
mod _native {
    /// The version of the native module, which is the package's.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
