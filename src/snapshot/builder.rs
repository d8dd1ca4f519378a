//! Builds a snapshot item by item: each is decoded, interned and let go.

mod forget;

use super::budget::Budget;
use super::coverage::{Coverage, Outcome};
use super::custom::Custom;
use super::event::Event;
use super::intern::Interner;
use super::kinds::{self, Kind, Recognised};
use super::meta::OwnerRef;
use super::node::Node;
use super::object::{HasMetadata, Object};
use super::pod::Pod;
use super::read_pod::PodShapes;
use super::selector::LabelSelector;
use super::table::{HasMeta, Table};
use super::version::Version;
use super::workload::{Detail, Scale, Workload, WorkloadReader};
use super::{Index, Snapshot, Source};
use crate::wire;
use foldhash::{HashSet, HashSetExt};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// One object, in one of the two encodings of the API.
#[derive(Debug, Clone, Copy)]
pub enum Item<'a> {
    /// As JSON.
    Json(&'a [u8]),
    /// As protobuf, without the `k8s` envelope.
    Proto(&'a [u8]),
}

/// An item that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemError {
    /// What is wrong.
    pub message: String,
    /// Line and column within the item, from 1, where it was JSON that did not decode.
    pub at: Option<(usize, usize)>,
}

impl fmt::Display for ItemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ItemError {}

impl From<String> for ItemError {
    fn from(message: String) -> Self {
        Self { message, at: None }
    }
}

impl From<serde_json::Error> for ItemError {
    fn from(e: serde_json::Error) -> Self {
        let at = (e.line() > 0).then(|| (e.line(), e.column()));
        let text = e.to_string();
        // The position is told apart from the words, as it is that within the file which helps.
        let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
        Self { message, at }
    }
}

/// The first item of a file that `snapshot` wrote: when and from where it was read, and what was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Header {
    /// When it was read.
    pub now: Option<Timestamp>,
    /// The API server's version.
    pub server_version: Option<String>,
    /// The kubeconfig context.
    pub context: Option<String>,
    /// What was asked for.
    pub read: Vec<HeaderRead>,
}

/// What came of reading one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(default)]
pub struct HeaderRead {
    /// `pods`, `poddisruptionbudgets.policy` …
    pub resource: String,
    /// The one namespace that was read; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// `read`, `forbidden`, `absent` or `failed`.
    pub outcome: String,
}

/// Collects objects of every kind.
#[derive(Default)]
pub struct Builder {
    interner: Interner,
    shapes: PodShapes,
    header: Header,
    coverage: Coverage,
    pods: Vec<Arc<Pod>>,
    nodes: Vec<Arc<Node>>,
    budgets: Vec<Arc<Budget>>,
    workloads: Vec<Arc<Workload>>,
    customs: Vec<Custom>,
    events: Vec<Arc<Event>>,
    leases: Vec<Timestamp>,
    namespaces: Objects<wire::core::Namespace>,
    horizontal_pod_autoscalers: Objects<wire::apps::HorizontalPodAutoscaler>,
    priority_classes: Objects<wire::policy::PriorityClass>,
    persistent_volume_claims: Objects<wire::core::PersistentVolumeClaim>,
    persistent_volumes: Objects<wire::core::PersistentVolume>,
    storage_classes: Objects<wire::storage::StorageClass>,
    csi_nodes: Objects<wire::storage::CSINode>,
    csi_drivers: Objects<wire::storage::CSIDriver>,
    csi_capacities: Objects<wire::storage::CSIStorageCapacity>,
    volume_attachments: Objects<wire::storage::VolumeAttachment>,
    resource_claims: Objects<wire::resource::ResourceClaim>,
    resource_slices: Objects<wire::resource::ResourceSlice>,
    device_classes: Objects<wire::resource::DeviceClass>,
    quotas: Objects<wire::core::ResourceQuota>,
    limit_ranges: Objects<wire::core::LimitRange>,
    service_accounts: Objects<wire::core::ServiceAccount>,
    services: Objects<wire::core::Service>,
    endpoint_slices: Objects<wire::events::EndpointSlice>,
    validating_webhooks: Objects<wire::policy::ValidatingWebhookConfiguration>,
    mutating_webhooks: Objects<wire::policy::MutatingWebhookConfiguration>,
    definitions: Objects<wire::crd::CustomResourceDefinition>,
}

