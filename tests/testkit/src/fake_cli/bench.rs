//! Built-in scripts for benchmarks: on one thread, with no JSON parsed between a request and the next.

use std::io::Write;
use std::time::Instant;

use super::{auto_initialize_reply, control_response, STDIN, STDOUT};
use crate::bytes::find;
use crate::json::{object, Json};
use crate::sys;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
/// Streamed lines are gathered up to this size.
const WRITE: usize = 64 * 1024;

/// The most lines of a mirrored transcript before one request.
const MOST_LINES: u64 = 64;

/// More would not fit the digits of a line.
const MAX_COUNT: u64 = 10_u64.pow(DIGITS as u32);

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Stream,
    Permission,
    Hook,
    Tool,
}

fn parse(mode: &str) -> Option<(Kind, u64)> {
    let (kind, count) = mode.split_once(':')?;
    let kind = match kind {
        "stream" => Kind::Stream,
        "permission" => Kind::Permission,
        "hook" => Kind::Hook,
        "tool" => Kind::Tool,
        _ => return None,
    };
    let count = count.parse().ok().filter(|count| *count < MAX_COUNT)?;
    Some((kind, count))
}

/// Serves user messages until stdin ends.
pub(super) fn run(mode: &str) -> Result<i32, String> {
    let (kind, count) = parse(mode).ok_or_else(|| {
        format!("FAKE_CLI_BENCH={mode}: expected stream:N, permission:N, hook:N or tool:N")
    })?;
    let mut bench = Bench {
        kind,
        count,
        mirrored: mirrored()?,
        input: Lines::default(),
        template: Vec::new(),
        prompts: 0,
        requests: 0,
    };
    bench.serve().map_err(|error| error.to_string())?;
    Ok(0)
}

/// What is written to a mirrored transcript; nothing without `FAKE_CLI_BENCH_MIRROR`.
fn mirrored() -> Result<Option<Mirrored>, String> {
    let Ok(text) = std::env::var("FAKE_CLI_BENCH_MIRROR") else {
        return Ok(None);
    };
    let (count, by_clock) = match text.strip_suffix("/s") {
        Some(count) => (count, true),
        None => (text.as_str(), false),
    };
    let count: u64 = count.parse().map_err(|_| {
        format!("FAKE_CLI_BENCH_MIRROR={text}: expected a number of entries, or a number and /s")
    })?;
    let entry = object([
        (
            "parentUuid",
            Json::string(&format!("00000000-0000-4000-8000-{ID}")),
        ),
        ("isSidechain", Json::Bool(false)),
        ("sessionId", Json::string(SESSION)),
        ("type", Json::string("progress")),
        ("data", Json::string(&"some words ".repeat(50))),
        (
            "uuid",
            Json::string(&format!("00000000-0000-4000-8001-{ID}")),
        ),
        ("timestamp", Json::string("2026-01-02T03:04:05.000Z")),
    ]);
    let entries = if by_clock { 1 } else { count };
    let file = format!("/bench/projects/-bench/{SESSION}.jsonl");
    let line = object([
        ("type", Json::string("transcript_mirror")),
        ("filePath", Json::string(&file)),
        ("entries", Json::Array(vec![entry; entries as usize])),
    ]);
    Ok(Some(Mirrored {
        parts: cut(&with_newline(&line)),
        written: 0,
        pace: by_clock.then(|| Pace {
            per_second: count as f64,
            since: Instant::now(),
            lines: 0,
        }),
    }))
}

/// Lines of a transcript that is mirrored, each entry with a number of its own.
struct Mirrored {
    /// The line, cut where numbers stand.
    parts: Vec<Vec<u8>>,
    written: u64,
    /// `None`: a line for each request.
    pace: Option<Pace>,
}

/// How many lines a second; counted since `since`.
struct Pace {
    per_second: f64,
    since: Instant,
    lines: u64,
}

