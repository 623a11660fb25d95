//! Stores that the host has written.

use std::ffi::{c_char, c_void};
use std::sync::{Mutex, PoisonError};

use towline_core::transcripts::store::{
    CallKind, Capabilities, Entry, SessionKey, SessionStore, SessionSummaryEntry, StoreError,
    StoreListEntry,
};

use crate::boundary;
use crate::callback::{towline_answer, UserData, TOWLINE_ANSWERED, TOWLINE_FAILED};
use crate::error::{towline_error, Failure};
use crate::handle::{self, handle};
use crate::status::towline_status;
use crate::status::towline_status::*;
use crate::text::{name, text};

/// Names one transcript. The texts are valid until the callback returns.
#[repr(C)]
pub struct towline_store_key {
    /// The scope of the session: the name of its project's folder, unless the host has its own.
    pub project_key: *const c_char,
    /// The session.
    pub session_id: *const c_char,
    /// The transcript below the session, such as `subagents/agent-1`; NULL for the session's own.
    pub subpath: *const c_char,
}

/// One line of a transcript. The texts are valid until the callback returns.
#[repr(C)]
pub struct towline_store_entry {
    /// A JSON object on one line.
    pub json: *const c_char,
    /// The length of `json`.
    pub len: usize,
    /// The entry's own id; NULL if it has none. An entry with an id that is there already is not
    /// added again.
    pub uuid: *const c_char,
}

/// Takes the answer to a call of a store. It is valid until the callback returns and used on its
/// thread alone.
pub struct towline_store_reply {
    _opaque: [u8; 0],
}

/// Adds entries to the end of a transcript, in order, and returns when they are safe.
pub type towline_store_append = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        key: *const towline_store_key,
        entries: *const towline_store_entry,
        count: usize,
        reply: *mut towline_store_reply,
    ) -> towline_answer,
>;

/// Does something with a transcript or a session: gives all its entries in order by
/// towline_store_reply_entry(), none if it was never written (`load`); forgets it, and for a
/// session everything below it too (`remove`); gives the subpaths below a session by
/// towline_store_reply_subkey() (`list_subkeys`).
pub type towline_store_on_key = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        key: *const towline_store_key,
        reply: *mut towline_store_reply,
    ) -> towline_answer,
>;

/// Gives the sessions of a project, without what is below them, by towline_store_reply_session()
/// (`list_sessions`), or their summaries by towline_store_reply_summary()
/// (`list_session_summaries`).
pub type towline_store_on_project = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        project_key: *const c_char,
        reply: *mut towline_store_reply,
    ) -> towline_answer,
>;

/// What a store of the host does. `append` and `load` are needed, the others may be NULL: a store
/// without `list_sessions` and `list_session_summaries` cannot be listed, one without `remove`
/// keeps everything, from one without `list_subkeys` no subagents come back.
///
/// The functions return TOWLINE_ANSWERED, or TOWLINE_FAILED after towline_store_reply_error() has
/// said why. They run on the thread that calls a function of the store, for a session on a thread
/// of the store's own, and may come from several threads at once. They must return: no longjmp, no
/// C++ exception.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct towline_store_callbacks {
    /// sizeof(towline_store_callbacks); later versions may have more functions.
    pub size: usize,
    pub append: towline_store_append,
    pub load: towline_store_on_key,
    pub list_sessions: towline_store_on_project,
    pub list_session_summaries: towline_store_on_project,
    pub remove: towline_store_on_key,
    pub list_subkeys: towline_store_on_key,
}

impl towline_store_callbacks {
    pub(crate) unsafe fn read(
        callbacks: *const towline_store_callbacks,
    ) -> Result<towline_store_callbacks, Failure> {
        let needed = |what: &str| {
            let message = format!("{what} is needed, and NULL was given");
            Failure::new(TOWLINE_ERR_NULL, message)
        };
        let wrong = |message: String| Failure::new(TOWLINE_ERR_ARGUMENT, message);
        if callbacks.is_null() {
            return Err(needed("callbacks"));
        }
        if !callbacks.is_aligned() {
            return Err(wrong(
                "callbacks: no struct stands at such an address".into(),
            ));
        }
        // SAFETY: not null and aligned; that a size stands there is what the header asks of callers.
        let size = unsafe { callbacks.cast::<usize>().read() };
        if size != std::mem::size_of::<towline_store_callbacks>() {
            return Err(wrong(format!(
                "callbacks: size is {size}, which this struct has never been"
            )));
        }
        // SAFETY: the whole struct stands there, by its own word.
        let callbacks = unsafe { callbacks.read() };
        match (callbacks.append, callbacks.load) {
            (None, _) => Err(needed("callbacks: append")),
            (_, None) => Err(needed("callbacks: load")),
            _ => Ok(callbacks),
        }
    }
}

/// A store of the host's functions.
pub(crate) struct HostStore {
    functions: towline_store_callbacks,
    user_data: UserData,
}

