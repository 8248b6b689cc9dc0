//! Bytes to packets and back, and the error object: a `Content-Length` header, a blank line, so
//! many bytes of JSON. What is no header is reported on stderr and skipped.
use crate::json::{object, Json};
use std::io::{self, BufRead, Read, Write};

const HEADER_LIMIT: u64 = 8 * 1024;
const BODY_LIMIT: u64 = 64 * 1024 * 1024;

/// The body of the next packet, or `None` at the end.
pub fn read_packet(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.by_ref().take(HEADER_LIMIT).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let is_blank = line.trim_ascii().is_empty();
        match (content_length(&line), length) {
            (Some(found), _) => length = Some(found),
            (None, None) if !is_blank => {
                let start = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
                eprintln!("room-panel: skipped what is no header: {start:?}");
            }
            (None, Some(bytes)) if is_blank && bytes > BODY_LIMIT => {
                eprintln!("room-panel: refused a packet of {bytes} bytes");
                length = None;
            }
            (None, Some(bytes)) if is_blank => {
                // Grows with what comes: a lie about the length costs nothing.
                let mut body = Vec::new();
                input.take(bytes).read_to_end(&mut body)?;
                return Ok((body.len() as u64 == bytes).then_some(body));
            }
            _ => {}
        }
    }
}

/// What a header line says. It is searched for in the line: after a broken packet the next header
/// may stand at its body's end.
fn content_length(line: &[u8]) -> Option<u64> {
    const NAME: &[u8] = b"content-length";
    let start = line.windows(NAME.len()).rposition(|part| part.eq_ignore_ascii_case(NAME))?;
    let before = start.checked_sub(1).map(|index| line[index]);
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return None;
    }
    let rest = line[start + NAME.len()..].trim_ascii().strip_prefix(b":")?.trim_ascii();
    if rest.is_empty() || rest.len() > 12 || !rest.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(rest).ok()?.parse().ok()
}

pub fn write_packet(output: &mut dyn Write, message: &Json) -> io::Result<()> {
    let mut body = String::new();
    message.write(&mut body);
    // `len` counts bytes, as the header does; one write, so that packets stay whole.
    let packet = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    output.write_all(packet.as_bytes())?;
    output.flush()
}

/// What answers a call that failed: JSON-RPC's error object.
#[derive(Debug)]
pub struct Failure(pub Json);

impl Failure {
    pub fn rpc(code: i64, message: &str) -> Self {
        Failure(object([("code", code.into()), ("message", message.into())]))
    }

    /// A failure of the engine, under a code of the contract. Two of them may be tried again.
    pub fn engine(code: &str, message: &str) -> Self {
        let data = object([
            ("type", "engine".into()),
            ("code", code.into()),
            ("retryable", matches!(code, "NODE_STALE" | "FRAME_NOT_FOUND").into()),
        ]);
        Failure(object([("code", (-32000).into()), ("message", message.into()), ("data", data)]))
    }
}
