//! Lengths of time as kubectl's flags spell them: Go's `5m30s`, or a plain number of seconds.

use std::time::Duration;

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// Parses Go's form of a duration (`300ms`, `1.5h`, `2h45m`, `0`), as Go's `time.ParseDuration` does.
/// A negative one is refused: no flag has a use for it.
///
/// # Errors
/// Says what is wrong with the text, in words that follow the name of a flag.
pub fn parse(text: &str) -> Result<Duration, String> {
    let invalid = || format!("{text:?} is not a duration: write it like 30s, 5m30s or 1h");
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest.starts_with('-') {
        return Err(format!("{text:?} is negative"));
    }
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut nanos: u128 = 0;
    while !rest.is_empty() {
        let number_ends = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(|| {
            // Digits up to the end: a number that lacks its unit.
            format!("{text:?} has no unit: write it like {text}s")
        })?;
        let (number, tail) = rest.split_at(number_ends);
        let unit_ends = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_ends);
        let unit = unit_nanos(unit).ok_or_else(invalid)?;
        nanos = scaled(number, unit).and_then(|n| nanos.checked_add(n)).ok_or_else(invalid)?;
        rest = tail;
    }
    from_nanos(nanos).ok_or_else(|| format!("{text:?} is too long"))
}

/// Parses what kubectl takes for a timeout: a plain number is seconds, everything else as [`parse`]. Zero means none.
/// As client-go's `clientcmd.ParseTimeout`.
///
/// # Errors
/// As [`parse`].
pub fn parse_timeout(text: &str) -> Result<Duration, String> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        let seconds: u128 = text.parse().map_err(|_| format!("{text:?} is too long"))?;
        return seconds.checked_mul(NANOS_PER_SEC).and_then(from_nanos).ok_or_else(|| format!("{text:?} is too long"));
    }
    parse(text)
}

fn unit_nanos(unit: &str) -> Option<u128> {
    Some(match unit {
        "ns" => 1,
        // Both the micro sign and the Greek letter, as in Go.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => NANOS_PER_SEC,
        "m" => 60 * NANOS_PER_SEC,
        "h" => 3600 * NANOS_PER_SEC,
        _ => return None,
    })
}

/// `number` (digits with at most one point, at least one digit) times `unit`, in whole nanoseconds, the rest cut off.
fn scaled(number: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut total = whole.checked_mul(unit)?;
    let mut scale = unit;
    for digit in fraction.bytes() {
        // The place value shrinks by ten with every digit; below a nanosecond nothing is left to add.
        scale /= 10;
        total = total.checked_add(u128::from(digit - b'0') * scale)?;
    }
    Some(total)
}

/// Go keeps a duration in 63 bits of nanoseconds; a longer one is refused as there.
fn from_nanos(nanos: u128) -> Option<Duration> {
    i64::try_from(nanos).ok().and_then(|n| u64::try_from(n).ok()).map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_durations() {
        // From Go's own documentation of time.ParseDuration, and its tests.
        let rows: &[(&str, u64)] = &[
            ("0", 0),
            ("+0", 0),
            ("0s", 0),
            ("5s", 5_000_000_000),
            ("30s", 30_000_000_000),
            ("1478s", 1_478_000_000_000),
            ("+5s", 5_000_000_000),
            ("5.0s", 5_000_000_000),
            ("5.6s", 5_600_000_000),
            ("5.s", 5_000_000_000),
            (".5s", 500_000_000),
            ("1.004s", 1_004_000_000),
            ("10ns", 10),
            ("11us", 11_000),
            ("12\u{b5}s", 12_000),
            ("12\u{3bc}s", 12_000),
            ("13ms", 13_000_000),
            ("15m", 900_000_000_000),
            ("16h", 57_600_000_000_000),
            ("3h30m", 12_600_000_000_000),
            ("10.5s4m", 250_500_000_000),
            ("1h15m30.918s", 4_530_918_000_000),
            ("9223372036854775807ns", 9_223_372_036_854_775_807),
        ];
        for (text, nanos) in rows {
            assert_eq!(parse(text), Ok(Duration::from_nanos(*nanos)), "{text}");
        }
    }

    #[test]
    fn what_go_refuses() {
        for text in
            ["", "3", "-", "s", ".", "-.", ".s", "+.s", "1d", "1.2.3s", "9223372036854775808ns", "3000000h", "1h ", "é"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse("-5s"), Err("\"-5s\" is negative".into()));
        assert_eq!(parse("12"), Err("\"12\" has no unit: write it like 12s".into()));
    }

    #[test]
    fn timeouts_take_plain_seconds() {
        let rows: &[(&str, Option<u64>)] = &[
            ("0", Some(0)),
            ("30", Some(30)),
            ("5m30s", Some(330)),
            ("1h", Some(3600)),
            ("", None),
            ("99999999999999999999999", None),
            ("10000000000", None),
            ("ten", None),
        ];
        for (text, seconds) in rows {
            assert_eq!(parse_timeout(text).ok(), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
