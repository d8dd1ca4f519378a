//! Files that cannot be read, in words.

use crate::error::Failure;
use std::io;

/// Words for a file that cannot be read.
pub fn cannot_read(name: &str, error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::bad_input(format!("{name}: no such file")),
        io::ErrorKind::PermissionDenied => Failure::bad_input(format!("{name}: no permission to read it")),
        _ => Failure::bad_input(format!("{name}: cannot be read")).caused_by(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_file_is_told_without_numbers_of_the_system() {
        for (kind, want) in [
            (io::ErrorKind::NotFound, "a.yaml: no such file"),
            (io::ErrorKind::PermissionDenied, "a.yaml: no permission to read it"),
            (io::ErrorKind::Other, "a.yaml: cannot be read: other error"),
        ] {
            assert_eq!(cannot_read("a.yaml", kind.into()).to_string(), want);
        }
    }
}
