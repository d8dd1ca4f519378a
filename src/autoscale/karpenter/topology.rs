//! Which domains a pod's rules about other pods leave to it, and others' rules about it. Mirrors
//! `provisioning/scheduling/topology.go`.

use super::labels::{HOSTNAME, Provider};
use super::machine::Machine;
use super::requirement::Requirement;
use super::requirements::{Requirements, of_labels, of_term};
use super::taints::untolerated;
use super::topology_group::{Group, NodeFilter, Rule};
use crate::sched::State;
use crate::sched::class::Class;
use crate::sched::terms::Term;
use crate::snapshot::node::Taint;
use crate::snapshot::pod::{Pod, PodAffinityTerm, TopologySpread};
use crate::snapshot::selector::{LabelSelector, Requirement as LabelRequirement};
use crate::snapshot::{Map, Snapshot, Str};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The domains that nodes of the pools could be in: by label, each with the taints of the pools that have it.
#[derive(Debug, Clone, Default)]
pub struct Universe(BTreeMap<Str, BTreeMap<Str, Vec<Vec<Taint>>>>);

impl Universe {
    /// Notes a domain that a pool with these taints has. Mirrors `TopologyDomainGroup.Insert`.
    pub fn insert(&mut self, key: &Str, domain: &Str, taints: &[Taint]) {
        let sets = self.0.entry(key.clone()).or_default().entry(domain.clone()).or_default();
        if taints.is_empty() {
            *sets = vec![Vec::new()];
        } else if sets.first().is_none_or(|first| !first.is_empty()) && !sets.iter().any(|s| s == taints) {
            sets.push(taints.to_vec());
        }
    }

    fn domains(&self, key: &str, pod: &Pod, honor_taints: bool) -> Vec<Str> {
        let tolerated = |sets: &Vec<Vec<Taint>>| sets.iter().any(|taints| untolerated(taints, pod).is_none());
        let known = self.0.get(key).into_iter().flatten();
        known.filter(|(_, sets)| !honor_taints || tolerated(sets)).map(|(domain, _)| domain.clone()).collect()
    }
}

/// A rule that leaves the pod no domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsatisfiable {
    /// What kind of rule.
    pub rule: Rule,
    /// The label of its domains.
    pub key: Str,
    /// Which pods it counts.
    pub selector: LabelSelector,
    /// Whether it is a rule of pods that run, against this one.
    pub of_others: bool,
}

/// All rules about other pods that bear on a batch.
#[derive(Debug)]
pub struct Topology<'a> {
    state: &'a State,
    machines: &'a [Machine],
    universe: Universe,
    provider: Provider,
    groups: Vec<Group>,
    /// Required anti-affinity of pods, counted by where these pods are.
    inverse: Vec<Group>,
    /// Which inverse groups mean pods of a class.
    known: HashMap<Class, Vec<usize>>,
}

impl<'a> Topology<'a> {
    /// No rule yet. `machines` are those that pods may be put on.
    pub fn new(state: &'a State, machines: &'a [Machine], universe: Universe, provider: Provider) -> Self {
        Self { state, machines, universe, provider, groups: Vec::new(), inverse: Vec::new(), known: HashMap::new() }
    }

