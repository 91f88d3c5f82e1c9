//! As much of HTTP/1.1 as a page needs: one request to a connection, heads of a bounded size.

use std::io::{self, Read, Write};

/// The longest head of a request.
const LONGEST: usize = 16 << 10;

/// The head of a request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
}

impl Request {
    /// Reads up to the empty line, byte by byte of what is buffered, so that what follows stays in the input.
    pub(crate) fn read(input: &mut impl Read) -> io::Result<Result<Self, Status>> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() == LONGEST {
                return Ok(Err(Status::TooLarge));
            }
            input.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        Ok(Self::parse(&head).ok_or(Status::Bad))
    }

    fn parse(head: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(head).ok()?;
        let mut lines = text.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !version.starts_with("HTTP/1.") || !target.starts_with('/') {
            return None;
        }
        let mut headers = Vec::new();
        for line in lines.take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':')?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let path = target.split(['?', '#']).next().unwrap_or(target);
        Some(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers,
        })
    }

    /// The value of a header that is given exactly once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(n, _)| n == name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(&**value)
    }

    /// Whether a header is given at all.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(n, _)| n == name)
    }
}

/// How a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Fine,
    Bad,
    Forbidden,
    Absent,
    NotAllowed,
    TooLarge,
    Busy,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Fine => "200 OK",
            Self::Bad => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::Absent => "404 Not Found",
            Self::NotAllowed => "405 Method Not Allowed",
            Self::TooLarge => "413 Content Too Large",
            Self::Busy => "503 Service Unavailable",
        }
    }
}

/// Where the page may be shown inside another: in notebooks on this machine.
const ANCESTORS: &str = "frame-ancestors 'self' http://localhost:* http://127.0.0.1:* vscode-webview:";

/// Answers a request, and lets the connection end.
pub(crate) fn respond(out: &mut impl Write, status: Status, kind: &str, body: &[u8], keep: bool) -> io::Result<()> {
    // What has a name of its own content never changes; all else is asked for again.
    let cache = if keep {
        "private, max-age=31536000, immutable"
    } else {
        "no-store"
    };
    write!(
        out,
        "HTTP/1.1 {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: {cache}\r\n\
         Content-Security-Policy: {ANCESTORS}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
        status.line(),
        body.len(),
    )?;
    out.write_all(body)?;
    out.flush()
}

/// Answers with the status alone.
pub(crate) fn refuse(out: &mut impl Write, status: Status) -> io::Result<()> {
    let text = format!("{}\n", status.line());
    respond(out, status, "text/plain; charset=utf-8", text.as_bytes(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Request, Status> {
        Request::read(&mut text.as_bytes()).expect("it is all there")
    }

    #[test]
    fn a_request_is_its_path_and_its_headers() {
        let request = read("GET /a/b?c#d HTTP/1.1\r\nHost: x:1\r\nA:  b \r\na: c\r\n\r\n").unwrap();
        assert_eq!((&*request.method, &*request.path), ("GET", "/a/b"));
        assert_eq!(request.header("host"), Some("x:1"));
        assert_eq!(request.header("a"), None, "given twice");
        assert!(request.has("a") && !request.has("b"));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for bad in [
            "GET x HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1 x\r\n\r\n",
            "GET /\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert_eq!(read(bad).unwrap_err(), Status::Bad, "{bad}");
        }
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(LONGEST));
        assert_eq!(read(&long).unwrap_err(), Status::TooLarge);
        assert!(Request::read(&mut &b"GET / HT"[..]).is_err(), "cut short");
    }
}
