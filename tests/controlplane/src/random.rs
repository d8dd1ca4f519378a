//! Seeded choices: the same seed gives the same cluster.

use fastrand::Rng;

/// A source of choices.
pub struct Choice(Rng);

impl Choice {
    /// The source of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.0.u32(0..100) < percent
    }

    /// A number from `low` to `high`, both included.
    pub fn number(&mut self, low: i64, high: i64) -> i64 {
        self.0.i64(low..=high.max(low))
    }

    /// One of the options.
    ///
    /// # Panics
    ///
    /// When there is none; generators give literals.
    pub fn one<'a, T: ?Sized>(&mut self, options: &[&'a T]) -> &'a T {
        options[self.0.usize(0..options.len())]
    }

    /// One of the options, each as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, options: &[(u32, T)]) -> T {
        let sum: u32 = options.iter().map(|(weight, _)| weight).sum();
        let mut left = self.0.u32(0..sum);
        for &(weight, option) in options {
            if left < weight {
                return option;
            }
            left -= weight;
        }
        options[0].1
    }

    /// A uid, from the same seed.
    pub fn uid(&mut self) -> String {
        let (a, b) = (self.0.u64(..), self.0.u64(..));
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_choices() {
        let draw = |seed| {
            let mut choice = Choice::new(seed);
            (choice.uid(), choice.number(0, 1000), choice.one(&["a", "b", "c"]).to_owned(), choice.chance(50))
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
