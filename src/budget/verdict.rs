//! The verdict of a budget, with its causes: the first that holds of broken, unknown, unused, never, waits, allows.

use super::evict::{self, Eviction};
use super::expected::{Expected, NoScale};
use super::ideal::Ideal;
use super::numbers::{self, Numbers, SyncError, compute, counts_as_healthy};
use super::{Selection, causes};
use crate::finding::{Code, Finding, Ref};
use crate::snapshot::budget::{Budget, Rule};
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Kind, Snapshot, Str};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// What a budget's numbers mean, in the words of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It cannot be used as written.
    Broken,
    /// It could not be judged, or the controller has not looked yet.
    Unknown,
    /// It selects no pods.
    Unused,
    /// It allows nothing, however healthy the pods become.
    Never,
    /// It allows nothing now, and time can cure that.
    Waits,
    /// It allows at least one.
    Allows,
}

impl Verdict {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Unknown => "unknown",
            Self::Unused => "unused",
            Self::Never => "never",
            Self::Waits => "waits",
            Self::Allows => "allows",
        }
    }
}

/// All that is found out about a budget.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The budget.
    pub budget: Arc<Budget>,
    /// The four numbers, from the pods; the reported ones with allowed 0 where the sync fails, and as they are where an
    /// owner is not in the input or the controller follows another budget of the same pods.
    pub numbers: Numbers,
    /// Whether the reported status is that of the present spec and pods.
    pub in_sync: bool,
    /// What it comes to.
    pub verdict: Verdict,
    /// Why; those that give the verdict first.
    pub findings: Vec<Finding>,
    /// The pods it covers.
    pub pods: Vec<CoveredPod>,
    /// What would be there if all were well.
    pub ideal: Ideal,
}

/// A pod under a budget.
#[derive(Debug, Clone)]
pub struct CoveredPod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// Whether the controller counts it as healthy.
    pub counted: bool,
    /// What the eviction endpoint would answer now.
    pub eviction: Eviction,
    /// Names of all budgets that cover it.
    pub budgets: Vec<Str>,
}

/// What the rules below look at.
pub(super) struct Facts<'a> {
    pub snapshot: &'a Snapshot,
    pub selection: &'a Selection,
    pub budget: &'a Arc<Budget>,
    pub pods: &'a [CoveredPod],
    pub numbers: Numbers,
    pub owners: Option<&'a Expected>,
    pub ideal: &'a Ideal,
}

/// Judges the budget at a position of the snapshot's table.
pub fn judge(snapshot: &Snapshot, selection: &Selection, at: usize) -> Option<Judgement> {
    let budget = snapshot.budgets.get(at)?;
    let covered = selection.pods(snapshot, at);
    let pods: Vec<CoveredPod> = covered
        .clone()
        .map(|pod| {
            let budgets = selection.budgets_of(snapshot, pod);
            CoveredPod {
                pod: pod.clone(),
                counted: counts_as_healthy(pod, budget, snapshot.now),
                eviction: evict::answer(snapshot, pod, budgets.clone()),
                budgets: budgets.map(|b| b.meta.name.clone()).collect(),
            }
        })
        .collect();
    let computed = compute(snapshot, budget, covered.clone());
    let ideal = Ideal::new(snapshot, budget, covered);
    let (numbers, owners, failure) = match computed {
        Ok((numbers, owners)) => (numbers, owners, None),
        Err(error) => (reported(budget), None, Some(error)),
    };
    let facts = Facts { snapshot, selection, budget, pods: &pods, numbers, owners: owners.as_ref(), ideal: &ideal };
    let failing = failure.as_ref().is_some_and(|e| fails(e, budget));
    let kept = keeps_old_numbers(budget, &pods);
    let mut found = Vec::new();
    found.extend(causes::overlap(&facts).map(|f| (Verdict::Broken, f)));
    if let Some(error) = &failure {
        found.push(match failing {
            true => (Verdict::Broken, causes::sync_failed(&facts, error)),
            false => (Verdict::Unknown, causes::owner_unknown(&facts, error)),
        });
    }
    found.extend(causes::unread_pods(&facts).map(|f| (Verdict::Unknown, f)));
    if failure.is_none() {
        found.extend(causes::stale(&facts).map(|f| (Verdict::Unknown, f)));
    }
    found.extend(emptiness(&facts));
    if failure.is_none() && !pods.is_empty() {
        found.extend(shortage(&facts));
    }
    let notes = causes::notes(&facts, failure.is_some());
    let verdict = found.iter().map(|(v, _)| *v).min().unwrap_or(if numbers.allowed > 0 {
        Verdict::Allows
    } else {
        Verdict::Waits
    });
    let mut found: Vec<_> = found.into_iter().chain(notes.into_iter().map(|f| (Verdict::Allows, f))).collect();
    found.sort_by_key(|(v, _)| *v);
    Some(Judgement {
        budget: budget.clone(),
        numbers: match (failing, kept) {
            (true, _) => Numbers { allowed: 0, ..numbers },
            (false, true) => reported(budget),
            (false, false) => numbers,
        },
        in_sync: failure.is_none() && is_in_sync(budget, numbers),
        verdict,
        findings: found.into_iter().map(|(_, f)| f).collect(),
        pods,
        ideal,
    })
}

/// Whether the controller's sync fails for certain: by what is in the input, or as it is reported.
pub fn fails(error: &SyncError, budget: &Budget) -> bool {
    !matches!(error, SyncError::Scale(NoScale::Unknown { .. })) || budget.reports_sync_failed()
}

