//! The one error type at the edge: what went wrong, why, and what to do about it.

use std::error::Error;
use std::fmt;

/// What kind of failure it is. Every kind ends the program with status 1; the kind decides how it is worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The command line asks for something that cannot be.
    Usage,
    /// An object that was asked for by name is not there.
    NotFound,
    /// No API server could be reached, or none is configured.
    NoCluster,
    /// The API server refuses: not authenticated, or not allowed.
    NoAccess,
    /// A file (or what was read from standard input) cannot be understood.
    BadInput,
    /// A fault of this program.
    Internal,
}

/// A failure that ends the program: a message, its cause, and a hint that says what to do.
#[derive(Debug)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What went wrong, in one sentence without a final period.
    pub message: String,
    /// What the user can do about it.
    pub hint: Option<String>,
    source: Option<anyhow::Error>,
}

/// The result of everything that can fail at the edge.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// A failure of the given kind.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, source: None }
    }

    /// The same failure with advice on what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure with the error that caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<anyhow::Error>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// A bad command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Input that cannot be understood.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::new(FailureKind::BadInput, message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut last = self.message.clone();
        for cause in self.source.iter().flat_map(anyhow::Error::chain) {
            let text = cause.to_string();
            // Layers of a client repeat each other's words; say each once.
            if !last.contains(&text) {
                write!(f, ": {text}")?;
                last = text;
            }
        }
        Ok(())
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.source.as_deref()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn each_cause_is_told_once() {
        let failure = |cause: anyhow::Error| Failure::bad_input("x: it cannot be read").caused_by(cause).to_string();
        let refused = || io::Error::other("refused");
        assert_eq!(failure(anyhow::Error::new(refused())), "x: it cannot be read: refused");
        assert_eq!(failure(anyhow::Error::new(refused()).context("connect")), "x: it cannot be read: connect: refused");
        let twice = anyhow::Error::new(refused()).context("connect: refused");
        assert_eq!(failure(twice), "x: it cannot be read: connect: refused");
        assert_eq!(Failure::usage("no").to_string(), "no");
        assert!(Failure::usage("no").source().is_none());
    }
}
