//! `DynamicResources`: device claims must be allocated on the node, or be possible to allocate there. Mirrors
//! `plugins/dynamicresources/{dynamicresources,extendeddynamicresources}.go` as far as a snapshot tells: see
//! [`devices`](super::devices) for what is known of devices.

use super::claims::is_for_pod;
use super::devices::{Devices, Wanted};
use super::{Filter, Incoming, Prepared};
use crate::sched::diagnosis::Diagnosis;
use crate::sched::node::{NodeId, NodeInfo};
use crate::sched::status::{Plugin, Reason, Status, Verdict};
use crate::snapshot::intern::Interner;
use crate::snapshot::object::Object;
use crate::snapshot::pod::{Pod, ResourceClaimRef};
use crate::snapshot::selector::NodeSelector;
use crate::wire::resource::ResourceClaim;
use std::sync::Arc;

type Claim = Arc<Object<ResourceClaim>>;

/// The plugin is on by default since this minor version.
const SINCE: u32 = 34;

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    if !has_claims(incoming) {
        return Prepared::Skip;
    }
    let rejects =
        |words: String| Prepared::Rejects(Status::unresolvable(Plugin::DynamicResources, Reason::Words(words.into())));
    let claims = match claims_of(incoming) {
        Ok(claims) => claims,
        Err(words) => return rejects(words),
    };
    let mut filter = DynamicResources {
        devices: Devices::new(incoming.snapshot()),
        places: Vec::new(),
        wanted: Vec::new(),
        extended: extended(incoming),
    };
    for claim in &claims {
        let allocation = claim.status.as_ref().and_then(|s| s.allocation.as_ref());
        if let Some(allocation) = allocation {
            let place = allocation.node_selector.as_ref();
            filter.places.extend(place.map(|s| NodeSelector::read(s, &mut Interner::default())));
            continue;
        }
        match Wanted::of_claim(claim, incoming.snapshot()) {
            Ok(wanted) => filter.wanted.extend(wanted),
            Err(words) => return rejects(words),
        }
    }
    Prepared::Runs(Box::new(filter))
}

/// Whether PostFilter takes back the allocation of one of the pod's claims, as a node that it does not reach refused the
/// pod over it and nobody else uses it.
pub fn frees_claim(incoming: &Incoming<'_>, diagnosis: &Diagnosis) -> bool {
    let unreached = |(_, status): &&(NodeId, Status)| status.reasons.contains(&Reason::ClaimNotOnNode);
    let refusing = || diagnosis.failures.iter().filter(unreached).filter_map(|(id, _)| incoming.state.node(*id));
    let own = incoming.pod().meta.uid.as_deref();
    claims_of(incoming).into_iter().flatten().any(|claim| {
        let Some(status) = &claim.status else { return false };
        let free = match &status.reserved_for[..] {
            [] => true,
            [one] => own == Some(&*one.uid),
            _ => false,
        };
        let place = status.allocation.as_ref().and_then(|a| a.node_selector.as_ref());
        let place = place.map(|s| NodeSelector::read(s, &mut Interner::default()));
        let misses =
            |node: &Arc<NodeInfo>| place.as_ref().is_some_and(|p| !p.matches(node.name(), &node.node.meta.labels));
        free && refusing().any(misses)
    })
}

/// Whether the pod has device claims, or extended resources that a DeviceClass offers.
pub fn has_claims(incoming: &Incoming<'_>) -> bool {
    incoming.state.minor() >= SINCE
        && (!incoming.pod().spec.resource_claims.is_empty() || !extended(incoming).is_empty())
}

/// The extended resources asked for that a DeviceClass offers: number of the resource, how many, class.
fn extended(incoming: &Incoming<'_>) -> Vec<(u16, i64, String)> {
    if incoming.state.minor() < 36 {
        return Vec::new();
    }
    let asked = incoming.info.request.scalars.iter().filter(|(_, n)| *n > 0);
    asked
        .filter_map(|(id, n)| {
            let name = incoming.state.catalogue().resource_name(*id);
            let class = super::node_resources_fit::device_class(incoming.snapshot(), &name)?;
            Some((*id, *n, class.meta.name.to_string()))
        })
        .collect()
}

