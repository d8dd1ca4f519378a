//! Which budget covers which pods. Mirrors `getPodsForPdb` of the disruption controller and
//! `getPodDisruptionBudgets` of the eviction endpoint.

use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::Operator;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Map, Snapshot, Str};
use foldhash::HashMap;
use std::sync::Arc;

/// The pods of every budget, and the budgets of every pod, by their positions in the snapshot's tables. Copies share it.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pods: Arc<Pods>,
    workloads: Arc<Vec<Vec<u32>>>,
    index: Arc<Index>,
}

/// Pods and budgets that belong together.
#[derive(Debug, Clone, Default)]
struct Pods {
    by_budget: Vec<Vec<u32>>,
    /// The budgets of the first pod, then those of the second, and so on.
    budgets: Vec<u32>,
    /// Where in `budgets` those of each pod end.
    ends: Vec<usize>,
}

impl Pods {
    fn new(budgets: usize) -> Self {
        Self { by_budget: vec![Vec::new(); budgets], ..Self::default() }
    }

    /// Adds the next pod.
    fn push(&mut self, budgets: &[u32]) {
        let at = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        put(&mut self.by_budget, at, budgets);
        self.budgets.extend_from_slice(budgets);
        self.ends.push(self.budgets.len());
    }

    fn budgets(&self, pod: usize) -> &[u32] {
        let from = pod.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        self.ends.get(pod).and_then(|to| self.budgets.get(from..*to)).unwrap_or_default()
    }
}

fn put(lists: &mut [Vec<u32>], at: u32, found: &[u32]) {
    for budget in found {
        lists.get_mut(*budget as usize).into_iter().for_each(|list| list.push(at));
    }
}

impl Selection {
    /// Matches all budgets of a snapshot with all pods.
    pub fn new(snapshot: &Snapshot) -> Self {
        let index = Index::new(&snapshot.budgets);
        let mut workloads = vec![Vec::new(); snapshot.budgets.len()];
        let mut pods = Pods::new(snapshot.budgets.len());
        let mut matching = Matching::new(&index, snapshot);
        snapshot.pods.iter().for_each(|pod| pods.push(matching.of(pod)));
        for (at, workload) in (0u32..).zip(snapshot.workloads.iter()) {
            let Some(template) = workload.template.as_ref().filter(|_| is_topmost(snapshot, workload)) else {
                continue;
            };
            let found = index.matching(&snapshot.budgets, workload.meta.ns(), &template.meta.labels);
            put(&mut workloads, at, &found);
        }
        Self { pods: Arc::new(pods), workloads: Arc::new(workloads), index: Arc::new(index) }
    }

    /// The selection of a snapshot that was made from another one, whose selection this is: only pods that are new are
    /// held against budgets.
    #[must_use]
    pub fn after(&self, before: &Snapshot, changed: &Snapshot) -> Self {
        if !same_selectors(before, changed) || before.workloads.len() != changed.workloads.len() {
            return Self::new(changed);
        }
        if before.pods.is_same(&changed.pods) {
            return self.clone();
        }
        let mut pods = Pods::new(changed.budgets.len());
        let mut matching = Matching::new(&self.index, changed);
        for (pod, place) in changed.pods.iter().zip(changed.pods.places_in(&before.pods)) {
            match place {
                Some(at) => pods.push(self.pods.budgets(at)),
                None => pods.push(matching.of(pod)),
            }
        }
        Self { pods: Arc::new(pods), ..self.clone() }
    }

    /// The pods that the budget at a position covers, in order of their names.
    pub fn pods<'a>(&'a self, snapshot: &'a Snapshot, budget: usize) -> impl Iterator<Item = &'a Arc<Pod>> + Clone {
        self.pods.by_budget.get(budget).into_iter().flatten().filter_map(|at| snapshot.pods.get(*at as usize))
    }

    /// The workloads that make pods which the budget at a position would cover: those that nothing controls.
    pub fn workloads<'a>(&'a self, snapshot: &'a Snapshot, budget: usize) -> impl Iterator<Item = &'a Arc<Workload>> {
        self.workloads.get(budget).into_iter().flatten().filter_map(|at| snapshot.workloads.get(*at as usize))
    }

