//! What can be done: changes to a cluster, tried before they are offered.
//!
//! ```text
//! Change(s) ─► Cure ─► the snapshot with the changes made ─► the engine again ─► Remedy { verified }
//! ```
//!
//! An engine says with a closure what its remedy promises: the whole plan, the whole judgement of a budget, or the
//! scheduler's cycle, run anew on the changed snapshot as it stands. Only [`Cure::tried`] and its kin can mark a remedy
//! as verified. A remedy keeps its changes, so that another engine can try them for a promise of its own.

mod change;
mod managed;
mod manifest;
pub mod silent_node;

pub use change::{Change, WebhookKind, scale_target};
pub use managed::manager;

use crate::shell::Kubectl;
use crate::snapshot::Snapshot;
use crate::snapshot::workload::Workload;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::sync::Arc;

/// Something that can be done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Remedy {
    /// What to do, in words that name the object and the field or flag.
    pub text: String,
    /// What it costs.
    pub risk: Option<String>,
    commands: Vec<String>,
    undos: Vec<String>,
    verified: bool,
    changes: Vec<Change>,
}

impl Remedy {
    /// Advice that was not tried.
    pub fn advice(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// With one more line to be run, as it can be pasted into a shell.
    #[must_use]
    pub fn command(mut self, line: impl Into<String>) -> Self {
        self.commands.push(line.into());
        self
    }

    /// With one more line that takes it back, to be run after those that are there.
    #[must_use]
    pub fn undo(mut self, line: impl Into<String>) -> Self {
        self.undos.push(line.into());
        self
    }

    /// With what it costs.
    #[must_use]
    pub fn risk(mut self, risk: impl Into<String>) -> Self {
        self.risk = Some(risk.into());
        self
    }

    /// The lines to be run, one after the other.
    pub fn commands(&self) -> &[String] {
        &self.commands
    }

    /// The lines that take it back, in the order in which they are run.
    pub fn undos(&self) -> &[String] {
        &self.undos
    }

    /// The changes that it is made from; none for lines that change no object, and for mere advice.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether it changes or deletes a budget.
    pub fn changes_budget(&self) -> bool {
        self.changes.iter().any(Change::is_of_budget)
    }

    /// Whether an engine, run again with the changes made, says that it cures.
    pub fn is_verified(&self) -> bool {
        self.verified
    }

    /// The same remedy, tried for another promise. `None` where it is not made from changes, or they do not keep it.
    pub fn tried_again(&self, snapshot: &Snapshot, holds: impl FnOnce(&Snapshot) -> bool) -> Option<Self> {
        let made = !self.changes.is_empty() && holds(&apply(&self.changes, snapshot));
        made.then(|| Self { verified: true, ..self.clone() })
    }

    /// The same remedy, tried by a closure that knows how: for lines that change no object, such as the flags of a drain.
    #[must_use]
    pub fn tried(self, holds: impl FnOnce() -> bool) -> Option<Self> {
        holds().then_some(Self { verified: true, ..self })
    }
}

/// The cluster with changes made, one after the other.
fn apply(changes: &[Change], snapshot: &Snapshot) -> Snapshot {
    changes.iter().fold(snapshot.clone(), |changed, change| change.apply(&changed))
}

/// Changes that belong together, made in their order: one remedy.
#[derive(Debug, Clone, Default)]
pub struct Cure {
    changes: Vec<Change>,
    text: Option<String>,
    risk: Option<String>,
    one_line: bool,
}

impl From<Change> for Cure {
    fn from(change: Change) -> Self {
        Self { changes: vec![change], ..Self::default() }
    }
}

impl<const N: usize> From<[Change; N]> for Cure {
    fn from(changes: [Change; N]) -> Self {
        Self { changes: changes.into(), ..Self::default() }
    }
}

impl Cure {
    /// Several changes, made in their order.
    pub fn of(changes: impl IntoIterator<Item = Change>) -> Self {
        Self { changes: changes.into_iter().collect(), ..Self::default() }
    }

    /// Sets how many pods a workload has: on the autoscaler that holds their number, where there is one, whose ceiling is
    /// raised where the API would refuse the floor.
    pub fn replicas(snapshot: &Snapshot, workload: &Arc<Workload>, count: i32) -> Self {
        // The disruption controller counts by the ReplicaSet of a custom workload; that would put the ReplicaSet back.
        let top = snapshot.top_controller_of(&workload.meta).filter(|top| top.replicas() == workload.replicas());
        let change = Change::replicas(snapshot, top.unwrap_or(workload), count);
        let ceiling = match &change {
            Change::MinReplicas(a, _) => a.spec.as_ref().and_then(|s| s.max_replicas).map(|max| (a.clone(), max)),
            _ => None,
        };
        let raised = ceiling.filter(|(_, max)| *max < count).map(|(a, _)| Change::MaxReplicas(a, count));
        Self::of(raised.into_iter().chain([change]))
    }

