//! `InterPodAffinity`: beside which pods the pod must be and must not be, and which pods do not bear it.
//! Mirrors `plugins/interpodaffinity/filtering.go`.

use super::{Filter, Incoming, Prepared};
use crate::sched::catalogue::Class;
use crate::sched::domains::Domains;
use crate::sched::node::{NodeInfo, PodInfo};
use crate::sched::status::{Plugin, Reason, Verdict};
use crate::sched::terms::Term;
use crate::snapshot::Str;
use std::sync::Arc;

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    let affinity = InterPodAffinity::new(incoming);
    let idle = affinity.existing.is_empty() && affinity.near.terms.is_empty() && affinity.far.terms.is_empty();
    if idle { Prepared::Skip } else { Prepared::Runs(Box::new(affinity)) }
}

/// Pods counted per topology key and domain.
struct Counts {
    keys: Vec<(Str, Arc<Domains>, Vec<i64>)>,
    total: i64,
}

impl Counts {
    fn new(incoming: &Incoming<'_>, keys: impl IntoIterator<Item = Str>) -> Self {
        let mut counts = Self { keys: Vec::new(), total: 0 };
        for key in keys {
            if counts.keys.iter().all(|(k, ..)| *k != key) {
                let domains = incoming.state.domains(&key);
                let zeroes = vec![0; domains.len()];
                counts.keys.push((key, domains, zeroes));
            }
        }
        counts
    }

    fn is_empty(&self) -> bool {
        self.total == 0
    }

    fn add(&mut self, key: &Str, node: &NodeInfo, n: i64) {
        let Some((_, domains, counts)) = self.keys.iter_mut().find(|(k, ..)| k == key) else { return };
        if let Some(count) = domains.of(node).and_then(|d| counts.get_mut(d)) {
            *count += n;
            self.total += n;
        }
    }

    /// How many are counted in the node's domain of a key; `None` where the node lacks the label.
    fn at(&self, key: &Str, node: &NodeInfo) -> Option<i64> {
        let (_, domains, counts) = self.keys.iter().find(|(k, ..)| k == key)?;
        counts.get(domains.of(node)?).copied()
    }

    fn any_at(&self, node: &NodeInfo) -> bool {
        self.keys
            .iter()
            .any(|(_, domains, counts)| domains.of(node).and_then(|d| counts.get(d)).is_some_and(|n| *n > 0))
    }
}

/// Terms of the incoming pod with the pods that match them.
struct Terms {
    terms: Vec<Term>,
    /// Which terms match a namespace and label set, by its number: a bit a term.
    by_class: Vec<u64>,
    counts: Counts,
}

impl Terms {
    fn new(incoming: &Incoming<'_>, terms: Vec<Term>) -> Self {
        let keys: Vec<Str> = terms.iter().map(|t| t.topology_key.clone()).collect();
        let snapshot = incoming.snapshot();
        let mut by_class = Vec::new();
        if !terms.is_empty() {
            incoming.state.catalogue().judge_classes(|c| {
                by_class.push(bits(&terms, |t| t.matches(c, snapshot)));
                true
            });
        }
        Self { terms, by_class, counts: Counts::new(incoming, keys) }
    }

    fn all(&self) -> u64 {
        if self.terms.len() >= 64 { u64::MAX } else { (1 << self.terms.len()) - 1 }
    }
}

/// A bit for each term; terms beyond 64 (the API allows them, nobody writes them) share the last.
fn bits(terms: &[Term], matches: impl Fn(&Term) -> bool) -> u64 {
    terms.iter().enumerate().filter(|(_, t)| matches(t)).fold(0, |bits, (i, _)| bits | 1 << i.min(63))
}

struct InterPodAffinity<'a> {
    incoming: Incoming<'a>,
    class: Class,
    /// Required affinity: counted where a pod matches every term.
    near: Terms,
    /// Required anti-affinity: counted for each term a pod matches.
    far: Terms,
    /// Anti-affinity of the pods that are there, where it means the incoming pod.
    existing: Counts,
    /// For each set of anti-affinity terms, the topology keys of those that mean the incoming pod.
    repelling: Vec<Vec<Str>>,
}