    fn snapshot(&self) -> &'a Snapshot {
        self.state.snapshot()
    }

    /// Takes over the rules of a pod of the batch, in the place of those it had before. Mirrors `Update`.
    pub fn update(&mut self, number: usize, pod: &Arc<Pod>) {
        for group in &mut self.groups {
            group.owners.remove(&number);
        }
        let namespace = pod.meta.namespace.clone().unwrap_or_else(|| "".into());
        let spec = &pod.spec;
        let spreads = spec.topology_spread.iter().map(|c| self.spread(c, pod, &namespace));
        let term = |t: &PodAffinityTerm, rule| self.affinity(Term::new(t, &namespace), rule, pod);
        let near = spec.pod_affinity.iter().chain(spec.preferred_pod_affinity.iter().map(|p| &p.term));
        let far = spec.pod_anti_affinity.iter().chain(spec.preferred_pod_anti_affinity.iter().map(|p| &p.term));
        let near = near.map(|t| term(t, Rule::Affinity));
        let far = far.map(|t| term(t, Rule::AntiAffinity));
        let wanted: Vec<Group> = spreads.chain(near).chain(far).collect();
        for group in wanted {
            let at = self.groups.iter().position(|g| g.is_like(&group)).unwrap_or_else(|| {
                let counted = self.counted(group);
                self.groups.push(counted);
                self.groups.len() - 1
            });
            if let Some(group) = self.groups.get_mut(at) {
                group.owners.insert(number);
            }
        }
        for t in &spec.pod_anti_affinity {
            let at = self.inverse_of(Term::new(t, &namespace));
            if let Some(group) = self.inverse.get_mut(at) {
                group.owners.insert(number);
            }
        }
        self.meet(pod);
    }

    fn spread(&self, c: &TopologySpread, pod: &Arc<Pod>, namespace: &Str) -> Group {
        let rule = Rule::Spread {
            max_skew: i64::from(c.max_skew),
            min_domains: c.min_domains.and_then(|n| usize::try_from(n).ok()),
        };
        let term = Term {
            namespaces: Box::new([namespace.clone()]),
            namespace_selector: None,
            selector: with_own_values(c, pod),
            topology_key: c.topology_key.clone(),
        };
        let domains = self.universe.domains(&c.topology_key, pod, c.honor_taints);
        let selector = of_labels(&pod.spec.node_selector, self.provider);
        let terms = match &pod.spec.node_affinity {
            None => vec![selector],
            Some(affinity) => {
                let with = |t| {
                    let mut all = selector.clone();
                    all.add_all(&of_term(t, self.provider));
                    all
                };
                affinity.0.iter().map(with).collect()
            }
        };
        let (honor_affinity, honor_taints) = (c.honor_affinity, c.honor_taints);
        Group::new(rule, term, Some(NodeFilter { terms, honor_affinity, honor_taints, pod: pod.clone() }), domains)
    }

    fn affinity(&self, term: Term, rule: Rule, pod: &Pod) -> Group {
        let domains = self.universe.domains(&term.topology_key, pod, false);
        Group::new(rule, term, None, domains)
    }

    /// A group with its pods counted over the cluster. Mirrors `countDomains`.
    fn counted(&self, mut group: Group) -> Group {
        let key = group.key().clone();
        let counts = |group: &Group, labels: &Map, taints: &[Taint]| {
            let meets = |r: &Requirements| r.met_by(labels, self.provider);
            group.filter.as_ref().is_none_or(|f| f.counts(taints, meets))
        };
        for machine in self.machines {
            let labels = machine.labels();
            let domain = match &machine.node {
                Some(node) if counts(&group, &node.node.meta.labels, &node.node.taints) => labels.get(&key).cloned(),
                // One that has not joined has no label yet but its host.
                None if *key == *HOSTNAME => Some(machine.host()),
                _ => None,
            };
            if let Some(domain) = domain {
                group.register(domain);
            }
        }
        let all = group.term.selector == LabelSelector::Nothing;
        // A rule without a selector means no pod, and upstream lists all pods for it.
        let meant = |class: &Class| {
            (if all {
                group.term.namespaces.contains(&class.namespace)
            } else {
                group.term.matches(class, self.snapshot())
            })
            .then_some(())
        };
        let classes = self.state.catalogue().judge_classes(None, meant).ids();
        let mut found: BTreeMap<Str, i64> = BTreeMap::new();
        self.state.census().of_classes(&classes, |_, at| {
            let Some(node) = self.state.node(at.node) else { return };
            if !counts(&group, &node.node.meta.labels, &node.node.taints) {
                return;
            }
            let label = node.node.meta.labels.get(&key);
            let Some(domain) = label.or_else(|| (*key == *HOSTNAME).then(|| node.name())) else { return };
            *found.entry(domain.clone()).or_default() += at.staying;
        });
        found.iter().for_each(|(domain, pods)| group.record(domain, *pods));
        group
    }

    /// The inverse group of a term, which is made where it is new. Mirrors `updateInverseAffinities`.
    fn inverse_of(&mut self, term: Term) -> usize {
        if let Some(at) = self.inverse.iter().position(|g| g.term == term) {
            return at;
        }
        let key = term.topology_key.clone();
        let namespace = term.namespaces.first().cloned().unwrap_or_else(|| "".into());
        let has = |terms: &Arc<[Term]>| terms.contains(&term).then_some(());
        let repels = self.state.catalogue().judge_repels(&namespace, has).ids();
        let mut domains: BTreeMap<Str, i64> = BTreeMap::new();
        let known = self.universe.0.get(&key).into_iter().flat_map(BTreeMap::keys);
        domains.extend(known.map(|d| (d.clone(), 0)));
        self.state.census().of_repels(&repels, |_, at| {
            let node = self.state.node(at.node);
            if let Some(domain) = node.and_then(|n| n.node.meta.labels.get(&key)) {
                *domains.entry(domain.clone()).or_default() += at.pods;
            }
        });
        if *key == *HOSTNAME {
            for machine in self.machines {
                domains.entry(machine.host()).or_insert(0);
            }
        }
        let mut group = Group::new(Rule::AntiAffinity, term, None, domains.keys().cloned());
        domains.iter().for_each(|(domain, pods)| group.record(domain, *pods));
        self.inverse.push(group);
        self.known.clear();
        self.inverse.len() - 1
    }

    /// Finds the rules of running pods that mean pods like this one.
    fn meet(&mut self, pod: &Pod) {
        let class = Class::of(pod);
        let snapshot = self.snapshot();
        let meant = |terms: &Arc<[Term]>| {
            let found: Vec<Term> = terms.iter().filter(|t| t.matches(&class, snapshot)).cloned().collect();
            (!found.is_empty()).then_some(found)
        };
        let judged = self.state.catalogue().judge_repels(&class.namespace, meant);
        let terms: Vec<Term> = judged.ids().into_iter().filter_map(|id| judged.get(id)?.cloned()).flatten().collect();
        for term in terms {
            self.inverse_of(term);
        }
        let meaning = |(at, g): (usize, &Group)| g.term.matches(&class, snapshot).then_some(at);
        let all = self.inverse.iter().enumerate().filter_map(meaning).collect();
        self.known.insert(class, all);
    }

    /// The inverse groups that mean a pod.
    fn against(&self, pod: &Pod) -> Vec<usize> {
        let class = Class::of(pod);
        match self.known.get(&class) {
            Some(known) => known.clone(),
            None => {
                let snapshot = self.snapshot();
                let all = self.inverse.iter().enumerate();
                all.filter(|(_, g)| g.term.matches(&class, snapshot)).map(|(at, _)| at).collect()
            }
        }
    }

    /// Whether some rule bears on a pod of the batch.
    pub fn bears_on(&self, number: usize, pod: &Pod) -> bool {
        self.groups.iter().any(|g| g.owners.contains(&number)) || !self.against(pod).is_empty()
    }

    /// The requirements of a node narrowed to the domains that the rules leave to the pod. Mirrors `AddRequirements`.
    pub fn narrowed(
        &self,
        number: usize,
        pod: &Pod,
        of_pod: &Requirements,
        of_node: &Requirements,
    ) -> Result<Requirements, Unsatisfiable> {
        let mut all = of_node.clone();
        let own = self.groups.iter().filter(|g| g.owners.contains(&number)).map(|g| (g, false));
        let against = self.against(pod);
        let others = against.iter().filter_map(|at| self.inverse.get(*at)).map(|g| (g, true));
        for (group, of_others) in own.chain(others) {
            let any = || Requirement::exists(group.key());
            let pods = of_pod.get(group.key()).cloned().unwrap_or_else(any);
            let nodes = of_node.get(group.key()).cloned().unwrap_or_else(any);
            let domains = group.next(group.selects(pod, self.snapshot()), &pods, &nodes);
            if domains.is_nothing() {
                return Err(Unsatisfiable {
                    rule: group.rule,
                    key: group.key().clone(),
                    selector: group.term.selector.clone(),
                    of_others: of_others && !group.owners.contains(&number),
                });
            }
            all.add(domains);
        }
        Ok(all)
    }

    /// Counts a pod that was put on a node which these requirements describe. Mirrors `Record`.
    pub fn record(&mut self, number: usize, pod: &Pod, taints: &[Taint], of_node: &Requirements) {
        let snapshot = self.state.snapshot();
        for group in &mut self.groups {
            // Labels that only instance types bring do not count as met here.
            let meets = |r: &Requirements| of_node.compatible(r, |_| false);
            if !group.selects(pod, snapshot) || group.filter.as_ref().is_some_and(|f| !f.counts(taints, meets)) {
                continue;
            }
            let Some(domains) = of_node.get(group.key()) else { continue };
            if group.rule == Rule::AntiAffinity {
                let domains: Vec<Str> = domains.values().cloned().collect();
                domains.iter().for_each(|d| group.record(d, 1));
            } else if let Some(domain) = domains.only() {
                group.record(domain, 1);
            }
        }
        for group in self.inverse.iter_mut().filter(|g| g.owners.contains(&number)) {
            let domains: Vec<Str> =
                of_node.get(group.key()).into_iter().flat_map(Requirement::values).cloned().collect();
            domains.iter().for_each(|d| group.record(d, 1));
        }
    }

    /// Makes a new host known.
    pub fn register_host(&mut self, host: &Str) {
        for group in self.groups.iter_mut().chain(&mut self.inverse).filter(|g| **g.key() == *HOSTNAME) {
            group.register(host.clone());
        }
    }
}

/// A constraint's selector with the pod's own values of `matchLabelKeys`.
fn with_own_values(c: &TopologySpread, pod: &Pod) -> LabelSelector {
    let LabelSelector::All(requirements) = &c.selector else { return c.selector.clone() };
    let own = c.match_label_keys.iter().filter_map(|k| {
        let value = pod.meta.labels.get(k)?;
        Some(LabelRequirement::equals(k.clone(), value.clone()))
    });
    LabelSelector::All(requirements.iter().cloned().chain(own).collect())
}
