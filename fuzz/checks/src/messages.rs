use towline_protocol::control::incoming::Incoming;
use towline_protocol::framing::{Frame, Framer, RawMessage};
use towline_protocol::json;

/// Any lines as messages and as requests of a CLI: whatever they are decoded to can be looked at
/// down to its last part, and the line is still there.
pub fn messages(data: &[u8]) {
    let mut framer = Framer::new(1 << 20);
    framer.receive(data);
    framer.receive(b"\n");
    while let Some(frame) = framer.next_frame() {
        let Frame::Line(line) = frame else { continue };
        let bytes = line.as_bytes().to_vec();
        let Ok(message) = RawMessage::scan(line) else {
            continue;
        };
        assert_eq!(message.json().as_bytes(), bytes);
        if let Ok(decoded) = message.decode() {
            assert!(!format!("{decoded:?}").is_empty());
        }
        let request = json::pointer(message.json(), "/request").ok().flatten();
        for object in [Some(message.json()), request].into_iter().flatten() {
            let subtype = json::pointer(object, "/subtype").ok().flatten();
            let subtype = subtype.and_then(json::string).unwrap_or_default();
            if let Ok(decoded) = Incoming::decode(&subtype, object) {
                assert!(!format!("{decoded:?}").is_empty());
            }
        }
    }
}
