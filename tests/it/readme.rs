//! The README shows what the program prints. With `BLESS=1` in the environment, the README is written anew.

use crate::program::program;
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
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, written).unwrap();
    } else {
        assert!(text == written, "the README is out of date: run  BLESS=1 cargo test --test it readme");
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
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, picture).unwrap();
    } else {
        let shown = std::fs::read_to_string(&path).unwrap();
        assert!(shown == picture, "the picture is out of date: run  BLESS=1 cargo test --test it readme");
    }
}
