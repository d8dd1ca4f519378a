//! Builds a snapshot item by item: each is decoded, interned and let go.

use super::api_version;
use super::coverage::{Coverage, ReadOutcome};
use super::custom::Custom;
use super::header::Header;
use super::intern::Str;
use super::keep::{Keep, Reader};
use super::kinds::{self, Kind, Recognised};
use super::meta::{Meta, OwnerRef};
use super::newest::newest;
use super::selector::LabelSelector;
use super::tables::Tables;
use super::workload::{Detail, Scale, Workload};
use super::{Snapshot, Source, Twice};
use crate::wire::events::Event;
use crate::wire::events_v1;
use crate::wire::item::{Item, ItemError};
use crate::wire::policy::PodDisruptionBudget;
use crate::wire::status::Status;
use crate::wire::type_meta::TypeMeta;
use foldhash::{HashSet, HashSetExt};
use jiff::Timestamp;
use std::sync::Arc;

fn version_of(head: &TypeMeta) -> &str {
    api_version::split(&head.api_version).1
}

/// Collects objects of every kind.
#[derive(Default)]
pub struct Builder {
    reader: Reader,
    header: Header,
    coverage: Coverage,
    tables: Tables,
    /// Objects of kinds that the tool does not know, or that an operator defines: they may own pods.
    customs: Vec<Custom>,
}

impl Builder {
    /// Adds a JSON object of any kind, as its `apiVersion` and `kind` say.
    ///
    /// # Errors
    /// It is no Kubernetes object, or a field of it cannot be read.
    pub fn add_json(&mut self, bytes: &[u8]) -> Result<(), ItemError> {
        self.add_json_as(&TypeMeta::read(bytes)?, bytes).map(drop)
    }

    /// Adds a JSON object that is what `head` says, and says which kind that is, where it is a known one.
    ///
    /// # Errors
    /// As [`add_json`](Self::add_json).
    pub(crate) fn add_json_as(&mut self, head: &TypeMeta, bytes: &[u8]) -> Result<Option<Kind>, ItemError> {
        let item = Item::Json(bytes);
        if head.kind.is_empty() {
            return Err("is no Kubernetes object: it has no kind".to_owned().into());
        }
        if head.api_version.is_empty() {
            return Err("is no Kubernetes object: it has no apiVersion".to_owned().into());
        }
        match (api_version::split(&head.api_version), &*head.kind) {
            (("kubectl-pdb", "v1"), "Snapshot") => {
                self.add_header(item.decode_json()?);
                return Ok(None);
            }
            (("kubectl-pdb", version), "Snapshot") => {
                let words =
                    format!("was written by another version of this program ({version}), and is not understood");
                return Err(words.into());
            }
            // Forms in which the API gives less than the objects.
            (("meta.k8s.io", _), kind) => {
                return Err(format!("is a {kind}, in which the objects themselves are left out").into());
            }
            (("", "v1"), "Status") => return self.add_refusal(item.decode_json()?),
            _ => {}
        }
        match kinds::recognise(&head.api_version, &head.kind) {
            Recognised::Known(kind) => self.add(kind, item).map(|()| Some(kind)),
            Recognised::Custom(kind) => {
                self.add(kind, item)?;
                self.add_custom(head, item)?;
                Ok(Some(kind))
            }
            Recognised::EventsV1Event => {
                let event: events_v1::Event = item.decode_json()?;
                self.coverage.note(Kind::Event, ReadOutcome::Read);
                self.tables.events.push(Arc::new(Event::from(event).keep(&mut self.reader)?));
                Ok(Some(Kind::Event))
            }
            Recognised::OtherVersion(kind @ Kind::PodDisruptionBudget) if version_of(head) == "v1beta1" => {
                let wire: PodDisruptionBudget = item.decode_json()?;
                let mut budget = wire.keep(&mut self.reader)?;
                // What selects every pod in policy/v1 selects none here. Mirrors `pkg/apis/policy/v1beta1/conversion.go`.
                if budget.selector.is_everything() {
                    budget.selector = LabelSelector::Nothing;
                }
                self.coverage.note(kind, ReadOutcome::Read);
                self.tables.budgets.push(Arc::new(budget));
                Ok(Some(kind))
            }
            Recognised::OtherVersion(kind) => {
                let words = format!("the input has it as {}, which is not read", head.api_version);
                self.coverage.note(kind, ReadOutcome::Failed(words));
                Ok(Some(kind))
            }
            Recognised::Unknown => self.add_custom(head, item).map(|()| None),
        }
    }

    /// Notes what the server said instead of giving a list.
    fn add_refusal(&mut self, status: Status) -> Result<Option<Kind>, ItemError> {
        let of = status.details.unwrap_or_default();
        let resource = if of.group.is_empty() { of.kind } else { format!("{}.{}", of.kind, of.group) };
        let kind = Kind::from_resource(&resource).filter(|_| of.name.is_empty());
        let Some(kind) = kind else {
            return Err(format!("is no object: the server says {:?}", status.message).into());
        };
        self.coverage.note(
            kind,
            match status.code {
                403 => ReadOutcome::Forbidden(status.message),
                _ => ReadOutcome::Failed(status.message),
            },
        );
        Ok(Some(kind))
    }

    /// Adds an object of a known kind.
    ///
    /// # Errors
    /// A field of it cannot be read.
    pub fn add(&mut self, kind: Kind, item: Item<'_>) -> Result<(), ItemError> {
        self.coverage.note(kind, ReadOutcome::Read);
        self.tables.add(kind, item, &mut self.reader)
    }

    /// Drops all objects of a kind: a list that expired while it was read is read anew. What came of reading it stays
    /// noted.
    pub fn forget(&mut self, kind: Kind) {
        self.tables.forget(kind);
    }

