//! The API's scalars that are strings in JSON and messages in protobuf: times, quantities, int-or-string.

use jiff::Timestamp;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// `meta/v1.Time` and `MicroTime`: seconds and nanoseconds since 1970, UTC. The zero value stands for no time at all,
/// as Go's serialisers write it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub struct Time {
    /// Whole seconds since 1970.
    #[prost(int64, tag = 1)]
    pub seconds: i64,
    /// Nanoseconds within the second.
    #[prost(int32, tag = 2)]
    pub nanos: i32,
}

impl Time {
    /// The instant, or `None` where Go wrote its zero time or a time beyond what a calendar holds.
    pub fn timestamp(self) -> Option<Timestamp> {
        if self.seconds == 0 && self.nanos == 0 { None } else { Timestamp::new(self.seconds, self.nanos).ok() }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        let t: Timestamp =
            text.parse().map_err(|_| D::Error::invalid_value(Unexpected::Str(&text), &"an RFC 3339 time"))?;
        Ok(Self { seconds: t.as_second(), nanos: t.subsec_nanosecond() })
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.timestamp() {
            Some(t) => s.collect_str(&t),
            None => s.serialize_none(),
        }
    }
}

/// `resource.Quantity` as it was written; [`crate::snapshot::quantity::Quantity`] gives it a value.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct Quantity {
    /// The text, such as `100m` or `1Gi`.
    #[prost(string, tag = 1)]
    pub string: String,
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Quantity;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quantity such as 100m or 1Gi")
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Quantity, E> {
                Ok(Quantity { string: v.to_owned() })
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Quantity, E> {
                Ok(Quantity { string: v.to_string() })
            }
            fn visit_u64<E: Error>(self, v: u64) -> Result<Quantity, E> {
                Ok(Quantity { string: v.to_string() })
            }
            fn visit_f64<E: Error>(self, v: f64) -> Result<Quantity, E> {
                Ok(Quantity { string: v.to_string() })
            }
        }
        d.deserialize_any(Text)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.string)
    }
}

/// `intstr.IntOrString`: an integer (type 0) or a string such as `50%` (type 1).
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct IntOrString {
    /// 0 for an integer, 1 for a string.
    #[prost(int64, tag = 1)]
    pub kind: i64,
    /// The integer.
    #[prost(int32, tag = 2)]
    pub int: i32,
    /// The string.
    #[prost(string, tag = 3)]
    pub str: String,
}

impl IntOrString {
    /// An integer.
    pub fn int(value: i32) -> Self {
        Self { kind: 0, int: value, str: String::new() }
    }

    /// A string, such as `50%`.
    pub fn string(value: impl Into<String>) -> Self {
        Self { kind: 1, int: 0, str: value.into() }
    }
}

impl<'de> Deserialize<'de> for IntOrString {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = IntOrString;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a 32-bit integer or a string such as 50%")
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<IntOrString, E> {
                i32::try_from(v).map(IntOrString::int).map_err(|_| E::invalid_value(Unexpected::Signed(v), &self))
            }
            fn visit_u64<E: Error>(self, v: u64) -> Result<IntOrString, E> {
                i32::try_from(v).map(IntOrString::int).map_err(|_| E::invalid_value(Unexpected::Unsigned(v), &self))
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<IntOrString, E> {
                Ok(IntOrString::string(v))
            }
        }
        d.deserialize_any(Either)
    }
}

impl Serialize for IntOrString {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if self.kind == 0 { s.serialize_i32(self.int) } else { s.serialize_str(&self.str) }
    }
}
