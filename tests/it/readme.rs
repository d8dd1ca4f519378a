//! The README shows what the program prints, and what it may read. With `BLESS=1` in the environment, the README is
//! written anew.

use crate::program::program;
use kubectl_pdb::snapshot::Kind;
use std::path::Path;

/// A block under this mark begins with a command; the rest of it is that command's standard output.
const MARK: &str = "<!-- output -->\n```console\n$ kubectl pdb ";

#[test]
fn the_readme_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut parts = text.split(MARK);
    let mut written = parts.next().unwrap_or_default().to_owned();
    let mut blocks = 0;
    for part in parts {
        let (block, rest) = part.split_once("```\n").expect("a block ends");
        let (command, _) = block.split_once('\n').expect("a command is a line");
        let output = program().current_dir(root).args(command.split(' ')).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(!printed.is_empty(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        written.push_str(&format!("{MARK}{command}\n{printed}```\n{rest}"));
        blocks += 1;
    }
    assert!(blocks >= 2, "the README shows the commands");
    let (before, rest) = written.split_once(RIGHTS).expect("the README shows the rights");
    let (_, after) = rest.split_once("```\n").expect("a block ends");
    keep(&path, &format!("{before}{RIGHTS}{}```\n{after}", rights()));
}

/// The rights stand in a block under this mark.
const RIGHTS: &str = "<!-- rights -->\n```yaml\n";

/// The ClusterRole with all that is read: of the kinds of the table, a rule for each API group.
fn rights() -> String {
    let mut rules: Vec<(&str, bool, Vec<&str>)> = Vec::new();
    // The server is asked for an owner's count itself, and leases tell the time of a file.
    for kind in Kind::ALL.iter().filter(|kind| !matches!(kind, Kind::CustomResourceDefinition | Kind::Lease)) {
        let info = kind.info();
        match rules.iter_mut().find(|(group, ..)| *group == info.group) {
            Some((_, _, resources)) => resources.push(info.plural),
            None => rules.push((info.group, info.custom, vec![info.plural])),
        }
    }
    let mut text =
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: kubectl-pdb}\nrules:\n"
            .to_owned();
    for (group, custom, resources) in rules {
        let note = if custom { "   # where this operator is" } else { "" };
        let group = if group.is_empty() { "\"\"" } else { group };
        let mut line = format!("  resources: [{}", resources[0]);
        let mut list = String::new();
        for resource in &resources[1..] {
            if line.len() + resource.len() > 115 {
                list.push_str(&line);
                list.push_str(",\n");
                line = format!("    {resource}");
            } else {
                line.push_str(&format!(", {resource}"));
            }
        }
        text.push_str(&format!("- apiGroups: [{group}]{note}\n{list}{line}]\n  verbs: [get, list]\n"));
    }
    text
}

#[test]
fn the_actors_are_told_as_they_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/actors.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, _) = text.split_once(PROFILES).expect("the page has the profiles");
    keep(&path, &format!("{before}{PROFILES}{}", profiles()));
}

/// The profiles stand under this mark, to the end.
const PROFILES: &str = "<!-- profiles -->\n";

/// How each actor drains: first what differs most, then each with all its settings.
fn profiles() -> String {
    let all = kubectl_pdb::drain::profiles();
    let mut text = String::from("\n| `--by` | deadline | then |\n|---|---|---|\n");
    let setting = |a: &kubectl_pdb::drain::ActorPlan, name: &str| {
        a.settings.iter().find(|(n, _)| *n == name).map(|(_, what)| what.clone()).unwrap_or_default()
    };
    for a in &all {
        text.push_str(&format!(
            "| `{}` | {} | {} |\n",
            a.actor.as_str(),
            setting(a, "deadline"),
            setting(a, "atDeadline")
        ));
    }
    for a in &all {
        text.push_str(&format!(
            "\n## {}\n\nSource: {}.\n\n| setting | what it does |\n|---|---|\n",
            a.actor.as_str(),
            a.source
        ));
        a.settings.iter().for_each(|(name, what)| text.push_str(&format!("| {name} | {what} |\n")));
    }
    text
}

/// Holds a file against what it has to be; or, with `BLESS=1`, writes it anew.
fn keep(path: &Path, wanted: &str) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, wanted).unwrap();
    } else {
        let there = std::fs::read_to_string(path).unwrap();
        let name = path.display();
        assert!(there == wanted, "{name} is out of date: run  BLESS=1 cargo test --test it readme");
    }
}

/// What the picture shows, at the width of the text.
const PICTURED: &[&str] = &["status -A --from examples/budgets", "drain-plan n1 --from examples/drain"];

#[test]
fn the_picture_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut terminal = String::new();
    for command in PICTURED {
        let output = program().current_dir(root).args(command.split(' ')).args(["--color", "always"]).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains("\u{1b}["), "{command} is not coloured: {printed}");
        terminal.push_str(&format!("\u{1b}[1m$ kubectl pdb {command}\u{1b}[0m\n{printed}\n"));
    }
    let picture = anstyle_svg::Term::new().palette(anstyle_svg::WIN10_CONSOLE).render_svg(terminal.trim_end());
    let path = root.join("docs/picture.svg");
    keep(&path, &picture);
}
