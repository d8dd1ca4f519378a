//! One answer of the fake API server: right, or wrong in a way of choice.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What is answered.
#[derive(Clone)]
pub struct Reply {
    code: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// What the head says of the body's length; the truth unless set.
    length: Option<usize>,
    /// Waited before the head is sent.
    delay: Duration,
    end: End,
}

/// How the body is sent.
#[derive(Clone, Copy)]
enum End {
    Whole,
    /// After so many bytes the connection is closed.
    Closed(usize),
    /// After so many bytes the connection is reset.
    Reset(usize),
    /// After the body nothing comes any more, and the connection stays.
    Silent,
    /// The body comes again and again, for ever.
    Endless,
    /// A byte at a time, with a pause before each.
    Dripping(Duration),
    /// The body is everything: there is no head.
    Raw,
}

impl Reply {
    pub fn new(code: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type", content_type.to_owned())];
        Self { code, headers, body: body.into(), length: None, delay: Duration::ZERO, end: End::Whole }
    }

    /// An answer with status 200.
    pub fn json(value: &Value) -> Self {
        Self::new(200, "application/json", value.to_string())
    }

    /// A refusal as an API server words it.
    pub fn status(code: u16, reason: &str, message: &str) -> Self {
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason, "code": code});
        Self::new(code, "application/json", status.to_string())
    }

    /// Bytes that need not be HTTP.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { end: End::Raw, ..Self::new(0, "", bytes) }
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub fn saying_length(self, length: usize) -> Self {
        Self { length: Some(length), ..self }
    }

    pub fn closed_at(self, bytes: usize) -> Self {
        Self { end: End::Closed(bytes), ..self }
    }

    pub fn reset_at(self, bytes: usize) -> Self {
        Self { end: End::Reset(bytes), ..self }
    }

    pub fn then_silent(self) -> Self {
        Self { end: End::Silent, ..self }
    }

    pub fn endless(self) -> Self {
        Self { end: End::Endless, ..self }
    }

    pub fn dripping(self, pause: Duration) -> Self {
        Self { end: End::Dripping(pause), ..self }
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} X\r\n", self.code);
        head += &match self.end {
            End::Endless => "Transfer-Encoding: chunked\r\n".to_owned(),
            _ => format!("Content-Length: {}\r\n", self.length.unwrap_or(self.body.len())),
        };
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head + "\r\n"
    }

    /// Sends it; whether another request may come on this connection.
    pub fn send(&self, stream: &mut impl Write, socket: &TcpStream) -> std::io::Result<bool> {
        thread::sleep(self.delay);
        if !matches!(self.end, End::Raw) {
            stream.write_all(self.head().as_bytes())?;
        }
        match self.end {
            End::Whole => stream.write_all(&self.body)?,
            End::Raw => stream.write_all(&self.body)?,
            End::Closed(bytes) | End::Reset(bytes) => {
                stream.write_all(&self.body[..bytes.min(self.body.len())])?;
            }
            End::Silent => {
                stream.write_all(&self.body)?;
                stream.flush()?;
                thread::sleep(Duration::from_secs(3600));
            }
            End::Endless => loop {
                write!(stream, "{:x}\r\n", self.body.len())?;
                stream.write_all(&self.body)?;
                stream.write_all(b"\r\n")?;
            },
            End::Dripping(pause) => {
                for byte in &self.body {
                    stream.flush()?;
                    thread::sleep(pause);
                    stream.write_all(&[*byte])?;
                }
            }
        }
        stream.flush()?;
        match self.end {
            End::Whole | End::Dripping(_) => return Ok(true),
            // Closing a socket that must not linger resets the connection.
            End::Reset(_) => {
                socket2::SockRef::from(socket).set_linger(Some(Duration::ZERO))?;
                // What was sent has to arrive first, or it is thrown away with the rest.
                thread::sleep(Duration::from_millis(20));
            }
            _ => socket.shutdown(Shutdown::Both)?,
        }
        Ok(false)
    }
}