    /// With words of its own instead of those of its changes.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// With a cost of its own instead of those of its changes.
    #[must_use]
    pub fn risk(mut self, risk: impl Into<String>) -> Self {
        self.risk = Some(risk.into());
        self
    }

    /// As one line of which each part runs only if the one before has done its work.
    #[must_use]
    pub fn one_line(mut self) -> Self {
        self.one_line = true;
        self
    }

    /// The changes.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The cluster with the changes made.
    pub fn apply(&self, snapshot: &Snapshot) -> Snapshot {
        apply(&self.changes, snapshot)
    }

    /// The remedy, verified; `None` where the changed cluster is not as promised.
    pub fn tried(self, snapshot: &Snapshot, holds: impl FnOnce(&Snapshot) -> bool) -> Option<Remedy> {
        let made = holds(&self.apply(snapshot));
        made.then(|| Remedy { verified: true, ..self.untried(snapshot) })
    }

    /// The remedy, as something that was not tried.
    pub fn untried(self, snapshot: &Snapshot) -> Remedy {
        let kubectl = Kubectl::of(snapshot);
        let texts: Vec<String> = self.changes.iter().map(Change::text).collect();
        let mut text = self.text.unwrap_or_else(|| texts.join(", then "));
        let mut reverted: Vec<String> = self.changes.iter().filter_map(Change::reverted_by).collect();
        reverted.dedup();
        if !reverted.is_empty() {
            text.push_str(&format!(" ({})", reverted.join("; ")));
        }
        let mut risks: Vec<String> = self.changes.iter().filter_map(Change::risk).collect();
        risks.dedup();
        let commands: Vec<String> = self.changes.iter().flat_map(|c| c.commands(&kubectl)).collect();
        Remedy {
            text,
            risk: self.risk.or_else(|| (!risks.is_empty()).then(|| risks.join("; "))),
            commands: if self.one_line { vec![commands.join(" && ")] } else { commands },
            undos: self.changes.iter().rev().filter_map(|c| c.undo(&kubectl)).collect(),
            verified: false,
            changes: self.changes,
        }
    }
}

/// A remedy as documents have it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Remedy")]
struct RemedyReport<'a> {
    /// What to do, in words that name the object and the field or flag.
    text: &'a str,
    /// A line that can be pasted into a shell as it is; the first of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a String>,
    /// All lines of a sequence, which is one remedy: to be run one after the other. Absent where there is one at most.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    commands: &'a [String],
    /// The line that takes it back; the first of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<&'a String>,
    /// All lines that take a sequence back, in the order in which they are run. Absent where there is one at most.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    undos: &'a [String],
    /// What it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<&'a String>,
    /// Whether the engine, run again with the change, says that it cures.
    verified: bool,
}

impl Serialize for Remedy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let several = |lines: &[String]| lines.len() > 1;
        RemedyReport {
            text: &self.text,
            command: self.commands.first(),
            commands: if several(&self.commands) { &self.commands } else { &[] },
            undo: self.undos.first(),
            undos: if several(&self.undos) { &self.undos } else { &[] },
            risk: self.risk.as_ref(),
            verified: self.verified,
        }
        .serialize(serializer)
    }
}

impl JsonSchema for Remedy {
    fn schema_name() -> Cow<'static, str> {
        RemedyReport::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RemedyReport::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{budget, cluster, deployment, find, node, object};
    use serde_json::json;

    fn shop() -> Snapshot {
        let web = deployment("shop/web").on(&["n1"]);
        cluster()
            .all([node("n1"), node("n2")])
            .add(budget("shop/web").selects("app=web").min_available(1))
            .add(web)
            .snapshot()
    }

    #[test]
    fn a_sequence_is_one_remedy_and_is_taken_back_from_its_end() {
        let s = shop();
        let (n1, web) = (s.nodes[0].clone(), s.workload("Deployment", "shop", "web").unwrap().clone());
        let remedy = Cure::from([Change::Cordon(n1), Change::Restart(web), Change::DeleteBudget(s.budgets[0].clone())])
            .tried(&s, |changed| changed.budgets.is_empty() && changed.nodes[0].unschedulable)
            .unwrap();
        let undo = r#"echo '{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"web","namespace":"shop"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}}' | kubectl create -f -"#;
        assert_eq!(
            json!(remedy),
            json!({
                "text": "cordon node n1, then restart Deployment shop/web, then delete budget shop/web",
                "command": "kubectl cordon n1",
                "commands": ["kubectl cordon n1", "kubectl rollout restart deployment/web -n shop",
                    "kubectl rollout status deployment/web -n shop", "kubectl delete pdb web -n shop"],
                "undo": undo,
                "undos": [undo, "kubectl uncordon n1"],
                "risk": "every pod of Deployment shop/web is replaced; nothing limits evictions of its pods until the budget is back",
                "verified": true,
            })
        );
    }

