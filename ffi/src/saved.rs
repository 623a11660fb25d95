//! Sessions that the CLI has saved on this machine.

use std::ffi::c_char;
use std::fmt::Display;

use serde_json::{Map, Value};
use towline_core::transcripts::{self, OperationError, SavedOperation};

use crate::boundary;
use crate::buffer::{self, towline_buffer};
use crate::error::{towline_error, Failure};
use crate::status::towline_status;
use crate::status::towline_status::*;
use crate::text::{name, optional, NUL};

/// A text among a function's arguments, and the name of its member.
enum Text {
    Needed(&'static str, *const c_char),
    /// NULL stands for null.
    Optional(&'static str, *const c_char),
}

use Text::{Needed, Optional};

/// Does what is asked, with these texts over what the options say.
unsafe fn run(
    operation: &str,
    texts: &[Text],
    options: *const c_char,
    len: usize,
) -> Result<String, Failure> {
    let mut given = Map::new();
    for text in texts {
        let (member, value) = match *text {
            Needed(member, text) => (member, Some(name(member, text)?)),
            Optional(member, text) => (member, optional(member, text, NUL)?),
        };
        given.insert(member.to_owned(), Value::from(value));
    }
    let mut arguments = match optional("options", options, len)? {
        None => Map::new(),
        Some(options) => match serde_json::from_str(options) {
            Ok(Value::Object(arguments)) => arguments,
            Ok(_) => return Err(no_options("a JSON object is needed")),
            Err(error) => return Err(no_options(error)),
        },
    };
    arguments.extend(given);
    arguments.insert("operation".to_owned(), Value::from(operation));
    let operation = SavedOperation::from_json(&Value::Object(arguments).to_string())?;
    Ok(operation.run()?)
}

fn no_options(why: impl Display) -> Failure {
    Failure::new(TOWLINE_ERR_JSON, format!("options: {why}"))
}

/// A function that answers with JSON.
unsafe fn answer(
    operation: &str,
    texts: &[Text],
    options: *const c_char,
    len: usize,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(json, std::ptr::null_mut(), "json")?;
        out.set(buffer::create(run(operation, texts, options, len)?));
        Ok(())
    })
}

/// A function that answers with nothing but its status.
unsafe fn change(
    operation: &str,
    texts: &[Text],
    options: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || run(operation, texts, options, len).map(drop))
}

fn archiving(archived: bool) -> &'static str {
    match archived {
        true => "archive_session",
        false => "unarchive_session",
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Failure {
        use transcripts::Error;
        let status = match &error {
            OperationError::InvalidArgument(_) => TOWLINE_ERR_ARGUMENT,
            OperationError::Session(error) => match error {
                Error::InvalidSessionId(_)
                | Error::InvalidMessageId(_)
                | Error::EmptyTitle
                | Error::EmptyTag => TOWLINE_ERR_ARGUMENT,
                Error::NotFound { .. }
                | Error::NothingToFork(_)
                | Error::MessageNotFound { .. } => TOWLINE_ERR_NOT_FOUND,
                Error::Io { .. } => TOWLINE_ERR_FILE,
            },
        };
        Failure::new(status, error.to_string())
    }
}

/// Lists the sessions that the CLI has saved on this machine, newest first. `*json` gets a JSON
/// array of objects with `session_id`, `summary` (a title, or what stands for one),
/// `last_modified` and `created_at` (milliseconds since 1970), `file_size`, `custom_title`,
/// `first_prompt`, `git_branch`, `cwd`, `tag` and `archived`; what is not known is null. Free it
/// with towline_buffer_free().
///
/// `options` is a JSON object or NULL. Members that all functions over saved sessions take:
/// `directory`, the directory that the sessions ran in (its git worktrees count too; without it
/// all projects are looked through), and where the CLI's files are: `config_dir`, or `env`, an
/// object of variables that count before this process's. This function also takes `limit`,
/// `offset`, `include_worktrees` and `include_programmatic` (both true by default; false leaves out
/// what the SDKs and daemons have run).
///
/// Errors: TOWLINE_ERR_JSON when the options are no JSON object; TOWLINE_ERR_ARGUMENT for an
/// unknown or wrong one.
#[no_mangle]
pub unsafe extern "C" fn towline_sessions_list(
    options: *const c_char,
    len: usize,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    answer("list_sessions", &[], options, len, json, error)
}

/// What towline_sessions_list() tells of one session: an object, or null if there is no such
/// session or it is none that a list shows.
///
/// Errors: those of towline_sessions_list().
#[no_mangle]
pub unsafe extern "C" fn towline_sessions_info(
    session_id: *const c_char,
    options: *const c_char,
    len: usize,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    answer(
        "get_session_info",
        &[Needed("session_id", session_id)],
        options,
        len,
        json,
        error,
    )
}

