//! What is found out about a budget: numbers, verdict, causes, and what can be done.

use super::Selection;
use super::context::{Basis, BudgetContext, CoveredPod, reported};
use super::ideal::Ideal;
use super::numbers::Numbers;
use super::remedies;
use super::rules::assess;
use super::scope::Scope;
use super::verdict::Verdict;
use crate::finding::Finding;
use crate::snapshot::Snapshot;
use crate::snapshot::budget::Budget;
use std::sync::Arc;

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
    /// How many of the findings give the verdict.
    leading: usize,
}

impl Judgement {
    /// The leading cause of the verdict; `None` for a budget that allows evictions, and has nothing against it.
    pub fn leading(&self) -> Option<&Finding> {
        self.findings.first().filter(|_| self.leading > 0)
    }
}

/// Judges the budget at a position of the snapshot's table.
pub fn judge(snapshot: &Snapshot, selection: &Selection, at: usize) -> Option<Judgement> {
    judge_by(Basis::Present, snapshot, selection, at)
}

/// Judges the budget at a position of the snapshot's table by the pods that there are, or by what is written.
pub fn judge_by(basis: Basis, snapshot: &Snapshot, selection: &Selection, at: usize) -> Option<Judgement> {
    let context = look(basis, snapshot, selection, at)?;
    let (verdict, mut causes) = assess(&context);
    remedies::add(&context, &mut causes);
    Some(Judgement {
        numbers: numbers(&context),
        in_sync: context.is_in_sync(),
        verdict,
        leading: causes.iter().filter(|c| c.verdict == Some(verdict)).count(),
        findings: causes.into_iter().map(|c| c.finding).collect(),
        budget: context.budget,
        pods: context.pods,
        ideal: context.ideal,
    })
}

/// The numbers of such a judgement alone, without its causes and what can be done about them.
pub fn numbers_by(basis: Basis, snapshot: &Snapshot, selection: &Selection, at: usize) -> Option<Numbers> {
    look(basis, snapshot, selection, at).map(|context| numbers(&context))
}

fn look<'s>(basis: Basis, snapshot: &'s Snapshot, selection: &Selection, at: usize) -> Option<BudgetContext<'s>> {
    let budget = snapshot.budgets.get(at)?;
    Some(BudgetContext::on(basis, snapshot, budget.clone(), Scope::new(snapshot, selection, at)))
}

fn numbers(context: &BudgetContext<'_>) -> Numbers {
    match (context.sync_fails(), context.keeps_old_numbers()) {
        (true, _) => Numbers { allowed: 0, ..context.numbers },
        (false, true) => reported(&context.budget),
        (false, false) => context.numbers,
    }
}
