//! Refusals of PodSecurity: the level that the namespace enforces, and the fields that its words name. After
//! `pod-security-admission/policy`.

use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::lists::some;
use crate::pending::context::Context;
use crate::snapshot::workload::Workload;

/// The label by which a namespace says which level it enforces.
const LEVEL: &str = "pod-security.kubernetes.io/enforce";

pub(super) fn finding(words: &str, ago: &str, workload: &Workload, cx: &Context<'_>) -> Finding {
    let ns = workload.meta.ns();
    let label = cx.snapshot.namespaces.named("", ns).and_then(|n| n.meta.labels.get(LEVEL).cloned());
    let from = match label {
        Some(level) => format!("namespace {ns} enforces the level {level} (label {LEVEL})"),
        None => format!("the level that namespace {ns} gets by the API server's configuration (no label {LEVEL})"),
    };
    let message = format!("its pods were refused by PodSecurity{ago}; {from}: {words}");
    let fields = fields(words);
    let whose = format!("{} {}", workload.kind, workload.meta.path());
    let text = match fields.is_empty() {
        true => format!("change the securityContext of the pods of {whose} as these words say"),
        false => format!("set in the pods of {whose}: {}", some(fields, 8)),
    };
    let objects = [Ref::workload(workload), Ref::new("v1", "Namespace", "", ns)];
    Finding::new(Code::PodSecurity, message).about(objects).remedy(
        Remedy::advice(format!("{text}; the level is met only when every field is set"))
            .risk("a container that needs the right which is taken away fails to start"),
    )
}

/// The fields that have to be set: `securityContext.runAsNonRoot=true`.
fn fields(words: &str) -> Vec<String> {
    let after = words.split("must set ").skip(1);
    let mut found: Vec<String> = Vec::new();
    for part in after {
        let field = part.split(')').next().unwrap_or_default().trim().to_owned();
        if !field.is_empty() && !found.contains(&field) {
            found.push(field);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_named() {
        let words = "violates PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false (container \"c\" must set \
            securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"c\" must set \
            securityContext.capabilities.drop=[\"ALL\"]), host namespaces (hostNetwork=true)";
        let want = ["securityContext.allowPrivilegeEscalation=false", "securityContext.capabilities.drop=[\"ALL\"]"];
        assert_eq!(fields(words), want);
        assert!(fields("violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)").is_empty());
    }
}
