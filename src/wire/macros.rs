//! How wire structs are declared.

use serde::{Deserialize, Deserializer};

/// Declares wire structs, a line a field: `name (as "jsonName"): shape = protobuf tag`. They are called as upstream calls
/// them in the module that stands first; the tests hold names, types and tags against upstream's.
///
/// Shapes: `str` (absent is empty), `opt_str`, `bool` (absent is false), `opt_bool`, `i32` and `i64` (both optional),
/// `strings`, `i64s`, `bools`, `map` (of strings), `map_of(T)`, `list(T)`, `msg(T)` (optional), and `inline(T)` for an embedded Go
/// struct: a message of its own in protobuf, spread into its parent in JSON.
macro_rules! wire {
    (@fields [($($upstream:tt)*) $(#[$doc:meta])*] $name:ident { $($(#[$meta:meta])* pub $field:ident : $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, prost::Message, serde::Deserialize, serde::Serialize)]
        #[serde(rename_all = "camelCase", remote = "Self")]
        #[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
        pub struct $name { $($(#[$meta])* pub $field: $ty,)* }
        crate::wire::macros::from_objects_alone!($name);

        #[cfg(test)]
        impl crate::wire::oracle::Sample for $name {
            fn sample() -> Self {
                Self { $($field: crate::wire::oracle::Sample::sample(),)* }
            }
        }

        #[cfg(test)]
        wire!(@hold ($($upstream)*) $name { $($field: $ty,)* });
    };
    // k8s-pb is a version behind, and has no such message yet.
    (@hold (newer) $name:ident { $($field:ident: $ty:ty,)* }) => {
        impl crate::wire::oracle::Tagged for $name {
            fn hold_tags() {
                $( <$ty as crate::wire::oracle::Tagged>::hold_tags(); )*
            }
        }
    };
    (@hold ($($upstream:tt)*) $name:ident { $($field:ident: $ty:ty,)* }) => {
        impl crate::wire::oracle::Tagged for $name {
            #[allow(clippy::needless_update, reason = "a message may have one field")]
            fn hold_tags() {
                use k8s_pb::$($upstream)*::$name as Upstream;
                $(
                    let ours = $name { $field: crate::wire::oracle::Sample::sample(), ..$name::default() };
                    crate::wire::oracle::hold_tag!(Upstream, ours, $name, $field);
                    <$ty as crate::wire::oracle::Tagged>::hold_tags();
                )*
            }
        }
    };
    (@fields $doc:tt $name:ident $done:tt $field:ident as $json:literal : $($rest:tt)*) => {
        wire!(@shape $doc $name $done [#[serde(rename = $json)]] $field : $($rest)*);
    };
    (@fields $doc:tt $name:ident $done:tt $field:ident : $($rest:tt)*) => {
        wire!(@shape $doc $name $done [] $field : $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : str = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [string] $field String [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : opt_str = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [string, optional] $field [Option<String>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : bool = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [bool] $field bool [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : opt_bool = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [bool, optional] $field [Option<bool>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : i32 = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [int32, optional] $field [Option<i32>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : i64 = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [int64, optional] $field [Option<i64>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : strings = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [string, repeated] $field [Vec<String>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : i64s = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [int64, repeated] $field [Vec<i64>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : bools = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [bool, repeated] $field [Vec<bool>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : map = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [btree_map = "string, string"] $field
            [std::collections::BTreeMap<String, String>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : map_of($ty:ty) = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [btree_map = "string, message"] $field
            [std::collections::BTreeMap<String, $ty>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : list($ty:ty) = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [message, repeated] $field [Vec<$ty>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident $done:tt $meta:tt $field:ident : msg($ty:ty) = $tag:tt, $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta [message, optional] $field [Option<$ty>] [$tag] $($rest)*);
    };
    (@shape $doc:tt $name:ident { $($done:tt)* } $meta:tt $field:ident : inline($ty:ty) = $tag:tt, $($rest:tt)*) => {
        wire!(@fields $doc $name {
            $($done)*
            #[prost(message, optional, tag = $tag)]
            #[serde(flatten, deserialize_with = "crate::wire::macros::embedded")]
            pub $field: Option<$ty>,
        } $($rest)*);
    };
    (@add $doc:tt $name:ident $done:tt $meta:tt $proto:tt $field:ident [$ty:ty] $tag:tt $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta $proto $field ($ty) $tag $($rest)*);
    };
    (@add $doc:tt $name:ident $done:tt $meta:tt $proto:tt $field:ident $ty:ident $tag:tt $($rest:tt)*) => {
        wire!(@add $doc $name $done $meta $proto $field ($ty) $tag $($rest)*);
    };
    (@add $doc:tt $name:ident { $($done:tt)* } [$($meta:tt)*] [$($proto:tt)*] $field:ident ($ty:ty) [$tag:tt] $($rest:tt)*) => {
        wire!(@fields $doc $name {
            $($done)*
            #[prost($($proto)*, tag = $tag)]
            #[serde(default, deserialize_with = "crate::wire::macros::nullable", skip_serializing_if = "crate::wire::macros::is_default")]
            $($meta)*
            pub $field: $ty,
        } $($rest)*);
    };
    (as $upstream:tt; $($(#[$doc:meta])* $name:ident { $($body:tt)* })*) => {
        $( wire!(@fields [$upstream $(#[$doc])*] $name {} $($body)*); )*
    };
}
pub(super) use wire;

/// Declares structs that are read from JSON alone: every field may be absent or `null`, which is its default.
macro_rules! json {
    ($($(#[$doc:meta])* $name:ident { $($(#[$meta:meta])* $field:ident: $ty:ty,)* })*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Deserialize, serde::Serialize)]
        #[serde(rename_all = "camelCase", remote = "Self")]
        #[allow(missing_docs, reason = "the fields are those of the operator's API")]
        pub struct $name { $(
            $(#[$meta])*
            #[serde(default, deserialize_with = "crate::wire::macros::nullable", skip_serializing_if = "crate::wire::macros::is_default")]
            pub $field: $ty,
        )* }
        crate::wire::macros::from_objects_alone!($name);
    )* };
}
pub(super) use json;

/// What is derived with `remote = "Self"`, behind a door: serde would read a struct from an array, too, field by field,
/// and take an empty one for a struct without fields. Go's decoders refuse it.
macro_rules! from_objects_alone {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Object;
                impl<'de> serde::de::Visitor<'de> for Object {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                        $name::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    }
                }
                deserializer.deserialize_map(Object)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }
    };
}
pub(super) use from_objects_alone;

/// Reads what Go embeds: its fields stand among those around it. serde would take a fault among them for their absence.
pub(super) fn embedded<'de, D: Deserializer<'de>, T: Deserialize<'de>>(d: D) -> Result<Option<T>, D::Error> {
    T::deserialize(d).map(Some)
}

/// Reads a value that Go may write as `null` where it means the empty one.
pub(super) fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(d: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(d)?.unwrap_or_default())
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
