//! `resource.Quantity` as upstream computes with it, its oddities included. Mirrors
//! `apimachinery/pkg/api/resource/quantity.go`; `tests/tables/quantities.jsonl` has what upstream says.
//!
//! Upstream keeps an amount in one of two ways: in 64 bits with a power of ten, or as a decimal of any length. The way
//! decides what becomes of an amount that is too large for an answer of 64 bits (0, or its lowest 64 bits), and to which
//! side a negative one is rounded.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

const NANO: i128 = 1_000_000_000;

/// The power of ten of the smallest part that is kept.
const SMALLEST: i32 = -9;

/// An amount, in billionths of its unit (a core, a byte, a piece). Equal amounts are equal, however they were written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quantity {
    /// Billionths, capped where they are more than fit: far beyond what upstream gives a meaning to.
    nanos: i128,
    /// The power of ten that upstream counts in.
    scale: i8,
    /// Whether upstream keeps it as a decimal of any length.
    decimal: bool,
    format: Format,
}

/// How an amount is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Format {
    /// `12M`.
    #[default]
    Decimal,
    /// `12Mi`.
    Binary,
    /// `12e6`.
    Exponent,
}

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self { nanos: 0, scale: 0, decimal: false, format: Format::Decimal };

    /// A whole number of units, written as `12M`.
    pub fn units(n: i64) -> Self {
        Self { nanos: i128::from(n) * NANO, ..Self::ZERO }
    }

    /// A whole number of bytes, written as `12Mi`.
    pub fn bytes(n: i64) -> Self {
        Self { format: Format::Binary, ..Self::units(n) }
    }

    /// A number of thousandths, written as `12m`.
    pub fn milli(n: i64) -> Self {
        Self { nanos: i128::from(n) * (NANO / 1000), scale: -3, ..Self::ZERO }
    }

    /// The same, written as another is: `12Mi` where that is `1Gi`.
    #[must_use]
    pub fn written_as(self, other: Self) -> Self {
        Self { format: other.format, ..self }
    }

    /// So many times as much.
    #[must_use]
    pub fn times(self, n: i64) -> Self {
        Self { nanos: self.nanos.saturating_mul(i128::from(n)), ..self }
    }

    /// Whole units, rounded up: upstream's `Value`.
    pub fn value(self) -> i64 {
        self.scaled(0)
    }

    /// Thousandths, rounded up: upstream's `MilliValue`.
    pub fn milli_value(self) -> i64 {
        self.scaled(-3)
    }

    /// Whole units, where upstream counts in them: not where it was written in parts (`1000m`), nor where it is kept as a
    /// decimal. Mirrors `AsInt64`.
    pub fn as_int64(self) -> Option<i64> {
        if self.decimal || self.scale < 0 { None } else { i64::try_from(self.nanos / NANO).ok() }
    }

    /// Whether upstream keeps it as a decimal of any length.
    pub fn is_decimal(self) -> bool {
        self.decimal
    }

    /// Units as a number with a fraction, which may lose precision. Mirrors `AsApproximateFloat64`.
    #[allow(clippy::cast_precision_loss, reason = "that is what it is for")]
    pub fn as_approximate_float64(self) -> f64 {
        let unscaled = self.unscaled() as f64;
        if self.scale == 0 { unscaled } else { unscaled * 10f64.powi(self.scale.into()) }
    }

    /// Upstream's `ScaledValue`: of an amount that does not fit, 0 or the lowest 64 bits.
    fn scaled(self, scale: i32) -> i64 {
        let parts = power(scale - SMALLEST);
        if !self.decimal {
            let amount = away_from_zero(self.nanos, parts);
            // What does not fit is 0, unless upstream multiplies by all tens at once: then the lowest bits are left.
            let at_once = matches!(i32::from(self.scale) - scale, 0 | 1 | 2 | 3 | 6 | 9);
            return i64::try_from(amount).unwrap_or(if at_once { lowest_bits(amount) } else { 0 });
        }
        if self.nanos.saturating_abs() == i128::MAX {
            // Of numbers beyond what is kept, the lowest bits are those of so many tens: 0.
            return 0;
        }
        let unscaled = self.unscaled();
        let scale_down = scale - i32::from(self.scale);
        if scale_down > 0 && unscaled < i128::from(i64::MAX) && scale_down < 19 {
            let (unscaled, by) = (lowest_bits(unscaled), lowest_bits(power(scale_down)));
            return unscaled / by + i64::from(unscaled % by != 0);
        }
        lowest_bits(self.nanos.div_euclid(parts)).wrapping_add(i64::from(self.nanos.rem_euclid(parts) != 0))
    }

    /// The number that upstream keeps beside the power of ten.
    fn unscaled(self) -> i128 {
        self.nanos / power(i32::from(self.scale) - SMALLEST)
    }

    /// Reads what upstream reads: a decimal number, with a decimal (`n u m k M G T P E`), binary (`Ki … Ei`) or exponent
    /// (`e3`, `E-3`) suffix. `None` where upstream refuses. Mirrors `ParseQuantity`.
    pub fn parse(text: &str) -> Option<Self> {
        let Parts { negative, whole, fraction, has_digits, suffix } = Parts::of(text)?;
        let (two, exponent, format) = interpret(suffix)?;
        // How many digits upstream computes with in 64 bits.
        let digits = whole.len().max(1) + fraction.len();
        let room = match format {
            Format::Decimal | Format::Exponent => 18,
            Format::Binary if !fraction.is_empty() => 0,
            Format::Binary => 14usize.saturating_sub(usize::try_from(two).ok()? * 3 / 10),
        };
        let scale = exponent.wrapping_sub(i32::try_from(fraction.len()).ok()?);
        if digits <= room && scale >= SMALLEST {
            let number: i128 = parse_digits(whole.bytes().chain(fraction.bytes()));
            let nanos = number.saturating_mul(1 << two).saturating_mul(power(scale.saturating_sub(SMALLEST)));
            return Some(Self::signed(negative, nanos, clamp(scale), false, format));
        }
        if !has_digits {
            return None;
        }
        let mut nanos = match format {
            Format::Binary => doubled(whole, fraction, two),
            Format::Decimal | Format::Exponent => shifted(whole, fraction, exponent),
        };
        let mut scale = SMALLEST;
        let mut format = format;
        if format == Format::Binary && nanos > LARGEST_BINARY {
            (nanos, scale) = (LARGEST_BINARY, 0);
        } else if format == Format::Binary && nanos < NANO && nanos > 0 {
            format = Format::Decimal;
        }
        Some(Self::signed(negative, nanos, clamp(scale), true, format))
    }

    fn signed(negative: bool, nanos: i128, scale: i8, decimal: bool, format: Format) -> Self {
        Self { nanos: if negative { -nanos } else { nanos }, scale, decimal, format }
    }

    /// The digits and the power of ten (or of 1024) of upstream's canonical form. Mirrors `CanonicalizeBytes`.
    fn canonical(self) -> (i128, Format, i32) {
        let small = self.nanos.abs() < 1024 * NANO;
        if self.format == Format::Binary && !small && self.nanos % NANO == 0 {
            let (digits, exponent) = without_factors(self.nanos / NANO, 1024);
            return (digits, Format::Binary, exponent);
        }
        let format = if self.format == Format::Binary { Format::Decimal } else { self.format };
        let (digits, tens) = without_factors(self.nanos, 10);
        let exponent = SMALLEST + tens;
        // The exponent is a multiple of three.
        let over = exponent.rem_euclid(3);
        (digits.saturating_mul(power(over)), format, exponent - over)
    }
}

