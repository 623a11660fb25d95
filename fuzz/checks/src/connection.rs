use std::collections::BTreeSet;

use towline_protocol::connection::{Answer, Config, Connection, Event, Limits};
use towline_protocol::control::envelope::UserMessage;
use towline_protocol::json;
use towline_protocol::mcp::{Server, Tool};

fn server() -> Server {
    let mut server = Server::new("s", "1");
    server
        .add_tool(Tool::new("t", "d", r#"{"type":"object"}"#))
        .expect("a good tool");
    server
}

/// Any output of a CLI, at any time, among any commands of a host: no panic, every request that is
/// asked is answered or withdrawn in the end, every turn ends, and all that is written is lines of
/// JSON.
pub fn connection(data: &[u8]) {
    let limits = Limits {
        initialize: Some(50),
        control_request: Some(60),
        first_message: Some(40),
        idle: Some(30),
        turn: Some(200),
        handler: Some(35),
    };
    let config = Config {
        line_limit: 4096,
        limits,
        catch_all: data.len() % 2 == 0,
        dialog_kinds: vec!["k".into()],
        ..Config::default()
    };
    let mut connection = Connection::new(config, 0);
    connection.add_server(server());
    connection.add_bridged_server("b");
    let mut turns = BTreeSet::new();
    let mut requests = BTreeSet::new();
    let mut open = BTreeSet::new();
    let mut written = Vec::new();
    let mut now = 0;
    let mut drain = |connection: &mut Connection,
                     open: &mut BTreeSet<_>,
                     turns: &mut BTreeSet<_>,
                     requests: &mut BTreeSet<_>| {
        while let Some(event) = connection.poll_event() {
            match event {
                Event::Request(request) => {
                    open.insert(request.key);
                }
                Event::RequestCancelled { key, .. } => {
                    open.remove(&key);
                }
                Event::TurnEnded { turn, .. } => assert!(turns.remove(&turn), "ended twice"),
                Event::Response { id, .. } => {
                    assert!(requests.remove(&id), "answered twice");
                }
                _ => {}
            }
        }
        let outgoing = connection.outgoing();
        let n = outgoing.len();
        written.extend_from_slice(outgoing);
        connection.sent(n);
    };
    for (step, piece) in data.split(|byte| *byte == 0xff).enumerate() {
        let Some((command, rest)) = piece.split_first() else {
            continue;
        };
        match command % 12 {
            0 => drop(connection.initialize("")),
            1 => {
                let text = String::from_utf8_lossy(rest);
                let mut message = UserMessage::text(text.as_ref());
                message.uuid = Some(format!("u{step}").into());
                turns.extend(connection.send_user(&message));
            }
            2 => requests.extend(connection.request("interrupt", "")),
            3 => {
                now += u64::from(rest.first().copied().unwrap_or(1));
                connection.handle_timeout(now);
            }
            4 => {
                if let Some(key) = open.iter().next().copied() {
                    let text = String::from_utf8_lossy(rest);
                    if connection.respond(key, &Answer::Json(&text)).is_ok() {
                        open.remove(&key);
                    }
                }
            }
            5 => {
                if let Some(key) = open.pop_last() {
                    // Withdrawn meanwhile, perhaps.
                    let _ = connection.respond_safely(key, "fuzzed");
                }
            }
            6 => connection.finish_when_settled(rest.len() % 2 == 0),
            7 => drop(connection.mcp_send("b", &String::from_utf8_lossy(rest))),
            8 => {
                if let Some(id) = requests.iter().next().copied() {
                    connection.cancel_request(id);
                }
            }
            9 => {
                let text = String::from_utf8_lossy(rest);
                turns.extend(connection.send_user_json(&text, &format!("j{step}")));
            }
            _ => {
                connection.receive(rest);
                connection.receive(b"\n");
            }
        }
        drain(&mut connection, &mut open, &mut turns, &mut requests);
        assert!(connection.deadline().is_none_or(|at| at >= now || {
            connection.handle_timeout(now);
            connection.deadline().is_none_or(|at| at > now)
        }));
    }
    connection.output_ended();
    drain(&mut connection, &mut open, &mut turns, &mut requests);
    assert!(turns.is_empty(), "turns left open: {turns:?}");
    assert!(requests.is_empty(), "requests left open: {requests:?}");
    for key in open {
        assert!(!connection.is_request_open(key));
    }
    let written = String::from_utf8(written).expect("UTF-8");
    for line in written.lines() {
        json::validate(line).expect("a line of JSON");
    }
}
