//! Cuts JSON input into objects: the items of a List one at a time, so that memory holds what is kept, not the file.
//!
//! A cutter, not a parser: it knows strings and nesting, and leaves it to the parser to judge each piece.

use std::io::{self, Read};

/// What comes next in the input.
#[derive(Debug)]
pub enum Cut<'a> {
    /// An object: an item of a List, or one by itself.
    Object(Piece<'a>),
    /// A List begins: what it says of itself before its items, as an object of its own.
    Begins(Vec<u8>),
    /// A List ends: all that it says of itself but its items.
    Ends(Vec<u8>),
}

/// One object of the input.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// Its bytes, from `{` to `}`.
    pub bytes: &'a [u8],
    /// Where it begins.
    pub start: Position,
}

/// A place in the input; both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The byte within the line.
    pub column: usize,
}

impl Position {
    /// Where a place within a piece that begins here stands in the whole.
    pub fn plus(self, within: Self) -> Self {
        match within.line {
            0 | 1 => Self { line: self.line, column: self.column + within.column - 1 },
            line => Self { line: self.line + line - 1, column: within.column },
        }
    }
}

/// Why the input cannot be cut.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It ends inside an object.
    #[error("the input ends in the middle of an object that begins at line {}, column {}", .0.line, .0.column)]
    Truncated(Position),
    /// Something stands between objects.
    #[error("line {}, column {}: expected an object, found {:?}", .0.line, .0.column, .1)]
    Unexpected(Position, char),
}

/// What the cutter reads from: a window onto the input.
struct Window<R> {
    input: R,
    buffer: Vec<u8>,
    /// The next byte to look at.
    at: usize,
    /// Where in the buffer the piece begins that must stay whole; bytes before it are let go.
    hold: Option<usize>,
    line: usize,
    /// Bytes of the input before `buffer[0]` in the present line, or as a negative offset of the line's start.
    line_start: isize,
}

const CHUNK: usize = 256 * 1024;

/// No object is as large: etcd holds a few megabytes, and a List within a List a page.
const LARGEST: usize = 256 << 20;

