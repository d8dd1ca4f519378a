//! Completion: what the shells ask for, kubectl's own completion of plugins, and the names that only the kubeconfig and
//! the cluster know.

use crate::cli::Cli;
#[cfg(feature = "live")]
use crate::{cluster, snapshot::Kind};
use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::engine::{self, CompletionCandidate};
use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Shells, Zsh};
#[cfg(feature = "live")]
use std::ffi::OsStr;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

/// The name of the executable, which is also what the shells complete.
const PROGRAM: &str = "kubectl-pdb";
const SHELLS: Shells<'_> = Shells(&[&Bash, &Fish, &Powershell, &Zsh, &Kubectl]);

/// Answers a shell that asks for completions or for its script (by the variable `COMPLETE`); `false` where none asks.
///
/// # Errors
/// A shell that is not known, or an output that cannot be written.
pub fn answer_shell() -> Result<bool, clap::Error> {
    let complete = CompleteEnv::with_factory(Cli::command).shells(SHELLS).bin(PROGRAM).completer(PROGRAM);
    complete.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref())
}

/// kubectl's own completion of plugins: kubectl runs the program `kubectl_complete-pdb` with the words that stand
/// behind `kubectl pdb`, the last of which is to be completed, and takes what cobra would print.
struct Kubectl;

/// Cobra's directive that says not to complete the names of files.
const NO_FILES: &str = ":4";

impl EnvCompleter for Kubectl {
    fn name(&self) -> &'static str {
        "kubectl"
    }

    fn is(&self, name: &str) -> bool {
        name == "kubectl"
    }

    fn write_registration(
        &self,
        var: &str,
        _name: &str,
        _bin: &str,
        completer: &str,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        write!(
            buf,
            "#!/bin/sh\n\
             # kubectl completes its plugins with a program of this name, which has to be on $PATH and executable.\n\
             {var}=kubectl exec {completer} -- {completer} \"$@\"\n"
        )
    }

    fn write_complete(
        &self,
        cmd: &mut clap::Command,
        args: Vec<OsString>,
        current_dir: Option<&Path>,
        buf: &mut dyn Write,
    ) -> io::Result<()> {
        let last = args.len().saturating_sub(1);
        for candidate in engine::complete(cmd, args, last, current_dir)? {
            let value = candidate.get_value().to_string_lossy();
            match candidate.get_help().map(ToString::to_string) {
                Some(help) => writeln!(buf, "{value}\t{}", help.lines().next().unwrap_or_default())?,
                None => writeln!(buf, "{value}")?,
            }
        }
        writeln!(buf, "{NO_FILES}")
    }
}

macro_rules! sources {
    ($($(#[$doc:meta])* $name:ident = $names:expr;)*) => { $(
        $(#[$doc])*
        #[cfg(feature = "live")]
        #[must_use]
        pub fn $name() -> Vec<CompletionCandidate> {
            live::candidates($names)
        }

        $(#[$doc])*
        #[cfg(not(feature = "live"))]
        #[must_use]
        pub fn $name() -> Vec<CompletionCandidate> {
            Vec::new()
        }
    )* };
}

sources! {
    /// The contexts of the kubeconfig.
    contexts = |typed| cluster::configured(&typed.connect).contexts;
    /// The clusters of the kubeconfig.
    clusters = |typed| cluster::configured(&typed.connect).clusters;
    /// The users of the kubeconfig.
    users = |typed| cluster::configured(&typed.connect).users;
    /// The namespaces of the cluster.
    namespaces = |typed| typed.names(Kind::Namespace);
    /// The budgets of the namespace that is meant.
    budgets = |typed| typed.names(Kind::PodDisruptionBudget);
    /// The nodes of the cluster.
    nodes = |typed| typed.names(Kind::Node);
    /// The pods of the namespace that is meant.
    pods = |typed| typed.names(Kind::Pod);
}

/// Names that the kubeconfig and the cluster know.
#[cfg(feature = "live")]
mod live {
    use super::{Cli, CommandFactory, CompletionCandidate, OsStr, OsString};
    use crate::cluster::{self, ConnectOptions};
    use crate::snapshot::Kind;
    use clap::FromArgMatches;

    /// What is typed before the word to complete: the cluster and the namespace to look into.
    #[derive(Debug, Default)]
    pub struct Typed {
        pub connect: ConnectOptions,
        pub namespace: Option<String>,
        /// Whether files are read, so that a cluster has nothing to say.
        pub from_files: bool,
    }

    impl Typed {
        pub fn of(words: impl Iterator<Item = OsString>) -> Self {
            // Half a command line is full of errors.
            let command = Cli::command().ignore_errors(true);
            let Ok(matches) = command.try_get_matches_from(words) else { return Self::default() };
            let one = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
            Self {
                connect: ConnectOptions::from_arg_matches(&matches).unwrap_or_default(),
                namespace: one("namespace"),
                from_files: one("from").is_some(),
            }
        }

        pub fn names(&self, kind: Kind) -> Vec<String> {
            cluster::names(&self.connect, kind, self.namespace.as_deref())
        }
    }

    pub fn candidates(names: impl Fn(&Typed) -> Vec<String>) -> Vec<CompletionCandidate> {
        let typed = Typed::of(std::env::args_os().skip_while(|word| word != OsStr::new("--")).skip(1));
        if typed.from_files {
            return Vec::new();
        }
        names(&typed).into_iter().map(CompletionCandidate::new).collect()
    }
}

#[cfg(all(test, feature = "live"))]
mod tests {
    use super::live::Typed;

    #[test]
    fn half_a_command_line_says_where_to_look() {
        let typed = |line: &str| Typed::of(line.split(' ').map(Into::into));
        let got = typed("kubectl-pdb status -n shop --context two --as");
        assert_eq!((got.namespace.as_deref(), got.connect.context.as_deref()), (Some("shop"), Some("two")));
        let got = typed("kubectl-pdb --context=two status --no-such-flag x");
        assert_eq!(got.connect.context.as_deref(), Some("two"));
        assert!(typed("kubectl-pdb status --from x ").from_files);
        assert_eq!(typed("kubectl-pdb").namespace, None);
    }
}
