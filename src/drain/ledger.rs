//! The counters of budgets as a plan goes on: they start from the computed numbers, an eviction takes one, and a
//! replacement that becomes Ready gives it back.

use crate::budget::expected::expected;
use crate::budget::numbers::{self, Numbers, SyncError, compute};
use crate::budget::{Selection, evict, verdict};
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Str};
use std::collections::HashMap;
use std::sync::Arc;

/// The position of a budget in the snapshot's table.
pub type BudgetId = u32;

/// Whether a budget's numbers can be counted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// They can.
    Counts,
    /// The controller's sync fails, so it allows nothing and never will.
    SyncFails,
    /// The input does not tell.
    Unknown,
}

/// A budget as the plan finds it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The budget.
    pub budget: Arc<Budget>,
    /// The numbers before the plan begins.
    pub opening: Numbers,
    /// Whether they can be counted with.
    pub standing: Standing,
}

/// All budgets as the plan finds them. Every ledger starts from it.
#[derive(Debug)]
pub struct Book<'a> {
    snapshot: &'a Snapshot,
    selection: &'a Selection,
    entries: Vec<Entry>,
}

impl<'a> Book<'a> {
    /// Computes the numbers of every budget.
    pub fn new(snapshot: &'a Snapshot, selection: &'a Selection) -> Self {
        let entry = |(at, budget): (usize, &Arc<Budget>)| {
            let (opening, standing) = match compute(snapshot, budget, selection.pods(snapshot, at)) {
                Ok((numbers, _)) => (numbers, Standing::Counts),
                Err(error) => {
                    let fails = verdict::fails(&error, budget);
                    let standing = if fails { Standing::SyncFails } else { Standing::Unknown };
                    (reported(budget, &error), standing)
                }
            };
            Entry { budget: budget.clone(), opening, standing }
        };
        let entries = snapshot.budgets.iter().enumerate().map(entry).collect();
        Self { snapshot, selection, entries }
    }

    /// A budget as the plan finds it.
    pub fn entry(&self, id: BudgetId) -> Option<&Entry> {
        self.entries.get(id as usize)
    }

    /// The pods that a budget covers.
    pub fn pods(&self, id: BudgetId) -> impl Iterator<Item = &'a Arc<Pod>> + Clone {
        self.selection.pods(self.snapshot, id as usize)
    }

    /// The budgets that cover a pod of the snapshot.
    pub fn budgets_of(&self, pod: &Pod) -> &'a [BudgetId] {
        self.selection.positions_of(self.snapshot, pod)
    }

    /// The budgets that cover a pod that the snapshot does not have.
    pub fn budgets_of_new(&self, pod: &Pod) -> Vec<BudgetId> {
        let covers = |b: &Budget| b.meta.ns() == pod.meta.ns() && b.selector.matches(&pod.meta.labels);
        (0..).zip(&self.entries).filter(|(_, e)| covers(&e.budget)).map(|(id, _)| id).collect()
    }

    /// `namespace/name` of budgets.
    pub fn paths(&self, ids: &[BudgetId]) -> Vec<Str> {
        ids.iter().filter_map(|id| self.entry(*id)).map(|e| e.budget.meta.path().into()).collect()
    }
}

/// The reported numbers, which stay in force while the sync fails, allowing nothing.
fn reported(budget: &Budget, _error: &SyncError) -> Numbers {
    let s = &budget.status;
    Numbers { expected: s.expected_pods, desired: s.desired_healthy, healthy: s.current_healthy, allowed: 0 }
}

/// What the endpoint answers in the course of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The pod goes.
    Granted,
    /// 429, by this budget.
    Refused(BudgetId),
    /// 500: more than one budget covers the pod.
    Overlap,
}

/// A pod as it stands in the course of the plan.
#[derive(Debug, Clone, Copy)]
pub struct Standpoint<'a> {
    /// The pod as the snapshot has it.
    pub pod: &'a Pod,
    /// Whether it is Ready now.
    pub ready: bool,
    /// The budgets that cover it.
    pub budgets: &'a [BudgetId],
}

/// The counters of a plan: those of the book, where they have not changed.
#[derive(Debug, Clone)]
pub struct Ledger<'a> {
    book: &'a Book<'a>,
    accounts: HashMap<BudgetId, Account>,
}

#[derive(Debug, Clone)]
struct Account {
    numbers: Numbers,
    /// Controllers (by uid) of the pods that are there: whose scale each stands for, that scale, and how many pods.
    /// Filled in when it is asked for first.
    owners: Option<HashMap<Str, Share>>,
}

#[derive(Debug, Clone)]
struct Share {
    /// The workload whose scale it is, told apart by its address.
    holder: usize,
    scale: i64,
    pods: i64,
}

