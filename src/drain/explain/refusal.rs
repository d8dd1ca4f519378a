//! Why evictions of a pod were refused, and whether that ends: one leading cause, the one that `status` has for the
//! budget.

use super::obstacle::{self, Obstacle};
use crate::autoscale::karpenter::disruption::DO_NOT_DISRUPT;
use crate::budget::operators::operator;
use crate::budget::{Judgement, Verdict, reason};
use crate::cure::Remedy;
use crate::drain::context::DrainContext;
use crate::drain::drainer::{Removes, WithoutFlag};
use crate::drain::node_pod::NodePod;
use crate::drain::note::{Drainability, Note};
use crate::drain::operators::Answer;
use crate::drain::options::Flag;
use crate::drain::refusal::Refusal;
use crate::drain::simulation::Simulation;
use crate::drain::simulation::drain::Attempt;
use crate::drain::tracker::BudgetId;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::shell::Kubectl;
use crate::snapshot::age::duration_words;
use crate::snapshot::pod::Phase;
use crate::snapshot::pod_state::{Prospect, why_not_ready};

/// What is said of a pod that was refused; nothing where a rule has said it.
pub fn notes(context: &DrainContext<'_>, sim: &Simulation<'_>, p: &NodePod, a: &Attempt) -> Vec<Note> {
    let Some(refusal) = a.refusal else { return Vec::new() };
    let stays = a.step.is_none();
    let code = code(context, refusal);
    let mut notes = match refusal {
        // The rule that found it has said it.
        Refusal::Webhook | Refusal::AdmissionPolicy => Vec::new(),
        Refusal::NotTried if context.drainer.without_flag == WithoutFlag::Fails => {
            let text = "it is not evicted: kubectl drain ends with the pod that it refuses for want of a flag";
            vec![Note::new(code, text)]
        }
        Refusal::NotTried => {
            let by = match context.drainer.removes {
                Removes::ByDeletion => "deletions (--disable-eviction)",
                Removes::ByEviction => "evictions",
            };
            let text = format!("it is not deleted: the drain of the node ends with the first error of its {by}");
            vec![Note::new(code, text)]
        }
        Refusal::Held(by) => {
            let until =
                (context.drainer.holds)(&context.view, &p.pod, context.snapshot.now).and_then(|hold| hold.until);
            let waits = match until {
                Some(until) => format!("is waited for until {until} ({by})"),
                None if p.pod.is_of("Job") => format!("is waited for until its Job's work is done ({by})"),
                None => format!("is waited for until it ends by itself ({by})"),
            };
            let note = Note::new(code, format!("{} does not evict it: it {waits}", context.drainer.name));
            let kubectl = Kubectl::of(context.snapshot);
            let meta = &p.pod.meta;
            let (verb, value) = if by == DO_NOT_DISRUPT { ("annotate", "true") } else { ("label", "wait-completed") };
            let line = |change: String| kubectl.line(meta.ns(), &[verb, "pod", &meta.name, &change]);
            let remedy =
                Remedy::advice(format!("find out from whoever set {by} whether the pod can be evicted, and delete it"));
            vec![note.remedy(remedy.command(line(format!("{by}-"))).undo(line(format!("{by}={value}"))))]
        }
        Refusal::Behind => {
            let text =
                format!("{} evicts it only once the pods of the group before it have ended", context.drainer.name);
            vec![Note::new(code, text)]
        }
        Refusal::WithoutFlag(flag) => {
            let text = format!(
                "{} runs kubectl drain without {}, which refuses the pod: the drain ends in an error, and no pod is evicted",
                context.drainer.name,
                flag.as_str()
            );
            let setting = match flag {
                Flag::Force => "spec.drain.force: true",
                Flag::IgnoreDaemonSets => "spec.drain.ignoreDaemonSets: true",
                Flag::DeleteEmptyDirData => "spec.drain.deleteEmptydirData: true",
            };
            let advice = format!("set {setting} in the Plan, or delete the pod first");
            vec![Note::new(code, text).remedy(Remedy::advice(advice))]
        }
        Refusal::NamespaceTerminating => {
            let text = "its namespace is being deleted: evictions are forbidden there (403) until the pod itself is being \
                        deleted";
            vec![Note::new(code, text)]
        }
        Refusal::Overlap => {
            let paths = context.budgets.paths(&p.budgets);
            let all: Vec<&str> = paths.iter().map(|p| &**p).collect();
            let cover = if all.len() == 2 { "both cover" } else { "all cover" };
            let text = format!("budgets {} {cover} the pod: evicting it is an error (500)", all.join(" and "));
            vec![Note::new(code, text)]
        }
        Refusal::Stale(id) => with_budget(context, id, |path| {
            let text = format!(
                "the status of budget {path} is behind: evictions are refused (429) until the disruption controller has \
                 caught up"
            );
            vec![Note::new(code, text)]
        }),
        Refusal::StatusUnusable(id) => with_budget(context, id, |path| {
            let text = format!("the status of budget {path} is one that the eviction endpoint refuses to use (403)");
            vec![Note::new(code, text)]
        }),
        Refusal::SyncFailed(id) => with_budget(context, id, |path| {
            let why = first_finding(context, id).map(|f| reason(&f.message)).unwrap_or_default();
            vec![Note::new(code, format!("budget {path} cannot be synced, so it allows no eviction: {why}"))]
        }),
        Refusal::NotJudged(id) => with_budget(context, id, |path| {
            let why = first_finding(context, id).map(|f| reason(&f.message)).unwrap_or_default();
            vec![Note::new(code, format!("whether budget {path} allows the eviction is not known: {why}"))]
        }),
        Refusal::Budget(id) => match (a.open(), moved(context, id, a)) {
            (Some(question), _) => open(context, id, question),
            (None, Some(text)) => vec![Note::new(code, text)],
            (None, None) => with_budget(context, id, |path| match code {
                Code::BudgetNever if stays => never(context, id, path),
                // Another controller has deleted the pod.
                Code::BudgetNever => {
                    vec![Note::new(code, format!("budget {path} refuses the eviction for as long as the pod runs"))]
                }
                Code::BudgetShared => vec![shared(context, sim, (id, path), p, stays)],
                _ => vec![waits(context, sim, (id, path), p)],
            }),
        },
    };
    if let Some(first) = notes.first_mut().filter(|_| stays && refusal.budget().is_some() && !refusal.is_final()) {
        first.text.push_str(&until_done(context, p).unwrap_or_default());
    }
    let budgets = || p.budgets.iter().filter_map(|id| Some(Ref::budget(context.budgets.get(*id)?)));
    for (at, note) in notes.iter_mut().enumerate() {
        note.about.extend(budgets());
        if at == 0 && stays && code != Code::NotJudged && a.open().is_none() {
            note.drainability = Drainability::Refused(refusal);
            note.severity = Some(Severity::Error);
        }
    }
    notes
}

