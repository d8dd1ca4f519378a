//! What becomes of each node, method by method. Mirrors the `ShouldDisrupt` and `ComputeCommands` of
//! `disruption/{emptiness,drift,staticdrift,multinodeconsolidation,singlenodeconsolidation}.go`, and `consolidation.go`.

use super::super::instance_type::Price;
use super::super::labels::NODE_POOL;
use super::super::machine::Machine;
use super::super::node_claim::span;
use super::super::provision::Karpenter;
use super::super::requirement::Requirement;
use super::super::solve::NewNode;
use super::blockers;
use super::candidate::Candidate;
use super::pool_budgets::PoolBudgets;
use super::price::{cheaper, known, name};
use super::reschedule::{Standing, reschedule};
use super::{Fate, Keeps, Why};
use crate::budget::selection::Selection;
use crate::sched::State;
use crate::snapshot::Str;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

/// So many nodes are consolidated together at most.
const TOGETHER: usize = 100;

/// Seconds until Karpenter has looked at everything: it begins every 10 s, and waits 15 s before it acts on what a method
/// found. An expiry that comes sooner comes first.
const A_LOOK: i64 = 45;

/// What Karpenter does with the nodes of a cluster as it is.
#[derive(Debug)]
pub struct Disruption<'a> {
    state: &'a State,
    karpenters: Vec<Karpenter>,
    /// What is the same whichever nodes are thought of, of each of them.
    standing: Vec<OnceLock<Standing>>,
    budgets: PoolBudgets,
    selection: Selection,
    /// The number of the machine of each node.
    machines: HashMap<Str, usize>,
    /// Those that are consolidated together with others.
    together: OnceLock<BTreeSet<usize>>,
}

/// What comes of thinking about consolidating nodes.
enum Command {
    /// Their pods fit on nodes that are there.
    Delete,
    /// A new node takes their pods, of one of these types.
    Replace(Box<NewNode>, Vec<usize>),
}

impl<'a> Disruption<'a> {
    /// That of a state; `None` where there is no NodePool.
    pub fn new(state: &'a State) -> Option<Self> {
        let karpenters = Karpenter::all(state);
        let machines = &karpenters.first()?.machines;
        let named = |(at, m): (usize, &Machine)| Some((m.node.as_ref()?.name().clone(), at));
        Some(Self {
            state,
            budgets: PoolBudgets::new(machines),
            selection: Selection::new(state.snapshot()),
            machines: machines.iter().enumerate().filter_map(named).collect(),
            together: OnceLock::new(),
            standing: karpenters.iter().map(|_| OnceLock::new()).collect(),
            karpenters,
        })
    }

    /// What becomes of a node; `None` where there is no such node.
    pub fn of(&self, node: &str) -> Option<Fate> {
        let at = *self.machines.get(node)?;
        let machine = self.karpenters.first()?.machines.get(at)?;
        let snapshot = self.state.snapshot();
        if machine.is_going() {
            return Some(Fate::Going);
        }
        let expires = machine.claim.as_ref().and_then(|c| c.expires());
        let left = expires.map(|at| at.duration_since(snapshot.now).as_secs());
        if left.is_some_and(|left| left <= 0) {
            return Some(Fate::Disrupted(Why::Expired));
        }
        let expires_first = left.is_some_and(|left| left <= A_LOOK);
        match self.before_expiry(at, machine) {
            Fate::Kept(_) | Fate::Unknown(_) if expires_first => Some(Fate::Disrupted(Why::Expired)),
            fate => Some(fate),
        }
    }

    fn before_expiry(&self, at: usize, machine: &Machine) -> Fate {
        let snapshot = self.state.snapshot();
        let of_node = blockers::of_node(machine);
        let Some((karpenter, candidate)) = self.candidate(at) else {
            let pool = machine.labels().get(NODE_POOL).cloned();
            let pool = pool.filter(|_| machine.is_managed()).map(Keeps::NoPool);
            return Fate::Kept(of_node.into_iter().chain(pool).collect());
        };
        let on = machine.node.iter().flat_map(|n| snapshot.pods_on(n.name()));
        let of_pods = blockers::of_pods(on, &self.selection, snapshot);
        let is_free = of_node.is_empty() && of_pods.is_empty();
        let drifts = candidate.claim.is("Drifted");
        // A drain that has an end is begun although pods stand in its way.
        let begins = of_node.is_empty() && (of_pods.is_empty() || candidate.claim.termination_grace().is_some());
        let consolidated = self.consolidates(karpenter, &candidate, is_free);
        if is_free && consolidated == Ok(Why::Empty) {
            return Fate::Disrupted(Why::Empty);
        }
        let drifted = drifts.then(|| self.drifts(karpenter, &candidate, begins));
        if begins && drifted == Some(Ok(())) {
            return Fate::Disrupted(Why::Drifted);
        }
        if let (true, Ok(why)) = (is_free, &consolidated) {
            return Fate::Disrupted(*why);
        }
        let mut keeps = of_node;
        keeps.extend(of_pods);
        keeps.extend(consolidated.err().into_iter().flatten());
        keeps.extend(drifted.and_then(Result::err));
        let mut told = Vec::with_capacity(keeps.len());
        for one in keeps {
            if !told.contains(&one) {
                told.push(one);
            }
        }
        // What is open decides only where nothing else keeps the node.
        if told.iter().all(Keeps::is_open) { Fate::Unknown(told) } else { Fate::Kept(told) }
    }