    #[test]
    fn a_budget_that_a_finalizer_keeps_is_not_away_once_it_is_deleted() {
        let kept = |finalizer: &str| {
            let b = budget("a/b").selects("app=web").with(json!({"metadata": {"finalizers": [finalizer]}}));
            let s = cluster().add(b).snapshot();
            !Change::DeleteBudget(s.budgets[0].clone()).apply(&s).budgets.is_empty()
        };
        assert!(kept("example.com/keep") && !kept("foregroundDeletion"));
    }

    #[test]
    fn only_what_holds_is_offered_as_tried() {
        let s = shop();
        let cure = || Cure::from(Change::DeletePod(find(&s, "shop/web-1-0")));
        assert_eq!(cure().tried(&s, |changed| !changed.pods.is_empty()), None);
        let untried = cure().untried(&s);
        assert!(!untried.is_verified());
        // Another engine may have another promise.
        assert!(untried.tried_again(&s, |changed| changed.pods.is_empty()).unwrap().is_verified());
        assert_eq!(untried.tried_again(&s, |changed| !changed.pods.is_empty()), None);
        assert_eq!(Remedy::advice("wait").tried_again(&s, |_| true), None, "no change was made that could be tried");
    }

    #[test]
    fn replicas_are_set_where_their_number_is_held() {
        let hpa = object("autoscaling/v2", "HorizontalPodAutoscaler", "shop/web").spec(json!({
            "minReplicas": 1, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}));
        for (title, autoscaler, command) in [
            ("nobody holds it", None, "kubectl scale deployment/web --replicas=2 -n shop"),
            (
                "an autoscaler holds it",
                Some(hpa),
                r#"kubectl patch hpa web --type=merge -p '{"spec":{"minReplicas":2}}' -n shop"#,
            ),
        ] {
            let s = cluster().add(deployment("shop/web").on(&["n1"])).all(autoscaler).snapshot();
            let change = Change::replicas(&s, s.workload("Deployment", "shop", "web").unwrap(), 2);
            assert_eq!(change.commands(&Kubectl::default()), [command], "{title}");
            // The ReplicaSet gets what the Deployment has more.
            let changed = change.apply(&s);
            let scale = |kind: &str, name: &str| changed.workload(kind, "shop", name).unwrap().replicas();
            assert_eq!((scale("Deployment", "web"), scale("ReplicaSet", "web-1")), (Some(2), Some(2)), "{title}");
        }
    }

    #[test]
    fn a_floor_above_the_ceiling_raises_it_and_keda_is_told_itself() {
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
        let hpa = || {
            object("autoscaling/v2", "HorizontalPodAutoscaler", "shop/web")
                .spec(json!({"minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": target}))
        };
        let patch = |what: &str, name: &str, field: &str, n: i32| {
            format!(r#"kubectl patch {what} {name} --type=merge -p '{{"spec":{{"{field}":{n}}}}}' -n shop"#)
        };
        for (title, autoscaler, count, commands, undos) in [
            (
                "below",
                hpa(),
                3,
                vec![patch("hpa", "web", "minReplicas", 3)],
                vec![patch("hpa", "web", "minReplicas", 1)],
            ),
            (
                "above",
                hpa(),
                5,
                vec![patch("hpa", "web", "maxReplicas", 5), patch("hpa", "web", "minReplicas", 5)],
                vec![patch("hpa", "web", "minReplicas", 1), patch("hpa", "web", "maxReplicas", 3)],
            ),
            (
                "of KEDA",
                hpa().owned_by("keda.sh/v1alpha1", "ScaledObject/load"),
                3,
                vec![patch("scaledobject", "load", "minReplicaCount", 3)],
                vec![patch("scaledobject", "load", "minReplicaCount", 1)],
            ),
        ] {
            let s = cluster().add(deployment("shop/web").on(&["n1"])).add(autoscaler).snapshot();
            let cure = Cure::replicas(&s, s.workload("Deployment", "shop", "web").unwrap(), count);
            let changed = cure.apply(&s);
            let spec = changed.horizontal_pod_autoscalers[0].spec.as_ref().unwrap();
            assert_eq!((spec.min_replicas, spec.max_replicas), (Some(count), Some(count.max(3))), "{title}");
            let remedy = cure.untried(&s);
            assert_eq!((remedy.commands(), remedy.undos()), (&commands[..], &undos[..]), "{title}: {}", remedy.text);
        }
    }

    #[test]
    fn who_would_revert_a_change_is_told_for_every_kind_of_change() {
        let flux = |o: crate::testing::Object| o.label("kustomize.toolkit.fluxcd.io/name", "apps");
        let s = cluster()
            .add(flux(budget("shop/web").selects("app=web").min_available(1)))
            .add(deployment("shop/web").on(&["n1"]).itself(flux))
            .snapshot();
        let (b, w) = (s.budgets[0].clone(), s.workload("Deployment", "shop", "web").unwrap().clone());
        for change in [Change::AlwaysAllow(b.clone()), Change::DeleteBudget(b), Change::Scale(w, 2)] {
            let text = Cure::from(change).untried(&s).text;
            assert!(text.contains("(Flux Kustomization apps will revert a patch: change it in Git)"), "{text}");
        }
    }
}
