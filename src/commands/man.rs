//! `man`: manual pages, made from the definition of the command line.

use super::names;
use crate::answer::Answer;
use crate::cli::ManArgs;
use crate::error::{Failure, FailureKind, Result};
use crate::plugin::Plugin;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// A command that does not exist, or a folder that cannot be written to.
pub fn run(args: &ManArgs) -> Result<Answer> {
    let pages = pages();
    if let Some(dir) = &args.dir {
        write(&pages, dir).map_err(|e| {
            Failure::new(FailureKind::Internal, format!("no manual pages in {}", dir.display())).caused_by(e)
        })?;
        return Ok(Answer::new(String::new()));
    }
    let name = args.command.as_deref().map_or_else(|| "kubectl-pdb".to_owned(), |c| format!("kubectl-pdb-{c}"));
    let page = pages.into_iter().find(|p| p.name == name);
    let page = page.ok_or_else(|| {
        let word = args.command.as_deref().unwrap_or_default();
        let command = Plugin::Pdb.command();
        let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let hint = names::hint(word, known.into_iter(), std::iter::empty());
        Failure::usage(format!("there is no command {word:?}")).hint(hint)
    })?;
    Ok(Answer::new(page.text))
}

/// A manual page.
struct Page {
    /// `kubectl-pdb` or `kubectl-pdb-status`: as man finds it for `man kubectl pdb status`.
    name: String,
    /// Its text, in roff.
    text: String,
}

fn write(pages: &[Page], dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    pages.iter().try_for_each(|page| std::fs::write(dir.join(format!("{}.1", page.name)), &page.text))
}

/// The page of the program, and those of its commands.
fn pages() -> Vec<Page> {
    // A page has room for the flags that the helps leave to `options`.
    let shown = |arg: clap::Arg| arg.hide_short_help(false).hide_long_help(false);
    let mut root = Plugin::Pdb.command().mut_args(shown).disable_help_subcommand(true);
    root.build();
    let each = root.get_subcommands().map(|c| page(c, &format!("kubectl-pdb-{}", c.get_name())));
    let mut all: Vec<Page> = each.collect();
    all.insert(0, page(&root, "kubectl-pdb"));
    all
}

fn page(command: &Command, name: &str) -> Page {
    let (examples, statuses) = help_parts(command);
    let usage = command.clone().render_usage().to_string();
    // What stands below the help has sections of its own here.
    let plain = command.clone().name(name.to_owned()).after_help("");
    let about = plain.get_long_about().or(plain.get_about()).map(ToString::to_string).unwrap_or_default();
    let subcommands = plain.get_subcommands().next().is_some();
    let man = Man::new(plain).title(name.to_uppercase()).source(format!("kubectl-pdb {}", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    let mut first = Roff::new();
    first.control("SH", ["SYNOPSIS"]).text([roman(usage.trim_start_matches("Usage: "))]);
    first.control("SH", ["DESCRIPTION"]);
    for paragraph in about.split("\n\n") {
        if paragraph.starts_with("  ") {
            as_it_is(&mut first, paragraph);
        } else {
            first.control("PP", []).text([roman(paragraph)]);
        }
    }
    let mut last = Roff::new();
    if let Some(examples) = examples {
        as_it_is(last.control("SH", ["EXAMPLES"]), &examples);
    }
    if let Some(statuses) = statuses {
        last.control("SH", ["EXIT STATUS"]);
        for status in statuses.trim_end_matches('.').split("; ") {
            match status.split_once(' ') {
                Some((code, words)) if code.parse::<u8>().is_ok() => {
                    last.control("TP", []).text([bold(code)]).text([roman(words)]);
                }
                _ => {
                    last.control("PP", []).text([roman(status)]);
                }
            }
        }
    }
    // Memory takes all that is written to it.
    let _ = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| first.to_writer(&mut text))
        .and_then(|()| if subcommands { man.render_subcommands_section(&mut text) } else { Ok(()) })
        .and_then(|()| man.render_options_section(&mut text))
        .and_then(|()| last.to_writer(&mut text));
    Page { name: name.to_owned(), text: String::from_utf8_lossy(&text).into_owned() }
}

/// Lines that keep their breaks.
fn as_it_is(page: &mut Roff, lines: &str) {
    page.control("nf", []).text([roman(lines)]).control("fi", []);
}

/// The examples and the exit statuses below a command's help.
fn help_parts(command: &Command) -> (Option<String>, Option<String>) {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let part = |head: &str| {
        let from = text.split_once(head)?.1;
        Some(from.split("\n\n").next().unwrap_or(from).trim_matches('\n').to_owned())
    };
    (part("Examples:").or_else(|| part("Example:")), part("Exit status: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_flags_examples_and_exit_statuses() {
        for page in pages() {
            let what = (&page.name, &page.text);
            assert!(page.text.contains(".SH EXAMPLES") && page.text.contains(".SH \"EXIT STATUS\""), "{what:?}");
            assert!(page.text.contains("\\-\\-from"), "{what:?}");
        }
    }

    /// Of an ordinary terminal: examples are not broken, as they are in columns.
    #[test]
    fn examples_fit_eighty_columns() {
        let root = Plugin::Pdb.command();
        for command in root.get_subcommands().chain([&root]) {
            let examples = help_parts(command).0.unwrap();
            let wide: Vec<&str> = examples.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(wide.is_empty(), "{}: {wide:?}", command.get_name());
        }
    }

    #[test]
    fn pages_are_found_by_name() {
        let page = |command: Option<&str>| run(&ManArgs { command: command.map(str::to_owned), dir: None });
        assert!(page(None).unwrap().text.contains("drain\\-plan"));
        assert!(page(Some("status")).unwrap().text.contains("KUBECTL-PDB-STATUS"));
        assert!(page(Some("nothing")).is_err());
    }
}
