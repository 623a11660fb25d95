//! One conversation: in the terminal, as JSON, as a web page.

use std::io::{self, Write};

use towline::transcripts::{
    messages, subagent_messages, MessageOptions, Parents, SessionInfo, SessionMessage,
};

use super::export::write;
use super::text;
use crate::args::Show;
use crate::conversation::{read, Extent, Wanted};
use crate::document::quoted;
use crate::failure::Failure;
use crate::page;
use crate::place::{AgentTranscript, Place, Transcript};
use crate::terminal::{columns, Styles};

pub(super) fn run(arguments: &Show) -> Result<(), Failure> {
    let place = Place::of(&arguments.place)?;
    let id = place.resolve(&arguments.id)?;
    let transcript = place.transcript(&id)?;
    let extent = match arguments.last {
        Some(last) => Extent::Last(last),
        None if arguments.offset == 0 && arguments.limit.is_none() => Extent::All,
        None => Extent::Part {
            offset: arguments.offset,
            limit: arguments.limit,
        },
    };
    let wanted = Wanted {
        agent: match &arguments.agent {
            Some(named) => Some(agent(&transcript, named)?),
            None => None,
        },
        extent,
    };
    if arguments.json {
        let document = document(&place, &id, &transcript, wanted)?;
        let mut out = io::stdout().lock();
        writeln!(out, "{document}")?;
        return Ok(out.flush()?);
    }
    if let Some(path) = &arguments.html {
        let content = page(&place, &id, &transcript, wanted)?;
        return write(Some(path), content.as_bytes(), arguments.force);
    }
    let conversation = read(info(&place, &id)?, &transcript, wanted);
    let style = text::Style {
        styles: Styles::of(&io::stdout()),
        columns: columns(),
        full: arguments.full,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    text::write(&mut out, &conversation, style)?;
    Ok(out.flush()?)
}

/// What is known of a session; that it exists is known.
pub(super) fn info(place: &Place, id: &str) -> Result<SessionInfo, Failure> {
    let info = place.info(id)?;
    Ok(info.unwrap_or_else(|| SessionInfo {
        session_id: id.to_owned(),
        ..SessionInfo::default()
    }))
}

/// The place of the subagent that is meant by its id or the beginning of it.
fn agent(transcript: &Transcript, named: &str) -> Result<usize, Failure> {
    let wanted = named.strip_prefix("agent-").unwrap_or(named);
    let ids: Vec<&str> = transcript
        .agents
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    let exact = ids.iter().position(|id| *id == wanted);
    let mut fitting = (0..ids.len()).filter(|at| ids[*at].starts_with(wanted));
    let only = match (fitting.next(), fitting.next()) {
        (Some(at), None) => Some(at),
        _ => None,
    };
    exact.or(only).ok_or_else(|| {
        let known = match ids.is_empty() {
            true => "the session has none".to_owned(),
            false => format!("the session has {}", ids.join(", ")),
        };
        Failure::Failed(format!("no one subagent is \"{named}\": {known}"))
    })
}

/// `{"session": …, "messages": […], "subagents": {id: […]}}`, each as the library's documents.
pub(super) fn document(
    place: &Place,
    id: &str,
    transcript: &Transcript,
    wanted: Wanted,
) -> Result<String, Failure> {
    let agent = wanted.agent.and_then(|at| transcript.agents.get(at));
    let found = match agent {
        Some(agent) => agent_messages(agent),
        None => messages(&transcript.entries, &MessageOptions::default()),
    };
    let extent = wanted.extent;
    let (before, behind) = extent.left_out(found.len());
    let shown = found.get(before..found.len() - behind).unwrap_or_default();
    let others = transcript.agents.iter().filter(|_| agent.is_none());
    let agents = others.map(|agent| {
        let found = agent_messages(agent);
        format!(
            "{}:{}",
            quoted(&agent.id),
            SessionMessage::list_to_json(&found)
        )
    });
    let agents: Vec<String> = agents.collect();
    Ok(format!(
        "{{\"session\":{},\"messages\":{},\"subagents\":{{{}}}}}",
        info(place, id)?.to_json(),
        SessionMessage::list_to_json(shown),
        agents.join(",")
    ))
}

fn agent_messages(agent: &AgentTranscript) -> Vec<SessionMessage<'_>> {
    let parents = Parents::from_metadata(&agent.metadata);
    subagent_messages(&agent.entries, Some(&parents), &MessageOptions::default())
}

/// The web page.
pub(super) fn page(
    place: &Place,
    id: &str,
    transcript: &Transcript,
    wanted: Wanted,
) -> Result<String, Failure> {
    Ok(page::page(&read(info(place, id)?, transcript, wanted)))
}
