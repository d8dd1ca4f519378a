//! Every finding about a budget: what holds, in words that name what is at fault, and what can be done.

use super::evict;
use super::expected::NoScale;
use super::numbers::{self, SyncError};
use super::verdict::{CoveredPod, Facts};
use super::{operators, remedies};
use crate::cure::{Change, Cure, Remedy, scale_target};
use crate::finding::{Code, Finding, Ref};
use crate::lists::some;
use crate::snapshot::age::age;
use crate::snapshot::coverage::ReadOutcome;
use crate::snapshot::pod::{Phase, Pod};
use crate::snapshot::pod_state::why_not_ready;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Kind, Snapshot};
use std::sync::Arc;

fn pod_names<'a>(pods: impl IntoIterator<Item = &'a Arc<Pod>>) -> String {
    some(pods.into_iter().map(|p| &*p.meta.name), 3)
}

pub(super) fn overlap(f: &Facts<'_>) -> Option<Finding> {
    let shared: Vec<&CoveredPod> = f.pods.iter().filter(|p| p.budgets.len() > 1).collect();
    let first = shared.first()?;
    let mut others: Vec<_> =
        shared.iter().flat_map(|p| &p.budgets).filter(|b| **b != f.budget.meta.name).cloned().collect();
    others.sort();
    others.dedup();
    let names = pod_names(shared.iter().map(|p| &p.pod));
    let all_bypass = shared.iter().all(|p| p.eviction.bypass);
    let effect = if all_bypass { "they go only since none of them runs" } else { "evicting them is an error (500)" };
    let verb = if shared.len() == 1 { "is" } else { "are" };
    let message = format!("{names} {verb} also under {}: {effect}", some(others.iter().map(|o| &**o), 3));
    let ns = first.pod.meta.ns();
    let budgets = others.iter().map(|o| Ref::new("policy/v1", "PodDisruptionBudget", ns, o));
    let mut finding = f.finding(Code::Overlap, message, shared.iter().map(|p| &p.pod)).about(budgets);
    finding.remedies = remedies::overlap(f, &others);
    Some(finding)
}

pub(super) fn sync_failed(f: &Facts<'_>, error: &SyncError) -> Finding {
    let reported = f.budget.condition().filter(|c| &*c.reason == "SyncFailed").map(|c| c.message.to_string());
    let mut finding = match error {
        SyncError::Scale(NoScale::Fails { pod, owner, message }) => {
            let message = format!(
                "the controller cannot count on pod {}: its owner is {} {}, and {message}; it allows 0 and keeps older numbers",
                pod.meta.name, owner.kind, owner.name
            );
            f.finding(Code::SyncFailed, message, [pod]).about([Ref::owner(pod.meta.ns(), owner)])
        }
        SyncError::Scale(NoScale::Unknown { pod, owner }) => {
            let words = reported.unwrap_or_default();
            let message = format!(
                "the controller reports that it cannot sync the budget ({words}): pod {} belongs to {} {}",
                pod.meta.name, owner.kind, owner.name
            );
            f.finding(Code::SyncFailed, message, [pod]).about([Ref::owner(pod.meta.ns(), owner)])
        }
        SyncError::BadRule(words) => {
            f.finding(Code::SyncFailed, format!("the controller cannot use the rule {}: {words}", f.budget.rule), [])
        }
        SyncError::BadSelector => f.finding(Code::SyncFailed, "the controller cannot use the selector".to_owned(), []),
    };
    finding.remedies = remedies::integer_rule(f);
    finding
}

pub(super) fn owner_unknown(f: &Facts<'_>, error: &SyncError) -> Finding {
    let SyncError::Scale(NoScale::Unknown { pod, owner }) = error else {
        return sync_failed(f, error);
    };
    let message = format!(
        "how many pods to expect is not known: {} {} (the owner of pod {}), or its scale, could not be read; the numbers are the reported ones",
        owner.kind, owner.name, pod.meta.name
    );
    f.finding(Code::NotJudged, message, [pod]).about([Ref::owner(pod.meta.ns(), owner)])
}