impl Mirrored {
    /// A turn begins.
    fn begin(&mut self) {
        if let Some(pace) = &mut self.pace {
            pace.since = Instant::now();
            pace.lines = 0;
        }
    }

    /// Appends what is due before the next request.
    fn append(&mut self, out: &mut Vec<u8>) {
        let due = match &mut self.pace {
            None => 1,
            Some(pace) => {
                let all = (pace.since.elapsed().as_secs_f64() * pace.per_second) as u64;
                let due = (all - pace.lines).min(MOST_LINES);
                pace.lines += due;
                due
            }
        };
        for _ in 0..due {
            for (place, part) in self.parts.iter().enumerate() {
                if place > 0 {
                    // An entry has two: its parent's and its own.
                    let number = self.written + (place as u64 - 1) / 2;
                    // Writing to a vector does not fail.
                    let _ = write!(out, "{number:012}");
                }
                out.extend_from_slice(part);
            }
            self.written += (self.parts.len() as u64 - 1) / 2;
        }
    }
}

/// Lines of stdin.
#[derive(Default)]
struct Lines {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Lines {
    /// The next line without its end; `None` when stdin has ended.
    fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        let mut searched = self.start;
        loop {
            if let Some(length) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let line = self.start..searched + length;
                self.start = line.end + 1;
                return Ok(Some(&self.buffer[line]));
            }
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            searched = self.end;
            if self.buffer.len() - self.end < WRITE {
                self.buffer.resize(self.end + WRITE, 0);
            }
            match sys::read(STDIN, &mut self.buffer[self.end..])? {
                0 => return Ok(None),
                length => self.end += length,
            }
        }
    }
}

struct Bench {
    kind: Kind,
    count: u64,
    /// What a CLI with a mirrored transcript writes before requests.
    mirrored: Option<Mirrored>,
    input: Lines,
    /// The request without its id: what comes before it and after it.
    template: Vec<Vec<u8>>,
    /// User messages that came while a turn was running.
    prompts: u64,
    /// How many requests have been made, for their ids.
    requests: u64,
}

/// What became of a wait for an answer.
#[derive(PartialEq)]
enum Waited {
    Answered,
    Ended,
}

impl Bench {
    fn serve(&mut self) -> std::io::Result<()> {
        loop {
            if self.prompts == 0 {
                let Some(line) = self.input.next()? else {
                    return Ok(());
                };
                let line = line.to_vec();
                self.other(&line)?;
                continue;
            }
            self.prompts -= 1;
            let waited = match self.kind {
                Kind::Stream => self.stream()?,
                _ => self.ask()?,
            };
            if waited == Waited::Ended {
                return Ok(());
            }
            sys::write_all(STDOUT, &result(self.count))?;
        }
    }

    fn stream(&mut self) -> std::io::Result<Waited> {
        let mut out = Vec::with_capacity(WRITE + 512);
        let events = StreamEvents::new();
        for number in 0..self.count {
            events.append(number, &mut out);
            if out.len() >= WRITE {
                sys::write_all(STDOUT, &out)?;
                out.clear();
            }
        }
        sys::write_all(STDOUT, &out)?;
        Ok(Waited::Answered)
    }

    fn ask(&mut self) -> std::io::Result<Waited> {
        let mut request = Vec::new();
        if let Some(mirrored) = &mut self.mirrored {
            mirrored.begin();
        }
        for _ in 0..self.count {
            self.requests += 1;
            let id = format!("bench-{:016}", self.requests);
            request.clear();
            if let Some(mirrored) = &mut self.mirrored {
                mirrored.append(&mut request);
            }
            for (place, part) in self.template.iter().enumerate() {
                if place > 0 {
                    request.extend_from_slice(id.as_bytes());
                }
                request.extend_from_slice(part);
            }
            sys::write_all(STDOUT, &request)?;
            if self.wait_for(&id)? == Waited::Ended {
                return Ok(Waited::Ended);
            }
        }
        Ok(Waited::Answered)
    }

