//! Where a pod's credentials come from: an agent of the node that the new pod needs on its node, too.

use super::RuleContext;
use crate::drain::note::Note;
use crate::finding::{Code, Ref};
use crate::snapshot::pod::{Container, Pod};
use crate::snapshot::read_pod::is_kafka;
use crate::snapshot::{Snapshot, Str};
use std::sync::Arc;

/// The environment variable that EKS Pod Identity sets; the address in it is that of an agent on the node.
const POD_IDENTITY: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
/// Those of IRSA, which the AWS SDKs ask before the agent (their default chains: web identity, then container).
const WEB_IDENTITY: &[&str] = &["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"];
const AGENT: &str = "eks-pod-identity-agent";

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let env = |name: &str| {
        let all = rule.pod.spec.containers.iter().chain(&rule.pod.spec.init_containers);
        all.flat_map(|c| &c.env).any(|e| **e == *name)
    };
    if !rule.is_running() {
        return;
    }
    let (web_identity, agent) = (WEB_IDENTITY.iter().any(|e| env(e)), env(POD_IDENTITY));
    if web_identity {
        let also = "; EKS Pod Identity, which it has, too, comes after IRSA in the order of the AWS SDKs";
        let text = format!(
            "its credentials come from a role of its service account (IRSA): the replacement has the same{}",
            if agent { also } else { "" }
        );
        notes.push(Note::new(Code::Identity, text));
    }
    if !agent || web_identity {
        return;
    }
    let missing = rule.facts.without_agent.get_or_init(|| without_agent(rule.snapshot));
    // The node that is drained takes no new pod.
    let missing: Vec<&Str> = missing.iter().filter(|n| rule.pod.node.as_ref() != Some(*n)).collect();
    let agents = match &missing[..] {
        [] => "it runs on every other node".to_owned(),
        nodes => format!("it is absent or not Ready on {}", crate::lists::some(nodes.iter().map(|n| &***n), 3)),
    };
    let text = format!(
        "its credentials come from EKS Pod Identity: the new pod needs the agent {AGENT} on its node ({agents})"
    );
    notes.push(Note::new(Code::IdentityAgent, text).about(missing.iter().map(|n| Ref::node(n))));
    if rule.pod.spec.containers.iter().any(is_kafka_client) {
        let text = "it looks like a Kafka client with IAM under EKS Pod Identity: the new pod has another session name, and \
                    a client that re-authenticates to MSK does not survive that; a role for the service account (IRSA) \
                    keeps the name";
        notes.push(Note::new(Code::IdentityAgent, text));
    }
}

fn is_kafka_client(c: &Container) -> bool {
    let image = c.image.rsplit('/').next().unwrap_or_default();
    c.env.iter().any(|e| is_kafka(e)) || image.contains("kafka")
}

