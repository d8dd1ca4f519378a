//! Completion: what the shells ask for, kubectl's own completion of plugins, and the names that only the kubeconfig and
//! the cluster know.

#[cfg(feature = "live")]
use crate::cli::Cli;
use crate::plugin::{Called, Plugin};
#[cfg(feature = "live")]
use crate::{cluster, snapshot::Kind};
#[cfg(feature = "live")]
use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::engine::{self, CompletionCandidate};
use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Shells, Zsh};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

/// The variable by which a shell asks, and what it is set to.
const VARIABLE: &str = "COMPLETE";
const SHELLS: Shells<'_> = Shells(&[&Bash, &Fish, &Powershell, &Zsh, &Kubectl]);

/// Answers a shell that asks for completions (by the variable `COMPLETE`) and kubectl (which calls the program
/// `kubectl_complete-pdb`); `false` where none asks.
///
/// # Errors
/// A shell that is not known, or an output that cannot be written.
pub fn answer_shell() -> Result<bool, clap::Error> {
    let here = std::env::current_dir().ok();
    if let Called::Complete(plugin) = Called::here() {
        Kubectl.write_complete(&mut plugin.command(), words(), here.as_deref(), &mut io::stdout())?;
        return Ok(true);
    }
    let program = Plugin::Pdb.program();
    let complete = CompleteEnv::with_factory(|| Plugin::Pdb.command()).shells(SHELLS).bin(program).completer(program);
    complete.try_complete(std::env::args_os(), here.as_deref())
}

/// The line to complete, as words of a command line of `kubectl-pdb`.
fn words() -> Vec<OsString> {
    let args = std::env::args_os();
    match Called::here() {
        Called::Complete(plugin) => plugin.words().iter().map(OsString::from).chain(args.skip(1)).collect(),
        Called::Run(_) => args.skip_while(|word| word != "--").skip(1).collect(),
    }
}

/// The script that makes a shell ask; for kubectl, the program that it runs to complete a plugin. The shells know the
/// program as `kubectl-pdb` alone.
pub fn script(shell: Shell, plugin: Plugin) -> String {
    let (completer, plugin): (&dyn EnvCompleter, _) = match shell {
        Shell::Bash => (&Bash, Plugin::Pdb),
        Shell::Fish => (&Fish, Plugin::Pdb),
        Shell::Powershell => (&Powershell, Plugin::Pdb),
        Shell::Zsh => (&Zsh, Plugin::Pdb),
        Shell::Kubectl => (&Kubectl, plugin),
    };
    let (program, mut text) = (plugin.program(), Vec::new());
    let _ = completer.write_registration(VARIABLE, program, program, program, &mut text); // Memory takes all.
    String::from_utf8_lossy(&text).into_owned()
}

/// Whom a completion script is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// bash
    Bash,
    /// fish
    Fish,
    /// PowerShell
    Powershell,
    /// zsh
    Zsh,
    /// kubectl's own completion of plugins: to be saved as kubectl_complete-pdb in a folder of $PATH
    Kubectl,
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
        let plugin = Called::of(Some(OsStr::new(completer))).plugin();
        write!(
            buf,
            "#!/bin/sh\n\
             # kubectl completes its plugins with a program of this name, which has to be on $PATH and executable.\n\
             {var}=kubectl exec {completer} -- {} \"$@\"\n",
            plugin.words().join(" ")
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
    use super::{Cli, CommandFactory, CompletionCandidate, OsString};
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
        let typed = Typed::of(super::words().into_iter());
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
