//! `meta/v1.Time` and `MicroTime`, read as upstream's decoders read them; `tests/tables/times.jsonl` and
//! `micro-times.jsonl` have what those say.

use jiff::Timestamp;
use jiff::civil::DateTime;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// `meta/v1.Time`: seconds and nanoseconds since 1970, UTC. The zero value stands for no time at all, as Go's
/// serialisers write it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub struct Time {
    /// Whole seconds since 1970.
    #[prost(int64, tag = 1)]
    pub seconds: i64,
    /// Nanoseconds within the second.
    #[prost(int32, tag = 2)]
    pub nanos: i32,
}

/// `meta/v1.MicroTime`: as [`Time`], but in JSON always with six digits of a second.
#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub struct MicroTime {
    /// Whole seconds since 1970.
    #[prost(int64, tag = 1)]
    pub seconds: i64,
    /// Nanoseconds within the second.
    #[prost(int32, tag = 2)]
    pub nanos: i32,
}

impl Time {
    /// The instant, or `None` where Go wrote its zero time. What no calendar holds is its first or last day.
    pub fn timestamp(self) -> Option<Timestamp> {
        instant(self.seconds, self.nanos)
    }
}

impl MicroTime {
    /// As [`Time::timestamp`].
    pub fn timestamp(self) -> Option<Timestamp> {
        instant(self.seconds, self.nanos)
    }
}

fn instant(seconds: i64, nanos: i32) -> Option<Timestamp> {
    let end = if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    (seconds != 0 || nanos != 0).then(|| Timestamp::new(seconds, nanos).unwrap_or(end))
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let (seconds, nanos) = read(d, Fraction::Any, "an RFC 3339 time such as 2026-11-02T03:04:05Z")?;
        Ok(Self { seconds, nanos })
    }
}

impl<'de> Deserialize<'de> for MicroTime {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let (seconds, nanos) =
            read(d, Fraction::Six, "an RFC 3339 time with microseconds such as 2026-11-02T03:04:05.000000Z")?;
        Ok(Self { seconds, nanos })
    }
}

fn read<'de, D: Deserializer<'de>>(d: D, fraction: Fraction, wanted: &'static str) -> Result<(i64, i32), D::Error> {
    let text = <Cow<'de, str>>::deserialize(d)?;
    match parse(&text, fraction) {
        // Go's zero time.
        Some((-62_135_596_800, 0)) => Ok((0, 0)),
        Some(time) => Ok(time),
        None => Err(D::Error::invalid_value(Unexpected::Str(&text), &wanted)),
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.timestamp() {
            Some(t) => s.collect_str(&t),
            None => s.serialize_none(),
        }
    }
}

impl Serialize for MicroTime {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.timestamp() {
            Some(t) => s.collect_str(&format_args!("{t:.6}")),
            None => s.serialize_none(),
        }
    }
}

/// What may stand behind the seconds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fraction {
    /// Nothing, or any number of digits.
    Any,
    /// Six digits.
    Six,
}

/// Seconds since 1970, and nanoseconds. Mirrors Go's `time.Parse` for `time.RFC3339`, which is more lenient than RFC
/// 3339 (a comma before the fraction, an hour of one digit, zones of up to 24:60), and for `RFC3339Micro`.
fn parse(text: &str, fraction: Fraction) -> Option<(i64, i32)> {
    let mut rest = text.as_bytes();
    let year = digits(&mut rest, 4)?;
    expect(&mut rest, b"-")?;
    let month = digits(&mut rest, 2)?;
    expect(&mut rest, b"-")?;
    let day = digits(&mut rest, 2)?;
    expect(&mut rest, b"T")?;
    let hour = digits(&mut rest, 2).or_else(|| digits(&mut rest, 1))?;
    expect(&mut rest, b":")?;
    let minute = digits(&mut rest, 2)?;
    expect(&mut rest, b":")?;
    let second = digits(&mut rest, 2)?;
    let nanos = match fraction {
        Fraction::Six => {
            expect(&mut rest, b".,")?;
            // Go reads the six bytes as a number with a sign.
            let places = if expect(&mut rest, b"+").is_some() { 5 } else { 6 };
            digits(&mut rest, places)? * 1000
        }
        Fraction::Any => any_fraction(&mut rest),
    };
    let offset = match rest {
        b"Z" => 0,
        _ => {
            let sign = if expect(&mut rest, b"+-")? == b'+' { 1 } else { -1 };
            let hours = digits(&mut rest, 2).filter(|h| *h <= 24)?;
            expect(&mut rest, b":")?;
            let minutes = digits(&mut rest, 2).filter(|m| *m <= 60)?;
            if !rest.is_empty() {
                return None;
            }
            sign * (hours * 3600 + minutes * 60)
        }
    };
    let [month, day, hour, minute, second] =
        [month, day, hour, minute, second].map(|n| i8::try_from(n).unwrap_or(i8::MAX));
    let local = DateTime::new(i16::try_from(year).ok()?, month, day, hour, minute, second, 0).ok()?;
    let since = local.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
    Some((since.as_secs() - i64::from(offset), nanos))
}

