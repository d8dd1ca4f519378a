//! What is not to be told: codes, of one object or of all, from flags, a file and an annotation on the object.

use crate::finding::{Code, Ref};
use serde_json::Value;

/// The annotation that names codes which are not to be told of its object: `zero-by-rule,quorum`, or `*` for all.
pub const ANNOTATION: &str = "kubectl-pdb/ignore";

/// A code that is not to be told, of one object or of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignore {
    /// The code.
    code: Code,
    /// Namespace and name of the one object; `None` for all.
    object: Option<(String, String)>,
}

impl Ignore {
    /// Reads `CODE` or `CODE:NAMESPACE/NAME`.
    ///
    /// # Errors
    /// There is no such code, or the object is no `NAMESPACE/NAME`.
    pub fn parse(word: &str) -> Result<Self, String> {
        let (code, object) = match word.split_once(':') {
            Some((code, object)) => (code, Some(object)),
            None => (word, None),
        };
        let code =
            Code::parse(code).ok_or_else(|| format!("{code:?} is not a code; kubectl pdb explain lists them"))?;
        let object = object.map(|path| {
            let (namespace, name) = path.split_once('/').ok_or_else(|| format!("{path:?} is not NAMESPACE/NAME"))?;
            Ok::<_, String>((namespace.to_owned(), name.to_owned()))
        });
        Ok(Self { code, object: object.transpose()? })
    }

    fn holds(&self, code: Code, object: &Ref) -> bool {
        let is_it = |(namespace, name): &(String, String)| {
            *namespace == object.namespace.as_deref().unwrap_or_default() && *name == object.name
        };
        self.code == code && self.object.as_ref().is_none_or(is_it)
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

    /// Whether a finding of this code about this object is not to be told.
    pub fn hide(&self, code: Code, about: &Ref, object: Option<&Value>) -> bool {
        let listed = object.map(annotation).unwrap_or_default();
        let by_annotation = listed.split(',').map(str::trim).any(|word| word == "*" || word == code.as_str());
        by_annotation || self.0.iter().any(|ignore| ignore.holds(code, about))
    }
}

/// The codes that an object's own annotation names.
fn annotation(object: &Value) -> &str {
    let value = object.pointer("/metadata/annotations").and_then(|all| all.get(ANNOTATION));
    value.and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn codes_are_ignored_of_one_object_or_of_all() {
        let ignores = Ignores(Ignores::parse("# ours\nquorum\n\nzero-by-rule:shop/web # for now\n").unwrap());
        let web = Ref::new("policy/v1", "PodDisruptionBudget", "shop", "web");
        let db = Ref::new("policy/v1", "PodDisruptionBudget", "shop", "db");
        let marked = |codes: &str| json!({"metadata": {"annotations": {ANNOTATION: codes}}});
        for (code, object, annotated, want) in [
            (Code::Quorum, &db, None, true),
            (Code::ZeroByRule, &web, None, true),
            (Code::ZeroByRule, &db, None, false),
            (Code::Overlap, &web, None, false),
            (Code::Overlap, &web, Some("no-pods, overlap"), true),
            (Code::Overlap, &web, Some("*"), true),
            (Code::Overlap, &web, Some("no-pods"), false),
        ] {
            let object_json = annotated.map(marked);
            assert_eq!(ignores.hide(code, object, object_json.as_ref()), want, "{code} {object} {annotated:?}");
        }
    }

    #[test]
    fn what_is_no_code_is_refused() {
        for (word, want) in [("nothing", "is not a code"), ("quorum:web", "is not NAMESPACE/NAME")] {
            assert!(Ignore::parse(word).unwrap_err().contains(want), "{word}");
        }
        assert!(Ignores::parse("quorum\nx").unwrap_err().starts_with("line 2:"));
    }
}