impl<'a> InterPodAffinity<'a> {
    fn new(incoming: &Incoming<'a>) -> Self {
        let pod = incoming.pod();
        let namespace = pod.meta.namespace.clone().unwrap_or_else(|| "".into());
        let terms = |list: &[_]| list.iter().map(|t| Term::new(t, &namespace)).collect();
        let near = Terms::new(incoming, terms(&pod.spec.pod_affinity));
        let far = Terms::new(incoming, terms(&pod.spec.pod_anti_affinity));
        let class = Class { namespace: namespace.clone(), labels: pod.meta.labels.clone() };
        let repelling = incoming.state.catalogue().judge_repels(|terms| keys_meaning(terms, &class, incoming));
        let existing = Counts::new(incoming, repelling.iter().flatten().cloned());
        let mut made = Self { incoming: incoming.clone(), class, near, far, existing, repelling };
        made.count_all();
        made
    }

    fn count_all(&mut self) {
        let state = self.incoming.state;
        let any_own = self.near.by_class.iter().chain(&self.far.by_class).any(|b| *b != 0);
        let any_repel = self.repelling.iter().any(|keys| !keys.is_empty());
        for node in state.nodes() {
            if any_own {
                for slot in &node.pods {
                    self.count_own(slot.class as usize, node, 1);
                }
            }
            if any_repel {
                for (id, n) in &node.repels {
                    for key in self.repelling.get(*id as usize).into_iter().flatten() {
                        self.existing.add(key, node, i64::from(*n));
                    }
                }
            }
        }
    }

    fn count_own(&mut self, class: usize, node: &NodeInfo, n: i64) {
        let near = self.near.by_class.get(class).copied().unwrap_or(0);
        let far = self.far.by_class.get(class).copied().unwrap_or(0);
        self.count_bits(near, far, node, n);
    }

    fn count_bits(&mut self, near: u64, far: u64, node: &NodeInfo, n: i64) {
        if near != 0 && near == self.near.all() {
            for term in &self.near.terms {
                self.near.counts.add(&term.topology_key, node, n);
            }
        }
        if far != 0 {
            for (i, term) in self.far.terms.iter().enumerate() {
                if far & (1 << i.min(63)) != 0 {
                    self.far.counts.add(&term.topology_key, node, n);
                }
            }
        }
    }

    /// Mirrors `satisfyPodAffinity`.
    fn near_ok(&self, node: &NodeInfo) -> bool {
        let mut all_there = true;
        for term in &self.near.terms {
            match self.near.counts.at(&term.topology_key, node) {
                None => return false,
                Some(n) => all_there &= n > 0,
            }
        }
        // The first pod of a group that wants to be together may go anywhere.
        let snapshot = self.incoming.snapshot();
        all_there || (self.near.counts.is_empty() && self.near.terms.iter().all(|t| t.matches(&self.class, snapshot)))
    }
}

/// The topology keys of the terms that mean a pod of this class.
fn keys_meaning(terms: &Arc<[Term]>, class: &Class, incoming: &Incoming<'_>) -> Vec<Str> {
    terms.iter().filter(|t| t.matches(class, incoming.snapshot())).map(|t| t.topology_key.clone()).collect()
}

