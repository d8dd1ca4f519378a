//! `PodTopologySpread`: pods of a kind are to be spread evenly over the domains of a node label.
//! Mirrors `plugins/podtopologyspread/{common,filtering}.go` (`calPreFilterState`, `updateWithPod`, `Filter`).

use super::{Filter, Incoming, Prepared, node_affinity, taint_toleration};
use crate::sched::catalogue::Judged;
use crate::sched::class::Class;
use crate::sched::domains::Domains;
use crate::sched::node::{NodeId, NodeInfo, PodInfo};
use crate::sched::state::State;
use crate::sched::status::{Plugin, Reason, Verdict};
use crate::snapshot::Str;
use crate::snapshot::pod::{Pod, TopologySpread};
use crate::snapshot::selector::{LabelSelector, Requirement};
use std::sync::Arc;

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    let spread = constraints(incoming);
    if spread.is_empty() { Prepared::Skip } else { Prepared::Runs(Box::new(Spread(spread))) }
}

struct Spread(Vec<Constraint>);

/// A required constraint with the pods counted per domain.
#[derive(Debug)]
pub struct Constraint {
    /// The node label that makes the domains.
    pub topology_key: Str,
    /// By how much the fullest and the emptiest domain may differ.
    pub max_skew: i64,
    /// How many domains there must be before the minimum counts as more than 0.
    pub min_domains: usize,
    /// The domains of the label.
    pub domains: Arc<Domains>,
    /// Matching pods per domain; `None` for a domain without a node that counts.
    pub counts: Vec<Option<i64>>,
    /// Which nodes count, by their number.
    pub eligible: Vec<bool>,
    /// 1 where the incoming pod is itself matched, else 0.
    pub own: i64,
    selector: LabelSelector,
    namespace: Str,
    /// Which namespaces and label sets it counts.
    classes: Judged<()>,
    /// The emptiest domain and the next one; with more than [`FEW_DOMAINS`], as all were counted.
    lowest: [(usize, i64); 2],
}

const NO_DOMAIN: (usize, i64) = (usize::MAX, i32::MAX as i64);

/// Of so few domains the emptiest ones are looked for again at every change.
pub const FEW_DOMAINS: usize = 32;

/// The required constraints of the pod, counted over the state.
pub fn constraints(incoming: &Incoming<'_>) -> Vec<Constraint> {
    let pod = incoming.pod();
    let required: Vec<&TopologySpread> = pod.spec.topology_spread.iter().filter(|c| c.required).collect();
    let nodes = incoming.state.nodes();
    let all_domains: Vec<Arc<Domains>> = required.iter().map(|c| incoming.state.domains(&c.topology_key)).collect();
    let labelled = |n: &NodeInfo| all_domains.iter().all(|d| d.of(n.id).is_some());
    let choosy = pod.spec.node_affinity.is_some() || !pod.spec.node_selector.is_empty();
    let count = |(c, domains): (&&TopologySpread, &Arc<Domains>)| {
        let mut made = Constraint::new(c, domains.clone(), incoming);
        let all = !(c.honor_taints || c.honor_affinity && choosy);
        made.eligible = nodes.iter().map(|n| labelled(n) && (all || counts_node(c, pod, n))).collect();
        made.count_all(incoming.state);
        made
    };
    required.iter().zip(&all_domains).map(count).collect()
}

/// Whether the constraint's policies let the node count. Mirrors `matchNodeInclusionPolicies`.
fn counts_node(c: &TopologySpread, pod: &Pod, node: &NodeInfo) -> bool {
    (!c.honor_affinity || node_affinity::matches(pod, &node.node))
        && (!c.honor_taints || taint_toleration::untolerated(pod, &node.node).next().is_none())
}

/// The selector with the pod's own values of `matchLabelKeys`.
fn merged_selector(c: &TopologySpread, pod: &Pod) -> LabelSelector {
    let LabelSelector::All(requirements) = &c.selector else { return c.selector.clone() };
    let own = c.match_label_keys.iter().filter_map(|k| {
        let value = pod.meta.labels.get(k)?;
        Some(Requirement::equals(k.clone(), value.clone()))
    });
    LabelSelector::All(own.chain(requirements.iter().cloned()).collect())
}

