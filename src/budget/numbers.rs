//! The four numbers of a budget, from the live pods. Mirrors `trySync`, `getExpectedPodCount`, `countHealthyPods` and
//! `updatePdbStatus` of `pkg/controller/disruption/disruption.go`, and `GetScaledValueFromIntOrPercent`.

use super::expected::{Expected, NoScale, expected};
use crate::snapshot::Snapshot;
use crate::snapshot::budget::{Budget, BudgetStatus, Rule};
use crate::snapshot::pod::Pod;
use crate::wire::scalar::IntOrString;
use jiff::{SignedDuration, Timestamp};
use std::fmt;
use std::num::{IntErrorKind, ParseIntError};
use std::sync::Arc;

/// An entry of `disruptedPods` counts for so long; then the controller takes it that the pod stays.
pub const DELETION_TIMEOUT: SignedDuration = SignedDuration::from_mins(2);

/// What the disruption controller writes into a budget's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Numbers {
    /// How many pods are counted on.
    pub expected: i32,
    /// How many must be healthy.
    pub desired: i32,
    /// How many are.
    pub healthy: i32,
    /// How many may go.
    pub allowed: i32,
}

impl Numbers {
    /// `allowed` from the others.
    pub fn new(expected: i32, desired: i32, healthy: i32) -> Self {
        let spare = healthy.saturating_sub(desired);
        Self { expected, desired, healthy, allowed: if expected <= 0 { 0 } else { spare.max(0) } }
    }
}

impl Numbers {
    /// The status that the disruption controller writes of these numbers, without disrupted pods and conditions.
    pub fn status(&self, budget: &Budget) -> BudgetStatus {
        BudgetStatus {
            observed_generation: Some(budget.meta.generation),
            disruptions_allowed: self.allowed,
            current_healthy: self.healthy,
            desired_healthy: self.desired,
            expected_pods: self.expected,
            ..BudgetStatus::default()
        }
    }
}

/// Why there are no numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum SyncError {
    /// An owner has no scale, or it is not known.
    Scale(NoScale),
    /// The rule's value is no number and no percentage; the controller's words.
    BadRule(String),
    /// The selector cannot be used.
    BadSelector,
}

/// The numbers of a budget over the pods it covers, and whose scale they rest on (`None` for an integer minAvailable,
/// which counts pods).
pub fn compute<'a>(
    snapshot: &Snapshot,
    budget: &Budget,
    pods: impl Iterator<Item = &'a Arc<Pod>> + Clone,
) -> Result<(Numbers, Option<Expected>), SyncError> {
    if budget.selector == crate::snapshot::selector::LabelSelector::Invalid {
        return Err(SyncError::BadSelector);
    }
    let by_owners = budget.rule.counts_owners().then(|| expected(snapshot, pods.clone())).transpose();
    let by_owners = by_owners.map_err(SyncError::Scale)?;
    let count = by_owners.as_ref().map_or(pods.clone().count() as i64, |e| e.count);
    let desired = desired(&budget.rule, count).map_err(SyncError::BadRule)?;
    let expected = if budget.rule == Rule::None { 0 } else { clamp(count) };
    let healthy = pods.filter(|p| counts_as_healthy(p, budget, snapshot.now)).count();
    Ok((Numbers::new(expected, desired, clamp(healthy as i64)), by_owners))
}

/// How many must be healthy of so many expected. The error is upstream's.
pub fn desired(rule: &Rule, expected: i64) -> Result<i32, String> {
    match rule {
        Rule::MaxUnavailable(max) => Ok(clamp(expected.saturating_sub(scaled(max, expected)?).max(0))),
        Rule::MinAvailable(min) => Ok(clamp(scaled(min, expected)?)),
        Rule::None => Ok(0),
    }
}

/// The integer minAvailable that is as strong as a rule over so many live pods, and needs no owner's scale; all but one
/// where the rule's value cannot be used.
pub fn by_pods(rule: &Rule, live: i32) -> Rule {
    let least = desired(rule, i64::from(live)).unwrap_or(live.saturating_sub(1));
    Rule::MinAvailable(IntOrString::int(least.max(0)))
}

/// The value of an integer, or of a percentage of `total`, rounded up.
pub fn scaled(value: &IntOrString, total: i64) -> Result<i64, String> {
    match value.percent() {
        None => Ok(i64::from(value.int)),
        Some(Ok(percent)) => {
            let product = i128::from(percent) * i128::from(total);
            let up = product.div_euclid(100) + i128::from(product.rem_euclid(100) != 0);
            Ok(i64::try_from(up).unwrap_or(if up < 0 { i64::MIN } else { i64::MAX }))
        }
        Some(Err(words)) => Err(format!("invalid value for IntOrString: {words}")),
    }
}

/// Whether the controller counts the pod as healthy: Ready, not terminating, and not granted to an eviction within the
/// last two minutes.
pub fn counts_as_healthy(pod: &Pod, budget: &Budget, now: Timestamp) -> bool {
    !pod.is_terminating() && !is_disrupted(pod, budget, now) && pod.is_ready()
}

