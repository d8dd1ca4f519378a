//! Device claims: which cannot be allocated where, and who holds the devices.

use crate::finding::{Code, Finding, Ref};
use crate::pending::facts::{Facts, count, some};
use crate::sched::Reason;
use crate::sched::filters::dynamic_resources::claim_name;
use crate::snapshot::Kind;
use crate::snapshot::object::Object;
use crate::wire::resource::ResourceClaim;
use std::sync::Arc;

/// Findings about device claims on the nodes that refuse for them.
pub fn findings(f: &Facts<'_>) -> Vec<Finding> {
    let nodes = f.nodes_where(|r| matches!(r, Reason::CannotAllocateClaims | Reason::ClaimNotOnNode));
    if nodes.is_empty() {
        return Vec::new();
    }
    let own: Vec<String> =
        f.pod().spec.resource_claims.iter().filter_map(|r| claim_name(f.pod(), r).ok().flatten()).collect();
    let what = if own.is_empty() { "its extended resources".to_owned() } else { format!("claim {}", own.join(", ")) };
    let holders: Vec<&Arc<Object<ResourceClaim>>> = f
        .snapshot()
        .resource_claims
        .iter()
        .filter(|c| !(c.meta.ns() == f.pod().meta.ns() && own.iter().any(|n| **n == *c.meta.name)))
        .filter(|c| c.status.as_ref().is_some_and(|s| s.allocation.is_some()))
        .collect();
    let held: Vec<String> = holders.iter().take(4).map(|c| holder(c)).collect();
    let held = if held.is_empty() { String::new() } else { format!("; devices are held by {}", some(held)) };
    let message = format!("the devices that {what} asks for cannot be had on {}{held}", count(nodes.len(), "node"));
    let claims = own.iter().map(|n| Ref::new("resource.k8s.io/v1", "ResourceClaim", f.pod().meta.ns(), n));
    let others = holders.iter().take(4).map(|c| Ref::of(Kind::ResourceClaim, &c.meta));
    vec![Finding::new(Code::ResourceClaim, message).about(claims.chain(others))]
}

fn holder(claim: &Object<ResourceClaim>) -> String {
    let reserved = claim.status.as_ref().map(|s| &*s.reserved_for).unwrap_or_default();
    let users: Vec<&str> = reserved.iter().map(|r| &*r.name).collect();
    if users.is_empty() { claim.meta.path() } else { format!("{} ({})", claim.meta.path(), users.join(", ")) }
}
