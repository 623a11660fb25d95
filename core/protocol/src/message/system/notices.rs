//! `system` messages that tell the user or the host something (`protocol.md §5.2`).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::json::JsonText;
use crate::view::view;

view! {
    /// `informational`: a line for the user.
    pub struct Informational {
        /// The line.
        content: Cow<'a, str>,
        /// `info`, `notice`, `suggestion` or `warning`.
        level: Cow<'a, str>,
        /// What it is about, such as `hook_callback_failed`.
        tag: Option<Cow<'a, str>>,
        /// The tool call it is about.
        tool_use_id: Option<Cow<'a, str>>,
        /// Whether the turn stops here.
        prevent_continuation [default]: bool,
        /// What became of a prompt that a hook looked at: `kind`, `prompt_kept`, `reason`, ….
        prompt_submit_outcome: Option<JsonText<'a>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `notification`: a line for the user that stands for a while.
    pub struct Notification {
        /// What it is about; a later one with the same key replaces it.
        key: Cow<'a, str>,
        /// The line.
        text: Cow<'a, str>,
        /// `low`, `medium`, `high` or `immediate`.
        priority: Cow<'a, str>,
        /// The colour to show it in.
        color: Option<Cow<'a, str>>,
        /// How long to show it, in milliseconds.
        timeout_ms: Option<u64>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `permission_denied`: a tool call was denied without asking the host.
    pub struct PermissionDenied {
        /// The tool.
        tool_name: Cow<'a, str>,
        /// The call.
        tool_use_id: Cow<'a, str>,
        /// What the model is told.
        message: Cow<'a, str>,
        /// What decided, such as `rule` or `subcommandResults`.
        decision_reason_type: Option<Cow<'a, str>>,
        /// Why.
        decision_reason: Option<Cow<'a, str>>,
        /// The subagent that called.
        agent_id: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `local_command_output`: what a local slash command wrote.
    pub struct LocalCommandOutput {
        /// The output.
        content: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `files_persisted`: files were put into the Files API.
    pub struct FilesPersisted {
        /// The files.
        files [default]: Vec<PersistedFile<'a>>,
        /// The files that could not be put there.
        failed [default]: Vec<FailedFile<'a>>,
        /// When (ISO 8601).
        processed_at: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// A file in the Files API.
    pub struct PersistedFile {
        /// Its name.
        filename: Cow<'a, str>,
        /// Its id.
        file_id: Cow<'a, str>,
    }
}

view! {
    /// A file that could not be put into the Files API.
    pub struct FailedFile {
        /// Its name.
        filename: Cow<'a, str>,
        /// Why.
        error: Cow<'a, str>,
    }
}

view! {
    /// `memory_recall`: memories were put into the context.
    pub struct MemoryRecall {
        /// `select` or `synthesize`.
        mode: Cow<'a, str>,
        /// The memories.
        memories [default]: Vec<Memory<'a>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// A memory.
    pub struct Memory {
        /// Its file.
        path: Cow<'a, str>,
        /// `personal`, `team` or `organization`.
        scope: Cow<'a, str>,
        /// Its text.
        content: Option<Cow<'a, str>>,
    }
}

view! {
    /// `elicitation_complete`: the user has answered at the address that an elicitation gave.
    pub struct ElicitationComplete {
        /// The server that asked.
        mcp_server_name: Cow<'a, str>,
        /// The elicitation.
        elicitation_id: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `mirror_error`: lines could not be put into the session store. Made by the host's side, never
    /// by the CLI.
    pub struct MirrorError {
        /// Why.
        error: Cow<'a, str>,
        /// The session in the store.
        key [default]: MirrorKey<'a>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// A session in a session store (`protocol.md §10`).
    pub struct MirrorKey {
        /// The project's directory name.
        project_key as "projectKey": Cow<'a, str>,
        /// The session.
        session_id as "sessionId": Cow<'a, str>,
        /// The file of a subagent.
        subpath: Option<Cow<'a, str>>,
    }
}

view! {
    /// `session_writes_lost`: the disk is full and something was not saved.
    pub struct SessionWritesLost {
        /// `ENOSPC` or `EDQUOT`.
        error_code: Cow<'a, str>,
        /// `transcript`, `global_config`.
        lost [default]: Vec<Cow<'a, str>>,
        /// The sessions whose transcripts are incomplete.
        transcript_session_ids [default]: Vec<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}
