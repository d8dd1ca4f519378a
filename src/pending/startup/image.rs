//! Images that are not pulled. After `pkg/kubelet/images/image_manager.go`, and the words of containerd's and CRI-O's
//! resolvers, which repeat the registry's answer.

use super::words::{Known, has, place};
use crate::pending::context::Context;
use crate::snapshot::pod::Pod;

/// What the reason and its words mean; `None` where they are not known.
pub(super) fn known(
    pod: &Pod,
    container: &str,
    image: &str,
    reason: &str,
    said: &str,
    cx: &Context<'_>,
) -> Option<Known> {
    let words = said.to_lowercase();
    let whose = place(pod, cx);
    let node = pod.node.as_deref().unwrap_or_default();
    let host = registry(image);
    let correct = format!("correct the image of container {container} in {whose}");
    match reason {
        "InvalidImageName" => return Some(Known::new("that is not a valid name of an image", correct)),
        "ErrImageNeverPull" => {
            let advice = format!(
                "load the image onto node {node} (kind load docker-image, minikube image load, ctr -n k8s.io images import), or \
                 set imagePullPolicy: IfNotPresent for container {container} in {whose}"
            );
            return Some(Known::new("imagePullPolicy is Never, and the node does not have the image", advice));
        }
        "SignatureValidationFailed" => {
            let advice = "have the image signed by a key that the runtime's policy on the nodes accepts";
            return Some(Known::new("the node's runtime does not accept the image's signature", advice));
        }
        _ => {}
    }
    let known = if has(&words, &["toomanyrequests", "too many requests", "rate limit"]) {
        let advice = format!(
            "pull with credentials (imagePullSecrets), or from a mirror of {host}: the kubelet tries again by itself, at most 5 min \
             apart, until the limit lets it"
        );
        Known::new(format!("registry {host} limits how often its images are pulled"), advice)
    } else if has(
        &words,
        &["no match for platform", "no matching manifest for", "does not match the specified platform"],
    ) {
        let arch = cx.snapshot.nodes.named("", node).and_then(|n| n.meta.labels.get("kubernetes.io/arch").cloned());
        let arch = arch.map(|a| format!(" ({a})")).unwrap_or_default();
        let advice = format!(
            "publish the image for that architecture, too, or keep the pod on nodes of another one (nodeSelector \
             kubernetes.io/arch in {whose})"
        );
        Known::new(format!("the image has no variant for the node's architecture{arch}"), advice)
    } else if has(&words, &["no space left on device"]) {
        full(node, cx)
    } else if has(
        &words,
        &[
            "unauthorized",
            "401",
            "403",
            "denied",
            "forbidden",
            "authentication required",
            "no basic auth",
            "authorization failed",
        ],
    ) {
        refused(pod, host, &whose, cx)
    } else if has(&words, &["x509", "certificate"]) {
        let advice = format!(
            "make the container runtime of the nodes trust the certificate authority of {host} (containerd: certs.d)"
        );
        Known::new(format!("the node does not trust the certificate of registry {host}"), advice)
    } else if has(&words, &["server gave http response to https client"]) {
        let advice =
            format!("serve TLS on {host}, or name it as a registry without TLS in the nodes' container runtime");
        Known::new(format!("registry {host} does not speak TLS"), advice)
    } else if has(&words, &["no such host", "server misbehaving", "name resolution"]) {
        let advice = format!(
            "correct the registry's name in {whose}, or the DNS of node {node}: the kubelet's runtime asks the node's resolver, not \
             the cluster's DNS"
        );
        Known::new(format!("node {node} cannot resolve the name of registry {host}"), advice)
    } else if has(
        &words,
        &[
            "i/o timeout",
            "connection refused",
            "connection reset",
            "no route to host",
            "deadline exceeded",
            "handshake timeout",
            "network is unreachable",
        ],
    ) {
        let advice = format!(
            "let node {node} reach {host}: a route or NAT, the firewall, or the proxy of its container runtime"
        );
        Known::new(format!("node {node} does not reach registry {host}"), advice)
    } else if has(&words, &["not found", "manifest unknown", "name unknown", "does not exist"]) {
        Known::new(
            format!("registry {host} has no such image, or not that tag"),
            format!("{correct}, or push that tag"),
        )
    } else {
        return None;
    };
    Some(known)
}

/// The registry wants other credentials, or hides that there is no such repository.
fn refused(pod: &Pod, host: &str, whose: &str, cx: &Context<'_>) -> Known {
    let ns = pod.meta.ns();
    let means =
        format!("registry {host} refuses: the credentials are missing or wrong, or there is no such repository");
    if let Some(missing) = missing_secret(pod, cx) {
        let advice = format!(
            "create image pull Secret {missing} in namespace {ns} (type kubernetes.io/dockerconfigjson), or correct its name in \
             {whose}: the kubelet could not read it"
        );
        let means = format!("registry {host} refuses, and image pull Secret {missing} cannot be read");
        return Known::new(means, advice).command(cx.kubectl.line(ns, &["get", "secret", &missing]));
    }
    // Each cloud's registry takes the identity of its nodes.
    let cloud = if host.contains(".dkr.ecr.") {
        "; for ECR the nodes' IAM role needs the right to pull"
    } else if host.ends_with(".azurecr.io") {
        "; for ACR the kubelets' identity needs the role AcrPull (az aks update --attach-acr)"
    } else if host.ends_with("pkg.dev") || host.ends_with("gcr.io") {
        "; for Artifact Registry the nodes' service account needs roles/artifactregistry.reader"
    } else {
        ""
    };
    let advice = format!(
        "give the pod credentials for {host} (imagePullSecrets of the pod or of its ServiceAccount, in namespace {ns}), or correct \
         the image's name in {whose}{cloud}"
    );
    Known::new(means, advice)
}

/// The image pull Secrets that the kubelet could not read. Mirrors `syncPod` of `pkg/kubelet/kubelet.go`:
/// FailedToRetrieveImagePullSecret.
fn missing_secret(pod: &Pod, cx: &Context<'_>) -> Option<String> {
    let event = super::words::newest(pod, cx.snapshot, &["FailedToRetrieveImagePullSecret"])?;
    let (_, after) = event.message.split_once('(')?;
    Some(after.split_once(')')?.0.to_owned()).filter(|n| !n.is_empty())
}

/// The disk of the node.
pub(super) fn full(node: &str, cx: &Context<'_>) -> Known {
    let advice = format!(
        "free disk space on node {node} (unused images, logs, emptyDir volumes), or give it a larger disk; its kubelet removes \
         unused images by itself once the disk passes imageGCHighThresholdPercent"
    );
    Known::new(format!("the disk of node {node} is full"), advice)
        .command(cx.kubectl.line("", &["describe", "node", node]))
}

/// The registry of an image. Mirrors the splitting of `distribution/reference`: without a host it is Docker Hub.
fn registry(image: &str) -> &str {
    match image.split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => host,
        _ => "docker.io",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_without_a_host_is_docker_hub_s() {
        for (image, want) in [
            ("nginx", "docker.io"),
            ("library/nginx:1", "docker.io"),
            ("registry.example.com/a/b:1", "registry.example.com"),
            ("localhost/a", "localhost"),
            ("reg:5000/a", "reg:5000"),
        ] {
            assert_eq!(registry(image), want);
        }
    }
}
