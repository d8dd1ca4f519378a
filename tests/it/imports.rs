//! Which file of `src/` imports which: no circle between files, and no arrow that goes up the order of the layers.
//! `cargo test --test it imports -- --nocapture` lists what there is.
//!
//! What counts is every path that begins with `crate`, `self`, `super`, a child's name or the name of a module that was
//! imported, in a `use` or elsewhere, outside tests. What a `mod.rs` hands on (`pub use child::Name`) counts as the child's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The layers, from the lowest: a module imports only modules of lines above its own.
const LAYERS: &[&[&str]] = &[
    &["duration", "error", "lists", "logging"],
    &["wire"],
    &["snapshot"],
    &["shell"],
    &["cure"],
    &["finding"],
    &["admission", "budget"],
    &["cel"],
    &["sched"],
    &["quota"],
    &["autoscale"],
    &["pending"],
    &["drain"],
    &["check"],
    &["report"],
    &["render"],
    &["cluster", "file"],
    &["cli"],
    &["answer", "input", "plugin"],
    &["complete"],
    &["commands"],
    &["fuzz"],
    &["main"],
];

/// A module as its path below the crate; empty for `lib.rs`.
type Module = Vec<String>;

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words and signs of Rust source, without comments, strings and characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let raw = rest.trim_start_matches(['r', 'b']).trim_start_matches('#');
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("r\"") || rest.starts_with("r#\"") || rest.starts_with("br\"") {
            let hashes = "#".repeat(rest.matches('#').count().min(usize::from(rest.starts_with("r#"))));
            let from = rest.len() - raw.len() + 1;
            from + raw[1..].find(&format!("\"{hashes}")).map_or(raw.len() - 1, |at| at + 1 + hashes.len())
        } else if c == '"' {
            1 + end_of_string(&rest[1..])
        } else if c == '\'' {
            // A lifetime has no second quote behind its first character.
            let character = rest.char_indices().nth(if rest[1..].starts_with('\\') { 3 } else { 2 });
            match character {
                Some((_, '\'')) if rest[1..].starts_with('\\') => 4,
                Some((at, '\'')) => at + 1,
                _ if rest[1..].starts_with("\\u") => rest.find("}'").map_or(1, |at| at + 2),
                _ => 1,
            }
        } else if word > 0 {
            tokens.push(rest[..word].to_owned());
            word
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
            c.len_utf8()
        };
        rest = &rest[skipped..];
    }
    tokens
}

fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Without what only tests have; and the names of the files among it.
fn without_tests(tokens: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut kept, mut files) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let ahead =
            |from: usize, words: &[&str]| tokens[from..].iter().map(String::as_str).zip(words).all(|(t, w)| t == *w);
        if !ahead(at, &["#", "[", "cfg", "(", "test"]) && !ahead(at, &["#", "[", "cfg", "(", "all", "(", "test"]) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let mut depth = 0;
        let start = at + tokens[at..].iter().position(|t| t == "]").unwrap_or_default() + 1;
        for (offset, token) in tokens[start..].iter().enumerate() {
            match token.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                ";" if depth == 0 => files.push(tokens[start + offset - 1].clone()),
                _ => {}
            }
            at = start + offset + 1;
            if depth == 0 && matches!(token.as_str(), "}" | ";") {
                break;
            }
        }
    }
    (kept, files)
}

/// A file, as far as imports go.
#[derive(Default)]
struct File {
    /// Every path in it, from the crate on.
    paths: Vec<Module>,
    /// What it hands on, by name.
    handed_on: BTreeMap<String, Module>,
}

/// Reads the paths of a file.
struct Reader<'a> {
    tokens: &'a [String],
    module: &'a Module,
    children: BTreeSet<&'a str>,
    /// What was imported, by the name it has in this file.
    names: BTreeMap<String, Module>,
}