/// Nodes on which pods may be put and no agent is Ready.
fn without_agent(snapshot: &Snapshot) -> Vec<Str> {
    let is_agent = |p: &Arc<Pod>| {
        p.meta.labels.get("app.kubernetes.io/name").is_some_and(|v| &**v == AGENT)
            || p.meta.controller.as_ref().is_some_and(|o| &*o.name == AGENT)
    };
    let serves = |node: &str| snapshot.pods_on(node).any(|p| is_agent(p) && p.is_ready() && !p.is_terminating());
    let open = snapshot.nodes.iter().filter(|n| !n.unschedulable && n.is_ready());
    open.filter(|n| !serves(&n.meta.name)).map(|n| n.meta.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes, owned_by};
    use crate::finding::Code;

    const ON_EVERY: (Drainability, &str) = (Drainability::Drains, "it runs on every other node");
    const KAFKA: (Drainability, &str) =
        (Drainability::Drains, "looks like a Kafka client with IAM under EKS Pod Identity");
    const NOT_ON_M: (Drainability, &str) = (Drainability::Drains, "absent or not Ready on m)");

    #[test]
    fn credentials_of_an_agent_need_it_on_the_next_node() {
        // Node n is drained and has no agent: it takes no new pod.
        let (pod_identity, irsa) = ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_WEB_IDENTITY_TOKEN_FILE");
        let owned = owned_by("apps/v1", "DaemonSet", "eks-pod-identity-agent");
        let labelled = r#""labels": {"app.kubernetes.io/name": "eks-pod-identity-agent"}"#;
        let other = owned_by("apps/v1", "DaemonSet", "node-agent");
        let leaving = format!(r#"{owned}, "deletionTimestamp": "2026-01-01T00:00:10Z""#);
        let (unready, done) = (r#""conditions": [{"type": "Ready", "status": "False"}]"#, r#""phase": "Succeeded""#);
        let going = r#""deletionTimestamp": "2026-01-01T00:00:10Z""#;
        for (title, env, (meta, status), agent, m, want) in [
            ("the agent is on m", &[pod_identity][..], ("", ""), Some((&*owned, "")), "{}", &[ON_EVERY][..]),
            ("known by its label", &[pod_identity], ("", ""), Some((labelled, "")), "{}", &[ON_EVERY]),
            ("another agent is on m", &[pod_identity], ("", ""), Some((&*other, "")), "{}", &[NOT_ON_M]),
            ("no agent is on m", &[pod_identity], ("", ""), None, "{}", &[NOT_ON_M]),
            ("it is not Ready", &[pod_identity], ("", ""), Some((&*owned, unready)), "{}", &[NOT_ON_M]),
            ("it is being deleted", &[pod_identity], ("", ""), Some((&*leaving, "")), "{}", &[NOT_ON_M]),
            ("m takes no pods", &[pod_identity], ("", ""), None, r#"{"unschedulable": true}"#, &[ON_EVERY]),
            ("a role of the service account", &[irsa, "KAFKA_BROKERS"], ("", ""), None, "{}", &[]),
            ("a role and the agent: the role comes first", &[irsa, pod_identity], ("", ""), None, "{}", &[]),
            ("it has ended", &[pod_identity], ("", done), None, "{}", &[]),
            ("it is being deleted itself", &[pod_identity], (going, ""), None, "{}", &[]),
            (
                "a Kafka client",
                &[pod_identity, "MY_KAFKA_BROKERS"],
                ("", ""),
                Some((&*owned, "")),
                "{}",
                &[ON_EVERY, (Drainability::Drains, "looks like a Kafka client with IAM under EKS Pod Identity")],
            ),
            (
                "a client of MSK",
                &[pod_identity, "MSK_BOOTSTRAP_SERVERS"],
                ("", ""),
                Some((&*owned, "")),
                "{}",
                &[ON_EVERY, KAFKA],
            ),
            (
                "a client of Kafka Connect",
                &[pod_identity, "CONNECT_BOOTSTRAP_SERVERS"],
                ("", ""),
                Some((&*owned, "")),
                "{}",
                &[ON_EVERY, KAFKA],
            ),
            ("MSK within another word", &[pod_identity, "TASK_MSKX"], ("", ""), Some((&*owned, "")), "{}", &[ON_EVERY]),
        ] {
            let env: Vec<String> = env.iter().map(|e| format!(r#"{{"name": "{e}", "value": "x"}}"#)).collect();
            let kafka = title.contains("Kafka") || env.iter().any(|e| e.contains("BOOTSTRAP") || e.contains("MSK"));
            // An init container that talks to Kafka has ended by now.
            for kind in if kafka { &["containers"][..] } else { &["containers", "initContainers"] } {
                let mut c = Cluster::new();
                c.node("n", "{}");
                c.node("m", m);
                let env = format!(r#"{{"name": "e", "env": [{}]}}"#, env.join(", "));
                let (container, init) = match *kind {
                    "containers" => (&*env, String::new()),
                    _ => (r#"{"name": "c"}"#, format!(r#""{kind}": [{env}]"#)),
                };
                c.push_pod(container, "a", "p", "n", (meta, &init, status));
                if let Some((meta, status)) = agent {
                    c.push_pod(r#"{"name": "c"}"#, "kube-system", "agent", "m", (meta, "", status));
                }
                let notes = c.met(Code::IdentityAgent, &DrainOptions::default());
                assert_notes(&format!("{title}, {kind}"), &notes, want);
            }
        }
    }
}
