//! Kinds of which there are few: kept as their slim wire form beside the interned metadata.

use super::intern::Interner;
use super::meta::Meta;
use crate::wire::meta::ObjectMeta;
use crate::wire::{apps, core, events, policy, resource, storage};

/// An object whose fields are kept as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Object<T> {
    /// Names, labels, owner, age.
    pub meta: Meta,
    /// The object as it was read, its metadata taken out.
    pub body: T,
}

impl<T> std::ops::Deref for Object<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.body
    }
}

/// A wire form whose metadata can be taken out.
pub trait HasMetadata {
    /// Where its metadata stands.
    fn metadata_mut(&mut self) -> &mut Option<ObjectMeta>;
}

macro_rules! has_metadata {
    ($($ty:ty),* $(,)?) => { $(
        impl HasMetadata for $ty {
            fn metadata_mut(&mut self) -> &mut Option<ObjectMeta> { &mut self.metadata }
        }
    )* };
}

has_metadata!(
    crate::wire::pod::Pod,
    core::Node,
    core::Namespace,
    core::ServiceAccount,
    core::ReplicationController,
    core::PersistentVolumeClaim,
    core::PersistentVolume,
    core::ResourceQuota,
    core::LimitRange,
    core::Service,
    apps::Deployment,
    apps::ReplicaSet,
    apps::StatefulSet,
    apps::DaemonSet,
    apps::Job,
    apps::CronJob,
    apps::HorizontalPodAutoscaler,
    policy::PodDisruptionBudget,
    policy::PriorityClass,
    policy::ValidatingWebhookConfiguration,
    policy::MutatingWebhookConfiguration,
    storage::StorageClass,
    storage::CSINode,
    storage::CSIDriver,
    storage::VolumeAttachment,
    storage::CSIStorageCapacity,
    resource::ResourceClaim,
    resource::ResourceSlice,
    resource::DeviceClass,
    events::Event,
    events::EventsV1Event,
    events::Lease,
    events::EndpointSlice,
    crate::wire::crd::CustomResourceDefinition,
);

impl<T: HasMetadata> Object<T> {
    /// Takes the metadata out of a wire form and keeps the rest.
    pub fn read(mut body: T, i: &mut Interner) -> Self {
        let meta = Meta::read(body.metadata_mut().take(), i);
        Self { meta, body }
    }
}
