//! The real control plane as the judge of kubectl-pdb.
fn main() {}
