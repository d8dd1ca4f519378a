//! What a user wants not to be told, or not to be counted as a problem: codes, of one object or of all, from flags, a file
//! and an annotation on the object.

use super::Code;

/// The annotation on an object: codes, separated by commas, or `*` for all; then, behind a space, a reason:
/// `no-rule,zero-by-rule a singleton by design`.
pub const ANNOTATION: &str = "kubectl-pdb/ignore";

/// `CODE[:NAMESPACE/NAME]`; an object outside namespaces is named by its name alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignore {
    code: Code,
    /// `namespace/name` of the one object; `None` for all.
    object: Option<String>,
}

impl Ignore {
    /// Reads a value of the flag, or a line of a file.
    ///
    /// # Errors
    /// There is no such code, or the object is neither `NAMESPACE/NAME` nor a name.
    pub fn parse(word: &str) -> Result<Self, String> {
        let (code, object) = match word.split_once(':') {
            Some((code, object)) => (code, Some(object)),
            None => (word, None),
        };
        let code =
            Code::parse(code).ok_or_else(|| format!("{code:?} is not a code; kubectl pdb explain lists them"))?;
        if let Some(path) = object
            && (path.split('/').any(str::is_empty) || path.matches('/').count() > 1)
        {
            return Err(format!("{path:?} is not NAMESPACE/NAME"));
        }
        Ok(Self { code, object: object.map(str::to_owned) })
    }

    fn covers(&self, code: Code, path: &str) -> bool {
        self.code == code && self.object.as_ref().is_none_or(|object| object == path)
    }
}

/// All that is not to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ignores(pub Vec<Ignore>);

impl Ignores {
    /// Reads a file: one `CODE[:NAMESPACE/NAME]` a line; empty lines and what follows `#` are left out.
    ///
    /// # Errors
    /// As [`Ignore::parse`]; the message names the line.
    pub fn parse(file: &str) -> Result<Vec<Ignore>, String> {
        let words = file.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).zip(1..);
        words
            .filter(|(word, _)| !word.is_empty())
            .map(|(word, line)| Ignore::parse(word).map_err(|e| format!("line {line}: {e}")))
            .collect()
    }

    /// Why a finding of this code about the object `path` (`namespace/name`) is ignored, if it is: the reason that the
    /// object's annotation gives comes first.
    pub fn reason(&self, code: Code, path: &str, annotation: Option<&str>) -> Option<String> {
        let annotated = annotation.and_then(|value| {
            let (codes, reason) = annotated(value);
            let listed = codes.iter().any(|word| *word == "*" || *word == code.as_str());
            listed.then(|| if reason.is_empty() { format!("annotation {ANNOTATION}") } else { reason.to_owned() })
        });
        annotated.or_else(|| self.0.iter().any(|i| i.covers(code, path)).then(|| "--ignore".to_owned()))
    }
}

/// The codes of an annotation, and the reason behind them. A space behind a comma does not end the codes.
fn annotated(value: &str) -> (Vec<&str>, &str) {
    let mut codes = Vec::new();
    let mut rest = value.trim();
    loop {
        let end = rest.find(|c: char| c == ',' || c.is_whitespace()).unwrap_or(rest.len());
        let (code, behind) = rest.split_at(end);
        codes.push(code);
        rest = behind.trim_start();
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => return (codes, rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_said_with_a_reason() {
        let file = Ignores(Ignores::parse("# ours\nquorum\n\nno-rule:shop/web # for now\ngated:n1\n").unwrap());
        let (annotated, listed) = (Some("annotation kubectl-pdb/ignore"), Some("--ignore"));
        for (code, path, annotation, want) in [
            (Code::Quorum, "shop/db", None, listed),
            (Code::NoRule, "shop/web", None, listed),
            (Code::NoRule, "shop/db", None, None),
            (Code::Gated, "n1", None, listed),
            (Code::Gated, "shop/n1", None, None),
            (Code::Overlap, "shop/web", None, None),
            (Code::Overlap, "shop/web", Some(""), None),
            (Code::Overlap, "shop/web", Some("no-pods"), None),
            (Code::Overlap, "shop/web", Some("overlap"), annotated),
            (Code::Overlap, "shop/web", Some("no-pods, overlap"), annotated),
            (Code::Overlap, "shop/web", Some(" no-pods ,overlap "), annotated),
            (Code::Overlap, "shop/web", Some("*"), annotated),
            (Code::Overlap, "shop/web", Some("* it is a test"), Some("it is a test")),
            (Code::Overlap, "shop/web", Some("no-pods,overlap a singleton, by design"), Some("a singleton, by design")),
            (Code::Overlap, "shop/web", Some("no-pods, overlap a singleton"), Some("a singleton")),
            (Code::Overlap, "shop/web", Some("no-pods has an overlap"), None),
            (Code::Quorum, "shop/web", Some("quorum three of five"), Some("three of five")),
        ] {
            assert_eq!(file.reason(code, path, annotation).as_deref(), want, "{code} {path} {annotation:?}");
        }
    }

    #[test]
    fn what_is_no_code_is_refused() {
        for (word, want) in [
            ("nothing", "is not a code"),
            ("quorum:", "is not NAMESPACE/NAME"),
            ("quorum:shop/", "is not NAMESPACE/NAME"),
            ("quorum:a/b/c", "is not NAMESPACE/NAME"),
        ] {
            assert!(Ignore::parse(word).unwrap_err().contains(want), "{word}");
        }
        assert!(Ignores::parse("quorum\nx").unwrap_err().starts_with("line 2:"));
    }
}