pub(super) fn unread_pods(f: &Facts<'_>) -> Option<Finding> {
    let why = match f.snapshot.coverage.of(Kind::Pod) {
        ReadOutcome::Read => return None,
        ReadOutcome::Absent => "the input has no pods and does not say that they were read".to_owned(),
        ReadOutcome::Forbidden(_) => "the pods may not be read".to_owned(),
        ReadOutcome::Failed(words) => format!("the pods could not be read: {words}"),
    };
    Some(f.finding(Code::NotJudged, why, []))
}

pub(super) fn stale(f: &Facts<'_>) -> Option<Finding> {
    let (b, s) = (f.budget, &f.budget.status);
    let message = if evict::is_behind(b) && s.observed_generation.unwrap_or_default() == 0 {
        let when = b
            .meta
            .creation_timestamp
            .map(|t| format!(" since it was made {} ago", age(t, f.snapshot.now)))
            .unwrap_or_default();
        format!("the disruption controller has not looked at it{when}; until it has, every eviction is refused (429)")
    } else if evict::is_behind(b) {
        format!(
            "the status speaks of generation {} and the spec is at {}: until the controller has caught up, every eviction is refused (429)",
            s.observed_generation.unwrap_or_default(),
            b.meta.generation
        )
    } else if s.disruptions_allowed == 0 && f.numbers.allowed > 0 {
        format!(
            "the status still says 0 where the pods allow {}: evictions are refused (429) until the controller has caught up",
            f.numbers.allowed
        )
    } else {
        return None;
    };
    let text = "wait for the disruption controller; if it stays so, look whether kube-controller-manager runs";
    Some(f.finding(Code::Stale, message, []).remedy(Remedy::advice(text)))
}

pub(super) fn selects_nothing(f: &Facts<'_>) -> Finding {
    let text = format!("give budget {} a selector, or {{}} for every pod of the namespace", f.budget.meta.path());
    let message = "it has no selector, so it takes no pod".to_owned();
    f.finding(Code::SelectsNothing, message, []).remedy(Remedy::advice(text))
}

pub(super) fn no_pods(f: &Facts<'_>) -> Finding {
    let selector = &f.budget.selector;
    let mut message = format!("no pod matches {selector}");
    // A selector that misses by one term is most often a slip of the pen.
    let requirements = selector.requirements();
    let near = requirements.iter().find_map(|one| {
        let rest: Box<[_]> = requirements.iter().filter(|r| *r != one).cloned().collect();
        let rest = LabelSelector::All(rest);
        let pods = f.snapshot.pods.in_namespace(f.budget.meta.ns());
        let near: Vec<_> = pods.iter().filter(|p| requirements.len() > 1 && rest.matches(&p.meta.labels)).collect();
        (!near.is_empty()).then_some((one, near))
    });
    if let Some((term, near)) = near {
        let verb = if near.len() == 1 { "matches" } else { "match" };
        message.push_str(&format!("; {} {verb} all of it but {term}", pod_names(near)));
    }
    let mut finding = f.finding(Code::NoPods, message, []);
    if f.ideal.owners.is_empty() {
        finding.remedies.push(remedies::offered(f, Change::DeleteBudget(f.budget.clone())));
    }
    finding
}

pub(super) fn scaled_down(f: &Facts<'_>) -> Finding {
    let wants = |w: &Arc<crate::snapshot::workload::Workload>| {
        format!("{} {} wants {}", w.kind, w.meta.name, w.replicas().unwrap_or_default())
    };
    let live = f.pods.iter().filter(|p| !p.pod.is_finished()).count();
    let words: Vec<String> = f.ideal.shrinking.iter().map(wants).collect();
    let message = format!("{}, and {live} of its pods are there: the surplus goes by itself", words.join(", "));
    let message = if live == 0 { words.join(", ") } else { message };
    f.finding(Code::ScaledDown, message, []).about(f.ideal.shrinking.iter().map(|w| Ref::workload(w)))
}

pub(super) fn no_rule(f: &Facts<'_>) -> Finding {
    let mut finding =
        f.finding(Code::NoRule, "neither minAvailable nor maxUnavailable is set, so it allows nothing".to_owned(), []);
    finding.remedies = remedies::rule(f);
    finding
}

