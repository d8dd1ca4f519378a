//! Rounds by budgets alone: nodes of one round together take no more of a budget than it allows. This is packing in
//! several dimensions: first fit by falling demand, made exact where there are few nodes.

use crate::drain::tracker::BudgetId;
use std::collections::HashMap;

/// What draining a node takes of each budget, in evictions.
pub type Demand = Vec<(BudgetId, i64)>;

/// Rounds of items, by their positions, and how few any packing needs at the least.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packing {
    /// The rounds.
    pub rounds: Vec<Vec<usize>>,
    /// No packing has fewer.
    pub lower_bound: usize,
}

/// So many nodes at most are packed by trying all ways, within [`EFFORT`].
const FEW: usize = 40;

/// How many partial packings are tried.
const EFFORT: usize = 200_000;

/// Packs items under the capacities of the budgets. An item that takes more than there is has to be alone with that
/// budget: it waits for its own replacements.
pub fn pack(demands: &[Demand], capacity: impl Fn(BudgetId) -> i64) -> Packing {
    let capacity = |id: BudgetId| capacity(id).max(0);
    let first = first_fit(demands, &capacity);
    let bound = lower_bound(demands, &capacity);
    if first.len() == bound || demands.len() > FEW {
        return Packing { rounds: first, lower_bound: bound };
    }
    let mut search = Search { demands, capacity: &capacity, best: first, bound, effort: EFFORT };
    let finished = search.run(&by_demand(demands, &capacity), 0, &mut Vec::new());
    let lower_bound = if finished { search.best.len() } else { bound };
    Packing { rounds: search.best, lower_bound }
}

/// A round as it fills: its items and what they take.
#[derive(Debug, Clone, Default)]
struct Round {
    items: Vec<usize>,
    taken: HashMap<BudgetId, i64>,
}

impl Round {
    fn takes(&self, demand: &Demand, capacity: &impl Fn(BudgetId) -> i64) -> bool {
        demand.iter().all(|(id, n)| match self.taken.get(id) {
            Some(taken) => taken + n <= capacity(*id),
            None => true,
        })
    }

    fn add(&mut self, item: usize, demand: &Demand) {
        self.items.push(item);
        demand.iter().for_each(|(id, n)| *self.taken.entry(*id).or_default() += n);
    }

    fn remove(&mut self, demand: &Demand) {
        self.items.pop();
        for (id, n) in demand {
            if let Some(taken) = self.taken.get_mut(id) {
                *taken -= n;
                if *taken == 0 {
                    self.taken.remove(id);
                }
            }
        }
    }
}

/// The items by falling share of the budget that they need most.
fn by_demand(demands: &[Demand], capacity: &impl Fn(BudgetId) -> i64) -> Vec<usize> {
    let share = |d: &Demand| d.iter().map(|(id, n)| n * 1000 / capacity(*id).max(1)).max().unwrap_or(0);
    let mut order: Vec<(i64, usize)> = demands.iter().enumerate().map(|(at, d)| (-share(d), at)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}

fn first_fit(demands: &[Demand], capacity: &impl Fn(BudgetId) -> i64) -> Vec<Vec<usize>> {
    let mut rounds: Vec<Round> = Vec::new();
    for at in by_demand(demands, capacity) {
        let Some(demand) = demands.get(at) else { continue };
        let open = rounds.iter_mut().find(|r| r.takes(demand, capacity));
        match open {
            Some(round) => round.add(at, demand),
            None => {
                let mut round = Round::default();
                round.add(at, demand);
                rounds.push(round);
            }
        }
    }
    sorted(rounds.into_iter().map(|r| r.items))
}

fn sorted(rounds: impl Iterator<Item = Vec<usize>>) -> Vec<Vec<usize>> {
    rounds
        .map(|mut r| {
            r.sort_unstable();
            r
        })
        .collect()
}

/// For each budget: all that is taken of it over what it allows, and the items of which no two go together.
fn lower_bound(demands: &[Demand], capacity: &impl Fn(BudgetId) -> i64) -> usize {
    let mut by_budget: HashMap<BudgetId, (i64, usize)> = HashMap::new();
    for (id, n) in demands.iter().flatten() {
        let cap = capacity(*id).max(1);
        let (sum, large) = by_budget.entry(*id).or_default();
        *sum += (*n).min(cap);
        *large += usize::from(2 * n > cap);
    }
    let rounds = |(id, (sum, large)): (&BudgetId, &(i64, usize))| {
        let cap = capacity(*id).max(1);
        large.max(&usize::try_from(sum / cap + i64::from(sum % cap != 0)).unwrap_or(usize::MAX)).to_owned()
    };
    by_budget.iter().map(rounds).max().unwrap_or(0).max(usize::from(!demands.is_empty()))
}

struct Search<'a, F> {
    demands: &'a [Demand],
    capacity: &'a F,
    best: Vec<Vec<usize>>,
    bound: usize,
    effort: usize,
}

