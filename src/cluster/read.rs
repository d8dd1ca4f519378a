//! From lists to a snapshot: the kinds that a command needs, built up as their pages come; what cannot be read becomes
//! a gap; and the scale of owners that are of no built-in kind is asked for one by one.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::autoscaling::v1;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIGroupList;
use serde::Deserialize;

use super::connection::{Cluster, Got};
use super::discovery::{Resource, group_path};
use super::list::Page;
use super::list::{ListEvent, ListOutcome, ListRequest, PROTOBUF, PROTOBUF_METADATA};
use super::pages;
use crate::error::Result;
use crate::snapshot::api_version;
use crate::snapshot::builder::Builder;
use crate::snapshot::coverage;
use crate::snapshot::meta::OwnerRef;
use crate::snapshot::workload::Scale;
use crate::snapshot::{Kind, Snapshot, Source};
use crate::wire;

/// What a command reads.
#[derive(Debug, Clone, Copy)]
pub struct Needs<'a> {
    /// The kinds.
    pub kinds: &'a [Kind],
    /// The one namespace of interest; `None` for all. Kinds outside namespaces are read whole.
    pub namespace: Option<&'a str>,
    /// A node of which all pods are read besides, of whatever namespace.
    pub node: Option<&'a str>,
}

/// The list of a kind.
#[must_use]
pub fn list_of(kind: Kind, namespace: Option<&str>) -> ListRequest {
    let info = kind.info();
    list_at(kind, &api_version::join(info.group, info.version), namespace)
}

fn list_at(kind: Kind, api_version: &str, namespace: Option<&str>) -> ListRequest {
    let info = kind.info();
    let group = group_path(api_version);
    let path = match namespace {
        Some(namespace) if info.namespaced => format!("{group}/namespaces/{namespace}/{}", info.plural),
        _ => format!("{group}/{}", info.plural),
    };
    let list = ListRequest::new(path);
    // Operators may call their lists as they like.
    let list = if info.custom { list } else { list.of(info.name) };
    match kind {
        // Of a namespace its labels and its deletion are of interest.
        Kind::Namespace => list.accept(PROTOBUF_METADATA),
        // The others are none of a drain's business.
        Kind::LonghornSetting => list.fields("metadata.name=node-drain-policy"),
        _ => list.accept(PROTOBUF),
    }
}

/// What became of the list of a kind. That the server has no such kind is a fault where every server has it.
pub(super) fn judged(kind: Kind, outcome: ListOutcome) -> ListOutcome {
    let everywhere = matches!(kind.info().group, "" | "apps" | "batch" | "policy");
    match outcome {
        ListOutcome::Absent if everywhere => {
            ListOutcome::Failed { message: "the server does not have it (404)".into() }
        }
        outcome => outcome,
    }
}

impl From<ListOutcome> for coverage::ReadOutcome {
    fn from(outcome: ListOutcome) -> Self {
        match outcome {
            ListOutcome::Read { .. } => Self::Read,
            ListOutcome::Forbidden { message } => Self::Forbidden(message),
            ListOutcome::Absent => Self::Absent,
            ListOutcome::Failed { message } => Self::Failed(message),
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
        let server = self.greet()?;
        let mut builder = Builder::default();
        // Definitions say where the count of a custom owner stands. They are large, and the server is asked itself.
        builder.note(Kind::CustomResourceDefinition, coverage::ReadOutcome::Read);
        let mut lists = wanted(needs.kinds, needs.namespace, &server);
        for kind in needs.kinds.iter().filter(|kind| server.lacks(**kind)) {
            builder.note(*kind, coverage::ReadOutcome::Read);
        }
        let on_node = needs.node.map(|node| list_of(Kind::Pod, None).fields(format!("spec.nodeName={node}")));
        lists.extend(on_node.map(|list| (Wanted::PodsOnNode, list)));
        let mut held = Vec::new();
        let outcomes = self.read_lists(&lists, |_, wanted, event| match (wanted, event) {
            (Wanted::Kind(kind), ListEvent::Restart) => builder.forget(*kind),
            (Wanted::Kind(kind), ListEvent::Page(page)) => add_page(&mut builder, *kind, &page),
            // They wait for the other pods, which may have to be read anew.
            (Wanted::PodsOnNode, ListEvent::Page(page)) => held.push(page),
            (Wanted::PodsOnNode, ListEvent::Restart) => held.clear(),
        })?;
        for (wanted, outcome) in outcomes {
            match wanted {
                Wanted::Kind(kind) => builder.note(*kind, judged(*kind, outcome).into()),
                // A word less about its neighbours is no gap.
                Wanted::PodsOnNode => {}
            }
        }
        for page in held {
            add_page(&mut builder, Kind::Pod, &page);
        }
        for CustomOwner { namespace, owner, scale, .. } in self.scales(builder.custom_owners())? {
            builder.add_owner(&namespace, &owner, scale);
        }
        let source = Source {
            files: Vec::new(),
            context: self.context().map(str::to_owned),
            server: Some(self.server().to_owned()),
            server_version: server.version,
        };
        Ok(builder.finish(source, Some(self.now())))
    }

    /// The node that a pod is bound to; `None` where it has none, is not there, or may not be read.
    ///
    /// # Errors
    /// No connection, or credentials that are not accepted.
    pub fn node_of(&self, namespace: &str, pod: &str) -> Result<Option<String>> {
        // A list of one: nobody has to have the right to get pods.
        let one = list_of(Kind::Pod, Some(namespace)).fields(format!("metadata.name={pod}"));
        let Ok(body) = self.get(&one.first_page())? else { return Ok(None) };
        let list: Option<PodList> = serde_json::from_slice(&body).ok();
        let pod = list.and_then(|list| list.items.into_iter().next());
        Ok(pod.and_then(|pod| pod.spec).map(|spec| spec.node_name).filter(|node| !node.is_empty()))
    }

    /// Asks the server for its version and its groups.
    pub(super) fn greet(&self) -> Result<Greeting> {
        let mut answers = self.get_all(&["/version".into(), "/apis".into()])?.into_iter();
        let mut next = || answers.next().unwrap_or(Err(ListOutcome::Absent));
        let version = self.version_in(next())?;
        // Without the groups what operators define is a gap.
        let groups = next().ok().and_then(|body| serde_json::from_slice(&body).ok());
        Ok(Greeting { version, groups })
    }

    /// As [`Cluster::read_all`], for lists that know what they are of.
    pub(super) fn read_lists<'a>(
        &self,
        lists: &'a [(Wanted, ListRequest)],
        mut on_event: impl FnMut(usize, &Wanted, ListEvent),
    ) -> Result<Vec<(&'a Wanted, ListOutcome)>> {
        let requests: Vec<_> = lists.iter().map(|(_, request)| request.clone()).collect();
        let outcomes = self.read_all(&requests, |index, event| {
            if let Some((wanted, _)) = lists.get(index) {
                on_event(index, wanted, event);
            }
        })?;
        Ok(lists.iter().map(|(wanted, _)| wanted).zip(outcomes).collect())
    }

