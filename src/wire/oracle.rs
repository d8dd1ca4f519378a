//! Holds the wire structs against k8s-openapi, whose types are generated from the API itself: an object in which every
//! field is set must come back whole through them, so that no field is misspelt, misplaced or of another type.

use super::scalar::{IntOrString, Quantity, Time};
use super::{apps, core, events, pod, policy, resource, storage};
use k8s_openapi::api as upstream;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// A value in which every field is set to something that is not its default.
pub trait Sample {
    fn sample() -> Self;
}

macro_rules! samples {
    ($($ty:ty = $value:expr;)*) => { $( impl Sample for $ty { fn sample() -> Self { $value } } )* };
}

samples! {
    String = "x".to_owned();
    bool = true;
    i32 = 7;
    i64 = 7;
    Time = Time { seconds: 1_700_000_000, nanos: 0 };
    Quantity = Quantity { string: "7".to_owned() };
    IntOrString = IntOrString::int(7);
}

impl<T: Sample> Sample for Option<T> {
    fn sample() -> Self {
        Some(T::sample())
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample() -> Self {
        vec![T::sample()]
    }
}

impl<T: Sample> Sample for BTreeMap<String, T> {
    fn sample() -> Self {
        Self::from([("k".to_owned(), T::sample())])
    }
}

/// Through JSON, upstream's type and JSON again; and through protobuf.
fn comes_back<W, U>()
where
    W: Sample + Serialize + DeserializeOwned + PartialEq + Debug + prost::Message + Default,
    U: Serialize + DeserializeOwned,
{
    let ours = W::sample();
    let json = serde_json::to_value(&ours).unwrap();
    let theirs: U = serde_json::from_value(json.clone()).unwrap_or_else(|e| panic!("{json}: {e}"));
    let back: W = serde_json::from_value(serde_json::to_value(&theirs).unwrap()).unwrap();
    assert_eq!(back, ours);
    assert_eq!(W::decode(&*ours.encode_to_vec()).unwrap(), ours);
}

#[test]
fn every_field_is_upstream_s() {
    comes_back::<pod::Pod, upstream::core::v1::Pod>();
    comes_back::<core::Node, upstream::core::v1::Node>();
    comes_back::<core::Namespace, upstream::core::v1::Namespace>();
    comes_back::<core::ServiceAccount, upstream::core::v1::ServiceAccount>();
    comes_back::<core::ReplicationController, upstream::core::v1::ReplicationController>();
    comes_back::<core::PersistentVolumeClaim, upstream::core::v1::PersistentVolumeClaim>();
    comes_back::<core::PersistentVolume, upstream::core::v1::PersistentVolume>();
    comes_back::<core::ResourceQuota, upstream::core::v1::ResourceQuota>();
    comes_back::<core::LimitRange, upstream::core::v1::LimitRange>();
    comes_back::<core::Service, upstream::core::v1::Service>();
    comes_back::<apps::Deployment, upstream::apps::v1::Deployment>();
    comes_back::<apps::ReplicaSet, upstream::apps::v1::ReplicaSet>();
    comes_back::<apps::StatefulSet, upstream::apps::v1::StatefulSet>();
    comes_back::<apps::DaemonSet, upstream::apps::v1::DaemonSet>();
    comes_back::<apps::Job, upstream::batch::v1::Job>();
    comes_back::<apps::CronJob, upstream::batch::v1::CronJob>();
    comes_back::<apps::HorizontalPodAutoscaler, upstream::autoscaling::v2::HorizontalPodAutoscaler>();
    comes_back::<policy::PodDisruptionBudget, upstream::policy::v1::PodDisruptionBudget>();
    comes_back::<policy::PriorityClass, upstream::scheduling::v1::PriorityClass>();
    comes_back::<
        policy::ValidatingWebhookConfiguration,
        upstream::admissionregistration::v1::ValidatingWebhookConfiguration,
    >();
    comes_back::<policy::MutatingWebhookConfiguration, upstream::admissionregistration::v1::MutatingWebhookConfiguration>(
    );
    comes_back::<storage::StorageClass, upstream::storage::v1::StorageClass>();
    comes_back::<storage::CSINode, upstream::storage::v1::CSINode>();
    comes_back::<storage::CSIDriver, upstream::storage::v1::CSIDriver>();
    comes_back::<storage::VolumeAttachment, upstream::storage::v1::VolumeAttachment>();
    comes_back::<storage::CSIStorageCapacity, upstream::storage::v1::CSIStorageCapacity>();
    comes_back::<resource::ResourceClaim, upstream::resource::v1::ResourceClaim>();
    comes_back::<resource::ResourceSlice, upstream::resource::v1::ResourceSlice>();
    comes_back::<resource::DeviceClass, upstream::resource::v1::DeviceClass>();
    comes_back::<events::Event, upstream::core::v1::Event>();
    comes_back::<events::EventsV1Event, upstream::events::v1::Event>();
    comes_back::<events::Lease, upstream::coordination::v1::Lease>();
    comes_back::<events::EndpointSlice, upstream::discovery::v1::EndpointSlice>();
}
