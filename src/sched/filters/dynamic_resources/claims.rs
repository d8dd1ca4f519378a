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

/// The claims of a pod that is made from them. The error is upstream's: the pod is not even queued then.
///
/// # Errors
/// A claim is not there, is being deleted, or belongs to another pod.
pub fn claims_of(pod: &Pod, snapshot: &Snapshot) -> Result<Vec<Claim>, String> {
    let mut claims = Vec::new();
    for r in &pod.spec.resource_claims {
        let Some(name) = claim_name(pod, r)? else { continue };
        let claim = snapshot.resource_claims.named(pod.meta.ns(), &name);
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
///
/// # Errors
/// The claim of a template is not made yet.
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
