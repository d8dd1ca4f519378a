//! `operator-owned`: an operator makes the budget and moves it itself.

use super::cause::Cause;
use crate::budget::context::BudgetContext;
use crate::budget::operators::operator;
use crate::finding::{Code, Ref};

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let operator = operator(&b.budget)?;
    let setting = b.snapshot.longhorn_settings.named(b.budget.meta.ns(), "node-drain-policy");
    let setting = setting.filter(|_| operator.name == "Longhorn");
    let value = setting.map(|s| format!(" (now {})", s.value)).unwrap_or_default();
    let message = format!("{} makes this budget and manages it: {}{value}", operator.name, operator.does);
    let owners = b.budget.meta.controller.iter().chain(&b.budget.meta.owner);
    let refs: Vec<Ref> = owners.map(|o| Ref::owner(b.budget.meta.ns(), o)).collect();
    Some(Cause::note(b.finding(Code::OperatorOwned, message, []).about(refs)))
}
