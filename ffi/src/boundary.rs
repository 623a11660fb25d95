//! The one place where C calls come in: panics are caught, failures become a status and an error
//! object, out-parameters are cleared first.

use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::error::{towline_error, Failure};
use crate::status::towline_status;
use crate::status::towline_status::{TOWLINE_ERR_NULL, TOWLINE_OK};

/// Runs the body of an exported function that reports a status.
///
/// `error` is NULL or where the caller wants the error object.
pub(crate) unsafe fn call(
    error: *mut *mut towline_error,
    body: impl FnOnce() -> Result<(), Failure>,
) -> towline_status {
    set(error, std::ptr::null_mut());
    let result = catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|panic| Err(Failure::panic(panic.as_ref())));
    match result {
        Ok(()) => TOWLINE_OK,
        Err(failure) => {
            let status = failure.status;
            if !error.is_null() && failure.reported {
                let object = catch_unwind(AssertUnwindSafe(|| failure.into_object()));
                set(error, object.unwrap_or(std::ptr::null_mut()));
            }
            status
        }
    }
}

/// Runs the body of an exported function that returns a value; `otherwise` when it fails.
pub(crate) fn value<T>(otherwise: T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(_)) | Err(_) => otherwise,
    }
}

/// Writes an out-parameter that may be NULL.
pub(crate) unsafe fn set<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: not null; that it points to room for a value is what the header asks of callers.
        unsafe { out.write(value) };
    }
}

/// An out-parameter that may not be NULL, cleared.
pub(crate) unsafe fn required<T>(
    out: *mut T,
    clear: T,
    name: &'static str,
) -> Result<Out<T>, Failure> {
    if out.is_null() {
        return Err(Failure::new(
            TOWLINE_ERR_NULL,
            format!("{name}: a place for the result is needed, and NULL was given"),
        ));
    }
    set(out, clear);
    Ok(Out(out))
}

/// A place for a result.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    pub(crate) fn set(self, value: T) {
        // SAFETY: `required` has checked and written it.
        unsafe { self.0.write(value) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{towline_error_code, towline_error_free, towline_error_message};
    use crate::status::towline_status::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let mut error = std::ptr::null_mut();
        // SAFETY: `error` is a place for an error object, which is freed once.
        unsafe {
            let status = call(&mut error, || panic!("over {}", "board"));
            assert_eq!(status, TOWLINE_ERR_PANIC);
            assert_eq!(towline_error_code(error), TOWLINE_ERR_PANIC);
            let message = std::ffi::CStr::from_ptr(towline_error_message(error));
            assert!(message.to_str().unwrap().contains("over board"));
            towline_error_free(error);
        }
        assert_eq!(value(5, || panic!("a test's panic")), 5);
    }

    #[test]
    fn success_clears_the_error() {
        let mut error = std::ptr::NonNull::dangling().as_ptr();
        // SAFETY: `error` is a place for an error object; what stands in it is not looked at.
        unsafe {
            assert_eq!(call(&mut error, || Ok(())), TOWLINE_OK);
        }
        assert!(error.is_null());
    }

    /// Every exported body is one expression inside the boundary, or returns a constant.
    fn runs_inside(body: &str) -> bool {
        ["boundary::call(", "boundary::value("]
            .iter()
            .any(|start| body.starts_with(start))
    }

    /// Whether the body is a call of a function of the same file whose body runs inside.
    fn goes_on_inside(body: &str, file: &str) -> bool {
        let Some((callee, _)) = body.split_once('(') else {
            return false;
        };
        let definition = format!("fn {callee}(");
        let called = file.split(&definition).nth(1);
        let called = called.and_then(|rest| rest.split_once("{\n"));
        called.is_some_and(|(_, body)| runs_inside(body.trim_start()))
    }

    #[test]
    fn every_exported_body_runs_inside_the_boundary() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let marker = concat!("#[no_", "mangle]\n");
            for function in text.split(marker).skip(1) {
                let signature = function.split('{').next().unwrap();
                let mut body = function[signature.len() + 1..].trim_start();
                while body.starts_with("use ") {
                    body = body.split_once('\n').unwrap().1.trim_start();
                }
                let inside = runs_inside(body) || goes_on_inside(body, &text);
                let constant = signature.contains("towline_version")
                    || signature.contains("towline_abi_version");
                assert!(inside || constant, "{}: {signature}", path.display());
                seen += 1;
            }
        }
        assert!(seen > 80, "only {seen} exported functions were found");
    }
}
