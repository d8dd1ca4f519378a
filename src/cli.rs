//! The command line: what the user typed, and the snapshot it asks for.

use crate::commands;
use crate::error::{Failure, Result};
use crate::plugin::Called;
use crate::render::{Format, Screen};
use crate::report::Need;
use crate::snapshot::Snapshot;
use clap::{Args, Parser, Subcommand};
use jiff::Timestamp;

const AFTER_HELP: &str = "\
Examples:
  kubectl pdb status -A                       how many pods each budget lets go
  kubectl pdb drain-plan n1                   what kubectl drain n1 will meet
  kubectl pdb why-pending web-0 -n shop       why a pod is not running
  kubectl pdb snapshot > cluster.json         what these read, as a file ...
  kubectl pdb status -A --from cluster.json   ... to answer from, anywhere

Exit status: 0 answered; 1 could not answer, bad usage included; 2 a node is blocked (drain-plan), or, with \
--exit-code, a budget is never or broken (status) or a pod stays Pending (why-pending); 3 nothing of that is known, \
and something is unknown.";

/// What kubectl drain, the eviction endpoint and the scheduler will say, before they say it.
#[derive(Debug, Parser)]
#[command(name = "kubectl-pdb", bin_name = "kubectl pdb", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = AFTER_HELP)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: Global,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// How many pods each PodDisruptionBudget may lose now, and if none, whether for a while or for ever
    ///
    /// The numbers are worked out from the live pods, as the disruption controller
    /// does, and held against those that it last wrote. The verdict on a budget:
    ///
    ///   allows    a pod may go now
    ///   waits     none may go now, and time can cure it
    ///   never     none may ever go, until somebody changes something
    ///   unused     it selects no pods: it protects and blocks nothing
    ///   broken    it cannot be used as written
    ///   unknown   it could not be judged; never taken as good
    #[command(alias = "st", verbatim_doc_comment)]
    Status(commands::status::StatusArgs),
    /// What kubectl drain will meet on a node: what goes, what waits, what blocks it for ever
    ///
    /// It plays kubectl drain with the flags given to its end, with the pods that
    /// start again elsewhere. Nothing is cordoned or evicted. The verdict on a node:
    ///
    ///   drains    every pod goes when it is first asked to
    ///   waits     every pod goes, some of them only after a while
    ///   blocked   a pod never goes: the drain hangs, or ends with an error
    ///   unknown   it could not be judged; never taken as good
    ///
    /// With nodes or a selector the verdicts are on that one command, which cordons
    /// all its nodes first. Without, each node is judged alone. Nodes of one round
    /// may be drained at the same time; the rounds go one after the other.
    #[command(alias = "plan", verbatim_doc_comment)]
    DrainPlan(commands::drain_plan::DrainPlanArgs),
    /// Why a pod is not running: what refuses it on every node, and why preemption does not help
    ///
    /// The pod is put through the filters and the preemption of kube-scheduler, as
    /// of the cluster's version, on the nodes as they are now.
    ///
    /// What a scheduler's profile adds to the defaults (added affinity, disabled
    /// plugins, extenders) cannot be seen from the API and is not judged.
    #[command(alias = "why", verbatim_doc_comment)]
    WhyPending(commands::why_pending::WhyPendingArgs),
    /// Write what the other commands read of a cluster into a file, to be attached to a ticket
    #[cfg(feature = "live")]
    Snapshot(commands::snapshot::SnapshotArgs),
    /// What a finding code means, an example, and what to do about it
    Explain(commands::explain::ExplainArgs),
    /// The JSON Schema of what -o json writes
    Schema(commands::schema::SchemaArgs),
    /// The script that makes a shell, or kubectl, complete commands, flags and names
    Completion(commands::completion::CompletionArgs),
    /// Manual pages
    #[command(hide = true)]
    Man(commands::man::ManArgs),
}

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
pub struct Global {
    /// The namespace to look at
    #[arg(
        long, short = 'n', global = true, value_name = "NAMESPACE",
        add = clap_complete::engine::ArgValueCandidates::new(crate::complete::namespaces)
    )]
    pub namespace: Option<String>,
    /// Read a file, a directory or - (standard input) instead of a cluster; can be repeated
    #[arg(long, global = true, value_name = "FILE|DIR|-", help_heading = "Input")]
    pub from: Vec<String>,
    /// The time to answer for, in RFC 3339 form [default: the newest time in the files]
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_time, help_heading = "Input")]
    pub now: Option<Timestamp>,
    /// Output format
    #[arg(long, short = 'o', global = true, value_enum, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<Format>,
    /// Leave out the headers of tables
    #[arg(long, global = true, help_heading = "Output")]
    pub no_headers: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    pub color: Color,
    /// How much to say on standard error: 1 what was read, 6 each request
    #[arg(long = "v", short = 'v', global = true, default_value_t = 0, value_name = "N", help_heading = "Output")]
    pub verbosity: u8,
    /// Which cluster, and as whom.
    #[cfg(feature = "live")]
    #[command(flatten)]
    pub connect: crate::cluster::options::ConnectOptions,
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("{text:?} is no time: write it like 2026-01-31T12:00:00Z"))
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Which namespace a command looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    All,
    /// This one.
    Namespace(String),
}

