//! The claims of a pod. Mirrors `foreachPodResourceClaim` (`plugins/dynamicresources/dynamicresources.go`) and
//! `resourceclaim.{Name,IsForPod}`.

use crate::sched::filters::claims::is_for_pod;
use crate::snapshot::Snapshot;
use crate::snapshot::object::Object;
use crate::snapshot::pod::{Pod, ResourceClaimRef};
use crate::wire::resource::ResourceClaim;
use std::sync::Arc;

/// A claim.
pub type Claim = Arc<Object<ResourceClaim>>;

/// What is wrong with a device claim, so that its pod is not put into the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimFault {
    /// It was not made from its template yet.
    NotMade,
    /// There is no such claim.
    Missing(String),
    /// It is being deleted.
    Terminating(String),
    /// A claim of that name was not made for this pod.
    NotForPod(String),
}

impl ClaimFault {
    /// Upstream's words.
    pub fn words(&self, pod: &Pod) -> String {
        let ns = pod.meta.ns();
        match self {
            Self::NotMade => format!("pod \"{}\": ResourceClaim not created yet", pod.meta.path()),
            Self::Missing(name) => format!("could not find ResourceClaim {:?}", format!("{ns}/{name}")),
            Self::Terminating(name) => format!("resourceclaim {name:?} is being deleted"),
            Self::NotForPod(name) => {
                format!("ResourceClaim {ns}/{name} was not created for Pod {} (Pod is not owner)", pod.meta.path())
            }
        }
    }
}

/// The claims of a pod.
///
/// # Errors
/// What is wrong with the first claim that cannot be used: the pod is not even queued then.
pub fn claims_of<'a>(pod: &Pod, snapshot: &'a Snapshot) -> Result<Vec<&'a Claim>, ClaimFault> {
    pod.spec.resource_claims.iter().filter_map(|r| claim_of(pod, r, snapshot).transpose()).collect()
}

/// The claim behind a reference; `None` where none is needed.
///
/// # Errors
/// It is not there, is being deleted, or belongs to another pod.
pub fn claim_of<'a>(pod: &Pod, r: &ResourceClaimRef, snapshot: &'a Snapshot) -> Result<Option<&'a Claim>, ClaimFault> {
    let Some(name) = claim_name(pod, r)? else { return Ok(None) };
    let Some(claim) = snapshot.resource_claims.named(pod.meta.ns(), &name) else {
        return Err(ClaimFault::Missing(name));
    };
    if claim.meta.is_terminating() {
        return Err(ClaimFault::Terminating(name));
    }
    if r.template.is_some() && !is_for_pod(&claim.meta, pod) {
        return Err(ClaimFault::NotForPod(name));
    }
    Ok(Some(claim))
}

/// The name of the claim behind a reference; `None` where none is needed. Mirrors `resourceclaim.Name`.
///
/// # Errors
/// The claim of a template is not made yet.
pub fn claim_name(pod: &Pod, r: &ResourceClaimRef) -> Result<Option<String>, ClaimFault> {
    if let Some(name) = &r.claim {
        return Ok(Some(name.to_string()));
    }
    let made = pod.status.resource_claims.iter().find(|(n, _)| *n == r.name);
    let (_, name) = made.ok_or(ClaimFault::NotMade)?;
    Ok(name.as_ref().map(ToString::to_string))
}
