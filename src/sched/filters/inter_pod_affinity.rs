//! `InterPodAffinity`: beside which pods the pod must be and must not be, and which pods do not bear it.
//! Mirrors `plugins/interpodaffinity/filtering.go`.

use super::{Filter, Incoming, Prepared};
use crate::sched::catalogue::Judged;
use crate::sched::class::Class;
use crate::sched::domains::Domains;
use crate::sched::node::{NodeId, NodeInfo, PodInfo};
use crate::sched::state::State;
use crate::sched::status::{Plugin, Reason, Verdict};
use crate::sched::terms::Term;
use crate::snapshot::pod::PodAffinityTerm;
use crate::snapshot::{Snapshot, Str};
use std::sync::Arc;

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    let affinity = InterPodAffinity::new(incoming);
    let idle = affinity.existing.is_empty() && affinity.near.terms.is_empty() && affinity.far.terms.is_empty();
    if idle { Prepared::Skip } else { Prepared::Runs(Box::new(affinity)) }
}

/// Pods counted per topology key and domain.
#[derive(Default)]
struct Counts {
    keys: Vec<(Str, Arc<Domains>, Vec<i64>)>,
    total: i64,
}

impl Counts {
    /// The place of a topology key, which is made where it is new.
    fn key(&mut self, state: &State, key: &Str) -> usize {
        self.keys.iter().position(|(k, ..)| k == key).unwrap_or_else(|| {
            let domains = state.domains(key);
            let zeroes = vec![0; domains.len()];
            self.keys.push((key.clone(), domains, zeroes));
            self.keys.len() - 1
        })
    }

    fn is_empty(&self) -> bool {
        self.total == 0
    }

    fn add(&mut self, key: usize, node: NodeId, n: i64) {
        let Some((_, domains, counts)) = self.keys.get_mut(key) else { return };
        if let Some(count) = domains.of(node).and_then(|d| counts.get_mut(d)) {
            *count += n;
            self.total += n;
        }
    }

    /// How many are counted in the node's domain of a key; `None` where the node lacks the label.
    fn at(&self, key: usize, node: NodeId) -> Option<i64> {
        let (_, domains, counts) = self.keys.get(key)?;
        counts.get(domains.of(node)?).copied()
    }

    fn any_at(&self, node: NodeId) -> bool {
        self.keys
            .iter()
            .any(|(_, domains, counts)| domains.of(node).and_then(|d| counts.get(d)).is_some_and(|n| *n > 0))
    }
}

/// Terms of the incoming pod with the pods that match them.
struct Terms {
    /// Each with the place of its topology key.
    terms: Vec<(Term, usize)>,
    /// Which terms match a namespace and label set.
    classes: Judged<Bits>,
    counts: Counts,
}

impl Terms {
    fn new(incoming: &Incoming<'_>, list: &[PodAffinityTerm]) -> Self {
        let mut counts = Counts::default();
        let own = incoming.pod().meta.namespace.clone().unwrap_or_else(|| "".into());
        let terms: Vec<(Term, usize)> =
            list.iter().map(|t| (Term::new(t, &own), counts.key(incoming.state, &t.topology_key))).collect();
        if terms.is_empty() {
            return Self { terms, classes: Judged::default(), counts };
        }
        // Which namespaces a selector chooses is found class by class.
        let named: Vec<Str> = terms.iter().flat_map(|(t, _)| t.namespaces.iter().cloned()).collect();
        let named = terms.iter().all(|(t, _)| t.namespace_selector.is_none()).then_some(&*named);
        let snapshot = incoming.snapshot();
        let classes = incoming
            .state
            .catalogue()
            .judge_classes(named, |c| Some(bits(&terms, c, snapshot)).filter(|b| !b.is_empty()));
        Self { terms, classes, counts }
    }

    /// The terms that match a pod.
    fn bits_of(&self, pod: &PodInfo, snapshot: &Snapshot) -> Bits {
        match self.classes.get(pod.class) {
            Some(judged) => judged.cloned().unwrap_or_default(),
            None if self.terms.is_empty() => Bits::default(),
            None => bits(&self.terms, &Class::of(&pod.pod), snapshot),
        }
    }

    /// Counts pods that match some of the terms: where it is `together`, only those that match every term.
    fn count(&mut self, bits: &Bits, together: bool, node: NodeId, n: i64) {
        if bits.is_empty() || (together && !(0..self.terms.len()).all(|i| bits.has(i))) {
            return;
        }
        for (i, (_, key)) in self.terms.iter().enumerate() {
            if bits.has(i) {
                self.counts.add(*key, node, n);
            }
        }
    }

    fn count_all(&mut self, state: &State, together: bool) {
        let classes = std::mem::take(&mut self.classes);
        state.census().of_classes(&classes.ids(), |class, group| {
            if let Some(bits) = classes.get(class).flatten() {
                self.count(bits, together, group.node, group.pods);
            }
        });
        self.classes = classes;
    }
}

/// A bit for each term.
#[derive(Debug, Clone, PartialEq, Default)]
struct Bits {
    /// Of the first 64 terms, which are all that people write.
    first: u64,
    /// Of the others, 64 at a time.
    rest: Option<Arc<[u64]>>,
}

impl Bits {
    fn is_empty(&self) -> bool {
        self.first == 0 && self.rest.is_none()
    }

    fn has(&self, term: usize) -> bool {
        let word = match term / 64 {
            0 => self.first,
            n => self.rest.as_ref().and_then(|r| r.get(n - 1)).copied().unwrap_or(0),
        };
        word & (1 << (term % 64)) != 0
    }
}

