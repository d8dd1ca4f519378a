//! Snapshots from files: what `kubectl get … -o json|yaml` prints, or `kubectl pdb snapshot` wrote.

mod list;
mod manifests;
mod split;
mod unreadable;
mod yaml;

use crate::error::{Failure, FailureKind, Result};
use crate::snapshot::builder::Builder;
use crate::snapshot::{Snapshot, Source};
use crate::wire::item::ItemError;
use jiff::Timestamp;
use list::ReadError;
pub use manifests::read as documents;
use split::{Position, SplitError};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
pub use unreadable::cannot_read;

/// Reads files, directories (their `.json`, `.yaml` and `.yml` files, also gzipped) and `-` for standard input.
///
/// # Errors
/// Where something cannot be read or is not Kubernetes; the message names the file, line and column.
pub fn load(paths: &[String], now: Option<Timestamp>) -> Result<Snapshot> {
    let snapshot = manifests(paths, now)?;
    named(paths, &snapshot)?;
    Ok(snapshot)
}

/// Those that the API server lets pass: another could be stricter than any of these.
const ACCESS_MODES: [&str; 4] = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];

/// An object of a cluster has a name, and a namespace where its kind lives in one. By hand, both can be left out.
fn named(paths: &[String], snapshot: &Snapshot) -> Result<()> {
    let lacks = |what: &str| {
        Failure::bad_input(format!("{}: {what}, which every object of a cluster has", paths.join(", "))).hint(WANTED)
    };
    for claim in snapshot.persistent_volume_claims.iter() {
        let modes = claim.spec.iter().flat_map(|s| &s.access_modes);
        if let Some(mode) = modes.into_iter().find(|mode| !ACCESS_MODES.contains(&mode.as_str())) {
            let path = claim.meta.path();
            let what = format!("PersistentVolumeClaim {path}: spec.accessModes: {mode:?} is no access mode");
            return Err(Failure::bad_input(format!("{}: {what}", paths.join(", "))).hint(WANTED));
        }
    }
    for (kind, namespaced, meta) in snapshot.metas() {
        if meta.name.is_empty() {
            return Err(lacks(&format!("a {kind} has no metadata.name")));
        }
        if namespaced && meta.ns().is_empty() {
            return Err(lacks(&format!("{kind} {} has no metadata.namespace", meta.name)));
        }
    }
    Ok(())
}

/// Reads objects that are not of a cluster yet, as [`load`] reads those that are.
///
/// # Errors
/// As [`load`].
pub fn manifests(paths: &[String], now: Option<Timestamp>) -> Result<Snapshot> {
    let mut builder = Builder::default();
    for path in paths {
        for file in expand(path)? {
            read_one(&file, &mut builder)?;
        }
    }
    if builder.is_empty() {
        return Err(Failure::bad_input(format!("{}: there is no Kubernetes object in it", paths.join(", ")))
            .hint("write one with: kubectl get pdb,pods,nodes,deploy,rs,sts -A -o json > cluster.json"));
    }
    Ok(builder.finish(Source { files: paths.to_vec(), ..Source::default() }, now))
}

/// Reads what a file would hold.
///
/// # Errors
/// As [`load`].
#[cfg(any(test, fuzzing))]
#[cfg_attr(not(feature = "live"), allow(dead_code, reason = "fuzzing has everything"))]
pub fn from_bytes(bytes: &[u8]) -> Result<Snapshot> {
    let mut builder = Builder::default();
    read_raw("input", bytes, &mut builder)?;
    let snapshot = builder.finish(Source::default(), None);
    named(&[], &snapshot)?;
    Ok(snapshot)
}

/// One input: its name for messages, and its path (`None` for standard input).
struct Input {
    name: String,
    path: Option<PathBuf>,
}

