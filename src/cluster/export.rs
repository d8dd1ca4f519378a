//! A cluster as a file: its objects cut down to what is read of them, behind a head that says when, from where, and what
//! could not be read.

use serde_json::Value;

use super::list::{Event, Outcome};
use super::read::{CustomOwner, list_of};
use super::{Cluster, pages};
use crate::error::Result;
use crate::snapshot::Kind;
use crate::snapshot::builder::{Builder, Header, HeaderRead, Item};
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
        let server_version = self.version()?;
        let kinds: Vec<_> = Kind::ALL.iter().copied().filter(|kind| !LEFT_OUT.contains(kind)).collect();
        let requests: Vec<_> = kinds.iter().map(|kind| list_of(*kind, namespace)).collect();
        let mut lists: Vec<List> =
            kinds.iter().map(|kind| List { kind: *kind, items: Vec::new(), fault: None }).collect();
        let mut owners = Builder::default();
        let outcomes = self.read_all(&requests, |index, event| {
            let Some(list) = lists.get_mut(index) else { return };
            match event {
                Event::Restart => {
                    list.items.clear();
                    owners.forget(list.kind);
                }
                Event::Page(page) => {
                    let split = pages::each_item(&page, |item| list.add(item, slimmer, &mut owners));
                    list.fault = split.err().or(list.fault.take());
                }
            }
        })?;
        let mut read = Vec::new();
        let mut items = Vec::new();
        for (list, outcome) in lists.into_iter().zip(outcomes) {
            let faulty = list.fault.is_some();
            if let Some(fault) = list.fault {
                log::warn!("{}: {fault}", list.kind.resource());
            }
            read.push(HeaderRead {
                resource: list.kind.resource(),
                namespace: namespace.filter(|_| list.kind.info().namespaced).map(str::to_owned),
                outcome: if faulty { "failed" } else { word(&outcome) }.to_owned(),
            });
            items.extend(list.items);
        }
        // What definitions there are to read is written below.
        let definitions = Kind::CustomResourceDefinition.resource();
        read.push(HeaderRead { resource: definitions, namespace: None, outcome: "read".to_owned() });
        for CustomOwner { namespace, owner, plural, scale } in self.scales(owners.unknown_owners())? {
            items.extend(custom_owner(&namespace, &owner, &plural, scale).iter().map(bytes));
        }
        let context = self.context().map(str::to_owned);
        Ok(Export { header: Header { now: Some(self.client.now()), server_version, context, read }, items })
    }
}

/// One list while it is read.
struct List {
    kind: Kind,
    items: Vec<Box<[u8]>>,
    fault: Option<String>,
}

impl List {
    fn add(&mut self, item: Item<'_>, slimmer: &mut Slimmer, owners: &mut Builder) {
        match slimmer.slim(self.kind, item) {
            Ok(object) => self.items.push(bytes(&object)),
            Err(e) => self.fault = Some(e.to_string()),
        }
        if OWNERS.contains(&self.kind) {
            // What cannot be read of it was noted above.
            let _ = owners.add(self.kind, item);
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
