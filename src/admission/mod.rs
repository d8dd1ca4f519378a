//! Admission: which webhooks see a request about a pod, and who serves them.
//!
//! Whether a webhook denies what it sees, nobody but itself knows. What can be told is whether it sees a request at all,
//! and whether anybody answers it.

mod request;
pub mod webhooks;

pub use request::{Request, Verb};
pub use webhooks::{Backend, Service, Webhook};

use crate::snapshot::Snapshot;

/// Everything that is asked before a request is let in.
#[derive(Debug, Default)]
pub struct Admission<'a> {
    /// The webhooks that see some request about pods, in the order of their configurations.
    pub webhooks: Vec<Webhook<'a>>,
}

impl<'a> Admission<'a> {
    /// What a cluster has of it.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self { webhooks: webhooks::all(snapshot) }
    }

    /// Whether anything is asked before pods are created or bound.
    pub fn guards_pods(&self) -> bool {
        let guards = |w: &Webhook<'_>| w.verbs.contains(&Verb::Create) || w.verbs.contains(&Verb::Bind);
        self.webhooks.iter().any(guards)
    }

    /// The webhooks that see a request.
    pub fn seen_by<'s>(
        &'s self,
        snapshot: &'s Snapshot,
        request: Request<'s>,
    ) -> impl Iterator<Item = &'s Webhook<'a>> + use<'s, 'a> {
        self.webhooks.iter().filter(move |w| w.sees(snapshot, request))
    }
}
