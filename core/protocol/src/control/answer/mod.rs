//! What the host answers (`protocol.md §6`, `§7`, `§9`), checked before it is written.
//!
//! The CLI takes a malformed permission answer for a denial and lets the action go ahead after a
//! malformed hook answer. So whatever it would misread is refused here, with the accepted forms in
//! the error; and what nobody answers gets a [`safe_answer`], which never lets anything pass.

mod check;
mod elicitation;
mod hook;
mod hook_normal;
mod permission;
mod permission_update;
mod safe;

pub use check::{prepare_answer, validate_answer};
pub use elicitation::{DialogResult, ElicitationAction, ElicitationResult};
pub use hook::*;
pub use hook_normal::normalize_hook_output;
pub use permission::{
    complete_permission, DecisionClassification, PermissionResult, PermissionUpdates,
};
pub use permission_update::{
    PermissionBehavior, PermissionRule, PermissionUpdate, PermissionUpdateDestination,
};
pub use safe::safe_answer;

use alloc::string::String;

/// An answer to a request of the CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The payload, JSON text of an object.
    Success(String),
    /// The request failed; the text goes to the CLI.
    Error(String),
    /// Write nothing: the request is not this host's to answer.
    Nothing,
}