pub(super) fn zero_by_rule(f: &Facts<'_>) -> Finding {
    let expected = f.ideal.expected;
    let desired = numbers::desired(&f.budget.rule, expected).unwrap_or_default();
    let sum = super::verdict::value_in_words(&f.budget.rule, expected);
    let owners = some(f.ideal.owners.iter().map(|s| &*s.owner.meta.name), 2);
    let whose = if owners.is_empty() { String::new() } else { format!(" of {owners}") };
    let message = match f.ideal.healthy {
        1 => format!("{sum}: the only pod{whose} may never go"),
        n if i64::from(desired) > n => format!("{sum}, and only {n} are wanted{whose}: none may ever go"),
        n => format!("{sum}: none of the {n} pods{whose} may ever go"),
    };
    let mut finding =
        f.finding(Code::ZeroByRule, message, []).about(f.ideal.owners.iter().map(|s| Ref::workload(&s.owner)));
    finding.remedies = remedies::zero_by_rule(f);
    finding
}

pub(super) fn disruption_in_progress(f: &Facts<'_>) -> Option<Finding> {
    let going = |p: &&CoveredPod| {
        !p.pod.is_finished() && (p.pod.is_terminating() || numbers::is_disrupted(&p.pod, f.budget, f.snapshot.now))
    };
    let pods: Vec<&Arc<Pod>> = f.pods.iter().filter(going).map(|p| &p.pod).collect();
    let verb = if pods.len() == 1 { "is" } else { "are" };
    (!pods.is_empty()).then(|| {
        let message = format!("{} {verb} going away and not replaced yet", pod_names(pods.iter().copied()));
        f.finding(Code::DisruptionInProgress, message, pods)
    })
}

pub(super) fn unhealthy_pods(f: &Facts<'_>) -> Option<Finding> {
    let is_bad = |p: &&CoveredPod| !p.counted && !p.pod.is_terminating() && !p.pod.is_finished() && !is_missing(&p.pod);
    let bad: Vec<(&Arc<Pod>, String)> =
        f.pods.iter().filter(is_bad).filter_map(|p| Some((&p.pod, why_not_ready(f.snapshot, &p.pod)?.text))).collect();
    if bad.is_empty() {
        return None;
    }
    let words: Vec<String> = bad.iter().map(|(p, why)| format!("{} is not Ready: {why}", p.meta.name)).collect();
    let message = some(words.iter().map(|w| &**w), 3);
    Some(f.finding(Code::UnhealthyPods, message, bad.into_iter().map(|(p, _)| p)))
}

/// A pod that is there on paper only.
fn is_missing(pod: &Pod) -> bool {
    pod.status.phase == Phase::Pending && pod.node.is_none()
}

pub(super) fn missing_pods(f: &Facts<'_>) -> Option<Finding> {
    let pending: Vec<&Arc<Pod>> =
        f.pods.iter().map(|p| &p.pod).filter(|p| is_missing(p) && !p.is_terminating()).collect();
    let there = f.pods.iter().filter(|p| !p.pod.is_finished()).count() as i64;
    let wanted = f.ideal.healthy;
    let mut words = Vec::new();
    for p in pending.iter().take(3) {
        let why = why_not_ready(f.snapshot, p).map(|w| w.text).unwrap_or_default();
        words.push(format!("{} is Pending: {why}", p.meta.name));
    }
    if pending.len() > 3 {
        words.push(format!("{} more are Pending", pending.len() - 3));
    }
    if there < wanted {
        let short: Vec<String> = f
            .ideal
            .owners
            .iter()
            .map(|s| format!("{} {} wants {}", s.owner.kind, s.owner.meta.name, s.scale))
            .collect();
        words.push(format!("{there} of {wanted} pods exist ({})", some(short.iter().map(|s| &**s), 2)));
    }
    (!words.is_empty()).then(|| {
        let owners = f.ideal.owners.iter().map(|s| Ref::workload(&s.owner));
        f.finding(Code::MissingPods, words.join("; "), pending).about(owners)
    })
}

pub(super) fn unmanaged_pods(f: &Facts<'_>) -> Finding {
    let empty = Vec::new();
    let owners = f.owners.map_or(&empty, |o| &o.unmanaged);
    let names = pod_names(owners);
    let managed = f.owners.is_some_and(|o| !o.owners.is_empty());
    let message = match (owners.len(), managed) {
        (1, true) => format!("{names} has no controller: it counts as healthy and not as expected"),
        (_, true) => format!("{names} have no controller: they count as healthy and not as expected"),
        (_, false) => format!("no pod has a controller ({names}), so nothing is expected and nothing is ever allowed"),
    };
    let mut finding = f.finding(Code::UnmanagedPods, message, owners);
    finding.remedies = remedies::integer_rule(f);
    finding
}

