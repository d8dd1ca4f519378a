//! Webhooks that are asked before a pod is made or bound, and whose backends come and go with the drain.

use super::Simulation;
use super::pods::Stage;
use crate::admission::{Backend, Request, Service, Verb};
use crate::snapshot::pod::Pod;
use std::sync::Arc;

impl Simulation<'_> {
    /// What refuses a request about the pod as nobody answers for it now, in words.
    pub(super) fn unanswered(&self, verb: Verb, pod: &Pod) -> Option<String> {
        let snapshot = self.context.snapshot;
        // Conditions may leave the request out: what cannot be told is not taken to refuse it.
        let mut asked = self
            .context
            .admission
            .seen_by(snapshot, Request::of(verb, pod))
            .filter(|w| w.fails && w.conditions.is_empty());
        asked.find_map(|w| {
            let why = match &w.backend {
                Backend::Url(_) | Backend::Unread(_) => return None,
                Backend::Missing(path) => format!("its Service {path} does not exist"),
                Backend::Service(service) if self.answers(service) => return None,
                Backend::Service(service) => format!("its Service {} has no Ready pod then", service.path),
            };
            let what = match verb {
                Verb::Create => "the creation of pods",
                Verb::Bind => "bindings of pods (pods/binding)",
                Verb::Evict => "evictions",
                Verb::Delete => "deletions of pods",
            };
            Some(format!("{} is asked about {what}, and {why}; its failurePolicy is Fail", w.who()))
        })
    }

    /// Whether a Service has a Ready pod by now.
    fn answers(&self, service: &Service<'_>) -> bool {
        let still = |p: &&Arc<Pod>| self.known(p).map_or_else(|| p.is_ready() && !p.is_terminating(), |sim| sim.ready);
        service.pods.iter().any(still)
            || self.pods.iter().any(|sim| sim.stage == Stage::Bound && sim.ready && service.selects(&sim.pod))
    }
}
