//! `meta.TypeMeta`: what an object says it is.

use super::item::ItemError;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// What an object in JSON says it is; empty where it does not.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TypeMeta {
    /// `v1`, `apps/v1` …
    pub api_version: String,
    /// `Pod`, `Deployment` …
    pub kind: String,
}

impl TypeMeta {
    /// Reads `apiVersion` and `kind` and stops there: kubectl and the API write them first.
    ///
    /// # Errors
    /// The bytes are not a JSON object.
    pub fn read(bytes: &[u8]) -> Result<Self, ItemError> {
        let mut head = Self::default();
        let result = serde_json::Deserializer::from_slice(bytes).deserialize_map(&mut head);
        if head.is_complete() { Ok(head) } else { result.map(|()| head).map_err(Into::into) }
    }

    fn is_complete(&self) -> bool {
        !self.api_version.is_empty() && !self.kind.is_empty()
    }
}

impl<'de> Visitor<'de> for &mut TypeMeta {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match &*key {
                "apiVersion" => self.api_version = map.next_value()?,
                "kind" => self.kind = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            if self.is_complete() {
                break; // The rest is not looked at; the parser's complaint about it is ignored.
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_object_says_it_is() {
        for (json, want) in [
            (r#"{"apiVersion":"v1","kind":"Pod","spec":{"broken"#, Some(("v1", "Pod"))),
            (r#"{"spec":{"kind":"x"},"kind":"Pod","apiVersion":"v1"}"#, Some(("v1", "Pod"))),
            (r#"{"kind":"Pod"}"#, Some(("", "Pod"))),
            ("{}", Some(("", ""))),
            (r#"{"kind":"Pod""#, None),
            (r#"{"kind":7}"#, None),
            ("[]", None),
        ] {
            let read = TypeMeta::read(json.as_bytes()).ok();
            assert_eq!(read.as_ref().map(|t| (&*t.api_version, &*t.kind)), want, "{json}");
        }
    }
}
