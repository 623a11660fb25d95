//! Changes to sessions.

use std::io::{self, Write};

use towline::transcripts::{is_session_id, ForkOptions};

use crate::args::{Delete, Fork, One, Rename, Tag};
use crate::failure::Failure;
use crate::place::Place;
use crate::terminal::{confirmed, is_interactive, note, one_line};

pub(super) fn fork(arguments: &Fork) -> Result<(), Failure> {
    let place = Place::of(&arguments.place)?;
    let id = place.resolve(&arguments.id)?;
    if let Some(at) = arguments.at.as_deref().filter(|at| !is_session_id(at)) {
        return Err(Failure::Failed(format!(
            "--at {at:?} is no message's UUID; `towline sessions show {id} --json` tells them"
        )));
    }
    let options = ForkOptions {
        up_to_message_id: arguments.at.clone(),
        title: arguments.title.clone(),
    };
    let forked = place.fork(&id, options)?;
    let mut out = io::stdout();
    writeln!(out, "{forked}")?;
    Ok(out.flush()?)
}

pub(super) fn rename(arguments: &Rename) -> Result<(), Failure> {
    let place = Place::of(&arguments.place)?;
    let id = place.resolve(&arguments.id)?;
    place.rename(&id, &arguments.title)
}

pub(super) fn tag(arguments: &Tag) -> Result<(), Failure> {
    let place = Place::of(&arguments.place)?;
    let id = place.resolve(&arguments.id)?;
    let tag = arguments.tag.as_deref().filter(|_| !arguments.clear);
    if tag.is_some_and(|tag| tag.trim().is_empty()) {
        return Err(Failure::Failed(
            "an empty tag is none; --clear takes one away".to_owned(),
        ));
    }
    place.tag(&id, tag)
}

pub(super) fn archive(arguments: &One, archived: bool) -> Result<(), Failure> {
    let place = Place::of(&arguments.place)?;
    let id = place.resolve(&arguments.id)?;
    place.archive(&id, archived)
}

pub(super) fn delete(arguments: &Delete) -> Result<(), Failure> {
    let place = Place::of(&arguments.place)?;
    let id = place.resolve(&arguments.id)?;
    if !arguments.yes {
        if !is_interactive() {
            return Err(Failure::Usage(format!(
                "deleting {id} has to be confirmed, and nobody is there to ask: give --yes"
            )));
        }
        let summary = place.info(&id)?.map(|info| one_line(&info.summary));
        let question = format!("Delete session {id} ({})?", summary.unwrap_or_default());
        if !confirmed(&question)? {
            note("Nothing was deleted.");
            return Err(Failure::Said);
        }
    }
    place.delete(&id)
}
