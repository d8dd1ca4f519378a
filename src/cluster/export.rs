//! A cluster as a file: its objects cut down to what is read of them, behind a head that says when, from where, and what
//! could not be read.

use serde_json::Value;

use super::list::{Event, Outcome};
use super::read::{CustomOwner, Wanted, wanted};
use super::{Cluster, pages};
use crate::error::Result;
use crate::snapshot::Kind;
use crate::snapshot::builder::{Builder, Header, HeaderRead, Item};
use crate::snapshot::operated::Operated;
use crate::snapshot::slim::{Slimmer, custom_owner};

/// Definitions are written only where an owner's count needs one, and leases tell nothing that the head does not.
const LEFT_OUT: &[Kind] = &[Kind::CustomResourceDefinition, Kind::Lease];
/// Kinds whose objects may own pods, or are pods.
const OWNERS: &[Kind] = &[
    Kind::Pod,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::ReplicationController,
    Kind::Job,
    Kind::CronJob,
];

/// What a snapshot file holds.
pub struct Export {
    /// The head.
    pub header: Header,
    /// Objects in JSON, sorted by kind and then as the server sorts them.
    pub items: Vec<Box<[u8]>>,
}

impl Cluster {
    /// Reads everything that any command needs, of one namespace or of all.
    ///
    /// # Errors
    /// No connection, or credentials that are not accepted.
    pub fn export(&self, namespace: Option<&str>, slimmer: &mut Slimmer) -> Result<Export> {
        let server = self.greet()?;
        let kinds: Vec<_> = Kind::ALL.iter().copied().filter(|kind| !LEFT_OUT.contains(kind)).collect();
        let lists = wanted(&kinds, namespace, &server.groups);
        let mut contents: Vec<_> = lists.iter().map(|_| Content::default()).collect();
        let mut owners = Builder::default();
        let outcomes = self.read_lists(&lists, |index, wanted, event| {
            let Some(content) = contents.get_mut(index) else { return };
            match (wanted, event) {
                (Wanted::Kind(kind), Event::Restart) => {
                    content.items.clear();
                    owners.forget(*kind);
                }
                (Wanted::Operated(_) | Wanted::PodsOnNode, Event::Restart) => content.items.clear(),
                (Wanted::Kind(kind), Event::Page(page)) => {
                    let split = pages::each_item(&page, |item| content.add(*kind, item, slimmer, &mut owners));
                    content.fault = split.err().or(content.fault.take());
                }
                (Wanted::Operated(operated), Event::Page(page)) => {
                    let _ = pages::each_item(&page, |item| content.add_operated(operated, item));
                }
                (Wanted::PodsOnNode, Event::Page(_)) => {}
            }
        })?;
        let mut read = Vec::new();
        let mut items = Vec::new();
        for ((wanted, outcome), content) in outcomes.into_iter().zip(contents) {
            if let Wanted::Kind(kind) = wanted {
                if let Some(fault) = &content.fault {
                    log::warn!("{}: {fault}", kind.resource());
                }
                read.push(HeaderRead {
                    resource: kind.resource(),
                    namespace: namespace.filter(|_| kind.info().namespaced).map(str::to_owned),
                    outcome: if content.fault.is_some() { "failed" } else { word(&outcome) }.to_owned(),
                });
            }
            items.extend(content.items);
        }
        // What definitions there are to read is written below.
        let definitions = Kind::CustomResourceDefinition.resource();
        read.push(HeaderRead { resource: definitions, namespace: None, outcome: "read".to_owned() });
        for CustomOwner { namespace, owner, plural, scale } in self.scales(owners.unknown_owners())? {
            items.extend(custom_owner(&namespace, &owner, &plural, scale).iter().map(bytes));
        }
        let context = self.context().map(str::to_owned);
        Ok(Export {
            header: Header { now: Some(self.client.now()), server_version: server.version, context, read },
            items,
        })
    }
}

/// What a list holds, while it is read.
#[derive(Default)]
struct Content {
    items: Vec<Box<[u8]>>,
    fault: Option<String>,
}

impl Content {
    fn add(&mut self, kind: Kind, item: Item<'_>, slimmer: &mut Slimmer, owners: &mut Builder) {
        match slimmer.slim(kind, item) {
            Ok(object) => self.items.push(bytes(&object)),
            Err(e) => self.fault = Some(e.to_string()),
        }
        if OWNERS.contains(&kind) {
            // What cannot be read of it was noted above.
            let _ = owners.add(kind, item);
        }
    }

    fn add_operated(&mut self, operated: &Operated, item: Item<'_>) {
        if let Item::Json(json) = item
            && let Ok(object) = serde_json::from_slice::<Value>(json)
        {
            self.items.push(bytes(&operated.slim(&object)));
        }
    }
}

fn bytes(object: &Value) -> Box<[u8]> {
    object.to_string().into_bytes().into()
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Read { .. } => "read",
        Outcome::Forbidden { .. } => "forbidden",
        Outcome::Absent => "absent",
        Outcome::Failed { .. } => "failed",
    }
}
