//! Why a launch is refused before anything is started.

use alloc::string::String;

/// Options that cannot be launched with. Each says which option and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The fallback would be the model that failed.
    #[error(
        "fallbackModel: it is the same as model (\"{model}\"); name another model or leave it out"
    )]
    FallbackIsModel {
        /// The model.
        model: String,
    },
    /// Two answerers for one question.
    #[error(
        "permissionPromptToolName: \"{tool}\" and a permission handler would both answer \
         permission questions; keep one of them"
    )]
    TwoPermissionAnswers {
        /// The MCP tool.
        tool: String,
    },
    /// A skill name that cannot stand in a permission rule, or would never match.
    #[error("skills: \"{name}\" {reason}")]
    SkillName {
        /// The name.
        name: String,
        /// What is wrong and what to do.
        reason: &'static str,
    },
    /// `thinking: enabled` without a budget, in the Python dialect.
    #[error(
        "thinking: {{\"type\":\"enabled\"}} needs budget_tokens; \
         without a budget use {{\"type\":\"adaptive\"}}"
    )]
    ThinkingBudget,
    /// A sandbox cannot be put into settings that only the CLI reads.
    #[error(
        "sandbox: cannot be combined with the settings file \"{path}\"; put the sandbox into \
         that file, or give the settings as an object"
    )]
    SandboxWithSettingsFile {
        /// The settings file.
        path: String,
    },
    /// The settings file that a sandbox is put into cannot be read or is not a JSON object.
    #[error("settings: \"{path}\" cannot be loaded: {reason}")]
    SettingsFile {
        /// The settings file.
        path: String,
        /// What the reader said.
        reason: String,
    },
    /// JSON text that is none.
    #[error("{option}: not a JSON object: {reason}; give an object, valid JSON text or a path")]
    NotJson {
        /// The option.
        option: &'static str,
        /// What the scanner found.
        reason: String,
    },
    /// A mirror needs the local file.
    #[error(
        "sessionStore: cannot be used with persistSession false, because the store is filled from \
         the local files; set CLAUDE_CONFIG_DIR in env to a directory of your own and delete \
         that afterwards"
    )]
    StoreWithoutPersistence,
    /// Checkpoints are not mirrored.
    #[error(
        "enableFileCheckpointing: cannot be used with sessionStore, because file backups are not \
         mirrored; leave one of them out"
    )]
    StoreWithCheckpointing,
    /// The CLI would exit at once.
    #[error(
        "sessionId: cannot be used with {other} unless forkSession is set; \
         set it, or leave sessionId out"
    )]
    SessionIdWithResume {
        /// `resume` or `continue`.
        other: &'static str,
    },
    /// One name, two in-process servers.
    #[error("mcpServers: \"{name}\" is the name of two servers; give one of them another name")]
    ServerTwice {
        /// The name.
        name: String,
    },
    /// A value with characters that `cmd.exe` would read as its own, on Windows.
    #[error(
        "{option}: \"{value}\" contains {characters}, which are not safe on a Windows command line; \
         use an id"
    )]
    UnsafeOnWindows {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// The characters, each once.
        characters: String,
    },
    /// Windows runs batch files through `cmd.exe`, for which arguments cannot be quoted safely.
    #[error(
        "cliPath: \"{path}\" is a batch file; Windows runs it through cmd.exe, where arguments can \
         become commands. Install the native claude.exe and name that"
    )]
    BatchFile {
        /// The path.
        path: String,
    },
    /// A NUL byte, which no argument, variable or path can hold.
    #[error("{option}: contains a NUL character; remove it")]
    Nul {
        /// The option.
        option: &'static str,
    },
    /// A flag without a name would end the flags, so that those after it were lost.
    #[error("extraArgs: a flag has no name; give it one, without its dashes")]
    FlagWithoutName,
    /// No W3C trace context.
    #[error("{option}: \"{value}\" {reason}")]
    TraceContext {
        /// The option.
        option: &'static str,
        /// Its value.
        value: String,
        /// What is wrong and what to do.
        reason: &'static str,
    },
    /// A variable name that no environment can hold.
    #[error("env: \"{name}\" cannot be the name of a variable; it is empty or contains '='")]
    VariableName {
        /// The name.
        name: String,
    },
    /// A variable is longer than the system takes.
    #[error(
        "env: the variable \"{name}\" has {bytes} bytes with its name, and the system takes {limit} \
         in one variable; shorten it"
    )]
    VariableTooLong {
        /// The variable.
        name: String,
        /// Length of name and value.
        bytes: usize,
        /// What the system takes.
        limit: usize,
    },
    /// One argument is longer than the system takes.
    #[error(
        "{option}: {bytes} bytes on the command line, and the system takes {limit} in one argument; \
         shorten it"
    )]
    ArgumentTooLong {
        /// The option.
        option: &'static str,
        /// Length of the argument.
        bytes: usize,
        /// What the system takes.
        limit: usize,
    },
    /// The whole command line is longer than the system takes.
    #[error(
        "{option}: {bytes} bytes of a command line of {total}, and the system takes {limit}; \
         shorten it"
    )]
    CommandTooLong {
        /// The option that takes most of it.
        option: &'static str,
        /// How much that is.
        bytes: usize,
        /// The whole.
        total: usize,
        /// What the system takes.
        limit: usize,
    },
}

impl LaunchError {
    /// The option to change, as a document has it.
    pub fn option(&self) -> &'static str {
        match self {
            LaunchError::FallbackIsModel { .. } => "fallbackModel",
            LaunchError::TwoPermissionAnswers { .. } => "permissionPromptToolName",
            LaunchError::SkillName { .. } => "skills",
            LaunchError::ThinkingBudget => "thinking",
            LaunchError::SandboxWithSettingsFile { .. } => "sandbox",
            LaunchError::SettingsFile { .. } => "settings",
            LaunchError::StoreWithoutPersistence => "sessionStore",
            LaunchError::StoreWithCheckpointing => "enableFileCheckpointing",
            LaunchError::SessionIdWithResume { .. } => "sessionId",
            LaunchError::ServerTwice { .. } => "mcpServers",
            LaunchError::BatchFile { .. } => "cliPath",
            LaunchError::VariableName { .. } | LaunchError::VariableTooLong { .. } => "env",
            LaunchError::FlagWithoutName => "extraArgs",
            LaunchError::NotJson { option, .. }
            | LaunchError::UnsafeOnWindows { option, .. }
            | LaunchError::TraceContext { option, .. }
            | LaunchError::Nul { option }
            | LaunchError::ArgumentTooLong { option, .. }
            | LaunchError::CommandTooLong { option, .. } => option,
        }
    }
}