/// Of budgets that share a pod the controller looks at one only when that pod changes (`getPdbForPod`): the others keep
/// the numbers of their last sync.
fn keeps_old_numbers(budget: &Budget, pods: &[CoveredPod]) -> bool {
    pods.iter().any(|p| p.budgets.len() > 1) && !evict::is_behind(budget) && budget.condition().is_some()
}

fn reported(budget: &Budget) -> Numbers {
    let s = &budget.status;
    Numbers {
        expected: s.expected_pods,
        desired: s.desired_healthy,
        healthy: s.current_healthy,
        allowed: s.disruptions_allowed,
    }
}

fn is_in_sync(budget: &Budget, numbers: Numbers) -> bool {
    budget.status.observed_generation.is_some_and(|g| g == budget.meta.generation)
        && !budget.reports_sync_failed()
        && reported(budget) == numbers
}

/// A budget that covers nothing.
fn emptiness(facts: &Facts<'_>) -> Vec<(Verdict, Finding)> {
    if !facts.pods.is_empty() || !facts.snapshot.coverage.has(Kind::Pod) {
        return Vec::new();
    }
    if facts.budget.selector == LabelSelector::Nothing {
        return vec![(Verdict::Unused, causes::selects_nothing(facts))];
    }
    let mut all = vec![(Verdict::Unused, causes::no_pods(facts))];
    if !facts.ideal.shrinking.is_empty() {
        all.push((Verdict::Unused, causes::scaled_down(facts)));
    }
    all
}

/// Why a budget with pods allows nothing.
fn shortage(facts: &Facts<'_>) -> Vec<(Verdict, Finding)> {
    if facts.budget.rule == Rule::None {
        return vec![(Verdict::Never, causes::no_rule(facts))];
    }
    let only_unmanaged = facts.owners.is_some_and(|o| o.owners.is_empty() && !o.unmanaged.is_empty());
    if only_unmanaged && facts.numbers.allowed == 0 {
        return vec![(Verdict::Never, causes::unmanaged_pods(facts))];
    }
    if facts.numbers.allowed > 0 {
        return Vec::new();
    }
    let mut all = Vec::new();
    let shrinking = !facts.ideal.shrinking.is_empty();
    if shrinking {
        all.push((Verdict::Waits, causes::scaled_down(facts)));
    } else if facts.ideal.allowed(facts.budget) == 0 {
        all.push((Verdict::Never, causes::zero_by_rule(facts)));
    }
    let waits = [causes::disruption_in_progress(facts), causes::unhealthy_pods(facts), causes::missing_pods(facts)];
    all.extend(waits.into_iter().flatten().map(|f| (Verdict::Waits, f)));
    all
}

impl Facts<'_> {
    /// A finding about this budget and these pods.
    pub(super) fn finding<'p>(
        &self,
        code: Code,
        message: String,
        pods: impl IntoIterator<Item = &'p Arc<Pod>>,
    ) -> Finding {
        let budget = std::iter::once(Ref::budget(self.budget));
        Finding::new(code, message).about(budget.chain(pods.into_iter().map(|p| Ref::pod(p))))
    }

    /// The arithmetic of the rule in words.
    pub(super) fn arithmetic(&self) -> String {
        arithmetic(&self.budget.rule, i64::from(self.numbers.expected), self.numbers.desired)
    }
}

/// The arithmetic of a rule in words: `80% of 1 = 0.8, rounded up 1: 1 of 1 must stay`.
pub fn arithmetic(rule: &Rule, expected: i64, desired: i32) -> String {
    let must = format!("{desired} of {expected} must stay");
    match rule {
        Rule::None => "no rule is set".to_owned(),
        Rule::MaxUnavailable(v) if v.kind != 0 => {
            format!("{} may be missing, so {must}", value_in_words(rule, expected))
        }
        Rule::MinAvailable(_) | Rule::MaxUnavailable(_) => format!("{}: {must}", value_in_words(rule, expected)),
    }
}

/// What the value of a rule comes to: `80% of 4 = 3.2, rounded up 4`, or the rule itself where it is an integer.
pub fn value_in_words(rule: &Rule, expected: i64) -> String {
    let Some((value, Some(Ok(percent)))) = rule.value().map(|v| (v, v.percent())) else { return rule.to_string() };
    let hundredths = i128::from(percent) * i128::from(expected);
    let rounded = numbers::scaled(value, expected).unwrap_or_default();
    let rounding = if hundredths % 100 == 0 { String::new() } else { format!(", rounded up {rounded}") };
    format!("{value} of {expected} = {}{rounding}", decimal(hundredths))
}

/// A number of hundredths as a decimal: `80` is `0.8`.
fn decimal(hundredths: i128) -> String {
    let text = format!("{}.{:02}", hundredths / 100, (hundredths % 100).abs());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::scalar::IntOrString;

    #[test]
    fn arithmetic_reads_as_words() {
        for (rule, expected, desired, want) in [
            (Rule::MinAvailable(IntOrString::string("80%")), 1, 1, "80% of 1 = 0.8, rounded up 1: 1 of 1 must stay"),
            (Rule::MinAvailable(IntOrString::string("50%")), 4, 2, "50% of 4 = 2: 2 of 4 must stay"),
            (
                Rule::MaxUnavailable(IntOrString::string("1%")),
                2,
                1,
                "1% of 2 = 0.02, rounded up 1 may be missing, so 1 of 2 must stay",
            ),
            (Rule::MinAvailable(IntOrString::int(2)), 3, 2, "minAvailable 2: 2 of 3 must stay"),
        ] {
            assert_eq!(arithmetic(&rule, expected, desired), want);
        }
    }
}