/// Beyond the largest number of 63 bits, binary amounts are capped.
const LARGEST_BINARY: i128 = i64::MAX as i128 * NANO;

/// A text taken apart; `suffix` is not judged yet.
struct Parts<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros.
    whole: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    /// Whether any digit stands before the suffix.
    has_digits: bool,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    /// Mirrors `parseQuantityString`: a sign alone, a point alone and a suffix alone are numbers, too.
    fn of(text: &'a str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (written, rest) = split_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let number = letters.strip_prefix(['+', '-']).unwrap_or(letters);
        let well_formed = number.bytes().all(|b| b.is_ascii_digit());
        well_formed.then(|| Self {
            negative: text.starts_with('-'),
            whole: written.trim_start_matches('0'),
            fraction,
            has_digits: !written.is_empty() || !fraction.is_empty(),
            suffix,
        })
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// The powers of two and of ten that a suffix stands for. Mirrors `suffixHandler.interpret`.
fn interpret(suffix: &str) -> Option<(u32, i32, Format)> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(s, _)| *s == suffix) {
        return Some((0, *exponent, Format::Decimal));
    }
    if let Some(at) = BINARY.iter().position(|s| *s == suffix) {
        return Some((10 * (u32::try_from(at).ok()? + 1), 0, Format::Binary));
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    // Upstream cuts the exponent to 32 bits.
    Some((0, (exponent & 0xffff_ffff) as u32 as i32, Format::Exponent))
}

