use towline_protocol::json;
use towline_protocol::mcp::{Bridge, CallResult, Forward, Received, Server, Tool};

/// Any JSON-RPC: no panic, every request with an id gets exactly one response.
pub fn mcp(data: &[u8]) {
    let mut server = Server::new("s", "1");
    server
        .add_tool(Tool::new("t", "d", r#"{"type":"object"}"#))
        .expect("a good tool");
    let mut bridge = Bridge::new();
    let text = String::from_utf8_lossy(data);
    let valid = |text: &str| {
        assert!(!text.contains('\n'));
        json::validate(text).expect("JSON");
    };
    for message in text.split('\n') {
        match server.receive(message) {
            Received::Reply(reply) => valid(&reply),
            Received::Accepted(ack)
            | Received::Cancelled { ack, .. }
            | Received::Response { ack, .. } => {
                valid(ack);
            }
            Received::Call(call) => {
                let result = match message.len() % 3 {
                    0 => CallResult::text(message),
                    1 => CallResult::error(message),
                    _ => CallResult::json(message),
                };
                server.progress(call.id, 0.5, None, Some(message));
                valid(&server.finish(call.id, &result).expect("open"));
                assert!(server.finish(call.id, &result).is_err());
            }
        }
        while let Some(outgoing) = server.poll_outgoing() {
            valid(&outgoing);
        }
        match bridge.receive(message) {
            Forward::Refused(reply) => valid(&reply),
            Forward::Notification(ack) | Forward::Cancelled(_, ack) => valid(ack),
            Forward::Request(_) => {}
        }
        // What is no JSON-RPC is refused.
        let _ = bridge.send(message);
    }
}