/// Whether the budget lists the pod as granted to an eviction within the last two minutes.
pub fn is_disrupted(pod: &Pod, budget: &Budget, now: Timestamp) -> bool {
    let listed = budget.status.disrupted_pods.iter().find(|(name, _)| *name == pod.meta.name);
    listed
        .and_then(|(_, since)| since.as_ref())
        .is_some_and(|t| t.saturating_add(DELETION_TIMEOUT).is_ok_and(|end| end > now))
}

fn clamp(n: i64) -> i32 {
    i32::try_from(n).unwrap_or(if n < 0 { i32::MIN } else { i32::MAX })
}

impl Rule {
    /// Whether the expected count is the sum of the owners' scales, rather than the number of pods.
    pub fn counts_owners(&self) -> bool {
        match self {
            Self::MaxUnavailable(_) => true,
            Self::MinAvailable(min) => min.kind != 0,
            Self::None => false,
        }
    }

    /// The value that is set.
    pub fn value(&self) -> Option<&IntOrString> {
        match self {
            Self::MinAvailable(v) | Self::MaxUnavailable(v) => Some(v),
            Self::None => None,
        }
    }
}

/// `minAvailable 80%`; `no rule` where neither is set.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MinAvailable(v) => write!(f, "minAvailable {v}"),
            Self::MaxUnavailable(v) => write!(f, "maxUnavailable {v}"),
            Self::None => f.write_str("no rule"),
        }
    }
}

impl IntOrString {
    /// `None` for an integer; the percentage of a string, or upstream's words for why it is none.
    pub fn percent(&self) -> Option<Result<i64, String>> {
        if self.kind == 0 {
            return None;
        }
        let Some(number) = self.str.strip_suffix('%') else {
            return Some(Err("invalid type: string is not a percentage".to_owned()));
        };
        Some(number.parse().map_err(|e: ParseIntError| {
            let why = match e.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            format!("invalid value {:?}: strconv.Atoi: parsing {number:?}: {why}", self.str)
        }))
    }
}

impl fmt::Display for IntOrString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == 0 { write!(f, "{}", self.int) } else { f.write_str(&self.str) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn min(text: &str) -> Rule {
        Rule::MinAvailable(value(text))
    }

    fn max(text: &str) -> Rule {
        Rule::MaxUnavailable(value(text))
    }

    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Row {
        Scaled(String, i64, i64, #[expect(dead_code, reason = "rounded down: of no budget")] i64),
        Refused(String, i64, (), String),
        Undecoded(String, ()),
    }

    #[test]
    fn percentages_agree_with_upstream() {
        let table = include_str!("../../tests/tables/percentages.jsonl");
        let mut wrong = Vec::new();
        for line in table.lines() {
            let (text, total, want) = match serde_json::from_str(line).unwrap() {
                Row::Scaled(text, total, up, _) => (text, total, Some(Ok(up))),
                Row::Refused(text, total, (), words) => (text, total, Some(Err(words))),
                Row::Undecoded(text, ()) => (text, 0, None),
            };
            let ours = serde_json::from_str::<IntOrString>(&text).ok().map(|value| scaled(&value, total));
            if ours != want {
                wrong.push(format!("{text} of {total}: {ours:?}, upstream {want:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.lines().count(), wrong.join("\n"));
    }

    fn value(text: &str) -> IntOrString {
        text.parse().map_or_else(|_| IntOrString::string(text), IntOrString::int)
    }

    #[test]
    fn rounds_as_upstream_does() {
        // rule, expected, desired: from the documentation's examples and a real controller's answers.
        for (rule, expected, want) in [
            (min("80%"), 1, 1),
            (min("80%"), 4, 4),
            (min("80%"), 5, 4),
            (min("80%"), 8, 7),
            (min("50%"), 7, 4),
            (max("50%"), 7, 3),
            (max("67%"), 3, 0),
            (max("1%"), 2, 1),
            (max("30%"), 7, 4),
            (max("200%"), 3, 0),
            (max("5"), 3, 0),
            (max("0"), 3, 3),
            (min("0"), 3, 0),
            (min("7"), 3, 7),
            (min("100%"), 0, 0),
            (Rule::None, 3, 0),
        ] {
            assert_eq!(desired(&rule, expected), Ok(want), "{rule} of {expected}");
        }
        for bad in ["5.5%", "half", "%", "1e99%"] {
            assert!(desired(&min(bad), 3).is_err(), "{bad}");
        }
    }

    #[test]
    fn nothing_is_allowed_where_nothing_is_expected() {
        assert_eq!(Numbers::new(0, 0, 3).allowed, 0);
        assert_eq!(Numbers::new(3, 2, 3).allowed, 1);
        assert_eq!(Numbers::new(3, 4, 3).allowed, 0);
        assert_eq!(Numbers::new(1, i32::MIN, i32::MAX).allowed, i32::MAX);
    }

    proptest! {
        #[test]
        fn never_panics_and_keeps_its_order(kind in 0..2i64, int: i32, text in "-?[0-9]{0,25}%?", total in any::<i32>()) {
            let v = IntOrString { kind, int, str: text };
            for rule in [Rule::MinAvailable(v.clone()), Rule::MaxUnavailable(v)] {
                if let Ok(desired) = desired(&rule, i64::from(total)) {
                    let n = Numbers::new(total, desired, total);
                    prop_assert!(n.allowed >= 0);
                }
            }
        }
    }
}
