//! `towline run`: one prompt, its answer streamed.

mod ask;
mod interrupts;
mod view;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use towline::{Diagnostic, Event, Options, RequestKind, Session};

use crate::args::{Run, Where};
use crate::document::quoted;
use crate::failure::Failure;
use crate::place::Place;
use crate::terminal::{is_interactive, note};
use ask::Asker;
use interrupts::Interrupts;
use view::View;

/// How long the CLI is waited for before SIGTERM and before SIGKILL, when nobody reads any more.
const GRACE: Duration = Duration::from_secs(2);
/// The same when somebody wants an end.
const LAST_GRACE: Duration = Duration::from_millis(500);

pub(crate) fn run(arguments: Run) -> Result<(), Failure> {
    let from_stdin = arguments.prompt == "-";
    let prompt = prompt(&arguments)?;
    let options = options(&arguments)?;
    let session = Session::builder(options).permission_events().start()?;
    let session = Arc::new(session);
    let done = converse(
        &session,
        &arguments,
        &prompt,
        is_interactive() && !from_stdin,
    );
    // After the last event there is nothing left to end.
    let closed = session.close_within(Some(GRACE));
    done.and_then(|()| closed.map_err(Failure::from))
}

fn prompt(arguments: &Run) -> Result<String, Failure> {
    let mut prompt = arguments.prompt.clone();
    if prompt == "-" {
        prompt.clear();
        let read = std::io::stdin().read_to_string(&mut prompt);
        read.map_err(|error| {
            Failure::Failed(format!("cannot read the prompt from stdin: {error}"))
        })?;
    }
    match prompt.trim().is_empty() {
        true => Err(Failure::Usage("the prompt is empty".to_owned())),
        false => Ok(prompt),
    }
}

fn options(arguments: &Run) -> Result<Options, Failure> {
    if arguments.fork && arguments.resume.is_none() && !arguments.continue_newest {
        let text =
            "--fork copies a session: name it with --resume, or take the newest with --continue";
        return Err(Failure::Usage(text.into()));
    }
    let mut options = Options::new();
    let text = |path: &Option<PathBuf>, option: &str| match path {
        None => Ok(None),
        Some(path) => match path.to_str() {
            Some(path) => Ok(Some(path.to_owned())),
            None => Err(Failure::Usage(format!("{option}: the path is no UTF-8"))),
        },
    };
    options.model.clone_from(&arguments.model);
    options.resume = match &arguments.resume {
        Some(named) => Some(resumed(arguments, named)?),
        None => None,
    };
    options.continue_conversation = arguments.continue_newest;
    options.fork_session = arguments.fork;
    options.cwd = text(&arguments.cwd, "--cwd")?;
    options.cli_path = text(&arguments.cli_path, "--cli-path")?;
    options.allowed_tools.clone_from(&arguments.allow);
    options.disallowed_tools.clone_from(&arguments.deny);
    options
        .permission_mode
        .clone_from(&arguments.permission_mode);
    options.allow_dangerously_skip_permissions =
        arguments.permission_mode.as_deref() == Some("bypassPermissions");
    options.max_turns = arguments.max_turns;
    options.include_partial_messages = !arguments.json;
    options.client_app = Some(concat!("towline-cli/", env!("CARGO_PKG_VERSION")).to_owned());
    let mut set = |key: &str, value: &Option<String>| match value {
        Some(value) => options.set(key, &quoted(value)).map_err(Failure::new),
        None => Ok(()),
    };
    set("systemPrompt", &arguments.system_prompt)?;
    set("sessionStore", &arguments.store)?;
    Ok(options)
}

/// The session to go on with: of the directory that is worked in, or of the store.
fn resumed(arguments: &Run, named: &str) -> Result<String, Failure> {
    let directory = arguments.cwd.as_deref().unwrap_or(Path::new("."));
    let place = Place::of(&Where {
        dir: Some(directory.to_owned()),
        store: arguments.store.clone(),
        project: None,
    })?;
    place.resolve(named)
}

fn converse(
    session: &Arc<Session>,
    arguments: &Run,
    prompt: &str,
    interactive: bool,
) -> Result<(), Failure> {
    let interrupts = Interrupts::watch(session).map_err(Failure::new)?;
    let mut asker = Asker::new(session, interactive);
    let mut view = View::new(arguments.json, arguments.quiet);
    session.send(prompt)?;
    session.end_input_when_settled()?;
    loop {
        match session.poll(None)? {
            Some(Event::Message { message, .. }) => view.message(message.json())?,
            Some(Event::Request(request)) if *request.kind() == RequestKind::Permission => {
                view.end_line()?;
                asker.ask(request)?;
            }
            Some(Event::RequestCancelled { key, .. }) => asker.cancelled(key)?,
            // That nobody is asked about what --allow names is what it is for.
            Some(Event::Diagnostic(Diagnostic::Options(text))) if text.contains("allowedTools") => {
            }
            Some(Event::Diagnostic(diagnostic)) if !arguments.quiet => {
                view.end_line()?;
                note(&format!("towline: {diagnostic}"));
            }
            Some(Event::Closed(closed)) => {
                view.end_line()?;
                return match closed.error {
                    Some(error) => Err(error.into()),
                    None => view.end(),
                };
            }
            _ => {}
        }
        asker.take_answers()?;
        match interrupts.fresh() {
            None => {}
            Some(1) if session.turn_open() => {
                view.end_line()?;
                note("Interrupting; Ctrl-C again ends the session.");
                view.interrupted();
                session.interrupt()?;
            }
            Some(_) => {
                view.end_line()?;
                note("Ended.");
                session.close_within(Some(LAST_GRACE))?;
                return Err(Failure::Said);
            }
        }
    }
}
