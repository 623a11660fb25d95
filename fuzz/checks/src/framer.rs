use towline_protocol::framing::{Frame, Framer, RawMessage};
use towline_protocol::json;

fn frames<'a>(chunks: impl Iterator<Item = &'a [u8]>, limit: usize) -> Vec<Frame> {
    let mut framer = Framer::new(limit);
    let mut found = Vec::new();
    for chunk in chunks {
        framer.receive(chunk);
        while let Some(frame) = framer.next_frame() {
            found.push(frame);
        }
        framer.shrink();
    }
    found.extend(framer.end());
    found
}

/// Any bytes, cut anywhere: the frames are those of the whole, none is longer than the limit, and
/// what the scanner takes for JSON nests as it says.
pub fn framer(data: &[u8]) {
    let Some(([limit, cut], bytes)) = data.split_first_chunk() else {
        return;
    };
    let limit = usize::from(*limit) + 1;
    let cut = usize::from(*cut % 32) + 1;
    let whole = frames(std::iter::once(bytes), limit);
    assert_eq!(frames(bytes.chunks(cut), limit), whole);
    for frame in whole {
        let Frame::Line(line) = frame else { continue };
        assert!(line.len() <= limit);
        assert_eq!(line.as_bytes_with_nul().last(), Some(&0));
        let Ok(message) = RawMessage::scan(line) else {
            continue;
        };
        assert_eq!(json::validate(message.json()), Ok(()));
        json::members(message.json(), |_, value| {
            assert_eq!(json::validate(value), Ok(()));
            if let Some(text) = json::string(value) {
                let mut again = String::new();
                json::push_string(&mut again, &text);
                assert_eq!(json::string(&again).as_deref(), Some(text.as_ref()));
            }
        })
        .expect("validated");
    }
}
