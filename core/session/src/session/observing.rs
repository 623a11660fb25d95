//! What of a session is counted, and told to those who watch it: the log hook and the spans.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use towline_protocol::connection::{
    self, Answer, CancelReason, Diagnostic, Request, RequestId, RequestKey, RequestKind, TurnId,
    TurnOutcome,
};
use towline_protocol::control::answer::PermissionResult;
use towline_protocol::json;
use towline_protocol::launch::TraceContext;
use towline_protocol::mcp::CallResult;
use towline_transcripts::store::{CallId, StoreCall, StoreError};

use super::stderr::Line;
use super::{Core, Stats};
use crate::error::Error;
use crate::observe::spans::Span;
use crate::observe::{shorten, DiagnosticTexts, Fields, Log, LogLevel, LONGEST_TEXT};
use crate::recording::Redactor;

/// Something that has begun and not ended yet.
struct Begun {
    at: Instant,
    /// Its subtype, or the kind of request and what it is about.
    name: String,
    turn: Option<TurnId>,
    span: Span,
    /// A turn without a message yet.
    silent: bool,
}

/// Who watches a session, and what has begun before their eyes. Nothing is kept while nobody does.
pub(crate) struct Observer {
    pub(super) log: Log,
    redactor: Option<Arc<Redactor>>,
    diagnostics: Option<DiagnosticTexts>,
    session: Span,
    /// The phase of the start that lasts.
    phase: Span,
    turns: BTreeMap<TurnId, Begun>,
    requests: BTreeMap<RequestId, Begun>,
    callbacks: BTreeMap<RequestKey, Begun>,
    store: Option<(CallId, Begun)>,
    closing: Option<(Instant, &'static str, Span)>,
    told_session: bool,
    told_version: bool,
    told_end: bool,
}

impl Observer {
    /// The start of a session has been asked for.
    pub(super) fn new(level: Option<LogLevel>) -> Observer {
        let session = Span::session();
        Observer {
            log: Log::new(level),
            redactor: None,
            diagnostics: None,
            phase: session.spawn(),
            session,
            turns: BTreeMap::new(),
            requests: BTreeMap::new(),
            callbacks: BTreeMap::new(),
            store: None,
            closing: None,
            told_session: false,
            told_version: false,
            told_end: false,
        }
    }

    /// Whether anybody watches.
    pub(super) fn is_on(&self) -> bool {
        self.log.is_on() || self.session.is_on()
    }

    /// Whether lines of stderr are wanted.
    pub(super) fn wants_stderr(&self) -> bool {
        self.log.wants(LogLevel::Debug) || self.session.wants_stderr()
    }

    pub(super) fn redact_with(&mut self, redactor: Arc<Redactor>) {
        self.diagnostics = Some(DiagnosticTexts::with(redactor.clone()));
        self.redactor = Some(redactor);
    }

    /// A text as it may be told; nothing of it when nothing is known of secrets.
    fn clean(&self, text: &str) -> String {
        let Some(redactor) = &self.redactor else {
            return String::new();
        };
        let mut clean = redactor.line(text);
        shorten(&mut clean, LONGEST_TEXT);
        clean
    }

    /// What is left of it when the start fails.
    pub(super) fn starting(&self) -> Starting {
        Starting {
            session: self.session.clone(),
            redactor: self.redactor.clone(),
        }
    }

    /// A turn that lasts: the CLI works through them in order.
    fn present(&self) -> Option<TurnId> {
        self.turns.keys().next().copied()
    }

    fn present_span(&self) -> &Span {
        let first = self.turns.values().next();
        first.map_or(&self.session, |turn| &turn.span)
    }

    fn begin(&self, name: String, turn: Option<TurnId>, span: Span) -> Begun {
        Begun {
            at: Instant::now(),
            name,
            turn,
            span,
            silent: true,
        }
    }
}

/// The start of a session, which may fail. There is nobody then to call the log hook.
pub(super) struct Starting {
    session: Span,
    redactor: Option<Arc<Redactor>>,
}

impl Starting {
    pub(super) fn not_started(&self, error: &Error) {
        if let (true, Some(redactor)) = (self.session.is_on(), &self.redactor) {
            self.session.failed(&redactor.line(&error.to_string()));
        }
    }
}

impl Begun {
    /// How long it took, which its span is told too.
    fn end(&self, outcome: &str) -> Duration {
        let took = self.at.elapsed();
        self.span.text("outcome", outcome);
        self.span.took("duration_ms", took);
        took
    }
}

impl Core {
    fn log(
        &mut self,
        level: LogLevel,
        target: &'static str,
        message: impl FnOnce() -> String,
        turn: Option<TurnId>,
        fields: impl FnOnce(Fields) -> Fields,
    ) {
        if self.observer.log.wants(level) {
            let session = self.connection.session_id();
            let fields = fields(Fields::default());
            let log = &mut self.observer.log;
            log.push(level, target, message(), fields, (session, turn));
        }
    }

