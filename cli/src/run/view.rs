//! What is told of a running conversation: the answer on stdout, the rest on stderr.

use std::io::{self, IsTerminal, Write};

use crate::conversation::Tool;
use crate::document::{count, is_true, list, number, text, value};
use crate::failure::Failure;
use crate::terminal::{clean, columns, cut, one_line, Styles};
use crate::words;

pub(super) struct View {
    json: bool,
    quiet: bool,
    styles: Styles,
    /// On a terminal control characters of the answer are shown, not obeyed.
    on_terminal: bool,
    /// The text of the message has come in pieces.
    streamed: bool,
    /// Something stands on the last line of stdout.
    within_line: bool,
    result: Option<String>,
    spent: Spent,
    interrupted: bool,
}

/// What all results took: there are several when background work ends behind the first.
#[derive(Default)]
struct Spent {
    milliseconds: Option<u64>,
    read: u64,
    written: u64,
}

impl Spent {
    fn add(&mut self, result: &str) {
        if let Some(more) = count(result, "/duration_ms") {
            let so_far = self.milliseconds.unwrap_or_default();
            self.milliseconds = Some(so_far.saturating_add(more));
        }
        let tokens = |name: &str| count(result, &format!("/usage/{name}")).unwrap_or_default();
        let inputs = [
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ];
        let read = inputs.into_iter().map(tokens);
        self.read = read.fold(self.read, u64::saturating_add);
        self.written = self.written.saturating_add(tokens("output_tokens"));
    }
}

impl View {
    pub(super) fn new(json: bool, quiet: bool) -> View {
        View {
            json,
            quiet: quiet || json,
            styles: Styles::of(&io::stderr()),
            on_terminal: io::stdout().is_terminal(),
            streamed: false,
            within_line: false,
            result: None,
            spent: Spent::default(),
            interrupted: false,
        }
    }

    /// The turn was interrupted by whoever sits here.
    pub(super) fn interrupted(&mut self) {
        self.interrupted = true;
    }

    /// A message of the CLI.
    pub(super) fn message(&mut self, message: &str) -> Result<(), Failure> {
        let kind = text(message, "/type").unwrap_or_default();
        if kind == "result" {
            self.spent.add(message);
            self.result = Some(message.to_owned());
        }
        if self.json {
            let mut out = io::stdout().lock();
            writeln!(out, "{message}")?;
            return Ok(out.flush()?);
        }
        if text(message, "/parent_tool_use_id").is_some() {
            return Ok(());
        }
        match kind.as_str() {
            "stream_event" => self.piece(message),
            "assistant" => self.assistant(message),
            "user" => self.results(message),
            "system" => self.system(message),
            _ => Ok(()),
        }
    }

    fn piece(&mut self, message: &str) -> Result<(), Failure> {
        match text(message, "/event/type").as_deref() {
            Some("message_start") => self.streamed = false,
            Some("content_block_delta") => {
                if let Some(piece) = text(message, "/event/delta/text") {
                    self.streamed = true;
                    return self.say(&piece);
                }
            }
            Some("content_block_stop") => return self.end_line(),
            _ => {}
        }
        Ok(())
    }