type Objects<T> = Vec<Arc<Object<T>>>;

/// Decodes kinds of which JSON is the only form.
pub(super) fn json<T: DeserializeOwned>(item: Item<'_>) -> Result<T, ItemError> {
    match item {
        Item::Json(bytes) => Ok(serde_json::from_slice(bytes)?),
        Item::Proto(_) => Err(ItemError::from("is read as JSON only".to_owned())),
    }
}

/// Decodes kinds of which both forms are read.
pub(super) fn decode<T: prost::Message + Default + DeserializeOwned>(item: Item<'_>) -> Result<T, ItemError> {
    match item {
        Item::Json(_) => json(item),
        Item::Proto(bytes) => T::decode(bytes).map_err(|e| e.to_string().into()),
    }
}

fn keep<T: HasMetadata>(list: &mut Objects<T>, body: T, i: &mut Interner) {
    list.push(Arc::new(Object::read(body, i)));
}

impl Builder {
    /// Adds a JSON object of any kind, as its `apiVersion` and `kind` say.
    pub fn add_json(&mut self, bytes: &[u8]) -> Result<(), ItemError> {
        let head = Head::read(bytes)?;
        if head.kind.is_empty() {
            return Err("is no Kubernetes object: it has no kind".to_owned().into());
        }
        if (&*head.api_version, &*head.kind) == ("kubectl-pdb/v1", "Snapshot") {
            return self.add_header(json(Item::Json(bytes))?);
        }
        match kinds::recognise(&head.api_version, &head.kind) {
            Recognised::Known(kind) => self.add(kind, Item::Json(bytes)),
            Recognised::EventsV1Event => {
                let event = Event::read_events_v1(json(Item::Json(bytes))?, &mut self.interner);
                self.coverage.note(Kind::Event, Outcome::Read);
                self.events.push(Arc::new(event));
                Ok(())
            }
            Recognised::OtherVersion(kind) => {
                let words = format!("the input has it as {}, which is not read", head.api_version);
                self.coverage.note(kind, Outcome::Failed(words));
                Ok(())
            }
            Recognised::Unknown => {
                let custom = Custom::read(&head.api_version, &head.kind, json(Item::Json(bytes))?, &mut self.interner)?;
                self.customs.push(custom);
                Ok(())
            }
        }
    }