/// Under which code a refusal is told.
fn code(context: &DrainContext<'_>, refusal: Refusal) -> Code {
    match refusal {
        Refusal::NamespaceTerminating => Code::Terminating,
        Refusal::Overlap => Code::Overlap,
        Refusal::Stale(_) | Refusal::StatusUnusable(_) => Code::Stale,
        Refusal::SyncFailed(_) => Code::SyncFailed,
        Refusal::NotJudged(_) => Code::NotJudged,
        Refusal::Held(_) | Refusal::Behind => Code::AutoscalerKeeps,
        Refusal::WithoutFlag(Flag::DeleteEmptyDirData) => Code::EmptyDir,
        Refusal::WithoutFlag(Flag::IgnoreDaemonSets) => Code::DaemonSet,
        Refusal::WithoutFlag(Flag::Force) => Code::Unmanaged,
        Refusal::NotTried if context.drainer.without_flag == WithoutFlag::Fails => Code::Unmanaged,
        Refusal::Webhook | Refusal::NotTried => Code::Webhook,
        Refusal::AdmissionPolicy => Code::AdmissionPolicy,
        Refusal::Budget(id) => {
            let allowed = context.budgets.tracker(id).map_or(0, |t| t.numbers.allowed);
            match context.budgets.verdict(id) {
                _ if allowed > 0 => Code::BudgetShared,
                Some(Verdict::Never) => Code::BudgetNever,
                _ => Code::BudgetWaits,
            }
        }
    }
}

fn with_budget(context: &DrainContext<'_>, id: BudgetId, notes: impl FnOnce(&str) -> Vec<Note>) -> Vec<Note> {
    context.budgets.get(id).map(|budget| notes(&budget.meta.path())).unwrap_or_default()
}

