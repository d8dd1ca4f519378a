//! What the program sees of the machine it runs on: environment variables and files. Behind a trait, so that
//! everything that is decided by them is a function of values, and is tested as one.

use std::io;
use std::path::{Path, PathBuf};

/// The environment and the files of the process.
pub trait Environment {
    /// A variable of the environment; one that is empty counts as unset, as in Go's `os.Getenv`.
    fn var(&self, name: &str) -> Option<String>;
    /// The whole of a file.
    ///
    /// # Errors
    /// Those of the operating system.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// The home directory of the user.
    fn home(&self) -> Option<PathBuf>;
}

/// The machine itself.
#[derive(Debug, Clone, Copy)]
pub struct System;

impl Environment for System {
    fn var(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn home(&self) -> Option<PathBuf> {
        std::env::home_dir()
    }
}

#[cfg(test)]
pub(super) mod fake {
    use std::collections::BTreeMap;

    use super::*;

    /// A machine made of values.
    #[derive(Debug, Default)]
    pub struct Fake {
        vars: BTreeMap<String, String>,
        files: BTreeMap<PathBuf, Vec<u8>>,
    }

    impl Fake {
        pub fn with_var(mut self, name: &str, value: &str) -> Self {
            self.vars.insert(name.into(), value.into());
            self
        }

        pub fn with_file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
            self.files.insert(path.into(), content.into());
            self
        }
    }

    impl Environment for Fake {
        fn var(&self, name: &str) -> Option<String> {
            self.vars.get(name).filter(|value| !value.is_empty()).cloned()
        }

        fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
            self.files.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        }

        fn home(&self) -> Option<PathBuf> {
            Some("/home/me".into())
        }
    }
}