impl<F: Fn(BudgetId) -> i64> Search<'_, F> {
    /// Places the items from `at` on in every way that may be better than the best. False where the effort ran out.
    fn run(&mut self, order: &[usize], at: usize, rounds: &mut Vec<Round>) -> bool {
        if rounds.len() >= self.best.len() || self.best.len() == self.bound {
            return true;
        }
        let Some(item) = order.get(at).copied() else {
            self.best = sorted(rounds.iter().map(|r| r.items.clone()));
            return true;
        };
        if self.effort == 0 {
            return false;
        }
        self.effort -= 1;
        let Some(demand) = self.demands.get(item) else { return true };
        let mut finished = true;
        for r in 0..rounds.len() {
            if rounds.get(r).is_some_and(|round| round.takes(demand, self.capacity)) {
                rounds.iter_mut().skip(r).take(1).for_each(|round| round.add(item, demand));
                finished &= self.run(order, at + 1, rounds);
                rounds.iter_mut().skip(r).take(1).for_each(|round| round.remove(demand));
            }
        }
        if rounds.len() + 1 < self.best.len() {
            let mut round = Round::default();
            round.add(item, demand);
            rounds.push(round);
            finished &= self.run(order, at + 1, rounds);
            rounds.pop();
        }
        finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packs_as_few_rounds_as_there_can_be() {
        for (title, demands, capacities, rounds, bound) in [
            ("nothing", vec![], vec![], 0, 0),
            ("no budgets", vec![vec![], vec![]], vec![], 1, 1),
            ("one shared", vec![vec![(0, 1)], vec![(0, 1)], vec![]], vec![1], 2, 2),
            ("room for two", vec![vec![(0, 1)], vec![(0, 1)], vec![(0, 1)]], vec![2], 2, 2),
            ("too much alone", vec![vec![(0, 5)], vec![(0, 1)]], vec![2], 2, 2),
            // Pairwise conflicts over three budgets: no single budget needs three rounds.
            ("a triangle", vec![vec![(0, 1), (1, 1)], vec![(1, 1), (2, 1)], vec![(2, 1), (0, 1)]], vec![1, 1, 1], 3, 3),
            // First fit by size opens a third: 4+4 | 3+3 of 7, best is 4+3 | 4+3.
            ("unlucky sizes", vec![vec![(0, 3)], vec![(0, 3)], vec![(0, 4)], vec![(0, 4)]], vec![7], 2, 2),
        ] {
            let p = pack(&demands, |id| capacities.get(id as usize).copied().unwrap_or(0));
            assert_eq!((p.rounds.len(), p.lower_bound), (rounds, bound), "{title}: {:?}", p.rounds);
        }
    }

    proptest! {
        #[test]
        fn rounds_take_no_more_than_there_is(
            demands in prop::collection::vec(prop::collection::vec((0u32..6, 1i64..4), 0..4), 0..14),
            capacities in prop::collection::vec(0i64..6, 6),
        ) {
            let demands: Vec<Demand> = demands
                .into_iter()
                .map(|d| d.into_iter().collect::<HashMap<_, _>>().into_iter().collect())
                .collect();
            let capacity = |id: BudgetId| capacities.get(id as usize).copied().unwrap_or(0);
            let p = pack(&demands, capacity);
            let mut all: Vec<usize> = p.rounds.iter().flatten().copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..demands.len()).collect::<Vec<_>>());
            prop_assert!(p.lower_bound <= p.rounds.len());
            for round in &p.rounds {
                for id in 0..6u32 {
                    let takers: Vec<i64> = round
                        .iter()
                        .flat_map(|at| demands[*at].iter().filter(|(b, _)| *b == id).map(|(_, n)| *n))
                        .collect();
                    prop_assert!(takers.len() <= 1 || takers.iter().sum::<i64>() <= capacity(id));
                }
            }
        }
    }
}