/// Takes one byte of those wanted.
fn expect(rest: &mut &[u8], wanted: &[u8]) -> Option<u8> {
    let (first, behind) = rest.split_first().filter(|(first, _)| wanted.contains(first))?;
    *rest = behind;
    Some(*first)
}

/// Takes so many digits, all of them or none.
fn digits(rest: &mut &[u8], count: usize) -> Option<i32> {
    let (number, behind) = rest.split_at_checked(count)?;
    if !number.iter().all(u8::is_ascii_digit) {
        return None;
    }
    *rest = behind;
    Some(number.iter().fold(0, |n, digit| n * 10 + i32::from(digit - b'0')))
}

/// Takes a point or a comma and the digits behind, of which nine count.
fn any_fraction(rest: &mut &[u8]) -> i32 {
    let mut after = *rest;
    if expect(&mut after, b".,").is_none() || !after.first().is_some_and(u8::is_ascii_digit) {
        return 0;
    }
    let (mut nanos, mut place) = (0, 100_000_000);
    while let Some(digit) = digits(&mut after, 1) {
        nanos += digit * place;
        place /= 10;
    }
    *rest = after;
    nanos
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Row {
        Read(String, i64, i32),
        Zero(String, #[expect(dead_code, reason = "always the same word")] String),
        Refused(String, ()),
    }

    fn agrees<T: DeserializeOwned + Default>(table: &str, parts: fn(T) -> (i64, i32)) {
        let mut wrong = Vec::new();
        for line in table.lines() {
            let (text, want) = match serde_json::from_str(line).unwrap() {
                Row::Read(text, seconds, nanos) => (text, Some((seconds, nanos))),
                Row::Zero(text, _) => (text, Some((0, 0))),
                Row::Refused(text, ()) => (text, None),
            };
            // null is the zero time, as every field of the wire structs reads it.
            let ours = serde_json::from_str::<Option<T>>(&text).ok().map(|t| parts(t.unwrap_or_default()));
            if ours != want {
                wrong.push(format!("{text}: {ours:?}, upstream {want:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.lines().count(), wrong.join("\n"));
    }

    #[test]
    fn times_agree_with_upstream() {
        agrees::<Time>(include_str!("../../tests/tables/times.jsonl"), |t| (t.seconds, t.nanos));
    }

    #[test]
    fn micro_times_agree_with_upstream() {
        agrees::<MicroTime>(include_str!("../../tests/tables/micro-times.jsonl"), |t| (t.seconds, t.nanos));
    }

    #[test]
    fn what_is_written_is_read_again() {
        for (seconds, nanos) in [(0, 0), (1_793_588_645, 0), (1_793_588_645, 123_456_000), (-1, 0)] {
            let (time, micro) = (Time { seconds, nanos }, MicroTime { seconds, nanos });
            let text = serde_json::to_string(&time).unwrap();
            assert_eq!(serde_json::from_str::<Option<Time>>(&text).unwrap().unwrap_or_default(), time, "{text}");
            let text = serde_json::to_string(&micro).unwrap();
            assert_eq!(serde_json::from_str::<Option<MicroTime>>(&text).unwrap().unwrap_or_default(), micro, "{text}");
        }
    }

    #[test]
    fn a_time_beyond_the_calendar_is_still_one() {
        assert_eq!(Time { seconds: i64::MAX, nanos: -7 }.timestamp(), Some(Timestamp::MAX));
        assert_eq!(Time { seconds: i64::MIN, nanos: 0 }.timestamp(), Some(Timestamp::MIN));
        assert_eq!(Time::default().timestamp(), None);
    }
}
