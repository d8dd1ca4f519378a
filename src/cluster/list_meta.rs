//! The head of a list: whether there is more of it. Read without its items, which are for somebody else.

use prost::bytes::Bytes;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};

use super::status::{Encoding, Envelope};

/// `metav1.ListMeta`: what pages are turned by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListHead {
    /// What the list says it is: `PodList`.
    pub kind: String,
    /// Where the next page begins; empty on the last one.
    pub token: String,
    /// How many objects follow, where the server says so.
    pub remaining: u64,
}

#[derive(Clone, PartialEq, Deserialize, prost::Message)]
#[serde(rename_all = "camelCase", default)]
struct ListMeta {
    #[serde(rename = "continue")]
    #[prost(string, tag = "3")]
    token: String,
    #[prost(int64, tag = "4")]
    remaining_item_count: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ProtobufList {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ListMeta>,
}

impl ListHead {
    /// Whether no page follows.
    pub fn is_last(&self) -> bool {
        self.token.is_empty()
    }

    /// Reads the head of a list, and of its items as little as possible.
    ///
    /// # Errors
    /// The body is no list.
    pub fn of(encoding: Encoding, body: &Bytes) -> Result<Self, String> {
        let (kind, metadata) = match encoding {
            Encoding::Json => json_head(body)?,
            Encoding::Protobuf => {
                let envelope = Envelope::open(body)?;
                let kind = envelope.kind().to_owned();
                let list: ProtobufList = prost::Message::decode(envelope.raw).map_err(|e| e.to_string())?;
                (kind, list.metadata.unwrap_or_default())
            }
            Encoding::Other => return Err("it is neither JSON nor protobuf; is this an API server?".into()),
        };
        Ok(Self { kind, token: metadata.token, remaining: u64::try_from(metadata.remaining_item_count).unwrap_or(0) })
    }
}

/// The names of the objects of a page in JSON.
pub fn names(body: &[u8]) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct List {
        items: Vec<Object>,
    }
    #[derive(Deserialize)]
    struct Object {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        name: String,
    }
    let list: List = serde_json::from_slice(body).ok()?;
    Some(list.items.into_iter().map(|object| object.metadata.name).collect())
}

/// The `kind` and the `metadata` of a list in JSON. The API server writes it before the items, and then they are not looked at.
fn json_head(body: &[u8]) -> Result<(String, ListMeta), String> {
    struct Head<'a> {
        kind: &'a mut String,
        metadata: &'a mut Option<ListMeta>,
    }
    impl<'de> DeserializeSeed<'de> for Head<'_> {
        type Value = ();
        fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_map(self)
        }
    }
    impl<'de> Visitor<'de> for Head<'_> {
        type Value = ();
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                match key.as_ref() {
                    "kind" => *self.kind = map.next_value()?,
                    "metadata" => *self.metadata = Some(map.next_value()?),
                    // An error is the one way out before the end.
                    "items" if self.metadata.is_some() && !self.kind.is_empty() => {
                        return Err(A::Error::custom("seen"));
                    }
                    _ => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            Ok(())
        }
    }
    let (mut kind, mut metadata) = (String::new(), None);
    let head = Head { kind: &mut kind, metadata: &mut metadata };
    let seen = head.deserialize(&mut serde_json::Deserializer::from_slice(body));
    match (seen, metadata) {
        (_, Some(metadata)) if kind.ends_with("List") => Ok((kind, metadata)),
        (Err(e), _) => Err(e.to_string()),
        (Ok(()), _) => Err(format!("its kind is {kind:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_list() {
        let head =
            |kind: &str, token: &str, remaining| Some(ListHead { kind: kind.into(), token: token.into(), remaining });
        let rows = [
            (
                r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"t","remainingItemCount":30},"items":[{"broken"#,
                head("PodList", "t", 30),
            ),
            (r#"{"kind":"PodList","metadata":{},"items":[]}"#, head("PodList", "", 0)),
            (
                r#"{"items":[{"metadata":{"continue":"no"}}],"metadata":{"continue":"c"},"kind":"XList"}"#,
                head("XList", "c", 0),
            ),
            (r#"{"kind":"Pod","metadata":{}}"#, None),
            (r#"{"kind":"PodList","items":[]}"#, None),
            (r#"{"kind":"PodList""#, None),
            ("<html>", None),
            ("[]", None),
            ("", None),
        ];
        for (body, want) in rows {
            assert_eq!(ListHead::of(Encoding::Json, &Bytes::from_static(body.as_bytes())).ok(), want, "{body}");
        }
    }

    #[test]
    fn the_head_of_a_list_in_protobuf() {
        // As Go writes it: Unknown{typeMeta, raw: PodList{metadata{resourceVersion "7", continue "tok", remaining 30}, items…}}.
        let raw = b"\x0a\x0c\x0a\x00\x12\x017\x1a\x03tok\x20\x1e\x12\x03\x0a\x01x";
        let mut body = b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList\x12".to_vec();
        body.push(raw.len() as u8);
        body.extend_from_slice(raw);
        let head = ListHead::of(Encoding::Protobuf, &Bytes::from(body.clone())).unwrap();
        assert_eq!(head, ListHead { kind: "PodList".into(), token: "tok".into(), remaining: 30 });
        body.truncate(body.len() - 3);
        assert!(ListHead::of(Encoding::Protobuf, &Bytes::from(body)).is_err());
        assert!(ListHead::of(Encoding::Other, &Bytes::new()).is_err());
    }
}
