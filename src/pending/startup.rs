//! A pod that has its node and has not started: images, configuration, init containers, volumes, the sandbox, or a
//! kubelet that rejects it.

mod container;
mod image;
mod network;
mod reject;
mod volume;
mod words;

use super::context::Context;
use super::facts::some;
use super::stage::{REJECTED, rejected};
use super::{claims, running};
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::snapshot::age::age;
use crate::snapshot::event::Event;
use crate::snapshot::pod::{Container, ContainerState, ContainerStatus, Pod};
use crate::snapshot::{Kind, Snapshot};

/// What keeps a pod with a node from starting; where nothing does, how it is.
pub fn findings(pod: &Pod, cx: &Context<'_>) -> Vec<Finding> {
    let snapshot = cx.snapshot;
    let mut all = Vec::new();
    if pod.is_terminating() {
        all.push(deleted(pod, ""));
    }
    if rejected(pod) {
        all.push(rejection(pod, cx));
        return all;
    }
    if let Some(lost) = node(pod, snapshot) {
        all.push(lost);
        return all;
    }
    all.extend(containers(pod, cx));
    let not_running = pod.status.containers.iter().all(|c| !matches!(c.state, ContainerState::Running(_)));
    if not_running && !pod.is_finished() {
        all.extend(claims::findings(pod, cx));
        all.extend(volumes(pod, cx, &all));
        all.extend(devices(pod, cx));
        all.extend(sandbox(pod, cx));
    }
    if all.is_empty() {
        all.extend(running::finding(pod, cx));
        all.extend(running::resize(pod));
    }
    all
}

/// A pod that is being deleted; with what follows from it.
pub fn deleted(pod: &Pod, follows: &str) -> Finding {
    let follows = if follows.is_empty() { String::new() } else { format!(": {follows}") };
    let finding =
        Finding::new(Code::Terminating, format!("it is being deleted{}{follows}", held(pod))).about([Ref::pod(pod)]);
    let Some(finalizer) = pod.meta.finalizers.first() else { return finding };
    let who = match &**finalizer {
        "batch.kubernetes.io/job-tracking" => "the Job controller (kube-controller-manager)".to_owned(),
        "foregroundDeletion" => "the garbage collector, once what the pod owns is gone".to_owned(),
        other => format!("whatever set {other}"),
    };
    finding.remedy(
        Remedy::advice(format!("see that {who} runs: it removes the finalizer when its own work on the pod is done"))
            .risk("a finalizer that is removed by hand leaves that work undone"),
    )
}

fn held(pod: &Pod) -> String {
    if pod.meta.finalizers.is_empty() {
        String::new()
    } else {
        format!(", and held by finalizer {}", pod.meta.finalizers.join(", "))
    }
}

fn node_name(pod: &Pod) -> &str {
    pod.node.as_deref().unwrap_or_default()
}

fn node(pod: &Pod, snapshot: &Snapshot) -> Option<Finding> {
    let name = node_name(pod);
    let Some(node) = snapshot.nodes.named("", name) else {
        if !snapshot.coverage.has(Kind::Node) {
            return None;
        }
        let message = format!("it is bound to node {name}, and there is no such node: no kubelet will start it");
        return Some(Finding::new(Code::NodeName, message).about([Ref::node(name)]));
    };
    (!node.is_ready()).then(|| {
        let since = node.condition("Ready").and_then(|c| c.since);
        let since = since.map(|t| format!(" for {}", age(t, snapshot.now))).unwrap_or_default();
        let message = format!("its node {name} has not been Ready{since}: its kubelet does not start it");
        Finding::new(Code::NodeNotReady, message).about([Ref::node(name)])
    })
}

