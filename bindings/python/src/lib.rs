//! `towline._native`: sessions for Python.

mod errors;
mod inbox;
mod json;
mod log;
mod message;
mod pipe;
mod pool;
mod ready;
mod request;
mod session;
mod sessions;
mod start;
mod stores;
mod strings;

use pyo3::prelude::*;

/// The native half of Towline: sessions, and the decoding of messages.
#[pymodule]
mod _native {
    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    #[pymodule_export]
    use crate::inbox::{Inbox, Stream};
    #[pymodule_export]
    use crate::message::{SavedField, StreamField};
    #[pymodule_export]
    use crate::pipe::Pipe;
    #[pymodule_export]
    use crate::pool::PoolPolicy;
    #[pymodule_export]
    use crate::request::Request;
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::sessions::{fold, messages_of_saved, project_key, saved};
    #[pymodule_export]
    use crate::stores::{
        materialize_session, resume_task, Materialized, ResumePlan, Store, StoreCall, StoreTask,
    };

    /// The version of the native module, which is the package's.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The message that a dict of the CLI is; `None` for one of an unknown type, unless `unknown`.
    #[pyfunction]
    #[pyo3(signature = (data, unknown=false))]
    fn parse_message<'py>(
        data: &Bound<'py, PyDict>,
        unknown: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        crate::message::from_dict(data.py(), data, unknown)
    }

    /// Makes the fields of a stream event that has its line yet, and gives its attributes.
    #[pyfunction]
    fn fill<'py>(message: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
        crate::message::fill(message)
    }

    /// Makes the fields of a message of a saved session that has its text yet.
    #[pyfunction]
    fn settle(message: &Bound<'_, PyAny>) -> PyResult<()> {
        crate::message::settle(message)
    }

    /// `json.loads`, for text.
    #[pyfunction]
    fn loads<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        towline::protocol::json::validate(text)
            .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
        crate::json::loads(py, text)
    }
}
