//! Stores of sessions.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use towline_core::protocol::json::Elements;
use towline_core::transcripts::store::operations::Operation;
use towline_core::transcripts::store::{
    conformance, open, run, Capabilities, Entry, SessionKey, SessionStore, StoreCall, StoreError,
    TaskError,
};
use towline_core::transcripts::{fold_summary, SessionSummary};
use towline_core::{FlushMode, OpenStore};

use crate::boundary;
use crate::buffer::{self, towline_buffer};
use crate::callback::{towline_finalize, UserData};
use crate::error::{towline_error, Failure};
use crate::handle::{self, handle};
use crate::options::{towline_options, Settings};
use crate::status::towline_status;
use crate::status::towline_status::*;
use crate::store_callbacks::{towline_store_callbacks, HostStore};
use crate::text::{name, optional, text, NUL};

/// A place where sessions are kept so that they outlive a machine. Functions on it block until the
/// store has done its work and can be called from any thread; from a process made by fork() they
/// return TOWLINE_ERR_FORKED. Freed with towline_store_free().
pub struct towline_store {
    _opaque: [u8; 0],
}

pub(crate) struct Store {
    store: OpenStore,
    /// The process that opened it: neither a file's locks nor a connection outlive a fork.
    owner: u32,
}

handle!(towline_store, Store, b"tow_stor");

impl Store {
    fn new(store: Arc<dyn SessionStore>) -> Store {
        Store {
            store: OpenStore::new(store),
            owner: std::process::id(),
        }
    }
}

/// The store, for a call on it.
unsafe fn entered(store: *const towline_store) -> Result<OpenStore, Failure> {
    let store = handle::enter::<Store>(store)?;
    if store.owner != std::process::id() {
        return Err(Failure::new(
            TOWLINE_ERR_FORKED,
            "the store was opened before fork() and belongs to the parent process",
        ));
    }
    Ok(store.store.clone())
}

/// Opens the store that a URL names, making what is not there yet: `memory:`, `sqlite:PATH`,
/// `dir:PATH` (a folder of JSON lines files as the CLI's own), `postgres://user@host/database`
/// (many hosts share it; no TLS). Free `*store` with towline_store_free().
///
/// Errors: TOWLINE_ERR_STORE; the message says what is wrong with the URL or what could not be
/// opened.
#[no_mangle]
pub unsafe extern "C" fn towline_store_open(
    url: *const c_char,
    store: *mut *mut towline_store,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let store = boundary::required(store, std::ptr::null_mut(), "store")?;
        let opened = open(name("url", url)?)?;
        store.set(handle::create(Store::new(opened.into())));
        Ok(())
    })
}

/// Makes a store of the host's own functions. `callbacks` is copied. `finalize` is called once
/// with `user_data` when nothing uses the store any more. Free `*store` with towline_store_free().
///
/// Errors: TOWLINE_ERR_NULL without `append` or `load`; TOWLINE_ERR_ARGUMENT when `size` is none
/// that the struct has had. Then `finalize` is not called.
#[no_mangle]
pub unsafe extern "C" fn towline_store_from_callbacks(
    callbacks: *const towline_store_callbacks,
    user_data: *mut c_void,
    finalize: towline_finalize,
    store: *mut *mut towline_store,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let store = boundary::required(store, std::ptr::null_mut(), "store")?;
        let functions = towline_store_callbacks::read(callbacks)?;
        let user_data = UserData::new(user_data, finalize);
        let host = HostStore::new(functions, user_data);
        store.set(handle::create(Store::new(Arc::new(host))));
        Ok(())
    })
}

/// Has sessions mirror their transcripts to a store, and look there for the session that options
/// `"resume"` and `"continue"` name. Takes the place of a store set before, and of the one that
/// option `"sessionStore"` names; NULL takes it away. `flush` is `"batched"` (with each turn),
/// `"eager"` (at once), or NULL for what option `"sessionStoreFlush"` says. The store may be freed;
/// the sessions keep it.
///
/// The sessions' calls of one store run on one thread, one after another. What could not be stored
/// comes as a message of the subtype `mirror_error`. towline_session_create() loads the session
/// that is resumed, which blocks. towline_session_close() waits until everything is stored.
///
/// Errors: TOWLINE_ERR_ARGUMENT for another `flush`.
#[no_mangle]
pub unsafe extern "C" fn towline_options_set_store(
    options: *mut towline_options,
    store: *const towline_store,
    flush: *const c_char,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let flush = match optional("flush", flush, NUL)? {
            None => None,
            Some(mode) => Some(FlushMode::named(mode).ok_or_else(|| {
                let message = format!("flush is batched, eager or NULL, not {mode:?}");
                Failure::new(TOWLINE_ERR_ARGUMENT, message)
            })?),
        };
        let store = match store.is_null() {
            true => None,
            false => Some((entered(store)?, flush)),
        };
        options.change(|content| Ok(std::mem::replace(&mut content.registered.store, store)))
    })
}

