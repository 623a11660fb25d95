//! `system` messages about hooks of the settings; hooks over the protocol make none
//! (`protocol.md §5.2`, only with `--include-hook-events`).

use alloc::borrow::Cow;

use crate::view::view;

view! {
    /// `hook_started`
    pub struct HookStarted {
        /// The run.
        hook_id: Cow<'a, str>,
        /// The hook.
        hook_name: Cow<'a, str>,
        /// The event it runs for.
        hook_event: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `hook_progress`: what a running hook wrote so far.
    pub struct HookProgress {
        /// The run.
        hook_id: Cow<'a, str>,
        /// The hook.
        hook_name: Cow<'a, str>,
        /// The event it runs for.
        hook_event: Cow<'a, str>,
        /// Both outputs.
        output: Cow<'a, str>,
        /// Its standard output.
        stdout: Cow<'a, str>,
        /// Its standard error.
        stderr: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `hook_response`: a hook has ended.
    pub struct HookResponse {
        /// The run.
        hook_id: Cow<'a, str>,
        /// The hook.
        hook_name: Cow<'a, str>,
        /// The event it ran for.
        hook_event: Cow<'a, str>,
        /// Both outputs.
        output: Cow<'a, str>,
        /// Its standard output.
        stdout: Cow<'a, str>,
        /// Its standard error.
        stderr: Cow<'a, str>,
        /// Its exit status.
        exit_code: Option<i64>,
        /// `success`, `error` or `cancelled`.
        outcome: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}