    fn add_custom(&mut self, head: &TypeMeta, item: Item<'_>) -> Result<(), ItemError> {
        let object = item.decode_json()?;
        self.customs.push(Custom::read(&head.api_version, &head.kind, object, &mut self.reader.interner)?);
        Ok(())
    }

    fn add_header(&mut self, header: Header) {
        for read in &header.read {
            if let Some(kind) = Kind::from_resource(&read.resource) {
                self.coverage.note(kind, read.outcome());
                // Only of what lives in namespaces one of them is a part.
                let of = read.namespace.as_deref().filter(|_| kind.info().namespaced);
                self.coverage.note_namespace(kind, of);
            }
        }
        // Of several snapshots the newest one sets the time.
        let now = self.header.now.max(header.now);
        self.header = Header { now, ..header };
    }

    /// Adds what is known of an owner that is of no built-in kind: its scale, as its `scale` subresource tells.
    pub fn add_owner(&mut self, namespace: &str, owner: &OwnerRef, scale: Scale) {
        let meta = Meta {
            namespace: self.reader.interner.opt(namespace),
            name: owner.name.clone(),
            uid: Some(owner.uid.clone()),
            ..Meta::default()
        };
        self.push_owner(meta, [&owner.group, &owner.version, &owner.kind], scale);
    }

    fn push_owner(&mut self, meta: Meta, names: [&Str; 3], scale: Scale) {
        let [group, version, kind] = names.map(Clone::clone);
        let selector = LabelSelector::Nothing;
        let owner = Workload { meta, group, version, kind, scale, selector, template: None, detail: Detail::Custom };
        self.tables.workloads.push(Arc::new(owner));
    }

    /// Notes what came of reading a kind.
    pub fn note(&mut self, kind: Kind, outcome: ReadOutcome) {
        self.coverage.note(kind, outcome);
    }

    /// The controllers of pods and workloads that are of no built-in kind: their scale has to be asked for. Namespace
    /// and reference, each once.
    pub fn custom_owners(&self) -> Vec<(String, OwnerRef)> {
        // A workload may be called by an older name of its group (`extensions/v1beta1`), and is known by its uid.
        let workloads = &self.tables.workloads;
        let known: HashSet<&str> = workloads.iter().filter_map(|w| w.meta.uid.as_deref()).collect();
        let metas = self.tables.pods.iter().map(|p| &p.meta).chain(workloads.iter().map(|w| &w.meta));
        let is_custom = |o: &OwnerRef| {
            matches!(kinds::recognise(&o.api_version(), &o.kind), Recognised::Custom(_) | Recognised::Unknown)
        };
        let mut seen = HashSet::new();
        metas
            .filter_map(|m| Some((m, m.controller.as_ref()?)))
            .filter(|(_, o)| !known.contains(&*o.uid) && seen.insert(&*o.uid))
            .filter(|(_, o)| is_custom(o))
            .map(|(m, o)| (m.ns().to_owned(), o.clone()))
            .collect()
    }

    /// Whether anything was added.
    pub fn is_empty(&self) -> bool {
        self.coverage == Coverage::default() && self.customs.is_empty()
    }

    /// The snapshot of all that was added. `now` is that of the argument, else of the header, else the newest time that
    /// any object speaks of, else the start of 1970.
    pub fn finish(mut self, source: Source, now: Option<Timestamp>) -> Snapshot {
        self.add_custom_owners();
        let twice = self.tables.sort();
        let now = now.or(self.header.now).or_else(|| newest(&self.tables)).unwrap_or(Timestamp::UNIX_EPOCH);
        let source = Source {
            server_version: source.server_version.or(self.header.server_version),
            context: source.context.or(self.header.context),
            ..source
        };
        // A server's lists of a namespace and of a node have pods in common, which are the same.
        let twice = if source.server.is_some() { Twice::default() } else { twice };
        Snapshot::new(now, source, self.coverage, self.tables, twice)
    }

    /// Adds those objects that are of no built-in kind and own something.
    fn add_custom_owners(&mut self) {
        let tables = &self.tables;
        let metas = tables.pods.iter().map(|p| &p.meta).chain(tables.workloads.iter().map(|w| &w.meta));
        let metas = metas.chain(self.customs.iter().map(|c| &c.meta)).chain(tables.budgets.iter().map(|b| &b.meta));
        let owners: HashSet<Str> =
            metas.flat_map(|m| [&m.controller, &m.owner]).flatten().map(|o| o.uid.clone()).collect();
        let definitions = tables.definitions.clone();
        let is_owner = |custom: &Custom| custom.meta.uid.as_ref().is_some_and(|uid| owners.contains(uid));
        for custom in std::mem::take(&mut self.customs).into_iter().filter(is_owner) {
            let definition = definitions.iter().find(|d| d.is_of(&custom.group, &custom.kind));
            let scale = custom.scale(definition.map(|d| &d.body));
            self.push_owner(custom.meta, [&custom.group, &custom.version, &custom.kind], scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_forgotten_and_no_other() {
        let object = Item::Json(br#"{"metadata":{"name":"x","namespace":"a"}}"#);
        for forgotten in Kind::ALL {
            let mut builder = Builder::default();
            for kind in [Kind::Pod, Kind::StatefulSet, Kind::Deployment, *forgotten] {
                builder.add(kind, object).unwrap();
            }
            builder.forget(*forgotten);
            let left = builder.tables.pods.len() + builder.tables.workloads.len();
            let of_these = [Kind::Pod, Kind::StatefulSet, Kind::Deployment].contains(forgotten);
            assert_eq!(left, if of_these { 2 } else { 3 }, "{forgotten}");
        }
    }
}
