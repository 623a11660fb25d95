//! What to answer: the steering commands in a prompt.

use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::Value;

/// The answer to one request to `/v1/messages`.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    Error { status: u16, message: String },
    Reply(Reply),
}

#[derive(Debug, PartialEq)]
pub(super) struct Reply {
    /// Waits this long before the first byte.
    pub(super) before: Duration,
    pub(super) blocks: Vec<Block>,
    pub(super) stop_reason: String,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    /// A pause after every text delta but the last of a block.
    pub(super) delta_pause: Duration,
    /// After the first delta, waits until this gate is opened.
    pub(super) gate: Option<String>,
    /// Breaks off after the first delta.
    pub(super) cut: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum Block {
    /// The deltas, in order.
    Text(Vec<String>),
    Thinking(String),
    /// The input as JSON text, so that numbers and key order reach the CLI as the prompt has them.
    ToolUse {
        name: String,
        input: String,
    },
}

impl Reply {
    fn text(text: impl Into<String>) -> Self {
        Reply {
            before: Duration::ZERO,
            blocks: vec![Block::Text(vec![text.into()])],
            stop_reason: "end_turn".to_owned(),
            input_tokens: 10,
            output_tokens: 5,
            delta_pause: Duration::ZERO,
            gate: None,
            cut: false,
        }
    }

