//! Which budget covers which pods. Mirrors `getPodsForPdb` of the disruption controller and
//! `getPodDisruptionBudgets` of the eviction endpoint.

use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::Operator;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Map, Snapshot, Str};
use std::collections::HashMap;
use std::sync::Arc;

/// The pods of every budget, and the budgets of every pod, by their positions in the snapshot's tables.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pods: Vec<Vec<u32>>,
    workloads: Vec<Vec<u32>>,
    budgets: HashMap<u32, Vec<u32>>,
    index: Index,
}

impl Selection {
    /// Matches all budgets of a snapshot with all pods.
    pub fn new(snapshot: &Snapshot) -> Self {
        let index = Index::new(&snapshot.budgets);
        let mut pods = vec![Vec::new(); snapshot.budgets.len()];
        let mut workloads = pods.clone();
        let mut budgets = HashMap::new();
        let put = |lists: &mut Vec<Vec<u32>>, at: u32, found: &[u32]| {
            for budget in found {
                lists.get_mut(*budget as usize).into_iter().for_each(|list| list.push(at));
            }
        };
        for (at, pod) in (0u32..).zip(snapshot.pods.iter()) {
            let found = index.matching(&snapshot.budgets, pod.meta.ns(), &pod.meta.labels);
            if !found.is_empty() {
                put(&mut pods, at, &found);
                budgets.insert(at, found);
            }
        }
        for (at, workload) in (0u32..).zip(snapshot.workloads.iter()) {
            let Some(template) = workload.template.as_ref().filter(|_| is_topmost(snapshot, workload)) else {
                continue;
            };
            let found = index.matching(&snapshot.budgets, workload.meta.ns(), &template.meta.labels);
            put(&mut workloads, at, &found);
        }
        Self { pods, workloads, budgets, index }
    }

    /// The pods that the budget at a position covers, in order of their names.
    pub fn pods<'a>(&'a self, snapshot: &'a Snapshot, budget: usize) -> impl Iterator<Item = &'a Arc<Pod>> + Clone {
        self.pods.get(budget).into_iter().flatten().filter_map(|at| snapshot.pods.get(*at as usize))
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
        let at = snapshot.pods.position(pod.meta.ns(), &pod.meta.name).and_then(|at| u32::try_from(at).ok());
        at.and_then(|at| self.budgets.get(&at)).map_or(&[], |budgets| budgets)
    }

    /// The positions of the budgets that would cover a pod of this namespace and these labels.
    pub fn of_labels(&self, snapshot: &Snapshot, namespace: &str, labels: &Map) -> Vec<u32> {
        self.index.matching(&snapshot.budgets, namespace, labels)
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
        // How many budgets ask for each label: of those a budget asks for, the one that fewest others ask for tells most.
        let mut askers: HashMap<(&Str, &Str), u32> = HashMap::new();
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
}