    fn wait_for(&mut self, id: &str) -> std::io::Result<Waited> {
        loop {
            let Some(line) = self.input.next()? else {
                return Ok(Waited::Ended);
            };
            let answers =
                find(line, b"control_response").is_some() && find(line, id.as_bytes()).is_some();
            if answers {
                return Ok(Waited::Answered);
            }
            let line = line.to_vec();
            self.other(&line)?;
        }
    }

    /// A line that is no answer to a request of the loop.
    fn other(&mut self, line: &[u8]) -> std::io::Result<()> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let line =
            Json::parse(line).map_err(|error| invalid(&format!("from the host: {error}")))?;
        let kind = line.at(&["type"]);
        if kind.is("user") {
            self.prompts += 1;
        } else if kind.is("control_request") {
            let id = line.at(&["request_id"]).clone();
            let initialize = line.at(&["request", "subtype"]).is("initialize");
            let reply = if initialize {
                auto_initialize_reply(id)
            } else {
                control_response("success", id, "response", object([]))
            };
            sys::write_all(STDOUT, &with_newline(&reply))?;
            if initialize {
                self.template = self.prepare(line.at(&["request"]))?;
            }
        }
        Ok(())
    }

    /// The request of the loop, cut where its id stands.
    fn prepare(&mut self, initialize: &Json) -> std::io::Result<Vec<Vec<u8>>> {
        let request = match self.kind {
            Kind::Stream => return Ok(Vec::new()),
            Kind::Permission => permission(),
            Kind::Hook => hook(initialize)?,
            Kind::Tool => self.tool(initialize)?,
        };
        Ok(cut(&with_newline(&control_request(ID, request))))
    }

    /// The handshake with the first in-process server, then a call of its first tool.
    fn tool(&mut self, initialize: &Json) -> std::io::Result<Json> {
        let server = server_name(initialize)
            .ok_or_else(|| invalid("the host announces no in-process MCP server"))?;
        let hello = object([
            ("protocolVersion", Json::string("2025-11-25")),
            ("capabilities", object([])),
            (
                "clientInfo",
                object([
                    ("name", Json::string("fake-cli")),
                    ("version", Json::string("1")),
                ]),
            ),
        ]);
        self.exchange(&server, "initialize", Some(hello), Some("0"))?;
        self.exchange(&server, "notifications/initialized", None, None)?;
        let listed = self.exchange(&server, "tools/list", None, Some("1"))?;
        let tool = listed
            .at(&["response", "response", "mcp_response", "result", "tools"])
            .items()
            .first()
            .map(|tool| tool.at(&["name"]).clone())
            .ok_or_else(|| invalid("the in-process MCP server lists no tool"))?;
        let arguments = match std::env::var("FAKE_CLI_BENCH_ARGUMENTS") {
            Ok(text) => Json::parse(text.as_bytes())
                .map_err(|error| invalid(&format!("FAKE_CLI_BENCH_ARGUMENTS: {error}")))?,
            Err(_) => object([]),
        };
        let meta = object([
            ("claudecode/toolUseId", Json::string(&format!("toolu_{ID}"))),
            ("progressToken", Json::Number("2".into())),
        ]);
        let call = object([("name", tool), ("arguments", arguments), ("_meta", meta)]);
        Ok(mcp_message(&server, "tools/call", Some(call), Some("2")))
    }

    fn exchange(
        &mut self,
        server: &Json,
        method: &str,
        params: Option<Json>,
        id: Option<&str>,
    ) -> std::io::Result<Json> {
        let name = format!("bench-{method}");
        let request = control_request(&name, mcp_message(server, method, params, id));
        sys::write_all(STDOUT, &with_newline(&request))?;
        loop {
            let Some(line) = self.input.next()? else {
                return Err(invalid("stdin ended during the MCP handshake"));
            };
            let line = line.to_vec();
            let answer = Json::parse(&line).unwrap_or(Json::Null);
            if answer.at(&["response", "request_id"]).is(&name) {
                return Ok(answer);
            }
            self.other(&line)?;
        }
    }
}

