//! Nothing that is meant as a test lies about without being run.

use crate::agreement;
use crate::keeps;
use crate::program::here;
use std::fs;
use std::path::{Path, PathBuf};

fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect()
}

fn folders(folder: &Path) -> Vec<(String, PathBuf)> {
    entries(folder).into_iter().filter(|(_, path)| path.is_dir()).collect()
}

#[test]
fn every_test_is_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ci = fs::read_to_string(root.join(".ci/run")).unwrap();
    let modules = fs::read_to_string(here("it/main.rs")).unwrap();
    let mut forgotten = Vec::new();
    for (name, _) in entries(&here("it")) {
        if name.strip_suffix(".rs").is_some_and(|stem| stem != "main" && !modules.contains(&format!("mod {stem};\n"))) {
            forgotten.push(format!("tests/it/{name}: main.rs has no line for it"));
        }
    }
    for (name, _) in folders(&here("")) {
        if !["agreement", "cases", "it", "manifests"].contains(&&*name) && !ci.contains(&name) {
            forgotten.push(format!("tests/{name}: neither `cargo test` nor .ci/run runs it"));
        }
    }
    // Every folder of cases is run; what lacks a part would be passed over.
    for (command, path) in folders(&here("cases")) {
        for (name, path) in folders(&path) {
            if !["case.json", "cluster.json"].iter().all(|file| path.join(file).exists()) {
                forgotten.push(format!("tests/cases/{command}/{name}: it has no case.json or no cluster.json"));
            }
        }
    }
    for (kind, path) in folders(&here("agreement")) {
        let judged = [agreement::FOLDERS, keeps::FOLDERS].concat().concat();
        if !judged.contains(&&*format!("agreement/{kind}")) {
            forgotten.push(format!("tests/agreement/{kind}: no FOLDERS of tests/it name it"));
        }
        for (name, path) in folders(&path) {
            if !path.join("truth.json").exists() {
                forgotten.push(format!("tests/agreement/{kind}/{name}: it has no truth.json"));
            }
        }
    }
    for (name, _) in folders(&root.join("examples")) {
        if !fs::read_to_string(root.join("README.md")).unwrap().contains(&format!("examples/{name}")) {
            forgotten.push(format!("examples/{name}: the README does not show it"));
        }
    }
    assert!(forgotten.is_empty(), "{}", forgotten.join("\n"));
}