    /// Adds an object of a known kind.
    pub fn add(&mut self, kind: Kind, item: Item<'_>) -> Result<(), ItemError> {
        self.coverage.note(kind, Outcome::Read);
        let i = &mut self.interner;
        let mut reader = WorkloadReader { interner: i, shapes: &mut self.shapes };
        let workload = match kind {
            Kind::Deployment => Some(reader.deployment(decode(item)?)?),
            Kind::ReplicaSet => Some(reader.replica_set(decode(item)?)?),
            Kind::StatefulSet => Some(reader.stateful_set(decode(item)?)?),
            Kind::DaemonSet => Some(reader.daemon_set(decode(item)?)?),
            Kind::ReplicationController => Some(reader.replication_controller(decode(item)?)?),
            Kind::Job => Some(reader.job(decode(item)?)?),
            Kind::CronJob => Some(reader.cron_job(decode(item)?)?),
            _ => None,
        };
        if let Some(workload) = workload {
            self.workloads.push(Arc::new(workload));
            return Ok(());
        }
        match kind {
            Kind::Pod => self.pods.push(Arc::new(self.shapes.pod(decode(item)?, i)?)),
            Kind::Node => self.nodes.push(Arc::new(Node::read(decode(item)?, i)?)),
            Kind::PodDisruptionBudget => self.budgets.push(Arc::new(Budget::read(decode(item)?, i))),
            Kind::Event => self.events.push(Arc::new(Event::read(decode(item)?, i))),
            Kind::Lease => {
                let lease: wire::events::Lease = decode(item)?;
                self.leases.extend(lease.spec.and_then(|s| s.renew_time).and_then(wire::scalar::Time::timestamp));
            }
            Kind::Namespace => keep(&mut self.namespaces, decode(item)?, i),
            Kind::HorizontalPodAutoscaler => keep(&mut self.horizontal_pod_autoscalers, decode(item)?, i),
            Kind::PriorityClass => keep(&mut self.priority_classes, decode(item)?, i),
            Kind::PersistentVolumeClaim => keep(&mut self.persistent_volume_claims, decode(item)?, i),
            Kind::PersistentVolume => keep(&mut self.persistent_volumes, decode(item)?, i),
            Kind::StorageClass => keep(&mut self.storage_classes, decode(item)?, i),
            Kind::CsiNode => keep(&mut self.csi_nodes, decode(item)?, i),
            Kind::CsiDriver => keep(&mut self.csi_drivers, decode(item)?, i),
            Kind::CsiStorageCapacity => keep(&mut self.csi_capacities, decode(item)?, i),
            Kind::VolumeAttachment => keep(&mut self.volume_attachments, decode(item)?, i),
            Kind::ResourceClaim => keep(&mut self.resource_claims, decode(item)?, i),
            Kind::ResourceSlice => keep(&mut self.resource_slices, decode(item)?, i),
            Kind::DeviceClass => keep(&mut self.device_classes, decode(item)?, i),
            Kind::ResourceQuota => keep(&mut self.quotas, decode(item)?, i),
            Kind::LimitRange => keep(&mut self.limit_ranges, decode(item)?, i),
            Kind::ServiceAccount => keep(&mut self.service_accounts, decode(item)?, i),
            Kind::Service => keep(&mut self.services, decode(item)?, i),
            Kind::EndpointSlice => keep(&mut self.endpoint_slices, decode(item)?, i),
            Kind::ValidatingWebhookConfiguration => keep(&mut self.validating_webhooks, decode(item)?, i),
            Kind::MutatingWebhookConfiguration => keep(&mut self.mutating_webhooks, decode(item)?, i),
            Kind::CustomResourceDefinition => keep(&mut self.definitions, json(item)?, i),
            Kind::Deployment
            | Kind::ReplicaSet
            | Kind::StatefulSet
            | Kind::DaemonSet
            | Kind::ReplicationController
            | Kind::Job
            | Kind::CronJob => {}
        }
        Ok(())
    }

    /// Adds what is known of an owner that is of no known kind: its scale, as its `scale` subresource tells.
    pub fn add_owner(&mut self, namespace: &str, owner: &OwnerRef, scale: Scale) {
        let meta = super::meta::Meta {
            namespace: self.interner.opt(namespace),
            name: owner.name.clone(),
            uid: Some(owner.uid.clone()),
            ..Default::default()
        };
        self.push_custom_owner(meta, owner.group.clone(), owner.version.clone(), owner.kind.clone(), scale);
    }

    fn push_custom_owner(
        &mut self,
        meta: super::meta::Meta,
        group: super::Str,
        version: super::Str,
        kind: super::Str,
        scale: Scale,
    ) {
        let selector = LabelSelector::Nothing;
        let w = Workload { meta, group, version, kind, scale, selector, template: None, detail: Detail::Custom };
        self.workloads.push(Arc::new(w));
    }

    fn add_header(&mut self, header: Header) -> Result<(), ItemError> {
        for r in &header.read {
            let Some(kind) = Kind::from_resource(&r.resource) else { continue };
            self.coverage.note(
                kind,
                match &*r.outcome {
                    "read" => Outcome::Read,
                    "forbidden" => Outcome::Forbidden("when the snapshot was written".to_owned()),
                    "absent" => Outcome::Absent,
                    _ => Outcome::Failed("when the snapshot was written".to_owned()),
                },
            );
        }
        self.header = header;
        Ok(())
    }

