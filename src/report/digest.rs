//! What stands first, for text and page alike: which finding leads an item, in which order verdicts stand, which items
//! are problems, and which of them share a cause.

use crate::cure::Remedy;
use crate::finding::{Code, Finding};

/// An item of an answer, as a summary sees it.
pub trait Told {
    /// What such items are called: `budget`.
    const KIND: &'static str;

    /// Its name, with the namespace where it has one.
    fn path(&self) -> String;

    /// Its verdict or stage, as the contract has it.
    fn verdict(&self) -> &'static str;

    /// Where its verdict stands: 0 needs somebody most.
    fn rank(&self) -> u8;

    /// The finding that leads: the cause of the verdict.
    fn leading(&self) -> Option<&Finding>;

    /// Its cause in words; empty where there is nothing to say.
    fn cause(&self) -> String {
        self.leading().map(|f| f.message.clone()).unwrap_or_default()
    }

    /// Whether a view that shows only problems shows it.
    fn is_problem(&self) -> bool;

    /// How many pods or other objects it stands for.
    fn weight(&self) -> usize {
        1
    }

    /// The words behind `kubectl pdb` that tell all about it.
    fn more(&self) -> Vec<String>;
}

/// Items of one verdict with one cause.
#[derive(Debug)]
pub struct Group<'a, T> {
    /// Their verdict.
    pub verdict: &'static str,
    /// The code of what leads them.
    pub code: Option<Code>,
    /// The items, in the order of the answer; never empty.
    pub items: Vec<&'a T>,
}

impl<T: Told> Group<'_, T> {
    /// How many pods or other objects they stand for.
    pub fn weight(&self) -> usize {
        self.items.iter().map(|i| i.weight()).sum()
    }

    /// What can be done about the first of them that something can be done about.
    pub fn fix(&self) -> Option<(&T, &Remedy)> {
        self.items.iter().find_map(|item| Some((*item, item.leading()?.remedies.first()?)))
    }
}

/// The problems among some items: those of one verdict and one cause together, the worst verdict first and in it what
/// concerns most.
pub fn problems<T: Told>(items: &[T]) -> Vec<Group<'_, T>> {
    let mut groups: Vec<(u8, Group<'_, T>)> = Vec::new();
    for item in items.iter().filter(|i| i.is_problem()) {
        let (rank, verdict, code) = (item.rank(), item.verdict(), item.leading().map(|f| f.code));
        match groups.iter_mut().find(|(_, g)| g.verdict == verdict && g.code == code) {
            Some((_, group)) => group.items.push(item),
            None => groups.push((rank, Group { verdict, code, items: vec![item] })),
        }
    }
    groups.sort_by_key(|(rank, group)| (*rank, std::cmp::Reverse(group.weight())));
    groups.into_iter().map(|(_, group)| group).collect()
}

/// How many items have each verdict, the worst first.
pub fn verdicts<T: Told>(items: &[T]) -> Vec<(&'static str, usize)> {
    let mut counted: Vec<(u8, &'static str, usize)> = Vec::new();
    for item in items {
        match counted.iter_mut().find(|(_, verdict, _)| *verdict == item.verdict()) {
            Some((_, _, count)) => *count += item.weight(),
            None => counted.push((item.rank(), item.verdict(), item.weight())),
        }
    }
    counted.sort_by_key(|(rank, ..)| *rank);
    counted.into_iter().map(|(_, verdict, count)| (verdict, count)).collect()
}

/// What can be done about some findings, each thing once: an operator's own way first, then as the findings have it.
pub fn remedies<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<&'a Remedy> {
    let mut findings: Vec<&Finding> = findings.into_iter().collect();
    findings.sort_by_key(|f| f.code != Code::OperatorOwned);
    let key = |r: &'a Remedy| r.commands().first().unwrap_or(&r.text);
    let mut told: Vec<&Remedy> = Vec::new();
    for remedy in findings.into_iter().flat_map(|f| &f.remedies) {
        if !told.iter().any(|t| key(t) == key(remedy)) {
            told.push(remedy);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Item(&'static str, u8, Option<Finding>);

    impl Told for Item {
        const KIND: &'static str = "item";
        fn path(&self) -> String {
            self.0.to_owned()
        }
        fn verdict(&self) -> &'static str {
            ["never", "waits", "allows"][usize::from(self.1)]
        }
        fn rank(&self) -> u8 {
            self.1
        }
        fn leading(&self) -> Option<&Finding> {
            self.2.as_ref()
        }
        fn is_problem(&self) -> bool {
            self.2.is_some()
        }
        fn more(&self) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn the_worst_verdict_leads_and_equal_causes_stand_together() {
        let of = |code| Some(Finding::new(code, "words"));
        let items = [
            Item("a", 2, None),
            Item("b", 1, of(Code::UnhealthyPods)),
            Item("c", 0, of(Code::NoRule)),
            Item("d", 0, of(Code::ZeroByRule)),
            Item("e", 0, of(Code::ZeroByRule)),
        ];
        let groups = problems(&items);
        let told: Vec<(&str, Vec<String>)> =
            groups.iter().map(|g| (g.verdict, g.items.iter().map(|i| i.path()).collect())).collect();
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert_eq!(told, [("never", names(&["d", "e"])), ("never", names(&["c"])), ("waits", names(&["b"]))]);
        assert_eq!(verdicts(&items), [("never", 3), ("waits", 1), ("allows", 1)]);
    }
}
