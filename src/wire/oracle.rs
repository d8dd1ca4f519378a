//! Holds the wire structs against k8s-openapi, whose types are generated from the API itself: an object in which every
//! field is set must come back whole through them, so that no field is misspelt, misplaced or of another type.

use super::events_v1;
use super::meta::ListMeta;
use super::quantity;
use super::scalar::{IntOrString, Quantity};
use super::time::{MicroTime, Time};
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
    MicroTime = MicroTime { seconds: 1_700_000_000, nanos: 0 };
    Quantity = Quantity { string: "7".to_owned(), value: quantity::Quantity::units(7) };
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

/// A wire type whose protobuf tags can be held against upstream's.
pub trait Tagged {
    /// Holds every field of the type, and of the types below it.
    fn hold_tags();
}

macro_rules! untagged {
    ($($ty:ty),*) => { $( impl Tagged for $ty { fn hold_tags() {} } )* };
}
untagged!(String, bool, i32, i64);

macro_rules! tagged_as_inside {
    ($($outer:ty),*) => { $( impl<T: Tagged> Tagged for $outer { fn hold_tags() { T::hold_tags(); } } )* };
}
tagged_as_inside!(Option<T>, Vec<T>, BTreeMap<String, T>);

/// Holds a message in which one field is set: upstream's type reads that field from it, and no other.
macro_rules! hold_tag {
    // k8s-pb is a version behind: in `generated.proto` of storage/v1, 1.36.3 and 1.37.2, it is 11.
    ($upstream:path, $ours:ident, CSIDriverSpec, prevent_pod_scheduling_if_missing) => { let _ = $ours; };
    // In that of core/v1, 1.36.3 and 1.37.2, it is 43.
    ($upstream:path, $ours:ident, PodSpec, scheduling_group) => { let _ = $ours; };
    // So it is with what resource/v1 got since 1.36: see `generated.proto` of 1.37.2.
    ($upstream:path, $ours:ident, ExactDeviceRequest, derived_attributes) => { let _ = $ours; };
    ($upstream:path, $ours:ident, DeviceSubRequest, derived_attributes) => { let _ = $ours; };
    ($upstream:path, $ours:ident, DeviceRequestAllocationResult, skip_node_operations) => { let _ = $ours; };
    ($upstream:path, $ours:ident, DeviceCounterConsumption, compatibility_groups) => { let _ = $ours; };
    ($upstream:path, $ours:ident, DeviceAttribute, ints) => { let _ = $ours; };
    ($upstream:path, $ours:ident, DeviceAttribute, bools) => { let _ = $ours; };
    ($upstream:path, $ours:ident, DeviceAttribute, strings) => { let _ = $ours; };
    ($upstream:path, $ours:ident, DeviceAttribute, versions) => { let _ = $ours; };
    ($upstream:path, $ours:ident, $name:ident, type_) => { crate::wire::oracle::hold_tag!(@ $upstream, $ours, r#type) };
    ($upstream:path, $ours:ident, $name:ident, continue_) => { crate::wire::oracle::hold_tag!(@ $upstream, $ours, r#continue) };
    ($upstream:path, $ours:ident, $name:ident, default_) => { crate::wire::oracle::hold_tag!(@ $upstream, $ours, default) };
    ($upstream:path, $ours:ident, $name:ident, $field:ident) => { crate::wire::oracle::hold_tag!(@ $upstream, $ours, $field) };
    (@ $upstream:path, $ours:ident, $field:ident) => {{
        let name = format!("{}.{}", std::any::type_name::<$upstream>(), stringify!($field));
        let mut theirs: $upstream = prost::Message::decode(&*prost::Message::encode_to_vec(&$ours))
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let field = std::mem::take(&mut theirs.$field);
        assert_ne!(field, theirs.$field, "{name} has another tag upstream");
        assert_eq!(theirs, <$upstream>::default(), "{name}");
    }};
}
pub(crate) use hold_tag;

macro_rules! scalars_are_upstream_s {
    ($($ours:ident as $upstream:path: $($field:ident as $theirs:ident),*;)*) => { $(
        impl Tagged for $ours {
            #[allow(clippy::needless_update, reason = "a message may have one field")]
            fn hold_tags() { $( {
                let ours = $ours { $field: Sample::sample(), ..$ours::default() };
                hold_tag!(@ $upstream, ours, $theirs);
            } )* }
        }
    )* };
}
scalars_are_upstream_s! {
    Time as k8s_pb::apimachinery::pkg::apis::meta::v1::Time: seconds as seconds, nanos as nanos;
    MicroTime as k8s_pb::apimachinery::pkg::apis::meta::v1::MicroTime: seconds as seconds, nanos as nanos;
    Quantity as k8s_pb::apimachinery::pkg::api::resource::Quantity: string as string;
    IntOrString as k8s_pb::apimachinery::pkg::util::intstr::IntOrString: kind as r#type, int as int_val, str as str_val;
}

/// Sets every field of a wire type, and takes the object through JSON, upstream's type and JSON again; and through
/// protobuf.
pub fn comes_back<W, U>()
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
fn what_is_in_no_table_is_upstream_s() {
    ListMeta::hold_tags();
    events_v1::Event::hold_tags();
    comes_back::<events_v1::Event, k8s_openapi::api::events::v1::Event>();
}