    /// The scale of owners that are of no built-in kind, by the subresource that the disruption controller asks. An
    /// owner that is gone is left out, as the controller leaves it out.
    pub(super) fn scales(&self, owners: Vec<(String, OwnerRef)>) -> Result<Vec<CustomOwner>> {
        let versions: BTreeSet<_> = owners.iter().map(|(_, owner)| owner.api_version()).collect();
        let versions: Vec<_> = versions.into_iter().collect();
        let found: BTreeMap<_, _> = versions.iter().zip(self.discover_all(&versions)?).collect();
        let mut paths = Vec::new();
        let mut known = Vec::new();
        for (namespace, owner) in owners {
            let api_version = owner.api_version();
            let (plural, scale) = match found.get(&api_version) {
                Some(Ok(resources)) => match resources.iter().find(|resource| resource.kind == *owner.kind) {
                    Some(resource) if resource.has_scale => (resource.plural.as_str(), None),
                    Some(resource) => (resource.plural.as_str(), Some(Scale::NoScale)),
                    None => ("", Some(Scale::NoScale)),
                },
                // The group is gone, and its objects with it: nothing is left that could have a scale.
                Some(Err(ListOutcome::Absent)) => ("", Some(Scale::NoScale)),
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

    fn discover_all(&self, api_versions: &[String]) -> Result<Vec<Result<Vec<Resource>, ListOutcome>>> {
        let paths: Vec<_> = api_versions.iter().map(|version| group_path(version)).collect();
        Ok(self.get_all(&paths)?.into_iter().map(super::connection::resources).collect())
    }
}

/// Adds the objects of a page, and notes what cannot be read of them.
fn add_page(builder: &mut Builder, kind: Kind, page: &Page) {
    let mut bad = None;
    let split = pages::each_item(page, |item| {
        bad = builder.add(kind, item).err().map(|e| e.message).or(bad.take());
    });
    if let Some(why) = split.err().or(bad) {
        builder.note(kind, coverage::ReadOutcome::Failed(why));
    }
}

#[derive(Deserialize)]
struct PodList {
    items: Vec<wire::pod::Pod>,
}

/// An owner of pods that is of no built-in kind.
pub(super) struct CustomOwner {
    pub namespace: String,
    pub owner: OwnerRef,
    /// The word for its kind in paths; empty where the server does not know the kind.
    pub plural: String,
    pub scale: Scale,
}

/// What a server says of itself.
pub(super) struct Greeting {
    /// Like `v1.36.3`; `None` where it may not be asked for.
    pub version: Option<String>,
    /// `None` where they may not be asked for.
    pub groups: Option<APIGroupList>,
}

impl Greeting {
    /// The version of a group that the server prefers, as an `apiVersion`.
    fn preferred(&self, group: &str) -> Option<&str> {
        let group = self.groups.as_ref()?.groups.iter().find(|g| g.name == group)?;
        Some(&group.preferred_version.as_ref().or(group.versions.first())?.group_version)
    }

    /// In which version a kind that an operator defines is read: that of the table where the server has it, else the one
    /// that the server prefers.
    fn version_of(&self, kind: Kind) -> Option<String> {
        let info = kind.info();
        let group = self.groups.as_ref()?.groups.iter().find(|g| g.name == info.group)?;
        let own = api_version::join(info.group, info.version);
        let served = group.versions.iter().any(|v| v.group_version == own);
        if served { Some(own) } else { self.preferred(info.group).map(str::to_owned) }
    }

    /// Whether the server is known not to have a kind, as it is without the operator that defines it: there is none.
    pub fn lacks(&self, kind: Kind) -> bool {
        let info = kind.info();
        info.custom && self.groups.is_some() && self.preferred(info.group).is_none()
    }
}

/// What a list is of.
pub(super) enum Wanted {
    /// A kind that is known.
    Kind(Kind),
    /// The pods of one node, besides those of a namespace.
    PodsOnNode,
}

/// The lists of these kinds; of what operators define, those that the server has.
pub(super) fn wanted(kinds: &[Kind], namespace: Option<&str>, server: &Greeting) -> Vec<(Wanted, ListRequest)> {
    let list = |kind: &Kind| match kind.info() {
        info if info.custom => Some(list_at(*kind, &server.version_of(*kind)?, namespace)),
        _ => Some(list_of(*kind, namespace)),
    };
    let known = kinds.iter().filter(|kind| **kind != Kind::CustomResourceDefinition);
    known.filter_map(|kind| Some((Wanted::Kind(*kind), list(kind)?))).collect()
}

/// `None` for an owner that is gone.
fn scale_of(got: &Got) -> Option<Scale> {
    match got {
        // 0 is not written.
        Ok(body) => match serde_json::from_slice::<v1::Scale>(body) {
            Ok(v1::Scale { spec: Some(spec), .. }) => Some(Scale::Replicas(spec.replicas.unwrap_or_default())),
            Ok(_) | Err(_) => Some(Scale::Unknown),
        },
        Err(ListOutcome::Absent) => None,
        Err(_) => Some(Scale::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn where_each_list_stands() {
        for (kind, namespace, want) in [
            (Kind::Pod, None, "/api/v1/pods?limit=500"),
            (Kind::Pod, Some("shop"), "/api/v1/namespaces/shop/pods?limit=500"),
            (Kind::Node, Some("shop"), "/api/v1/nodes?limit=500"),
            (Kind::PodDisruptionBudget, Some("a"), "/apis/policy/v1/namespaces/a/poddisruptionbudgets?limit=500"),
            (
                Kind::LonghornSetting,
                None,
                "/apis/longhorn.io/v1beta2/settings?limit=500&fieldSelector=metadata.name%3Dnode-drain-policy",
            ),
        ] {
            assert_eq!(list_of(kind, namespace).first_page(), want);
        }
    }

    #[test]
    fn what_operators_define_is_read_in_the_version_that_the_server_prefers() {
        let server = |groups: Option<serde_json::Value>| Greeting {
            version: None,
            groups: groups.map(|groups| serde_json::from_value(json!({"groups": groups})).unwrap()),
        };
        let version = |version: &str| json!({"groupVersion": format!("karpenter.sh/{version}"), "version": version});
        let group =
            |more: serde_json::Value| Some(json!([crate::testing::merged(json!({"name": "karpenter.sh"}), more)]));
        for (groups, want, lacks) in [
            (None, None, false),
            (Some(json!([])), None, true),
            (
                group(json!({"preferredVersion": version("v1")})),
                Some("/apis/karpenter.sh/v1/nodepools?limit=500"),
                false,
            ),
            (
                group(json!({"versions": [version("v1beta1")]})),
                Some("/apis/karpenter.sh/v1beta1/nodepools?limit=500"),
                false,
            ),
        ] {
            let server = server(groups);
            let lists = wanted(&[Kind::NodePool, Kind::CustomResourceDefinition], Some("shop"), &server);
            let paths: Vec<String> = lists.iter().map(|(_, list)| list.first_page()).collect();
            assert_eq!(paths.first().map(String::as_str), want);
            assert_eq!((paths.len(), server.lacks(Kind::NodePool)), (usize::from(want.is_some()), lacks));
            assert!(!server.lacks(Kind::Pod), "what is built in is asked for");
        }
    }

    #[test]
    fn the_scale_of_an_owner() {
        let body = |json: &str| Ok(json.as_bytes().to_vec().into());
        for (got, want) in [
            (body(r#"{"kind":"Scale","apiVersion":"autoscaling/v1","spec":{"replicas":3}}"#), Some(Scale::Replicas(3))),
            (body(r#"{"spec":{}}"#), Some(Scale::Replicas(0))),
            (body(r#"{"kind":"Scale"}"#), Some(Scale::Unknown)),
            (body("<html>"), Some(Scale::Unknown)),
            (Err(ListOutcome::Absent), None),
            (Err(ListOutcome::Forbidden { message: String::new() }), Some(Scale::Unknown)),
        ] {
            assert_eq!(scale_of(&got), want, "{got:?}");
        }
    }
}
