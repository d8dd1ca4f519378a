//! Lists in words.

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
