//! From lists to a snapshot: the kinds that a command needs, built up as their pages come; what cannot be read becomes
//! a gap; and the scale of owners that are of no built-in kind is asked for one by one.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::discovery::group_path;
use super::list::{Event, ListRequest, Outcome, PROTOBUF};
use super::{Cluster, Got, Resource, pages};
use crate::error::Result;
use crate::snapshot::builder::Builder;
use crate::snapshot::coverage;
use crate::snapshot::custom::KEPT_GROUPS;
use crate::snapshot::meta::OwnerRef;
use crate::snapshot::workload::Scale;
use crate::snapshot::{Kind, Snapshot, Source};

/// What a command reads.
#[derive(Debug, Clone, Copy)]
pub struct Needs<'a> {
    /// The kinds.
    pub kinds: &'a [Kind],
    /// The one namespace of interest; `None` for all. Kinds outside namespaces are read whole.
    pub namespace: Option<&'a str>,
    /// Whether the settings of operators matter: objects of [`KEPT_GROUPS`].
    pub operators: bool,
}

/// The list of a kind.
#[must_use]
pub fn list_of(kind: Kind, namespace: Option<&str>) -> ListRequest {
    let info = kind.info();
    let api_version =
        if info.group.is_empty() { info.version.to_owned() } else { format!("{}/{}", info.group, info.version) };
    list_at(&api_version, info.plural, info.namespaced, namespace).accept(PROTOBUF)
}

fn list_at(api_version: &str, plural: &str, namespaced: bool, namespace: Option<&str>) -> ListRequest {
    let group = group_path(api_version);
    match namespace {
        Some(namespace) if namespaced => ListRequest::new(format!("{group}/namespaces/{namespace}/{plural}")),
        _ => ListRequest::new(format!("{group}/{plural}")),
    }
}

impl From<Outcome> for coverage::Outcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Read { .. } => Self::Read,
            Outcome::Forbidden { message } => Self::Forbidden(message),
            Outcome::Absent => Self::Absent,
            Outcome::Failed { message } => Self::Failed(message),
        }
    }
}

impl Cluster {
    /// Reads a snapshot. What may not be read, or cannot, is a gap in it.
    ///
    /// # Errors
    /// No connection, or credentials that are not accepted.
    pub fn read(&mut self, needs: &Needs<'_>) -> Result<Snapshot> {
        self.with_fresh_credentials(|cluster| cluster.read_once(needs))
    }

    fn read_once(&self, needs: &Needs<'_>) -> Result<Snapshot> {
        let server_version = self.version()?;
        let mut builder = Builder::default();
        self.read_kinds(needs, &mut builder)?;
        if needs.operators {
            self.read_operators(needs.namespace, &mut builder)?;
        }
        for CustomOwner { namespace, owner, scale, .. } in self.scales(builder.unknown_owners())? {
            builder.add_owner(&namespace, &owner, scale);
        }
        let source = Source {
            files: Vec::new(),
            context: self.context().map(str::to_owned),
            server: Some(self.server().to_owned()),
            server_version,
        };
        Ok(builder.finish(source, Some(self.client.now())))
    }

    fn read_kinds(&self, needs: &Needs<'_>, builder: &mut Builder) -> Result<()> {
        // Definitions say where the count of a custom owner stands. They are large, and the server is asked itself.
        builder.note(Kind::CustomResourceDefinition, coverage::Outcome::Read);
        let kinds: Vec<_> =
            needs.kinds.iter().copied().filter(|kind| *kind != Kind::CustomResourceDefinition).collect();
        let requests: Vec<_> = kinds.iter().map(|kind| list_of(*kind, needs.namespace)).collect();
        let outcomes = self.read_all(&requests, |index, event| {
            let Some(kind) = kinds.get(index).copied() else { return };
            match event {
                Event::Restart => builder.forget(kind),
                Event::Page(page) => {
                    let mut bad = None;
                    let split = pages::each_item(&page, |item| {
                        bad = builder.add(kind, item).err().map(|e| e.message).or(bad.take());
                    });
                    if let Some(why) = split.err().or(bad) {
                        builder.note(kind, coverage::Outcome::Failed(why));
                    }
                }
            }
        })?;
        for (kind, outcome) in kinds.iter().zip(outcomes) {
            builder.note(*kind, outcome.into());
        }
        Ok(())
    }