impl Scope {
    /// Whether it takes in a namespace.
    pub fn takes(&self, ns: &str) -> bool {
        match self {
            Self::All => true,
            Self::Namespace(one) => one == ns,
        }
    }
}

/// What a command prints, and how the program ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// For standard output, with colours; the writer takes them out where they do not belong.
    pub text: String,
    /// For standard error: warnings, one a line.
    pub warnings: Vec<String>,
    /// The exit status.
    pub status: u8,
}

impl Answer {
    /// An answer that ends well.
    pub fn new(text: String) -> Self {
        Self { text, warnings: Vec::new(), status: 0 }
    }
}

impl Global {
    /// Where the snapshots come from: the files given, or the cluster.
    ///
    /// # Errors
    /// Flags for both, or a cluster that cannot be found.
    pub fn input(&self) -> Result<Input<'_>> {
        if self.from.is_empty() {
            return self.live();
        }
        #[cfg(feature = "live")]
        if let Some(flag) = self.connect.any_given() {
            return Err(Failure::usage(format!("--from reads files, and {flag} means a cluster: give one of the two")));
        }
        Ok(Input::Files { paths: &self.from, now: self.now })
    }

    #[cfg(feature = "live")]
    fn live(&self) -> Result<Input<'_>> {
        use crate::cluster::{Cluster, Terminal};
        if self.now.is_some() {
            return Err(Failure::usage("--now is for files: a live cluster has its own time").hint("leave it out"));
        }
        Ok(Input::Live(Box::new(Cluster::connect(&self.connect, Terminal::new())?)))
    }

    #[cfg(not(feature = "live"))]
    #[expect(clippy::unused_self, reason = "the other build needs it")]
    fn live(&self) -> Result<Input<'_>> {
        Err(Failure::usage("this build reads files only").hint("use --from FILE"))
    }

    /// The namespace that names without one belong to: the flag's, else the context's, else `default`.
    pub fn scope(&self, all: bool) -> Scope {
        if all {
            return Scope::All;
        }
        let given = self.namespace.clone().filter(|name| !name.is_empty());
        Scope::Namespace(given.or_else(|| self.context_namespace()).unwrap_or_else(|| "default".to_owned()))
    }

    #[cfg(feature = "live")]
    fn context_namespace(&self) -> Option<String> {
        if self.from.is_empty() { crate::cluster::namespace(&self.connect) } else { None }
    }

    #[cfg(not(feature = "live"))]
    #[expect(clippy::unused_self, reason = "the other build needs it")]
    fn context_namespace(&self) -> Option<String> {
        None
    }

    /// How and how wide to write.
    pub fn screen(&self) -> Screen {
        use std::io::IsTerminal;
        let number = |name: &str| std::env::var(name).ok().and_then(|c| c.parse().ok());
        let terminal = || {
            let size = || terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
            if std::io::stdout().is_terminal() { number("COLUMNS").or_else(size) } else { None }
        };
        // What is piped is never cut, whatever COLUMNS says; the tests ask for a width of their own.
        let width = number("KUBECTL_PDB_WIDTH").or_else(terminal);
        Screen { format: self.output.unwrap_or_default(), width, no_headers: self.no_headers }
    }
}

