//! The schedules of NodePool budgets: cron's five fields, always in UTC. Mirrors `ParseStandard` and `SpecSchedule.Next` of
//! `robfig/cron` v3, which Karpenter reads them by.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

/// When a schedule hits, as sets of the numbers that are allowed in each field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    minutes: u64,
    hours: u64,
    days: Days,
}

/// The days on which a schedule hits.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Days {
    of_month: Field,
    months: u64,
    of_week: Field,
}

/// The numbers that a field allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    bits: u64,
    /// Written as `*` or `?`: then the day of the month and that of the week must both match, else one suffices.
    any: bool,
}

/// The last year that is looked through for a hit, from the year of the first day on.
const YEARS: i16 = 5;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl Schedule {
    /// Reads a schedule; `None` where it is none.
    pub fn read(text: &str) -> Option<Self> {
        let text = match text.trim() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            other => other,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = <[&str; 5]>::try_from(fields).ok()?;
        Some(Self {
            minutes: field(minute, 0, 59, &[])?.bits,
            hours: field(hour, 0, 23, &[])?.bits,
            days: Days {
                of_month: field(day, 1, 31, &[])?,
                months: field(month, 1, 12, &MONTHS)?.bits,
                of_week: field(weekday, 0, 6, &WEEKDAYS)?,
            },
        })
    }

    /// Whether a budget is in force that begins at every hit and lasts so long. A schedule that never hits is in force
    /// always, as upstream takes the missing time for one long past.
    pub fn is_open(&self, lasts: SignedDuration, now: Timestamp) -> bool {
        let Ok(from) = now.checked_sub(lasts) else { return true };
        self.next(from).is_none_or(|hit| hit <= now)
    }

    /// The first hit after a time.
    fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let start = after.to_zoned(TimeZone::UTC).datetime();
        let first = i64::from(start.hour()) * 60 + i64::from(start.minute()) + 1;
        let mut day = start.date();
        let last_year = day.year().saturating_add(YEARS);
        let mut from = first;
        while day.year() <= last_year {
            if self.days.has(day)
                && let Some(minute) = self.minute_of_day(from)
            {
                let time = day.at(0, 0, 0, 0).checked_add(minute.minutes()).ok()?;
                return time.to_zoned(TimeZone::UTC).ok().map(|z| z.timestamp());
            }
            from = 0;
            day = day.tomorrow().ok()?;
        }
        None
    }

    /// The first hit of a day, from a minute of it on.
    fn minute_of_day(&self, from: i64) -> Option<i64> {
        (from..24 * 60).find(|m| has(self.hours, m / 60) && has(self.minutes, m % 60))
    }
}

impl Days {
    fn has(&self, day: Date) -> bool {
        if !has(self.months, day.month().into()) {
            return false;
        }
        let of_month = has(self.of_month.bits, day.day().into());
        let of_week = has(self.of_week.bits, day.weekday().to_sunday_zero_offset().into());
        if self.of_month.any || self.of_week.any { of_month && of_week } else { of_month || of_week }
    }
}

fn has(bits: u64, number: i64) -> bool {
    u32::try_from(number).ok().and_then(|n| bits.checked_shr(n)).is_some_and(|b| b & 1 == 1)
}

