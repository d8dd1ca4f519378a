//! `resource.Quantity` as an exact integer. Mirrors `apimachinery/pkg/api/resource/quantity.go`.

use super::intern::{Interner, Str};
use crate::wire::scalar;
use std::collections::BTreeMap;
use std::fmt;

const NANO: i128 = 1_000_000_000;

/// An amount, in billionths of its unit (a core, a byte, a piece). Smaller parts are rounded up, as upstream does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Quantity(i128);

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// A whole number of units.
    pub fn units(n: i64) -> Self {
        Self(i128::from(n) * NANO)
    }

    /// A number of thousandths.
    pub fn milli(n: i64) -> Self {
        Self(i128::from(n) * (NANO / 1000))
    }

    /// Whole units, rounded up: upstream's `Value`.
    pub fn value(self) -> i64 {
        clamp(div_up(self.0, NANO))
    }

    /// Thousandths, rounded up: upstream's `MilliValue`.
    pub fn milli_value(self) -> i64 {
        clamp(div_up(self.0, NANO / 1000))
    }

    /// Reads upstream's syntax: a decimal number with a decimal (`n u m k M G T P E`), binary (`Ki … Ei`) or exponent
    /// (`e3`, `E-3`) suffix. `None` where upstream would refuse it.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        // A value beyond what fits is capped, as upstream caps it; the sign of the cap is all that matters then.
        let digits: String = whole.chars().chain(fraction.chars()).collect();
        let mantissa = digits.trim_start_matches('0');
        let mantissa: i128 = match mantissa.len() {
            0 => 0,
            1..=36 => mantissa.parse().ok()?,
            _ => return Some(Self(if negative { -MAX } else { MAX })),
        };
        let (factor, exponent) = suffix_scale(suffix)?;
        let tens = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?.checked_add(9)?;
        let scaled = mantissa.checked_mul(factor).and_then(|m| shift(m, tens)).unwrap_or(MAX).min(MAX);
        Some(Self(if negative { -scaled } else { scaled }))
    }
}

/// Upstream's cap: 2^63-1 whole units.
const MAX: i128 = i64::MAX as i128 * NANO;

fn clamp(n: i128) -> i64 {
    i64::try_from(n).unwrap_or(if n < 0 { i64::MIN } else { i64::MAX })
}

fn div_up(n: i128, by: i128) -> i128 {
    n.div_euclid(by) + i128::from(n.rem_euclid(by) != 0)
}

/// `n × 10^tens`, rounded up; `None` when it does not fit.
fn shift(n: i128, tens: i32) -> Option<i128> {
    if n == 0 {
        return Some(0);
    }
    let power = 10i128.checked_pow(tens.unsigned_abs());
    if tens >= 0 { n.checked_mul(power?) } else { Some(power.map_or(1, |p| div_up(n, p))) }
}

fn suffix_scale(suffix: &str) -> Option<(i128, i32)> {
    Some(match suffix {
        "" => (1, 0),
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1 << 60, 0),
        _ => (1, suffix.strip_prefix(['e', 'E'])?.parse().ok()?),
    })
}

impl std::ops::Add for Quantity {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::iter::Sum for Quantity {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, |a, b| a + b)
    }
}

/// Shortest exact form a person would write: `1500m`, `2`, `1536Mi`, `4Gi`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 % NANO != 0 {
            let (per, suffix) =
                [(1_000_000, "m"), (1_000, "u")].into_iter().find(|(per, _)| self.0 % per == 0).unwrap_or((1, "n"));
            return write!(f, "{}{suffix}", self.0 / per);
        }
        let n = self.0 / NANO;
        let (per, suffix) = [(1i128 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")]
            .into_iter()
            .find(|(per, _)| n != 0 && n % per == 0)
            .unwrap_or((1, ""));
        write!(f, "{}{suffix}", n / per)
    }
}

/// Named amounts, sorted by name: requests, limits, capacity, a quota.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Amounts(Box<[(Str, Quantity)]>);

impl Amounts {
    /// Reads the wire form. The error is the name and the text that is no quantity.
    pub fn read(wire: &BTreeMap<String, scalar::Quantity>, i: &mut Interner) -> Result<Self, String> {
        let pair = |(name, q): (&String, &scalar::Quantity)| match Quantity::parse(&q.string) {
            Some(value) => Ok((i.str(name), value)),
            None => Err(format!("{name} is {:?}, which is no quantity", q.string)),
        };
        Ok(Self(wire.iter().map(pair).collect::<Result<_, _>>()?))
    }

    /// The amount under a name.
    pub fn get(&self, name: &str) -> Option<Quantity> {
        self.0.iter().find(|(n, _)| **n == *name).map(|(_, q)| *q)
    }

    /// All pairs, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, Quantity)> {
        self.0.iter().map(|(n, q)| (n, *q))
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Str, Quantity)> for Amounts {
    fn from_iter<I: IntoIterator<Item = (Str, Quantity)>>(pairs: I) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort();
        Self(pairs.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_upstream_reads() {
        // text, Value, MilliValue: from the table of quantity_test.go and its rounding rules.
        for (text, value, milli) in [
            ("0", 0, 0),
            ("100m", 1, 100),
            ("1", 1, 1000),
            ("1.5", 2, 1500),
            (".5", 1, 500),
            ("1e3", 1000, 1_000_000),
            ("1E", 1_000_000_000_000_000_000, i64::MAX),
            ("1Ki", 1024, 1_024_000),
            ("1.5Gi", 1_610_612_736, 1_610_612_736_000),
            ("-1500m", -1, -1500),
            ("1n", 1, 1),
            ("0.1n", 1, 1),
            ("12e-1", 2, 1200),
            ("9999999999999999999999999999999999999999999", i64::MAX, i64::MAX),
        ] {
            let q = Quantity::parse(text).unwrap_or_else(|| panic!("{text} is a quantity"));
            assert_eq!((q.value(), q.milli_value()), (value, milli), "{text}");
        }
    }

    #[test]
    fn refuses_what_upstream_refuses() {
        for text in ["", "-", ".", "1.2.3", "1Kib", "m", "1 Gi", "1e", "0x10", "1,5", "ten", "1e99999999999"] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }

    #[test]
    fn is_written_as_a_person_would() {
        for text in ["1500m", "2", "1536Mi", "4Gi", "0", "1n"] {
            assert_eq!(Quantity::parse(text).map(|q| q.to_string()).as_deref(), Some(text));
        }
    }
}