    /// The counters as they are now.
    pub(super) fn present_stats(&self) -> Stats {
        Stats {
            lines_read: self.connection.lines_read(),
            requests_pending: self.connection.requests_pending() as u64,
            requests_open: self.connection.requests_open() as u64,
            ..self.stats
        }
    }

    /// The CLI runs, or the stream to it is open.
    pub(super) fn note_started(&mut self, pid: Option<u32>) {
        if !self.observer.is_on() {
            return;
        }
        let observer = &mut self.observer;
        observer.phase = observer.session.initialize();
        if let Some(pid) = pid {
            observer.session.number("pid", pid.into());
        }
        let spawned = self.stats.startup.spawned;
        self.log(
            LogLevel::Info,
            "towline.session",
            || "the session has started".into(),
            None,
            |fields| {
                fields
                    .maybe(pid, |fields, pid| fields.number("pid", pid.into()))
                    .maybe(spawned, |fields, took| fields.millis("spawned_ms", took))
            },
        );
    }

    /// The CLI has answered `initialize`.
    pub(super) fn note_opened(&mut self) {
        if !self.observer.is_on() {
            return;
        }
        self.observer.phase = Span::none();
        let initialized = self.stats.startup.initialized;
        let version = self.connection.cli_version().map(String::from);
        self.log(
            LogLevel::Info,
            "towline.session",
            || "the session is open".into(),
            None,
            |fields| {
                fields
                    .maybe(version, |fields, version| {
                        fields.text("cli_version", &version)
                    })
                    .maybe(initialized, |fields, took| {
                        fields.millis("initialized_ms", took)
                    })
            },
        );
    }

    /// A prompt was sent, or waits to be.
    pub(super) fn note_turn(&mut self, turn: TurnId) {
        self.stats.turns += 1;
        if !self.observer.is_on() {
            return;
        }
        let span = self.observer.session.turn(turn.0);
        let begun = self.observer.begin(String::new(), Some(turn), span);
        self.observer.turns.insert(turn, begun);
        let message = || format!("turn {turn} has begun");
        self.log(LogLevel::Debug, "towline.turn", message, Some(turn), |f| f);
    }

    /// A control request of the host was sent.
    pub(super) fn note_request(&mut self, id: RequestId, subtype: &str) {
        self.stats.requests_sent += 1;
        if !self.observer.is_on() {
            return;
        }
        let span = self.observer.session.request(subtype, id.0);
        let begun = self.observer.begin(subtype.into(), None, span);
        self.observer.requests.insert(id, begun);
    }

    /// Something of the connection is about to be delivered.
    pub(super) fn note_event(&mut self, event: &connection::Event) {
        self.stats.events += 1;
        match event {
            connection::Event::Message { turn, .. } => {
                self.stats.messages += 1;
                if let (Some(turn), true) = (turn, self.observer.is_on()) {
                    self.note_first_message(*turn);
                }
            }
            connection::Event::Initialized(_) if self.observer.is_on() => self.note_opened(),
            connection::Event::TurnEnded { turn, outcome } => self.note_turn_end(*turn, outcome),
            connection::Event::Request(request) => {
                self.stats.requests_received += 1;
                if self.observer.is_on() {
                    self.note_asked(request);
                }
            }
            connection::Event::RequestCancelled { key, reason } => {
                let outcome = match reason {
                    CancelReason::Withdrawn => "withdrawn",
                    CancelReason::TimedOut => "timed_out",
                    _ => "session_ended",
                };
                self.note_answer(*key, outcome);
            }
            connection::Event::Response { id, result, .. } => {
                let outcome = match result {
                    Ok(_) => "success",
                    Err(_) => "error",
                };
                self.stats.requests_failed += u64::from(result.is_err());
                let Some(begun) = self.observer.requests.remove(id) else {
                    return;
                };
                let took = begun.end(outcome);
                let message = || format!("control request {} answered", begun.name);
                self.log(
                    LogLevel::Debug,
                    "towline.request",
                    message,
                    None,
                    |fields| {
                        fields
                            .text("subtype", &begun.name)
                            .text("outcome", outcome)
                            .millis("duration_ms", took)
                    },
                );
            }
            connection::Event::Diagnostic(diagnostic) => self.note_diagnostic(diagnostic),
            _ => {}
        }
    }

