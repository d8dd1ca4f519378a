//! A page of a list taken apart into its items, each as bytes in its own encoding.

use prost::bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::{Encoding, unwrap_protobuf};
use super::list::Page;
use crate::snapshot::builder::Item;

/// A list in JSON, its items unread. Go writes `null` for no items.
#[derive(Deserialize)]
struct JsonList<'a> {
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

/// A list in protobuf, its items unread: every built-in list has them at this tag.
#[derive(Clone, PartialEq, prost::Message)]
struct ProtobufList {
    #[prost(bytes = "bytes", repeated, tag = "2")]
    items: Vec<Bytes>,
}

/// Hands on each item of a page.
///
/// # Errors
/// The page is no list.
pub fn each_item(page: &Page, mut item: impl FnMut(Item<'_>)) -> Result<(), String> {
    match page.encoding {
        Encoding::Json => {
            let list: JsonList<'_> = serde_json::from_slice(&page.body).map_err(|e| e.to_string())?;
            list.items.unwrap_or_default().into_iter().for_each(|raw| item(Item::Json(raw.get().as_bytes())));
        }
        Encoding::Protobuf => {
            let list: ProtobufList = prost::Message::decode(unwrap_protobuf(&page.body)?).map_err(|e| e.to_string())?;
            list.items.iter().for_each(|bytes| item(Item::Proto(bytes)));
        }
        Encoding::Other => return Err("it is neither JSON nor protobuf".into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(encoding: Encoding, body: &'static [u8]) -> Result<Vec<Vec<u8>>, String> {
        let mut found = Vec::new();
        each_item(&Page { encoding, body: Bytes::from_static(body) }, |item| {
            let (Item::Json(bytes) | Item::Proto(bytes)) = item;
            found.push(bytes.to_vec());
        })?;
        Ok(found)
    }

    #[test]
    fn items_of_both_encodings() {
        let json = br#"{"kind":"PodList","items":[{"a":1}, {"b": [2]}]}"#;
        assert_eq!(items(Encoding::Json, json).unwrap(), [&br#"{"a":1}"#[..], br#"{"b": [2]}"#]);
        for none in [&br#"{"items":null}"#[..], b"{}", br#"{"items":[]}"#] {
            assert_eq!(items(Encoding::Json, none), Ok(vec![]));
        }
        // Unknown{raw: PodList{metadata{}, items: ["xy", "z"]}}.
        let protobuf = b"k8s\0\x12\x09\x0a\x00\x12\x02xy\x12\x01z";
        assert_eq!(items(Encoding::Protobuf, protobuf).unwrap(), [&b"xy"[..], b"z"]);
    }

    #[test]
    fn what_is_no_list() {
        for (encoding, body) in [
            (Encoding::Json, &b"\"list\""[..]),
            (Encoding::Json, br#"{"items":[{"a":1}"#),
            (Encoding::Protobuf, b"{}"),
            (Encoding::Protobuf, b"k8s\0\x12\x09\x0a"),
            (Encoding::Other, b"<html>"),
        ] {
            assert!(items(encoding, body).is_err(), "{encoding:?}");
        }
    }
}
