//! Objects and Lists of objects: what a List says of itself counts for its items. Lists may stand within Lists, items of
//! a typed list (`PodList`) need not say what they are, and a list of which more pages follow is not all there is.

use super::split::{Cut, Piece, Position, SplitError, Splitter};
use crate::snapshot::Kind;
use crate::snapshot::builder::Builder;
use crate::snapshot::coverage::ReadOutcome;
use crate::snapshot::kinds::{Recognised, recognise};
use crate::wire::item::ItemError;
use crate::wire::type_meta::TypeMeta;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;
use std::io::Read;

/// Lists within Lists, up to here: each level is looked through once more.
const DEEPEST: u32 = 8;

/// Why an input is of no use.
#[derive(Debug)]
pub enum ReadError {
    /// It cannot be cut into objects.
    Split(SplitError),
    /// One of its objects cannot be used: where it begins, its bytes, what is wrong.
    Item(Position, Vec<u8>, ItemError),
}

/// What a List says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListHead {
    api_version: Option<String>,
    kind: Option<String>,
    metadata: Option<ListMeta>,
    #[serde(rename = "items")]
    _items: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListMeta {
    #[serde(rename = "continue")]
    token: Option<String>,
    remaining_item_count: Option<i64>,
}

impl ListHead {
    /// What each item is, where the list is of one kind.
    fn of_items(&self) -> Option<TypeMeta> {
        let kind = self.kind.as_deref()?.strip_suffix("List").filter(|kind| !kind.is_empty())?;
        Some(TypeMeta { api_version: self.api_version.clone()?, kind: kind.to_owned() })
    }

    /// Why this is not the whole list, if it is not.
    fn more(&self) -> Option<String> {
        let meta = self.metadata.as_ref().filter(|meta| meta.token.as_ref().is_some_and(|token| !token.is_empty()))?;
        let more = meta.remaining_item_count.map_or("more".to_owned(), |count| format!("{count} more"));
        Some(format!("the input has one page of a list (metadata.continue is set): {more} of them follow"))
    }
}

/// A List that is being read.
#[derive(Default)]
struct Open {
    head: ListHead,
    /// The kinds of its items.
    kinds: BTreeSet<Kind>,
    /// Items that do not say what they are, before the List does.
    untyped: Vec<(Position, Vec<u8>)>,
}

/// Reads JSON: objects and Lists, one behind the other.
///
/// # Errors
/// It is not JSON, not whole, or holds something that is no Kubernetes object.
pub fn read(input: impl Read, builder: &mut Builder) -> Result<(), ReadError> {
    read_at(input, 0, builder)
}

fn read_at(input: impl Read, depth: u32, builder: &mut Builder) -> Result<(), ReadError> {
    let mut splitter = Splitter::new(input);
    let mut list = Open::default();
    while let Some(cut) = splitter.next().map_err(ReadError::Split)? {
        match cut {
            Cut::Begins(head) => list = Open { head: head_of(&head).unwrap_or_default(), ..Open::default() },
            Cut::Object(piece) => {
                let bad = |e| ReadError::Item(piece.start, piece.bytes.to_vec(), e);
                let head = TypeMeta::read(piece.bytes).map_err(bad)?;
                if head.kind.ends_with("List") && is_list(piece.bytes) {
                    nested(piece, depth, builder)?;
                } else if let Some(of) = listed(&head) {
                    without_items(piece, of, builder).map_err(bad)?;
                } else if !head.kind.is_empty() {
                    list.kinds.extend(builder.add_json_as(&head, piece.bytes).map_err(bad)?);
                } else if let Some(head) = list.head.of_items() {
                    list.kinds.extend(builder.add_json_as(&head, piece.bytes).map_err(bad)?);
                } else {
                    list.untyped.push((piece.start, piece.bytes.to_vec()));
                }
            }
            Cut::Ends(head) => std::mem::take(&mut list).end(&head, builder)?,
        }
    }
    // An object by itself belongs to no list.
    list.end(b"{}", builder)
}

fn head_of(bytes: &[u8]) -> Result<ListHead, ItemError> {
    serde_json::from_slice(bytes).map_err(ItemError::from)
}

/// What a list of this name is a list of: `None` for what is no list, or is one of a kind that is not read.
fn listed(head: &TypeMeta) -> Option<Listed> {
    let kind = head.kind.strip_suffix("List")?;
    match recognise(&head.api_version, kind) {
        _ if kind.is_empty() => Some(Listed::Anything),
        Recognised::Known(kind) | Recognised::Custom(kind) => Some(Listed::Kind(kind)),
        _ => None,
    }
}

enum Listed {
    Anything,
    Kind(Kind),
}

/// A list without an array of items: Go writes `null` where there are none.
fn without_items(piece: Piece<'_>, of: Listed, builder: &mut Builder) -> Result<(), ItemError> {
    match (serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(piece.bytes)?.get("items"), of) {
        (Some(serde_json::Value::Null), Listed::Kind(kind)) => builder.note(kind, ReadOutcome::Read),
        (Some(serde_json::Value::Null), Listed::Anything) => {}
        _ => return Err("is a list that has no items".to_owned().into()),
    }
    Ok(())
}

/// Whether an object has items at its top.
fn is_list(bytes: &[u8]) -> bool {
    matches!(Splitter::new(bytes).next(), Ok(Some(Cut::Begins(_))))
}

fn nested(piece: Piece<'_>, depth: u32, builder: &mut Builder) -> Result<(), ReadError> {
    if depth == DEEPEST {
        let why = ItemError::from("Lists stand within Lists too deeply".to_owned());
        return Err(ReadError::Item(piece.start, Vec::new(), why));
    }
    read_at(piece.bytes, depth + 1, builder).map_err(|e| match e {
        ReadError::Item(at, bytes, why) => ReadError::Item(piece.start.plus(at), bytes, why),
        split @ ReadError::Split(_) => split,
    })
}

impl Open {
    /// What the whole head of the List means for what was in it.
    fn end(mut self, head: &[u8], builder: &mut Builder) -> Result<(), ReadError> {
        let start = self.untyped.first().map_or(Position { line: 1, column: 1 }, |(start, _)| *start);
        let head = head_of(head).map_err(|e| ReadError::Item(start, head.to_vec(), e))?;
        let of_items = head.of_items();
        for (start, bytes) in self.untyped {
            let added = builder.add_json_as(of_items.as_ref().unwrap_or(&TypeMeta::default()), &bytes);
            self.kinds.extend(added.map_err(|e| ReadError::Item(start, bytes, e))?);
        }
        if let Some(Recognised::Known(kind) | Recognised::Custom(kind)) =
            of_items.map(|of| recognise(&of.api_version, &of.kind))
        {
            // A list of a kind tells of it, also where it is empty.
            builder.note(kind, ReadOutcome::Read);
            self.kinds.insert(kind);
        }
        if let Some(words) = head.more() {
            self.kinds.iter().for_each(|kind| builder.note(*kind, ReadOutcome::Partial(words.clone())));
        }
        Ok(())
    }
}