impl HostStore {
    pub(crate) fn new(functions: towline_store_callbacks, user_data: UserData) -> HostStore {
        HostStore {
            functions,
            user_data,
        }
    }

    /// Calls a function that answers by a reply.
    fn ask(
        &self,
        kind: CallKind,
        call: impl FnOnce(*mut c_void, *mut towline_store_reply) -> towline_answer,
    ) -> Result<Given, StoreError> {
        let reply = handle::create(Reply {
            kind,
            given: Mutex::default(),
        });
        let answer = call(self.user_data.pointer(), reply);
        // SAFETY: made above; a reply that the host has freed against the rules is refused.
        let given = unsafe { handle::enter::<Reply>(reply) }
            .map(|reply| std::mem::take(&mut *reply.lock()))
            .map_err(|failure| StoreError::failed(failure.message));
        // SAFETY: as above; nobody else uses it.
        let freed = unsafe { handle::free::<Reply>(reply) };
        let given = given?;
        freed.map_err(|failure| StoreError::failed(failure.message))?;
        let name = kind.name();
        match (answer, given.error.clone()) {
            (TOWLINE_ANSWERED, None) => Ok(given),
            (_, Some(message)) => Err(StoreError::failed(message)),
            (TOWLINE_FAILED, None) => Err(StoreError::failed(format_args!(
                "{name}() of the store returned TOWLINE_FAILED"
            ))),
            (other, None) => Err(StoreError::failed(format_args!(
                "{name}() of the store returned {other}, which is no answer"
            ))),
        }
    }

    fn ask_on_key(
        &self,
        kind: CallKind,
        function: towline_store_on_key,
        key: &SessionKey,
    ) -> Result<Given, StoreError> {
        let function = function.ok_or_else(|| StoreError::unsupported(kind.name()))?;
        let texts = KeyTexts::of(key)?;
        // SAFETY: the host's function with its own data, a key and a live reply.
        self.ask(kind, |data, reply| unsafe {
            function(data, &texts.key(), reply)
        })
    }

    fn ask_on_project(
        &self,
        kind: CallKind,
        function: towline_store_on_project,
        project_key: &str,
    ) -> Result<Given, StoreError> {
        let function = function.ok_or_else(|| StoreError::unsupported(kind.name()))?;
        let project_key = terminated(project_key)?;
        // SAFETY: the host's function with its own data, a text and a live reply.
        self.ask(kind, |data, reply| unsafe {
            function(data, project_key.as_ptr().cast(), reply)
        })
    }
}

impl SessionStore for HostStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            list_sessions: self.functions.list_sessions.is_some(),
            list_session_summaries: self.functions.list_session_summaries.is_some(),
            delete: self.functions.remove.is_some(),
            list_subkeys: self.functions.list_subkeys.is_some(),
        }
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let function = self.functions.append;
        let function = function.ok_or_else(|| StoreError::unsupported("append"))?;
        let texts = KeyTexts::of(key)?;
        let lines: Result<Vec<_>, StoreError> = entries
            .iter()
            .map(|entry| {
                let uuid = entry.uuid().map(|uuid| terminated(&uuid)).transpose()?;
                Ok((terminated(entry.as_str())?, uuid))
            })
            .collect();
        let lines = lines?;
        let lines: Vec<towline_store_entry> = lines
            .iter()
            .map(|(json, uuid)| towline_store_entry {
                json: json.as_ptr().cast(),
                len: json.len() - 1,
                uuid: uuid
                    .as_ref()
                    .map_or(std::ptr::null(), |uuid| uuid.as_ptr().cast()),
            })
            .collect();
        // SAFETY: the host's function with its own data, a key, entries and a live reply.
        self.ask(CallKind::Append, |data, reply| unsafe {
            function(data, &texts.key(), lines.as_ptr(), lines.len(), reply)
        })?;
        Ok(())
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        let given = self.ask_on_key(CallKind::Load, self.functions.load, key)?;
        Ok((!given.entries.is_empty()).then_some(given.entries))
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        let function = self.functions.list_sessions;
        let given = self.ask_on_project(CallKind::ListSessions, function, project_key)?;
        Ok(given.sessions)
    }

    fn list_session_summaries(
        &self,
        project_key: &str,
    ) -> Result<Vec<SessionSummaryEntry>, StoreError> {
        let function = self.functions.list_session_summaries;
        let given = self.ask_on_project(CallKind::ListSessionSummaries, function, project_key)?;
        Ok(given.summaries)
    }

    fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        self.ask_on_key(CallKind::Delete, self.functions.remove, key)?;
        Ok(())
    }

    fn list_subkeys(&self, project_key: &str, session_id: &str) -> Result<Vec<String>, StoreError> {
        let key = SessionKey::main(project_key, session_id);
        let given = self.ask_on_key(CallKind::ListSubkeys, self.functions.list_subkeys, &key)?;
        Ok(given.subkeys)
    }
}

/// A key's texts with their NULs.
struct KeyTexts {
    project_key: Vec<u8>,
    session_id: Vec<u8>,
    subpath: Option<Vec<u8>>,
}

