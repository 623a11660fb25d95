//! The launch plan: options to argv, environment and `initialize` payload (`protocol.md §1`).
//!
//! [`plan`] is a pure function. What it decides is what both official packages decide, with one
//! difference: a value that is secret or large never stands on the command line. It travels in
//! `initialize` where the CLI takes it there, else in a [`PrivateFile`].
//!
//! Where the two official packages differ in meaning the [`Dialect`] decides:
//!
//! | | Python | TypeScript | Towline |
//! |---|---|---|---|
//! | no `systemPrompt` | empty prompt | empty prompt | Claude Code's own prompt |
//! | `CLAUDE_CODE_ENTRYPOINT` | `sdk-py`, over the inherited one | `sdk-ts`, unless inherited | `sdk-cli`, over the inherited one |
//! | `env` | merged over the inherited | replaces the inherited | merged over the inherited |
//! | inherited `CLAUDECODE` | removed | kept | removed |
//! | `NODE_OPTIONS`, `DEBUG` | kept | removed, even from `env` | removed unless `env` gives them |
//! | `BUN_ENABLE_CRASH_REPORTING` | as inherited | `0` unless chosen | `0` unless chosen |
//! | `CLAUDE_AGENT_SDK_VERSION` | always the package's | the package's, `env` wins | always the package's |
//! | `PWD` when `cwd` is given | set | as inherited | set |
//! | `thinking` enabled, no budget | refused | adaptive | adaptive |
//! | `maxThinkingTokens: 0` | passed as 0 | thinking disabled | thinking disabled |
//! | `sandbox` with `settings` | replaces `settings.sandbox` | merged into it, `failIfUnavailable` on | as TypeScript |
//! | `sandbox` with a settings path | the file is read | refused | refused |
//! | `skills` without `settingSources` | sources `user,project` | the CLI's default | the CLI's default |
//! | `fallbackModel` equal to `model` | passed | refused | refused |

mod agents;
mod argv;
mod command;
mod discovery;
mod environment;
mod error;
mod host;
mod initialize;
mod options;
mod plan;
mod settings;
mod skills;
mod trace_context;
mod version;

pub use command::refuse_batch_file;
pub use discovery::{candidates, not_found, Candidate, Origin, Search};
pub use environment::{EnvPlan, Environment, Limits, Platform};
pub use error::LaunchError;
pub use host::{Hook, HostSide, InProcessServer, OnFailure};
pub use options::{
    Delivery, Dialect, EnvMap, ExtraArgs, Json, JsonObject, McpServers, Options, OptionsError,
    OutputFormat, Plugin, Preset, PromptForm, PromptText, SessionStoreChoice, Settings, Skills,
    SystemPrompt, TaskBudget, Thinking, ThinkingDisplay, Timeout, Tools, ToolsPreset,
};
pub use plan::{plan, LaunchPlan, PrivateFile, Warning};
pub use trace_context::TraceContext;
pub use version::{version_warnings, Version};