/// The claims of a pod; the error is upstream's.
fn claims_of(incoming: &Incoming<'_>) -> Result<Vec<Claim>, String> {
    let pod = incoming.pod();
    let mut claims = Vec::new();
    for r in &pod.spec.resource_claims {
        let Some(name) = claim_name(pod, r)? else { continue };
        let claim = incoming.snapshot().resource_claims.named(pod.meta.ns(), &name);
        let claim = claim.ok_or_else(|| {
            let key = format!("{}/{name}", pod.meta.ns());
            format!("could not find ResourceClaim {key:?}")
        })?;
        if claim.meta.is_terminating() {
            return Err(format!("resourceclaim {name:?} is being deleted"));
        }
        if r.template.is_some() && !is_for_pod(&claim.meta, pod) {
            let (claim, pod) = (claim.meta.path(), pod.meta.path());
            return Err(format!("ResourceClaim {claim} was not created for Pod {pod} (Pod is not owner)"));
        }
        claims.push(claim.clone());
    }
    Ok(claims)
}

/// The name of the claim behind a reference; `None` where none is needed. Mirrors `resourceclaim.Name`.
pub fn claim_name(pod: &Pod, r: &ResourceClaimRef) -> Result<Option<String>, String> {
    if let Some(name) = &r.claim {
        return Ok(Some(name.to_string()));
    }
    let made = pod.status.resource_claims.iter().find(|(n, _)| *n == r.name);
    match made {
        Some((_, name)) => Ok(name.as_ref().map(ToString::to_string)),
        None => Err(format!("pod \"{}\": ResourceClaim not created yet", pod.meta.path())),
    }
}

struct DynamicResources {
    devices: Devices,
    /// Where claims are allocated already.
    places: Vec<NodeSelector>,
    /// What has to be allocated.
    wanted: Vec<Wanted>,
    extended: Vec<(u16, i64, String)>,
}

impl Filter for DynamicResources {
    fn plugin(&self) -> Plugin {
        Plugin::DynamicResources
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        let (name, labels) = (&**node.name(), &node.node.meta.labels);
        let mut wanted = self.wanted.clone();
        // Extended resources come from devices only where the node has none of the plain kind.
        let by_devices = self.extended.iter().filter(|(id, ..)| node.allocatable.scalar(*id) == 0);
        wanted.extend(by_devices.map(|(_, n, class)| Wanted::extended(class, *n)));
        let reason = if !self.devices.can_allocate(&node.node, &wanted) {
            Reason::CannotAllocateClaims
        } else if self.places.iter().any(|p| !p.matches(name, labels)) {
            Reason::ClaimNotOnNode
        } else {
            return Verdict::Fits;
        };
        reasons.push(reason);
        Verdict::Unresolvable
    }
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use crate::sched::testing::{merged, node, pod, says_in};
    use serde_json::{Value, json};

    const DRIVER: &str = "gpu.example.com";

