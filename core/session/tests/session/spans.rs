//! Spans and events for `tracing`, as a subscriber gets them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use serde_json::json;
use towline::{Event, Reply};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};

use crate::observing::{assert_clean, conversation, converse, server};
use crate::support::*;

#[derive(Debug, Clone, Default)]
struct Seen {
    name: &'static str,
    parent: Option<u64>,
    fields: BTreeMap<String, String>,
    closed: bool,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields
            .insert(field.name().into(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().into(), value.into());
    }
}

#[derive(Default)]
struct Kept {
    spans: Vec<Seen>,
    events: Vec<Seen>,
    entered: Vec<u64>,
}

impl Kept {
    fn named(&self, name: &str) -> Vec<(u64, &Seen)> {
        let numbered = self.spans.iter().enumerate();
        numbered
            .map(|(index, span)| (index as u64 + 1, span))
            .filter(|(_, span)| span.name == name)
            .collect()
    }

    /// The one span of that name.
    fn one(&self, name: &str) -> (u64, &Seen) {
        let found = self.named(name);
        assert_eq!(found.len(), 1, "{name} in {:#?}", self.spans);
        found[0]
    }
}

/// Keeps everything up to a level.
#[derive(Clone)]
struct Collector(Level, Arc<Mutex<Kept>>);

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "towline" && *metadata.level() <= self.0
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut kept = self.1.lock().unwrap();
        let parent = match attributes.is_contextual() {
            true => kept.entered.last().copied(),
            false => attributes.parent().map(Id::into_u64),
        };
        let mut seen = Seen {
            name: attributes.metadata().name(),
            parent,
            ..Seen::default()
        };
        attributes.record(&mut seen);
        kept.spans.push(seen);
        Id::from_u64(kept.spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        values.record(&mut self.1.lock().unwrap().spans[id.into_u64() as usize - 1]);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut seen = Seen {
            name: event.metadata().level().as_str(),
            parent: event.parent().map(Id::into_u64),
            ..Seen::default()
        };
        event.record(&mut seen);
        self.1.lock().unwrap().events.push(seen);
    }

    fn enter(&self, id: &Id) {
        self.1.lock().unwrap().entered.push(id.into_u64());
    }

    fn exit(&self, _: &Id) {
        self.1.lock().unwrap().entered.pop();
    }

    fn try_close(&self, id: Id) -> bool {
        self.1.lock().unwrap().spans[id.into_u64() as usize - 1].closed = true;
        true
    }
}

fn collected(level: Level, run: impl FnOnce(&Arc<Mutex<Kept>>)) -> Kept {
    let kept = Arc::new(Mutex::new(Kept::default()));
    tracing::subscriber::with_default(Collector(level, kept.clone()), || run(&kept));
    let mut kept = kept.lock().unwrap();
    std::mem::take(&mut *kept)
}

#[test]
fn spans_have_names_parents_fields_and_no_secrets() {
    let in_tool = Arc::new(Mutex::new(Vec::new()));
    let noted = in_tool.clone();
    let kept = collected(Level::TRACE, |kept| {
        let fake = conversation();
        let seen = Arc::default();
        let kept = kept.clone();
        let session = fake
            .builder()
            .on_permission(move |request| {
                assert!(!request.span().is_disabled());
                noted
                    .lock()
                    .unwrap()
                    .clone_from(&kept.lock().unwrap().entered);
                Reply::deny("no")
            })
            .tool_server(server(&seen))
            .begin()
            .unwrap();
        let events = converse(&session);
        assert!(!events.iter().any(|event| matches!(event, Event::Stderr(_))));
        fake.check();
    });
    let (session, told) = kept.one("towline.session");
    assert_eq!(told.parent, None);
    assert!(told.fields["pid"].parse::<u32>().unwrap() > 1);
    assert_eq!(told.fields["session_id"], "s");
    assert_eq!(told.fields["turns"], "1");
    assert_eq!(told.fields["requests_received"], "3");
    assert!(told.fields.contains_key("initialized_ms"));
    for phase in ["towline.spawn", "towline.initialize"] {
        assert_eq!(kept.one(phase).1.parent, Some(session), "{phase}");
    }
    let (turn, told) = kept.one("towline.turn");
    assert_eq!(told.parent, Some(session));
    assert_eq!(told.fields["outcome"], "success");
    assert_eq!(told.fields["total_cost_usd"], "0.25");
    assert_eq!(told.fields["output_tokens"], "5");
    assert!(told.fields.contains_key("first_message_ms"));
    let (_, request) = kept.one("towline.request");
    assert_eq!(request.fields["subtype"], "set_model");
    assert_eq!(request.fields["outcome"], "success");
    let callbacks = kept.named("towline.callback");
    let outcomes: Vec<(&str, &str)> = callbacks
        .iter()
        .map(|(_, call)| (&*call.fields["kind"], &*call.fields["outcome"]))
        .collect();
    assert_eq!(
        outcomes,
        [("permission", "deny"), ("tool", "error"), ("tool", "error")]
    );
    assert!(callbacks.iter().all(|(_, call)| call.parent == Some(turn)));
    assert!(callbacks[1].1.fields["traceparent"].starts_with("00-4bf9"));
    let handlers = kept.named("towline.handler");
    assert_eq!(handlers.len(), 3);
    assert_eq!(handlers[0].1.parent, Some(callbacks[0].0));
    assert_eq!(*in_tool.lock().unwrap(), [handlers[0].0]);
    let (_, close) = kept.one("towline.close");
    assert_eq!(close.fields["last_step"], "input_ended");
    let event = |wanted: &str| {
        let found = kept
            .events
            .iter()
            .find(|event| event.fields["message"].contains(wanted));
        found.unwrap_or_else(|| panic!("{wanted:?} is not in {:#?}", kept.events))
    };
    assert_eq!(event("no message").name, "WARN");
    assert_eq!(event("no message").fields["kind"], "not_a_message");
    assert_eq!(event("using [redacted]").name, "DEBUG");
    assert_eq!(event("using [redacted]").parent, Some(session));
    assert!(
        kept.spans.iter().all(|span| span.closed),
        "{:#?}",
        kept.spans
    );
    assert_clean("spans", &format!("{:?} {:?}", kept.spans, kept.events));
}

