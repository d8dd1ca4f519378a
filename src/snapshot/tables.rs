//! The objects of every kind: how each is read, kept, forgotten and cut down, as the table of kinds says.

use super::keep::{Keep, Reader};
use super::kinds::{Kind, each_kind};
use super::meta::Meta;
use super::object::Object;
use super::table::{Keyed, Table, Twice};
use super::workload::Workload;
use crate::wire::item::{Item, ItemError};
use crate::wire::{
    apps, core, crd, events, groups, karpenter, kueue, machines, node, operators, pod, policy, resource, scheduling,
    storage, volume,
};
#[cfg(any(feature = "live", test))]
use serde_json::Value;
use std::sync::Arc;

/// The table of a row, which is that of the workloads where the row names none.
macro_rules! table {
    ($tables:ident) => {
        $tables.workloads
    };
    ($tables:ident $table:ident) => {
        $tables.$table
    };
}

/// Reads an item: what an operator defines comes as JSON alone.
macro_rules! decode {
    (custom $wire:ty, $item:ident) => {
        $item.decode_json::<$wire>()
    };
    ($how:ident $wire:ty, $item:ident) => {
        $item.decode::<$wire>()
    };
}

/// Kinds that are kept as they are read; the others say in their own files what is kept of them.
macro_rules! keep {
    (own $wire:ty) => {};
    (work $wire:ty) => {};
    ($how:ident $wire:ty) => {
        impl Keep for $wire {
            type Kept = Object<Self>;
            fn keep(mut self, reader: &mut Reader) -> Result<Object<Self>, String> {
                let meta = Meta::read(self.metadata.take(), &mut reader.interner);
                Ok(Object { meta, body: self })
            }
        }
    };
}

macro_rules! define_tables {
    ($($how:ident $kind:ident $(= $name:literal)?: $group:literal $version:literal $plural:literal $short:literal
        $scope:ident, $wire:ty $(as $($upstream:ident)::+)? $(=> $table:ident)?;)*) => {
        /// The objects of every kind.
        #[derive(Debug, Clone, Default)]
        #[allow(missing_docs, reason = "a table for each kind, named as the kind is")]
        pub struct Tables {
            /// Controllers of pods, of every kind; those that share a name differ by kind.
            pub workloads: Table<Workload>,
            $($(pub $table: Table<<$wire as Keep>::Kept>,)?)*
        }

        $(keep!($how $wire);)*

        impl Tables {
            /// Adds an object of a kind.
            pub(super) fn add(&mut self, kind: Kind, item: Item<'_>, reader: &mut Reader) -> Result<(), ItemError> {
                match kind {
                    $(Kind::$kind => {
                        let kept = decode!($how $wire, item)?.keep(reader)?;
                        table!(self $($table)?).push(Arc::new(kept));
                    })*
                }
                Ok(())
            }

            /// Drops all objects of a kind.
            pub(super) fn forget(&mut self, kind: Kind) {
                match kind {
                    $(Kind::$kind => table!(self $($table)?).forget(kind),)*
                }
            }

            /// What every object is called: its kind, whether that lives in namespaces, its metadata.
            pub fn metas(&self) -> impl Iterator<Item = (&str, bool, &Meta)> {
                let workloads = self.workloads.iter().map(|w| {
                    let kind = Kind::of(&w.group, &w.kind);
                    (&*w.kind, kind.is_some_and(|k| k.info().namespaced), &w.meta)
                });
                let mut all: Vec<(&str, bool, &Meta)> = workloads.collect();
                $($({
                    let info = Kind::$kind.info();
                    all.extend(self.$table.iter().map(|o| (info.name, info.namespaced, o.meta())));
                })?)*
                all.into_iter()
            }

            /// Makes the tables fit to be looked up in, after objects were added; which of them there were twice.
            pub(super) fn sort(&mut self) -> Twice {
                let mut twice = Twice::default();
                self.workloads.sort("workload", &mut twice);
                $($(self.$table.sort(Kind::$kind.info().name, &mut twice);)?)*
                twice
            }
        }

        /// An object as JSON, with just the fields that are read.
        #[cfg(any(feature = "live", test))]
        pub(super) fn fields(kind: Kind, item: Item<'_>) -> Result<Value, ItemError> {
            Ok(match kind {
                $(Kind::$kind => serde_json::to_value(decode!($how $wire, item)?)?,)*
            })
        }
    };
}
each_kind!(define_tables);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::oracle::{Tagged, comes_back};
    use k8s_openapi::Resource;

    fn is_what_upstream_calls_it<U: Resource>(kind: Kind) {
        let info = kind.info();
        assert_eq!(
            (info.group, info.version, info.name, info.plural),
            (U::GROUP, U::VERSION, U::KIND, U::URL_PATH_SEGMENT)
        );
        assert_eq!(info.namespaced, std::any::type_name::<U::Scope>().ends_with("NamespaceResourceScope"), "{kind}");
    }

    /// A row against upstream's type, where there is one.
    macro_rules! hold {
        ($kind:ident $wire:ty) => {};
        ($kind:ident $wire:ty as $($upstream:ident)::+) => {
            is_what_upstream_calls_it::<k8s_openapi::$($upstream)::+::$kind>(Kind::$kind);
            comes_back::<$wire, k8s_openapi::$($upstream)::+::$kind>();
            <$wire>::hold_tags();
        };
    }

    macro_rules! hold_every_kind {
        ($($how:ident $kind:ident $(= $name:literal)?: $group:literal $version:literal $plural:literal $short:literal
            $scope:ident, $wire:ty $(as $($upstream:ident)::+)? $(=> $table:ident)?;)*) => {
            #[test]
            fn every_kind_and_every_field_is_upstream_s() {
                $(hold!($kind $wire $(as $($upstream)::+)?);)*
            }
        };
    }
    each_kind!(hold_every_kind);
}

/// Of every kind an object in which each field that is read is set: as JSON, and as protobuf where upstream has that.
#[cfg(test)]
pub(crate) mod samples {
    use super::*;
    use crate::wire::oracle::Sample;

    macro_rules! sample {
        ($wire:ty) => {
            (Value::from(serde_json::Map::new()), None)
        };
        ($wire:ty as $($upstream:ident)::+) => {{
            let object = <$wire>::sample();
            (serde_json::to_value(&object).unwrap(), Some(prost::Message::encode_to_vec(&object)))
        }};
    }

    macro_rules! sample_every_kind {
        ($($how:ident $kind:ident $(= $name:literal)?: $group:literal $version:literal $plural:literal $short:literal
            $scope:ident, $wire:ty $(as $($upstream:ident)::+)? $(=> $table:ident)?;)*) => {
            pub(crate) fn samples() -> Vec<(Kind, Value, Option<Vec<u8>>)> {
                vec![$({
                    let (json, protobuf) = sample!($wire $(as $($upstream)::+)?);
                    (Kind::$kind, json, protobuf)
                }),*]
            }
        };
    }
    each_kind!(sample_every_kind);
}