/// What holds beside the verdict.
pub(super) fn notes(f: &Facts<'_>, failed: bool) -> Vec<Finding> {
    let mut all = Vec::new();
    let counts_owners = f.owners.is_some_and(|o| !o.unmanaged.is_empty() && !o.owners.is_empty());
    if counts_owners {
        all.push(unmanaged_pods(f));
    }
    all.extend(over_permissive(f, failed));
    all.extend(unhealthy_not_evictable(f));
    all.extend(hpa_floor(f));
    all.extend(operator_owned(f));
    all
}

fn over_permissive(f: &Facts<'_>, failed: bool) -> Option<Finding> {
    let all_may_go = !failed && f.numbers.expected > 0 && f.numbers.desired == 0 && f.budget.rule.value().is_some();
    all_may_go.then(|| {
        let message = format!("{}: all may go at once", f.arithmetic());
        f.finding(Code::OverPermissive, message, [])
    })
}

fn unhealthy_not_evictable(f: &Facts<'_>) -> Option<Finding> {
    let kept = |p: &&CoveredPod| !p.pod.is_ready() && p.eviction.code == 429 && !f.budget.always_allow_unhealthy;
    let kept: Vec<&Arc<Pod>> = f.pods.iter().filter(kept).map(|p| &p.pod).collect();
    if kept.is_empty() {
        return None;
    }
    let verb = if kept.len() == 1 { "is" } else { "are" };
    let message =
        format!("{} {verb} not Ready and kept in place by the policy IfHealthyBudget", pod_names(kept.iter().copied()));
    let goes = |changed: &Snapshot, p: &Pod| {
        let budgets = f.selection.budgets_of(changed, p);
        evict::answer(changed, p, budgets).is_granted()
    };
    let cure = Cure::from(Change::AlwaysAllow(f.budget.clone()));
    let cure = cure.tried(f.snapshot, |changed| kept.iter().all(|p| goes(changed, p)));
    Some(Finding { remedies: cure.into_iter().collect(), ..f.finding(Code::UnhealthyNotEvictable, message, kept) })
}

fn hpa_floor(f: &Facts<'_>) -> Option<Finding> {
    for autoscaler in f.snapshot.horizontal_pod_autoscalers.in_namespace(f.budget.meta.ns()) {
        let Some(target) = scale_target(f.snapshot, autoscaler) else { continue };
        let Some(share) = f.ideal.owners.iter().find(|s| Arc::ptr_eq(&s.owner, target)) else { continue };
        let floor = autoscaler.spec.as_ref().and_then(|s| s.min_replicas).unwrap_or(1);
        let fewer = i64::from(floor) - i64::from(share.scale);
        if fewer > 0 || share.covered != i64::from(share.scale) || f.ideal.allowed_with(f.budget, fewer) > 0 {
            continue;
        }
        let standing = if fewer == 0 { "stands at" } else { "may scale down to" };
        let message = format!(
            "HorizontalPodAutoscaler {} {standing} {floor} {}, where the rule allows nothing",
            autoscaler.meta.name,
            if floor == 1 { "replica" } else { "replicas" }
        );
        let mut finding =
            f.finding(Code::HpaFloor, message, []).about([Ref::of(Kind::HorizontalPodAutoscaler, &autoscaler.meta)]);
        finding.remedies.extend(remedies::floor(f, autoscaler, share.scale));
        return Some(finding);
    }
    None
}

fn operator_owned(f: &Facts<'_>) -> Option<Finding> {
    let operator = operators::operator(f.budget)?;
    let setting = f.snapshot.longhorn_settings.named(f.budget.meta.ns(), "node-drain-policy");
    let setting = setting.filter(|_| operator.name == "Longhorn");
    let value = setting.map(|s| format!(" (now {})", s.value)).unwrap_or_default();
    let message = format!("{} makes this budget and moves it itself: {}{value}", operator.name, operator.way);
    let owners = f.budget.meta.controller.iter().chain(&f.budget.meta.owner);
    let refs = owners.map(|o| Ref::owner(f.budget.meta.ns(), o));
    Some(f.finding(Code::OperatorOwned, message, []).about(refs.collect::<Vec<_>>()))
}