    fn note_first_message(&mut self, turn: TurnId) {
        if let Some(begun) = self.observer.turns.get_mut(&turn) {
            if std::mem::take(&mut begun.silent) {
                begun.span.took("first_message_ms", begun.at.elapsed());
                self.note_session();
            }
        }
    }

    /// What is known of the session only now.
    fn note_session(&mut self) {
        let observer = &mut self.observer;
        if let (Some(id), false) = (self.connection.session_id(), observer.told_session) {
            observer.session.text("session_id", id);
            observer.told_session = true;
        }
        if let (Some(version), false) = (self.connection.cli_version(), observer.told_version) {
            observer.session.text("cli_version", version);
            observer.told_version = true;
        }
    }

    fn note_turn_end(&mut self, turn: TurnId, outcome: &TurnOutcome) {
        let result = match outcome {
            TurnOutcome::Result(message) => Some(message.json()),
            _ => None,
        };
        let at = |path: &str| json::pointer(result?, path).ok().flatten();
        let is_error = at("/is_error") == Some("true");
        let outcome = match outcome {
            TurnOutcome::Result(_) if is_error => "error",
            TurnOutcome::Result(_) => "success",
            TurnOutcome::Cancelled => "cancelled",
            TurnOutcome::TimedOut(_) => "timed_out",
            _ => "session_ended",
        };
        let stats = &mut self.stats;
        match outcome {
            "success" => stats.turns_succeeded += 1,
            "cancelled" => stats.turns_cancelled += 1,
            "timed_out" => stats.turns_timed_out += 1,
            _ => stats.turns_failed += 1,
        }
        let Some(begun) = self.observer.turns.remove(&turn) else {
            return;
        };
        self.note_session();
        let took = begun.end(outcome);
        let subtype = at("/subtype").and_then(json::string);
        let mut fields = Fields::default()
            .text("outcome", outcome)
            .millis("duration_ms", took);
        if let Some(subtype) = &subtype {
            begun.span.text("subtype", subtype);
            begun.span.flag("is_error", is_error);
            fields = fields.text("subtype", subtype);
        }
        for (name, path) in [
            ("num_turns", "/num_turns"),
            ("input_tokens", "/usage/input_tokens"),
            ("output_tokens", "/usage/output_tokens"),
            ("cache_read_input_tokens", "/usage/cache_read_input_tokens"),
            (
                "cache_creation_input_tokens",
                "/usage/cache_creation_input_tokens",
            ),
        ] {
            if let Some(value) = at(path).and_then(|value| value.parse().ok()) {
                begun.span.number(name, value);
                fields = fields.number(name, value);
            }
        }
        if let Some(cost) = at("/total_cost_usd").and_then(|cost| cost.parse().ok()) {
            begun.span.float("total_cost_usd", cost);
            fields = fields.float("total_cost_usd", cost);
        }
        let level = match outcome {
            "timed_out" => LogLevel::Warn,
            _ => LogLevel::Debug,
        };
        let message = || format!("turn {turn} has ended: {outcome}");
        self.log(level, "towline.turn", message, Some(turn), |_| fields);
    }

    /// The CLI asks something.
    fn note_asked(&mut self, request: &Request) {
        let (kind, name) = asked(request);
        let observer = &mut self.observer;
        let span = observer.present_span().callback(kind, &name, request.key.0);
        if let Some(context) = trace_context_of_call(request) {
            span.text("traceparent", &context.traceparent);
        }
        let turn = observer.present();
        let name = match name.is_empty() {
            true => kind.to_string(),
            false => format!("{kind} {name}"),
        };
        let begun = observer.begin(name, turn, span);
        observer.callbacks.insert(request.key, begun);
    }

    /// A request of the CLI was answered, or need not be any more.
    pub(super) fn note_answer(&mut self, key: RequestKey, outcome: &str) {
        let Some(begun) = self.observer.callbacks.remove(&key) else {
            return;
        };
        let took = begun.end(outcome);
        let message = || format!("{}: {outcome}", begun.name);
        self.log(
            LogLevel::Debug,
            "towline.callback",
            message,
            begun.turn,
            |fields| {
                fields
                    .number("key", key.0)
                    .text("outcome", outcome)
                    .millis("duration_ms", took)
            },
        );
    }

    /// The span of a request that waits for its answer.
    pub(super) fn callback_span(&self, key: RequestKey) -> Span {
        let begun = self.observer.callbacks.get(&key);
        begun.map_or_else(Span::none, |begun| begun.span.clone())
    }

