//! Changes that the API server refuses: fields of an object that is there already, and that nobody can change.

use super::template;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::shell::Kubectl;
use crate::snapshot::Kind;
use crate::snapshot::Snapshot;
use crate::snapshot::read_pod::Template;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::workload::{Detail, Workload};
use crate::wire::volume::PersistentVolumeClaim;
use std::sync::Arc;

/// The field of a workload that the manifest changes although it cannot be changed. Mirrors `ValidateDeploymentUpdate` and
/// its like in `pkg/registry/apps/*/strategy.go`, `ValidateStatefulSetUpdate` of `pkg/apis/apps/validation/validation.go`
/// and `ValidateJobSpecUpdate` of `pkg/apis/batch/validation/validation.go`. A field that a snapshot does not hold is taken
/// as unchanged.
pub(super) fn changed(old: &Workload, new: &Workload) -> Option<&'static str> {
    let is_written = |w: &Workload| w.selector != LabelSelector::Nothing;
    let selects_otherwise = is_written(old) && is_written(new) && old.selector != new.selector;
    match (&old.detail, &new.detail) {
        (Detail::Deployment(_), _) | (Detail::ReplicaSet(_), _) | (Detail::DaemonSet(_), _) => {
            selects_otherwise.then_some("spec.selector")
        }
        (Detail::StatefulSet(old), Detail::StatefulSet(new)) => {
            let (old, new) = (&old.0, &new.0);
            if selects_otherwise {
                Some("spec.selector")
            } else if old.service_name != new.service_name {
                Some("spec.serviceName")
            } else if old.is_ordered() != new.is_ordered() {
                Some("spec.podManagementPolicy")
            } else {
                let same = old.volume_claim_templates.len() == new.volume_claim_templates.len()
                    && old
                        .volume_claim_templates
                        .iter()
                        .zip(&new.volume_claim_templates)
                        .all(|(a, b)| is_same_claim(a, b));
                (!same).then_some("spec.volumeClaimTemplates")
            }
        }
        (Detail::Job(of_old), Detail::Job(of_new)) => {
            let mode = |d: &crate::wire::apps::JobSpec| d.completion_mode.clone().unwrap_or("NonIndexed".to_owned());
            let is_indexed = mode(&of_old.0) == "Indexed";
            if mode(&of_old.0) != mode(&of_new.0) {
                Some("spec.completionMode")
            } else if of_old.0.completions != of_new.0.completions && of_new.0.completions.is_some() && !is_indexed {
                Some("spec.completions")
            } else {
                let (old, new) = (old.template.as_ref()?, new.template.as_ref()?);
                (!of_old.0.suspend && !template::is_same(&as_written(old), new)).then_some("spec.template")
            }
        }
        _ => None,
    }
}

/// A Job's template without the labels that its controller and the API server add.
fn as_written(template: &Template) -> Template {
    const ADDED: [&str; 4] =
        ["controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"];
    let mut template = template.clone();
    template.meta.labels = template
        .meta
        .labels
        .iter()
        .filter(|(key, _)| !ADDED.contains(&&***key))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    template
}

fn is_same_claim(old: &PersistentVolumeClaim, new: &PersistentVolumeClaim) -> bool {
    let name = |c: &PersistentVolumeClaim| c.metadata.as_ref().map(|m| m.name.clone());
    let spec = |c: &PersistentVolumeClaim| {
        let mut spec = c.spec.clone().unwrap_or_default();
        // The default of the API server.
        spec.volume_mode.get_or_insert_with(|| "Filesystem".to_owned());
        spec
    };
    name(old) == name(new) && spec(old) == spec(new)
}

/// The classes that manifests change although their fields cannot be changed, each with the field. Mirrors
/// `ValidatePriorityClassUpdate` of `pkg/apis/scheduling/validation/validation.go` and `ValidateStorageClassUpdate` of
/// `pkg/apis/storage/validation/validation.go`.
pub(super) fn classes(written: &Snapshot, cluster: &Snapshot) -> Vec<(Ref, Finding)> {
    let mut refused = Vec::new();
    for new in written.priority_classes.iter() {
        let Some(old) = cluster.priority_classes.named("", &new.meta.name) else { continue };
        let policy = |of: &Option<String>| of.clone().unwrap_or_else(|| "PreemptLowerPriority".to_owned());
        let field = if old.value.unwrap_or_default() != new.value.unwrap_or_default() {
            "value"
        } else if policy(&old.preemption_policy) != policy(&new.preemption_policy) {
            "preemptionPolicy"
        } else {
            continue;
        };
        refused.push(class(&Ref::of(Kind::PriorityClass, &new.meta), field));
    }
    for new in written.storage_classes.iter() {
        let Some(old) = cluster.storage_classes.named("", &new.meta.name) else { continue };
        let mode = |of: &Option<String>| of.clone().unwrap_or_else(|| "Immediate".to_owned());
        let field = if old.provisioner != new.provisioner {
            "provisioner"
        } else if mode(&old.volume_binding_mode) != mode(&new.volume_binding_mode) {
            "volumeBindingMode"
        } else {
            continue;
        };
        refused.push(class(&Ref::of(Kind::StorageClass, &new.meta), field));
    }
    refused
}

fn class(object: &Ref, field: &str) -> (Ref, Finding) {
    let remedy = Remedy::advice(format!(
        "write it under another name, and name that in what uses {} {}",
        object.kind, object.name
    ));
    (object.clone(), refused(object, field).remedy(remedy))
}

fn refused(object: &Ref, field: &str) -> Finding {
    let (kind, path) = (&object.kind, object.path());
    let message = format!(
        "the API server refuses this change: {field} of {kind} {path} is immutable, and the manifest has another value; \
         {kind} {path} stays as it is in the cluster"
    );
    Finding::new(Code::ImmutableField, message).about([object.clone()])
}

/// That the API server refuses a change of a workload.
pub(super) fn of_workload(workload: &Arc<Workload>, field: &str, cluster: &Snapshot) -> Finding {
    let (kind, path, name) = (&workload.kind, workload.meta.path(), workload.resource_name());
    let kubectl = Kubectl::of(cluster);
    let delete = |more: &[&str]| kubectl.line(workload.meta.ns(), &[&["delete", &name], more].concat());
    let remedy = if matches!(workload.detail, Detail::StatefulSet(_)) {
        Remedy::advice(format!("delete {kind} {path} and keep its pods, then apply the manifest"))
            .command(delete(&["--cascade=orphan"]))
            .risk("until the manifest is applied, nothing replaces a pod of it that ends")
    } else {
        Remedy::advice(format!("delete {kind} {path}, then apply the manifest"))
            .command(delete(&[]))
            .risk(format!("all pods of {kind} {path} are deleted at once, whatever its budget"))
    };
    refused(&Ref::workload(workload), field).remedy(remedy)
}
