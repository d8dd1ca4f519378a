//! What a command reads: files or a cluster, once or again and again.

use crate::cli::Global;
use crate::error::{Failure, Result};
use crate::report::Need;
use crate::snapshot::coverage::ReadOutcome;
use crate::snapshot::{Kind, Snapshot};
use jiff::Timestamp;

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
        Ok(Input::Files { paths: &self.from, now: self.now, none: &self.none })
    }

    #[cfg(feature = "live")]
    fn live(&self) -> Result<Input<'_>> {
        use crate::cluster::{Cluster, Terminal};
        if self.now.is_some() {
            return Err(Failure::usage("--now is for files: a live cluster has its own time").hint("leave it out"));
        }
        if !self.none.is_empty() {
            return Err(
                Failure::usage("--none is for files: a live cluster says itself what it has").hint("leave it out")
            );
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
}

/// Where snapshots come from, once or again and again.
pub enum Input<'a> {
    /// Files, which are read anew each time.
    Files {
        /// As the user named them.
        paths: &'a [String],
        /// The time to answer for, where it is given.
        now: Option<Timestamp>,
        /// The kinds of which the cluster has none where the files have none.
        none: &'a [Kind],
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
            Self::Files { paths, now, none } => {
                let mut snapshot = crate::file::load(paths, *now)?;
                none.iter().for_each(|kind| snapshot.coverage.note(*kind, ReadOutcome::Read));
                snapshot.coverage.limit_to(match scope {
                    Scope::All => None,
                    Scope::Namespace(namespace) => Some(namespace),
                });
                Ok(snapshot)
            }
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