/// Frees a store. NULL is fine. Sessions that use it go on.
#[no_mangle]
pub unsafe extern "C" fn towline_store_free(store: *mut towline_store) -> towline_status {
    boundary::call(std::ptr::null_mut(), || handle::free::<Store>(store))
}

/// Does an operation on the sessions of a store. `operation` is a JSON object: `"operation"` and
/// its arguments. The sessions are those of `"project_key"`, or of the project of `"directory"`, by
/// default the current one. Absent and null arguments are the same. `*result` gets a JSON document,
/// to be freed with towline_buffer_free():
///
/// `list_sessions` (`limit`, `offset`): an array of objects, newest first; `get_session_info`
/// (`session_id`): such an object or null; `get_session_messages` (`session_id`, `limit`,
/// `offset`, `include_system_messages`) and `get_subagent_messages` (`agent_id` too): arrays of
/// messages; `list_subagents` (`session_id`): an array of ids; `rename_session` (`session_id`,
/// `title`), `tag_session` (`session_id`, `tag` or null), `delete_session` (`session_id`): null;
/// `fork_session` (`session_id`, `up_to_message_id`, `title`): an object with the new
/// `session_id`; `import_session` (`session_id`, `include_subagents`, `batch_size`,
/// `config_dir`) from this machine's disk: an object with `project_key`, `entries` and
/// `skipped_lines`.
///
/// Errors: TOWLINE_ERR_ARGUMENT for a wrong operation or argument; TOWLINE_ERR_NOT_FOUND when the
/// session is not there; TOWLINE_ERR_UNSUPPORTED when the store lacks a call; TOWLINE_ERR_STORE
/// when a call failed; TOWLINE_ERR_FILE when a file could not be read.
#[no_mangle]
pub unsafe extern "C" fn towline_store_run(
    store: *mut towline_store,
    operation: *const c_char,
    len: usize,
    result: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let result = boundary::required(result, std::ptr::null_mut(), "result")?;
        let store = entered(store)?;
        let store = store.store();
        let operation = Operation::from_json(text("operation", operation, len)?)?;
        let output = run(operation.task(store.capabilities())?, &**store)?;
        result.set(buffer::create(output));
        Ok(())
    })
}

/// Makes one call of a store. `call` is a JSON object: `"call"` is `append` (`key`, `entries`),
/// `load` (`key`), `list_sessions` (`project_key`), `list_session_summaries` (`project_key`),
/// `delete` (`key`) or `list_subkeys` (`key`); a key is an object with `project_key`, `session_id`
/// and, for a subagent's transcript, `subpath`. `*answer` gets null, an array of entries or null,
/// an array of `{"session_id","mtime"}`, of `{"session_id","mtime","data"}`, or of strings; free it
/// with towline_buffer_free().
///
/// Errors: TOWLINE_ERR_JSON when it is no call; TOWLINE_ERR_UNSUPPORTED when the store lacks it;
/// TOWLINE_ERR_STORE when it failed.
#[no_mangle]
pub unsafe extern "C" fn towline_store_call(
    store: *mut towline_store,
    call: *const c_char,
    len: usize,
    answer: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let answer = boundary::required(answer, std::ptr::null_mut(), "answer")?;
        let store = entered(store)?;
        let call = StoreCall::from_json(text("call", call, len)?)
            .map_err(|error| Failure::new(TOWLINE_ERR_JSON, error.message))?;
        answer.set(buffer::create(store.store().call(&call)?.to_json()));
        Ok(())
    })
}

