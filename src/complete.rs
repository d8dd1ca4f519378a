//! Completion: what the shells ask for, kubectl's own completion of plugins, and the names that only the kubeconfig and
//! the cluster know.

use crate::cli::Shell;
use crate::finding::Code;
use crate::plugin::{Invocation, Plugin};
use crate::render::FORMATS;
#[cfg(feature = "live")]
use crate::{
    cluster::{self, ConnectOptions},
    snapshot::Kind,
};
#[cfg(feature = "live")]
use clap::FromArgMatches;
use clap::{Arg, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::{self, ArgValueCandidates, CompletionCandidate};
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
    if let Invocation::Complete(plugin) = Invocation::here() {
        Kubectl.write_complete(&mut completed(plugin), words(), here.as_deref(), &mut io::stdout())?;
        return Ok(true);
    }
    let program = Plugin::Pdb.program();
    let complete = CompleteEnv::with_factory(|| completed(Plugin::Pdb)).shells(SHELLS).bin(program).completer(program);
    complete.try_complete(std::env::args_os(), here.as_deref())
}

/// The line to complete, as words of a command line of `kubectl-pdb`.
fn words() -> Vec<OsString> {
    let args = std::env::args_os();
    match Invocation::here() {
        Invocation::Complete(plugin) => plugin.words().iter().map(OsString::from).chain(args.skip(1)).collect(),
        Invocation::Run(_) => args.skip_while(|word| word != "--").skip(1).collect(),
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
        let plugin = Invocation::of(Some(OsStr::new(completer))).plugin();
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
        cmd: &mut Command,
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

/// Where the values of an argument come from.
type Source = fn() -> Vec<CompletionCandidate>;

/// The arguments whose values are completed, by command; those of every command have none.
const SOURCES: &[(&str, &str, Source)] = &[
    ("explain", "codes", codes),
    ("", "output", formats),
    #[cfg(feature = "live")]
    ("", "context", || known(|typed| cluster::configured(&typed.connect).contexts)),
    #[cfg(feature = "live")]
    ("", "cluster", || known(|typed| cluster::configured(&typed.connect).clusters)),
    #[cfg(feature = "live")]
    ("", "user", || known(|typed| cluster::configured(&typed.connect).users)),
    #[cfg(feature = "live")]
    ("", "namespace", || known(|typed| typed.names(Kind::Namespace))),
    #[cfg(feature = "live")]
    ("status", "names", || known(|typed| typed.names(Kind::PodDisruptionBudget))),
    #[cfg(feature = "live")]
    ("drain-plan", "nodes", || known(|typed| typed.names(Kind::Node))),
    #[cfg(feature = "live")]
    ("why-pending", "names", || known(|typed| typed.names(Kind::Pod))),
];

/// The plugin's command line with the sources of its values.
fn completed(plugin: Plugin) -> Command {
    SOURCES.iter().fold(plugin.command(), |command, (name, argument, source)| {
        let with = |a: Arg| a.add(ArgValueCandidates::new(*source));
        match *name {
            "" => command.mut_arg(*argument, with),
            name => command.mut_subcommand(name, |c| c.mut_arg(*argument, with)),
        }
    })
}

fn formats() -> Vec<CompletionCandidate> {
    FORMATS.iter().map(|(word, _, help)| CompletionCandidate::new(*word).help(Some((*help).into()))).collect()
}

fn codes() -> Vec<CompletionCandidate> {
    let candidate = |c: &Code| CompletionCandidate::new(c.as_str()).help(Some(c.meaning().into()));
    Code::ALL.iter().map(candidate).collect()
}

/// Names that the kubeconfig and the cluster know.
#[cfg(feature = "live")]
fn known(names: impl Fn(&Typed) -> Vec<String>) -> Vec<CompletionCandidate> {
    let typed = Typed::of(words().into_iter());
    if typed.from_files { Vec::new() } else { names(&typed).into_iter().map(CompletionCandidate::new).collect() }
}

/// What is typed before the word to complete: the cluster and the namespace to look into.
#[cfg(feature = "live")]
#[derive(Debug, Default)]
struct Typed {
    connect: ConnectOptions,
    namespace: Option<String>,
    /// Whether files are read, so that a cluster has nothing to say.
    from_files: bool,
}

#[cfg(feature = "live")]
impl Typed {
    fn of(words: impl Iterator<Item = OsString>) -> Self {
        // Half a command line is full of errors.
        let command = Plugin::Pdb.command().ignore_errors(true);
        let Ok(matches) = command.try_get_matches_from(words) else { return Self::default() };
        let one = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
        Self {
            connect: ConnectOptions::from_arg_matches(&matches).unwrap_or_default(),
            namespace: one("namespace"),
            from_files: one("from").is_some(),
        }
    }

    fn names(&self, kind: Kind) -> Vec<String> {
        cluster::names(&self.connect, kind, self.namespace.as_deref())
    }
}

#[cfg(all(test, feature = "live"))]
mod tests {
    use super::*;

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

    #[test]
    fn every_source_has_its_argument() {
        completed(Plugin::Pdb).debug_assert();
        for (name, argument, _) in SOURCES {
            let root = Plugin::Pdb.command();
            let command = if name.is_empty() { &root } else { root.find_subcommand(name).unwrap() };
            assert!(command.get_arguments().any(|a| a.get_id() == argument), "{name} {argument}");
        }
    }
}
