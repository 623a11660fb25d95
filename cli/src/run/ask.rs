//! Questions of the CLI, put to whoever sits at the terminal.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Weak};
use std::thread;

use towline::{LocalError, RequestHandle, RequestKey, Session};

use crate::conversation::Tool;
use crate::document::{is_true, list, object, quoted, text, value};
use crate::failure::Failure;
use crate::terminal::{clean, note, one_line};

/// Asks one question after another, without keeping the session from going on.
pub(super) struct Asker {
    interactive: bool,
    session: Weak<Session>,
    waiting: VecDeque<Question>,
    /// Lines that were typed; `None` at the end of stdin. Read only once something is asked.
    typed: Option<Receiver<Option<String>>>,
}

/// What the model reads.
const NOBODY: &str = "Nobody is there to give permission.";

/// Something that is asked.
struct Question {
    request: RequestHandle,
    /// What is still to be chosen, where the tool asks the user itself.
    choices: VecDeque<Choice>,
    chosen: Vec<(String, String)>,
}

/// A question of the tool `AskUserQuestion`.
struct Choice {
    question: String,
    labels: Vec<String>,
    several: bool,
}

impl Asker {
    pub(super) fn new(session: &Arc<Session>, interactive: bool) -> Asker {
        Asker {
            interactive,
            session: Arc::downgrade(session),
            waiting: VecDeque::new(),
            typed: None,
        }
    }

    /// A request for permission.
    pub(super) fn ask(&mut self, request: RequestHandle) -> Result<(), Failure> {
        let tool = tool(&request);
        if !self.interactive {
            note(&format!(
                "{} {}: not allowed, since nobody can be asked; --allow {} lets it run",
                tool.name,
                one_line(&tool.subject()),
                tool.name
            ));
            return answered(request.deny(NOBODY, false));
        }
        let questions = match tool.name.as_str() {
            "AskUserQuestion" => list(value(&tool.input, "/questions").unwrap_or_default()),
            _ => Vec::new(),
        };
        self.waiting.push_back(Question {
            choices: questions.into_iter().filter_map(Choice::read).collect(),
            chosen: Vec::new(),
            request,
        });
        if self.waiting.len() == 1 {
            self.show_next()?;
        }
        Ok(())
    }

    /// The CLI took a request back.
    pub(super) fn cancelled(&mut self, key: RequestKey) -> Result<(), Failure> {
        let asked = self
            .waiting
            .front()
            .is_some_and(|question| question.request.key() == key);
        self.waiting
            .retain(|question| question.request.key() != key);
        if asked {
            note("\nThe question is withdrawn.");
            self.show_next()?;
        }
        Ok(())
    }

    /// Takes in what was typed.
    pub(super) fn take_answers(&mut self) -> Result<(), Failure> {
        while let Some(line) = self.line() {
            let Some(line) = line else {
                return self.end();
            };
            let Some(question) = self.waiting.front_mut() else {
                continue;
            };
            if question.answer(line.trim())? {
                self.waiting.pop_front();
                self.show_next()?;
            } else {
                self.show();
            }
        }
        Ok(())
    }

    /// Shows a new question. What was typed before it was seen does not answer it.
    fn show_next(&mut self) -> Result<(), Failure> {
        while let Some(line) = self.line() {
            if line.is_none() {
                return self.end();
            }
        }
        self.show();
        Ok(())
    }

    fn line(&self) -> Option<Option<String>> {
        self.typed.as_ref()?.try_recv().ok()
    }

    /// Nobody is there any more.
    fn end(&mut self) -> Result<(), Failure> {
        self.interactive = false;
        for question in self.waiting.drain(..) {
            answered(question.request.deny(NOBODY, false))?;
        }
        Ok(())
    }

    /// Shows the question that is to be answered.
    fn show(&mut self) {
        let Some(question) = self.waiting.front() else {
            return;
        };
        let mut stderr = io::stderr();
        // Nobody is there to hear of a stderr that cannot be written.
        let _ = write!(stderr, "{} ", clean(&question.words()));
        let _ = stderr.flush();
        if self.typed.is_none() {
            self.typed = Some(self.read());
        }
    }

    /// Reads lines on a thread of its own: the session goes on meanwhile.
    fn read(&self) -> Receiver<Option<String>> {
        let (send, typed) = channel();
        let session = self.session.clone();
        thread::spawn(move || loop {
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line);
            let ended = !matches!(read, Ok(count) if count > 0);
            if send.send((!ended).then_some(line)).is_err() {
                return;
            }
            match session.upgrade() {
                // A session that is over needs no waking.
                Some(session) => drop(session.wake()),
                None => return,
            }
            if ended {
                return;
            }
        });
        typed
    }
}

impl Question {
    fn words(&self) -> String {
        if let Some(choice) = self.choices.front() {
            return choice.words();
        }
        let tool = tool(&self.request);
        let mut words = format!("? {} {}", tool.name, one_line(&tool.subject()));
        if let Some(reason) = self.request.text("/decision_reason") {
            words.push_str(&format!("\n  {}", one_line(&reason)));
        }
        let always = one_line(&allowed_by(&for_the_session(&self.request)));
        words + &format!("\n  [y]es, [n]o, [a]lways in this session ({always}):")
    }

