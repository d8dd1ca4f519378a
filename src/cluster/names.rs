//! Names that the kubeconfig and the server know, for completion and for defaults.

use std::time::Duration;

use super::connection::Cluster;
use super::environment::System;
use super::list::METADATA;
use super::list_meta;
use super::options::ConnectOptions;
use super::progress::Silent;
use super::read::list_of;
use super::target::{self, Configured};
use crate::snapshot::Kind;

/// How long someone who wants a name completed is kept waiting.
const PATIENCE: Duration = Duration::from_secs(2);

/// The namespace that is meant where none is named; `None` where the kubeconfig is of no use. Runs no plugin.
#[must_use]
pub fn namespace(options: &ConnectOptions) -> Option<String> {
    target::namespace(&System, options).ok()
}

/// The names in the kubeconfig, for completion; none where it cannot be read.
#[must_use]
pub fn configured(options: &ConnectOptions) -> Configured {
    target::configured(&System, options.kubeconfig.as_deref())
}

/// The names of objects of a kind, in `namespace` or the one that is meant without, for completion: soon, or none.
#[must_use]
pub fn names(options: &ConnectOptions, kind: Kind, namespace: Option<&str>) -> Vec<String> {
    let found = Cluster::connect(options, Silent).ok().and_then(|cluster| cluster.names(kind, namespace));
    found.unwrap_or_default()
}

impl Cluster {
    fn names(&self, kind: Kind, namespace: Option<&str>) -> Option<Vec<String>> {
        let request = list_of(kind, Some(namespace.unwrap_or(self.namespace())));
        list_meta::names(&self.get_within(PATIENCE, &request.first_page(), METADATA)?)
    }
}