/// Stands in a request where each round puts an id.
const ID: &str = "@ID@";

/// A line in the parts between its ids.
fn cut(line: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let mut rest = line;
    while let Some(at) = find(rest, ID.as_bytes()) {
        parts.push(rest[..at].to_vec());
        rest = &rest[at + ID.len()..];
    }
    parts.push(rest.to_vec());
    parts
}

fn invalid(what: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, what)
}

fn with_newline(value: &Json) -> Vec<u8> {
    let mut line = value.compact();
    line.push(b'\n');
    line
}

fn control_request(id: &str, request: Json) -> Json {
    object([
        ("type", Json::string("control_request")),
        ("request_id", Json::string(id)),
        ("request", request),
    ])
}

fn command() -> Json {
    object([
        ("command", Json::string("echo hi > x.txt && cat x.txt")),
        ("description", Json::string("write and show a file")),
    ])
}

fn permission() -> Json {
    object([
        ("subtype", Json::string("can_use_tool")),
        ("tool_name", Json::string("Bash")),
        ("display_name", Json::string("Bash")),
        ("input", command()),
        ("tool_use_id", Json::string(&format!("toolu_{ID}"))),
    ])
}

/// A call of the first callback that `initialize` registers.
fn hook(initialize: &Json) -> std::io::Result<Json> {
    let registered = initialize
        .at(&["hooks"])
        .fields()
        .iter()
        .find_map(|(event, matchers)| {
            let callback = matchers
                .items()
                .iter()
                .find_map(|matcher| matcher.at(&["hookCallbackIds"]).items().first())?;
            Some((event.clone(), callback.clone()))
        });
    let (event, callback) = registered.ok_or_else(|| invalid("the host registers no hook"))?;
    let tool_use_id = Json::string(&format!("toolu_{ID}"));
    let input = object([
        ("session_id", Json::string(SESSION)),
        (
            "transcript_path",
            Json::string("/home/user/transcript.jsonl"),
        ),
        ("cwd", Json::string("/home/user")),
        ("permission_mode", Json::string("default")),
        ("hook_event_name", Json::String(event)),
        ("tool_name", Json::string("Bash")),
        ("tool_input", command()),
        ("tool_use_id", tool_use_id.clone()),
    ]);
    Ok(object([
        ("subtype", Json::string("hook_callback")),
        ("callback_id", callback),
        ("input", input),
        ("tool_use_id", tool_use_id),
    ]))
}

fn mcp_message(server: &Json, method: &str, params: Option<Json>, id: Option<&str>) -> Json {
    let mut message = vec![("jsonrpc".into(), Json::string("2.0"))];
    message.push(("method".into(), Json::string(method)));
    message.extend(params.map(|params| (b"params".to_vec(), params)));
    message.extend(id.map(|id| (b"id".to_vec(), Json::Number(id.into()))));
    object([
        ("subtype", Json::string("mcp_message")),
        ("server_name", server.clone()),
        ("message", Json::Object(message)),
    ])
}

/// The first in-process server: named in `initialize`, else in `--mcp-config`.
fn server_name(initialize: &Json) -> Option<Json> {
    if let Some(name) = initialize.at(&["sdkMcpServers"]).items().first() {
        return Some(name.clone());
    }
    let arguments: Vec<String> = std::env::args().collect();
    let after_flag = arguments
        .iter()
        .zip(arguments.iter().skip(1))
        .filter(|(flag, _)| *flag == "--mcp-config")
        .map(|(_, value)| value.as_str());
    let in_one = arguments
        .iter()
        .filter_map(|argument| argument.strip_prefix("--mcp-config="));
    after_flag.chain(in_one).find_map(|config| {
        let config = Json::parse(config.as_bytes()).ok()?;
        let servers = config.at(&["mcpServers"]).fields();
        let in_process = servers
            .iter()
            .find(|(_, server)| server.at(&["type"]).is("sdk"));
        in_process.map(|(name, _)| Json::String(name.clone()))
    })
}