fn rejection(pod: &Pod, cx: &Context<'_>) -> Finding {
    let reason = pod.status.reason.as_deref().unwrap_or_default();
    let said = pod.status.message.as_deref().unwrap_or_default().trim_end_matches(['.', ' ']);
    let said = said.strip_prefix(REJECTED).unwrap_or(said);
    let statics = cx.snapshot.pods_on(node_name(pod)).filter(|p| p.is_mirror() && !p.is_finished());
    let statics: Vec<String> = statics.map(|p| p.meta.path()).collect();
    let taken = if statics.is_empty() || !reason.starts_with("OutOf") {
        String::new()
    } else {
        format!("; static pods there, which no scheduler counts before they run: {}", some(statics))
    };
    let known = reject::known(pod, reason, said, cx).unwrap_or_default();
    let anew = if pod.meta.controller.is_some() { "its controller makes another" } else { "nothing makes another" };
    let message = format!(
        "the kubelet of node {} rejected it ({reason}): {}{taken}; this pod will never start, {anew}",
        node_name(pod),
        plainly(&known.means, said)
    );
    let mut finding = Finding::new(Code::KubeletReject, message).about([Ref::node(node_name(pod))]);
    finding.remedies = known.remedies;
    if pod.meta.controller.is_none() {
        let again = "delete the pod and create it again: a pod that was rejected is not tried a second time";
        let delete = cx.kubectl.line(pod.meta.ns(), &["delete", "pod", &pod.meta.name]);
        finding.remedies.push(Remedy::advice(again).command(delete));
    } else if finding.remedies.is_empty() {
        return finding.without_remedy("look at the pod that replaces it, which is scheduled anew");
    }
    finding
}

/// The meaning, then the component's own words.
fn plainly(means: &str, said: &str) -> String {
    match (means.is_empty(), said.is_empty()) {
        (true, _) => said.to_owned(),
        (false, true) => means.to_owned(),
        (false, false) => format!("{means}; {said}"),
    }
}

fn containers(pod: &Pod, cx: &Context<'_>) -> Vec<Finding> {
    let mut all = Vec::new();
    for status in &pod.status.init_containers {
        let spec = pod.spec.init_containers.iter().find(|c| c.name == status.name);
        all.extend(waiting(pod, status, spec, cx).or_else(|| init(pod, status, spec, cx)));
    }
    for status in &pod.status.containers {
        let spec = pod.spec.containers.iter().find(|c| c.name == status.name);
        all.extend(waiting(pod, status, spec, cx));
    }
    all
}

/// What a container that has not started waits for.
fn waiting(pod: &Pod, status: &ContainerStatus, spec: Option<&Container>, cx: &Context<'_>) -> Option<Finding> {
    let ContainerState::Waiting { reason, message } = &status.state else { return None };
    let name = &status.name;
    let node = node_name(pod);
    let image = spec.map_or("", |c| &c.image);
    let told = |known: &words::Known| {
        let said = message.trim_end_matches(['.', ' ']);
        let said = if said.is_empty() { reason.to_string() } else { format!("{reason} ({said})") };
        plainly(&known.means, &said)
    };
    let (code, lead, known) = match &**reason {
        "ErrImagePull"
        | "ImagePullBackOff"
        | "ErrImageNeverPull"
        | "InvalidImageName"
        | "ImageInspectError"
        | "RegistryUnavailable"
        | "SignatureValidationFailed" => {
            let lead = format!("node {node} cannot pull image {image} of container {name}");
            (Code::ImagePull, lead, image::known(pod, name, image, reason, message, cx))
        }
        "CreateContainerConfigError" => {
            let lead = format!("container {name} cannot be configured on node {node}");
            (Code::ConfigMissing, lead, container::known(pod, name, message, cx))
        }
        "PreCreateHookError"
        | "CreateContainerError"
        | "RunContainerError"
        | "StartError"
        | "PreStartHookError"
        | "PostStartHookError" => {
            let lead = format!("container {name} cannot be started on node {node}");
            (Code::Sandbox, lead, container::known(pod, name, message, cx))
        }
        _ => return None,
    };
    let known = known.unwrap_or_default();
    let mut finding = Finding::new(code, format!("{lead}: {}", told(&known)));
    finding.remedies = known.remedies;
    Some(finding.about([Ref::pod(pod), Ref::node(node)]))
}