#[test]
fn a_level_keeps_out_what_matters_less() {
    let kept = collected(Level::INFO, |_| {
        let fake = conversation();
        let seen = Arc::default();
        let builder = fake.builder().on_permission(|_| Reply::allow());
        let session = builder.tool_server(server(&seen)).begin().unwrap();
        converse(&session);
    });
    kept.one("towline.turn");
    assert!(kept.named("towline.callback").is_empty());
    assert!(!kept.events.iter().any(|event| event.name == "DEBUG"));
}

#[test]
fn a_start_that_fails_and_an_end_by_force_are_told() {
    let kept = collected(Level::INFO, |_| {
        let fake = Fake::new(json!([])).set("cliPath", "/nowhere/claude");
        fake.builder().begin().unwrap_err();
        let fake = Fake::new(json!([{"on_eof": "ignore"}])).graces(20);
        let session = fake.builder().begin().unwrap();
        session.connect(Some(LONG)).unwrap();
        session.close().unwrap();
    });
    let sessions = kept.named("towline.session");
    assert_eq!(sessions.len(), 2);
    assert!(sessions[0].1.fields["error"].contains("/nowhere/claude"));
    assert!(sessions[0].1.closed);
    let (_, close) = kept.one("towline.close");
    assert_eq!(close.fields["last_step"], "terminated");
    assert_eq!(close.fields["by"], "host");
    assert!(close.fields.contains_key("duration_ms"));
}

#[test]
fn a_session_stands_in_the_span_that_is_current_at_its_start() {
    let kept = collected(Level::INFO, |_| {
        let fake = Fake::new(json!([]));
        let outer = tracing::info_span!(target: "towline", "outer");
        let session = outer.in_scope(|| fake.begin());
        session.close().unwrap();
    });
    let (outer, _) = kept.one("outer");
    assert_eq!(kept.one("towline.session").1.parent, Some(outer));
}

#[test]
fn calls_of_a_store_are_told() {
    let line = json!({"type": "transcript_mirror", "filePath": "/p/projects/x/s.jsonl",
        "entries": [{"type": "user", "uuid": "e1"}]});
    let kept = collected(Level::DEBUG, |_| {
        let fake = Fake::new(json!([
            {"expect": {"type": "user"}},
            {"emit": line},
            {"emit": result()},
            {"expect_eof": true}
        ]))
        .env("CLAUDE_CONFIG_DIR", "/p");
        let store = Arc::new(towline::transcripts::store::MemoryStore::default());
        let builder = fake.builder().session_store(store, None);
        let session = builder.begin().unwrap();
        session.send("hi").unwrap();
        session.end_input_when_settled().unwrap();
        until_closed(&session);
    });
    let (_, call) = kept.one("towline.store");
    assert_eq!(call.fields["call"], "append");
    assert_eq!(call.fields["outcome"], "success");
}
