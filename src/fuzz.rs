//! What `cargo fuzz` feeds, a function a target; `fuzz/run` builds and runs them. Nothing here may panic, hang or take
//! memory out of proportion, whatever the bytes. What once did is kept in `fuzz/kept/`, and the tests run it again.

use crate::cli::{Cli, Command, Global};
use crate::cluster::{Encoding, Page, each_item};
use crate::file;
use crate::plugin::Plugin;
use crate::render::Format;
use crate::snapshot::builder::Builder;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Kind, Map, Source};
use crate::{commands, duration};
use std::ffi::OsString;
use std::sync::OnceLock;

/// Takes whatever bytes there are.
type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("page", page),
    ("file", file_of_any_kind),
    ("yaml", yaml),
    ("text", text),
    ("kubeconfig", kubeconfig),
    ("engines", engines),
];

/// A page of a list: the first byte says which kind and which encoding, the rest is the page.
pub fn page(input: &[u8]) {
    let Some((first, body)) = input.split_first() else { return };
    let encoding = if first & 1 == 0 { Encoding::Json } else { Encoding::Protobuf };
    let Some(kind) = Kind::ALL.get(usize::from(first >> 1) % Kind::ALL.len()) else { return };
    let page = Page { encoding, body: body.to_vec().into() };
    let mut builder = Builder::default();
    let _ = each_item(&page, |item| drop(builder.add(*kind, item)));
    builder.finish(Source::default(), None);
}

/// A file as it may be given with `--from`: JSON, YAML, gzipped, or something else.
pub fn file_of_any_kind(input: &[u8]) {
    drop(file::from_bytes(input));
}

/// A file in YAML, whatever it begins with.
pub fn yaml(input: &[u8]) {
    drop(file::from_bytes(&[b"---\n", input].concat()));
}

/// What is typed: quantities, durations, selectors.
pub fn text(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    if let Some(quantity) = Quantity::parse(text) {
        let sum = quantity + quantity + Quantity::milli(1);
        let _ = (sum.value(), sum.milli_value(), sum.to_string());
    }
    let _ = (duration::parse(text), duration::parse_timeout(text));
    if let Ok(selector) = LabelSelector::parse(text) {
        selector.matches(&Map::default());
        let again = LabelSelector::parse(&selector.to_string());
        assert!(
            selector.is_everything() || again == Ok(selector),
            "{text:?} is written so that it means something else"
        );
    }
}

/// A kubeconfig, up to the client that would be made of it. Plugins are not run.
pub fn kubeconfig(input: &[u8]) {
    crate::cluster::try_kubeconfig(input);
}

/// A cluster in a file, and what every command says of it: the first byte says which command and format.
pub fn engines(input: &[u8]) {
    let Some((first, bytes)) = input.split_first() else { return };
    let Ok(snapshot) = file::from_bytes(bytes) else { return };
    let Some(line) = lines().get(usize::from(*first) % lines().len()) else { return };
    let format = [Format::Text, Format::Wide, Format::Json, Format::Html][usize::from(first >> 6) & 3];
    let global = Global { output: Some(format.into()), ..line.global.clone() };
    let answer = match &line.command {
        Command::Status(args) => commands::status::about(args, &global, &snapshot),
        Command::DrainPlan(args) => commands::drain_plan::about(args, &global, &snapshot),
        Command::WhyPending(args) => commands::why_pending::about(args, &global, &snapshot),
        _ => return,
    };
    drop(answer);
}

/// Command lines, read once.
fn lines() -> &'static [Cli] {
    static LINES: OnceLock<Vec<Cli>> = OnceLock::new();
    LINES.get_or_init(|| {
        let lines = [
            "status -A",
            "drain-plan",
            "why-pending -A",
            "status -A --exit-code",
            "drain-plan -l kubernetes.io/os!=windows",
            "why-pending -A --exit-code",
            "drain-plan n1 n2 --force --ignore-daemonsets --delete-emptydir-data --grace-period 1 --timeout 30s",
            "drain-plan --disable-eviction --after gone",
        ];
        let parsed = lines.iter().filter_map(|line| {
            let words = ["kubectl-pdb"].into_iter().chain(line.split(' ')).map(OsString::from);
            Plugin::Pdb.parse(words).ok()
        });
        parsed.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::page_of;
    use crate::snapshot::samples;
    use crate::wire::item::Item;
    use serde_json::Value;
    use std::path::{Path, PathBuf};

    /// Writes what fuzzing begins with: objects with every field, the recorded clusters, and the kept inputs.
    #[test]
    #[ignore = "writes fuzz/corpus; fuzz/run calls it"]
    fn write_seeds() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let write = |target: &str, name: String, input: &[u8]| {
            let folder = root.join("fuzz/corpus").join(target);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(name), input).unwrap();
        };
        for (at, (kind, json, protobuf)) in samples().into_iter().enumerate() {
            let json = json.to_string().into_bytes();
            let mut items = vec![(0u8, Item::Json(&json))];
            items.extend(protobuf.as_deref().map(|bytes| (1, Item::Proto(bytes))));
            for (encoding, item) in items {
                let first = u8::try_from(at).unwrap() << 1 | encoding;
                let page = page_of(kind.info().name, &[item, item]);
                write("page", format!("seed-{kind}-{encoding}"), &[&[first][..], &page].concat());
            }
        }
        for (at, case) in cases(&root.join("tests/cases")).into_iter().enumerate() {
            let cluster: Value = serde_json::from_slice(&std::fs::read(case.join("cluster.json")).unwrap()).unwrap();
            let (text, name) = (cluster.to_string(), format!("seed-{at}"));
            if text.len() < 20_000 {
                write("file", name.clone(), text.as_bytes());
                let yaml = crate::render::yaml(&cluster).unwrap();
                write("yaml", name.clone(), yaml.as_bytes());
                for format in 0..4u8 {
                    let first = format << 6 | u8::try_from(at % lines().len()).unwrap();
                    write("engines", format!("{name}-{format}"), &[&[first][..], text.as_bytes()].concat());
                }
            }
        }
        for table in ["quantities", "durations", "selectors"] {
            let lines = std::fs::read_to_string(root.join(format!("tests/tables/{table}.jsonl"))).unwrap();
            for (at, line) in lines.lines().enumerate().filter(|(at, _)| at % 10 == 0) {
                let row: Value = serde_json::from_str(line).unwrap();
                write("text", format!("seed-{table}-{at}"), row[0].as_str().unwrap().as_bytes());
            }
        }
        for (target, _) in TARGETS {
            for input in std::fs::read_dir(root.join("fuzz/kept").join(target)).unwrap() {
                let input = input.unwrap();
                let name = format!("kept-{}", input.file_name().to_string_lossy());
                write(target, name, &std::fs::read(input.path()).unwrap());
            }
        }
    }

    fn cases(root: &Path) -> Vec<PathBuf> {
        let folders = |of: &Path| std::fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
        let mut all: Vec<_> = folders(root).iter().flat_map(|command| folders(command)).collect();
        all.sort();
        all
    }

    /// What once made a target fail, and inputs that reach far.
    #[test]
    fn kept_inputs_do_no_harm() {
        assert_eq!(lines().len(), 8);
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/kept");
        for (name, target) in TARGETS {
            let inputs = std::fs::read_dir(kept.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut run = 0;
            for input in inputs.map(|entry| entry.unwrap().path()) {
                println!("{}", input.display());
                target(&std::fs::read(input).unwrap());
                run += 1;
            }
            assert!(run > 0, "{name} has no input");
        }
    }
}
