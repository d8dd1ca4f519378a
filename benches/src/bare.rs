//! The bare client: reads lists in pages and throws the bytes away. What is left to do is all that a client can save.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What of an answer is looked at: the head of a list, which holds the token of the next page, stands at its beginning.
const LOOKED_AT: u64 = 1 << 10;

/// Reads the lists at `paths`, `at_once` of them at a time, each on a connection of its own, and gives the number of
/// bytes. An answer that is no list (404) is thrown away as well.
pub fn read(server: &str, accept: &str, limit: &str, at_once: usize, paths: &[&str]) -> io::Result<u64> {
    let host =
        server.strip_prefix("http://").ok_or_else(|| io::Error::other("the bare client speaks http:// alone"))?;
    let waiting = Mutex::new(paths.iter().copied().collect::<VecDeque<_>>());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let worker = || {
        let mut connection = Connection::open(host)?;
        let mut bytes = 0;
        while let Some(path) = next() {
            let mut token = String::new();
            loop {
                let (read, more) = connection.page(&format!("{path}?limit={limit}{token}"), accept)?;
                bytes += read;
                match more {
                    Some(more) => token = format!("&continue={more}"),
                    None => break,
                }
            }
        }
        Ok::<u64, io::Error>(bytes)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once.min(paths.len())).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().map(|w| w.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))).sum()
    })
}

struct Connection {
    host: String,
    reader: BufReader<TcpStream>,
    buffer: Vec<u8>,
}

impl Connection {
    fn open(host: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        Ok(Self { host: host.to_owned(), reader: BufReader::new(stream), buffer: vec![0; 256 << 10] })
    }

    /// Reads a page: how many bytes, and the token of the next one.
    fn page(&mut self, path: &str, accept: &str) -> io::Result<(u64, Option<String>)> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nAccept: {accept}\r\n\r\n", self.host);
        self.reader.get_mut().write_all(request.as_bytes())?;
        let mut length = None;
        let mut line = String::new();
        while self.reader.read_line(&mut line)? > 0 && !line.trim_end().is_empty() {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse::<u64>().ok();
            }
            line.clear();
        }
        let length = length.ok_or_else(|| io::Error::other("an answer without a length"))?;
        let mut head = Vec::new();
        self.reader.by_ref().take(length.min(LOOKED_AT)).read_to_end(&mut head)?;
        let mut left = length - head.len() as u64;
        while left > 0 {
            let upto = self.buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let read = self.reader.read(&mut self.buffer[..upto])?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            left -= read as u64;
        }
        Ok((length, token(&head)))
    }
}

/// The token in the head of a list.
fn token(head: &[u8]) -> Option<String> {
    let token = match head.strip_prefix(b"k8s\0") {
        // Unknown{raw = 2: XList{metadata = 1: ListMeta{continue = 3}}}
        Some(envelope) => inside(inside(inside(envelope, 2)?, 1)?, 3)?,
        None => {
            let key = br#""continue":""#;
            let at = head.windows(key.len()).position(|window| window == key)?;
            head[at + key.len()..].split(|byte| *byte == b'"').next()?
        }
    };
    let token = String::from_utf8_lossy(token).into_owned();
    (!token.is_empty()).then_some(token)
}

/// The content of the first field of a message with this tag, as far as it is there; all fields before it have a length
/// or are numbers.
fn inside(mut message: &[u8], tag: u64) -> Option<&[u8]> {
    loop {
        let key = varint(&mut message)?;
        let number = varint(&mut message)?;
        if key & 7 == 2 {
            let length = usize::try_from(number).ok()?;
            if key >> 3 == tag {
                return Some(&message[..length.min(message.len())]);
            }
            message = message.get(length..)?;
        }
    }
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut n = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        n |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_in_both_encodings() {
        let json = br#"{"kind":"PodList","metadata":{"resourceVersion":"1","continue":"abc"},"items":[{"#;
        // Unknown{typeMeta: {kind "X"}, raw (of which this is the beginning): {metadata: {resourceVersion "1", continue "abc"}}}.
        let protobuf = b"k8s\0\x0a\x03\x12\x01X\x12\xff\x01\x0a\x08\x12\x011\x1a\x03abc\x12\x05";
        for head in [&json[..], &protobuf[..]] {
            assert_eq!(token(head).as_deref(), Some("abc"));
        }
        for head in
            [&br#"{"kind":"PodList","metadata":{},"items":[]}"#[..], b"k8s\0\x12\x04\x0a\x02\x1a\x00", b"", b"<html>"]
        {
            assert_eq!(token(head), None);
        }
    }
}