    /// Notes what came of reading a kind.
    pub fn note(&mut self, kind: Kind, outcome: Outcome) {
        self.coverage.note(kind, outcome);
    }

    /// The controllers of pods and workloads that are of no known kind and not among the objects: their scale has to
    /// be asked for. Namespace and reference, each once.
    pub fn unknown_owners(&self) -> Vec<(String, OwnerRef)> {
        // A workload may be called by an older name of its group (`extensions/v1beta1`), and is known by its uid.
        let workloads = self.workloads.iter().filter_map(|w| w.meta.uid.as_deref());
        let known: HashSet<&str> = self.customs.iter().filter_map(|c| c.meta.uid.as_deref()).chain(workloads).collect();
        let metas = self.pods.iter().map(|p| &p.meta).chain(self.workloads.iter().map(|w| &w.meta));
        let mut seen = HashSet::new();
        metas
            .filter_map(|m| Some((m, m.controller.as_ref()?)))
            .filter(|(_, o)| !known.contains(&*o.uid) && seen.insert(&*o.uid))
            .filter(|(_, o)| kinds::recognise(&o.api_version(), &o.kind) == Recognised::Unknown)
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
        self.keep_owners();
        let now = now.or(self.header.now).or_else(|| self.newest()).unwrap_or(Timestamp::UNIX_EPOCH);
        let source = Source {
            server_version: source.server_version.or(self.header.server_version),
            context: source.context.or(self.header.context),
            ..source
        };
        let kubelets = self.nodes.iter().filter_map(|n| Version::parse(n.kubelet_version.as_deref()?));
        let newest_kubelet = kubelets.max();
        let pods = table(self.pods);
        let workloads = Table::new(self.workloads, |a, b| a.kind == b.kind && a.group == b.group);
        Snapshot {
            now,
            source,
            coverage: self.coverage,
            newest_kubelet,
            index: Arc::new(Index::new(&pods, &workloads)),
            pods,
            nodes: table(self.nodes),
            budgets: table(self.budgets),
            workloads,
            customs: Table::new(self.customs.into_iter().map(Arc::new).collect(), |a, b| {
                a.kind == b.kind && a.group == b.group
            }),
            events: table(self.events),
            namespaces: table(self.namespaces),
            horizontal_pod_autoscalers: table(self.horizontal_pod_autoscalers),
            priority_classes: table(self.priority_classes),
            persistent_volume_claims: table(self.persistent_volume_claims),
            persistent_volumes: table(self.persistent_volumes),
            storage_classes: table(self.storage_classes),
            csi_nodes: table(self.csi_nodes),
            csi_drivers: table(self.csi_drivers),
            csi_capacities: table(self.csi_capacities),
            volume_attachments: table(self.volume_attachments),
            resource_claims: table(self.resource_claims),
            resource_slices: table(self.resource_slices),
            device_classes: table(self.device_classes),
            quotas: table(self.quotas),
            limit_ranges: table(self.limit_ranges),
            service_accounts: table(self.service_accounts),
            services: table(self.services),
            endpoint_slices: table(self.endpoint_slices),
            validating_webhooks: table(self.validating_webhooks),
            mutating_webhooks: table(self.mutating_webhooks),
            definitions: table(self.definitions),
        }
    }