const DECIMAL: [(&str, i32); 10] =
    [("", 0), ("n", -9), ("u", -6), ("m", -3), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The number that digits write, capped.
fn parse_digits(digits: impl Iterator<Item = u8>) -> i128 {
    digits.fold(0, |n: i128, digit| n.saturating_mul(10).saturating_add(i128::from(digit - b'0')))
}

/// `whole.fraction × 10^exponent` in billionths, rounded up, capped: the point moves among the digits.
fn shifted(whole: &str, fraction: &str, exponent: i32) -> i128 {
    let digits = whole.bytes().chain(fraction.bytes());
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX) + i64::from(exponent) - i64::from(SMALLEST);
    let before = usize::try_from(point).unwrap_or(0);
    let missing = before.saturating_sub(whole.len() + fraction.len());
    let padded = digits.clone().take(before).chain(std::iter::repeat_n(b'0', missing.min(40)));
    let more = digits.skip(before).any(|digit| digit != b'0');
    parse_digits(padded).saturating_add(i128::from(more))
}

/// `whole.fraction × 2^twos` in billionths, rounded up, capped.
fn doubled(whole: &str, fraction: &str, twos: u32) -> i128 {
    let factor = NANO << twos;
    // From the last digit of the fraction on: what is below a billionth only matters by being there.
    let (part, more) = fraction.bytes().rev().fold((0, false), |(part, more), digit| {
        let sum = part + i128::from(digit - b'0') * factor;
        (sum / 10, more || sum % 10 != 0)
    });
    parse_digits(whole.bytes()).saturating_mul(factor).saturating_add(part + i128::from(more))
}

/// `10^exponent`, capped; 1 for a negative exponent.
fn power(exponent: i32) -> i128 {
    10i128.checked_pow(u32::try_from(exponent).unwrap_or(0)).unwrap_or(i128::MAX)
}

fn away_from_zero(n: i128, by: i128) -> i128 {
    n / by + if n % by == 0 { 0 } else { n.signum() }
}

fn lowest_bits(n: i128) -> i64 {
    (n & i128::from(u64::MAX)) as u64 as i64
}

fn clamp(scale: i32) -> i8 {
    i8::try_from(scale).unwrap_or(i8::MAX)
}

fn without_factors(mut n: i128, factor: i128) -> (i128, i32) {
    let mut times = 0;
    while n != 0 && n % factor == 0 {
        n /= factor;
        times += 1;
    }
    (n, times)
}

impl std::ops::Add for Quantity {
    type Output = Self;

    /// Mirrors `Quantity.Add`.
    fn add(self, other: Self) -> Self {
        let nanos = self.nanos.saturating_add(other.nanos).max(-i128::MAX);
        let format = if self.nanos == 0 { other.format } else { self.format };
        if !self.decimal && !other.decimal && (self.nanos == 0 || other.nanos == 0) {
            return Self { format, ..if self.nanos == 0 { other } else { self } };
        }
        let scale = self.scale.min(other.scale);
        let parts = power(i32::from(scale) - SMALLEST);
        let fits = |n: i128| i64::try_from(n / parts).is_ok();
        let decimal = self.decimal || other.decimal || ![self.nanos, other.nanos, nanos].into_iter().all(fits);
        Self { nanos, scale, decimal, format }
    }
}

impl std::ops::Neg for Quantity {
    type Output = Self;
    fn neg(self) -> Self {
        Self { nanos: self.nanos.saturating_neg(), ..self }
    }
}

impl std::ops::Sub for Quantity {
    type Output = Self;

