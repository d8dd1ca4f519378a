//! Who manages an object, so that a patch of it will be reverted: Helm, Argo CD, Flux, OLM, an operator.

use crate::snapshot::meta::Meta;

/// Words for who manages an object and where to change it; `None` where nobody is seen to.
pub fn manager(meta: &Meta) -> Option<String> {
    let label = |key: &str| meta.labels.get(key).map(|v| &**v);
    let annotation = |key: &str| meta.annotations.get(key).map(|v| &**v);
    if let Some(owner) = meta.controller.as_ref().or(meta.owner.as_ref()) {
        return Some(format!("{} {} owns it and will put it back: change it there", owner.kind, owner.name));
    }
    if annotation("argocd.argoproj.io/tracking-id").is_some() || label("argocd.argoproj.io/instance").is_some() {
        let app = label("argocd.argoproj.io/instance")
            .or_else(|| annotation("argocd.argoproj.io/tracking-id").and_then(|id| id.split(':').next()))
            .unwrap_or("an application");
        return Some(format!(
            "Argo CD keeps it as its application {app} has it and can revert a patch: change it in Git"
        ));
    }
    for (tool, key) in
        [("Kustomization", "kustomize.toolkit.fluxcd.io/name"), ("HelmRelease", "helm.toolkit.fluxcd.io/name")]
    {
        if let Some(name) = label(key) {
            return Some(format!("Flux {tool} {name} will revert a patch: change it in Git"));
        }
    }
    if let Some(owner) = label("olm.owner") {
        return Some(format!("the Operator Lifecycle Manager ({owner}) will revert a patch"));
    }
    if let Some(release) = annotation("meta.helm.sh/release-name") {
        return Some(format!("Helm release {release} resets it at its next upgrade: change the chart's values"));
    }
    (label("app.kubernetes.io/managed-by") == Some("Helm"))
        .then(|| "Helm resets it at its release's next upgrade: change the chart's values".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managers_are_known_by_their_marks() {
        let helm =
            Meta { annotations: [("meta.helm.sh/release-name", "web")].into_iter().collect(), ..Meta::default() };
        assert!(manager(&helm).is_some_and(|w| w.contains("Helm release web")));
        let argo =
            Meta { annotations: [("argocd.argoproj.io/tracking-id", "shop:apps/x")].into_iter().collect(), ..helm };
        assert!(manager(&argo).is_some_and(|w| w.contains("application shop ")));
        assert_eq!(manager(&Meta::default()), None);
    }
}
