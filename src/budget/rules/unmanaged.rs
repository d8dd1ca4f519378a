//! `unmanaged-pods`: pods without a controller. `getExpectedScale` passes them over, so that they count as healthy and
//! not as expected; where there are no others, nothing is expected and nothing is ever allowed.

use super::cause::{Cause, NEVER};
use crate::budget::context::{BudgetContext, names};
use crate::budget::verdict::Verdict;
use crate::finding::{Code, Severity};

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let owners = b.owners.as_ref().filter(|o| !o.unmanaged.is_empty())?;
    let pods = names(&owners.unmanaged);
    let finding = |message: String| b.finding(Code::UnmanagedPods, message, &owners.unmanaged);
    if b.allows_nothing() && b.has_only_unmanaged_pods() {
        let message = format!("{NEVER}: no pod has a controller ({pods}), so 0 pods are expected");
        return Some(Cause::new(Verdict::Never, finding(message).severity(Severity::Error)));
    }
    let unmanaged: Vec<_> = owners.unmanaged.iter().filter(|p| p.is_active()).collect();
    let pods = names(unmanaged.iter().copied());
    let finding = |message: String| b.finding(Code::UnmanagedPods, message, unmanaged.iter().copied());
    let message = match unmanaged.len() {
        // One that has ended, such as the test of a release, counts for nothing.
        0 => return None,
        1 => format!("{pods} has no controller: the pod counts as healthy, but not as expected"),
        _ => format!("{pods} have no controller: they count as healthy, but not as expected"),
    };
    (!owners.owners.is_empty()).then(|| Cause::note(finding(message)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{notes, table};
    use super::*;
    use crate::testing::{Object, budget, cluster, deployment, pod};

    fn bare(name: &str) -> Object {
        pod(name).label("app", "web").on("n").ready()
    }

    #[test]
    fn pods_without_a_controller_are_not_expected() {
        // After TestNakedPod and TestUnmanagedPod….
        let max = || cluster().add(budget("a/b").selects("app=web").max_unavailable(1));
        let never = "no eviction is ever allowed: no pod has a controller (x, y), so 0 pods are expected";
        table(
            find,
            vec![
                ("only bare pods", max().add(bare("a/x")).add(bare("a/y")), Some((Verdict::Never, never))),
                (
                    "an integer minAvailable counts them",
                    cluster().add(budget("a/b").selects("app=web").min_available(1)).add(bare("a/x")),
                    None,
                ),
            ],
        );
        notes(
            find,
            vec![
                (
                    "beside a Deployment's",
                    max().add(deployment("a/web").on(&["n"])).add(bare("a/x")),
                    Some("x has no controller: the pod counts as healthy, but not as expected"),
                ),
                (
                    "one that has ended",
                    max()
                        .add(deployment("a/web").on(&["n"]))
                        .add(pod("a/x").label("app", "web").on("n").ended("Succeeded")),
                    None,
                ),
                ("none", max().add(deployment("a/web").on(&["n"])), None),
            ],
        );
    }
}
