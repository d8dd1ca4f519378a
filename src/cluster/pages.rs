//! A page of a list taken apart into its items, each as bytes in its own encoding.

use prost::bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::list::Page;
use super::status::{Encoding, Envelope};
use crate::wire::item::Item;

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
            let list: ProtobufList =
                prost::Message::decode(Envelope::open(&page.body)?.raw).map_err(|e| e.to_string())?;
            list.items.iter().for_each(|bytes| item(Item::Proto(bytes)));
        }
        Encoding::Other => return Err("it is neither JSON nor protobuf".into()),
    }
    Ok(())
}

/// A page with these items, as a server writes it.
#[cfg(test)]
pub(crate) fn page_of(kind: &str, items: &[Item<'_>]) -> Vec<u8> {
    let (mut json, mut protobuf) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Item::Json(bytes) => json.push(String::from_utf8_lossy(bytes)),
            Item::Proto(bytes) => protobuf.push(Bytes::copy_from_slice(bytes)),
        }
    }
    if protobuf.is_empty() {
        let items = json.join(",");
        return format!(r#"{{"kind":"{kind}List","metadata":{{"continue":"t"}},"items":[{items}]}}"#).into_bytes();
    }
    let raw = prost::Message::encode_to_vec(&ProtobufList { items: protobuf });
    [&b"k8s\0"[..], &super::status::wrap(raw)].concat()
}

#[cfg(test)]
mod tests {
    use super::super::list_meta::ListHead;
    use super::*;
    use crate::snapshot::builder::Builder;
    use crate::snapshot::{Kind, Source};
    use crate::wire::oracle::Sample;
    use crate::wire::pod;
    use proptest::prelude::*;
    use prost::Message;

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

    /// A page of pods in both encodings, as a server writes it.
    fn page(encoding: Encoding) -> Vec<u8> {
        let pod = pod::Pod::sample();
        let (json, protobuf) = (serde_json::to_vec(&pod).unwrap(), pod.encode_to_vec());
        let item = if encoding == Encoding::Json { Item::Json(&json) } else { Item::Proto(&protobuf) };
        page_of("Pod", &[item, item])
    }

    /// Reads a page to the end: its head, its items, what is kept of them.
    fn read(encoding: Encoding, body: Vec<u8>) -> (usize, usize) {
        let page = Page { encoding, body: body.into() };
        let _ = ListHead::of(encoding, &page.body);
        let (mut items, mut bytes, mut builder) = (0, 0, Builder::default());
        let _ = each_item(&page, |item| {
            let (Item::Json(content) | Item::Proto(content)) = item;
            items += 1;
            bytes += content.len();
            let _ = builder.add(Kind::Pod, item);
        });
        builder.finish(Source::default(), None);
        (items, bytes)
    }

    #[test]
    fn whole_pages_are_read() {
        for encoding in [Encoding::Json, Encoding::Protobuf] {
            assert_eq!(read(encoding, page(encoding)).0, 2, "{encoding:?}");
        }
    }

    proptest! {
        // A page that was cut, or of which bytes have changed, is an error at worst: no panic, and nothing is taken
        // for longer than the page itself, whatever lengths it claims.
        #[test]
        fn broken_pages_are_errors(
            is_json: bool,
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..8),
            cut: Option<proptest::sample::Index>,
        ) {
            let encoding = if is_json { Encoding::Json } else { Encoding::Protobuf };
            let mut body = page(encoding);
            for (at, byte) in changes {
                let at = at.index(body.len());
                body[at] = byte;
            }
            if let Some(cut) = cut {
                body.truncate(cut.index(body.len()));
            }
            let length = body.len();
            prop_assert!(read(encoding, body).1 <= length);
        }

        #[test]
        fn any_bytes_are_no_harm(is_json: bool, mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let encoding = if is_json { Encoding::Json } else { Encoding::Protobuf };
            let length = bytes.len() + 4;
            prop_assert!(read(encoding, bytes.clone()).1 <= length);
            bytes.splice(0..0, *b"k8s\0");
            prop_assert!(read(encoding, bytes).1 <= length);
        }
    }
}
