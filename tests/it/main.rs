//! Runs the real executable.
