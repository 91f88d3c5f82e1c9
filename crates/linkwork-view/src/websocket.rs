//! Websockets (RFC 6455) as a server speaks them: no extensions, and messages of a bounded size.

use crate::digest::{base64, sha1};
use std::io::{self, Read, Write};

/// The answer to a client's key.
pub(crate) fn accept(key: &str) -> String {
    base64(&sha1(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11").as_bytes()))
}

/// The longest message that is taken from a client.
pub(crate) const LONGEST: usize = 1 << 18;

/// What a client says.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    Text(String),
    Ping(Vec<u8>),
    /// It leaves, or broke the rules: the code to answer with.
    Close(u16),
}

const CONTINUED: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// Closing codes of the standard.
const NORMAL: u16 = 1000;
const BROKEN: u16 = 1002;
const UNSUPPORTED: u16 = 1003;
const NOT_TEXT: u16 = 1007;
const TOO_LONG: u16 = 1009;

/// Reads messages, putting fragments together.
pub(crate) struct Reader<R> {
    input: R,
    /// Fragments of a text so far.
    begun: Option<Vec<u8>>,
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, begun: None }
    }

    /// The next message. Nothing longer than [`LONGEST`] is ever held.
    pub(crate) fn next(&mut self) -> io::Result<Message> {
        loop {
            let [first, second] = self.bytes::<2>()?;
            let (last, kind) = (first & 0x80 != 0, first & 0x0f);
            let control = kind >= CLOSE;
            let length = match second & 0x7f {
                126 => u64::from(u16::from_be_bytes(self.bytes()?)),
                127 => u64::from_be_bytes(self.bytes()?),
                short => u64::from(short),
            };
            // Clients mask, use no extensions, and keep control frames short and whole.
            if first & 0x70 != 0 || second & 0x80 == 0 || control && (length > 125 || !last) {
                return Ok(Message::Close(BROKEN));
            }
            let before = self.begun.as_ref().map_or(0, Vec::len) as u64;
            if length.saturating_add(before) > LONGEST as u64 {
                return Ok(Message::Close(TOO_LONG));
            }
            let mask: [u8; 4] = self.bytes()?;
            let mut data = vec![0; length as usize];
            self.input.read_exact(&mut data)?;
            data.iter_mut().zip(mask.iter().cycle()).for_each(|(x, m)| *x ^= m);
            match kind {
                PING => return Ok(Message::Ping(data)),
                PONG => {}
                CLOSE => return Ok(Message::Close(NORMAL)),
                BINARY => return Ok(Message::Close(UNSUPPORTED)),
                TEXT | CONTINUED => {
                    if self.begun.is_some() != (kind == CONTINUED) {
                        return Ok(Message::Close(BROKEN));
                    }
                    let mut whole = self.begun.take().unwrap_or_default();
                    whole.append(&mut data);
                    if !last {
                        self.begun = Some(whole);
                        continue;
                    }
                    return Ok(String::from_utf8(whole).map_or(Message::Close(NOT_TEXT), Message::Text));
                }
                _ => return Ok(Message::Close(BROKEN)),
            }
        }
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Sends a text.
pub(crate) fn text(out: &mut impl Write, text: &str) -> io::Result<()> {
    send(out, TEXT, text.as_bytes())
}

/// Sends bytes.
pub(crate) fn binary(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    send(out, BINARY, bytes)
}

/// Answers a ping.
pub(crate) fn pong(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    send(out, PONG, bytes)
}

/// Says that it is over, and why.
pub(crate) fn close(out: &mut impl Write, code: u16) -> io::Result<()> {
    send(out, CLOSE, &code.to_be_bytes())
}

fn send(out: &mut impl Write, kind: u8, data: &[u8]) -> io::Result<()> {
    let mut head = vec![0x80 | kind];
    match data.len() {
        short @ 0..126 => head.push(short as u8),
        middle @ 126..65536 => {
            head.push(126);
            head.extend((middle as u16).to_be_bytes());
        }
        long => {
            head.push(127);
            head.extend((long as u64).to_be_bytes());
        }
    }
    out.write_all(&head)?;
    out.write_all(data)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame as a client sends it.
    fn frame(first: u8, data: &[u8]) -> Vec<u8> {
        let mut frame = vec![first];
        match data.len() {
            short @ 0..126 => frame.push(0x80 | short as u8),
            long => {
                frame.push(0x80 | 127);
                frame.extend((long as u64).to_be_bytes());
            }
        }
        let mask = [1, 2, 3, 4];
        frame.extend(mask);
        frame.extend(data.iter().zip(mask.iter().cycle()).map(|(x, m)| x ^ m));
        frame
    }

    fn first(bytes: &[u8]) -> Message {
        Reader::new(bytes).next().expect("a message")
    }

    #[test]
    fn keys_are_answered_as_the_standard_says() {
        assert_eq!(accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn fragments_make_one_text_and_pings_may_stand_between() {
        let bytes = [frame(0x01, b"Hel"), frame(0x89, b"?"), frame(0x80, b"lo")].concat();
        let mut reader = Reader::new(&bytes[..]);
        assert_eq!(reader.next().unwrap(), Message::Ping(b"?".to_vec()));
        assert_eq!(reader.next().unwrap(), Message::Text("Hello".into()));
    }

    #[test]
    fn what_breaks_the_rules_is_closed_with_the_code_for_it() {
        assert_eq!(first(&[0x81, 1, b'x']), Message::Close(BROKEN), "not masked");
        assert_eq!(first(&frame(0xc1, b"x")), Message::Close(BROKEN), "an extension");
        assert_eq!(first(&frame(0x80, b"x")), Message::Close(BROKEN), "continues nothing");
        assert_eq!(first(&frame(0x09, b"x")), Message::Close(BROKEN), "a ping in parts");
        assert_eq!(first(&frame(0x83, b"x")), Message::Close(BROKEN), "a kind that is none");
        assert_eq!(first(&frame(0x82, b"x")), Message::Close(UNSUPPORTED), "bytes");
        assert_eq!(first(&frame(0x81, &[0xff])), Message::Close(NOT_TEXT));
        assert_eq!(first(&frame(0x81, &vec![b'x'; LONGEST + 1])), Message::Close(TOO_LONG));
        let huge = [&[0x81, 0xff][..], &u64::MAX.to_be_bytes()].concat();
        assert_eq!(first(&huge), Message::Close(TOO_LONG), "a length that is a lie");
        assert!(Reader::new(&frame(0x81, b"Hello")[..7]).next().is_err(), "cut short");
    }
}
