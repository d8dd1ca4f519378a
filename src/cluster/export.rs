//! A cluster as a file: its objects cut down to what is read of them, behind a head that says when, from where, and what
//! could not be read.

use serde_json::Value;

use super::list::{ListEvent, ListOutcome};
use super::read::{CustomOwner, Wanted, judged, wanted};
use super::{Cluster, pages};
use crate::error::Result;
use crate::snapshot::Kind;
use crate::snapshot::builder::Builder;
use crate::snapshot::header::{Header, HeaderRead};
use crate::snapshot::slim::{Slimmer, custom_owner};
use crate::wire::item::Item;

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
        let lists = wanted(&kinds, namespace, &server);
        let mut contents: Vec<_> = lists.iter().map(|_| Content::default()).collect();
        let mut owners = Builder::default();
        let outcomes = self.read_lists(&lists, |index, wanted, event| {
            let Some(content) = contents.get_mut(index) else { return };
            match (wanted, event) {
                (Wanted::Kind(kind), ListEvent::Restart) => {
                    *content = Content::default();
                    owners.forget(*kind);
                }
                (Wanted::Kind(kind), ListEvent::Page(page)) => {
                    let split = pages::each_item(&page, |item| content.add(*kind, item, slimmer, &mut owners));
                    content.fault = split.err().or(content.fault.take());
                }
                (Wanted::PodsOnNode, _) => {}
            }
        })?;
        let mut read = Vec::new();
        for ((wanted, outcome), content) in outcomes.into_iter().zip(&contents) {
            if let Wanted::Kind(kind) = wanted {
                if let Some(fault) = &content.fault {
                    log::warn!("{}: {fault}", kind.resource());
                }
                let outcome = if content.fault.is_some() { "failed" } else { word(&judged(*kind, outcome)) };
                read.push(header_read(*kind, namespace, outcome));
            }
        }
        read.extend(kinds.iter().filter(|kind| server.lacks(**kind)).map(|kind| header_read(*kind, namespace, "read")));
        // What definitions there are to read is written below.
        read.push(header_read(Kind::CustomResourceDefinition, namespace, "read"));
        let mut defined = Vec::new();
        for CustomOwner { namespace, owner, plural, scale } in self.scales(owners.custom_owners())? {
            let mut objects = custom_owner(&namespace, &owner, &plural, scale).into_iter();
            let known = contents.iter_mut().flat_map(|c| &mut c.customs).find(|o| o["metadata"]["uid"] == *owner.uid);
            match (known, objects.next()) {
                // Of what an operator defines more may be read than its count.
                (Some(known), Some(object)) if object["spec"].is_object() => {
                    known["spec"]["replicas"] = object["spec"]["replicas"].clone();
                }
                (None, Some(object)) => defined.push(bytes(&object)),
                _ => {}
            }
            defined.extend(objects.map(|object| bytes(&object)));
        }
        let items = contents
            .into_iter()
            .flat_map(|c| c.items.into_iter().chain(c.customs.iter().map(bytes).collect::<Vec<_>>()));
        let items = items.chain(defined).collect();
        let context = self.context().map(str::to_owned);
        Ok(Export { header: Header { now: Some(self.now()), server_version: server.version, context, read }, items })
    }
}

/// What a list holds, while it is read.
#[derive(Default)]
struct Content {
    items: Vec<Box<[u8]>>,
    /// Those of kinds that operators define.
    customs: Vec<Value>,
    fault: Option<String>,
}

impl Content {
    fn add(&mut self, kind: Kind, item: Item<'_>, slimmer: &mut Slimmer, owners: &mut Builder) {
        match slimmer.slim(kind, item) {
            Ok(object) if kind.info().custom => self.customs.push(object),
            Ok(object) => self.items.push(bytes(&object)),
            Err(e) => self.fault = Some(e.to_string()),
        }
        if OWNERS.contains(&kind) {
            // What cannot be read of it was noted above.
            let _ = owners.add(kind, item);
        }
    }
}

fn header_read(kind: Kind, namespace: Option<&str>, outcome: &str) -> HeaderRead {
    HeaderRead {
        resource: kind.resource(),
        namespace: namespace.filter(|_| kind.info().namespaced).map(str::to_owned),
        outcome: outcome.to_owned(),
    }
}

fn bytes(object: &Value) -> Box<[u8]> {
    object.to_string().into_bytes().into()
}

fn word(outcome: &ListOutcome) -> &'static str {
    match outcome {
        ListOutcome::Read { .. } => "read",
        ListOutcome::Forbidden { .. } => "forbidden",
        ListOutcome::Absent => "absent",
        ListOutcome::Failed { .. } => "failed",
    }
}