impl Reader<'_> {
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", String::as_str)
    }

    /// Where a path leads that begins with this word; `None` where it leaves the crate.
    fn start(&self, word: &str) -> Option<Module> {
        match word {
            "crate" | "kubectl_pdb" => Some(Vec::new()),
            "self" => Some(self.module.clone()),
            "super" => Some(self.module[..self.module.len().saturating_sub(1)].to_vec()),
            child if self.children.contains(child) => Some([&self.module[..], &[child.to_owned()]].concat()),
            name => self.names.get(name).cloned(),
        }
    }

    /// The paths of a tree whose first part ends before `at`, with the names that they are called by; and where it ends.
    fn tree(&self, prefix: &Module, mut at: usize, found: &mut Vec<(Module, String)>) -> usize {
        let mut path = prefix.clone();
        while self.word(at) == "::" {
            match self.word(at + 1) {
                "{" => {
                    at += 2;
                    while at < self.tokens.len() && self.word(at) != "}" {
                        match self.word(at) {
                            "," => at += 1,
                            "self" => {
                                at += 1;
                                at = self.leaf(path.clone(), at, found);
                            }
                            word => at = self.tree(&[&path[..], &[word.to_owned()]].concat(), at + 1, found),
                        }
                    }
                    return at + 1;
                }
                "super" => {
                    path.pop();
                }
                word if word.starts_with(is_word) || word == "*" => path.push(word.to_owned()),
                _ => break,
            }
            at += 2;
        }
        self.leaf(path, at, found)
    }

    fn leaf(&self, path: Module, at: usize, found: &mut Vec<(Module, String)>) -> usize {
        let renamed = self.word(at) == "as";
        let name = if renamed { self.word(at + 1) } else { path.last().map_or("", String::as_str) }.to_owned();
        found.push((path, name));
        if renamed { at + 2 } else { at }
    }

    fn read(mut self) -> File {
        let mut file = File::default();
        let mut words = BTreeSet::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let is_use = self.word(at) == "use";
            let first = at + usize::from(is_use);
            let behind = at.checked_sub(1).map_or("", |before| self.word(before)).to_owned();
            let begins = self.word(first + 1) == "::" && behind != "::";
            let Some(start) = self.start(self.word(first)).filter(|_| begins) else {
                words.insert(&self.tokens[at]);
                at += 1;
                continue;
            };
            let mut found = Vec::new();
            at = self.tree(&start, first + 1, &mut found);
            for (path, name) in found {
                if is_use && matches!(behind.as_str(), "pub" | ")") {
                    file.handed_on.insert(name, path);
                } else if is_use {
                    self.names.insert(name, path.clone());
                    file.paths.push(path);
                } else {
                    file.paths.push(path);
                }
            }
        }
        // What is handed on may be used here as well.
        file.paths.extend(file.handed_on.iter().filter(|(name, _)| words.contains(name)).map(|(_, p)| p.clone()));
        file
    }
}

/// All files of the crate, by module.
fn files() -> BTreeMap<Module, File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut texts = BTreeMap::new();
    let mut folders = vec![(root, Vec::new())];
    while let Some((folder, module)) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let below = [&module[..], std::slice::from_ref(&name)].concat();
            if path.is_dir() {
                folders.push((path, below));
            } else if path.extension().is_some_and(|e| e == "rs") {
                let module = if matches!(name.as_str(), "mod" | "lib") { module.clone() } else { below };
                texts.insert(module, without_tests(&tokens(&fs::read_to_string(&path).unwrap())));
            }
        }
    }
    let tests: BTreeSet<Module> = texts
        .iter()
        .flat_map(|(module, (_, names))| names.iter().map(|name| [&module[..], std::slice::from_ref(name)].concat()))
        .collect();
    texts.retain(|module, _| !tests.contains(module));
    let modules: Vec<Module> = texts.keys().cloned().collect();
    let read = |(module, (tokens, _)): (&Module, &(Vec<String>, Vec<String>))| {
        let children = modules.iter().filter(|m| m.len() == module.len() + 1 && m.starts_with(module));
        let children = children.filter_map(|m| m.last()).map(String::as_str).collect();
        let file = Reader { tokens, module, children, names: BTreeMap::new() }.read();
        (module.clone(), file)
    };
    texts.iter().map(read).collect()
}

