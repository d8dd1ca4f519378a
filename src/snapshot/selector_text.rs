//! kubectl's `-l`: a label selector as text. Mirrors `labels.Parse` of `apimachinery/pkg/labels/selector.go`, whose
//! answers are in `tests/tables/selectors.jsonl`.

use super::intern::Str;
use super::requirement::{Operator, Requirement};

/// Reads `a=b,c!=d,e in (f,g),h,!i,j>4`.
///
/// # Errors
/// Says what cannot be read.
pub fn parse(text: &str) -> Result<Vec<Requirement>, String> {
    let tokens = tokens(text)?;
    let mut reader = Tokens { tokens: &tokens };
    let mut all = Vec::new();
    while !reader.tokens.is_empty() {
        all.push(reader.requirement()?);
        match reader.next() {
            None => break,
            // Behind a comma another requirement has to come.
            Some(Token::Sign(",")) if !reader.tokens.is_empty() => {}
            Some(Token::Sign(",")) => return Err("a comma has nothing behind it".to_owned()),
            Some(other) => return Err(format!("{:?} is not expected there", other.text())),
        }
    }
    Ok(all)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A key, a value, or `in` and `notin`.
    Word(&'a str),
    /// One of [`SIGNS`].
    Sign(&'static str),
}

impl<'a> Token<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Word(text) | Self::Sign(text) => text,
        }
    }
}

/// Longer ones first.
const SIGNS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_sign(c: char) -> bool {
    "=!(),><".contains(c)
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let length = match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            Some(sign) => {
                tokens.push(Token::Sign(sign));
                sign.len()
            }
            None => {
                let end = rest.find(|c| is_space(c) || is_sign(c)).unwrap_or(rest.len());
                let word = rest.get(..end).unwrap_or_default();
                if word.contains('\0') {
                    return Err("a NUL character is no part of a selector".to_owned());
                }
                tokens.push(Token::Word(word));
                end
            }
        };
        rest = rest.get(length..).unwrap_or_default().trim_start_matches(is_space);
    }
    Ok(tokens)
}

struct Tokens<'a> {
    tokens: &'a [Token<'a>],
}

impl<'a> Tokens<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.first().copied()
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn word(&mut self, what: &str) -> Result<&'a str, String> {
        match self.next() {
            Some(Token::Word(word)) => Ok(word),
            Some(Token::Sign(sign)) => Err(format!("{sign:?} is no {what}")),
            None => Err(format!("a {what} is missing at the end")),
        }
    }

    fn at_end_of_requirement(&self) -> bool {
        matches!(self.peek(), None | Some(Token::Sign(",")))
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let negated = self.peek() == Some(Token::Sign("!"));
        if negated {
            self.next();
        }
        let key = self.word("label key")?;
        if negated || self.at_end_of_requirement() {
            return make(key, if negated { Operator::DoesNotExist } else { Operator::Exists }, &[]);
        }
        match self.next() {
            Some(Token::Word("in")) => make(key, Operator::In, &self.list()?),
            Some(Token::Word("notin")) => make(key, Operator::NotIn, &self.list()?),
            Some(Token::Sign("=" | "==")) => make(key, Operator::In, &[self.value()?]),
            Some(Token::Sign("!=")) => make(key, Operator::NotIn, &[self.value()?]),
            Some(Token::Sign(">")) => make(key, Operator::Gt, &[self.value()?]),
            Some(Token::Sign("<")) => make(key, Operator::Lt, &[self.value()?]),
            other => {
                let found = other.map(Token::text).unwrap_or_default();
                Err(format!("{found:?} behind {key} is none of: =, ==, !=, in, notin, >, <"))
            }
        }
    }

    fn value(&mut self) -> Result<&'a str, String> {
        if self.at_end_of_requirement() { Ok("") } else { self.word("label value") }
    }

    /// `(a,b)`; where nothing stands before or behind a comma, that is the empty value.
    fn list(&mut self) -> Result<Vec<&'a str>, String> {
        if self.next() != Some(Token::Sign("(")) {
            return Err("behind in and notin values stand in brackets: (a,b)".to_owned());
        }
        let mut values = Vec::new();
        loop {
            match self.next() {
                Some(Token::Word(value)) => values.push(value),
                Some(Token::Sign(sign @ ("," | ")"))) => {
                    values.push("");
                    if sign == ")" {
                        return Ok(values);
                    }
                    continue;
                }
                _ => return Err("a bracket is not closed".to_owned()),
            }
            match self.next() {
                Some(Token::Sign(",")) => {}
                Some(Token::Sign(")")) => return Ok(values),
                _ => return Err("values in brackets are separated by commas".to_owned()),
            }
        }
    }
}

fn make(key: &str, operator: Operator, values: &[&str]) -> Result<Requirement, String> {
    let values: Vec<Str> = values.iter().map(|v| Str::from(*v)).collect();
    Requirement::new(key.into(), operator, values.into())
        .ok_or_else(|| format!("{key} or what it is compared with cannot be a label"))
}

#[cfg(test)]
mod tests {
    use crate::snapshot::intern::Map;
    use crate::snapshot::selector::LabelSelector;
    use crate::snapshot::selector::tests::label_sets;
    use proptest::prelude::*;

    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Row {
        Read(String, Vec<bool>),
        Refused(String, ()),
    }

    #[test]
    fn agrees_with_upstream() {
        let table = include_str!("../../tests/tables/selectors.jsonl");
        let mut wrong = Vec::new();
        for line in table.lines() {
            let (text, want) = match serde_json::from_str(line).unwrap() {
                Row::Read(text, chosen) => (text, Some(chosen)),
                Row::Refused(text, ()) => (text, None),
            };
            let ours = LabelSelector::parse(&text);
            let chosen = ours.as_ref().ok().map(|s| label_sets().iter().map(|l| s.matches(l)).collect::<Vec<_>>());
            if chosen != want {
                wrong.push(format!("{text:?}: {chosen:?} {ours:?}, upstream {want:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.lines().count(), wrong.join("\n"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "[a-z/ =!<>(),.é-]{0,30}") {
            if let Ok(selector) = LabelSelector::parse(&text) {
                selector.matches(&Map::default());
                // What is printed means the same when it is read.
                if !selector.is_everything() {
                    prop_assert_eq!(LabelSelector::parse(&selector.to_string()), Ok(selector));
                }
            }
        }
    }
}
