//! Workloads that are down while their pods are replaced.

use crate::drain::context::DrainContext;
use crate::drain::node_pod::NodePod;
use crate::drain::note::Note;
use crate::finding::{Code, Ref};
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// Whether a workload without a budget has all its Ready pods on the nodes that are drained.
pub fn downtime(context: &DrainContext<'_>, p: &NodePod, drained: &[Str]) -> Option<Note> {
    if !p.budgets.is_empty() || p.pod.is_finished() || !p.pod.is_ready() {
        return None;
    }
    if let Some(note) = machine(context, &p.pod) {
        return Some(note);
    }
    let top = context.snapshot.top_controller_of(&p.pod.meta)?;
    if matches!(&*top.kind, "Job" | "CronJob" | "DaemonSet") {
        return None;
    }
    let elsewhere =
        |p: &Arc<Pod>| p.is_ready() && !p.is_terminating() && p.node.as_ref().is_some_and(|n| !drained.contains(n));
    if context.siblings(&p.pod).any(elsewhere) {
        return None;
    }
    let n = context.siblings(&p.pod).filter(|p| p.is_ready()).count();
    let whose = if n == 1 { "its only pod is evicted".to_owned() } else { format!("all its {n} pods are evicted") };
    let text = format!(
        "{} {} is down until new pods are Ready: {whose}, and no budget protects it",
        top.kind,
        top.meta.path()
    );
    Some(Note::new(Code::Downtime, text).about([Ref::workload(top)]))
}

/// A virtual machine that no budget protects is not migrated: its pod is evicted, and the machine shut down with it. Mirrors
/// `Admit` of KubeVirt's `pod-eviction-admitter.go`, which lets such an eviction pass.
fn machine(context: &DrainContext<'_>, pod: &Pod) -> Option<Note> {
    let owner =
        pod.meta.controller.as_ref().filter(|o| &*o.kind == "VirtualMachineInstance" && &*o.group == "kubevirt.io")?;
    let machine = context.snapshot.virtual_machine_instances.named(pod.meta.ns(), &owner.name);
    let strategy = machine.and_then(|m| m.spec.eviction_strategy.as_deref());
    let why = match strategy {
        Some(strategy) => format!("its evictionStrategy is {strategy}"),
        None if machine.is_some() => "it has no evictionStrategy".to_owned(),
        None => "KubeVirt has made none for it".to_owned(),
    };
    let text = format!(
        "{} {}/{} is shut down, not migrated: no budget protects it ({why}); a VirtualMachine whose runStrategy is Always starts it \
         again on another node",
        owner.kind,
        pod.meta.ns(),
        owner.name
    );
    Some(Note::new(Code::Downtime, text).about([Ref::owner(pod.meta.ns(), owner)]))
}

#[cfg(test)]
mod tests {
    use crate::drain::explain;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, drained, owned_by};
    use crate::finding::Code;

    #[test]
    fn a_virtual_machine_without_a_budget_is_shut_down() {
        for (title, spec, budget, want) in [
            ("no strategy", "{}", false, Some("it has no evictionStrategy")),
            ("None", r#"{"evictionStrategy": "None"}"#, false, Some("its evictionStrategy is None")),
            ("one that is migrated", r#"{"evictionStrategy": "LiveMigrate"}"#, true, None),
        ] {
            let mut c = Cluster::new();
            ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
            c.add("kubevirt.io/v1", "VirtualMachineInstance", "a", "vm", spec);
            if budget {
                c.synced_budget("a", "vm", r#"{"minAvailable": 1, "selector": {}}"#);
            }
            c.pod_of("a", "p", "n", &owned_by("kubevirt.io/v1", "VirtualMachineInstance", "vm"), "", "");
            let met: Vec<String> = drained(&c.snapshot(), &DrainOptions::default(), "n", |context, pods, run, sim| {
                let plans = explain::pods(context, sim, pods, run, &["n".into()]);
                let notes = plans.iter().flat_map(|p| &p.notes).filter(|n| n.code == Code::Downtime);
                notes.map(|n| n.text.clone()).collect()
            });
            assert_eq!(met.len(), usize::from(want.is_some()), "{title}: {met:?}");
            assert!(met.iter().zip(want).all(|(text, want)| text.contains(want)), "{title}: {met:?}");
        }
    }
}