/// Reads a list of ranges: `*`, `5`, `1-5`, `*/15`, `mon-fri`. Mirrors `getField` and `getRange`.
fn field(text: &str, least: u32, most: u32, names: &[&str]) -> Option<Field> {
    let mut all = Field { bits: 0, any: false };
    for part in text.split(',').filter(|p| !p.is_empty()) {
        let (range, step) = part.split_once('/').map_or((part, None), |(r, s)| (r, Some(s)));
        let step = step.map_or(Some(1), |s| s.parse().ok())?;
        let number = |word: &str| -> Option<u32> {
            let named = names.iter().position(|n| n.eq_ignore_ascii_case(word)).and_then(|at| u32::try_from(at).ok());
            named.map(|at| at + least).or_else(|| word.parse().ok())
        };
        let (from, to) = match range.split_once('-') {
            None if range == "*" || range == "?" => {
                all.any |= step == 1;
                (least, most)
            }
            None => {
                let one = number(range)?;
                (one, if part.contains('/') { most } else { one })
            }
            Some((from, to)) => (number(from)?, number(to)?),
        };
        if from < least || to > most || from > to || step == 0 {
            return None;
        }
        let numbers = (from..=to).step_by(usize::try_from(step).ok()?);
        all.bits |= numbers.fold(0, |bits, n| bits | 1_u64.checked_shl(n).unwrap_or(0));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_hits_are_those_of_upstream_s_table() {
        // `TestNext` of robfig/cron v3 (spec_test.go), those of five fields in UTC.
        for (from, text, want) in [
            ("2012-07-09T14:45:00Z", "0/15 * * * *", Some("2012-07-09T15:00:00Z")),
            ("2012-07-09T14:59:00Z", "0/15 * * * *", Some("2012-07-09T15:00:00Z")),
            ("2012-07-09T14:59:59Z", "0/15 * * * *", Some("2012-07-09T15:00:00Z")),
            ("2012-07-09T15:45:00Z", "20-35/15 * * * *", Some("2012-07-09T16:20:00Z")),
            ("2012-07-09T23:46:00Z", "*/15 * * * *", Some("2012-07-10T00:00:00Z")),
            ("2012-07-09T23:45:00Z", "20-35/15 * * * *", Some("2012-07-10T00:20:00Z")),
            ("2012-07-09T23:35:00Z", "20-35/15 1/2 * * *", Some("2012-07-10T01:20:00Z")),
            ("2012-07-09T23:35:00Z", "20-35/15 10-12 * * *", Some("2012-07-10T10:20:00Z")),
            ("2012-07-09T23:35:00Z", "20-35/15 1/2 */2 * *", Some("2012-07-11T01:20:00Z")),
            ("2012-07-09T23:35:00Z", "20-35/15 * 9-20 * *", Some("2012-07-10T00:20:00Z")),
            ("2012-07-09T23:35:00Z", "20-35/15 * 9-20 Jul *", Some("2012-07-10T00:20:00Z")),
            ("2012-07-09T23:35:00Z", "0 0 9 Apr-Oct ?", Some("2012-08-09T00:00:00Z")),
            ("2012-07-09T23:35:00Z", "0 0 */5 Apr,Aug,Oct Mon", Some("2012-08-01T00:00:00Z")),
            ("2012-07-09T23:35:00Z", "0 0 */5 Oct Mon", Some("2012-10-01T00:00:00Z")),
            ("2012-07-09T23:35:00Z", "0 0 * Feb Mon", Some("2013-02-04T00:00:00Z")),
            ("2012-07-09T23:35:00Z", "0 0 * Feb Mon/2", Some("2013-02-01T00:00:00Z")),
            ("2012-12-31T23:59:45Z", "* * * * *", Some("2013-01-01T00:00:00Z")),
            ("2012-07-09T23:35:00Z", "0 0 29 Feb ?", Some("2016-02-29T00:00:00Z")),
            ("2012-07-09T23:35:00Z", "0 0 30 Feb ?", None),
            ("2012-07-09T23:35:00Z", "0 0 31 Apr ?", None),
        ] {
            let schedule = Schedule::read(text).expect(text);
            let hit = schedule.next(from.parse().expect(from)).map(|t| t.to_string());
            assert_eq!(hit.as_deref(), want, "{text} from {from}");
        }
    }

    #[test]
    fn what_is_no_schedule() {
        for text in ["", "* * * *", "60 0 * * *", "0 0 0 * *", "0 0 * * 7", "x 0 * * *", "*/0 * * * *", "5-1 * * * *"] {
            assert_eq!(Schedule::read(text), None, "{text}");
        }
        assert_eq!(Schedule::read("@daily"), Schedule::read("0 0 * * *"));
    }

    #[test]
    fn a_budget_is_in_force_from_a_hit_on() {
        let office = Schedule::read("0 9 * * 1").expect("a schedule");
        let never = Schedule::read("0 0 30 Feb ?").expect("a schedule");
        // 2026-01-05 is a Monday. At the end itself the next hit is looked for after the last one: it is over.
        for (now, hours, want) in [
            ("2026-01-05T08:59:59Z", 8, false),
            ("2026-01-05T09:00:00Z", 8, true),
            ("2026-01-05T16:59:59Z", 8, true),
            ("2026-01-05T17:00:00Z", 8, false),
            ("2026-01-06T08:00:00Z", 24, true),
        ] {
            let now = now.parse().expect(now);
            assert_eq!(office.is_open(SignedDuration::from_hours(hours), now), want, "{now} {hours} h");
            assert!(never.is_open(SignedDuration::from_hours(hours), now));
        }
    }
}
