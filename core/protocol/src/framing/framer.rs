//! Lines out of bytes. Results do not depend on how the bytes were chunked.

use bytes::{Buf, Bytes, BytesMut};

/// Read buffers start at this size and double while reads fill them.
const SMALLEST_READ: usize = 4 * 1024;
/// More than a Linux pipe holds, so that one read empties it.
const LARGEST_READ: usize = 64 * 1024;
/// A line above this has its memory for itself.
const LONG_LINE: usize = 1024 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One line without its end, as a cheap slice of the read buffer.
///
/// In memory a NUL byte follows the text, so that a C view of it needs no copy.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Line {
    terminated: Bytes,
}

impl Line {
    /// A line from text of the caller's own.
    pub fn copied_from(text: &[u8]) -> Line {
        let mut bytes = BytesMut::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text);
        bytes.extend_from_slice(&[0]);
        Line {
            terminated: bytes.freeze(),
        }
    }

    /// The line's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.terminated
            .split_last()
            .map(|(_, text)| text)
            .unwrap_or_default()
    }

    /// The line's bytes and the NUL that follows them.
    pub fn as_bytes_with_nul(&self) -> &[u8] {
        if self.terminated.is_empty() {
            b"\0"
        } else {
            &self.terminated
        }
    }

    /// The line's bytes and the NUL that follows them, without a copy.
    pub(super) fn into_terminated(self) -> Bytes {
        self.terminated
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.terminated.len().saturating_sub(1)
    }

    /// Whether the line is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl core::fmt::Debug for Line {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Line({:?})", Bytes::copy_from_slice(self.as_bytes()))
    }
}

/// What the framer found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A whole line.
    Line(Line),
    /// A line over the limit, skipped whole; its length in bytes up to its line feed.
    TooLong(u64),
}

/// Splits the CLI's output into lines.
///
/// The owner reads into [`read_buffer`](Framer::read_buffer), says how much by
/// [`received`](Framer::received) and drains [`next_frame`](Framer::next_frame).
#[derive(Debug)]
pub struct Framer {
    /// Data in `..filled`, zeros behind it.
    buffer: BytesMut,
    filled: usize,
    /// No line end stands before this.
    searched: usize,
    /// Length so far of a line that is being skipped.
    skipping: Option<u64>,
    limit: usize,
    read_size: usize,
    at_start: bool,
}

impl Framer {
    /// A framer that skips lines of more than `limit` bytes (their line feed not counted).
    pub fn new(limit: usize) -> Framer {
        Framer {
            buffer: BytesMut::new(),
            filled: 0,
            searched: 0,
            skipping: None,
            limit,
            read_size: SMALLEST_READ,
            at_start: true,
        }
    }

    /// Room to read into, never empty.
    pub fn read_buffer(&mut self) -> &mut [u8] {
        self.read_buffer_within(usize::MAX)
    }

    /// As [`read_buffer`](Framer::read_buffer), with room for `most` bytes at most, or a little more
    /// if that is very little. Behind a long piece of a line there may be more room too.
    pub fn read_buffer_within(&mut self, most: usize) -> &mut [u8] {
        let size = self.read_size.min(most.max(SMALLEST_READ));
        let room = size.max(self.filled.min(4 * LARGEST_READ));
        if self.buffer.len() - self.filled < size {
            self.buffer.truncate(self.filled);
            if self.buffer.capacity() < self.filled + size && !self.buffer.try_reclaim(size) {
                if self.filled > LARGEST_READ {
                    self.buffer.reserve(self.filled);
                } else {
                    let mut fresh = BytesMut::with_capacity(self.filled + room);
                    fresh.extend_from_slice(&self.buffer);
                    self.buffer = fresh;
                }
            }
            let room = room.min(self.buffer.capacity() - self.filled);
            self.buffer.resize(self.filled + room, 0);
        }
        let left = self.buffer.get_mut(self.filled..).unwrap_or_default();
        let offered = left.len().min(most.max(room));
        left.get_mut(..offered).unwrap_or_default()
    }

