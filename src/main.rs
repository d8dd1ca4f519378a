//! The `kubectl-pdb` executable.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubectl_pdb::cli::run()
}