    /// The store is asked something.
    pub(super) fn note_store_call(&mut self, id: CallId, call: &StoreCall) {
        if !self.observer.is_on() {
            return;
        }
        if self.observer.store.is_some() {
            self.end_store_call("timed_out");
        }
        let name = call.kind().name();
        let span = self.observer.session.store(name);
        let turn = self.observer.present();
        let begun = self.observer.begin(name.into(), turn, span);
        self.observer.store = Some((id, begun));
    }

    /// The store has answered.
    pub(super) fn note_store_answer<T>(&mut self, id: CallId, answer: &Result<T, StoreError>) {
        if self
            .observer
            .store
            .as_ref()
            .is_some_and(|(of, _)| *of == id)
        {
            self.end_store_call(match answer {
                Ok(_) => "success",
                Err(_) => "error",
            });
        }
    }

    fn end_store_call(&mut self, outcome: &str) {
        let Some((_, begun)) = self.observer.store.take() else {
            return;
        };
        let took = begun.end(outcome);
        let message = || format!("store call {}: {outcome}", begun.name);
        self.log(
            LogLevel::Debug,
            "towline.store",
            message,
            begun.turn,
            |fields| {
                fields
                    .text("call", &begun.name)
                    .text("outcome", outcome)
                    .millis("duration_ms", took)
            },
        );
    }

    /// Puts a diagnostic of the session's own aside for the host.
    pub(super) fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.note_diagnostic(&diagnostic);
        self.defer(connection::Event::Diagnostic(diagnostic));
    }

    pub(super) fn note_diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.stats.diagnostics += 1;
        if !self.observer.is_on() {
            return;
        }
        let kind = match diagnostic {
            Diagnostic::NotAMessage { .. } => "not_a_message",
            Diagnostic::LineTooLong { .. } => "line_too_long",
            Diagnostic::NotUtf8 { .. } => "not_utf8",
            Diagnostic::BadRequest { .. } => "bad_request",
            Diagnostic::UnexpectedResponse { .. } => "unexpected_response",
            Diagnostic::OldCli(_) => "old_cli",
            Diagnostic::Options(_) => "options",
            Diagnostic::HandlerFailed(_) => "handler_failed",
            Diagnostic::NotMirrored(_) => "not_mirrored",
            Diagnostic::NotRecorded(_) => "not_recorded",
            Diagnostic::Refused(_) => "refused",
            _ => "other",
        };
        let texts = &mut self.observer.diagnostics;
        let text = texts.as_mut().map(|texts| texts.text(diagnostic));
        let text = text.unwrap_or_default();
        self.observer.session.diagnostic(kind, &text);
        let turn = self.observer.present();
        self.log(
            LogLevel::Warn,
            "towline.diagnostic",
            || text,
            turn,
            |fields| fields.text("kind", kind),
        );
    }

    /// A line of the CLI's stderr.
    pub(super) fn note_stderr(&mut self, line: &Line) {
        if !self.observer.wants_stderr() {
            return;
        }
        let Some(redactor) = &self.observer.redactor else {
            return;
        };
        let Some(mut line) = line.told(redactor) else {
            return;
        };
        shorten(&mut line, LONGEST_TEXT);
        self.observer.session.stderr(&line);
        let turn = self.observer.present();
        self.log(LogLevel::Debug, "towline.stderr", || line, turn, |f| f);
    }

    /// A line of the wire, for the log hook.
    pub(super) fn note_wire(&mut self) {
        while let Some(line) = self.wire_log.as_mut().and_then(|log| log.next_line()) {
            let turn = self.observer.present();
            self.log(
                LogLevel::Trace,
                "towline.wire",
                || line.text,
                turn,
                |fields| {
                    fields
                        .text("direction", line.direction)
                        .number("bytes", line.bytes)
                        .number("cut", u64::from(line.is_cut))
                },
            );
        }
    }

    /// A step of the end of the session.
    pub(super) fn note_step(&mut self, step: &'static str) {
        if !self.observer.is_on() {
            return;
        }
        // Only a host finishes the input of a session that nothing has closed.
        let by = match self.closing.by_host() || step == "input_ended" {
            true => "host",
            false => "library",
        };
        let observer = &mut self.observer;
        let (_, by, span) = observer
            .closing
            .get_or_insert_with(|| (Instant::now(), by, observer.session.close(by)));
        let (by, forced) = (*by, matches!(step, "terminated" | "killed"));
        span.text("last_step", step);
        span.step(step, forced);
        let level = match forced {
            true => LogLevel::Warn,
            false => LogLevel::Info,
        };
        self.log(
            level,
            "towline.session",
            || format!("closing the session: {step}"),
            None,
            |fields| fields.text("step", step).text("by", by),
        );
    }

    /// An error as it may be told.
    fn told_error(&self, mut error: Error) -> String {
        if let (Some(failure), Some(redactor)) = (error.failure_mut(), &self.observer.redactor) {
            failure.stderr = self.stderr.told_tail(redactor);
        }
        self.observer.clean(&error.to_string())
    }

    /// The session is over: once, before the host is told.
    pub(super) fn note_end(&mut self) {
        if self.observer.told_end || !self.observer.is_on() {
            return;
        }
        self.observer.told_end = true;
        self.note_session();
        if let Some((at, _, span)) = self.observer.closing.take() {
            span.took("duration_ms", at.elapsed());
        }
        let exit = self.io.exit().map(|exit| exit.to_string());
        let error = self.end_error().map(|error| self.told_error(error));
        let lasted = self.asked.elapsed();
        let span = &self.observer.session;
        if let Some(exit) = &exit {
            span.text("exit", exit);
        }
        span.took("duration_ms", lasted);
        let stats = self.present_stats();
        span.counters(&stats);
        if let Some(error) = &error {
            span.failed(error);
        }
        let (level, message) = match &error {
            Some(error) => (LogLevel::Error, error.clone()),
            None => (LogLevel::Info, "the session has ended".to_string()),
        };
        self.log(
            level,
            "towline.session",
            || message,
            None,
            |mut fields| {
                fields = fields
                    .maybe(exit, |fields, exit| fields.text("exit", &exit))
                    .millis("duration_ms", lasted);
                for (name, value) in stats.counters() {
                    fields = fields.number(name, value);
                }
                fields
            },
        );
        // They end with the session, which others may hold for long.
        self.observer.turns.clear();
        self.observer.requests.clear();
        self.observer.callbacks.clear();
        self.observer.store = None;
        self.observer.phase = Span::none();
        self.observer.session = Span::none();
    }
}

