//! Small work on byte strings.

pub(crate) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}

pub(crate) fn replace(text: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + by.len());
    let mut rest = text;
    while let Some(at) = find(rest, part) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(by);
        rest = &rest[at + part.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Standard base64; blanks are skipped. `None` when there is anything else.
pub(crate) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v\nYmFy", b"foobar"),
            ("//79", b"\xff\xfe\xfd"),
        ] {
            assert_eq!(decode_base64(text.as_bytes()).as_deref(), Some(bytes));
        }
        assert!(decode_base64(b"?").is_none());
    }

    #[test]
    fn every_part_is_replaced() {
        assert_eq!(replace(b"a$i$i", b"$i", b"10"), b"a1010");
        assert_eq!(replace(b"$j", b"$i", b"1"), b"$j");
    }
}