    fn assistant(&mut self, message: &str) -> Result<(), Failure> {
        // An error of the API comes as a message as well; the result tells it.
        let failed = value(message, "/error").is_some_and(|error| error != "null");
        for block in list(value(message, "/message/content").unwrap_or_default()) {
            match text(block, "/type").as_deref() {
                Some("text") if !self.streamed && !failed => {
                    self.say(&text(block, "/text").unwrap_or_default())?;
                    self.end_line()?;
                }
                Some("tool_use") => {
                    let tool = Tool::read(block);
                    let subject = one_line(&tool.subject());
                    let name = one_line(&tool.name);
                    let mark = self.styles.accent(&format!("● {name}"));
                    self.tell(&format!(
                        "{mark} {}",
                        self.fitting(&subject, name.len() + 3)
                    ))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn results(&mut self, message: &str) -> Result<(), Failure> {
        for block in list(value(message, "/message/content").unwrap_or_default()) {
            if text(block, "/type").as_deref() != Some("tool_result")
                || !is_true(block, "/is_error")
            {
                continue;
            }
            let said = match text(block, "/content") {
                Some(said) => said,
                None => text(block, "/content/0/text").unwrap_or_default(),
            };
            let said = self.fitting(&one_line(&said), 4);
            self.tell(&format!("  {}", self.styles.bad(&format!("✗ {said}"))))?;
        }
        Ok(())
    }

    fn system(&mut self, message: &str) -> Result<(), Failure> {
        let subtype = text(message, "/subtype").unwrap_or_default();
        let told = match subtype.as_str() {
            "api_retry" => "the API failed; trying again".to_owned(),
            "compact_boundary" => "the conversation was compacted".to_owned(),
            "mirror_error" => format!(
                "the session store failed: {}",
                text(message, "/error").unwrap_or_default()
            ),
            _ => return Ok(()),
        };
        self.tell(&self.styles.dim(&one_line(&told)))
    }

    /// A text that fits behind `taken` columns of stderr's line, where that is a terminal's.
    fn fitting(&self, said: &str, taken: usize) -> String {
        let columns = columns().unwrap_or(200);
        cut(said, columns.saturating_sub(taken).max(20))
    }

    fn say(&mut self, said: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match self.on_terminal {
            true => out.write_all(clean(said).as_bytes())?,
            false => out.write_all(said.as_bytes())?,
        }
        out.flush()?;
        self.within_line = match said.is_empty() {
            true => self.within_line,
            false => !said.ends_with('\n'),
        };
        Ok(())
    }

    /// Something on stderr. It is clean already, but for the styles.
    fn tell(&mut self, told: &str) -> Result<(), Failure> {
        if self.quiet {
            return Ok(());
        }
        self.end_line()?;
        // Nobody is there to hear of a stderr that cannot be written.
        let _ = writeln!(io::stderr(), "{told}");
        Ok(())
    }

    /// Ends the line of the answer, if it has begun.
    pub(super) fn end_line(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.within_line) {
            let mut out = io::stdout().lock();
            writeln!(out)?;
            out.flush()?;
        }
        Ok(())
    }

    /// The end: what it took, and whether it failed.
    pub(super) fn end(&self) -> Result<(), Failure> {
        let Some(result) = &self.result else {
            return Err(Failure::new("the CLI ended without a result"));
        };
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{}", self.styles.dim(&self.summary(result)));
        }
        let subtype = text(result, "/subtype").unwrap_or_default();
        match is_true(result, "/is_error") {
            // The CLI tells of its own state then, which says nothing to a person.
            true if self.interrupted && subtype == "error_during_execution" => {
                Err(Failure::new("interrupted"))
            }
            true => Err(Failure::Failed(why(result))),
            false => Ok(()),
        }
    }

    /// Time and tokens of all results; the cost, which the CLI sums up itself, and the session of the last.
    fn summary(&self, result: &str) -> String {
        let mut parts = Vec::new();
        parts.extend(self.spent.milliseconds.map(words::duration));
        parts.push(format!(
            "{} tokens in, {} out",
            words::grouped(self.spent.read),
            words::grouped(self.spent.written)
        ));
        parts.extend(number(result, "/total_cost_usd").map(words::dollars));
        parts.extend(text(result, "/session_id").map(|id| format!("session {id}")));
        one_line(&parts.join(" · "))
    }
}

/// Why a turn failed, of its result.
fn why(result: &str) -> String {
    let errors = list(value(result, "/errors").unwrap_or_default());
    let errors = errors
        .into_iter()
        .filter_map(|error| towline::protocol::json::string(error).map(|error| error.into_owned()));
    let errors: Vec<String> = errors.collect();
    let subtype = text(result, "/subtype").unwrap_or_default();
    let told = match (text(result, "/result"), errors.is_empty()) {
        (Some(told), _) => told,
        (None, false) => errors.join("; "),
        (None, true) => subtype.replace('_', " "),
    };
    match subtype.as_str() {
        "error_max_turns" => format!("{told} (--max-turns)"),
        _ => told,
    }
}
