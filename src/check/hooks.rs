//! Hooks of Helm and Argo CD: objects that are made for a moment of an installation or a deletion, and do not run beside
//! what is installed.

use serde_json::Value;

/// The annotation of each tool, and the moments at which it makes objects that then stay.
const HOOKS: [(&str, &[&str]); 2] = [
    ("helm.sh/hook", &["pre-install", "post-install", "pre-upgrade", "post-upgrade", "crd-install"]),
    ("argocd.argoproj.io/hook", &["PreSync", "Sync", "PostSync"]),
];

/// Whether the object is a hook that is not there while the application runs: a Pod or a Job, which the tool waits for to
/// end, or anything that belongs to a test, a deletion or a rollback. Of Helm see `pkg/release/v1/hook.go`, of Argo CD
/// `gitops-engine/pkg/sync/hook/hook.go`.
pub(super) fn is_hook(object: &Value) -> bool {
    let Some(annotations) = object.pointer("/metadata/annotations") else { return false };
    let ends = matches!(object.get("kind").and_then(Value::as_str), Some("Pod" | "Job"));
    HOOKS.iter().any(|(annotation, stay)| {
        let Some(moments) = annotations.get(*annotation).and_then(Value::as_str) else { return false };
        ends || !moments.split(',').any(|moment| stay.contains(&moment.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hooks_that_do_not_stay() {
        for (kind, annotation, moments, want) in [
            ("Pod", "helm.sh/hook", "test", true),
            ("Pod", "helm.sh/hook", "test-success", true),
            ("Job", "helm.sh/hook", "pre-install,pre-upgrade", true),
            ("Deployment", "helm.sh/hook", "test", true),
            ("Deployment", "helm.sh/hook", "pre-delete", true),
            ("PodDisruptionBudget", "helm.sh/hook", "post-install, post-upgrade", false),
            ("Deployment", "helm.sh/hook", "pre-install", false),
            ("Job", "argocd.argoproj.io/hook", "PreSync", true),
            ("Deployment", "argocd.argoproj.io/hook", "Sync", false),
            ("Deployment", "argocd.argoproj.io/hook", "Skip", true),
            ("Pod", "helm.sh/hook-weight", "1", false),
        ] {
            let object = json!({"kind": kind, "metadata": {"annotations": {annotation: moments}}});
            assert_eq!(is_hook(&object), want, "{kind} {annotation}: {moments}");
        }
        assert!(!is_hook(&json!({"kind": "Pod", "metadata": {"name": "x"}})));
    }
}
