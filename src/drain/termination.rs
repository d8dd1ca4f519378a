//! NodeClaims of the nodes that are drained: Karpenter may be ending a node already, or is about to, whatever budgets say.

use super::context::DrainContext;
use super::plan::NodePlan;
use crate::autoscale::karpenter::node_claim::NodeClaim;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::snapshot::age::duration_words;
use jiff::Timestamp;

/// An expiry is told from so many seconds before it.
const SOON: i64 = 24 * 3600;

/// Adds to the findings of nodes what their NodeClaims mean for them.
pub fn tell(context: &DrainContext<'_>, nodes: &mut [NodePlan]) {
    for node in nodes {
        let claim = context.node_claims().of(&node.node.meta.name);
        node.findings.extend(claim.and_then(|claim| ending(claim, context.snapshot.now)));
    }
}

/// That a NodeClaim is being deleted, or expires soon.
fn ending(claim: &NodeClaim, now: Timestamp) -> Option<Finding> {
    let name = claim.name();
    let refs = [Ref::new("karpenter.sh/v1", "NodeClaim", "", name)];
    if let Some(since) = claim.deleted() {
        let how = match claim.deadline() {
            Some(deadline) => format!(
                "pods that are still there are deleted past their budgets, each its grace period before {deadline} \
                 (terminationGracePeriod)"
            ),
            None => "it has no terminationGracePeriod, so Karpenter waits for budgets without end".to_owned(),
        };
        let text = format!("Karpenter is ending the node: NodeClaim {name} is being deleted since {since}; {how}");
        return Some(Finding::new(Code::NodeTerminating, text).about(refs));
    }
    let expires = claim.expires()?;
    let left = expires.duration_since(now).as_secs();
    if left > SOON {
        return None;
    }
    let when = if left > 0 { format!("in {}", duration_words(left)) } else { "now".to_owned() };
    let then = match claim.termination_grace() {
        Some(grace) => format!("{} later its pods are deleted past their budgets", duration_words(grace.as_secs())),
        None => "it then waits for the budgets of pods without end".to_owned(),
    };
    let text = format!(
        "NodeClaim {name} expires {when} ({expires}, expireAfter): Karpenter deletes it then, whatever NodePool budgets and \
         do-not-disrupt say; {then}"
    );
    Some(Finding::new(Code::NodeExpires, text).about(refs).severity(Severity::Warning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autoscale::karpenter::claims::NodeClaims;
    use crate::snapshot::Snapshot;
    use crate::testing::{cluster, node, object, pod};
    use serde_json::{Value, json};

    fn world(metadata: &Value, spec: &Value) -> Snapshot {
        let claim = object("karpenter.sh/v1", "NodeClaim", "main-1").created("2026-01-01T00:00:00Z");
        let claim = claim.with(json!({"metadata": metadata, "spec": spec, "status": {"nodeName": "n1"}}));
        let web = pod("shop/web").on("n1").with(json!({"spec": {"terminationGracePeriodSeconds": 30}}));
        let toleration = json!([{"key": "karpenter.sh/disrupted", "operator": "Exists"}]);
        let agent = pod("shop/agent").on("n1").with(json!({"spec": {"tolerations": toleration}}));
        cluster().add(node("n1")).add(claim).add(web).add(agent).snapshot()
    }

    #[test]
    fn an_end_that_comes_is_told_and_forces_pods_at_the_deadline() {
        // The cluster speaks of noon.
        let deleted = json!({"deletionTimestamp": "2026-01-01T11:50:00Z"});
        let grace = json!({"terminationGracePeriod": "30m"});
        for (title, metadata, spec, code, words, forced) in [
            (
                "being deleted",
                deleted.clone(),
                grace.clone(),
                Some(Code::NodeTerminating),
                "2026-01-01T12:20:00Z",
                Some("2026-01-01T12:19:30Z"),
            ),
            ("without a period", deleted, json!({}), Some(Code::NodeTerminating), "without end", None),
            ("not deleted", json!({}), grace, None, "", None),
            (
                "expires in ten minutes",
                json!({}),
                json!({"expireAfter": "12h10m"}),
                Some(Code::NodeExpires),
                "in 10 min",
                None,
            ),
            ("expires in 30 days", json!({}), json!({"expireAfter": "732h"}), None, "", None),
            ("never expires", json!({}), json!({"expireAfter": "Never"}), None, "", None),
        ] {
            let snapshot = world(&metadata, &spec);
            let claims = NodeClaims::new(&snapshot);
            let found = ending(claims.of("n1").expect("its NodeClaim"), snapshot.now);
            assert_eq!(found.as_ref().map(|f| f.code), code, "{title}");
            assert!(found.is_none_or(|f| f.message.contains(words)), "{title}");
            let at = |name: &str| claims.deletes(snapshot.pods.named("shop", name).expect(name)).map(|t| t.to_string());
            assert_eq!(at("web").as_deref(), forced, "{title}");
            assert_eq!(at("agent"), None, "{title}: a pod that tolerates the taint is left alone");
        }
    }
}