impl KeyTexts {
    fn of(key: &SessionKey) -> Result<KeyTexts, StoreError> {
        Ok(KeyTexts {
            project_key: terminated(&key.project_key)?,
            session_id: terminated(&key.session_id)?,
            subpath: key.subpath().map(terminated).transpose()?,
        })
    }

    fn key(&self) -> towline_store_key {
        let subpath = self.subpath.as_ref();
        towline_store_key {
            project_key: self.project_key.as_ptr().cast(),
            session_id: self.session_id.as_ptr().cast(),
            subpath: subpath.map_or(std::ptr::null(), |text| text.as_ptr().cast()),
        }
    }
}

fn terminated(text: &str) -> Result<Vec<u8>, StoreError> {
    if text.contains('\0') {
        let refused = "a text with a NUL cannot be given to a store written in C";
        return Err(StoreError::failed(refused));
    }
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0);
    Ok(bytes)
}

/// What the host has answered so far.
#[derive(Default)]
struct Given {
    entries: Vec<Entry>,
    sessions: Vec<StoreListEntry>,
    summaries: Vec<SessionSummaryEntry>,
    subkeys: Vec<String>,
    error: Option<String>,
}

pub(crate) struct Reply {
    kind: CallKind,
    given: Mutex<Given>,
}

handle!(towline_store_reply, Reply, b"tow_repl");

impl Reply {
    fn lock(&self) -> std::sync::MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds to the answer of a call of one kind.
unsafe fn give(
    reply: *mut towline_store_reply,
    kind: CallKind,
    add: impl FnOnce(&mut Given) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let reply = handle::enter::<Reply>(reply)?;
    if reply.kind != kind {
        return Err(Failure::new(
            TOWLINE_ERR_WRONG_ANSWER,
            format!(
                "this answers {}(), and {}() was called",
                kind.name(),
                reply.kind.name()
            ),
        ));
    }
    let mut given = reply.lock();
    add(&mut given)
}

/// Adds an entry to the answer to `load`: a JSON object as it was appended.
///
/// Errors: TOWLINE_ERR_JSON when it is none; TOWLINE_ERR_WRONG_ANSWER for another call.
#[no_mangle]
pub unsafe extern "C" fn towline_store_reply_entry(
    reply: *mut towline_store_reply,
    json: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let json = text("json", json, len)?;
        give(reply, CallKind::Load, |given| {
            let entry = Entry::new(json.to_owned())
                .map_err(|error| Failure::new(TOWLINE_ERR_JSON, error.to_string()))?;
            given.entries.push(entry);
            Ok(())
        })
    })
}

/// Adds a session to the answer to `list_sessions`, with the time of its last append in
/// milliseconds since 1970.
///
/// Errors: TOWLINE_ERR_WRONG_ANSWER for another call.
#[no_mangle]
pub unsafe extern "C" fn towline_store_reply_session(
    reply: *mut towline_store_reply,
    session_id: *const c_char,
    mtime: i64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let session_id = name("session_id", session_id)?.to_owned();
        give(reply, CallKind::ListSessions, |given| {
            given.sessions.push(StoreListEntry { session_id, mtime });
            Ok(())
        })
    })
}

/// Adds a summary to the answer to `list_session_summaries`: what towline_store_fold_summary()
/// gave, and when it was kept, on the clock of `list_sessions`.
///
/// Errors: TOWLINE_ERR_JSON when `data` is no JSON object; TOWLINE_ERR_WRONG_ANSWER for another
/// call.
#[no_mangle]
pub unsafe extern "C" fn towline_store_reply_summary(
    reply: *mut towline_store_reply,
    session_id: *const c_char,
    mtime: i64,
    data: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let session_id = name("session_id", session_id)?;
        let data = text("data", data, len)?.to_owned();
        give(reply, CallKind::ListSessionSummaries, |given| {
            let summary = SessionSummaryEntry::new(session_id, mtime, data)
                .map_err(|error| Failure::new(TOWLINE_ERR_JSON, error.message))?;
            given.summaries.push(summary);
            Ok(())
        })
    })
}

/// Adds a subpath to the answer to `list_subkeys`.
///
/// Errors: TOWLINE_ERR_WRONG_ANSWER for another call.
#[no_mangle]
pub unsafe extern "C" fn towline_store_reply_subkey(
    reply: *mut towline_store_reply,
    subpath: *const c_char,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let subpath = name("subpath", subpath)?.to_owned();
        give(reply, CallKind::ListSubkeys, |given| {
            given.subkeys.push(subpath);
            Ok(())
        })
    })
}

/// Says why a call of any kind fails. What was answered before does not count.
#[no_mangle]
pub unsafe extern "C" fn towline_store_reply_error(
    reply: *mut towline_store_reply,
    message: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let reply = handle::enter::<Reply>(reply)?;
        let message = text("message", message, len)?.to_owned();
        reply.lock().error = Some(message);
        Ok(())
    })
}