impl<R: Read> Window<R> {
    /// Reads more; false at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        let keep_from = self.hold.unwrap_or(self.at);
        if keep_from > 0 {
            self.buffer.drain(..keep_from);
            self.at -= keep_from;
            self.hold = self.hold.map(|h| h - keep_from);
            self.line_start -= isize::try_from(keep_from).unwrap_or(isize::MAX);
        }
        let length = self.buffer.len();
        if length > LARGEST {
            return Err(io::Error::other(format!("it has an object of more than {} MiB", LARGEST >> 20)));
        }
        let read = self.input.by_ref().take(CHUNK as u64).read_to_end(&mut self.buffer)?;
        debug_assert_eq!(self.buffer.len(), length + read, "read_to_end appends");
        Ok(read > 0)
    }

    /// The next byte that is no white space, not yet taken.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.buffer.get(self.at).copied() {
                Some(b'\n') => self.newline(),
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(byte) => return Ok(Some(byte)),
                None if self.fill()? => {}
                None => return Ok(None),
            }
        }
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        self.line_start = isize::try_from(self.at).unwrap_or(isize::MAX);
    }

    fn position(&self) -> Position {
        let column = isize::try_from(self.at).unwrap_or(isize::MAX).saturating_sub(self.line_start);
        Position { line: self.line, column: usize::try_from(column).unwrap_or_default() + 1 }
    }

    /// Moves to just behind the string whose opening quote was taken; false where the input ends in it.
    fn skip_string(&mut self) -> io::Result<bool> {
        loop {
            let rest = self.buffer.get(self.at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                Some(found) => {
                    let quote = rest.get(found) == Some(&b'"');
                    self.at += found + 1;
                    if quote {
                        return Ok(true);
                    }
                    // The escaped byte, whatever it is, ends nothing.
                    if self.at == self.buffer.len() && !self.fill()? {
                        return Ok(false);
                    }
                    self.at += 1;
                }
                None => {
                    self.at = self.buffer.len();
                    if !self.fill()? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Moves to just behind the object or array whose opening bracket was taken; false where the input ends in it.
    fn skip_nested(&mut self) -> io::Result<bool> {
        let mut depth = 1u32;
        loop {
            let Some(byte) = self.buffer.get(self.at).copied() else {
                if self.fill()? {
                    continue;
                }
                return Ok(false);
            };
            match byte {
                b'"' => {
                    self.at += 1;
                    if !self.skip_string()? {
                        return Ok(false);
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b'\n' => {
                    self.newline();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(true);
            }
        }
    }
}

/// Gives the objects of JSON input one after the other: each item of a List, and each object that is no List.
pub struct Splitter<R> {
    window: Window<R>,
    /// Where the List began whose items are being given, and what it says before them.
    list: Option<(Position, Vec<u8>)>,
}

impl<R: Read> Splitter<R> {
    /// Cuts what a reader gives.
    pub fn new(input: R) -> Self {
        let window = Window { input, buffer: Vec::new(), at: 0, hold: None, line: 1, line_start: 0 };
        Self { window, list: None }
    }

    /// What comes next, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<Cut<'_>>, SplitError> {
        self.window.hold = None;
        while let Some((start, before)) = &mut self.list {
            match self.window.peek()?.ok_or(SplitError::Truncated(*start))? {
                b',' => self.window.at += 1,
                b']' => {
                    let (start, before) = (*start, std::mem::take(before));
                    self.list = None;
                    return self.rest_of_list(start, &before).map(|head| Some(Cut::Ends(head)));
                }
                b'{' => return self.object().map(|piece| Some(Cut::Object(piece))),
                other => return Err(self.unexpected(other)),
            }
        }
        let Some(byte) = self.window.peek()? else { return Ok(None) };
        if byte != b'{' {
            return Err(self.unexpected(byte));
        }
        let start = self.window.position();
        if !self.enter_list(start)? {
            return Ok(Some(Cut::Object(self.held(start)?)));
        }
        let before = self.held(start)?.bytes.to_vec();
        let head = [&before, &b"]}"[..]].concat();
        self.list = Some((start, before));
        Ok(Some(Cut::Begins(head)))
    }

    fn unexpected(&self, byte: u8) -> SplitError {
        SplitError::Unexpected(self.window.position(), char::from(byte))
    }

    /// Takes a whole object and gives it.
    fn object(&mut self) -> Result<Piece<'_>, SplitError> {
        let start = self.window.position();
        self.window.hold = Some(self.window.at);
        self.window.at += 1;
        if !self.window.skip_nested()? {
            return Err(SplitError::Truncated(start));
        }
        self.held(start)
    }

    fn held(&self, start: Position) -> Result<Piece<'_>, SplitError> {
        let from = self.window.hold.unwrap_or(self.window.at);
        let bytes = self.window.buffer.get(from..self.window.at).unwrap_or_default();
        Ok(Piece { bytes, start })
    }

    /// Takes an object up to its `items` array, and says whether there is one; if not, the whole object is taken and
    /// held. Only an array that comes under the key `items` at the top makes a List.
    fn enter_list(&mut self, start: Position) -> Result<bool, SplitError> {
        let truncated = || SplitError::Truncated(start);
        self.window.hold = Some(self.window.at);
        self.window.at += 1;
        let mut items_is_next = false;
        loop {
            let byte = self.window.peek()?.ok_or_else(truncated)?;
            self.window.at += 1;
            match byte {
                b'"' => {
                    // Measured from the hold, which does not move when the window is filled again.
                    let from = self.window.at - self.window.hold.unwrap_or_default();
                    if !self.window.skip_string()? {
                        return Err(truncated());
                    }
                    let hold = self.window.hold.unwrap_or_default();
                    let text = self.window.buffer.get(hold + from..self.window.at - 1).unwrap_or_default();
                    items_is_next = text == b"items" && self.window.peek()? == Some(b':');
                }
                b'[' if items_is_next => return Ok(true),
                b'{' | b'[' => {
                    items_is_next = false;
                    if !self.window.skip_nested()? {
                        return Err(truncated());
                    }
                }
                b'}' => return Ok(false),
                b':' => {}
                _ => items_is_next = false,
            }
        }
    }

    /// Takes what follows the items of a List, from their closing bracket to the end of the List, and joins it to what
    /// stands before them.
    fn rest_of_list(&mut self, list: Position, before: &[u8]) -> Result<Vec<u8>, SplitError> {
        self.window.hold = Some(self.window.at);
        self.window.at += 1;
        if !self.window.skip_nested()? {
            return Err(SplitError::Truncated(list));
        }
        let rest = self.held(list)?;
        Ok([before, rest.bytes].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time, so that every cut falls somewhere.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(into.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    /// What never ends is let go of.
    #[test]
    fn an_endless_object_is_not_held() {
        for start in ["{\"a\": \"", "{\"a\": [", "{\"items\": [{\"a\": \"", "{\"items\": [], \"a\": \""] {
            let mut splitter = Splitter::new(start.as_bytes().chain(io::repeat(b'1')));
            let error = loop {
                match splitter.next() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("{start}: it ends"),
                    Err(error) => break error.to_string(),
                }
            };
            assert_eq!(error, "it has an object of more than 256 MiB", "{start}");
        }
    }

    type Pieces = Vec<(String, (usize, usize))>;

    fn pieces(input: &str) -> Result<Pieces, String> {
        let mut splitter = Splitter::new(Drip(input.as_bytes(), 3));
        let mut all = Vec::new();
        while let Some(cut) = splitter.next().map_err(|e| e.to_string())? {
            if let Cut::Object(p) = cut {
                all.push((String::from_utf8_lossy(p.bytes).into_owned(), (p.start.line, p.start.column)));
            }
        }
        Ok(all)
    }

    #[test]
    fn cuts_lists_and_single_objects() {
        for (input, want) in [
            ("", vec![]),
            (r#"{"kind":"Pod"}"#, vec![(r#"{"kind":"Pod"}"#, (1, 1))]),
            (
                "{\"kind\":\"List\", \"items\": [\n {\"a\":{\"b\":[1,2]}},\n {\"s\":\"}\\\"]\"}\n], \"metadata\":{}}\n{\"x\":1}",
                vec![(r#"{"a":{"b":[1,2]}}"#, (2, 2)), (r#"{"s":"}\"]"}"#, (3, 2)), (r#"{"x":1}"#, (5, 1))],
            ),
            (r#"{"items":[],"kind":"PodList"}"#, vec![]),
            (r#"{"spec":{"items":[{"a":1}]}}"#, vec![(r#"{"spec":{"items":[{"a":1}]}}"#, (1, 1))]),
            (r#"{"kind":"items","list":[1]}"#, vec![(r#"{"kind":"items","list":[1]}"#, (1, 1))]),
        ] {
            let got = pieces(input).unwrap_or_else(|e| panic!("{input}: {e}"));
            let got: Vec<_> = got.iter().map(|(s, p)| (&**s, *p)).collect();
            assert_eq!(got, want, "{input}");
        }
    }

    #[test]
    fn says_where_it_cannot_go_on() {
        for (input, words) in [
            ("hello", "line 1, column 1: expected an object, found 'h'"),
            ("{\"items\":[\n{\"a\":", "begins at line 2, column 1"),
            ("{\"items\":[{}\n", "begins at line 1, column 1"),
            ("{\"items\":[{}, 7]}", "line 1, column 15: expected an object, found '7'"),
            ("{\"a\":\"", "begins at line 1, column 1"),
            ("[{}]", "found '['"),
        ] {
            let error = pieces(input).expect_err(input);
            assert!(error.contains(words), "{input}: {error}");
        }
    }

    use proptest::prelude::*;

    proptest! {
        /// Whatever comes in, the cutter ends; and each piece that it cuts from good JSON is good JSON.
        #[test]
        fn ends_on_any_input(input in r#"(\{|\}|\[|\]|"|\\\\|,|:| |\n|items|"items":\[|\{"a":1\}|x|é){0,40}"#, step in 1usize..5) {
            let mut splitter = Splitter::new(Drip(input.as_bytes(), step));
            let whole = serde_json::Deserializer::from_str(&input).into_iter::<serde_json::Value>().all(|v| v.is_ok());
            while let Ok(Some(cut)) = splitter.next() {
                let Cut::Object(piece) = cut else { continue };
                prop_assert!(!whole || serde_json::from_slice::<serde_json::Value>(piece.bytes).is_ok(), "{input}");
            }
        }

        /// A list of any objects is cut into those objects, wherever the reads fall.
        #[test]
        fn gives_back_what_a_list_holds(names in prop::collection::vec(".*", 0..6), step in 1usize..7) {
            let items: Vec<_> = names.iter().map(|n| serde_json::json!({"metadata": {"name": n, "list": [n, {"{": "]"}]}})).collect();
            let list = serde_json::json!({"kind": "List", "items": items, "metadata": {"items": [1]}}).to_string();
            let mut splitter = Splitter::new(Drip(list.as_bytes(), step));
            let mut cut = Vec::new();
            while let Some(next) = splitter.next().unwrap() {
                match next {
                    Cut::Object(piece) => cut.push(serde_json::from_slice::<serde_json::Value>(piece.bytes).unwrap()),
                    Cut::Begins(head) => prop_assert!(serde_json::from_slice::<serde_json::Value>(&head).is_ok()),
                    Cut::Ends(head) => {
                        let head: serde_json::Value = serde_json::from_slice(&head).unwrap();
                        prop_assert_eq!(head, serde_json::json!({"kind": "List", "items": [], "metadata": {"items": [1]}}));
                    }
                }
            }
            prop_assert_eq!(cut, items);
        }
    }
}