/// The file that a path leads to.
fn target(files: &BTreeMap<Module, File>, path: &Module) -> Option<Module> {
    let mut path = path.clone();
    for _ in 0..8 {
        let length = (0..=path.len()).rev().find(|length| files.contains_key(&path[..*length]))?;
        let (module, rest) = path.split_at(length);
        let next = rest.first().and_then(|name| files.get(module)?.handed_on.get(name));
        match next {
            Some(next) => path = [&next[..], &rest[1..]].concat(),
            None => return Some(module.to_vec()),
        }
    }
    None
}

/// The imports: from which file to which others.
fn arrows() -> BTreeMap<Module, BTreeSet<Module>> {
    let files = files();
    let of = |(module, file): (&Module, &File)| {
        // A path that is a module itself was imported for what is behind it.
        let paths = file.paths.iter().filter(|path| !files.contains_key(*path));
        let targets = paths.filter_map(|path| target(&files, path));
        (module.clone(), targets.filter(|t| t != module && !t.is_empty()).collect())
    };
    files.iter().map(of).collect()
}

fn reached<'a>(arrows: &'a BTreeMap<Module, BTreeSet<Module>>, from: &'a Module) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        next.extend(arrows.get(module).into_iter().flatten().filter(|to| seen.insert(*to)));
    }
    seen
}

#[test]
fn no_import_goes_in_a_circle() {
    let arrows = arrows();
    let in_circles: Vec<_> = arrows.iter().filter(|(module, _)| reached(&arrows, module).contains(module)).collect();
    println!("{} files, {} in circles", arrows.len(), in_circles.len());
    let circles: Vec<String> = in_circles
        .into_iter()
        .map(|(module, to)| {
            let back = to.iter().filter(|to| reached(&arrows, to).contains(module)).map(|to| to.join("/"));
            format!("{} → {}", module.join("/"), back.collect::<Vec<_>>().join(", "))
        })
        .collect();
    assert!(circles.is_empty(), "these import each other:\n{}", circles.join("\n"));
}

#[test]
fn no_import_goes_up() {
    let layer = |module: &Module| LAYERS.iter().position(|line| line.contains(&module[0].as_str()));
    let mut up = Vec::new();
    for (from, targets) in arrows().iter().filter(|(from, _)| !from.is_empty()) {
        for to in targets.iter().filter(|to| to[0] != from[0]) {
            println!("{} → {}", from.join("/"), to.join("/"));
            match (layer(from), layer(to)) {
                (Some(here), Some(there)) if there < here => {}
                (Some(_), Some(_)) => up.push(format!("{} → {}", from.join("/"), to.join("/"))),
                _ => up.push(format!("{} or {} is in no layer: add it to LAYERS", from[0], to[0])),
            }
        }
    }
    assert!(up.is_empty(), "these go up:\n{}", up.join("\n"));
}

#[test]
fn paths_are_read_as_rust_reads_them() {
    let source = r##"
        //! crate::comment::X
        use crate::a::{self, B, c::{D as E, F}};
        pub use child::Name;
        use std::fmt;
        fn f<'a>(x: &'a str) -> char { let _ = ("crate::string::X", '"', '\''); a::g::h(); super::i::<u8>(); 'x' }
        #[cfg(test)]
        mod tests { use crate::test::X; }
        #[cfg(test)]
        mod more;
        fn g() { crate::z::Z::new() }
    "##;
    let (tokens, tests) = without_tests(&tokens(source));
    let module = vec!["m".to_owned(), "n".to_owned()];
    let reader = Reader { tokens: &tokens, module: &module, children: ["child"].into(), names: BTreeMap::new() };
    let file = reader.read();
    let paths: Vec<String> = file.paths.iter().map(|path| path.join("::")).collect();
    assert_eq!(paths, ["a", "a::B", "a::c::D", "a::c::F", "a::g::h", "m::i", "z::Z::new"]);
    assert_eq!(file.handed_on["Name"].join("::"), "m::n::child::Name");
    assert_eq!(tests, ["more"]);
}