    /// The budgets that cover a pod, in order of their names.
    pub fn budgets_of<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        pod: &Pod,
    ) -> impl Iterator<Item = &'a Arc<Budget>> + Clone {
        self.positions_of(snapshot, pod).iter().filter_map(|at| snapshot.budgets.get(*at as usize))
    }

    /// The positions of these budgets in the snapshot's table.
    pub fn positions_of(&self, snapshot: &Snapshot, pod: &Pod) -> &[u32] {
        snapshot.pods.position(pod.meta.ns(), &pod.meta.name).map_or(&[], |at| self.pods.budgets(at))
    }

    /// The positions of the budgets that would cover a pod of this namespace and these labels.
    pub fn of_labels(&self, snapshot: &Snapshot, namespace: &str, labels: &Map) -> Vec<u32> {
        self.index.matching(&snapshot.budgets, namespace, labels)
    }
}

/// Whether two snapshots have the same budgets, with the same selectors.
fn same_selectors(before: &Snapshot, changed: &Snapshot) -> bool {
    before.budgets.len() == changed.budgets.len()
        && before
            .budgets
            .iter()
            .zip(changed.budgets.iter())
            .all(|(a, b)| Arc::ptr_eq(a, b) || (a.meta.path() == b.meta.path() && a.selector == b.selector))
}

/// Looks for the budgets of one pod after the other: those of one template often stand together, and share their labels.
struct Matching<'a> {
    index: &'a Index,
    snapshot: &'a Snapshot,
    last: Option<&'a Arc<Pod>>,
    found: Vec<u32>,
}

impl<'a> Matching<'a> {
    fn new(index: &'a Index, snapshot: &'a Snapshot) -> Self {
        Self { index, snapshot, last: None, found: Vec::new() }
    }

    fn of(&mut self, pod: &'a Arc<Pod>) -> &[u32] {
        let alike = |last: &Arc<Pod>| last.meta.labels.is_same(&pod.meta.labels) && last.meta.ns() == pod.meta.ns();
        if !self.last.is_some_and(alike) {
            self.found = self.index.matching(&self.snapshot.budgets, pod.meta.ns(), &pod.meta.labels);
            self.last = Some(pod);
        }
        &self.found
    }
}

/// Whether nothing controls the workload: a Deployment rather than its ReplicaSet.
pub(super) fn is_topmost(snapshot: &Snapshot, workload: &Workload) -> bool {
    snapshot.controller_of(&workload.meta).is_none()
}

/// Budgets by a label that their pods must have, so that a pod is held only against budgets that it can be under.
#[derive(Debug, Clone, Default)]
struct Index {
    namespaces: HashMap<Str, InNamespace>,
}

#[derive(Debug, Clone, Default)]
struct InNamespace {
    /// By key and value of a label.
    by_label: HashMap<Str, HashMap<Str, Vec<u32>>>,
    /// Budgets that ask for no label of a certain value.
    others: Vec<u32>,
}

impl Index {
    fn new(budgets: &[Arc<Budget>]) -> Self {
        // How many budgets ask for each label: of those a budget requests, the one that fewest others ask for tells most.
        let mut askers: HashMap<(&Str, &Str), u32> = HashMap::default();
        let values = |b: &Arc<Budget>| {
            wanted(b).flat_map(|r| r.values.iter().map(|v| (r.key.clone(), v.clone()))).collect::<Vec<_>>()
        };
        let all: Vec<Vec<(Str, Str)>> = budgets.iter().map(values).collect();
        for (key, value) in all.iter().flatten() {
            *askers.entry((key, value)).or_default() += 1;
        }
        let mut index = Self::default();
        for (at, budget) in (0u32..).zip(budgets) {
            let Some(namespace) = &budget.meta.namespace else { continue };
            let place = index.namespaces.entry(namespace.clone()).or_default();
            let weight = |values: &[Str], key: &Str| values.iter().filter_map(|v| askers.get(&(key, v))).sum::<u32>();
            match wanted(budget).min_by_key(|r| weight(&r.values, &r.key)) {
                Some(rarest) => {
                    let by_value = place.by_label.entry(rarest.key.clone()).or_default();
                    rarest.values.iter().for_each(|v| by_value.entry(v.clone()).or_default().push(at));
                }
                None => place.others.push(at),
            }
        }
        index
    }

    /// The budgets that may select an object, without order.
    fn candidates<'a>(&'a self, namespace: &str, labels: &'a Map) -> impl Iterator<Item = u32> + 'a {
        let place = self.namespaces.get(namespace);
        let by_label = place.into_iter().flat_map(move |place| {
            labels.iter().filter_map(|(key, value)| place.by_label.get(key)?.get(value)).flatten().copied()
        });
        by_label.chain(place.into_iter().flat_map(|p| p.others.iter().copied()))
    }