    /// Mirrors `Quantity.Sub`.
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl std::iter::Sum for Quantity {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, |a, b| a + b)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nanos.hash(state);
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Upstream's canonical form: `1500m`, `2`, `1536Mi`, `12e6`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0");
        }
        let (digits, format, exponent) = self.canonical();
        write!(f, "{digits}")?;
        // Where there is no suffix, upstream writes none.
        match format {
            Format::Binary => {
                f.write_str(usize::try_from(exponent - 1).ok().and_then(|at| BINARY.get(at)).unwrap_or(&""))
            }
            Format::Decimal => f.write_str(DECIMAL.iter().find(|(_, e)| *e == exponent).map_or("", |(s, _)| s)),
            Format::Exponent if exponent == 0 => Ok(()),
            Format::Exponent => write!(f, "e{exponent}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Row {
        Read(String, i64, i64, Option<String>),
        Refused(String, ()),
    }

    #[test]
    fn agrees_with_upstream() {
        let table = include_str!("../../tests/tables/quantities.jsonl");
        let mut wrong = Vec::new();
        for line in table.lines() {
            let (text, want) = match serde_json::from_str(line).unwrap() {
                Row::Read(text, value, milli, canonical) => (text, Some((value, milli, canonical))),
                Row::Refused(text, ()) => (text, None),
            };
            let ours = Quantity::parse(&text).map(|q| (q.value(), q.milli_value(), Some(q.to_string())));
            // Of numbers that are not kept exactly the table has no canonical form.
            let same = |w: &(i64, i64, Option<String>), o: &(i64, i64, Option<String>)| {
                (w.0, w.1) == (o.0, o.1) && (w.2.is_none() || w.2 == o.2)
            };
            if !want.as_ref().zip(ours.as_ref()).map_or(want == ours, |(w, o)| same(w, o)) {
                wrong.push(format!("{text:?}: {ours:?}, upstream {want:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.lines().count(), wrong.join("\n"));
        assert!(table.lines().count() >= 2000);
    }

    #[test]
    fn sums_and_compares_as_upstream() {
        let table = include_str!("../../tests/tables/quantity-sums.jsonl");
        let mut wrong = Vec::new();
        for line in table.lines() {
            let (a, b, value, milli, canonical, order): (String, String, i64, i64, String, i64) =
                serde_json::from_str(line).unwrap();
            let [left, right] = [&a, &b].map(|text| Quantity::parse(text).unwrap());
            let sum = left + right;
            let ours = (sum.value(), sum.milli_value(), sum.to_string(), left.cmp(&right) as i64);
            let want = (value, milli, canonical, order);
            if ours != want {
                wrong.push(format!("{a} + {b}: {ours:?}, upstream {want:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.lines().count(), wrong.join("\n"));
    }

    #[test]
    fn amounts_of_the_program_are_written_as_upstream_writes_its_own() {
        for (quantity, want) in [
            (Quantity::milli(1400), "1400m"),
            (Quantity::milli(2000), "2"),
            (Quantity::milli(1_024_000), "1024"),
            (Quantity::bytes(4 << 30), "4Gi"),
            (Quantity::bytes(1000), "1k"),
            (Quantity::bytes(1025), "1025"),
            (Quantity::units(110), "110"),
            (Quantity::ZERO, "0"),
        ] {
            assert_eq!(quantity.to_string(), want);
        }
    }

    /// Upstream itself does not answer within hours: it makes numbers of two thousand million digits.
    #[test]
    fn the_size_of_an_exponent_costs_nothing() {
        let digits = "9".repeat(30);
        for suffix in ["e2147483647", "e-2147483648", "e1000000000", "E"] {
            let up = Quantity::parse(&format!("{digits}{suffix}")).unwrap();
            assert!(up > Quantity::ZERO, "{suffix}");
        }
        assert!(Quantity::parse(&"9".repeat(1 << 20)).is_some_and(|q| q > Quantity::units(i64::MAX)));
    }

    proptest! {
        #[test]
        fn never_panics(a in "[-+]?[0-9.]{0,40}[eEinumkKMGTP]{0,2}[-+]?[0-9]{0,20}", b in ".{0,12}") {
            for (a, b) in Quantity::parse(&a).into_iter().zip([Quantity::parse(&b).unwrap_or(Quantity::bytes(-7))]) {
                let sum = a + b + a;
                let _ = (sum.value(), sum.milli_value(), sum.to_string(), sum.cmp(&a));
            }
        }

        #[test]
        fn what_is_written_is_read_again(n in any::<i64>(), milli in any::<i32>()) {
            for q in [Quantity::units(n), Quantity::bytes(n), Quantity::milli(n), Quantity::milli(milli.into())] {
                // Upstream has no letter for thousands of E.
                prop_assert_eq!(Quantity::parse(&q.to_string()), Some(q));
            }
        }
    }
}
