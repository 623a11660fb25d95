//! As much of HTTP/1.1 as an API client on loopback needs: keep-alive, bodies with a length or in
//! chunks, and streamed replies.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

const MAX_HEAD: u64 = 64 * 1024;
const MAX_BODY: u64 = 256 * 1024 * 1024;

/// One request as it came over the connection.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Whether the client wants the connection to be closed after the answer.
    pub(super) fn wants_close(&self) -> bool {
        self.header("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.as_str())
}

fn bad(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// Reads the next request; `None` when the client has closed the connection between requests.
/// An error of kind `InvalidData` is the client's fault and deserves a 400.
pub(super) fn read_request<S: BufRead>(
    stream: &mut S,
    reply: &mut impl Write,
) -> io::Result<Option<Request>> {
    let mut head = stream.by_ref().take(MAX_HEAD);
    let start = loop {
        match read_line(&mut head)? {
            None => return Ok(None),
            Some(line) if line.is_empty() => {}
            Some(line) => break line,
        }
    };
    let mut words = start.split(' ');
    let (Some(method), Some(path), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(bad("malformed request line"));
    };
    if !version.starts_with("HTTP/1.") {
        return Err(bad("not HTTP/1"));
    }
    let mut headers = Vec::new();
    loop {
        let line =
            read_line(&mut head)?.ok_or_else(|| bad("the head of the request has no end"))?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| bad("malformed header"))?;
        headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    if find(&headers, "expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        reply.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let chunked = find(&headers, "transfer-encoding")
        .is_some_and(|value| value.to_ascii_lowercase().ends_with("chunked"));
    let body = if chunked {
        read_chunks(stream)?
    } else {
        match find(&headers, "content-length") {
            None => Vec::new(),
            Some(length) => {
                let length = length
                    .parse()
                    .map_err(|_| bad("malformed content-length"))?;
                read_exactly(stream, length)?
            }
        }
    };
    Ok(Some(Request {
        method: method.to_owned(),
        path: path.to_owned(),
        headers,
        body,
    }))
}

/// A line without its end; `None` at the end of the stream.
fn read_line(stream: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if stream.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(bad("unfinished or over-long line"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line)
        .map(Some)
        .map_err(|_| bad("the head of the request is not UTF-8"))
}

fn read_exactly(stream: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    if length > MAX_BODY {
        return Err(bad("the body is too large"));
    }
    let mut body = Vec::new();
    stream.take(length).read_to_end(&mut body)?;
    if body.len() as u64 != length {
        return Err(bad("the body ended early"));
    }
    Ok(body)
}

fn read_chunks<S: BufRead>(stream: &mut S) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(&mut stream.by_ref().take(MAX_HEAD))?
            .ok_or_else(|| bad("the body ended early"))?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = u64::from_str_radix(digits, 16).map_err(|_| bad("malformed chunk length"))?;
        if length == 0 {
            break;
        }
        if body.len() as u64 + length > MAX_BODY {
            return Err(bad("the body is too large"));
        }
        body.extend(read_exactly(stream, length)?);
        if read_line(&mut stream.by_ref().take(MAX_HEAD))?.as_deref() != Some("") {
            return Err(bad("a chunk is longer than it says"));
        }
    }
    // Trailers, up to the empty line.
    while let Some(line) = read_line(&mut stream.by_ref().take(MAX_HEAD))? {
        if line.is_empty() {
            break;
        }
    }
    Ok(body)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        529 => "Overloaded",
        _ => "Scripted",
    }
}

/// A head without a body, as the answer to HEAD.
pub(super) fn write_empty(stream: &mut impl Write) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
}

/// A whole JSON answer; `cut` sends only half of the announced body.
pub(super) fn write_json(
    stream: &mut impl Write,
    status: u16,
    value: &Value,
    cut: bool,
) -> io::Result<()> {
    let body = value.to_string();
    let sent = if cut { body.len() / 2 } else { body.len() };
    let mut answer = format!(
        "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\nrequest-id: req_scripted\r\ncontent-length: {}\r\n\r\n",
        reason(status),
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(&body.as_bytes()[..sent]);
    stream.write_all(&answer)
}

/// A streamed answer of server-sent events. Events are gathered and written together until somebody
/// asks for a flush, so that a long reply does not cost a system call an event.
pub(super) struct EventStream<'a, W: Write> {
    stream: &'a mut W,
    pending: Vec<u8>,
}

const GATHERED: usize = 16 * 1024;

impl<'a, W: Write> EventStream<'a, W> {
    pub(super) fn start(stream: &'a mut W) -> Self {
        let pending = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\nrequest-id: req_scripted\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        EventStream { stream, pending }
    }

    /// One event; its name is the `type` of the data.
    pub(super) fn event(&mut self, kind: &str, data: &Value) -> io::Result<()> {
        let text = format!("event: {kind}\ndata: {data}\n\n");
        self.pending
            .extend_from_slice(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
        if self.pending.len() >= GATHERED {
            self.flush()?;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.pending)?;
        self.pending.clear();
        self.stream.flush()
    }

    /// The last chunk. A stream dropped without it is one that broke off.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.pending.extend_from_slice(b"0\r\n\r\n");
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn read(text: &str) -> io::Result<Option<Request>> {
        read_request(&mut BufReader::new(text.as_bytes()), &mut io::sink())
    }

    #[test]
    fn a_body_may_come_with_a_length_or_in_chunks() {
        let plain = read("POST /v1/messages HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello")
            .unwrap()
            .unwrap();
        assert_eq!(
            (plain.method.as_str(), plain.path.as_str()),
            ("POST", "/v1/messages")
        );
        assert_eq!(plain.body, b"hello");
        let chunked = read("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: 1\r\n\r\n")
            .unwrap()
            .unwrap();
        assert_eq!(chunked.body, b"hello");
    }

    #[test]
    fn requests_follow_one_another_on_a_connection() {
        let text = "HEAD / HTTP/1.1\r\n\r\nPOST /a HTTP/1.1\r\ncontent-length: 1\r\n\r\nxGET /b HTTP/1.1\r\nConnection: close\r\n\r\n";
        let mut stream = BufReader::new(text.as_bytes());
        let mut next = || read_request(&mut stream, &mut io::sink()).unwrap();
        assert_eq!(next().unwrap().method, "HEAD");
        assert_eq!(next().unwrap().body, b"x");
        let last = next().unwrap();
        assert_eq!(last.path, "/b");
        assert!(last.wants_close());
        assert!(next().is_none());
    }

    #[test]
    fn a_client_that_asks_first_is_told_to_continue() {
        let text = "POST / HTTP/1.1\r\nExpect: 100-continue\r\ncontent-length: 1\r\n\r\nx";
        let mut reply = Vec::new();
        read_request(&mut BufReader::new(text.as_bytes()), &mut reply).unwrap();
        assert!(reply.starts_with(b"HTTP/1.1 100 "));
    }

    #[test]
    fn malformed_requests_are_refused() {
        for text in [
            "nonsense\r\n\r\n",
            "GET / SPDY/3\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\nunfinished",
            "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nshort",
            "POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{text:?}");
        }
    }
}
