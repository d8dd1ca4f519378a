//! Whether a workload makes its pods anew: its template is another one than before.

use crate::snapshot::read_pod::Template;

/// Whether pods of both templates are the same, as far as a snapshot tells. The template of a cluster has the defaults of
/// the API server, and that of a manifest has not.
pub(super) fn is_same(before: &Template, after: &Template) -> bool {
    let spec = |t: &Template| {
        let mut spec = (*t.spec).clone();
        if spec.restart_policy.is_empty() {
            spec.restart_policy = "Always".into();
        }
        spec
    };
    before.meta.labels == after.meta.labels
        && before.meta.annotations == after.meta.annotations
        && before.volumes == after.volumes
        && before.node == after.node
        && spec(before) == spec(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, deployment};
    use serde_json::{Value, json};

    #[test]
    fn what_the_api_server_sets_is_no_other_template() {
        let of = |template: Value| {
            let snapshot = cluster().add(deployment("a/web").spec(json!({"template": template}))).snapshot();
            snapshot.workload("Deployment", "a", "web").and_then(|w| w.template.clone()).unwrap()
        };
        let plain = |more: Value| {
            let container = crate::testing::merged(json!({"name": "c", "image": "i:1"}), more);
            json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}})
        };
        let kept = json!({"metadata": {"labels": {"app": "web"}, "creationTimestamp": null}, "spec": {
            "containers": [{"name": "c", "image": "i:1", "imagePullPolicy": "IfNotPresent", "resources": {},
                "terminationMessagePath": "/dev/termination-log"}],
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "schedulerName": "default-scheduler", "securityContext": {}}});
        for (title, after, want) in [
            ("the same", plain(json!({})), true),
            ("another image", plain(json!({"image": "i:2"})), false),
            ("a request", plain(json!({"resources": {"requests": {"cpu": "1"}}})), false),
        ] {
            assert_eq!(is_same(&of(kept.clone()), &of(after)), want, "{title}");
        }
    }
}