fn init(pod: &Pod, status: &ContainerStatus, spec: Option<&Container>, cx: &Context<'_>) -> Option<Finding> {
    let snapshot = cx.snapshot;
    let (name, node) = (&status.name, node_name(pod));
    let last = status.last.as_ref().map(|t| format!(", last with exit code {} ({})", t.exit_code, t.reason));
    let again = if status.restarts > 0 { format!(" {} times", status.restarts) } else { String::new() };
    let message = match &status.state {
        ContainerState::Waiting { reason, message } if &**reason == "CrashLoopBackOff" => {
            format!(
                "init container {name} fails again and again{again} on node {node}{} ({message}); the others wait for it",
                last.unwrap_or_default()
            )
        }
        ContainerState::Terminated(t) if t.exit_code != 0 => {
            format!(
                "init container {name} ended with exit code {} ({}){again} on node {node}; the others wait for it",
                t.exit_code, t.reason
            )
        }
        ContainerState::Running(since) if !spec.is_some_and(|c| c.sidecar) => {
            let since = since.map(|t| format!(" for {}", age(t, snapshot.now))).unwrap_or_default();
            format!("init container {name} has run{since} on node {node}; the others wait until it ends")
        }
        ContainerState::Running(_) if status.started == Some(false) => {
            format!("sidecar {name} has not passed its startup probe on node {node}; the others wait for it")
        }
        _ => return None,
    };
    let mut args = vec!["logs", &*pod.meta.name, "-c", name];
    let ended = status.restarts > 0 && !matches!(status.state, ContainerState::Running(_));
    args.extend(ended.then_some("--previous"));
    let read = Remedy::advice(format!("read what {name} writes: it says what it waits for, or why it ends"))
        .command(cx.kubectl.line(pod.meta.ns(), &args));
    Some(Finding::new(Code::Init, message).about([Ref::pod(pod)]).remedy(read))
}

fn said(event: &Event, snapshot: &Snapshot) -> String {
    let ago = event.last_seen.map(|t| format!("{} ago", age(t, snapshot.now)));
    let times = if event.count > 1 { format!(", {} times", event.count) } else { String::new() };
    format!("{} ({}{times})", event.message, ago.unwrap_or_default())
}

fn volumes(pod: &Pod, cx: &Context<'_>, found: &[Finding]) -> Vec<Finding> {
    let snapshot = cx.snapshot;
    let node = node_name(pod);
    let mut all = Vec::new();
    let elsewhere = attached_elsewhere(pod, snapshot);
    let attach = words::newest(pod, snapshot, &["FailedAttachVolume"]);
    let mount = words::newest(pod, snapshot, &["FailedMount", "FailedMapVolume"]);
    let missing_config = mount.filter(|e| {
        (e.message.contains("secret") || e.message.contains("configmap")) && e.message.contains("not found")
    });
    if let Some(e) = missing_config
        && !found.iter().any(|f| f.code == Code::ConfigMissing)
    {
        let known = container::missing(pod, &e.message, &words::place(pod, cx), cx).unwrap_or_default();
        let message = format!(
            "a volume of the pod cannot be filled on node {node}: {}",
            plainly(&known.means, &said(e, snapshot))
        );
        let mut finding = Finding::new(Code::ConfigMissing, message).about([Ref::pod(pod)]);
        finding.remedies = known.remedies;
        all.push(finding);
    }
    let event = attach.or(mount.filter(|_| missing_config.is_none()));
    let attaching = attach.is_some() || event.is_none();
    let known = event.and_then(|e| volume::known(pod, &e.message, attaching, cx)).unwrap_or_default();
    let words = match (event, elsewhere.is_empty()) {
        (None, true) => return all,
        (Some(e), true) => plainly(&known.means, &said(e, snapshot)),
        (None, false) => elsewhere.join("; "),
        (Some(e), false) => format!("{}; {}", elsewhere.join("; "), said(e, snapshot)),
    };
    let what = if attaching { "attached to" } else { "mounted on" };
    let message = format!("a volume cannot be {what} node {node}: {words}");
    let mut finding = Finding::new(Code::VolumeAttach, message).about([Ref::pod(pod), Ref::node(node)]);
    finding.remedies.extend(event.and_then(|e| unregistered(e, node, cx)));
    finding.remedies.extend((!elsewhere.is_empty()).then(|| let_go(pod, cx)));
    finding.remedies.extend(known.remedies);
    all.push(finding);
    all
}