    /// A machine as a candidate, with the Karpenter whose pool it came from.
    fn candidate(&self, at: usize) -> Option<(&Karpenter, Candidate<'_>)> {
        self.karpenters.iter().find_map(|karpenter| {
            let machine = karpenter.machines.get(at)?;
            let labels = machine.labels();
            let pool = karpenter.pools.iter().find(|p| Some(p.name()) == labels.get(NODE_POOL))?;
            let candidate = Candidate::new(at, machine, machine.claim.as_ref()?, pool, self.state.snapshot());
            Some((karpenter, candidate))
        })
    }

    /// Whether a pool's budgets allow a node to be taken away.
    fn budget(&self, candidate: &Candidate<'_>, why: Why) -> Option<Keeps> {
        let allowed = self.budgets.allowed(candidate.pool, why, self.state.snapshot().now);
        (allowed.now == 0).then(|| Keeps::PoolBudget(candidate.pool.name().clone(), why, allowed))
    }

    /// Whether a drifted node is replaced. `begins` says whether nothing else keeps it.
    fn drifts(&self, karpenter: &Karpenter, candidate: &Candidate<'_>, begins: bool) -> Result<(), Keeps> {
        if let Some(keeps) = self.budget(candidate, Why::Drifted) {
            return Err(keeps);
        }
        // One of a fixed number is replaced without a look for places.
        if candidate.pool.object.spec.replicas.is_some() || !begins {
            return Ok(());
        }
        self.reschedule(karpenter, &[candidate], false).map(drop)
    }

    /// Whether a node is consolidated, and as what; all that keeps it, else. `free` says whether nothing else keeps it.
    fn consolidates(&self, karpenter: &Karpenter, candidate: &Candidate<'_>, free: bool) -> Result<Why, Vec<Keeps>> {
        let mut keeps = Self::not_considered(candidate);
        let settled = !keeps.is_empty();
        keeps.extend(candidate.consolidate_after(self.state.snapshot().now));
        let why = if candidate.is_empty() { Why::Empty } else { Why::Underutilized };
        if !settled {
            keeps.extend(self.budget(candidate, why));
        }
        if why == Why::Underutilized && !settled && free {
            let is_balanced = candidate.pool.object.spec.disruption.consolidation_policy == "Balanced";
            match self.command(karpenter, &[candidate]) {
                Ok(_) if is_balanced => keeps.push(Keeps::BalanceNotKnown(candidate.pool.name().clone())),
                Ok(_) => {}
                Err(_) if keeps.is_empty() && self.together(karpenter).contains(&candidate.machine) => {}
                Err(why) => keeps.push(why),
            }
        }
        if keeps.is_empty() { Ok(why) } else { Err(keeps) }
    }

    /// What keeps a node from being considered at all.
    fn not_considered(candidate: &Candidate<'_>) -> Vec<Keeps> {
        let pool = candidate.pool.name();
        let settings = &candidate.pool.object.spec.disruption;
        if candidate.pool.object.spec.replicas.is_some() {
            return vec![Keeps::StaticPool(pool.clone())];
        }
        let mut keeps = Vec::new();
        if !candidate.is_empty() {
            keeps.extend(candidate.price.as_ref().err().cloned());
        }
        if settings.consolidate_after.as_deref().and_then(span).is_none() {
            keeps.push(Keeps::ConsolidationDisabled(pool.clone()));
        }
        if !candidate.is_empty() && settings.consolidation_policy == "WhenEmpty" {
            let pods = candidate.pods.iter().map(|p| blockers::path(p)).collect();
            keeps.push(Keeps::NotEmpty(pool.clone(), pods));
        }
        keeps
    }

