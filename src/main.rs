//! The `kubectl-pdb` executable.

fn main() {}