/// The node's kubelet does not know the driver of the volume.
fn unregistered(event: &Event, node: &str, cx: &Context<'_>) -> Option<Remedy> {
    let (before, _) = event.message.split_once(" not found in the list of registered CSI drivers")?;
    let driver = before.rsplit("driver name ").next()?;
    let pods = words::csi_pods_on(driver, node, cx);
    let text =
        format!("bring up the node plugin of CSI driver {driver} on node {node}, which registers it there{pods}");
    Some(Remedy::advice(text).command(cx.kubectl.line("", &["get", "csinode", node, "-o", "yaml"])))
}

/// The volume is attached to another node and can be attached to one only.
fn let_go(pod: &Pod, cx: &Context<'_>) -> Remedy {
    let owner = cx.snapshot.top_controller_of(&pod.meta);
    let recreate = match owner.filter(|w| &*w.kind == "Deployment") {
        Some(w) => format!(
            "; a rollout of Deployment {} starts the new pod before the old one ends, unless its strategy is Recreate",
            w.meta.path()
        ),
        None => String::new(),
    };
    let text = format!("end the pod that uses the volume on the other node, so that it is detached there{recreate}");
    Remedy::advice(text).risk("the application is down until the new pod is Ready")
}

/// Volumes of the pod that only one node may have, and that are attached to another.
fn attached_elsewhere(pod: &Pod, snapshot: &Snapshot) -> Vec<String> {
    let mut words = Vec::new();
    for r in crate::sched::filters::claims::claims_of(pod) {
        let Some(claim) = snapshot.persistent_volume_claims.named(pod.meta.ns(), &r.name) else { continue };
        let volume = crate::sched::filters::claims::volume_name(claim);
        let modes = claim.spec.as_ref().map(|s| &*s.access_modes).unwrap_or_default();
        let shared = modes.iter().any(|m| m == "ReadWriteMany" || m == "ReadOnlyMany");
        if shared || volume.is_empty() {
            continue;
        }
        let of = |a: &&crate::wire::storage::VolumeAttachmentSpec| {
            a.node_name != node_name(pod)
                && a.source.as_ref().and_then(|s| s.persistent_volume_name.as_deref()) == Some(volume)
        };
        for a in snapshot.volume_attachments.iter().filter_map(|a| a.spec.as_ref()).filter(of) {
            let users =
                snapshot.pods_on(&a.node_name).filter(|p| !p.is_finished() && p.meta.namespace == pod.meta.namespace);
            let users: Vec<String> = users
                .filter(|p| crate::sched::filters::claims::claims_of(p).any(|c| c.name == r.name))
                .map(|p| format!("{}{}", p.meta.name, if p.is_terminating() { ", which is being deleted" } else { "" }))
                .collect();
            let lost = snapshot.nodes.named("", &a.node_name).is_some_and(|n| !n.is_ready());
            let state = if lost { ", whose kubelet does not answer" } else { "" };
            let used = if users.is_empty() { String::new() } else { format!(", used there by {}", some(users)) };
            words.push(format!("{volume} (claim {}) is still attached to node {}{state}{used}", r.name, a.node_name));
        }
    }
    words
}

