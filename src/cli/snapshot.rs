//! Flags of `snapshot`.

use clap::Args;

/// Flags of `snapshot`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb snapshot > cluster.json              the whole cluster
  kubectl pdb snapshot --redact > cluster.json     without the names of images
  kubectl pdb status -A --from cluster.json        an answer from it, anywhere

Exit status: 0 written; 1 could not be read or written.")]
pub struct SnapshotArgs {
    /// Rename images, and cut them out of messages
    #[arg(long)]
    pub redact: bool,
}
