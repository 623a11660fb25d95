//! The scripted API as its clients see it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use towline_testkit::ScriptedApi;

const SOON: Duration = Duration::from_secs(10);

struct Client {
    stream: BufReader<TcpStream>,
}

struct Response {
    status: u16,
    headers: String,
    body: String,
    /// Whether the body came in full.
    whole: bool,
}

impl Response {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of all events, in order.
    fn events(&self) -> Vec<Value> {
        self.body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    fn streamed_text(&self) -> String {
        self.events()
            .iter()
            .filter_map(|event| event["delta"]["text"].as_str().map(str::to_owned))
            .collect()
    }
}

impl Client {
    fn new(api: &ScriptedApi) -> Self {
        let address = api.url();
        let stream = TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        Client {
            stream: BufReader::new(stream),
        }
    }

    fn send(&mut self, method: &str, path: &str, body: &str) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
    }

    fn send_prompt(&mut self, text: &str, stream: bool) {
        let body = json!({"model": "m", "stream": stream,
            "messages": [{"role": "user", "content": text}]});
        self.send("POST", "/v1/messages?beta=true", &body.to_string());
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.stream.read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_owned())
    }

    fn response(&mut self) -> Response {
        let start = self.line().expect("a status line");
        let status = start.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = String::new();
        loop {
            let line = self.line().expect("the end of the head");
            if line.is_empty() {
                break;
            }
            headers += &line;
            headers.push('\n');
        }
        let (body, whole) = if headers.contains("transfer-encoding: chunked") {
            self.chunks()
        } else {
            let length = headers.split("content-length: ").nth(1).unwrap();
            let length: u64 = length.lines().next().unwrap().parse().unwrap();
            let mut body = String::new();
            (&mut self.stream)
                .take(length)
                .read_to_string(&mut body)
                .unwrap();
            let whole = body.len() as u64 == length;
            (body, whole)
        };
        Response {
            status,
            headers,
            body,
            whole,
        }
    }

    fn chunks(&mut self) -> (String, bool) {
        let mut body = String::new();
        while let Some(length) = self.line() {
            let length = u64::from_str_radix(&length, 16).unwrap();
            (&mut self.stream)
                .take(length)
                .read_to_string(&mut body)
                .unwrap();
            assert_eq!(self.line().as_deref(), Some(""));
            if length == 0 {
                return (body, true);
            }
        }
        (body, false)
    }

    fn ask(&mut self, text: &str) -> Response {
        self.send_prompt(text, true);
        self.response()
    }
}

#[test]
fn one_connection_serves_every_method() {
    let api = ScriptedApi::start().unwrap();
    let mut client = Client::new(&api);
    client.send("HEAD", "/", "");
    assert_eq!(client.response().status, 200);
    client.send("GET", "/v1/models", "");
    assert_eq!(client.response().json(), json!({"data": []}));
    client.send("POST", "/v1/messages/count_tokens", "{}");
    assert_eq!(client.response().json(), json!({"input_tokens": 10}));
    client.send("POST", "/elsewhere", "{}");
    assert_eq!(client.response().json()["error"]["type"], "not_found_error");
    client.send("DELETE", "/", "");
    assert_eq!(client.response().status, 405);
    assert_eq!(client.ask("hello").streamed_text(), "echo: hello");
    let paths: Vec<String> = api
        .requests()
        .into_iter()
        .map(|request| request.path)
        .collect();
    assert_eq!(
        paths,
        [
            "/",
            "/v1/models",
            "/v1/messages/count_tokens",
            "/elsewhere",
            "/",
            "/v1/messages?beta=true"
        ]
    );
}