/// The kubelet could not have its devices made ready by their driver. Mirrors `PrepareResources` of
/// `pkg/kubelet/cm/dra/manager.go`.
fn devices(pod: &Pod, cx: &Context<'_>) -> Option<Finding> {
    let event = words::newest(pod, cx.snapshot, &["FailedPrepareDynamicResources"])?;
    let node = node_name(pod);
    let message = format!("the kubelet of node {node} cannot prepare its devices: {}", said(event, cx.snapshot));
    let finding = Finding::new(Code::ResourceClaim, message).about([Ref::pod(pod), Ref::node(node)]);
    let driver = event.message.split_once("DRA driver ").and_then(|(_, after)| after.split_once(" is not registered"));
    let Some((driver, _)) = driver else { return Some(finding) };
    let plugin = words::component_on(driver.split('.').rev().nth(1).unwrap_or(driver), node, cx);
    Some(finding.remedy(Remedy::advice(format!(
        "bring up the kubelet plugin of DRA driver {driver} on node {node}, which registers it there{plugin}"
    ))))
}

fn sandbox(pod: &Pod, cx: &Context<'_>) -> Option<Finding> {
    let snapshot = cx.snapshot;
    let node = node_name(pod);
    let event = words::newest(pod, snapshot, &["FailedCreatePodSandBox", "NetworkNotReady", "FailedPodSandBoxStatus"])?;
    let known = network::known(pod, &event.message, cx).unwrap_or_default();
    let message =
        format!("its sandbox cannot be set up on node {node}: {}", plainly(&known.means, &said(event, snapshot)));
    let mut finding = Finding::new(Code::Sandbox, message).about([Ref::pod(pod), Ref::node(node)]);
    finding.remedies = known.remedies;
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{cluster, find, merged, node, pod};
    use serde_json::{Value, json};

    fn codes(more: Value, objects: &[Value]) -> Vec<Code> {
        let p = pod("p", merged(json!({"spec": {"nodeName": "n"}}), more));
        let snapshot = cluster(&[&[p], objects].concat());
        findings(&find(&snapshot, "p"), &Context::new(&snapshot)).into_iter().map(|f| f.code).collect()
    }

    fn waiting(list: &str, reason: &str) -> Value {
        json!({"status": {list: [{"name": "c", "state": {"waiting": {"reason": reason, "message": "m"}}}]}})
    }

    #[test]
    fn the_kubelet_s_reasons_have_their_codes() {
        // The reasons of `pkg/kubelet/{images/types.go,kuberuntime/kuberuntime_container.go,container/sync_result.go}`, and
        // those of runtimes.
        for (reason, code) in [
            ("ErrImagePull", Some(Code::ImagePull)),
            ("ImagePullBackOff", Some(Code::ImagePull)),
            ("ErrImageNeverPull", Some(Code::ImagePull)),
            ("InvalidImageName", Some(Code::ImagePull)),
            ("ImageInspectError", Some(Code::ImagePull)),
            ("CreateContainerConfigError", Some(Code::ConfigMissing)),
            ("PreCreateHookError", Some(Code::Sandbox)),
            ("CreateContainerError", Some(Code::Sandbox)),
            ("PreStartHookError", Some(Code::Sandbox)),
            ("PostStartHookError", Some(Code::Sandbox)),
            ("RunContainerError", Some(Code::Sandbox)),
            ("ContainerCreating", None),
            ("PodInitializing", None),
        ] {
            for list in ["containerStatuses", "initContainerStatuses"] {
                let got = codes(waiting(list, reason), &[node("n", json!({}))]);
                assert_eq!(got, Vec::from_iter(code), "{list} {reason}");
            }
        }
    }

    #[test]
    fn an_init_container_that_does_not_end_is_told() {
        let state = |state: Value| json!({"status": {"initContainerStatuses": [merged(json!({"name": "c"}), state)]}});
        let sidecar = json!({"spec": {"initContainers": [{"name": "c", "restartPolicy": "Always"}]}});
        let running = || json!({"state": {"running": {"startedAt": "2026-01-01T11:00:00Z"}}});
        for (title, status, told) in [
            ("it crashes", state(json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}})), true),
            ("it failed", state(json!({"state": {"terminated": {"exitCode": 1, "reason": "Error"}}})), true),
            ("it runs", state(running()), true),
            ("it ended well", state(json!({"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}})), false),
            ("a sidecar runs", merged(state(merged(running(), json!({"started": true}))), sidecar.clone()), false),
            ("a sidecar has not started", merged(state(merged(running(), json!({"started": false}))), sidecar), true),
        ] {
            let want = if told { vec![Code::Init] } else { vec![] };
            assert_eq!(codes(status, &[node("n", json!({}))]), want, "{title}");
        }
    }

    #[test]
    fn rejections_are_known_by_their_reasons() {
        // The reasons of `pkg/kubelet/{lifecycle/predicate.go,lifecycle/handlers.go,cm/topologymanager,sysctl}`.
        for (reason, rejected) in [
            ("OutOfcpu", true),
            ("OutOfpods", true),
            ("OutOfexample.com/gpu", true),
            ("NodeAffinity", true),
            ("NodePorts", true),
            ("TaintToleration", true),
            ("NodeShutdown", true),
            ("UnexpectedAdmissionError", true),
            ("PodOSNotSupported", true),
            ("InitContainerRestartPolicyForbidden", true),
            ("SupplementalGroupsPolicyNotSupported", true),
            ("PodLevelResourcesNotSupported", true),
            ("PodFeatureUnsupported", true),
            ("AppArmor", true),
            ("SysctlForbidden", true),
            ("TopologyAffinityError", true),
            ("Evicted", false),
            ("DeadlineExceeded", false),
        ] {
            let status = json!({"status": {"phase": "Failed", "reason": reason, "message": "m"}});
            let got = codes(status, &[node("n", json!({}))]);
            assert_eq!(got.contains(&Code::KubeletReject), rejected, "{reason}");
        }
    }

    #[test]
    fn the_node_and_its_events_are_told() {
        let event = |reason: &str, message: &str| {
            json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": reason, "namespace": "a"}, "reason": reason,
                "message": message, "involvedObject": {"kind": "Pod", "namespace": "a", "name": "p"},
                "lastTimestamp": "2026-01-01T11:59:00Z"})
        };
        let lost = json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}});
        let n = || node("n", json!({}));
        for (title, objects, want) in [
            ("nothing is wrong", vec![n()], vec![]),
            ("there is no such node", vec![node("m", json!({}))], vec![Code::NodeName]),
            ("no node was read", vec![], vec![]),
            ("its kubelet does not answer", vec![node("n", lost)], vec![Code::NodeNotReady]),
            (
                "a volume is not attached",
                vec![n(), event("FailedAttachVolume", "Multi-Attach error")],
                vec![Code::VolumeAttach],
            ),
            ("a volume is not mounted", vec![n(), event("FailedMount", "timed out")], vec![Code::VolumeAttach]),
            (
                "a volume's secret is missing",
                vec![n(), event("FailedMount", "MountVolume.SetUp failed for volume \"v\" : secret \"s\" not found")],
                vec![Code::ConfigMissing],
            ),
            ("no sandbox", vec![n(), event("FailedCreatePodSandBox", "no addresses")], vec![Code::Sandbox]),
            ("no network", vec![n(), event("NetworkNotReady", "cni")], vec![Code::Sandbox]),
            ("another event", vec![n(), event("Scheduled", "ok")], vec![]),
        ] {
            assert_eq!(codes(json!({}), &objects), want, "{title}");
        }
    }
}