/// The summary of a session after entries were appended to it, for stores that keep summaries.
/// `previous` is the `data` of the summary before, NULL for a new session; `entries` is a JSON
/// array of those that were added. `*data` gets a JSON object that the store keeps as it is; free
/// it with towline_buffer_free(). A subagent's entries (a key with a subpath) must not be folded.
///
/// Errors: TOWLINE_ERR_JSON when a text is not what it has to be.
#[no_mangle]
pub unsafe extern "C" fn towline_store_fold_summary(
    previous: *const c_char,
    previous_len: usize,
    entries: *const c_char,
    entries_len: usize,
    data: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let data = boundary::required(data, std::ptr::null_mut(), "data")?;
        let wrong = |what: String| Failure::new(TOWLINE_ERR_JSON, what);
        let previous = match optional("previous", previous, previous_len)? {
            Some(text) => Some(SessionSummary {
                session_id: String::new(),
                mtime: 0,
                data: Entry::new(text.to_owned())
                    .map_err(|_| wrong("previous: this is no JSON object".to_owned()))?
                    .as_str()
                    .to_owned(),
            }),
            None => None,
        };
        let entries: Result<Vec<&str>, _> =
            Elements::of(text("entries", entries, entries_len)?).collect();
        let entries = entries.map_err(|error| wrong(format!("entries: {error}")))?;
        let folded = fold_summary(previous.as_ref(), "", &entries);
        data.set(buffer::create(folded.data));
        Ok(())
    })
}

/// Makes a new, empty store for towline_store_check(), which frees it; NULL when it cannot.
pub type towline_store_maker =
    Option<unsafe extern "C" fn(user_data: *mut c_void) -> *mut towline_store>;

/// Puts a store to everything that a session store has to do: `make` is called for a fresh one,
/// many times. `strict` asks for what the stores of the library do beyond that: entries that are
/// there by their uuid are not added again, texts come back byte for byte.
///
/// Errors: TOWLINE_ERR_CONTRACT, its message says what was demanded and what came instead.
#[no_mangle]
pub unsafe extern "C" fn towline_store_check(
    make: towline_store_maker,
    user_data: *mut c_void,
    strict: bool,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let make = make.ok_or_else(|| {
            Failure::new(
                TOWLINE_ERR_NULL,
                "make: a function is needed, and NULL was given",
            )
        })?;
        let fresh = || -> Box<dyn SessionStore> {
            // SAFETY: the host's function with its own data.
            let made = unsafe { make(user_data) };
            // SAFETY: what the host has made is a store, NULL, or refused by its magic word.
            let store = unsafe { entered(made) };
            // SAFETY: as above; the host has given it away.
            let freed = unsafe { handle::free::<Store>(made) };
            match store.and_then(|store| freed.map(|()| store)) {
                Ok(store) => Box::new(store.store().clone()),
                Err(failure) => Box::new(Unmade(failure.message)),
            }
        };
        let checked = match strict {
            true => conformance::check_strict(&fresh),
            false => conformance::check(&fresh),
        };
        checked.map_err(|broken| Failure::new(TOWLINE_ERR_CONTRACT, broken.to_string()))
    })
}

/// Stands for a store that could not be made.
struct Unmade(String);

impl SessionStore for Unmade {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn append(&self, _: &SessionKey, _: &[Entry]) -> Result<(), StoreError> {
        Err(StoreError::failed(format_args!(
            "no store was made: {}",
            self.0
        )))
    }

    fn load(&self, _: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        Err(StoreError::failed(format_args!(
            "no store was made: {}",
            self.0
        )))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        use towline_core::transcripts::store::StoreErrorKind;
        let status = match error.kind {
            StoreErrorKind::Unsupported => TOWLINE_ERR_UNSUPPORTED,
            _ => TOWLINE_ERR_STORE,
        };
        Failure::new(status, error.message)
    }
}

impl From<TaskError> for Failure {
    fn from(error: TaskError) -> Failure {
        let message = error.to_string();
        let status = match error {
            TaskError::InvalidArgument(_) => TOWLINE_ERR_ARGUMENT,
            TaskError::NotFound(_) => TOWLINE_ERR_NOT_FOUND,
            TaskError::Unsupported(_) => TOWLINE_ERR_UNSUPPORTED,
            TaskError::Io(_) => TOWLINE_ERR_FILE,
            TaskError::Contract(_) => TOWLINE_ERR_CONTRACT,
            TaskError::Store { error, .. } => return error.into(),
            _ => TOWLINE_ERR_STORE,
        };
        Failure::new(status, message)
    }
}
