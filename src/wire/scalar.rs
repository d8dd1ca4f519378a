//! The API's scalars that are strings or numbers in JSON and messages in protobuf: quantities, int-or-string.

use super::quantity;
use prost::DecodeError;
use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType, skip_field, string};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// `resource.Quantity`, as it was written and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Quantity {
    /// The text, such as `100m` or `1Gi`.
    pub string: String,
    /// What the text means.
    pub value: quantity::Quantity,
}

impl Quantity {
    /// `None` where upstream's decoders refuse it.
    fn read(string: &str) -> Option<Self> {
        Some(Self { string: string.to_owned(), value: quantity::Quantity::parse(string)? })
    }
}

/// As derived for a message of one string, which is judged while it is read.
impl prost::Message for Quantity {
    fn encode_raw(&self, buffer: &mut impl BufMut) {
        if !self.string.is_empty() {
            string::encode(1, &self.string, buffer);
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buffer: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        if tag != 1 {
            return skip_field(wire_type, tag, buffer, context);
        }
        string::merge(wire_type, &mut self.string, buffer, context)?;
        #[expect(deprecated, reason = "it is meant for implementations of Message, such as this one")]
        let refused = || DecodeError::new(format!("{:?} is no quantity", self.string));
        self.value = quantity::Quantity::parse(&self.string).ok_or_else(refused)?;
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        if self.string.is_empty() { 0 } else { string::encoded_len(1, &self.string) }
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
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
                Quantity::read(v.trim()).ok_or_else(|| E::invalid_value(Unexpected::Str(v), &self))
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Quantity, E> {
                self.visit_str(&v.to_string())
            }
            fn visit_u64<E: Error>(self, v: u64) -> Result<Quantity, E> {
                self.visit_str(&v.to_string())
            }
            fn visit_f64<E: Error>(self, v: f64) -> Result<Quantity, E> {
                // Large ones as a file most likely has them: with an exponent.
                self.visit_str(&if v.abs() < 1e18 { v.to_string() } else { format!("{v:e}") })
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;

    fn read<T: DeserializeOwned>(json: &str) -> Option<T> {
        serde_json::from_str(json).ok()
    }

    /// As `intstr.IntOrString.UnmarshalJSON`.
    #[test]
    fn integers_or_strings() {
        for (json, want) in [
            ("3", Some(IntOrString::int(3))),
            ("-1", Some(IntOrString::int(-1))),
            ("\"50%\"", Some(IntOrString::string("50%"))),
            ("\"3\"", Some(IntOrString::string("3"))),
            ("2147483648", None),
            ("1.5", None),
            ("true", None),
        ] {
            let got = read::<IntOrString>(json);
            assert_eq!(got, want, "{json}");
            if let Some(value) = got {
                assert_eq!(serde_json::to_string(&value).unwrap(), json);
            }
        }
    }
}