    fn tools(blocks: Vec<Block>) -> Self {
        Reply {
            blocks,
            stop_reason: "tool_use".to_owned(),
            ..Reply::text("")
        }
    }
}

/// The newest thing the user said, as far as steering is concerned.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Newest {
    /// Its text, without reminders the CLI adds.
    pub(super) text: String,
    /// How many tool results came back since the last plain prompt; above zero, the newest message
    /// carries one.
    pub(super) results: usize,
    /// The text of that prompt.
    pub(super) prompt: String,
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

/// The text of a message, without system reminders.
fn visible_text(message: &Value) -> String {
    if let Some(text) = message["content"].as_str() {
        return text.to_owned();
    }
    let texts: Vec<&str> = blocks(message)
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .filter(|text| !is_reminder(text))
        .collect();
    texts.join("\n")
}

fn is_reminder(text: &str) -> bool {
    text.trim_start().starts_with("<system-reminder>")
}

fn only_reminders(message: &Value) -> bool {
    message["content"].is_array()
        && blocks(message).all(|block| block["text"].as_str().is_some_and(is_reminder))
}

pub(super) fn newest(body: &Value) -> Newest {
    let mut newest: Option<Newest> = None;
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    for message in messages.iter().rev() {
        if message["role"] != "user" || only_reminders(message) {
            continue;
        }
        let text = visible_text(message);
        let results = blocks(message)
            .filter(|block| block["type"] == "tool_result")
            .count();
        let found = newest.get_or_insert_with(|| Newest {
            text: text.clone(),
            prompt: text.clone(),
            results: 0,
        });
        if results == 0 && !text.is_empty() {
            found.prompt = text;
            break;
        }
        found.results += results;
        if found.results == 0 {
            break;
        }
    }
    newest.unwrap_or_default()
}

const COMMANDS: [&str; 14] = [
    "TOOL",
    "TOOLS",
    "CHAIN",
    "STRUCTURED",
    "SLEEP",
    "BIG",
    "DELTAS",
    "THINK",
    "USAGE",
    "ERROR",
    "STOP",
    "GATE",
    "CUT",
    "TEXT",
];

/// The last line that is a command, as its name and arguments.
fn command(text: &str) -> Option<(&str, &str)> {
    text.lines().rev().find_map(|line| {
        let line = line.trim();
        let (name, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let known = COMMANDS.contains(&name) && (!arguments.is_empty() || name == "CUT");
        known.then_some((name, arguments.trim()))
    })
}

/// Decides on the answer. `failed_before` counts a failure of that text and returns how many there
/// were earlier.
pub(super) fn answer(body: &Value, failed_before: impl FnMut(&str) -> u32) -> Answer {
    let newest = newest(body);
    let steering = if newest.results > 0 {
        command(&newest.prompt).filter(|(name, _)| *name == "CHAIN")
    } else {
        command(&newest.text)
    };
    let plain = || {
        if newest.results > 0 {
            Reply::text("done")
        } else {
            Reply::text(format!("echo: {}", last_characters(&newest.text, 200)))
        }
    };
    let Some((name, arguments)) = steering else {
        return Answer::Reply(plain());
    };
    obey(name, arguments, &newest, plain, failed_before).unwrap_or_else(|problem| Answer::Error {
        status: 400,
        message: format!("steering line `{name} {arguments}`: {problem}"),
    })
}

fn last_characters(text: &str, count: usize) -> &str {
    match text.char_indices().rev().nth(count.saturating_sub(1)) {
        Some((at, _)) => &text[at..],
        None => text,
    }
}

fn obey(
    name: &str,
    arguments: &str,
    newest: &Newest,
    plain: impl Fn() -> Reply,
    mut failed_before: impl FnMut(&str) -> u32,
) -> Result<Answer, String> {
    let mut words = arguments.split_whitespace();
    let mut fails_now = |limit: Option<&str>| -> Result<bool, String> {
        match limit {
            None => Ok(true),
            Some(limit) => Ok(failed_before(&newest.text) < number(limit)?),
        }
    };
    let reply = match name {
        "TOOL" => {
            let (tool, input) = arguments
                .split_once(' ')
                .ok_or("expected a tool's name and its input")?;
            let call = tool_use(tool, input)?;
            Reply::tools(vec![Block::Text(vec!["calling".to_owned()]), call])
        }
        "TOOLS" => Reply::tools(calls(arguments)?),
        "CHAIN" => {
            let mut calls = calls(arguments)?;
            if newest.results < calls.len() {
                Reply::tools(vec![calls.swap_remove(newest.results)])
            } else {
                plain()
            }
        }
        "STRUCTURED" => Reply::tools(vec![tool_use("StructuredOutput", arguments)?]),
        "SLEEP" => Reply {
            before: seconds(arguments)?,
            ..Reply::text("slept")
        },
        "BIG" => Reply::text("x".repeat(1024 * number(arguments)? as usize)),
        "DELTAS" => {
            let count: u32 = number(words.next().unwrap_or_default())?;
            let delta_pause = words.next().map_or(Ok(Duration::ZERO), seconds)?;
            Reply {
                blocks: vec![Block::Text(vec!["tok ".to_owned(); count as usize])],
                delta_pause,
                ..Reply::text("")
            }
        }
        "THINK" => Reply {
            blocks: vec![
                Block::Thinking(arguments.to_owned()),
                Block::Text(vec!["thought".to_owned()]),
            ],
            ..Reply::text("")
        },
        "USAGE" => Reply {
            input_tokens: number(words.next().unwrap_or_default())?.into(),
            output_tokens: number(words.next().unwrap_or_default())?.into(),
            ..plain()
        },
        "STOP" => Reply {
            stop_reason: arguments.to_owned(),
            ..plain()
        },
        "TEXT" => Reply::text(arguments),
        "GATE" => Reply {
            blocks: vec![Block::Text(vec!["before ".to_owned(), "after".to_owned()])],
            gate: Some(arguments.to_owned()),
            ..Reply::text("")
        },
        "CUT" => {
            if fails_now(words.next())? {
                Reply {
                    blocks: vec![Block::Text(vec!["cut ".to_owned(), "off".to_owned()])],
                    cut: true,
                    ..Reply::text("")
                }
            } else {
                plain()
            }
        }
        "ERROR" => {
            let status: u32 = number(words.next().unwrap_or_default())?;
            let status = u16::try_from(status)
                .ok()
                .filter(|status| (400..600).contains(status))
                .ok_or("expected a status from 400 to 599")?;
            if fails_now(words.next())? {
                return Ok(Answer::Error {
                    status,
                    message: "scripted failure".to_owned(),
                });
            }
            plain()
        }
        other => return Err(format!("unknown command {other}")),
    };
    Ok(Answer::Reply(reply))
}

fn number(word: &str) -> Result<u32, String> {
    word.parse()
        .map_err(|_| format!("expected a whole number, found `{word}`"))
}

fn seconds(word: &str) -> Result<Duration, String> {
    word.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| format!("expected a number of seconds, found `{word}`"))
}

fn tool_use(name: &str, input: &str) -> Result<Block, String> {
    let raw: Box<RawValue> = serde_json::from_str(input).map_err(|error| error.to_string())?;
    if !raw.get().starts_with('{') {
        return Err("the input of a tool is a JSON object".to_owned());
    }
    Ok(Block::ToolUse {
        name: name.to_owned(),
        input: raw.get().to_owned(),
    })
}

/// `[[name, input], …]`
fn calls(list: &str) -> Result<Vec<Block>, String> {
    let calls: Vec<(String, Box<RawValue>)> =
        serde_json::from_str(list).map_err(|error| error.to_string())?;
    calls
        .iter()
        .map(|(name, input)| tool_use(name, input.get()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn to(messages: Value) -> Answer {
        answer(&json!({ "messages": messages }), |_| 0)
    }

    fn to_text(text: &str) -> Answer {
        to(json!([{"role": "user", "content": text}]))
    }

    fn reply(answer: Answer) -> Reply {
        match answer {
            Answer::Reply(reply) => reply,
            error => panic!("{error:?}"),
        }
    }

    fn tool(name: &str, input: &str) -> Block {
        Block::ToolUse {
            name: name.into(),
            input: input.into(),
        }
    }

    #[test]
    fn plain_text_is_echoed_without_reminders() {
        let answer = to(json!([{"role": "user", "content": [
            {"type": "text", "text": "<system-reminder>TOOL Bash {}</system-reminder>"},
            {"type": "text", "text": "hello"}]}]));
        assert_eq!(reply(answer), Reply::text("echo: hello"));
        let long = "é".repeat(300);
        assert_eq!(
            reply(to_text(&long)),
            Reply::text(format!("echo: {}", "é".repeat(200)))
        );
    }

    #[test]
    fn a_message_of_reminders_alone_does_not_hide_the_prompt() {
        let answer = to(json!([
            {"role": "user", "content": "STOP refusal"},
            {"role": "user", "content": [{"type": "text", "text": "<system-reminder>x"}]}]));
        assert_eq!(reply(answer).stop_reason, "refusal");
    }

    #[test]
    fn the_last_command_wins_wherever_it_stands() {
        let answer = reply(to_text(
            "BIG 9\nplease\n  TOOL Bash {\"command\": \"ls\", \"a\": 1.50}\nthanks",
        ));
        assert_eq!(
            answer.blocks,
            [
                Block::Text(vec!["calling".into()]),
                tool("Bash", r#"{"command": "ls", "a": 1.50}"#)
            ]
        );
        assert_eq!(answer.stop_reason, "tool_use");
    }

    #[test]
    fn words_that_only_begin_like_a_command_are_text() {
        assert_eq!(reply(to_text("TOOLBOX x")), Reply::text("echo: TOOLBOX x"));
        assert_eq!(reply(to_text("GATE")), Reply::text("echo: GATE"));
    }

    #[test]
    fn after_a_tool_result_the_turn_ends_unless_a_chain_goes_on() {
        let history = |prompt: &str, rounds: usize| {
            let mut messages = vec![json!({"role": "user", "content": prompt})];
            for _ in 0..rounds {
                messages.push(json!({"role": "assistant", "content": []}));
                messages.push(json!({"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t", "content": "x"}]}));
            }
            reply(to(Value::Array(messages)))
        };
        assert_eq!(history("TOOL Bash {}", 1), Reply::text("done"));
        let chain = r#"CHAIN [["A", {}], ["B", {"x":1}]]"#;
        assert_eq!(history(chain, 0).blocks, [tool("A", "{}")]);
        assert_eq!(history(chain, 1).blocks, [tool("B", r#"{"x":1}"#)]);
        assert_eq!(history(chain, 2), Reply::text("done"));
    }

    #[test]
    fn a_text_beside_a_tool_result_does_not_steer() {
        let answer = to(json!([
            {"role": "user", "content": "TOOL Bash {}"},
            {"role": "assistant", "content": []},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "x"},
                {"type": "text", "text": "BIG 5"}]}]));
        assert_eq!(reply(answer), Reply::text("done"));
    }

    #[test]
    fn a_limited_failure_heals_for_that_text() {
        let mut count = 0;
        let body = json!({"messages": [{"role": "user", "content": "ERROR 529 2"}]});
        let mut next = || {
            answer(&body, |text| {
                assert_eq!(text, "ERROR 529 2");
                count += 1;
                count - 1
            })
        };
        for _ in 0..2 {
            assert!(matches!(next(), Answer::Error { status: 529, .. }));
        }
        assert!(matches!(next(), Answer::Reply(_)));
        assert!(reply(to_text("CUT")).cut);
        assert!(!reply(to_text("CUT 0")).cut);
    }

    #[test]
    fn every_command_has_its_effect() {
        assert_eq!(
            reply(to_text("SLEEP 0.5")).before,
            Duration::from_millis(500)
        );
        assert_eq!(
            reply(to_text("BIG 2")).blocks,
            [Block::Text(vec!["x".repeat(2048)])]
        );
        let deltas = reply(to_text("DELTAS 3 0.1"));
        assert_eq!(deltas.blocks, [Block::Text(vec!["tok ".into(); 3])]);
        assert_eq!(deltas.delta_pause, Duration::from_millis(100));
        assert_eq!(
            reply(to_text("THINK deep")).blocks[0],
            Block::Thinking("deep".into())
        );
        let usage = reply(to_text("USAGE 7 8"));
        assert_eq!((usage.input_tokens, usage.output_tokens), (7, 8));
        assert_eq!(reply(to_text("STOP max_tokens")).stop_reason, "max_tokens");
        assert_eq!(
            reply(to_text("TEXT exactly this")),
            Reply::text("exactly this")
        );
        assert_eq!(reply(to_text("GATE door")).gate.as_deref(), Some("door"));
        assert_eq!(
            reply(to_text(r#"STRUCTURED {"a":1}"#)).blocks,
            [tool("StructuredOutput", r#"{"a":1}"#)]
        );
        assert_eq!(
            reply(to_text(r#"TOOLS [["A", {}], ["B", {}]]"#)).blocks,
            [tool("A", "{}"), tool("B", "{}")]
        );
    }

    #[test]
    fn a_malformed_command_is_answered_with_what_is_wrong() {
        for text in [
            "TOOL Bash",
            "TOOL Bash {",
            "TOOL Bash []",
            "TOOLS {}",
            "CHAIN [[1, {}]]",
            "SLEEP soon",
            "SLEEP -1",
            "BIG x",
            "DELTAS x",
            "USAGE 1",
            "ERROR x",
            "ERROR 200",
        ] {
            match to_text(text) {
                Answer::Error {
                    status: 400,
                    message,
                } => assert!(message.contains(text)),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_body_that_is_no_conversation_is_echoed_as_empty() {
        for body in [
            json!(null),
            json!({}),
            json!({"messages": 3}),
            json!({"messages": [1]}),
        ] {
            assert_eq!(answer(&body, |_| 0), Answer::Reply(Reply::text("echo: ")));
        }
    }
}
