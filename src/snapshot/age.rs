//! Lengths of time in the unit a person would use.

use jiff::Timestamp;

/// How long ago: `40 s`, `12 min`, `3 h`, `5 d`.
pub fn age(then: Timestamp, now: Timestamp) -> String {
    duration_words(now.as_second().saturating_sub(then.as_second()).max(0))
}

/// A number of seconds in the unit a person would use.
pub fn duration_words(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_a_person_says_them() {
        for (seconds, want) in
            [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7_199, "119 min"), (10_800, "3 h"), (400_000, "4 d")]
        {
            assert_eq!(duration_words(seconds), want);
        }
    }
}
