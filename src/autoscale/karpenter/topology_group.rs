//! Pods of a kind, counted by the domains of a label: what one spread constraint or one (anti-)affinity term stands on.
//! Mirrors `provisioning/scheduling/{topologygroup,topologynodefilter}.go`. Where upstream takes any of several domains by
//! chance, the first by name is taken.

use super::labels::HOSTNAME;
use super::requirement::{Operator, Requirement};
use super::requirements::Requirements;
use super::taints::untolerated;
use crate::sched::class::Class;
use crate::sched::terms::Term;
use crate::snapshot::node::Taint;
use crate::snapshot::pod::{Pod, Toleration};
use crate::snapshot::{Snapshot, Str};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What kind of rule it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A spread constraint.
    Spread {
        /// By how much domains may differ.
        max_skew: i64,
        /// How many domains there must be before the emptiest counts.
        min_domains: Option<usize>,
    },
    /// Pods that the pod must be beside.
    Affinity,
    /// Pods that the pod must not be beside.
    AntiAffinity,
}

/// Which nodes a spread constraint counts. Mirrors `TopologyNodeFilter`.
#[derive(Debug, Clone)]
pub struct NodeFilter {
    /// The terms of the pod's required node affinity, each with its selector; one of them must hold.
    pub terms: Vec<Requirements>,
    /// Nodes that these rule out do not count.
    pub honor_affinity: bool,
    /// Nodes whose taints the pod does not tolerate do not count.
    pub honor_taints: bool,
    /// The pod that brought the rule.
    pub pod: Arc<Pod>,
}

impl NodeFilter {
    /// Whether a node with these taints counts, given whether its labels meet a term.
    pub fn counts(&self, taints: &[Taint], meets: impl Fn(&Requirements) -> bool) -> bool {
        (!self.honor_affinity || self.terms.is_empty() || self.terms.iter().any(meets))
            && (!self.honor_taints || untolerated(taints, &self.pod).is_none())
    }

    /// What makes two filters the same for upstream, which compares the labels of requirements and not their values.
    fn identity(&self) -> (BTreeSet<Vec<&Str>>, bool, bool, &[Toleration]) {
        let keys = self.terms.iter().map(|t| t.iter().map(|r| &r.key).collect()).collect();
        (keys, self.honor_affinity, self.honor_taints, &self.pod.spec.tolerations)
    }
}

/// Pods of a kind, counted by domain.
#[derive(Debug, Clone)]
pub struct Group {
    /// What kind of rule it is.
    pub rule: Rule,
    /// Which pods are counted, and by which label.
    pub term: Term,
    /// Which nodes count; all where there is none.
    pub filter: Option<NodeFilter>,
    /// The pods of the batch that bring the rule.
    pub owners: BTreeSet<usize>,
    domains: BTreeMap<Str, i64>,
    /// So many domains have a pod.
    taken: usize,
}

impl Group {
    /// A group that has counted nothing yet.
    pub fn new(rule: Rule, term: Term, filter: Option<NodeFilter>, domains: impl IntoIterator<Item = Str>) -> Self {
        let domains = domains.into_iter().map(|d| (d, 0)).collect();
        Self { rule, term, filter, owners: BTreeSet::new(), domains, taken: 0 }
    }

    /// The label.
    pub fn key(&self) -> &Str {
        &self.term.topology_key
    }

    /// Whether it is the same for upstream as another. `minDomains` does not tell them apart.
    pub fn is_like(&self, other: &Self) -> bool {
        let rule = |g: &Self| match g.rule {
            Rule::Spread { max_skew, .. } => Rule::Spread { max_skew, min_domains: None },
            rule => rule,
        };
        rule(self) == rule(other)
            && self.term == other.term
            && self.filter.as_ref().map(NodeFilter::identity) == other.filter.as_ref().map(NodeFilter::identity)
    }

    /// Whether it counts pods like this one.
    pub fn selects(&self, pod: &Pod, snapshot: &Snapshot) -> bool {
        self.term.matches(&Class::of(pod), snapshot)
    }

    /// Makes a domain known.
    pub fn register(&mut self, domain: Str) {
        self.domains.entry(domain).or_insert(0);
    }