impl Constraint {
    fn new(c: &TopologySpread, domains: Arc<Domains>, incoming: &Incoming<'_>) -> Self {
        let pod = incoming.pod();
        let selector = merged_selector(c, pod);
        let namespace = pod.meta.namespace.clone().unwrap_or_else(|| "".into());
        let matches = |class: &Class| selector.matches(&class.labels).then_some(());
        let own = std::slice::from_ref(&namespace);
        Self {
            topology_key: c.topology_key.clone(),
            max_skew: i64::from(c.max_skew),
            min_domains: c.min_domains.map_or(1, |n| usize::try_from(n).unwrap_or(0)),
            counts: vec![None; domains.len()],
            eligible: Vec::new(),
            own: i64::from(selector.matches(&pod.meta.labels)),
            classes: incoming.state.catalogue().judge_classes(Some(own), matches),
            lowest: [NO_DOMAIN; 2],
            namespace,
            selector,
            domains,
        }
    }

    fn count_all(&mut self, state: &State) {
        for node in state.nodes() {
            if let Some(count) = self.domain(node.id).and_then(|d| self.counts.get_mut(d)) {
                *count = Some(0);
            }
        }
        // Upstream counts nothing under a selector that is there and empty.
        let counted = if self.selector.is_everything() { Vec::new() } else { self.classes.ids() };
        let mut counts = std::mem::take(&mut self.counts);
        state.census().of_classes(&counted, |_, group| {
            if let Some(Some(count)) = self.domain(group.node).and_then(|d| counts.get_mut(d)) {
                *count += group.staying;
            }
        });
        self.counts = counts;
        self.find_lowest();
    }

    fn find_lowest(&mut self) {
        self.lowest = [NO_DOMAIN; 2];
        for (domain, count) in self.counts.iter().enumerate().filter_map(|(d, c)| Some((d, (*c)?))) {
            let [first, second] = self.lowest;
            if count < first.1 {
                self.lowest = [(domain, count), first];
            } else if count < second.1 {
                self.lowest = [first, (domain, count)];
            }
        }
    }

    /// The node's domain, where the node counts.
    fn domain(&self, node: NodeId) -> Option<usize> {
        self.eligible.get(node as usize).copied().unwrap_or(false).then(|| self.domains.of(node)).flatten()
    }

    /// Whether it counts a pod.
    pub fn matches(&self, info: &PodInfo) -> bool {
        match self.classes.get(info.class) {
            Some(judged) => judged.is_some(),
            None => info.pod.meta.ns() == &*self.namespace && self.selector.matches(&info.pod.meta.labels),
        }
    }

    /// How many domains count.
    pub fn domains_counted(&self) -> usize {
        self.counts.iter().flatten().count()
    }

    /// The least number of matching pods in any domain. With more than [`FEW_DOMAINS`], only `changed` may have changed
    /// since all were counted.
    pub fn minimum(&self, changed: usize) -> i64 {
        if self.domains_counted() < self.min_domains {
            return 0;
        }
        let [first, second] = self.lowest;
        let others = if first.0 == changed { second.1 } else { first.1 };
        self.counts.get(changed).copied().flatten().map_or(others, |c| c.min(others))
    }

    /// By how much the node's domain would be fuller than the emptiest; `None` where the node lacks the label.
    pub fn skew(&self, node: &NodeInfo) -> Option<i64> {
        let domain = self.domains.of(node.id)?;
        let here = self.counts.get(domain).copied().flatten().unwrap_or(0);
        Some(here + self.own - self.minimum(domain))
    }
}

impl Filter for Spread {
    fn plugin(&self) -> Plugin {
        Plugin::PodTopologySpread
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        for c in &self.0 {
            match c.skew(node) {
                None => {
                    reasons.push(Reason::SpreadLabel);
                    return Verdict::Unresolvable;
                }
                Some(skew) if skew > c.max_skew => {
                    reasons.push(Reason::Spread);
                    return Verdict::Unschedulable;
                }
                Some(_) => {}
            }
        }
        Verdict::Fits
    }