/// The conversation of a saved session, oldest message first: a JSON array of objects with `type`
/// (`"user"`, `"assistant"`), `uuid`, `session_id`, `message` (as the API has it),
/// `parent_tool_use_id` and `parent_agent_id`. It is empty if there is no such session. Options:
/// `limit`, `offset`, `include_system_messages`.
///
/// Errors: those of towline_sessions_list().
#[no_mangle]
pub unsafe extern "C" fn towline_sessions_messages(
    session_id: *const c_char,
    options: *const c_char,
    len: usize,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    answer(
        "get_session_messages",
        &[Needed("session_id", session_id)],
        options,
        len,
        json,
        error,
    )
}

/// The ids of a saved session's subagents: a JSON array of texts.
///
/// Errors: those of towline_sessions_list().
#[no_mangle]
pub unsafe extern "C" fn towline_sessions_subagents(
    session_id: *const c_char,
    options: *const c_char,
    len: usize,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    answer(
        "list_subagents",
        &[Needed("session_id", session_id)],
        options,
        len,
        json,
        error,
    )
}

/// The conversation of a subagent, as towline_sessions_messages() gives a session's;
/// `parent_tool_use_id` is the call that started it, `parent_agent_id` the subagent that made the
/// call. Options: `limit`, `offset`.
///
/// Errors: those of towline_sessions_list().
#[no_mangle]
pub unsafe extern "C" fn towline_sessions_subagent_messages(
    session_id: *const c_char,
    agent_id: *const c_char,
    options: *const c_char,
    len: usize,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    answer(
        "get_subagent_messages",
        &[
            Needed("session_id", session_id),
            Needed("agent_id", agent_id),
        ],
        options,
        len,
        json,
        error,
    )
}

/// Copies a saved session as a new one that can be resumed: `{"session_id": …}`. Options:
/// `up_to_message_id` (the `uuid` of the last message to copy) and `title` (else that of the
/// original with ` (fork)` behind it). Nobody sees the new file before it is complete.
///
/// Errors: those of towline_sessions_list(); TOWLINE_ERR_ARGUMENT for an id that is no UUID;
/// TOWLINE_ERR_NOT_FOUND when there is no such session, or no such message, or none at all;
/// TOWLINE_ERR_FILE.
#[no_mangle]
pub unsafe extern "C" fn towline_sessions_fork(
    session_id: *const c_char,
    options: *const c_char,
    len: usize,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    answer(
        "fork_session",
        &[Needed("session_id", session_id)],
        options,
        len,
        json,
        error,
    )
}

/// Gives a saved session a title, also while a CLI runs it. White space around it is dropped.
///
/// Errors: those of towline_sessions_list(); TOWLINE_ERR_ARGUMENT for an id that is no UUID and
/// for an empty title; TOWLINE_ERR_NOT_FOUND; TOWLINE_ERR_FILE.
#[no_mangle]
pub unsafe extern "C" fn towline_sessions_rename(
    session_id: *const c_char,
    title: *const c_char,
    options: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    change(
        "rename_session",
        &[Needed("session_id", session_id), Needed("title", title)],
        options,
        len,
        error,
    )
}

/// Tags a saved session, also while a CLI runs it; NULL takes the tag away. Characters that cannot
/// be seen are dropped.
///
/// Errors: those of towline_sessions_rename(), for an empty tag too.
#[no_mangle]
pub unsafe extern "C" fn towline_sessions_tag(
    session_id: *const c_char,
    tag: *const c_char,
    options: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    change(
        "tag_session",
        &[Needed("session_id", session_id), Optional("tag", tag)],
        options,
        len,
        error,
    )
}

/// Marks a saved session as archived, or takes it out of the archive. It stays on disk and in
/// lists; the next prompt in it takes it out too.
///
/// Errors: those of towline_sessions_list(); TOWLINE_ERR_ARGUMENT for an id that is no UUID;
/// TOWLINE_ERR_NOT_FOUND; TOWLINE_ERR_FILE.
#[no_mangle]
pub unsafe extern "C" fn towline_sessions_archive(
    session_id: *const c_char,
    archived: bool,
    options: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    change(
        archiving(archived),
        &[Needed("session_id", session_id)],
        options,
        len,
        error,
    )
}

/// Deletes a saved session: its transcript, and the folder with its subagents' transcripts.
///
/// Errors: those of towline_sessions_archive().
#[no_mangle]
pub unsafe extern "C" fn towline_sessions_delete(
    session_id: *const c_char,
    options: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    change(
        "delete_session",
        &[Needed("session_id", session_id)],
        options,
        len,
        error,
    )
}