    /// The first `n` bytes of the read buffer now hold what the CLI wrote. More than the buffer
    /// holds counts as all of it.
    pub fn received(&mut self, n: usize) {
        let room = self.buffer.len() - self.filled;
        let n = n.min(room);
        self.filled += n;
        if n == room {
            self.read_size = (self.read_size * 2).min(LARGEST_READ);
        } else if n < self.read_size / 4 {
            self.read_size = (self.read_size / 2).max(SMALLEST_READ);
        }
    }

    /// Takes bytes that stand elsewhere, at the price of one copy.
    pub fn receive(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.read_buffer();
            let n = room.len().min(bytes.len());
            let (now, later) = bytes.split_at(n);
            room.get_mut(..n).unwrap_or_default().copy_from_slice(now);
            self.received(n);
            bytes = later;
        }
    }

    /// The next whole line. Empty lines are given too.
    pub fn next_frame(&mut self) -> Option<Frame> {
        let data = self.buffer.get(self.searched..self.filled)?;
        match memchr::memchr(b'\n', data) {
            Some(found) => Some(self.cut(self.searched + found)),
            None => {
                self.searched = self.filled;
                if self.filled > self.limit || self.skipping.is_some() {
                    *self.skipping.get_or_insert(0) += self.filled as u64;
                    self.at_start = false;
                    self.buffer = BytesMut::new();
                    self.filled = 0;
                    self.searched = 0;
                }
                None
            }
        }
    }

    /// The output has ended: what stands behind the last line end, if anything.
    pub fn end(&mut self) -> Option<Frame> {
        if let Some(length) = self.skipping.take() {
            let length = length + self.filled as u64;
            self.clear();
            return Some(Frame::TooLong(length));
        }
        if self.filled == 0 {
            return None;
        }
        self.buffer.truncate(self.filled);
        self.buffer.extend_from_slice(b"\n");
        self.filled += 1;
        let end = self.filled - 1;
        let frame = self.cut(end);
        self.clear();
        Some(frame)
    }

    /// How many bytes of an unfinished line are held.
    pub fn unfinished(&self) -> usize {
        self.filled
    }

    /// Gives back memory that an idle connection does not need.
    pub fn shrink(&mut self) {
        if self.filled == 0 {
            self.buffer = BytesMut::new();
        } else if self.filled < SMALLEST_READ && self.buffer.capacity() > 2 * SMALLEST_READ {
            let mut fresh = BytesMut::with_capacity(self.filled);
            fresh.extend_from_slice(self.buffer.get(..self.filled).unwrap_or_default());
            self.buffer = fresh;
        }
    }

    fn clear(&mut self) {
        self.buffer = BytesMut::new();
        self.filled = 0;
        self.searched = 0;
    }

    /// Cuts off the line that ends at `end`, where its line end stands.
    fn cut(&mut self, end: usize) -> Frame {
        let mut length = end;
        if let Some(byte) = self.buffer.get_mut(end) {
            *byte = 0;
        }
        if let Some(byte @ b'\r') = self.buffer.get_mut(end.wrapping_sub(1)) {
            *byte = 0;
            length -= 1;
        }
        let mut line = self.buffer.split_to(end + 1);
        self.filled -= end + 1;
        self.searched = 0;
        if line.len() > LONG_LINE {
            // What follows shares no memory with a long line, or it would keep all of it.
            let mut fresh = BytesMut::with_capacity(self.filled);
            fresh.extend_from_slice(self.buffer.get(..self.filled).unwrap_or_default());
            self.buffer = fresh;
        }
        if let Some(skipped) = self.skipping.take() {
            return Frame::TooLong(skipped + end as u64);
        }
        let first = core::mem::take(&mut self.at_start);
        if end > self.limit {
            return Frame::TooLong(end as u64);
        }
        line.truncate(length + 1);
        if first && line.starts_with(BYTE_ORDER_MARK) {
            line.advance(BYTE_ORDER_MARK.len());
        }
        Frame::Line(Line {
            terminated: line.freeze(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn frames(chunks: &[&[u8]], limit: usize) -> Vec<Frame> {
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

    fn line(text: &str) -> Frame {
        Frame::Line(Line::copied_from(text.as_bytes()))
    }

    #[test]
    fn what_follows_a_long_line_does_not_keep_its_memory() {
        let mut framer = Framer::new(usize::MAX);
        let mut long = "x".repeat(LONG_LINE);
        long.push('\n');
        framer.receive(long.as_bytes());
        framer.receive(b"short\n");
        let mut next = || match framer.next_frame() {
            Some(Frame::Line(line)) => line,
            other => panic!("{other:?}"),
        };
        let (first, second) = (next(), next());
        assert_eq!(second.as_bytes(), b"short");
        let behind = first.as_bytes().as_ptr_range().end.addr();
        let distance = second.as_bytes().as_ptr().addr().wrapping_sub(behind);
        assert_ne!(distance, 1, "it stands right behind the long line");
    }

    #[test]
    fn lines_with_any_end() {
        assert_eq!(
            frames(&[b"\xef\xbb\xbfa\r\n\nb\r\r\nc\xef\xbb\xbf\nd"], 100),
            [
                line("a"),
                line(""),
                line("b\r"),
                line("c\u{feff}"),
                line("d")
            ]
        );
        assert_eq!(frames(&[], 100), []);
        assert_eq!(frames(&[b"a\n"], 100), [line("a")]);
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_whole() {
        for (text, limit) in [("aaaaa\nb\n", 4), ("aaaaa\r\nb\n", 4)] {
            for size in 1..text.len() {
                let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
                let found = frames(&chunks, limit);
                assert_eq!(found[0], Frame::TooLong(text.find('\n').unwrap() as u64));
                assert_eq!(found[1..], [line("b")]);
            }
        }
        assert_eq!(frames(&[b"aaaaa"], 4), [Frame::TooLong(5)]);
        assert_eq!(frames(&[b"aaaa\n"], 4), [line("aaaa")]);
    }

    #[test]
    fn a_line_is_followed_by_nul() {
        let Frame::Line(found) = &frames(&[b"abc\r\nd\n"], 100)[0] else {
            panic!()
        };
        assert_eq!(found.as_bytes_with_nul(), b"abc\0");
        assert_eq!(Line::default().as_bytes_with_nul(), b"\0");
    }

    #[test]
    fn a_limited_read_buffer() {
        let mut framer = Framer::new(1 << 20);
        for _ in 0..10 {
            let buffer = framer.read_buffer_within(10_000);
            let room = buffer.len();
            assert!((1..=10_000).contains(&room), "{room}");
            buffer.fill(b'\n');
            framer.received(room);
            while framer.next_frame().is_some() {}
        }
        // What is left of a larger one is no reason to offer more.
        let room = framer.read_buffer().len();
        assert!(room > 10_000, "{room}");
        assert!(framer.read_buffer_within(10_000).len() <= 10_000);
    }

    #[test]
    fn an_idle_framer_holds_little() {
        let mut framer = Framer::new(1 << 20);
        framer.receive(&[b'x'; 300_000]);
        framer.receive(b"\nrest");
        while framer.next_frame().is_some() {}
        framer.shrink();
        assert!(framer.buffer.capacity() < 100);
        assert_eq!(framer.unfinished(), 4);
    }

    proptest! {
        #[test]
        fn chunking_changes_nothing(
            lines in prop::collection::vec("[a-z\u{e9}\r]{0,40}", 0..40),
            cuts in prop::collection::vec(0usize..2000, 0..40),
            limit in 1usize..60,
        ) {
            let text = lines.join("\n");
            let whole = frames(&[text.as_bytes()], limit);
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < text.len()).collect();
            cuts.sort_unstable();
            let mut chunks: Vec<&[u8]> = Vec::new();
            let mut start = 0;
            for cut in cuts {
                chunks.push(&text.as_bytes()[start..cut]);
                start = cut;
            }
            chunks.push(&text.as_bytes()[start..]);
            prop_assert_eq!(&frames(&chunks, limit), &whole);
            let expected: Vec<String> = text.split('\n').map(String::from).collect();
            let last_is_empty = expected.last().is_some_and(String::is_empty);
            let expected: Vec<Frame> = expected.iter().map(|text| if text.len() > limit {
                Frame::TooLong(text.len() as u64)
            } else {
                line(text.strip_suffix('\r').unwrap_or(text))
            }).collect();
            prop_assert_eq!(&whole[..], &expected[..expected.len() - usize::from(last_is_empty)]);
        }
    }
}
