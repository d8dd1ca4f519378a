//! `invalid-workload`: the API server refuses the workload as it is written. Mirrors `ValidateDeploymentSpec`,
//! `ValidatePodTemplateSpecForReplicaSet` and their like of `pkg/apis/apps/validation/validation.go`, and `validateJobSpec`
//! of `pkg/apis/batch/validation/validation.go`, as far as pods and selectors go.

use crate::check::context::WorkloadContext;
use crate::finding::{Code, Finding, Ref};
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::workload::Workload;

pub(super) fn refused(w: &WorkloadContext<'_>) -> Option<Finding> {
    let workload = w.workload;
    let why = match (&*workload.group, &*workload.kind) {
        ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet") => {
            selector(workload).or_else(|| restart_policy(workload, &["Always"], true))
        }
        ("batch", "Job" | "CronJob") => restart_policy(workload, &["OnFailure", "Never"], false),
        _ => None,
    }?;
    let message = format!("the API server refuses {} {}: {why}", workload.kind, workload.meta.path());
    Some(Finding::new(Code::InvalidWorkload, message).about([Ref::workload(workload)]))
}

fn selector(w: &Workload) -> Option<String> {
    match &w.selector {
        LabelSelector::Nothing => Some("spec.selector is required".to_owned()),
        LabelSelector::Invalid => Some("spec.selector is invalid".to_owned()),
        LabelSelector::All(terms) if terms.is_empty() => Some("spec.selector is empty".to_owned()),
        selector @ LabelSelector::All(_) => {
            let template = w.template.as_ref()?;
            (!selector.matches(&template.meta.labels))
                .then(|| format!("spec.selector ({selector}) does not match the labels of spec.template"))
        }
    }
}

/// `default`: whether the policy can be left out, which means Always.
fn restart_policy(w: &Workload, valid: &[&str], default: bool) -> Option<String> {
    let policy = &*w.template.as_ref()?.spec.restart_policy;
    let policy = if policy.is_empty() && !default { "Always" } else { policy };
    let is_valid = policy.is_empty() || valid.contains(&policy);
    (!is_valid).then(|| format!("restartPolicy {policy} of its template is not {}", valid.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Selection;
    use crate::testing::{cluster, workload};
    use serde_json::{Value, json};

    /// After TestValidateDeployment, TestValidateReplicaSet, TestValidateStatefulSet, TestValidateDaemonSet and
    /// TestValidateJob.
    #[test]
    fn workloads_that_the_api_server_refuses() {
        let of = |selector: Value, policy: &str| {
            let pod = if policy.is_empty() { json!({}) } else { json!({"restartPolicy": policy}) };
            json!({"selector": selector, "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod}})
        };
        let web = || json!({"matchLabels": {"app": "web"}});
        let among = |key: &str| json!({"matchExpressions": [{"key": key, "operator": "Exists"}]});
        let wrong = "spec.selector (app=wbe) does not match the labels of spec.template";
        for (kind, spec, want) in [
            ("Deployment", of(web(), ""), None),
            ("Deployment", of(web(), "Always"), None),
            ("Deployment", of(web(), "Never"), Some("restartPolicy Never of its template is not Always")),
            ("Deployment", of(json!({"matchLabels": {"app": "wbe"}}), ""), Some(wrong)),
            ("DaemonSet", of(json!({"matchLabels": {"app": "wbe"}}), ""), Some(wrong)),
            (
                "StatefulSet",
                of(among("tier"), ""),
                Some("spec.selector (tier) does not match the labels of spec.template"),
            ),
            ("StatefulSet", of(among("app"), ""), None),
            ("ReplicaSet", of(json!({}), ""), Some("spec.selector is empty")),
            ("ReplicaSet", of(json!(null), ""), Some("spec.selector is required")),
            ("Job", of(json!(null), "Never"), None),
            ("Job", of(json!(null), ""), Some("restartPolicy Always of its template is not OnFailure or Never")),
        ] {
            let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
            let snapshot = cluster().add(workload(version, kind, "a/web").spec(spec.clone())).snapshot();
            let selection = Selection::new(&snapshot);
            let written = snapshot.workload(kind, "a", "web").unwrap();
            let found = refused(&WorkloadContext::new(&snapshot, &selection, written, false)).map(|f| f.message);
            assert_eq!(found, want.map(|w| format!("the API server refuses {kind} a/web: {w}")), "{kind} {spec}");
        }
    }
}