    fn count(&mut self, pod: &PodInfo, node: &NodeInfo, sign: i64) {
        for c in &mut self.0 {
            if !c.matches(pod) {
                continue;
            }
            let Some(domain) = c.domain(node.id) else { continue };
            if let Some(Some(count)) = c.counts.get_mut(domain) {
                *count += sign;
            }
            if c.counts.len() <= FEW_DOMAINS {
                c.find_lowest();
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use crate::sched::Plugin::PodTopologySpread;
    use crate::sched::testing::{merged, node, pod, refusal, refusals, says};
    use serde_json::{Value, json};

    fn zoned(name: &str, zone: &str, more: Value) -> Value {
        node(name, merged(json!({"metadata": {"labels": {"zone": zone}}}), more))
    }

    fn member(name: &str, on: &str, more: Value) -> Value {
        let base = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"nodeName": on}});
        pod(name, merged(base, more))
    }

    fn spread(more: Value, labels: Value) -> Value {
        let base = json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}}});
        pod("p", json!({"metadata": {"labels": labels}, "spec": {"topologySpreadConstraints": [merged(base, more)]}}))
    }

    const TOO_MANY: &str = "node(s) didn't match pod topology spread constraints";

    #[test]
    fn skew_is_judged_as_upstream() {
        // After TestSingleConstraint: zone a (node n) has one member, zone b has none.
        let web = || json!({"app": "web"});
        let full = || refusal(PodTopologySpread, true, &[TOO_MANY]);
        let gone = json!({"metadata": {"deletionTimestamp": "2026-01-01T12:00:00Z"}});
        let cordoned = json!({"spec": {"unschedulable": true}});
        let tainted = json!({"spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}});
        for (title, b, m, p, want) in [
            ("one more is one too many", json!({}), json!({}), spread(json!({}), web()), full()),
            ("a wider skew", json!({}), json!({}), spread(json!({"maxSkew": 2}), web()), vec![]),
            ("a pod that is not counted itself", json!({}), json!({}), spread(json!({}), json!({})), vec![]),
            ("a wish", json!({}), json!({}), spread(json!({"whenUnsatisfiable": "ScheduleAnyway"}), web()), vec![]),
            ("terminating pods are not counted", json!({}), gone, spread(json!({}), web()), vec![]),
            (
                "other namespaces are not counted",
                json!({}),
                json!({"metadata": {"namespace": "b"}}),
                spread(json!({}), web()),
                vec![],
            ),
            ("a cordoned node is a domain", cordoned, json!({}), spread(json!({}), web()), full()),
            ("a tainted node is a domain", tainted.clone(), json!({}), spread(json!({}), web()), full()),
            (
                "unless taints are honoured",
                tainted,
                json!({}),
                spread(json!({"nodeTaintsPolicy": "Honor"}), web()),
                vec![],
            ),
            ("minDomains met", json!({}), json!({}), spread(json!({"minDomains": 2, "maxSkew": 2}), web()), vec![]),
            ("minDomains not met counts 0", json!({}), json!({}), spread(json!({"minDomains": 3}), web()), full()),
            (
                "only pods of the same value are counted",
                json!({}),
                json!({"metadata": {"labels": {"rev": "1"}}}),
                spread(json!({"matchLabelKeys": ["rev"]}), json!({"app": "web", "rev": "2"})),
                vec![],
            ),
        ] {
            let all = [zoned("n", "a", json!({})), zoned("m", "b", b), member("one", "n", m), p];
            assert_eq!(refusals(&all), want, "{title}");
        }
    }

    #[test]
    fn a_node_without_the_label_cannot_be_helped() {
        let words = format!("{TOO_MANY} (missing required label)");
        let all = [node("n", json!({})), zoned("m", "b", json!({})), spread(json!({}), json!({"app": "web"}))];
        assert_eq!(refusals(&all), refusal(PodTopologySpread, false, &[&words]));
    }

    #[test]
    fn taking_a_member_away_makes_room() {
        // The member is of lower priority, and gone it evens the zones.
        let p = merged(spread(json!({}), json!({"app": "web"})), json!({"spec": {"priority": 10}}));
        let tight = json!({"status": {"allocatable": {"cpu": "500m"}}});
        let all = [zoned("n", "a", json!({})), zoned("m", "b", tight), member("one", "n", json!({})), p];
        assert_eq!(says(&all), format!("0/2 nodes are available: 1 Insufficient cpu, 1 {TOO_MANY}."));
    }
}
