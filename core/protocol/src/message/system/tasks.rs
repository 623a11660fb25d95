//! `system` messages about tasks: subagents and commands in the background (`protocol.md §5.2`).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::json::JsonText;
use crate::view::view;

view! {
    /// `task_started`; also for a command in the foreground that takes longer than 3 s.
    pub struct TaskStarted {
        /// The task.
        task_id: Cow<'a, str>,
        /// Its run.
        run_id: Option<Cow<'a, str>>,
        /// The tool call that started it.
        tool_use_id: Option<Cow<'a, str>>,
        /// What it does.
        description: Cow<'a, str>,
        /// `local_agent`, `local_bash`, ….
        task_type: Option<Cow<'a, str>>,
        /// Whether it runs in the background.
        is_backgrounded [default]: bool,
        /// The subagent's type.
        subagent_type: Option<Cow<'a, str>>,
        /// The subagent's prompt.
        prompt: Option<Cow<'a, str>>,
        /// How many subagents stand above it.
        spawn_depth: Option<u64>,
        /// The task that started it.
        parent_task_id: Option<Cow<'a, str>>,
        /// The workflow it runs.
        workflow_name: Option<Cow<'a, str>>,
        /// Whether it is to be left out of a displayed conversation.
        skip_transcript [default]: bool,
        /// Whether it goes on by itself and nobody waits for it.
        ambient [default]: bool,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `task_progress`
    pub struct TaskProgress {
        /// The task.
        task_id: Cow<'a, str>,
        /// Its run.
        run_id: Option<Cow<'a, str>>,
        /// The tool call that started it.
        tool_use_id: Option<Cow<'a, str>>,
        /// What it does now.
        description: Cow<'a, str>,
        /// The subagent's type.
        subagent_type: Option<Cow<'a, str>>,
        /// What it used so far.
        usage: Option<TaskUsage<'a>>,
        /// The tool it used last.
        last_tool_name: Option<Cow<'a, str>>,
        /// What it did so far.
        summary: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `task_updated`
    pub struct TaskUpdated {
        /// The task.
        task_id: Cow<'a, str>,
        /// Its run.
        run_id: Option<Cow<'a, str>>,
        /// What has changed.
        patch [default]: TaskPatch<'a>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// What has changed in a task; an absent member has not.
    pub struct TaskPatch {
        /// `pending`, `running`, `completed`, `failed`, `killed` or `paused`.
        status: Option<Cow<'a, str>>,
        /// What it does.
        description: Option<Cow<'a, str>>,
        /// When it ended, in milliseconds of the Unix epoch.
        end_time: Option<u64>,
        /// How long it was paused, in milliseconds.
        total_paused_ms: Option<u64>,
        /// What went wrong.
        error: Option<Cow<'a, str>>,
        /// Whether it runs in the background.
        is_backgrounded: Option<bool>,
    }
}

view! {
    /// `task_notification`: a task has ended.
    pub struct TaskNotification {
        /// The task.
        task_id: Cow<'a, str>,
        /// Its run.
        run_id: Option<Cow<'a, str>>,
        /// The tool call that started it.
        tool_use_id: Option<Cow<'a, str>>,
        /// `completed`, `failed` or `stopped`.
        status: Cow<'a, str>,
        /// Why it was stopped, such as `worker_restart`.
        reason: Option<Cow<'a, str>>,
        /// The file with its output; may be empty.
        output_file: Cow<'a, str>,
        /// What it did.
        summary: Cow<'a, str>,
        /// Whether the summary is the subagent's own report.
        summary_is_report [default]: bool,
        /// What it used.
        usage: Option<TaskUsage<'a>>,
        /// Resources that it points to, as MCP resource links.
        resource_links [default]: Vec<JsonText<'a>>,
        /// Whether it is to be left out of a displayed conversation.
        skip_transcript [default]: bool,
        /// Whether it went on by itself and nobody waited for it.
        ambient [default]: bool,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// What a task used.
    pub struct TaskUsage {
        /// Tokens, read and written.
        total_tokens [default]: u64,
        /// Tool calls.
        tool_uses [default]: u64,
        /// Time, in milliseconds.
        duration_ms [default]: u64,
    }
}

view! {
    /// `background_tasks_changed`: all tasks in the background; replaces what was known.
    pub struct BackgroundTasksChanged {
        /// The tasks.
        tasks: Vec<BackgroundTask<'a>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// A task in the background.
    pub struct BackgroundTask {
        /// The task.
        task_id: Cow<'a, str>,
        /// Its run.
        run_id: Option<Cow<'a, str>>,
        /// `local_agent`, `local_bash`, ….
        task_type: Cow<'a, str>,
        /// What it does.
        description: Cow<'a, str>,
        /// The subagent's type.
        subagent_type: Option<Cow<'a, str>>,
        /// The task that started it.
        parent_task_id: Option<Cow<'a, str>>,
        /// Whether it goes on by itself and nobody waits for it.
        ambient [default]: bool,
    }
}
