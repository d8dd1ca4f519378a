//! Containers that cannot be configured or started. After `generateContainerOptions` and `startContainer` of
//! `pkg/kubelet/kuberuntime/kuberuntime_container.go`, `makeEnvironmentVariables` of `pkg/kubelet/kubelet_pods.go`,
//! `verifyRunAsNonRoot` of `security_context.go`, and the words of runc and containerd.

use super::words::{Known, has, place};
use crate::pending::context::Context;
use crate::pending::facts::quoted;
use crate::snapshot::pod::Pod;

/// What the words mean; `None` where they are not known.
pub(super) fn known(pod: &Pod, container: &str, said: &str, cx: &Context<'_>) -> Option<Known> {
    let words = said.to_lowercase();
    let whose = place(pod, cx);
    let node = pod.node.as_deref().unwrap_or_default();
    if let Some(missing) = missing(pod, said, &whose, cx) {
        return Some(missing);
    }
    let security = |what: &str| format!("{what} for container {container} in {whose} (securityContext)");
    Some(if has(&words, &["runasnonroot and image will run as root"]) {
        let advice = format!(
            "{}, or build the image with another USER",
            security("set runAsUser to the number of a user other than 0")
        );
        Known::new("the image runs as root, and securityContext.runAsNonRoot forbids that", advice)
    } else if has(&words, &["has non-numeric user"]) {
        let advice =
            format!("{}, or give the image's USER as a number", security("set runAsUser to that user's number"));
        Known::new("the image names its user by a word, of which runAsNonRoot cannot be judged", advice)
    } else if has(&words, &["runasnonroot"]) && has(&words, &["break non-root policy", "container's runasuser"]) {
        let advice = security("set runAsUser to the number of a user other than 0, or remove runAsNonRoot");
        Known::new("runAsUser is 0, and securityContext.runAsNonRoot forbids that", advice)
    } else if has(&words, &["nvml", "nvidia-container-cli", "driver not loaded", "nvidia-container-runtime"]) {
        let pods = super::words::component_on("nvidia", node, cx);
        let advice = format!(
            "repair the GPU driver of node {node}{pods}: the GPU operator's driver pods load it, else whoever makes the node's image"
        );
        Known::new(format!("the GPU driver of node {node} does not answer"), advice)
    } else if has(&words, &["exec format error"]) {
        let advice = format!(
            "publish the image for that architecture, or keep the pod on nodes of another (nodeSelector kubernetes.io/arch in {whose})"
        );
        Known::new("the image is made for another architecture than the node's", advice)
    } else if has(&words, &["executable file not found", "no such file or directory"])
        && has(&words, &["exec: ", "exec \"", "stat "])
    {
        let advice = format!("correct command and args of container {container} in {whose}, or the image");
        Known::new("the command of the container is not in the image", advice)
    } else if has(&words, &["permission denied"]) && has(&words, &["exec: ", "exec \""]) {
        let advice =
            format!("make the file executable in the image, or correct command of container {container} in {whose}");
        Known::new("the command of the container is not executable", advice)
    } else if has(&words, &["is reserved for"]) {
        let advice = format!(
            "look at the container runtime of node {node}: it is still busy with an earlier try (a slow or overloaded disk); the \
             kubelet tries again by itself"
        );
        Known::new(format!("the container runtime of node {node} has not finished an earlier try"), advice)
    } else if has(&words, &["deadline exceeded"]) {
        let advice =
            format!("look at the container runtime of node {node} (load, disk): the kubelet tries again by itself");
        Known::new(format!("the container runtime of node {node} did not answer in time"), advice)
    } else if has(&words, &["no space left on device"]) {
        super::image::full(node, cx)
    } else if has(&words, &["are you trying to mount a directory onto a file", "not a directory"]) {
        let advice = format!("correct mountPath and subPath of the volumeMounts of container {container} in {whose}");
        Known::new("a volume's directory is mounted onto a file of the image, or the other way round", advice)
    } else if has(&words, &["failed to prepare subpath", "failed to create subpath"]) {
        let advice = format!(
            "correct subPath of the volumeMounts of container {container} in {whose}, or make that path in the volume"
        );
        Known::new("the path inside the volume (subPath) cannot be used", advice)
    } else {
        return None;
    })
}

/// A Secret or a ConfigMap that does not exist, or lacks a key.
pub(super) fn missing(pod: &Pod, said: &str, whose: &str, cx: &Context<'_>) -> Option<Known> {
    let ns = pod.meta.ns();
    for (lead, kind, list) in [
        ("secret \"", "Secret", "secrets"),
        ("secrets \"", "Secret", "secrets"),
        ("configmap \"", "ConfigMap", "configmaps"),
        ("configmaps \"", "ConfigMap", "configmaps"),
    ] {
        let Some(name) = quoted(said, lead).filter(|n| said.contains(&format!("{lead}{n}\" not found"))) else {
            continue;
        };
        let maker = match kind {
            "Secret" => {
                "; where External Secrets, Sealed Secrets or cert-manager make it, their own resource says why it is not there"
            }
            _ => "",
        };
        let advice = format!("create {kind} {ns}/{name}, or correct its name in {whose}{maker}");
        let known = Known::new(format!("{kind} {ns}/{name} does not exist"), advice);
        return Some(known.command(cx.kubectl.line(ns, &["get", list])));
    }
    for (lead, kind, list) in [(" in ConfigMap ", "ConfigMap", "configmap"), (" in Secret ", "Secret", "secret")] {
        let Some((before, after)) = said.split_once(lead) else { continue };
        let Some((_, key)) = before.rsplit_once("couldn't find key ") else { continue };
        let path = after.split([' ', ',', ')']).next().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or(path);
        let known = Known::new(
            format!("{kind} {path} has no key {key}"),
            format!("add key {key} to {kind} {path}, or correct the key in {whose}"),
        );
        return Some(known.command(cx.kubectl.line(ns, &["describe", list, name])));
    }
    let (before, key) =
        said.split_once("references non-existent ").and_then(|(b, a)| Some((b, a.split_once(" key: ")?)))?;
    let _ = before;
    let kind = if key.0.contains("secret") { "Secret" } else { "ConfigMap" };
    let key = key.1.split([' ', ',', ')']).next().unwrap_or_default();
    Some(Known::new(
        format!("a {kind} that a volume is filled from has no key {key}"),
        format!("add key {key} to that {kind}, or correct items of the volume in {whose}"),
    ))
}