/// What is asked, in a word, and of what.
fn asked(request: &Request) -> (&'static str, String) {
    let text = |path: &str| {
        let found = json::pointer(request.json(), path).ok().flatten();
        let found = found.and_then(json::string);
        found.map(|text| text.into_owned()).unwrap_or_default()
    };
    match &request.kind {
        RequestKind::Permission => ("permission", text("/tool_name")),
        RequestKind::Hook { .. } => ("hook", text("/input/hook_event_name")),
        RequestKind::ToolCall { server, tool, .. } => ("tool", format!("mcp__{server}__{tool}")),
        RequestKind::ResourceRead { server, .. } => ("resource", server.clone()),
        RequestKind::PromptGet { prompt, .. } => ("prompt", prompt.clone()),
        RequestKind::McpMessage { server } => ("mcp_message", server.clone()),
        RequestKind::Elicitation => ("elicitation", text("/mcp_server_name")),
        RequestKind::Dialog => ("dialog", text("/dialog_kind")),
        RequestKind::Other { subtype } => ("other", subtype.clone()),
        _ => ("other", String::new()),
    }
}

/// How an answer is told.
pub(super) fn outcome_of(answer: &Answer<'_>) -> &'static str {
    match answer {
        Answer::Permission(PermissionResult::Allow { .. }) => "allow",
        Answer::Permission(PermissionResult::Deny { .. }) => "deny",
        Answer::Error(_) => "error",
        Answer::Call(CallResult::Error(_) | CallResult::Rpc(_)) => "error",
        Answer::Call(CallResult::Json(result)) if says_error(result) => "error",
        _ => "answered",
    }
}

/// Whether the result of a tool says that the tool has failed.
fn says_error(result: &str) -> bool {
    ["/isError", "/is_error"]
        .iter()
        .any(|path| json::pointer(result, path) == Ok(Some("true")))
}

/// The trace context that a message of the CLI to an MCP server carries.
pub(super) fn trace_context_of_call(request: &Request) -> Option<TraceContext> {
    let meta = json::pointer(request.json(), "/message/params/_meta");
    let meta = meta.ok().flatten()?;
    let (mut parent, mut state) = (None, None);
    json::members(meta, |name, value| match name {
        "traceparent" => parent = json::string(value),
        "tracestate" => state = json::string(value),
        _ => {}
    })
    .ok()?;
    TraceContext::new(&parent?, state.as_deref())
}
