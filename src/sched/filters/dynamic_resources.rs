//! `DynamicResources`: device claims must be allocated on the node, or be possible to allocate there. Mirrors
//! `plugins/dynamicresources/{dynamicresources,extendeddynamicresources}.go` as far as a snapshot tells: see
//! [`devices`](super::devices) for what is known of devices.

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
