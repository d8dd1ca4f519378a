//! `snapshot`: writes what the other commands read of a cluster into a file that they read again.

use crate::answer::Answer;
use crate::cli::{Global, SnapshotArgs};
use crate::cluster::Export;
use crate::error::{Failure, FailureKind, Result};
use crate::input::Input;
use crate::snapshot::slim::Slimmer;
use std::io::{self, BufWriter, Write};

/// Runs the command. The answer is written to standard output as it is put together, and not through [`Answer`]: that
/// of a large cluster is large.
///
/// # Errors
/// Files as input, a cluster that cannot be read, or an output that cannot be written.
pub fn run(args: &SnapshotArgs, global: &Global) -> Result<Answer> {
    let Input::Live(cluster) = global.input()? else {
        return Err(Failure::usage("snapshot reads a cluster: --from is for the other commands"));
    };
    let namespace = global.namespace.as_deref().filter(|name| !name.is_empty());
    let export = cluster.export(namespace, &mut Slimmer::new(args.redact))?;
    match write(&export, BufWriter::new(io::stdout().lock())) {
        // A reader that has gone (`| head`) is no fault.
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            return Err(Failure::new(FailureKind::Internal, "the snapshot cannot be written").caused_by(e));
        }
        _ => {}
    }
    let unread = export.header.read.iter().filter(|read| matches!(&*read.outcome, "forbidden" | "failed"));
    let warnings = unread.map(|read| format!("{}: {}, and so not in the snapshot", read.resource, read.outcome));
    Ok(Answer { warnings: warnings.collect(), ..Answer::new(String::new()) })
}

/// A List, an object a line, the head first.
fn write(export: &Export, mut out: impl Write) -> io::Result<()> {
    let mut head = serde_json::json!({"apiVersion": "kubectl-pdb/v1", "kind": "Snapshot"});
    if let (Some(fields), serde_json::Value::Object(header)) =
        (head.as_object_mut(), serde_json::to_value(&export.header)?)
    {
        fields.extend(header.into_iter().filter(|(_, value)| !value.is_null()));
    }
    write!(out, "{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n{head}")?;
    for item in &export.items {
        out.write_all(b",\n")?;
        out.write_all(item)?;
    }
    out.write_all(b"\n]}\n")?;
    out.flush()
}