    /// The new nodes that the pods of candidates need; why they have no place, else.
    fn reschedule(
        &self,
        karpenter: &Karpenter,
        candidates: &[&Candidate<'_>],
        consolidating: bool,
    ) -> Result<Vec<NewNode>, Keeps> {
        let found = || Standing::new(karpenter, self.state, &self.selection);
        let at = self.karpenters.iter().position(|k| std::ptr::eq(k, karpenter));
        let anew = OnceLock::new();
        let standing = at.and_then(|at| self.standing.get(at)).unwrap_or(&anew).get_or_init(found);
        reschedule(karpenter, candidates, consolidating, standing, &self.selection)
    }

    /// What is done about nodes that are consolidated together; why nothing, else. Mirrors `computeConsolidation`.
    fn command(&self, karpenter: &Karpenter, candidates: &[&Candidate<'_>]) -> Result<Command, Keeps> {
        let mut new = self.reschedule(karpenter, candidates, true)?;
        let several = new.len();
        let Some(node) = new.pop() else { return Ok(Command::Delete) };
        if several > 1 {
            return Err(Keeps::SeveralNewNodes(several));
        }
        let capacity = node.requirements.get(super::super::labels::CAPACITY_TYPE);
        if candidates.iter().all(|c| c.is_spot) && capacity.is_none_or(|r: &Requirement| r.has("spot")) {
            return Err(Keeps::SpotToSpot);
        }
        let price: Option<u64> = candidates.iter().map(|c| c.known_price().map(|p| p.0)).sum();
        let template = karpenter.templates.get(node.template);
        let (Some(price), Some(template), Some(among)) = (price, template, known(&node)) else {
            return Err(Keeps::PriceNotKnown(self.said_not_cheaper(karpenter, candidates)));
        };
        let left = cheaper(&node, among, template, Price(price)).ok_or(Keeps::NotCheaper)?;
        Ok(Command::Replace(Box::new(node), left))
    }

    /// What Karpenter itself said last about a node that it would not replace.
    fn said_not_cheaper(&self, karpenter: &Karpenter, candidates: &[&Candidate<'_>]) -> Option<String> {
        let [candidate] = candidates else { return None };
        let node = karpenter.machines.get(candidate.machine)?.node.as_ref()?;
        let events = self.state.snapshot().events_about("Node", "", node.name());
        let said = events.filter(|e| &*e.reason == "Unconsolidatable" && e.reporter.contains("karpenter"));
        said.max_by_key(|e| e.last_seen).map(|e| e.message.to_string())
    }

    /// The nodes that are consolidated together: the longest list, those that save most for what is disturbed first, whose
    /// pods fit on what is left and on one cheaper node. Mirrors `firstNConsolidationOption`.
    fn together(&self, karpenter: &Karpenter) -> &BTreeSet<usize> {
        self.together.get_or_init(|| {
            let candidates = self.candidates_for_together(karpenter);
            let all: Vec<&Candidate<'_>> = candidates.iter().collect();
            if all.len() < 2 {
                return BTreeSet::new();
            }
            let (mut least, mut most) = (1, TOGETHER.min(all.len() - 1));
            let mut best = BTreeSet::new();
            while least <= most {
                let middle = usize::midpoint(least, most);
                let some = all.get(..=middle).unwrap_or_default();
                if self.is_sensible(karpenter, some) {
                    best = some.iter().map(|c| c.machine).collect();
                    least = middle + 1;
                } else {
                    most = middle - 1;
                }
            }
            best
        })
    }

    fn candidates_for_together(&self, karpenter: &Karpenter) -> Vec<Candidate<'_>> {
        let snapshot = self.state.snapshot();
        let considered = |(at, machine): (usize, &Machine)| {
            let (_, candidate) = self.candidate(at)?;
            let name = machine.node.as_ref()?.name();
            let is_free = !machine.is_going()
                && blockers::of_node(machine).is_empty()
                && blockers::of_pods(snapshot.pods_on(name), &self.selection, snapshot).is_empty();
            let is_considered = is_free
                && !candidate.is_empty()
                && candidate.known_price().is_some()
                && Self::not_considered(&candidate).is_empty()
                && candidate.pool.object.spec.disruption.consolidation_policy != "Balanced"
                && candidate.consolidate_after(snapshot.now).is_none();
            is_considered.then_some(candidate)
        };
        let mut all: Vec<Candidate<'_>> = karpenter.machines.iter().enumerate().filter_map(considered).collect();
        let price = |c: &Candidate<'_>| i128::from(c.known_price().map_or(0, |p| p.0));
        all.sort_by(|a, b| (price(b) * i128::from(a.cost)).cmp(&(price(a) * i128::from(b.cost))));
        let mut left: BTreeMap<Str, i64> = BTreeMap::new();
        all.retain(|c| {
            let allowed = || self.budgets.allowed(c.pool, Why::Underutilized, snapshot.now).now;
            let left = left.entry(c.pool.name().clone()).or_insert_with(allowed);
            *left -= 1;
            *left >= 0
        });
        all
    }

    /// Whether nodes are consolidated together. In the place of several there never comes a node of a type that one of
    /// them has: that is left out with all that cost as much. Mirrors `filterOutSameInstanceType`.
    fn is_sensible(&self, karpenter: &Karpenter, candidates: &[&Candidate<'_>]) -> bool {
        let (node, among) = match self.command(karpenter, candidates) {
            Ok(Command::Delete) => return true,
            Ok(Command::Replace(node, among)) => (node, among),
            Err(_) => return false,
        };
        let Some(template) = karpenter.templates.get(node.template) else { return false };
        let same = |c: &&&Candidate<'_>| among.iter().any(|at| name(template, *at) == c.kind.as_ref());
        match candidates.iter().filter(same).filter_map(|c| c.known_price()).min() {
            Some(price) => cheaper(&node, &among, template, price).is_some(),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Cluster, Object, budget, cluster, deployment, node, object, pod};
    use serde_json::{Value, json};

    /// A pool of a cloud whose prices nobody knows, unless `group` is kwok's.
    fn pool(group: &str, disruption: &Value) -> Object {
        let class = json!({"group": group, "kind": "X", "name": "default"});
        let ready = json!([{"type": "Ready", "status": "True"}]);
        let on_demand = json!([{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}]);
        let template = json!({"spec": {"nodeClassRef": class, "requirements": on_demand}});
        let spec = json!({"disruption": disruption, "template": template});
        object("karpenter.sh/v1", "NodePool", "main").spec(spec).status(json!({"conditions": ready}))
    }

    /// A node of that pool with 2 cpu, and its NodeClaim.
    fn nodes(cluster: Cluster, name: &str, conditions: &[&str], spec: &Value) -> Cluster {
        let conditions = ["Initialized"].iter().chain(conditions);
        let conditions: Vec<Value> = conditions
            .map(|c| json!({"type": c, "status": "True", "lastTransitionTime": "2026-01-01T11:00:00Z"}))
            .collect();
        let labels = [
            ("karpenter.sh/nodepool", "main"),
            ("karpenter.sh/registered", "true"),
            ("karpenter.sh/initialized", "true"),
            ("karpenter.sh/capacity-type", "on-demand"),
            ("node.kubernetes.io/instance-type", "c-2x-amd64-linux"),
            ("topology.kubernetes.io/zone", "test-zone-a"),
        ];
        let new = node(name).allocatable("cpu", "2").allocatable("memory", "4Gi").allocatable("pods", "10");
        let new = labels.into_iter().fold(new, |node, (key, value)| node.label(key, value));
        let claim = object("karpenter.sh/v1", "NodeClaim", &format!("claim-{name}")).created("2026-01-01T10:00:00Z");
        let claim = claim.with(json!({"spec": spec, "status": {"nodeName": name, "conditions": conditions}}));
        cluster.add(new).add(claim)
    }

    fn classes(cluster: &Cluster, node: &str) -> String {
        let state = State::new(&cluster.snapshot());
        match Disruption::new(&state).expect("a pool").of(node).expect("the node") {
            Fate::Disrupted(why) => why.word().to_owned(),
            Fate::Going => "going".to_owned(),
            Fate::Kept(keeps) => keeps.iter().map(Keeps::class).collect::<Vec<_>>().join(", "),
            Fate::Unknown(keeps) => format!("? {}", keeps.iter().map(Keeps::class).collect::<Vec<_>>().join(", ")),
        }
    }

    #[test]
    fn nodes_are_taken_or_kept_as_upstream_s_tests_say() {
        // "Candidate Filtering", "Disruption Taints" of disruption/suite_test.go, and the tests of each method beside it.
        let open = json!({"consolidateAfter": "0s", "consolidationPolicy": "WhenEmptyOrUnderutilized", "budgets": [{"nodes": "100%"}]});
        let with = |more: Value| {
            let mut all = open.clone();
            all.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
            all
        };
        let never = json!({"expireAfter": "Never"});
        let small = || deployment("shop/web").on(&["n1"]).pods(|_, p| p.requests("cpu", "500m"));
        let large = || deployment("shop/web").on(&["n1"]).pods(|_, p| p.requests("cpu", "1900m"));
        let kept = || small().pods(|_, p| p.annotation("karpenter.sh/do-not-disrupt", "true"));
        let zero = || budget("shop/web").selects("app=web").max_unavailable(0).allows(0);
        let n1 = |conditions: &[&str], spec: &Value| nodes(cluster(), "n1", conditions, spec);
        let n1_and_2 = || nodes(n1(&["Consolidatable"], &never), "n2", &[], &never);
        let (kwok, aws) = ("karpenter.kwok.sh", "karpenter.k8s.aws");
        for (title, group, disruption, cluster, want) in [
            ("empty", kwok, with(json!({})), n1(&["Consolidatable"], &never), "Empty"),
            ("not marked yet", kwok, with(json!({})), n1(&[], &never), "Empty"),
            ("too early", kwok, with(json!({"consolidateAfter": "2h"})), n1(&[], &never), "consolidateAfter"),
            ("disabled", kwok, with(json!({"consolidateAfter": "Never"})), n1(&[], &never), "consolidation disabled"),
            (
                "budget 0",
                kwok,
                with(json!({"budgets": [{"nodes": "0"}]})),
                n1(&["Consolidatable"], &never),
                "NodePool budget",
            ),
            (
                "disabled and a budget of 0 for another reason",
                kwok,
                with(json!({"consolidateAfter": "Never", "budgets": [{"nodes": "0", "reasons": ["Drifted"]}]})),
                n1(&["Drifted"], &never),
                "consolidation disabled, NodePool budget",
            ),
            ("drifted", kwok, with(json!({"consolidateAfter": "Never"})), n1(&["Drifted"], &never), "Drifted"),
            ("expired", kwok, with(json!({})), n1(&[], &json!({"expireAfter": "1h"})), "Expired"),
            (
                "expires at once",
                kwok,
                with(json!({"consolidateAfter": "Never"})),
                n1(&[], &json!({"expireAfter": "120m30s"})),
                "Expired",
            ),
            (
                "expires later",
                kwok,
                with(json!({"consolidateAfter": "Never"})),
                n1(&[], &json!({"expireAfter": "122m"})),
                "consolidation disabled",
            ),
            ("fits elsewhere", kwok, with(json!({})), n1_and_2().add(small()), "Underutilized"),
            ("a cheaper type", kwok, with(json!({})), n1(&["Consolidatable"], &never).add(small()), "Underutilized"),
            ("no cheaper type", kwok, with(json!({})), n1(&["Consolidatable"], &never).add(large()), "not cheaper"),
            ("a cloud's price", aws, with(json!({})), n1(&["Consolidatable"], &never).add(small()), "? not known"),
            ("fits elsewhere in a cloud", aws, with(json!({})), n1_and_2().add(small()), "Underutilized"),
            (
                "not empty",
                kwok,
                with(json!({"consolidationPolicy": "WhenEmpty"})),
                n1_and_2().add(small()),
                "not empty",
            ),
            ("do-not-disrupt", kwok, with(json!({})), n1_and_2().add(kept()), "do-not-disrupt"),
            ("a budget", kwok, with(json!({})), n1_and_2().add(small()).add(zero()), "budget"),
            (
                "a drain without an end does not begin for drift",
                kwok,
                with(json!({"consolidateAfter": "Never"})),
                n1(&["Drifted"], &never).add(kept()),
                "do-not-disrupt, consolidation disabled",
            ),
            (
                "one with an end does",
                kwok,
                with(json!({"consolidateAfter": "Never"})),
                n1(&["Drifted"], &json!({"terminationGracePeriod": "1h"})).add(kept()),
                "Drifted",
            ),
            (
                "finished pods do not hold",
                kwok,
                with(json!({})),
                n1(&["Consolidatable"], &never)
                    .add(pod("shop/a").on("n1").ended("Succeeded").annotation("karpenter.sh/do-not-disrupt", "true")),
                "Empty",
            ),
        ] {
            assert_eq!(classes(&cluster.add(pool(group, &disruption)), "n1"), want, "{title}");
        }
    }

    #[test]
    fn a_node_without_a_claim_is_not_karpenter_s() {
        let cluster = cluster().add(node("n1")).add(pool("karpenter.kwok.sh", &json!({})));
        assert_eq!(classes(&cluster, "n1"), "not managed");
    }
}