fn expand(path: &str) -> Result<Vec<Input>> {
    if path == "-" {
        return Ok(vec![Input { name: "standard input".to_owned(), path: None }]);
    }
    let cannot_read = |e: io::Error| cannot_read(path, e);
    if !fs::metadata(path).map_err(cannot_read)?.is_dir() {
        return Ok(vec![Input { name: path.to_owned(), path: Some(path.into()) }]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(cannot_read)? {
        let file = entry.map_err(cannot_read)?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        if [".json", ".yaml", ".yml"].iter().any(|e| plain.ends_with(e)) && file.is_file() {
            files.push(Input { name: file.display().to_string(), path: Some(file) });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.is_empty() {
        return Err(Failure::bad_input(format!("{path}: there is no .json, .yaml or .yml file in it")));
    }
    Ok(files)
}

fn read_one(input: &Input, builder: &mut Builder) -> Result<()> {
    let name = &input.name;
    let cannot_read = |e: io::Error| cannot_read(name, e);
    let raw: Box<dyn Read> = match &input.path {
        Some(path) => Box::new(open(path).map_err(cannot_read)?),
        None => Box::new(io::stdin().lock()),
    };
    read_raw(name, BufReader::new(raw), builder)
}

fn read_raw(name: &str, mut raw: impl BufRead, builder: &mut Builder) -> Result<()> {
    let cannot_read = |e: io::Error| cannot_read(name, e);
    let start = raw.fill_buf().map_err(cannot_read)?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return read_text(name, BufReader::new(flate2::bufread::MultiGzDecoder::new(raw)), builder);
    }
    read_text(name, raw, builder)
}

fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn read_text(name: &str, mut input: impl BufRead, builder: &mut Builder) -> Result<()> {
    let cannot_read = |e: io::Error| cannot_read(name, e);
    let start = input.fill_buf().map_err(cannot_read)?;
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return Err(Failure::bad_input(format!("{name}: it is UTF-16 text, which Kubernetes never writes")).hint(
            "PowerShell's > writes UTF-16: use  | Out-File -Encoding utf8  or  kubectl … | Set-Content -Encoding utf8",
        ));
    }
    if start.starts_with(&[0xef, 0xbb, 0xbf]) {
        input.consume(3);
    }
    let start = input.fill_buf().map_err(cannot_read)?;
    if start.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{') {
        read_json(name, input, builder)
    } else {
        read_yaml(name, input, builder)
    }
}

const CUT_SHORT: &str = "the file is cut short: write it again";

/// What to give instead of a file that cannot be used.
const WANTED: &str = "give what kubectl get … -o json or -o yaml prints, or kubectl pdb snapshot";

fn read_json(name: &str, input: impl Read, builder: &mut Builder) -> Result<()> {
    list::read(input, builder).map_err(|error| match error {
        ReadError::Split(error) => cannot_cut(name, error),
        ReadError::Item(start, bytes, error) => bad_item(name, Some(start), &bytes, &error),
    })
}

fn cannot_cut(name: &str, error: SplitError) -> Failure {
    match error {
        SplitError::Read(e) => cannot_read(name, e),
        SplitError::Truncated(_) => Failure::bad_input(format!("{name}: {error}")).hint(CUT_SHORT),
        SplitError::Unexpected(..) => Failure::bad_input(format!("{name}: {error}")).hint(WANTED),
    }
}

/// Words for an item that cannot be used: where it stands in the file, and what it is as far as that can be told.
fn bad_item(name: &str, start: Option<Position>, bytes: &[u8], error: &ItemError) -> Failure {
    let place = match (start, error.at) {
        (Some(s), Some((1, column))) => format!(" line {}, column {}:", s.line, s.column + column - 1),
        (Some(s), Some((line, column))) => format!(" line {}, column {column}:", s.line + line - 1),
        (Some(s), None) => format!(" line {}, column {}:", s.line, s.column),
        (None, _) => String::new(),
    };
    let what = describe(bytes).map(|w| format!(" {w}:")).unwrap_or_default();
    Failure::new(FailureKind::BadInput, format!("{name}:{place}{what} {}", error.message)).hint(WANTED)
}

/// `Pod shop/web-1`, where the object says so.
fn describe(bytes: &[u8]) -> Option<String> {
    describe_value(&serde_json::from_slice(bytes).ok()?)
}

fn describe_value(object: &serde_json::Value) -> Option<String> {
    let text = |pointer: &str| object.pointer(pointer).and_then(|v| v.as_str());
    let name = text("/metadata/name")?;
    let path = text("/metadata/namespace").map_or_else(|| name.to_owned(), |ns| format!("{ns}/{name}"));
    Some(format!("{} {path}", text("/kind")?))
}

/// YAML is read whole, and so no more than this.
const LARGEST_YAML: u64 = 256 << 20;

/// YAML comes whole: it is written by hand or by `-o yaml`, and small.
fn read_yaml(name: &str, input: impl Read, builder: &mut Builder) -> Result<()> {
    let mut text = String::new();
    let read = input
        .take(LARGEST_YAML + 1)
        .read_to_string(&mut text)
        .map_err(|e| Failure::bad_input(format!("{name}: it is neither JSON nor YAML text")).caused_by(e))?;
    if read as u64 > LARGEST_YAML {
        return Err(Failure::bad_input(format!("{name}: it is YAML of more than {} MiB", LARGEST_YAML >> 20))
            .hint("give JSON (-o json), which is read object by object"));
    }
    let documents: Vec<serde_json::Value> =
        serde_saphyr::from_multiple_with_options(&text, yaml::options()).map_err(|e| {
            Failure::bad_input(format!("{name}: it is neither JSON nor YAML: {}", e.to_string().trim_end()))
                .hint(WANTED)
        })?;
    let last = documents.iter().rposition(|document| !document.is_null());
    for (at, document) in documents.iter().enumerate() {
        match document {
            serde_json::Value::Null => {}
            serde_json::Value::Object(object) => {
                if is_cut_short(object, Some(at) == last) {
                    let what = describe_value(document).unwrap_or_else(|| "a List".to_owned());
                    return Err(
                        Failure::bad_input(format!("{name}: the input ends in the middle of {what}")).hint(CUT_SHORT)
                    );
                }
                let text = document.to_string();
                list::read(text.as_bytes(), builder).map_err(|error| match error {
                    ReadError::Split(error) => cannot_cut(name, error),
                    // The places in what was made of the YAML are no places in the file.
                    ReadError::Item(_, bytes, error) => bad_item(name, None, &bytes, &error),
                })?;
            }
            _ => {
                return Err(Failure::bad_input(format!("{name}: it is text, and not a Kubernetes object")).hint(WANTED));
            }
        }
    }
    Ok(())
}

/// YAML that breaks off at the end of a line is often YAML all the same. What kubectl writes last is then missing: of a
/// List its kind, of an object that an API server gave (it has a uid) the status.
fn is_cut_short(object: &serde_json::Map<String, serde_json::Value>, is_last: bool) -> bool {
    if !object.contains_key("kind") {
        return object.contains_key("items");
    }
    let has_status = matches!(
        object.get("kind").and_then(|kind| kind.as_str()),
        Some(
            "Pod"
                | "Node"
                | "PodDisruptionBudget"
                | "Deployment"
                | "ReplicaSet"
                | "StatefulSet"
                | "DaemonSet"
                | "Job"
                | "CronJob"
                | "PersistentVolumeClaim"
                | "PersistentVolume"
                | "Namespace"
                | "ResourceQuota"
        )
    );
    let from_server = object.get("metadata").is_some_and(|metadata| metadata.get("uid").is_some());
    is_last && has_status && from_server && !object.contains_key("status")
}