    /// Objects of operators: of those groups that the server has, every kind that can be listed.
    fn read_operators(&self, namespace: Option<&str>, builder: &mut Builder) -> Result<()> {
        let paths = [String::from("/apis")];
        let Some(Ok(body)) = self.get_all(&paths)?.into_iter().next() else { return Ok(()) };
        let groups: GroupList = serde_json::from_slice(&body).unwrap_or_default();
        let kept = groups.groups.iter().filter(|group| KEPT_GROUPS.contains(&&*group.name));
        let versions: Vec<_> = kept.map(|group| group.preferred_version.group_version.clone()).collect();
        let found = self.discover_all(&versions)?;
        let mut requests = Vec::new();
        for (api_version, resources) in versions.iter().zip(found) {
            for resource in resources.iter().flatten().filter(|resource| resource.listable) {
                requests.push(list_at(api_version, &resource.plural, resource.namespaced, namespace));
            }
        }
        self.read_all(&requests, |_, event| {
            // What is read anew takes the place of what was read first; a word less about an operator is no gap.
            let Event::Page(page) = event else { return };
            let added = pages::each_item(&page, |item| {
                if let crate::snapshot::builder::Item::Json(bytes) = item {
                    let _ = builder.add_json(bytes);
                }
            });
            if let Err(why) = added {
                log::warn!("an operator's list cannot be read: {why}");
            }
        })?;
        Ok(())
    }

    /// The scale of owners that are of no built-in kind, by the subresource that the disruption controller asks. An
    /// owner that is gone is left out, as the controller leaves it out.
    pub(super) fn scales(&self, owners: Vec<(String, OwnerRef)>) -> Result<Vec<CustomOwner>> {
        let versions: BTreeSet<_> = owners.iter().map(|(_, owner)| api_version(owner)).collect();
        let versions: Vec<_> = versions.into_iter().collect();
        let found: BTreeMap<_, _> = versions.iter().zip(self.discover_all(&versions)?).collect();
        let mut paths = Vec::new();
        let mut known = Vec::new();
        for (namespace, owner) in owners {
            let api_version = api_version(&owner);
            let (plural, scale) = match found.get(&api_version) {
                Some(Ok(resources)) => match resources.iter().find(|resource| resource.kind == *owner.kind) {
                    Some(resource) if resource.has_scale => (resource.plural.as_str(), None),
                    Some(resource) => (resource.plural.as_str(), Some(Scale::NoScale)),
                    None => ("", Some(Scale::NoScale)),
                },
                // The group is gone, and its objects with it: nothing is left that could have a scale.
                Some(Err(Outcome::Absent)) => ("", Some(Scale::NoScale)),
                Some(Err(_)) | None => ("", Some(Scale::Unknown)),
            };
            if scale.is_none() {
                let group = group_path(&api_version);
                paths.push(format!("{group}/namespaces/{namespace}/{plural}/{}/scale", owner.name));
            }
            known.push((CustomOwner { namespace, owner, plural: plural.to_owned(), scale: Scale::Unknown }, scale));
        }
        let mut answers = self.get_all(&paths)?.into_iter();
        let told = known.into_iter().filter_map(|(owner, scale)| {
            let scale = match scale {
                Some(scale) => scale,
                None => scale_of(&answers.next()?)?,
            };
            Some(CustomOwner { scale, ..owner })
        });
        Ok(told.collect())
    }

    fn discover_all(&self, api_versions: &[String]) -> Result<Vec<Result<Vec<Resource>, Outcome>>> {
        let paths: Vec<_> = api_versions.iter().map(|version| group_path(version)).collect();
        Ok(self.get_all(&paths)?.into_iter().map(super::resources).collect())
    }
}

/// An owner of pods that is of no built-in kind.
pub(super) struct CustomOwner {
    pub namespace: String,
    pub owner: OwnerRef,
    /// The word for its kind in paths; empty where the server does not know the kind.
    pub plural: String,
    pub scale: Scale,
}

/// `autoscaling/v1.Scale`, of it the count that is wanted.
#[derive(Deserialize)]
struct ScaleObject {
    #[serde(default)]
    spec: ScaleSpec,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ScaleSpec {
    replicas: i32,
}

/// `metav1.APIGroupList`.
#[derive(Default, Deserialize)]
struct GroupList {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    name: String,
    preferred_version: GroupVersion,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion {
    group_version: String,
}

/// `None` for an owner that is gone.
fn scale_of(got: &Got) -> Option<Scale> {
    match got {
        Ok(body) => match serde_json::from_slice::<ScaleObject>(body) {
            Ok(scale) => Some(Scale::Replicas(scale.spec.replicas)),
            Err(_) => Some(Scale::Unknown),
        },
        Err(Outcome::Absent) => None,
        Err(_) => Some(Scale::Unknown),
    }
}

fn api_version(owner: &OwnerRef) -> String {
    if owner.group.is_empty() { owner.version.to_string() } else { format!("{}/{}", owner.group, owner.version) }
}
