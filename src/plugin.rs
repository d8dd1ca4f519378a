//! The name that the program was called by: kubectl finds plugins, and what completes them, by the names of files.

use crate::cli::Cli;
use clap::{Arg, Command, CommandFactory, FromArgMatches};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The two names that the program is installed by. The second one is for plugin indexes that take no name of a core
/// API resource: `kubectl drain-plan NODE` is `kubectl pdb drain-plan NODE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plugin {
    /// `kubectl pdb`.
    Pdb,
    /// `kubectl drain-plan`.
    DrainPlan,
}

/// What the name of the executable asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invocation {
    /// To run as this plugin.
    Run(Plugin),
    /// To complete a line of this plugin: kubectl runs `kubectl_complete-pdb` with the words behind `kubectl pdb`.
    Complete(Plugin),
}

/// The heading of the flags that choose a cluster and a user.
pub const CLUSTER: &str = "Cluster options";

impl Plugin {
    /// The executable's name.
    pub fn program(self) -> &'static str {
        match self {
            Self::Pdb => "kubectl-pdb",
            // kubectl turns a dash within a plugin's name into an underscore.
            Self::DrainPlan => "kubectl-drain_plan",
        }
    }

    /// The words that stand in the place of the executable's name on a command line of `kubectl-pdb`.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Pdb => &["kubectl-pdb"],
            Self::DrainPlan => &["kubectl-pdb", "drain-plan"],
        }
    }

    /// The command line's definition, with the help as a user of this plugin has to read it.
    pub fn command(self) -> Command {
        // As kubectl has it: what a flag of the cluster means stands in `kubectl pdb options`.
        let of_kubectl = |arg: &Arg| arg.get_help_heading() == Some(CLUSTER);
        let hidden = |arg: Arg| arg.hide_short_help(true).hide_long_help(true);
        let command = Cli::command().mut_args(|arg| if of_kubectl(&arg) { hidden(arg) } else { arg });
        match self {
            Self::Pdb => command,
            Self::DrainPlan => command.bin_name("kubectl").mut_subcommand("drain-plan", |plan| {
                let examples = plan.get_after_help().map(|text| in_words_of_drain_plan(&text.to_string()));
                plan.after_help(examples.unwrap_or_default())
            }),
        }
    }

    /// Reads a command line; `args` begins with the executable's name.
    ///
    /// # Errors
    /// As clap has it: bad usage, and also a wish for help or the version.
    pub fn parse(self, args: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
        let words = self.words().iter().map(OsString::from).chain(args.skip(1));
        Cli::from_arg_matches(&self.command().try_get_matches_from(words)?)
    }
}

fn in_words_of_drain_plan(text: &str) -> String {
    text.replace("kubectl pdb drain-plan", "kubectl drain-plan")
}

impl Invocation {
    /// From the first word of the command line.
    pub fn of(first: Option<&OsStr>) -> Self {
        // Not file_stem: a version or an architecture after a dot is no other name.
        let name = first.and_then(|word| Path::new(word).file_name()).unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        match name {
            "kubectl-drain_plan" => Self::Run(Plugin::DrainPlan),
            "kubectl_complete-pdb" => Self::Complete(Plugin::Pdb),
            "kubectl_complete-drain_plan" => Self::Complete(Plugin::DrainPlan),
            _ => Self::Run(Plugin::Pdb),
        }
    }

    /// From this process's command line.
    pub fn here() -> Self {
        Self::of(std::env::args_os().next().as_deref())
    }

    /// The plugin meant.
    pub fn plugin(self) -> Plugin {
        match self {
            Self::Run(plugin) | Self::Complete(plugin) => plugin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_what_is_wanted() {
        for (first, want) in [
            ("kubectl-pdb", Invocation::Run(Plugin::Pdb)),
            ("/opt/bin/kubectl-pdb-0.1", Invocation::Run(Plugin::Pdb)),
            ("/home/me/.krew/bin/kubectl-drain_plan", Invocation::Run(Plugin::DrainPlan)),
            ("kubectl-drain_plan.exe", Invocation::Run(Plugin::DrainPlan)),
            ("./kubectl_complete-pdb", Invocation::Complete(Plugin::Pdb)),
            ("kubectl_complete-drain_plan", Invocation::Complete(Plugin::DrainPlan)),
            ("", Invocation::Run(Plugin::Pdb)),
        ] {
            assert_eq!(Invocation::of(Some(OsStr::new(first))), want, "{first}");
        }
        assert_eq!(Invocation::of(None), Invocation::Run(Plugin::Pdb));
    }

    fn help(plugin: Plugin, args: &[&str]) -> String {
        let args = std::iter::once(plugin.program()).chain(args.iter().copied()).map(OsString::from);
        plugin.parse(args).unwrap_err().to_string()
    }

    #[test]
    fn help_follows_the_name() {
        assert!(help(Plugin::Pdb, &["drain-plan", "--help"]).contains("Usage: kubectl pdb drain-plan "));
        let text = help(Plugin::DrainPlan, &["--help"]);
        assert!(text.contains("Usage: kubectl drain-plan ") && !text.contains("kubectl pdb drain-plan"), "{text}");
    }
}