    /// Turns objects of unknown kinds that own something into workloads, and drops those that neither own anything nor
    /// belong to an operator whose settings matter.
    fn keep_owners(&mut self) {
        let metas = self.pods.iter().map(|p| &p.meta).chain(self.workloads.iter().map(|w| &w.meta));
        let metas = metas.chain(self.customs.iter().map(|c| &c.meta)).chain(self.budgets.iter().map(|b| &b.meta));
        let owners: HashSet<super::Str> =
            metas.flat_map(|m| [&m.controller, &m.owner]).flatten().map(|o| o.uid.clone()).collect();
        let definitions: HashMap<(String, String), Arc<Object<_>>> =
            self.definitions.iter().map(|d| ((d.spec.group.clone(), d.spec.names.kind.clone()), d.clone())).collect();
        for mut custom in std::mem::take(&mut self.customs) {
            if custom.meta.uid.as_ref().is_some_and(|uid| owners.contains(uid)) {
                let definition = definitions.get(&(custom.group.to_string(), custom.kind.to_string()));
                let scale = custom.scale(definition.map(|d| &d.body));
                self.push_custom_owner(
                    custom.meta.clone(),
                    custom.group.clone(),
                    custom.version.clone(),
                    custom.kind.clone(),
                    scale,
                );
            }
            custom.integers = Vec::new();
            if !custom.body.is_null() {
                self.customs.push(custom);
            }
        }
    }

    /// The newest time that any object speaks of.
    fn newest(&self) -> Option<Timestamp> {
        let mut newest = self.leases.iter().copied().max();
        let mut see = |t: Option<Timestamp>| newest = newest.max(t);
        for p in &self.pods {
            see_meta(&p.meta, &mut see);
            see(p.status.started);
            p.status.conditions.iter().for_each(|c| see(c.since));
            for c in p.status.containers.iter().chain(&p.status.init_containers) {
                see(c.last.as_ref().and_then(|t| t.finished));
                match &c.state {
                    super::pod::ContainerState::Running(t) => see(*t),
                    super::pod::ContainerState::Terminated(t) => see(t.finished),
                    _ => {}
                }
            }
        }
        for n in &self.nodes {
            see_meta(&n.meta, &mut see);
            see(n.heartbeat);
            n.conditions.iter().for_each(|c| see(c.since));
        }
        for b in &self.budgets {
            see_meta(&b.meta, &mut see);
            b.status.conditions.iter().for_each(|c| see(c.since));
        }
        for e in &self.events {
            see(e.last_seen);
        }
        for w in &self.workloads {
            see_meta(&w.meta, &mut see);
        }
        for c in &self.persistent_volume_claims {
            see_meta(&c.meta, &mut see);
        }
        newest
    }
}

fn see_meta(meta: &super::meta::Meta, see: &mut impl FnMut(Option<Timestamp>)) {
    see(meta.creation_timestamp);
    // The server writes the time by which the object should be gone.
    let grace = SignedDuration::from_secs(meta.deletion_grace_period.unwrap_or_default());
    see(meta.deletion_timestamp.and_then(|t| t.checked_sub(grace).ok()));
}

fn table<T: HasMeta>(objects: Vec<Arc<T>>) -> Table<T> {
    Table::new(objects, |_, _| true)
}

/// What an object says it is.
#[derive(Default)]
struct Head {
    api_version: String,
    kind: String,
}

impl Head {
    /// Reads `apiVersion` and `kind` and stops there: kubectl and the API write them first.
    fn read(bytes: &[u8]) -> Result<Self, ItemError> {
        let mut head = Self::default();
        let result = serde::Deserializer::deserialize_map(&mut serde_json::Deserializer::from_slice(bytes), &mut head);
        if head.is_complete() { Ok(head) } else { result.map(|()| head).map_err(Into::into) }
    }

    fn is_complete(&self) -> bool {
        !self.api_version.is_empty() && !self.kind.is_empty()
    }
}

impl<'de> serde::de::Visitor<'de> for &mut Head {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            match &*key {
                "apiVersion" => self.api_version = map.next_value()?,
                "kind" => self.kind = map.next_value()?,
                _ => drop(map.next_value::<serde::de::IgnoredAny>()?),
            }
            if self.is_complete() {
                break; // The rest is not looked at; the parser's complaint about it is ignored.
            }
        }
        Ok(())
    }
}
