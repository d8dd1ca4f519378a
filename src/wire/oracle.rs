//! Holds the wire structs against k8s-openapi, whose types are generated from the API itself: an object in which every
//! field is set must come back whole through them, so that no field is misspelt, misplaced or of another type.

use super::events::EventsV1Event;
use super::scalar::{IntOrString, Quantity, Time};
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
fn events_of_the_newer_api_are_upstream_s() {
    comes_back::<EventsV1Event, k8s_openapi::api::events::v1::Event>();
}
