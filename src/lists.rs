//! Lists and counts in words.

/// `1 node`, `3 nodes`.
pub fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// Names a few and counts the rest: `web-1, web-2 and 7 more`. One more than `most` is named, too, as to count it would
/// take as much room.
pub fn some<S: AsRef<str>>(names: impl IntoIterator<Item = S>, most: usize) -> String {
    let names: Vec<S> = names.into_iter().collect();
    let join = |names: &[S]| names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.split_at_checked(most) {
        Some((first, rest)) if rest.len() > 1 => format!("{} and {} more", join(first), rest.len()),
        _ => join(&names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        assert_eq!((count(1, "node"), count(2, "node")), ("1 node".to_owned(), "2 nodes".to_owned()));
    }

    #[test]
    fn a_few_are_named_and_the_rest_is_counted() {
        for (names, want) in [
            (&[][..], ""),
            (&["a"][..], "a"),
            (&["a", "b", "c"][..], "a, b, c"),
            (&["a", "b", "c", "d"][..], "a, b and 2 more"),
        ] {
            assert_eq!(some(names, 2), want);
        }
    }
}
