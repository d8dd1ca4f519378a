//! Pods that only the drained nodes can run: by their own rules, or by a volume.

use crate::drain::context::DrainContext;
use crate::drain::note::Note;
use crate::finding::{Code, Severity};
use crate::sched::filters::node_affinity;
use crate::snapshot::Str;
use crate::snapshot::intern::Interner;
use crate::snapshot::node::Node;
use crate::snapshot::pod::{Pod, VolumeSource};
use crate::snapshot::selector::NodeSelector;

/// Whether only nodes that are drained can take the pod: by its own rules, or by a volume.
pub fn pinned(context: &DrainContext<'_>, pod: &Pod, drained: &[Str]) -> Vec<Note> {
    let others = || context.snapshot.nodes.iter().filter(|n| !drained.contains(&n.meta.name));
    let mut notes = Vec::new();
    let here = drained.join(", ");
    let rules = pod.spec.node_affinity.is_some() || !pod.spec.node_selector.is_empty();
    if rules && !others().any(|n| node_affinity::matches(pod, n)) {
        let text = format!("its node selector or affinity admits no other node than {here}");
        notes.push(Note::new(Code::PinnedNode, text).severity(Severity::Warning));
    }
    for (claim, reach) in volumes(context, pod) {
        if !others().any(|n| reach(n)) {
            let text = format!("the volume of its claim {claim} is reached from {here} only");
            notes.push(Note::new(Code::PinnedVolume, text).severity(Severity::Warning));
        }
    }
    notes
}

type Reach<'a> = Box<dyn Fn(&Node) -> bool + 'a>;

/// The pod's bound claims whose volumes are not reached from everywhere.
fn volumes<'a>(context: &DrainContext<'a>, pod: &'a Pod) -> Vec<(String, Reach<'a>)> {
    let snapshot = context.snapshot;
    let claims = pod.volumes.iter().filter_map(|v| match &v.source {
        VolumeSource::Claim { name, .. } => Some(name.to_string()),
        VolumeSource::Ephemeral { .. } => Some(format!("{}-{}", pod.meta.name, v.name)),
        _ => None,
    });
    let affinity = |claim: String| -> Option<(String, Reach<'a>)> {
        let bound = snapshot.persistent_volume_claims.named(pod.meta.ns(), &claim)?;
        let volume = snapshot.persistent_volumes.named("", &bound.spec.as_ref()?.volume_name)?;
        let required = volume.spec.as_ref()?.node_affinity.as_ref()?.required.as_ref()?;
        let selector = NodeSelector::read(required, &mut Interner::default());
        Some((claim, Box::new(move |n: &Node| selector.matches(&n.meta.name, &n.meta.labels))))
    };
    claims.filter_map(affinity).collect()
}