/// Where snapshots come from, once or again and again.
pub enum Input<'a> {
    /// Files, which are read anew each time.
    Files {
        /// As the user named them.
        paths: &'a [String],
        /// The time to answer for, where it is given.
        now: Option<Timestamp>,
    },
    /// An API server.
    #[cfg(feature = "live")]
    Live(Box<crate::cluster::Cluster>),
}

impl Input<'_> {
    /// Reads what a command needs.
    ///
    /// # Errors
    /// Files that cannot be read, a server that cannot be reached. What may not be read is a gap instead.
    #[cfg_attr(not(feature = "live"), expect(unused_variables, reason = "files hold what they hold"))]
    pub fn read(&mut self, needs: &[Need], scope: &Scope) -> Result<Snapshot> {
        match self {
            Self::Files { paths, now } => crate::file::load(paths, *now),
            #[cfg(feature = "live")]
            Self::Live(cluster) => {
                let kinds: Vec<_> = needs.iter().map(|need| need.kind).collect();
                let namespace = match scope {
                    Scope::All => None,
                    Scope::Namespace(name) => Some(name.as_str()),
                };
                cluster.read(&crate::cluster::Needs { kinds: &kinds, namespace, node: None })
            }
        }
    }

    /// Reads what a command needs about a pod that is bound to a node: of namespaces its own, and all pods of its node.
    /// `None` where that is no saving (files) or not enough (it has no node, or is not found).
    ///
    /// # Errors
    /// As [`Input::read`].
    #[cfg_attr(not(feature = "live"), expect(unused_variables, reason = "files hold what they hold"))]
    pub fn read_bound(&mut self, needs: &[Need], namespace: &str, pod: &str) -> Result<Option<Snapshot>> {
        match self {
            Self::Files { .. } => Ok(None),
            #[cfg(feature = "live")]
            Self::Live(cluster) => {
                let Some(node) = cluster.node_of(namespace, pod)? else { return Ok(None) };
                let kinds: Vec<_> = needs.iter().map(|need| need.kind).collect();
                let needs = crate::cluster::Needs { kinds: &kinds, namespace: Some(namespace), node: Some(&node) };
                let snapshot = cluster.read(&needs)?;
                // One of the same name may have taken its place.
                let is_bound = snapshot.pods.named(namespace, pod).is_some_and(|pod| pod.node.is_some());
                Ok(is_bound.then_some(snapshot))
            }
        }
    }
}

/// The program: reads the command line, answers, and says how it ends.
pub fn run() -> std::process::ExitCode {
    match crate::complete::answer_shell() {
        Ok(false) => {}
        Ok(true) => return 0.into(),
        Err(e) => {
            let _ = e.print(); // As below.
            return 1.into();
        }
    }
    let cli = match Called::here().plugin().parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(e) => {
            let failed = e.use_stderr();
            let _ = e.print(); // Nothing is left to be done about a closed terminal.
            return u8::from(failed).into();
        }
    };
    match cli.global.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    crate::logging::init(cli.global.verbosity);
    match cli.command.run(&cli.global) {
        Ok(answer) => commands::print(&answer),
        Err(failure) => commands::print_failure(&failure),
    }
}

impl Command {
    fn run(&self, global: &Global) -> Result<Answer> {
        match self {
            Self::Status(args) => commands::status::run(args, global),
            Self::DrainPlan(args) => commands::drain_plan::run(args, global),
            Self::WhyPending(args) => commands::why_pending::run(args, global),
            #[cfg(feature = "live")]
            Self::Snapshot(args) => commands::snapshot::run(args, global),
            Self::Explain(args) => commands::explain::run(args, global),
            Self::Schema(args) => commands::schema::run(args, global),
            Self::Completion(args) => commands::completion::run(args),
            Self::Man(args) => commands::man::run(args),
        }
    }
}
