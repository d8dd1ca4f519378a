//! Extended resources that a DeviceClass offers, on nodes that have none of the plain kind. Mirrors
//! `plugins/dynamicresources/extendeddynamicresources.go` and `extendedresourcecache`.

use crate::sched::filters::Incoming;
use crate::snapshot::object::Object;
use crate::snapshot::pod::{Container, Pod};
use crate::snapshot::{Snapshot, Str};
use crate::wire::resource as wire;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Of a resource of this name the class behind it is asked for.
const CLASS_PREFIX: &str = "deviceclass.resource.kubernetes.io/";
/// The annotation of the claim that the scheduler makes for such resources (`ExtendedResourceClaimAnnotation`).
const ANNOTATION: &str = "resource.kubernetes.io/extended-resource-claim";
/// What that claim is called before it is made.
pub const CLAIM: &str = "<extended-resources>";

/// The class that offers a resource: of several the newest, and of those the first by name.
pub fn class_of<'a>(snapshot: &'a Snapshot, resource: &str) -> Option<&'a Arc<Object<wire::DeviceClass>>> {
    if let Some(name) = resource.strip_prefix(CLASS_PREFIX) {
        return snapshot.device_classes.named("", name);
    }
    let offers = |c: &&Arc<Object<wire::DeviceClass>>| {
        c.body.spec.as_ref().is_some_and(|s| s.extended_resource_name.as_deref() == Some(resource))
    };
    // Objects come in order of their names.
    snapshot.device_classes.iter().filter(offers).min_by_key(|c| Reverse(c.meta.creation_timestamp))
}

/// An extended resource that a pod asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its number.
    pub id: u16,
    /// Its name.
    pub name: Str,
    /// The class that offers it, where one does.
    pub class: Option<Str>,
}

/// What a pod asks for of resources, where a class offers one of them.
pub fn asked(incoming: &Incoming<'_>) -> Vec<Asked> {
    let scalars = incoming.info.request.scalars.iter().filter(|(_, n)| *n > 0);
    let all: Vec<Asked> = scalars
        .filter_map(|(id, _)| {
            let name = incoming.state.catalogue().resource_name(*id);
            let class = class_of(incoming.snapshot(), &name).map(|c| c.meta.name.clone());
            is_extended(&name).then_some(Asked { id: *id, name, class })
        })
        .collect();
    if all.iter().any(|a| a.class.is_some()) { all } else { Vec::new() }
}

/// Mirrors `IsExtendedResourceName` and `IsDRAExtendedResourceName`.
fn is_extended(name: &str) -> bool {
    name.starts_with(CLASS_PREFIX)
        || (name.contains('/') && !name.contains("kubernetes.io/") && !name.starts_with("requests."))
}

/// The claim that the scheduler made for the pod in an earlier attempt, which it takes back.
pub fn made_before<'a>(pod: &Pod, snapshot: &'a Snapshot) -> Option<&'a Arc<Object<wire::ResourceClaim>>> {
    snapshot.resource_claims.in_namespace(pod.meta.ns()).iter().find(|c| {
        c.meta.annotations.get(ANNOTATION).is_some_and(|v| &**v == "true")
            && c.meta
                .controller
                .as_ref()
                .is_some_and(|o| o.name == pod.meta.name && pod.meta.uid.as_ref().is_none_or(|uid| *uid == o.uid))
    })
}

/// The claim to devices in place of resources: name of the resource, and its class. Mirrors `createRequestsAndMappings`.
pub fn claim(pod: &Pod, resources: &BTreeMap<Str, Str>) -> wire::DeviceClaim {
    let spec = &pod.spec;
    let containers: Vec<(&Container, bool)> = spec
        .init_containers
        .iter()
        .map(|c| (c, !c.sidecar))
        .chain(spec.containers.iter().map(|c| (c, false)))
        .collect();
    let mut requests = Vec::new();
    for (resource, class) in resources {
        let count = |c: &Container| c.resources.requests.get(resource).map_or(0, |q| q.as_int64().unwrap_or(0));
        // What sidecars and containers need, by their position; init containers use it before them.
        let lasting: Vec<i64> = containers.iter().map(|(c, short)| if *short { 0 } else { count(c) }).collect();
        let mut largest: Option<(usize, i64)> = None;
        for (at, (c, _)) in containers.iter().enumerate().filter(|(_, (_, short))| *short) {
            let later = lasting.get(at..).unwrap_or_default().iter().copied().fold(0, i64::saturating_add);
            let more = count(c).saturating_sub(later);
            if more > 0 && largest.is_none_or(|(_, n)| n < more) {
                largest = Some((at, more));
            }
        }
        let lasting = lasting.iter().copied().enumerate().filter(|(_, n)| *n > 0);
        for (at, n) in largest.into_iter().chain(lasting) {
            let Some((container, _)) = containers.get(at) else { continue };
            let of_container = container.resources.requests.iter().position(|(name, _)| name == resource);
            requests.push(wire::DeviceRequest {
                name: format!("container-{at}-request-{}", of_container.unwrap_or_default()),
                exactly: Some(wire::ExactDeviceRequest {
                    device_class_name: class.to_string(),
                    allocation_mode: "ExactCount".to_owned(),
                    count: Some(n),
                    ..wire::ExactDeviceRequest::default()
                }),
                ..wire::DeviceRequest::default()
            });
        }
    }
    requests.sort_by(|a, b| a.name.cmp(&b.name));
    wire::DeviceClaim { requests, constraints: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, find, pod};
    use serde_json::json;

    #[test]
    fn the_largest_numbers_add_up() {
        let asks = |name: &str| json!({"name": name, "resources": {"requests": {"x.io/gpu": "5E"}}});
        let spec = json!({"initContainers": [asks("i")], "containers": [asks("c"), asks("d")]});
        let snapshot = cluster().add(pod("a/p").spec(spec)).snapshot();
        let resources = BTreeMap::from([("x.io/gpu".into(), "gpu".into())]);
        let claim = claim(&find(&snapshot, "a/p"), &resources);
        let counts: Vec<_> = claim.requests.iter().map(|r| r.exactly.as_ref().unwrap().count).collect();
        assert_eq!(counts, [Some(5_000_000_000_000_000_000); 2], "the init container uses what the others need");
    }
}
