//! What a user wants not to be counted as a problem: it stays in the answer, with its verdict, and is counted as ignored.

use crate::finding::{Code, Finding};
use crate::snapshot::meta::Meta;

/// The annotation on an object: codes, separated by commas, and a reason behind a space.
pub const ANNOTATION: &str = "kubectl-pdb/ignore";

/// `CODE[:NS/NAME]` of `--ignore`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    code: Code,
    object: Option<String>,
}

impl Ignored {
    /// Reads a value of the flag.
    ///
    /// # Errors
    /// A word that is no code.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (word, object) = match text.split_once(':') {
            Some((word, object)) => (word, Some(object.to_owned())),
            None => (text, None),
        };
        let code = Code::parse(word).ok_or_else(|| format!("{word:?} is not a code: see kubectl pdb explain"))?;
        Ok(Self { code, object })
    }

    fn covers(&self, code: Code, path: &str) -> bool {
        self.code == code && self.object.as_ref().is_none_or(|object| object == path)
    }
}

/// Why an item whose leading cause this is does not count as a problem, if it does not: the annotation's reason comes first.
pub fn reason(leading: Option<&Finding>, meta: &Meta, flags: &[Ignored]) -> Option<String> {
    let code = leading?.code;
    let annotated = meta.annotations.get(ANNOTATION).and_then(|value| {
        let (codes, reason) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
        let listed = codes.split(',').any(|word| word.trim() == code.as_str());
        listed.then(|| if reason.is_empty() { format!("annotation {ANNOTATION}") } else { reason.trim().to_owned() })
    });
    annotated.or_else(|| flags.iter().any(|f| f.covers(code, &meta.path())).then(|| "--ignore".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, pod};

    #[test]
    fn what_is_ignored_is_said_with_a_reason() {
        let of = |annotation: &str, flags: &[&str], code: Code| {
            let snapshot = cluster().add(pod("shop/web").annotation(ANNOTATION, annotation)).snapshot();
            let flags: Vec<Ignored> = flags.iter().map(|f| Ignored::parse(f).unwrap()).collect();
            reason(Some(&Finding::new(code, "words")), &snapshot.pods[0].meta, &flags)
        };
        for (annotation, flags, want) in [
            ("", &[][..], None),
            ("zero-by-rule", &[], Some("annotation kubectl-pdb/ignore")),
            ("no-rule,zero-by-rule a singleton by design", &[], Some("a singleton by design")),
            ("no-rule", &[], None),
            ("", &["zero-by-rule"], Some("--ignore")),
            ("", &["zero-by-rule:shop/web"], Some("--ignore")),
            ("", &["zero-by-rule:shop/other"], None),
            ("", &["no-rule"], None),
        ] {
            assert_eq!(of(annotation, flags, Code::ZeroByRule).as_deref(), want, "{annotation} {flags:?}");
        }
        assert!(Ignored::parse("nonsense").is_err());
    }
}