    /// Counts pods in a domain.
    pub fn record(&mut self, domain: &Str, pods: i64) {
        let count = self.domains.entry(domain.clone()).or_insert(0);
        if *count == 0 && pods > 0 {
            self.taken += 1;
        }
        *count += pods;
    }

    /// The pods of each domain, for a person.
    pub fn counts(&self) -> impl Iterator<Item = (&Str, i64)> {
        self.domains.iter().map(|(d, n)| (d, *n))
    }

    /// The domains that the pod could be put into, of those that the node can be in; nothing where there is none.
    /// `pod` is what the pod requires of the label, `node` what the node is. Mirrors `Get`.
    pub fn next(&self, selects_itself: bool, pod: &Requirement, node: &Requirement) -> Requirement {
        match self.rule {
            Rule::Spread { max_skew, min_domains } => self.spread(selects_itself, max_skew, min_domains, pod, node),
            Rule::Affinity => self.beside(selects_itself, pod, node),
            Rule::AntiAffinity => self.apart(pod, node),
        }
    }

    /// The one host of a node, where the label is the host: a node that is new need not be known.
    fn host<'r>(&self, node: &'r Requirement) -> Option<&'r Str> {
        if **self.key() == *HOSTNAME { node.only() } else { None }
    }

    fn count(&self, domain: &str) -> i64 {
        self.domains.get(domain).copied().unwrap_or(0)
    }

    /// The known domains that the node can be in, with their counts.
    fn of_node<'a>(&'a self, node: &'a Requirement) -> Box<dyn Iterator<Item = (&'a Str, i64)> + 'a> {
        match node.listed() {
            Some(listed) => Box::new(listed.iter().filter_map(|d| Some((d, *self.domains.get(d)?)))),
            None => Box::new(self.counts().filter(|(d, _)| node.has(d))),
        }
    }

    /// Mirrors `nextDomainTopologySpread`.
    fn spread(
        &self,
        selects_itself: bool,
        max_skew: i64,
        min_domains: Option<usize>,
        pod: &Requirement,
        node: &Requirement,
    ) -> Requirement {
        let own = i64::from(selects_itself);
        if let Some(host) = self.host(node) {
            // There can always be an empty host more.
            let fits = self.count(host) + own <= max_skew;
            return if fits { Requirement::equals(self.key(), host.clone()) } else { Requirement::nothing(self.key()) };
        }
        let least = self.least(min_domains, pod);
        let fits = self.of_node(node).filter(|(_, n)| n + own - least <= max_skew);
        match fits.min_by_key(|(_, n)| *n) {
            Some((domain, _)) => Requirement::equals(self.key(), domain.clone()),
            None => Requirement::nothing(self.key()),
        }
    }

    /// The pods of the emptiest domain that the pod could be in. Mirrors `domainMinCount`.
    fn least(&self, min_domains: Option<usize>, pod: &Requirement) -> i64 {
        if **self.key() == *HOSTNAME {
            return 0;
        }
        let of_pod = || self.counts().filter(|(d, _)| pod.has(d));
        if min_domains.is_some_and(|n| of_pod().count() < n) {
            return 0;
        }
        of_pod().map(|(_, n)| n).min().unwrap_or(i64::from(i32::MAX))
    }

    /// Mirrors `nextDomainAffinity`.
    fn beside(&self, selects_itself: bool, pod: &Requirement, node: &Requirement) -> Requirement {
        let mut options = Requirement::nothing(self.key());
        // The first of its kind may be anywhere.
        let starts = || selects_itself && (self.taken == 0 || !self.counts().any(|(d, n)| n > 0 && pod.has(d)));
        if let Some(host) = self.host(node) {
            if pod.has(host) && (self.count(host) > 0 || starts()) {
                options.insert(host.clone());
            }
            return options;
        }
        for (domain, _) in self.of_node(node).filter(|(d, n)| *n > 0 && pod.has(d)) {
            options.insert(domain.clone());
        }
        if !options.is_nothing() || !starts() {
            return options;
        }
        let both = pod.intersection(node);
        let of_both = self.domains.keys().find(|d| both.has(d));
        let of_pod = self.domains.keys().find(|d| pod.has(d));
        of_both.into_iter().chain(of_pod).for_each(|d| options.insert(d.clone()));
        options
    }

    /// Mirrors `nextDomainAntiAffinity`.
    fn apart(&self, pod: &Requirement, node: &Requirement) -> Requirement {
        if let Some(host) = self.host(node) {
            let empty = self.count(host) == 0;
            return if empty {
                Requirement::equals(self.key(), host.clone())
            } else {
                Requirement::nothing(self.key())
            };
        }
        let empty = self.of_node(node).filter(|(d, n)| *n == 0 && pod.has(d));
        let domains: Vec<Str> = empty.map(|(d, _)| d.clone()).collect();
        Requirement::new(self.key().clone(), Operator::In, domains)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::selector::LabelSelector;

    const ZONE: &str = "zone";

    fn group(rule: Rule, key: &str, counts: &[(&str, i64)]) -> Group {
        let term = Term {
            namespaces: Box::new(["a".into()]),
            namespace_selector: None,
            selector: LabelSelector::default(),
            topology_key: key.into(),
        };
        let mut group = Group::new(rule, term, None, counts.iter().map(|(d, _)| Str::from(*d)));
        counts.iter().for_each(|(d, n)| group.record(&(*d).into(), *n));
        group
    }

    fn r(key: &str, text: &str) -> Requirement {
        let mut words = text.split(' ');
        let operator = Operator::read(words.next().expect("an operator")).expect("a known operator");
        Requirement::new(key.into(), operator, words.map(Str::from))
    }

    #[test]
    fn the_next_domain_is_upstream_s() {
        // After `topology_test.go`: the rule, the pods of each zone, whether the pod counts itself, what the pod and the
        // node may be, and the domains that are left.
        let spread = |max_skew, min_domains| Rule::Spread { max_skew, min_domains };
        let (even, full) = ([("a", 1), ("b", 1)], [("a", 2), ("b", 1)]);
        for (title, rule, counts, itself, pod, node, want) in [
            ("the emptier zone", spread(1, None), &full, true, "Exists", "Exists", "zone=b"),
            ("not the fuller one", spread(1, None), &full, true, "Exists", "In a", "!zone"),
            ("a wider skew", spread(2, None), &full, true, "Exists", "In a", "zone=a"),
            ("not counted itself", spread(1, None), &full, false, "Exists", "In a", "zone=a"),
            ("the pod's zones alone are compared", spread(1, None), &full, true, "In a", "In a", "zone=a"),
            ("too few domains", spread(1, Some(3)), &even, true, "Exists", "Exists", "!zone"),
            ("enough domains", spread(1, Some(2)), &even, true, "Exists", "Exists", "zone=a"),
            ("beside its kind", Rule::Affinity, &[("a", 1), ("b", 0)], true, "Exists", "Exists", "zone=a"),
            ("not beside its kind", Rule::Affinity, &[("a", 1), ("b", 0)], true, "Exists", "In b", "!zone"),
            ("the first of its kind", Rule::Affinity, &[("a", 0), ("b", 0)], true, "Exists", "In b", "zone in (a, b)"),
            ("beside others that are nowhere", Rule::Affinity, &[("a", 0), ("b", 0)], false, "Exists", "In b", "!zone"),
            (
                "the others are where it may not be",
                Rule::Affinity,
                &[("a", 1), ("b", 0)],
                true,
                "In b",
                "In b",
                "zone=b",
            ),
            ("an empty zone", Rule::AntiAffinity, &[("a", 1), ("b", 0)], true, "Exists", "Exists", "zone=b"),
            ("no empty zone", Rule::AntiAffinity, &even, true, "Exists", "Exists", "!zone"),
        ] {
            let got = group(rule, ZONE, counts).next(itself, &r(ZONE, pod), &r(ZONE, node));
            assert_eq!(got.to_string(), want, "{title}");
        }
    }

    #[test]
    fn a_new_host_is_empty() {
        for (title, rule, itself, want) in [
            ("spread", Rule::Spread { max_skew: 1, min_domains: None }, true, true),
            ("apart", Rule::AntiAffinity, true, true),
            ("beside its own kind, which is elsewhere", Rule::Affinity, true, false),
        ] {
            let got = group(rule, HOSTNAME, &[("n1", 5)]).next(itself, &r(HOSTNAME, "Exists"), &r(HOSTNAME, "In new"));
            assert_eq!(!got.is_nothing(), want, "{title}");
        }
    }
}
