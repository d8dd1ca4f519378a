//! Admission: which webhooks and policies see a request about a pod, and who serves the webhooks.
//!
//! Whether a webhook denies what it sees, nobody but itself knows, and the expressions of policies are not evaluated. What
//! can be told is whether they see a request at all, and whether anybody answers for a webhook.

pub mod policies;
mod request;
pub mod webhooks;

pub use policies::BoundPolicy;
pub use request::{Request, Verb};
pub use webhooks::{Backend, Service, Webhook};

use crate::snapshot::Snapshot;

/// Everything that is asked before a request is let in.
#[derive(Debug, Default)]
pub struct Admission<'a> {
    /// The webhooks that see some request about pods, in the order of their configurations.
    pub webhooks: Vec<Webhook<'a>>,
    /// The policies that can deny some request about pods, in the order of their bindings.
    pub policies: Vec<BoundPolicy<'a>>,
}

impl<'a> Admission<'a> {
    /// What a cluster has of it.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self { webhooks: webhooks::all(snapshot), policies: policies::all(snapshot) }
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