/// A pod that has ended is evicted past every budget (`canIgnorePDB`): a Job's pod that works ends at some time, and no
/// object says when, but for a deadline. The same holds of every pod whose containers are not started again.
fn until_done(context: &DrainContext<'_>, p: &NodePod) -> Option<String> {
    let pod = &p.pod;
    let stuck = || why_not_ready(context.snapshot, pod).is_some_and(|why| why.prospect == Prospect::Stuck);
    let ends = pod.is_of("Job") || matches!(&*pod.spec.restart_policy, "Never" | "OnFailure");
    let owner = pod.meta.controller.as_ref();
    // What a virtual machine runs has no end of its own.
    if !ends
        || owner.is_some_and(|o| &*o.group == "kubevirt.io")
        || pod.status.phase != Phase::Running
        || pod.is_terminating()
        || stuck()
    {
        return None;
    }
    let job = context.snapshot.controller_of(&pod.meta).and_then(|w| w.job());
    let within = match job.and_then(|(spec, _)| spec.active_deadline_seconds).or(pod.spec.active_deadline) {
        Some(seconds) => format!("{} after its start at the latest (activeDeadlineSeconds)", duration_words(seconds)),
        None => "and no object says when that is".to_owned(),
    };
    let whose = owner.map(|o| format!(" for {} {}/{}", o.kind, pod.meta.ns(), o.name)).unwrap_or_default();
    Some(format!("; it is evicted once its work{whose} is done, {within}"))
}

/// What `status` says first of a budget.
fn first_finding<'c>(context: &'c DrainContext<'_>, id: BudgetId) -> Option<&'c Finding> {
    context.budgets.judgement(id)?.findings.first()
}

/// The budget refuses the eviction until its operator has acted.
fn moved(context: &DrainContext<'_>, id: BudgetId, a: &Attempt) -> Option<String> {
    let (budget, Answer::Moves { what, .. }) = (context.budgets.get(id)?, a.operator.as_ref()?) else { return None };
    a.step?;
    let operator = operator(budget)?;
    Some(format!(
        "budget {} ({}) refuses the eviction until {} has acted: {what}",
        budget.meta.path(),
        budget.rule,
        operator.name
    ))
}

/// The budget's operator lifts it or does not: what decides that is not in the input.
fn open(context: &DrainContext<'_>, id: BudgetId, question: &str) -> Vec<Note> {
    let Some(budget) = context.budgets.get(id) else { return Vec::new() };
    let Some(operator) = operator(budget) else { return Vec::new() };
    let text = format!(
        "budget {} refuses the eviction now, and {} decides whether it comes to allow the eviction: {question}",
        budget.meta.path(),
        operator.name
    );
    let note = Note::new(Code::OperatorOwned, text).means(Drainability::Unknown).severity(Severity::Warning);
    vec![note.remedy(Remedy::advice(operator.way))]
}

/// The rule allows nothing; what else keeps the budget from allowing anything is told by itself.
fn never(context: &DrainContext<'_>, id: BudgetId, path: &str) -> Vec<Note> {
    let Some(j) = context.budgets.judgement(id) else { return Vec::new() };
    let of = |codes: &[Code]| j.findings.iter().filter(|f| codes.contains(&f.code)).collect::<Vec<_>>();
    let rule = of(&[Code::ZeroByRule, Code::NoRule, Code::UnmanagedPods]);
    let why = rule.first().copied().or(j.findings.first()).map(|f| reason(&f.message)).unwrap_or_default();
    let mut notes = vec![Note::new(Code::BudgetNever, format!("budget {path} never allows an eviction: {why}"))];
    let besides = of(&[Code::UnhealthyPods, Code::MissingPods]);
    notes.extend(besides.into_iter().map(|f| Note::new(f.code, format!("under budget {path}: {}", f.message))));
    notes
}

/// The drain itself has used what the budget allows.
fn shared(
    context: &DrainContext<'_>,
    sim: &Simulation<'_>,
    (id, path): (BudgetId, &str),
    p: &NodePod,
    stays: bool,
) -> Note {
    let allowed = context.budgets.tracker(id).map_or(0, |t| t.numbers.allowed);
    let evictions = if allowed == 1 { "1 eviction".to_owned() } else { format!("{allowed} evictions") };
    // The pod itself is evicted in the end, where it does not stay.
    let used: Vec<String> = obstacle::used_on(sim, id).into_iter().filter(|name| *name != *p.pod.meta.name).collect();
    let obstacle = stays.then(|| obstacle::first(context, sim, id)).flatten();
    let on = match &obstacle {
        Some(Obstacle::OfEvicted { pod, .. }) => format!(" on {pod}"),
        _ => match &used[..] {
            [] => String::new(),
            [one] => format!(" on {one}"),
            [one, more @ ..] => format!(" on {one} and {} more", more.len()),
        },
    };
    let rest = match obstacle {
        Some(obstacle) => obstacle.clause(),
        None if stays => ", and nothing brings the budget back".to_owned(),
        None => "; the next eviction is allowed once a new pod is Ready".to_owned(),
    };
    Note::new(Code::BudgetShared, format!("budget {path} allows {evictions} at a time; this drain uses it{on}{rest}"))
}