    /// Whether the line answers it.
    fn answer(&mut self, line: &str) -> Result<bool, Failure> {
        if let Some(choice) = self.choices.front() {
            if line.is_empty() {
                return Ok(false);
            }
            self.chosen
                .push((choice.question.clone(), choice.chosen(line)));
            self.choices.pop_front();
            if !self.choices.is_empty() {
                return Ok(false);
            }
            let input = with_answers(&tool(&self.request).input, &self.chosen);
            answered(self.request.allow_with(Some(&input), None))?;
            return Ok(true);
        }
        let done = match line.to_lowercase().as_str() {
            "y" | "yes" => self.request.allow(),
            "n" | "no" => self.request.deny("The user does not allow this.", false),
            "a" | "always" => self
                .request
                .allow_with(None, Some(&for_the_session(&self.request))),
            _ => return Ok(false),
        };
        answered(done)?;
        Ok(true)
    }
}

impl Choice {
    fn read(json: &str) -> Option<Choice> {
        let options = list(value(json, "/options").unwrap_or_default());
        Some(Choice {
            question: text(json, "/question")?,
            labels: options
                .into_iter()
                .filter_map(|one| text(one, "/label"))
                .collect(),
            several: is_true(json, "/multiSelect"),
        })
    }

    fn words(&self) -> String {
        let mut words = format!("? {}", one_line(&self.question));
        for (at, label) in self.labels.iter().enumerate() {
            words.push_str(&format!("\n  {} {}", at + 1, one_line(label)));
        }
        words.push_str(match self.several {
            true => "\n  Numbers, or an answer of your own:",
            false => "\n  A number, or an answer of your own:",
        });
        words
    }

    /// The labels of the numbers; what is no number is the answer itself.
    fn chosen(&self, line: &str) -> String {
        let apart = |character: char| character == ',' || character.is_whitespace();
        let words = line.split(apart).filter(|word| !word.is_empty());
        let label = |word: &str| {
            let at: usize = word.parse().ok()?;
            self.labels.get(at.checked_sub(1)?).cloned()
        };
        let labels: Option<Vec<String>> = words.map(label).collect();
        match labels {
            Some(labels) if labels.len() == 1 || self.several => labels.join(", "),
            _ => line.to_owned(),
        }
    }
}

fn tool(request: &RequestHandle) -> Tool {
    Tool::read(&format!(
        "{{\"name\":{},\"input\":{}}}",
        quoted(&request.tool_name().unwrap_or_default()),
        request.pointer("/input").unwrap_or("{}")
    ))
}

/// The input of `AskUserQuestion` with the answers in it.
fn with_answers(input: &str, chosen: &[(String, String)]) -> String {
    let mut members: Vec<String> = object(input)
        .into_iter()
        .filter(|(name, _)| name != "answers")
        .map(|(name, value)| format!("{}:{value}", quoted(&name)))
        .collect();
    let answers = chosen.iter();
    let answers =
        answers.map(|(question, answer)| format!("{}:{}", quoted(question), quoted(answer)));
    members.push(format!(
        "\"answers\":{{{}}}",
        answers.collect::<Vec<_>>().join(",")
    ));
    format!("{{{}}}", members.join(","))
}

/// What the CLI suggests to allow for good, for this session only; the tool as a whole if it
/// suggests nothing.
fn for_the_session(request: &RequestHandle) -> String {
    let suggested = list(
        request
            .pointer("/permission_suggestions")
            .unwrap_or_default(),
    );
    if suggested.is_empty() {
        return format!(
            "[{{\"type\":\"addRules\",\"rules\":[{{\"toolName\":{}}}],\"behavior\":\"allow\",\
             \"destination\":\"session\"}}]",
            quoted(&request.tool_name().unwrap_or_default())
        );
    }
    let updates = suggested.into_iter().map(|update| {
        let members = object(update).into_iter().map(|(name, value)| {
            let value = if name == "destination" {
                "\"session\""
            } else {
                value
            };
            format!("{}:{value}", quoted(&name))
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    });
    format!("[{}]", updates.collect::<Vec<_>>().join(","))
}

/// What changes to the permissions allow, in words.
fn allowed_by(updates: &str) -> String {
    let mut words = Vec::new();
    for update in list(updates) {
        for rule in list(value(update, "/rules").unwrap_or_default()) {
            let tool = text(rule, "/toolName").unwrap_or_default();
            words.push(match text(rule, "/ruleContent") {
                Some(content) => format!("{tool}({content})"),
                None => tool,
            });
        }
        for directory in list(value(update, "/directories").unwrap_or_default()) {
            let directory = towline::protocol::json::string(directory).unwrap_or_default();
            words.push(format!("directory {directory}"));
        }
        words.extend(text(update, "/mode").map(|mode| format!("mode {mode}")));
    }
    words.join(", ")
}

/// An answer that comes too late is no failure.
fn answered(done: Result<(), towline::Error>) -> Result<(), Failure> {
    match done {
        Err(towline::Error::Local(LocalError::Withdrawn | LocalError::AlreadyAnswered)) => Ok(()),
        Err(towline::Error::Closed) => Ok(()),
        done => Ok(done?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_labels_or_words() {
        let choice = |several| Choice {
            question: "Which?".to_owned(),
            labels: vec!["red".to_owned(), "blue".to_owned()],
            several,
        };
        assert_eq!(choice(false).chosen("2"), "blue");
        assert_eq!(choice(false).chosen("3"), "3");
        assert_eq!(choice(false).chosen("1 2"), "1 2");
        assert_eq!(choice(true).chosen("1, 2"), "red, blue");
        assert_eq!(choice(true).chosen("neither"), "neither");
        let input = with_answers(
            r#"{"questions":[],"answers":null}"#,
            &[("a\"".into(), "b".into())],
        );
        assert_eq!(input, r#"{"questions":[],"answers":{"a\"":"b"}}"#);
    }
}
