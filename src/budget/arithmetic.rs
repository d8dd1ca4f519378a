//! The arithmetic of a rule, in words.

use super::numbers::scaled;
use crate::snapshot::budget::Rule;

/// What must stay of so many expected pods: `80% of 1 = 0.8, rounded up to 1: 1 of 1 pods must stay`.
pub fn arithmetic(rule: &Rule, expected: i64, desired: i32) -> String {
    let must = format!("{desired} of {expected} pods must stay");
    match rule {
        Rule::None => "no rule is set".to_owned(),
        Rule::MaxUnavailable(v) if v.kind != 0 => {
            format!("{} can be unavailable, so {must}", value_in_words(rule, expected))
        }
        Rule::MinAvailable(_) | Rule::MaxUnavailable(_) => format!("{}: {must}", value_in_words(rule, expected)),
    }
}

/// What the value of a rule comes to: `80% of 4 = 3.2, rounded up to 4`, or the rule itself where it is an integer.
pub fn value_in_words(rule: &Rule, expected: i64) -> String {
    let Some((value, Some(Ok(percent)))) = rule.value().map(|v| (v, v.percent())) else { return rule.to_string() };
    let hundredths = i128::from(percent) * i128::from(expected);
    let rounded = scaled(value, expected).unwrap_or_default();
    let rounding = if hundredths % 100 == 0 { String::new() } else { format!(", rounded up to {rounded}") };
    format!("{value} of {expected} = {}{rounding}", decimal(hundredths))
}

/// A number of hundredths as a decimal: `80` is `0.8`.
fn decimal(hundredths: i128) -> String {
    let text = format!("{}.{:02}", hundredths / 100, (hundredths % 100).abs());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::scalar::IntOrString;

    #[test]
    fn arithmetic_reads_as_words() {
        let percent = IntOrString::string;
        for (rule, expected, desired, want) in [
            (Rule::MinAvailable(percent("80%")), 1, 1, "80% of 1 = 0.8, rounded up to 1: 1 of 1 pods must stay"),
            (Rule::MinAvailable(percent("50%")), 4, 2, "50% of 4 = 2: 2 of 4 pods must stay"),
            (
                Rule::MaxUnavailable(percent("1%")),
                2,
                1,
                "1% of 2 = 0.02, rounded up to 1 can be unavailable, so 1 of 2 pods must stay",
            ),
            (Rule::MinAvailable(IntOrString::int(2)), 3, 2, "minAvailable 2: 2 of 3 pods must stay"),
            (Rule::None, 3, 0, "no rule is set"),
        ] {
            assert_eq!(arithmetic(&rule, expected, desired), want);
        }
    }
}