/// Which of the terms match.
fn bits(terms: &[(Term, usize)], class: &Class, snapshot: &Snapshot) -> Bits {
    let word = |terms: &[(Term, usize)]| {
        let matching = terms.iter().enumerate().filter(|(_, (t, _))| t.matches(class, snapshot));
        matching.fold(0, |bits, (i, _)| bits | 1 << i)
    };
    let mut words = terms.chunks(64).map(word);
    let first = words.next().unwrap_or(0);
    let rest: Arc<[u64]> = words.collect();
    Bits { first, rest: rest.iter().any(|w| *w != 0).then_some(rest) }
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
    repelling: Judged<Vec<usize>>,
}

impl<'a> InterPodAffinity<'a> {
    fn new(incoming: &Incoming<'a>) -> Self {
        let pod = incoming.pod();
        let class = Class::of(pod);
        let (state, snapshot) = (incoming.state, incoming.snapshot());
        let meaning = |terms: &Arc<[Term]>| Some(keys_meaning(terms, &class, snapshot)).filter(|keys| !keys.is_empty());
        let mut existing = Counts::default();
        let repelling = state.catalogue().judge_repels(&class.namespace, meaning);
        let repelling = repelling.map(|keys| keys.iter().map(|k| existing.key(state, k)).collect());
        let mut made = Self {
            near: Terms::new(incoming, &pod.spec.pod_affinity),
            far: Terms::new(incoming, &pod.spec.pod_anti_affinity),
            incoming: incoming.clone(),
            class,
            existing,
            repelling,
        };
        made.near.count_all(state, true);
        made.far.count_all(state, false);
        let (repelling, existing) = (&made.repelling, &mut made.existing);
        state.census().of_repels(&repelling.ids(), |id, group| {
            for key in repelling.get(id).flatten().into_iter().flatten() {
                existing.add(*key, group.node, group.pods);
            }
        });
        made
    }

    /// Mirrors `satisfyPodAffinity`.
    fn near_ok(&self, node: &NodeInfo) -> bool {
        let mut all_there = true;
        for (_, key) in &self.near.terms {
            match self.near.counts.at(*key, node.id) {
                None => return false,
                Some(n) => all_there &= n > 0,
            }
        }
        // The first pod of a group that wants to be together may go anywhere.
        let snapshot = self.incoming.snapshot();
        all_there
            || (self.near.counts.is_empty() && self.near.terms.iter().all(|(t, _)| t.matches(&self.class, snapshot)))
    }
}

/// The topology keys of the terms that mean a pod of this class.
fn keys_meaning(terms: &[Term], class: &Class, snapshot: &Snapshot) -> Vec<Str> {
    terms.iter().filter(|t| t.matches(class, snapshot)).map(|t| t.topology_key.clone()).collect()
}

impl Filter for InterPodAffinity<'_> {
    fn plugin(&self) -> Plugin {
        Plugin::InterPodAffinity
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        let (reason, verdict) = if !self.near_ok(node) {
            (Reason::PodAffinity, Verdict::Unresolvable)
        } else if self.far.counts.any_at(node.id) {
            (Reason::PodAntiAffinity, Verdict::Unschedulable)
        } else if self.existing.any_at(node.id) {
            (Reason::ExistingAntiAffinity, Verdict::Unschedulable)
        } else {
            return Verdict::Fits;
        };
        reasons.push(reason);
        verdict
    }

    fn count(&mut self, pod: &PodInfo, node: &NodeInfo, sign: i64) {
        let snapshot = self.incoming.snapshot();
        let (near, far) = (self.near.bits_of(pod, snapshot), self.far.bits_of(pod, snapshot));
        self.near.count(&near, true, node.id, sign);
        self.far.count(&far, false, node.id, sign);
        let Some((id, terms)) = &pod.repels else { return };
        match self.repelling.get(*id) {
            Some(judged) => judged.into_iter().flatten().for_each(|key| self.existing.add(*key, node.id, sign)),
            None => {
                for key in keys_meaning(terms, &self.class, snapshot) {
                    let key = self.existing.key(self.incoming.state, &key);
                    self.existing.add(key, node.id, sign);
                }
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

    #[test]
    fn each_of_many_terms_counts() {
        // The API sets no limit to the number of terms; the last of 70 is the one that matches.
        let term = |app: usize| json!({"labelSelector": {"matchLabels": {"app": format!("x{app}")}}, "topologyKey": "kubernetes.io/hostname"});
        let apart = |count: usize| {
            let terms: Vec<Value> = (0..count).map(term).collect();
            pod(
                "p",
                json!({"spec": {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}}),
            )
        };
        let near = |count: usize| {
            let terms: Vec<Value> = (0..count).map(term).collect();
            pod(
                "p",
                json!({"spec": {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}}),
            )
        };
        let other = |app: usize| {
            pod("o", json!({"metadata": {"labels": {"app": format!("x{app}")}}, "spec": {"nodeName": "n"}}))
        };
        let n = || node("n", json!({}));
        for (title, objects, refused) in [
            ("apart from the last", vec![n(), other(69), apart(70)], true),
            ("apart from none of them", vec![n(), other(70), apart(70)], false),
            ("beside one of them alone", vec![n(), other(69), near(70)], true),
        ] {
            assert_eq!(!refusals(&objects).is_empty(), refused, "{title}");
        }
    }
}
