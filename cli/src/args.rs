//! What the command line says.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT: &str = "\
Exit status: 0 done, 1 failed (an error is on stderr; for `run` also a result that is an error), \
2 wrong use. A reader that closes stdout early ends the command quietly.";

const CONFIG: &str = "\
Sessions are read where the CLI keeps them: $CLAUDE_CONFIG_DIR, else ~/.claude.";

const ID: &str = "\
ID is a session's id, the beginning of one that is unique, or its whole title.";

/// Saved sessions of the Claude Code CLI, and single prompts, from a terminal.
#[derive(Debug, Parser)]
#[command(
    name = "towline",
    version,
    after_help = EXIT,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List, show and change saved sessions
    #[command(subcommand, visible_alias = "session", after_help = format!("{ID}\n\n{CONFIG}\n\n{EXIT}"))]
    Sessions(Sessions),
    /// Ask one thing and stream the answer
    Run(Box<Run>),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// List the sessions of a directory, newest first
    List(List),
    /// Show a conversation in the terminal, as JSON or as a web page
    Show(Show),
    /// Copy a session to a new one and print its id
    Fork(Fork),
    /// Give a session a title
    Rename(Rename),
    /// Tag a session, or take its tag away
    Tag(Tag),
    /// Mark a session as archived; a later prompt in it takes it out again
    Archive(One),
    /// Take a session out of the archive
    Unarchive(One),
    /// Delete a session with everything that belongs to it
    Delete(Delete),
    /// Write a session as JSON Lines, JSON, Markdown or a web page
    Export(Export),
    /// Copy a session from this machine into a session store
    Import(Import),
}

/// Where sessions are looked for.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Where")]
pub(crate) struct Where {
    /// The project directory of the session
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// In a session store instead of on this machine: sqlite:FILE, dir:FOLDER or postgres://…; its
    /// sessions are those of --dir, of the current directory without it
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The key under which the store keeps the project, where it is not the directory's
    // A key is a path with its slashes made hyphens.
    #[arg(
        long,
        value_name = "KEY",
        requires = "store",
        conflicts_with = "dir",
        allow_hyphen_values = true
    )]
    pub(crate) project: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{CONFIG}\n\n{EXIT}"))]
pub(crate) struct List {
    /// The sessions of every project, not only those of the current directory
    #[arg(long, conflicts_with_all = ["dir", "store"])]
    pub(crate) all: bool,
    /// At most as many; 0 for all [default: 30 on a terminal, else all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Leave out as many of the newest
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Leave out the other git worktrees of the directory's repository
    #[arg(long)]
    pub(crate) no_worktrees: bool,
    /// Print one JSON array
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Where,
}

/// One session.
#[derive(Debug, Args)]
#[command(after_help = format!("{ID}\n\n{EXIT}"))]
pub(crate) struct One {
    /// The session
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) place: Where,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{ID}\n\n{EXIT}"))]
pub(crate) struct Show {
    /// The session
    pub(crate) id: String,
    /// Show thinking, the whole of tools' inputs and results, and subagents' conversations
    #[arg(long)]
    pub(crate) full: bool,
    /// At most as many messages, from the start or behind --offset
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Leave out as many messages from the start
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Only the last messages
    #[arg(long, value_name = "N", conflicts_with_all = ["limit", "offset"])]
    pub(crate) last: Option<usize>,
    /// The conversation of this subagent instead of the session's own
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Print one JSON object: `session`, `messages`, and `subagents` by id
    #[arg(long, conflicts_with = "html")]
    pub(crate) json: bool,
    /// Write one self-contained web page to FILE, - for stdout; only its owner may read it
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Overwrite FILE
    #[arg(long, requires = "html")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) place: Where,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{ID}\n\n{EXIT}"))]
pub(crate) struct Fork {
    /// The session
    pub(crate) id: String,
    /// The last message that is copied [default: all are]
    #[arg(long, value_name = "UUID")]
    pub(crate) at: Option<String>,
    /// The new session's title [default: the old one with " (fork)" behind it]
    #[arg(long)]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) place: Where,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{ID}\n\n{EXIT}"))]
pub(crate) struct Rename {
    /// The session
    pub(crate) id: String,
    /// Its new title
    pub(crate) title: String,
    #[command(flatten)]
    pub(crate) place: Where,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{ID}\n\n{EXIT}"))]
pub(crate) struct Tag {
    /// The session
    pub(crate) id: String,
    /// Its new tag
    #[arg(required_unless_present = "clear")]
    pub(crate) tag: Option<String>,
    /// Take the tag away
    #[arg(long, conflicts_with = "tag")]
    pub(crate) clear: bool,
    #[command(flatten)]
    pub(crate) place: Where,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{ID}\n\n{EXIT}"))]
pub(crate) struct Delete {
    /// The session
    pub(crate) id: String,
    /// Do not ask; needed where nobody can be asked
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) place: Where,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The entries of the transcript, one JSON object a line
    Jsonl,
    /// One JSON object, as `show --json`
    Json,
    /// The conversation for people
    Markdown,
    /// One self-contained web page, as `show --html`
    Html,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{ID}\n\n{EXIT}"))]
pub(crate) struct Export {
    /// The session
    pub(crate) id: String,
    /// What is written
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub(crate) format: Format,
    /// Where to [default: stdout]; only its owner may read the file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite FILE
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) place: Where,
}

#[derive(Debug, Args)]
#[command(after_help = format!("{ID}\n\nDone again, only what is new is added.\n\n{EXIT}"))]
pub(crate) struct Import {
    /// The session on this machine
    pub(crate) id: String,
    /// The project directory of the session [default: any]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The store: sqlite:FILE, dir:FOLDER or postgres://…
    #[arg(long, value_name = "URL")]
    pub(crate) store: String,
    /// Leave the transcripts of its subagents out
    #[arg(long)]
    pub(crate) no_subagents: bool,
}

const RUN: &str = "\
The answer goes to stdout; tools, questions and, at the end, time and cost to stderr. On a terminal \
you are asked before a tool runs that your rules do not settle; elsewhere it is denied, unless --allow \
or --permission-mode let it run. Ctrl-C interrupts the turn, a second Ctrl-C ends the session.";

#[derive(Debug, Args)]
#[command(after_help = format!("{RUN}\n\n{EXIT}"))]
pub(crate) struct Run {
    /// What to ask; - reads it from stdin
    pub(crate) prompt: String,
    /// The model
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Go on with this session: an id, the beginning of one, or a title
    #[arg(long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// Go on with the newest session of the directory
    #[arg(long = "continue", short = 'c', conflicts_with = "resume")]
    pub(crate) continue_newest: bool,
    /// Go on in a copy of the session; with --resume or --continue
    #[arg(long)]
    pub(crate) fork: bool,
    /// The directory to work in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Keep the session in this store too, and resume from it
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// A tool, or a rule such as "Bash(git log *)", that runs without asking; can be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) allow: Vec<String>,
    /// A tool or a rule that never runs; can be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) deny: Vec<String>,
    /// How permissions are decided: default, acceptEdits, plan, dontAsk, bypassPermissions, …
    #[arg(long, value_name = "MODE")]
    pub(crate) permission_mode: Option<String>,
    /// End with an error after as many turns of the model
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u64>,
    /// A system prompt of your own
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,
    /// Print the CLI's messages, one JSON object a line, instead of the answer's text
    #[arg(long)]
    pub(crate) json: bool,
    /// Tell no more than errors on stderr
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The Claude Code CLI [default: the one on PATH or in the usual places]
    #[arg(long, value_name = "FILE")]
    pub(crate) cli_path: Option<PathBuf>,
}