    fn class(more: Value) -> Value {
        let selector = json!({"cel": {"expression": format!("device.driver == '{DRIVER}'")}});
        let base = json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
            "spec": {"selectors": [selector]}});
        merged(base, more)
    }

    /// The slice of node n, with these devices.
    fn slice(devices: Value, more: Value) -> Value {
        let base = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
            "spec": {"driver": DRIVER, "nodeName": "n", "devices": devices,
                "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1}}});
        merged(base, more)
    }

    fn claim(name: &str, more: Value) -> Value {
        let base = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "a"}, "spec": {"devices": {"requests": [exactly(json!({}))]}}});
        merged(base, more)
    }

    fn exactly(more: Value) -> Value {
        let base = json!({"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1});
        json!({"name": "req-1", "exactly": merged(base, more)})
    }

    /// Requests of the claim `c`.
    fn asks(requests: Value) -> Value {
        claim("c", json!({"spec": {"devices": {"requests": requests}}}))
    }

    /// A claim that has device d0 of node n's pool, allocated for a node.
    fn allocated(name: &str, node: &str, admin: bool) -> Value {
        let result = json!({"request": "req-1", "driver": DRIVER, "pool": "n", "device": "d0", "adminAccess": admin});
        let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
        let user = json!({"resource": "pods", "name": "user", "uid": "user"});
        claim(
            name,
            json!({"status": {"reservedFor": [user], "allocation": {"devices": {"results": [result]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]}}}}),
        )
    }

    /// What is said of a pod with a reference `r` to a claim; the part before preemption's.
    fn said(reference: Value, status: Value, objects: Vec<Value>, version: &str) -> String {
        let reference = merged(json!({"name": "r"}), reference);
        let p = pod("p", json!({"spec": {"resourceClaims": [reference]}, "status": {"resourceClaimStatuses": status}}));
        first(&[vec![node("n", json!({})), p], objects].concat(), version)
    }

    fn first(objects: &[Value], version: &str) -> String {
        let said = says_in(objects, version);
        let words = said.strip_prefix("0/1 nodes are available: ").unwrap_or(&said);
        words.split_once(". ").map_or(words, |(first, _)| first).to_owned()
    }

    const NONE: &str = "1 cannot allocate all claims";

    #[test]
    fn claims_are_met_as_upstream() {
        // After TestPlugin: the pod names claim c.
        let one = || slice(json!([{"name": "d0"}]), json!({}));
        let two = || slice(json!([{"name": "d0"}, {"name": "d1"}]), json!({}));
        let tainted = |effect: &str| {
            slice(json!([{"name": "d0", "taints": [{"key": "k", "value": "v", "effect": effect}]}]), json!({}))
        };
        let tolerating = |t: Value| asks(json!([exactly(json!({"tolerations": [t]}))]));
        let c = || claim("c", json!({}));
        let all = || asks(json!([exactly(json!({"allocationMode": "All", "count": null}))]));
        let other = |admin: bool| allocated("other", "n", admin);
        let first_of = |classes: [&str; 2]| {
            let sub = |(i, class): (usize, &&str)| json!({"name": format!("sub-{i}"), "deviceClassName": class, "allocationMode": "ExactCount", "count": i + 1});
            asks(json!([{"name": "req-1", "firstAvailable": classes.iter().enumerate().map(sub).collect::<Vec<_>>()}]))
        };
        for (title, objects, want) in [
            ("no resources", vec![c(), class(json!({}))], NONE),
            ("with resources", vec![c(), class(json!({})), one()], ""),
            ("exhausted", vec![c(), class(json!({})), one(), other(false)], NONE),
            ("another device is taken", vec![c(), class(json!({})), two(), other(false)], ""),
            ("more than there are", vec![asks(json!([exactly(json!({"count": 3}))])), class(json!({})), two()], NONE),
            (
                "two requests, one device",
                vec![asks(json!([exactly(json!({})), exactly(json!({}))])), class(json!({})), one()],
                NONE,
            ),
            ("all of them", vec![all(), class(json!({})), two()], ""),
            ("all of them, one is taken", vec![all(), class(json!({})), two(), other(false)], NONE),
            ("tainted", vec![c(), class(json!({})), tainted("NoSchedule")], NONE),
            ("tainted for those that run", vec![c(), class(json!({})), tainted("NoExecute")], NONE),
            ("tainted without effect", vec![c(), class(json!({})), tainted("None")], ""),
            (
                "tainted and tolerated",
                vec![tolerating(json!({"key": "k", "operator": "Exists"})), class(json!({})), tainted("NoSchedule")],
                "",
            ),
            (
                "another value is tolerated",
                vec![
                    tolerating(json!({"key": "k", "operator": "Equal", "value": "w"})),
                    class(json!({})),
                    tainted("NoSchedule"),
                ],
                NONE,
            ),
            (
                "admin access",
                vec![asks(json!([exactly(json!({"adminAccess": true}))])), class(json!({})), one(), other(false)],
                "",
            ),
            ("the other has admin access", vec![c(), class(json!({})), one(), other(true)], ""),
            ("missing class", vec![c()], "request req-1: device class gpu does not exist. not found"),
            ("wrong topology", vec![allocated("c", "m", false)], "1 resourceclaim not available on the node"),
            ("good topology", vec![allocated("c", "n", false)], ""),
            ("prioritized list", vec![first_of(["gpu", "gpu"]), class(json!({})), one()], ""),
            ("prioritized list, none", vec![first_of(["gpu", "gpu"]), class(json!({}))], NONE),
            (
                "prioritized list, unknown class",
                vec![first_of(["gpu", "no"]), class(json!({})), one()],
                "request req-1/sub-1: device class no does not exist. not found",
            ),
            (
                "another driver's device",
                vec![c(), class(json!({})), slice(json!([{"name": "d0"}]), json!({"spec": {"driver": "x"}}))],
                NONE,
            ),
            (
                "another node's device",
                vec![c(), class(json!({})), slice(json!([{"name": "d0"}]), json!({"spec": {"nodeName": "m"}}))],
                NONE,
            ),
            (
                "a pool of which a slice is not there",
                vec![
                    c(),
                    class(json!({})),
                    slice(json!([{"name": "d0"}]), json!({"spec": {"pool": {"resourceSliceCount": 2}}})),
                ],
                NONE,
            ),
            (
                "the slice is out of date",
                vec![
                    c(),
                    class(json!({})),
                    one(),
                    slice(json!([]), json!({"metadata": {"name": "new"}, "spec": {"pool": {"generation": 2}}})),
                ],
                NONE,
            ),
            (
                "being deleted",
                vec![claim("c", json!({"metadata": {"deletionTimestamp": "2026-01-01T12:00:00Z"}}))],
                "resourceclaim \"c\" is being deleted. not found",
            ),
        ] {
            let said = said(json!({"resourceClaimName": "c"}), json!([]), objects, "v1.36.3");
            let want = want.strip_suffix(". not found").unwrap_or(want);
            assert_eq!(said, want, "{title}");
        }
        // Device taints count since 1.36.
        let objects = vec![c(), class(json!({})), tainted("NoSchedule")];
        assert_eq!(said(json!({"resourceClaimName": "c"}), json!([]), objects, "v1.35.2"), "");
    }

    #[test]
    fn claims_of_templates_belong_to_their_pod() {
        // After TestPlugin, "claim-template", "missing-claim" and "wrong-claim".
        let owned = |uid: &str| {
            let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": true});
            merged(allocated("p-r", "n", false), json!({"metadata": {"ownerReferences": [owner]}}))
        };
        let made = || json!([{"name": "r", "resourceClaimName": "p-r"}]);
        for (title, status, objects, want) in [
            ("its own", made(), vec![owned("p")], ""),
            ("not made yet", json!([]), vec![owned("p")], "pod \"a/p\": ResourceClaim not created yet"),
            (
                "another pod's",
                made(),
                vec![owned("other")],
                "ResourceClaim a/p-r was not created for Pod a/p (Pod is not owner)",
            ),
            ("none is needed", json!([{"name": "r"}]), vec![], ""),
        ] {
            assert_eq!(said(json!({"resourceClaimTemplateName": "t"}), status, objects, "v1.36.3"), want, "{title}");
        }
    }

    #[test]
    fn extended_resources_are_met_as_upstream() {
        // After TestPlugin, "extended-resource-name-*": the pod asks one example.com/gpu.
        let offers = || class(json!({"spec": {"extendedResourceName": "example.com/gpu"}}));
        let one = || slice(json!([{"name": "d0"}]), json!({}));
        let has = |n: &str| node("n", json!({"status": {"allocatable": {"example.com/gpu": n}}}));
        const SHORT: &str = "1 Insufficient example.com/gpu";
        for (title, node, objects, resource, version, want) in [
            ("the node has it itself", has("1"), vec![offers()], "example.com/gpu", "v1.36.3", ""),
            ("zero of its own, a device", has("0"), vec![offers(), one()], "example.com/gpu", "v1.36.3", ""),
            ("zero of its own, no class", has("0"), vec![class(json!({})), one()], "example.com/gpu", "v1.36.3", SHORT),
            ("no device", node("n", json!({})), vec![offers()], "example.com/gpu", "v1.36.3", NONE),
            ("a device", node("n", json!({})), vec![offers(), one()], "example.com/gpu", "v1.36.3", ""),
            (
                "by the class's name",
                node("n", json!({})),
                vec![offers(), one()],
                "deviceclass.resource.kubernetes.io/gpu",
                "v1.36.3",
                "",
            ),
            ("before the feature", node("n", json!({})), vec![offers(), one()], "example.com/gpu", "v1.35.2", SHORT),
        ] {
            let amounts = json!({resource: "1"});
            let container = json!({"name": "c", "resources": {"requests": amounts, "limits": amounts}});
            let p = pod("p", json!({"spec": {"containers": [container]}}));
            assert_eq!(first(&[vec![node, p], objects].concat(), version), want, "{title}");
        }
    }
}