#[test]
fn a_stream_has_the_events_of_the_messages_api() {
    let api = ScriptedApi::start().unwrap();
    let response = Client::new(&api).ask(r#"TOOL Bash {"command": "ls"}"#);
    assert!(response.headers.contains("content-type: text/event-stream"));
    let kinds: Vec<String> = response
        .events()
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    let events = response.events();
    assert_eq!(events[4]["content_block"]["name"], "Bash");
    assert_eq!(events[5]["delta"]["partial_json"], r#"{"command": "ls"}"#);
    assert_eq!(events[7]["delta"]["stop_reason"], "tool_use");
}

#[test]
fn without_a_stream_the_reply_is_one_document() {
    let api = ScriptedApi::start().unwrap();
    let mut client = Client::new(&api);
    client.send_prompt(r#"TOOLS [["A", {"x": 1}], ["B", {}]]"#, false);
    let body = client.response().json();
    assert_eq!(body["content"][0]["input"], json!({"x": 1}));
    assert_eq!(body["content"][1]["name"], "B");
    assert_ne!(body["content"][0]["id"], body["content"][1]["id"]);
    assert_eq!(body["stop_reason"], "tool_use");
}

#[test]
fn a_limited_error_heals_on_the_next_try() {
    let api = ScriptedApi::start().unwrap();
    let mut client = Client::new(&api);
    for _ in 0..2 {
        let response = client.ask("ERROR 529 2");
        assert_eq!(response.status, 529);
        assert_eq!(response.json()["error"]["type"], "overloaded_error");
    }
    assert_eq!(
        client.ask("ERROR 529 2").streamed_text(),
        "echo: ERROR 529 2"
    );
    // Another prompt has a count of its own.
    assert_eq!(client.ask("ERROR 500 1").status, 500);
}

#[test]
fn a_gated_reply_begins_and_goes_on_when_it_is_released() {
    let api = ScriptedApi::start().unwrap();
    let mut client = Client::new(&api);
    client.send_prompt("GATE door", true);
    assert!(api.wait_at_gate("door", SOON));
    loop {
        let line = client.line().expect("the reply has begun");
        if line.contains("before ") {
            break;
        }
        assert!(!line.contains("after"));
    }
    api.release("another");
    assert!(api.wait_at_gate("door", Duration::ZERO), "still there");
    api.release("door");
    while !client.line().expect("the rest").contains("after") {}
    // The gate stays open.
    assert_eq!(
        Client::new(&api).ask("GATE door").streamed_text(),
        "before after"
    );
}

#[test]
fn a_cut_reply_ends_in_the_middle() {
    let api = ScriptedApi::start().unwrap();
    let mut client = Client::new(&api);
    let cut = client.ask("CUT 2");
    assert!(!cut.whole);
    assert_eq!(cut.streamed_text(), "cut ");
    let mut client = Client::new(&api);
    client.send_prompt("CUT 2", false);
    assert!(!client.response().whole);
    let healed = Client::new(&api).ask("CUT 2");
    assert!(healed.whole);
    assert_eq!(healed.streamed_text(), "echo: CUT 2");
}

#[test]
fn requests_can_be_waited_for() {
    let api = ScriptedApi::start().unwrap();
    assert!(api.wait_for_request(|_| true, Duration::ZERO).is_none());
    std::thread::scope(|scope| {
        let waiting =
            scope.spawn(|| api.wait_for_request(|request| request.user_text() == "second", SOON));
        let mut client = Client::new(&api);
        client.ask("first");
        client.ask("second");
        let request = waiting.join().unwrap().expect("it came");
        assert!(request.is_message());
        assert_eq!(request.body["messages"][0]["content"], "second");
        assert_eq!(request.header("host"), Some("x"));
    });
}

#[test]
fn the_client_learns_what_is_wrong_with_its_request() {
    let api = ScriptedApi::start().unwrap();
    let mut client = Client::new(&api);
    client
        .stream
        .get_mut()
        .write_all(b"nonsense\r\n\r\n")
        .unwrap();
    let response = client.response();
    assert_eq!(response.status, 400);
    assert_eq!(
        response.json()["error"]["message"],
        "malformed request line"
    );
    assert_eq!(client.line(), None, "and the connection ends");
}

/// Threads of this process with the API's names.
fn api_threads() -> usize {
    std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with("scripted-api"))
        .count()
}

/// Runs in a process of its own, as other tests of this file have such threads too.
#[test]
fn dropping_it_ends_every_thread_whatever_it_waits_for() {
    const INNER: &str = "TESTKIT_DROP_INNER";
    if std::env::var_os(INNER).is_none() {
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "dropping_it_ends_every_thread_whatever_it_waits_for",
            ])
            .env(INNER, "1")
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    let api = ScriptedApi::start().unwrap();
    let mut gated = Client::new(&api);
    gated.send_prompt("GATE never", true);
    let mut sleeping = Client::new(&api);
    sleeping.send_prompt("SLEEP 600", true);
    let mut slow = Client::new(&api);
    slow.send_prompt("DELTAS 9 600", true);
    let mut idle = Client::new(&api);
    idle.ask("hello");
    assert!(api.wait_at_gate("never", SOON));
    for prompt in ["SLEEP 600", "DELTAS 9 600"] {
        assert!(api
            .wait_for_request(|request| request.user_text() == prompt, SOON)
            .is_some());
    }
    assert_eq!(api_threads(), 5);
    let start = Instant::now();
    drop(api);
    assert!(start.elapsed() < SOON);
    assert_eq!(api_threads(), 0);
    assert_eq!(idle.line(), None, "its connection is closed");
}