impl Filter for InterPodAffinity<'_> {
    fn plugin(&self) -> Plugin {
        Plugin::InterPodAffinity
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        let (reason, verdict) = if !self.near_ok(node) {
            (Reason::PodAffinity, Verdict::Unresolvable)
        } else if self.far.counts.any_at(node) {
            (Reason::PodAntiAffinity, Verdict::Unschedulable)
        } else if self.existing.any_at(node) {
            (Reason::ExistingAntiAffinity, Verdict::Unschedulable)
        } else {
            return Verdict::Fits;
        };
        reasons.push(reason);
        verdict
    }

    fn count(&mut self, pod: &PodInfo, node: &NodeInfo, sign: i64) {
        let class = Class {
            namespace: pod.pod.meta.namespace.clone().unwrap_or_else(|| "".into()),
            labels: pod.pod.meta.labels.clone(),
        };
        let snapshot = self.incoming.snapshot();
        let near = bits(&self.near.terms, |t| t.matches(&class, snapshot));
        let far = bits(&self.far.terms, |t| t.matches(&class, snapshot));
        self.count_bits(near, far, node, sign);
        if let Some((_, terms)) = &pod.repels {
            for key in keys_meaning(terms, &self.class, &self.incoming) {
                self.existing.add(&key, node, sign);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use crate::sched::Plugin::InterPodAffinity;
    use crate::sched::testing::{merged, node, pod, refusal, refusals};
    use serde_json::{Value, json};

    fn rule(kind: &str, more: Value) -> Value {
        let base = json!({"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}});
        json!({"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [merged(base, more)]}}})
    }

    fn labelled(name: &str, spec: Value, app: &str) -> Value {
        pod(name, json!({"metadata": {"labels": {"app": app}}, "spec": spec}))
    }

    fn there(spec: Value, app: &str) -> Value {
        labelled("there", merged(json!({"nodeName": "n"}), spec), app)
    }

    #[test]
    fn neighbours_are_judged_as_upstream() {
        // After TestRequiredAffinitySingleNode: one pod runs on node n.
        let near = || refusal(InterPodAffinity, false, &["node(s) didn't match pod affinity rules"]);
        let apart = || refusal(InterPodAffinity, true, &["node(s) didn't match pod anti-affinity rules"]);
        let existing =
            || refusal(InterPodAffinity, true, &["node(s) didn't satisfy existing pods anti-affinity rules"]);
        let none = || json!({});
        for (title, there, p, want) in [
            ("wanted and there", there(none(), "web"), labelled("p", rule("podAffinity", none()), "api"), vec![]),
            ("wanted and not there", there(none(), "db"), labelled("p", rule("podAffinity", none()), "api"), near()),
            ("the first of its kind", there(none(), "db"), labelled("p", rule("podAffinity", none()), "web"), vec![]),
            ("avoided and there", there(none(), "web"), labelled("p", rule("podAntiAffinity", none()), "api"), apart()),
            (
                "avoided and not there",
                there(none(), "db"),
                labelled("p", rule("podAntiAffinity", none()), "api"),
                vec![],
            ),
            (
                "the other avoids it",
                there(rule("podAntiAffinity", none()), "db"),
                labelled("p", none(), "web"),
                existing(),
            ),
            (
                "its own rule is named before the other's",
                there(rule("podAntiAffinity", none()), "web"),
                labelled("p", rule("podAntiAffinity", none()), "web"),
                apart(),
            ),
            (
                "another namespace is not meant",
                merged(there(none(), "web"), json!({"metadata": {"namespace": "b"}})),
                labelled("p", rule("podAntiAffinity", none()), "api"),
                vec![],
            ),
            (
                "unless all namespaces are",
                merged(there(none(), "web"), json!({"metadata": {"namespace": "b"}})),
                labelled("p", rule("podAntiAffinity", json!({"namespaceSelector": {}})), "api"),
                apart(),
            ),
            (
                "or that one by name",
                merged(there(none(), "web"), json!({"metadata": {"namespace": "b"}})),
                labelled("p", rule("podAntiAffinity", json!({"namespaces": ["b"]})), "api"),
                apart(),
            ),
            (
                "a node without the label is no place to be beside",
                there(none(), "web"),
                labelled("p", rule("podAffinity", json!({"topologyKey": "zone"})), "api"),
                near(),
            ),
        ] {
            assert_eq!(refusals(&[node("n", json!({})), there, p]), want, "{title}");
        }
    }
}
