//! Sets of completion indexes as the API writes them: `0-3,7`. Mirrors `parseIndexesFromString` and `orderedIntervals`
//! of `pkg/controller/job/indexed_job_utils.go`.

/// Indexes as intervals, in order; both ends belong to an interval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Indexes(Vec<(u32, u32)>);

impl Indexes {
    /// Reads `0-3,7`; what is none is left out, and so is what lies at or above `completions`.
    pub fn read(text: &str, completions: u32) -> Self {
        let mut found = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>())
                && first <= last
                && first < completions
            {
                found.push((first, last.min(completions.saturating_sub(1))));
            }
        }
        Self::new(found)
    }

    /// Indexes from intervals in any order.
    pub fn new(mut intervals: Vec<(u32, u32)>) -> Self {
        intervals.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for (first, last) in intervals {
            match merged.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => merged.push((first, last)),
            }
        }
        Self(merged)
    }

    /// These and those.
    pub fn and(&self, other: impl IntoIterator<Item = u32>) -> Self {
        Self::new(self.0.iter().copied().chain(other.into_iter().map(|n| (n, n))).collect())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|(first, last)| (last - first) as usize + 1).sum()
    }
}

impl IntoIterator for &Indexes {
    type Item = (u32, u32);
    type IntoIter = std::vec::IntoIter<(u32, u32)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.clone().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_read_as_upstream() {
        // After TestParseIndexesFromString.
        for (text, completions, want) in [
            ("", 6, vec![]),
            ("0", 6, vec![(0, 0)]),
            ("0-1", 6, vec![(0, 1)]),
            ("0,2,4", 6, vec![(0, 0), (2, 2), (4, 4)]),
            ("0-2,4-5,7", 6, vec![(0, 2), (4, 5)]),
            ("0,3-5", 4, vec![(0, 0), (3, 3)]),
            ("x,2", 6, vec![(2, 2)]),
        ] {
            assert_eq!(Indexes::read(text, completions).0, want, "{text}");
        }
        assert_eq!(Indexes::read("0-2147483646", 2_147_483_647).len(), 2_147_483_647);
        assert_eq!(Indexes::read("0-2", 9).and([7, 3]).0, vec![(0, 3), (7, 7)]);
    }
}
