//! `no-pods` and `selects-nothing`: the budget covers no pod.

use super::cause::Cause;
use crate::budget::context::{BudgetContext, names};
use crate::budget::verdict::Verdict;
use crate::finding::{Code, Finding};
use crate::snapshot::Kind;
use crate::snapshot::selector::LabelSelector;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    if !b.pods.is_empty() || !b.snapshot.coverage.has(Kind::Pod) {
        return None;
    }
    let finding = match b.budget.selector {
        LabelSelector::Nothing => {
            b.finding(Code::SelectsNothing, "selects no pods: the budget has no selector".to_owned(), [])
        }
        LabelSelector::Invalid | LabelSelector::All(_) => no_pods(b),
    };
    Some(Cause::new(Verdict::Unused, finding))
}

fn no_pods(b: &BudgetContext<'_>) -> Finding {
    let selector = &b.budget.selector;
    let mut message = format!("no pod matches {selector}");
    // A selector that misses by one term is most often a slip of the pen.
    let requirements = selector.requirements();
    let near = requirements.iter().find_map(|one| {
        let rest: Box<[_]> = requirements.iter().filter(|r| *r != one).cloned().collect();
        let rest = LabelSelector::All(rest);
        let pods = b.snapshot.pods.in_namespace(b.budget.meta.ns());
        let near: Vec<_> = pods.iter().filter(|p| requirements.len() > 1 && rest.matches(&p.meta.labels)).collect();
        (!near.is_empty()).then_some((one, near))
    });
    if let Some((term, near)) = near {
        let verb = if near.len() == 1 { "matches" } else { "match" };
        message.push_str(&format!("; {} {verb} all of the selector but {term}", names(near)));
    }
    b.finding(Code::NoPods, message, [])
}