impl<'a> Ledger<'a> {
    /// The counters as the book has them.
    pub fn new(book: &'a Book<'a>) -> Self {
        Self { book, accounts: HashMap::new() }
    }

    /// The numbers of a budget at this moment.
    pub fn numbers(&self, id: BudgetId) -> Numbers {
        let opening = || self.book.entry(id).map(|e| e.opening).unwrap_or_default();
        self.accounts.get(&id).map_or_else(opening, |a| a.numbers)
    }

    /// What the endpoint answers to an eviction. Mirrors `EvictionREST.Create`, over the ledger's numbers.
    pub fn answer(&self, at: Standpoint<'_>) -> Answer {
        if !at.ready && evict::ignores_budgets(at.pod) {
            return Answer::Granted;
        }
        let id = match at.budgets {
            [] => return Answer::Granted,
            [one] => *one,
            _ => return Answer::Overlap,
        };
        let n = self.numbers(id);
        let always = self.book.entry(id).is_some_and(|e| e.budget.always_allow_unhealthy);
        let unready_may_go = !at.ready && (always || (n.healthy >= n.desired && n.desired > 0));
        if unready_may_go || n.allowed > 0 { Answer::Granted } else { Answer::Refused(id) }
    }

    /// A healthy pod begins to go.
    pub fn take(&mut self, budgets: &[BudgetId]) {
        self.change_healthy(budgets, -1);
    }

    /// A pod has become Ready.
    pub fn give_back(&mut self, budgets: &[BudgetId]) {
        self.change_healthy(budgets, 1);
    }

    fn change_healthy(&mut self, budgets: &[BudgetId], by: i32) {
        for id in budgets {
            self.with_account(*id, |a, _| {
                let n = a.numbers;
                a.numbers = Numbers::new(n.expected, n.desired, n.healthy.saturating_add(by));
            });
        }
    }

    /// A pod has come into being.
    pub fn arrive(&mut self, budgets: &[BudgetId], pod: &Arc<Pod>) {
        self.change_members(budgets, pod, 1);
    }

    /// A pod is gone.
    pub fn leave(&mut self, budgets: &[BudgetId], pod: &Arc<Pod>) {
        self.change_members(budgets, pod, -1);
    }

    /// The expected count follows the pods, or the owners that still have some.
    fn change_members(&mut self, budgets: &[BudgetId], pod: &Arc<Pod>, by: i64) {
        let book = self.book;
        for id in budgets {
            self.with_account(*id, |account, entry| {
                let n = account.numbers;
                let expected = if entry.budget.rule.counts_owners() {
                    let owners = account.owners.get_or_insert_with(|| shares(book, *id));
                    let Some(owner) = &pod.meta.controller else { return };
                    let share = owners.entry(owner.uid.clone()).or_insert_with(|| share_of(book.snapshot, pod));
                    share.pods += by;
                    if share.pods != 0 && share.pods - by != 0 {
                        return; // The owner had pods before and has some now.
                    }
                    sum(owners)
                } else {
                    i64::from(n.expected) + by
                };
                let Ok(desired) = numbers::desired(&entry.budget.rule, expected) else { return };
                account.numbers = Numbers::new(i32::try_from(expected).unwrap_or(i32::MAX), desired, n.healthy);
            });
        }
    }

    fn with_account(&mut self, id: BudgetId, change: impl FnOnce(&mut Account, &Entry)) {
        let Some(entry) = self.book.entry(id).filter(|e| e.standing == Standing::Counts) else { return };
        let account = self.accounts.entry(id).or_insert_with(|| Account { numbers: entry.opening, owners: None });
        change(account, entry);
    }
}

fn shares(book: &Book<'_>, id: BudgetId) -> HashMap<Str, Share> {
    let mut owners: HashMap<Str, Share> = HashMap::new();
    for pod in book.pods(id) {
        if let Some(owner) = &pod.meta.controller {
            owners.entry(owner.uid.clone()).or_insert_with(|| share_of(book.snapshot, pod)).pods += 1;
        }
    }
    owners
}

fn share_of(snapshot: &Snapshot, pod: &Arc<Pod>) -> Share {
    let sum = expected(snapshot, std::iter::once(pod)).unwrap_or_default();
    let holder = sum.owners.first().map_or(0, |w| Arc::as_ptr(w) as usize);
    Share { holder, scale: sum.count, pods: 0 }
}

/// The scales of the owners that have pods, each once.
fn sum(owners: &HashMap<Str, Share>) -> i64 {
    let mut seen = Vec::new();
    let mut total = 0;
    for share in owners.values().filter(|s| s.pods > 0) {
        if !seen.contains(&share.holder) {
            seen.push(share.holder);
            total += share.scale;
        }
    }
    total
}