    /// The budgets that select an object, in order.
    fn matching(&self, budgets: &[Arc<Budget>], namespace: &str, labels: &Map) -> Vec<u32> {
        let selects = |at: &u32| budgets.get(*at as usize).is_some_and(|b| b.selector.matches(labels));
        let mut found: Vec<u32> = self.candidates(namespace, labels).filter(selects).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The requirements of a selector that only certain values of a label meet.
fn wanted(budget: &Budget) -> impl Iterator<Item = &crate::snapshot::selector::Requirement> {
    budget.selector.requirements().iter().filter(|r| r.operator == Operator::In)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{budget, cluster, pod};
    use serde_json::json;

    fn names(snapshot: &Snapshot, selection: &Selection, pod: &str) -> Vec<String> {
        let pod = crate::testing::find(snapshot, pod);
        selection.budgets_of(snapshot, &pod).map(|b| b.meta.name.to_string()).collect()
    }

    #[test]
    fn a_pod_is_under_every_budget_of_its_namespace_that_selects_it() {
        // After TestGetPodDisruptionBudgets and TestMultipleControllers' selectors.
        let expressions = |list: serde_json::Value| json!({"selector": {"matchExpressions": list}});
        let snapshot = cluster()
            .add(budget("a/all").selects("{}"))
            .add(budget("a/none"))
            .add(budget("a/web").selects("app=web"))
            .add(budget("a/web-front").selects("app=web,tier=front"))
            .add(
                budget("a/either")
                    .spec(expressions(json!([{"key": "app", "operator": "In", "values": ["web", "api"]}]))),
            )
            .add(budget("a/untiered").spec(expressions(json!([{"key": "tier", "operator": "DoesNotExist"}]))))
            .add(budget("a/not-api").spec(expressions(json!([{"key": "app", "operator": "NotIn", "values": ["api"]}]))))
            .add(budget("b/web").selects("app=web"))
            .add(pod("a/front").labels("app=web,tier=front"))
            .add(pod("a/api").labels("app=api"))
            .add(pod("a/plain"))
            .add(pod("c/web").labels("app=web"))
            .snapshot();
        let selection = Selection::new(&snapshot);
        for (pod, want) in [
            ("a/front", &["all", "either", "not-api", "web", "web-front"][..]),
            ("a/api", &["all", "either", "untiered"]),
            ("a/plain", &["all", "not-api", "untiered"]),
            ("c/web", &[]),
        ] {
            assert_eq!(names(&snapshot, &selection, pod), want, "{pod}");
        }
    }

    #[test]
    fn a_pod_is_held_only_against_budgets_that_it_can_be_under() {
        // 300 applications that share a label, each with a budget and two pods: not 300 × 600 comparisons.
        let apps = 300;
        let snapshot = cluster()
            .all((0..apps).map(|n| budget(&format!("a/b{n}")).selects(&format!("team=shop,app=a{n}"))))
            .all((0..2 * apps).map(|n| pod(&format!("a/p{n}")).labels(&format!("team=shop,app=a{}", n % apps))))
            .snapshot();
        let index = Index::new(&snapshot.budgets);
        let tried: usize = snapshot.pods.iter().map(|p| index.candidates("a", &p.meta.labels).count()).sum();
        assert_eq!(tried, 2 * apps);
        assert_eq!(names(&snapshot, &Selection::new(&snapshot), "a/p301"), ["b1"]);
    }

    #[test]
    fn after_pods_came_and_went_it_is_as_if_made_anew() {
        let before = cluster()
            .add(budget("a/web").selects("app=web"))
            .add(budget("b/all").selects("{}"))
            .all(["a/p1", "a/p2", "a/p3", "b/p1", "c/p1"].map(|p| pod(p).labels("app=web")))
            .snapshot();
        let others = cluster()
            .all(["a/p0", "b/p0", "d/p0"].map(|p| pod(p).labels("app=web")))
            .add(pod("a/p2").labels("app=api"))
            .snapshot();
        let mut changed = before.clone();
        changed.pods.remove("a", "p1");
        changed.pods.remove("c", "p1");
        others.pods.iter().for_each(|p| changed.pods.put(p.clone()));
        changed.reindex();
        let (quick, anew) = (Selection::new(&before).after(&before, &changed), Selection::new(&changed));
        for pod in changed.pods.iter() {
            assert_eq!(quick.positions_of(&changed, pod), anew.positions_of(&changed, pod), "{}", pod.meta.path());
        }
        for (budget, want) in [(0, &["a/p0", "a/p3"][..]), (1, &["b/p0", "b/p1"])] {
            let covered: Vec<String> = quick.pods(&changed, budget).map(|p| p.meta.path()).collect();
            assert_eq!(covered, want);
        }
    }
}
