//! Lengths of time as kubectl's flags spell them: Go's `5m30s`, or a plain number of seconds.

use std::time::Duration;

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// Parses Go's form of a duration (`300ms`, `1.5h`, `2h45m`, `0`), as Go's `time.ParseDuration` does; it is held to that
/// by `tests/tables/durations.jsonl`. A negative one is refused: no flag has a use for it.
///
/// # Errors
/// Says what is wrong with the text, in words that follow the name of a flag.
pub fn parse(text: &str) -> Result<Duration, String> {
    let invalid = || format!("{text:?} is not a duration: write it like 30s, 5m30s or 1h");
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
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
    if negative && nanos > 0 {
        return Err(format!("{text:?} is negative"));
    }
    from_nanos(nanos).ok_or_else(|| format!("{text:?} is too long"))
}

/// Parses what kubectl takes for a timeout: a plain number is seconds, everything else as [`parse`]. Zero means none.
/// As client-go's `clientcmd.ParseTimeout`.
///
/// # Errors
/// As [`parse`].
pub fn parse_timeout(text: &str) -> Result<Duration, String> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        // Upstream lets what is too long begin anew at the other end.
        let seconds: Option<u128> = digits.parse().ok();
        let nanos = seconds.and_then(|s| s.checked_mul(NANOS_PER_SEC)).and_then(from_nanos);
        return nanos.ok_or_else(|| format!("{text:?} is too long"));
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

    #[derive(serde::Deserialize)]
    struct Row(String, Option<i128>);

    fn agrees(table: &str, ours: fn(&str) -> Result<Duration, String>) {
        let mut wrong = Vec::new();
        for line in table.lines() {
            let Row(text, want) = serde_json::from_str(line).unwrap();
            let want = want.map(|nanos| u128::try_from(nanos).map_err(|_| format!("{text:?} is negative")));
            let agree = match (ours(&text), &want) {
                (Ok(duration), Some(Ok(nanos))) => duration.as_nanos() == *nanos,
                (Err(words), Some(Err(negative))) => words == *negative,
                (Err(_), None) => true,
                _ => false,
            };
            if !agree {
                wrong.push(format!("{text:?}: {:?}, upstream {want:?}", ours(&text)));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.lines().count(), wrong.join("\n"));
    }

    #[test]
    fn durations_agree_with_go() {
        agrees(include_str!("../tests/tables/durations.jsonl"), parse);
    }

    #[test]
    fn timeouts_agree_with_client_go() {
        agrees(include_str!("../tests/tables/timeouts.jsonl"), parse_timeout);
    }

    #[test]
    fn refusals_say_how_to_write_it() {
        assert_eq!(parse("-5s"), Err("\"-5s\" is negative".into()));
        assert_eq!(parse("12"), Err("\"12\" has no unit: write it like 12s".into()));
        assert_eq!(parse_timeout("99999999999"), Err("\"99999999999\" is too long".into()));
    }
}