/// Pods that are not healthy hold the budget.
fn waits(context: &DrainContext<'_>, sim: &Simulation<'_>, (id, path): (BudgetId, &str), p: &NodePod) -> Note {
    let n = context.budgets.tracker(id).map(|t| t.numbers).unwrap_or_default();
    let sum = if n.desired == 0 && n.healthy == 0 {
        // Nothing is required, or nothing expected: then nothing is spare either.
        format!("budget {path} allows no eviction while none of its pods is healthy")
    } else {
        format!(
            "budget {path} allows no eviction now: {} of {} pods are healthy, {} must be",
            n.healthy, n.expected, n.desired
        )
    };
    // What becomes of the pod itself in the end is not what it waits for.
    let of_itself = |o: &Obstacle| matches!(o, Obstacle::OfEvicted { pod, .. } if **pod == *p.pod.meta.name);
    let why = obstacle::first(context, sim, id).filter(|o| !of_itself(o)).map(|o| o.sentence());
    let why = why.or_else(|| waiting_for(context.budgets.judgement(id)?));
    Note::new(Code::BudgetWaits, why.map_or(sum.clone(), |why| format!("{sum}; {why}")))
}

fn waiting_for(j: &Judgement) -> Option<String> {
    let of = [Code::UnhealthyPods, Code::MissingPods, Code::DisruptionInProgress, Code::ScaledDown];
    j.findings.iter().find(|f| of.contains(&f.code)).map(|f| f.message.clone())
}

#[cfg(test)]
mod tests {
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::drained;
    use crate::testing::{Object, budget, cluster, deployment, node, pod, workload};
    use serde_json::json;

    #[test]
    fn what_ends_the_wait_for_a_job_s_pod_is_said() {
        // After canIgnorePDB of pkg/registry/core/pod/storage/eviction.go: no budget is asked about a pod that has ended.
        let work = |o: Object| o.label("app", "web").on("n0").owned_by("batch/v1", "Job/work");
        let step =
            |policy: &str| pod("a/x").label("app", "web").on("n0").ready().spec(json!({"restartPolicy": policy}));
        let min = || budget("a/b").selects("app=web").min_available(1);
        let over = |deadline: Option<i64>, x: Object| {
            let job = workload("batch/v1", "Job", "a/work").spec(json!({"activeDeadlineSeconds": deadline}));
            cluster().add(node("n0")).add(node("n1")).add(min()).add(job).add(x).snapshot()
        };
        let web = cluster().add(node("n0")).add(node("n1")).add(min()).add(deployment("a/web").on(&["n0"])).snapshot();
        for (title, snapshot, want) in [
            ("no deadline", over(None, work(pod("a/x")).ready()), Some("work is done, and no object says when")),
            (
                "a deadline",
                over(Some(3600), work(pod("a/x")).ready()),
                Some("done, 60 min after its start at the latest"),
            ),
            ("a crash is no work", over(None, work(pod("a/x")).crashing()), None),
            (
                "a step of a workflow",
                over(None, step("Never").owned_by("argoproj.io/v1alpha1", "Workflow/w")),
                Some("work for Workflow a/w is done, and no object says when"),
            ),
            ("a bare pod that ends", over(None, step("OnFailure")), Some("work is done, and no object says when")),
            ("one that is started again", over(None, step("Always")), None),
            (
                "a virtual machine",
                over(None, step("Never").owned_by("kubevirt.io/v1", "VirtualMachineInstance/v")),
                None,
            ),
            ("a Deployment's work has no end", web, None),
        ] {
            let first = drained(&snapshot, &DrainOptions::default(), "n0", |context, pods, run, sim| {
                let notes = super::notes(context, sim, &pods[0], &run.attempts[0]);
                notes.first().map(|n| n.text.clone()).unwrap_or_default()
            });
            assert!(first.contains("budget a/b"), "{title}: {first}");
            let said = first.split_once("evicted once its ").map(|(_, rest)| rest.replace(" for Job a/work", ""));
            assert!(said.as_deref().unwrap_or_default().contains(want.unwrap_or_default()), "{title}: {first}");
            assert_eq!(said.is_some(), want.is_some(), "{title}: {first}");
        }
    }
}