/// Lines of about 300 bytes whose keys stand in four orders; each holds its number twice.
struct StreamEvents {
    /// A line, and where in it the last digits of the two numbers stand.
    templates: [(Vec<u8>, [usize; 2]); 4],
}

impl StreamEvents {
    fn new() -> Self {
        let (a, b, c) = (
            r#""type":"stream_event""#,
            r#""event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"token 000000000000 "}}"#,
            format!(r#""session_id":"{SESSION}""#),
        );
        let (d, e, f) = (
            r#""parent_tool_use_id":null"#,
            r#""uuid":"aaaaaaaa-bbbb-4ccc-8ddd-000000000000""#,
            r#""api_message_id":"msg_778dc95606b94aaeaf3e""#,
        );
        let line = |parts: [&str; 6]| {
            let line = format!("{{{}}}\n", parts.join(",")).into_bytes();
            let ends = [&b"000000000000 "[..], b"000000000000\""]
                .map(|digits| find(&line, digits).map_or(0, |at| at + DIGITS - 1));
            (line, ends)
        };
        StreamEvents {
            templates: [
                line([a, b, &c, d, e, f]),
                line([&c, e, b, f, a, d]),
                line([b, d, a, e, f, &c]),
                line([e, f, d, &c, b, a]),
            ],
        }
    }

    fn append(&self, number: u64, out: &mut Vec<u8>) {
        let (line, ends) = &self.templates[(number % 4) as usize];
        let start = out.len();
        out.extend_from_slice(line);
        for end in ends {
            let mut rest = number;
            let mut at = start + end;
            while rest > 0 {
                out[at] = b'0' + (rest % 10) as u8;
                rest /= 10;
                at -= 1;
            }
        }
    }
}

/// Of each number in a streamed line.
const DIGITS: usize = 12;

fn result(count: u64) -> Vec<u8> {
    format!(
        concat!(
            r#"{{"duration_api_ms":4,"stop_reason":"end_turn","session_id":"{}","total_cost_usd":0.0,"#,
            r#""usage":{{"input_tokens":10,"output_tokens":{}}},"modelUsage":{{}},"permission_denials":[],"#,
            r#""type":"result","subtype":"success","is_error":false,"duration_ms":5,"num_turns":1,"#,
            r#""result":"done","uuid":"aaaaaaaa-bbbb-4ccc-8ddd-ffffffffffff"}}"#,
            "\n"
        ),
        SESSION, count
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_a_kind_and_a_count() {
        assert!(parse("stream:200") == Some((Kind::Stream, 200)));
        assert!(parse("tool:1") == Some((Kind::Tool, 1)));
        for mode in [
            "stream",
            "stream:",
            "stream:x",
            "stream:1000000000000",
            "other:1",
            "",
        ] {
            assert!(parse(mode).is_none(), "{mode}");
        }
    }

    #[test]
    fn streamed_lines_mean_the_same_in_every_order_of_keys() {
        let events = StreamEvents::new();
        let mut starts = Vec::new();
        for number in [0, 1, 2, 3, 999_999_999_999] {
            let mut line = b"before".to_vec();
            events.append(number, &mut line);
            let line = &line[b"before".len()..];
            assert!((280..330).contains(&line.len()), "{}", line.len());
            let value: serde_json::Value = serde_json::from_slice(line).unwrap();
            assert_eq!(value["type"], "stream_event");
            let text = format!("token {number:012} ");
            assert_eq!(value["event"]["delta"]["text"], text);
            let uuid = format!("aaaaaaaa-bbbb-4ccc-8ddd-{number:012}");
            assert_eq!(value["uuid"], uuid);
            assert_eq!(value.as_object().unwrap().len(), 6);
            starts.push(line[..8].to_vec());
        }
        starts.sort();
        starts.dedup();
        assert_eq!(starts.len(), 4);
    }
}
