//! Sessions out of where they are, and into a store.

use std::io::{self, Write};
use std::path::Path;

use towline::transcripts::store::{open, operations, run as run_task};
use towline::transcripts::SavedSessions;

use super::show::{self, document, page};
use crate::args::{Export, Format, Import};
use crate::conversation::{read, Wanted};
use crate::document::{object, quoted};
use crate::failure::Failure;
use crate::file;
use crate::markdown::markdown;
use crate::place::{Place, Transcript};
use crate::terminal::note;
use crate::words;

pub(super) fn run(arguments: &Export) -> Result<(), Failure> {
    let place = Place::of(&arguments.place)?;
    let id = place.resolve(&arguments.id)?;
    let transcript = place.transcript(&id)?;
    let content = match arguments.format {
        Format::Jsonl => lines(&transcript),
        Format::Json => document(&place, &id, &transcript, Wanted::default())? + "\n",
        Format::Markdown => {
            let info = show::info(&place, &id)?;
            markdown(&read(info, &transcript, Wanted::default()))
        }
        Format::Html => page(&place, &id, &transcript, Wanted::default())?,
    };
    write(
        arguments.output.as_deref(),
        content.as_bytes(),
        arguments.force,
    )
}

/// To a file, or to stdout without one and for `-`.
pub(super) fn write(path: Option<&Path>, content: &[u8], force: bool) -> Result<(), Failure> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => file::write(path, content, force),
        None => {
            let mut out = io::stdout().lock();
            out.write_all(content)?;
            Ok(out.flush()?)
        }
    }
}

/// The entries of the session, then those of its subagents, each with its agent's id; a
/// subagent's metadata come as the entry that stands for them in a store.
fn lines(transcript: &Transcript) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    transcript.entries.iter().for_each(|entry| line(entry));
    for agent in &transcript.agents {
        let is_metadata = |entry: &&String| {
            crate::document::text(entry, "/type").as_deref() == Some("agent_metadata")
        };
        if !agent.entries.iter().any(|entry| is_metadata(&entry)) {
            let mut metadata = format!(
                "{{\"type\":\"agent_metadata\",\"agentId\":{}",
                quoted(&agent.id)
            );
            for (name, value) in object(&agent.metadata) {
                if name != "type" && name != "agentId" {
                    metadata.push_str(&format!(",{}:{value}", quoted(&name)));
                }
            }
            line(&(metadata + "}"));
        }
        agent.entries.iter().for_each(|entry| line(entry));
    }
    out
}

pub(super) fn import(arguments: &Import) -> Result<(), Failure> {
    let saved = SavedSessions::of_process();
    let place = Place::Disk {
        saved: saved.clone(),
        directory: arguments.dir.clone(),
    };
    let id = place.resolve(&arguments.id)?;
    let store = open(&arguments.store)?;
    let options = operations::ImportOptions {
        directory: arguments.dir.clone(),
        include_subagents: !arguments.no_subagents,
        ..operations::ImportOptions::default()
    };
    let task = operations::import(store.capabilities(), saved, id, options);
    let done = run_task(task, store.as_ref())?;
    let entries = usize::try_from(done.entries).unwrap_or(usize::MAX);
    let mut told = format!(
        "{} imported under the project key {}",
        words::counted(entries, "entry").replace("entrys", "entries"),
        done.project_key
    );
    if done.skipped_lines > 0 {
        told.push_str(&format!("; {} damaged lines left out", done.skipped_lines));
    }
    note(&told);
    Ok(())
}
