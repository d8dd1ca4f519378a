//! Volumes that are not attached or mounted. After `pkg/volume/util/operationexecutor`, `pkg/volume/hostpath/host_path.go`,
//! `mount-utils`, and the words of the drivers that are named at each row.

use super::words::{Known, has, place};
use crate::pending::context::Context;
use crate::snapshot::pod::Pod;

/// What the words mean; `None` where they are not known.
pub(super) fn known(pod: &Pod, said: &str, attaching: bool, cx: &Context<'_>) -> Option<Known> {
    let words = said.to_lowercase();
    let node = pod.node.as_deref().unwrap_or_default();
    let driver = drivers(pod, cx);
    let the_driver = driver.as_ref().map_or_else(|| "the volume's driver".to_owned(), |d| format!("driver {d}"));
    let of_node = || match &driver {
        Some(d) => super::words::csi_pods_on(d, node, cx),
        None => String::new(),
    };
    Some(if let Some((_, path)) = said.split_once("hostPath type check failed: ") {
        let path = path.split(" is not ").next().unwrap_or_default().trim();
        let advice = format!(
            "create {path} on node {node}, or correct hostPath (path, type) in {}; a hostPath is looked for on whichever node the \
             pod gets",
            place(pod, cx)
        );
        Known::new(format!("node {node} has no {path} of the type that hostPath names"), advice)
    } else if has(&words, &["helper program", "/sbin/mount."]) {
        let advice = "install the file system's client on the nodes (nfs-common or nfs-utils for NFS, cifs-utils for SMB), best in their image";
        Known::new(format!("node {node} lacks the program that mounts such a file system"), advice)
    } else if has(&words, &["access denied by server"]) {
        let advice = format!("let the NFS server export the path to node {node} (its address, and root squashing)");
        Known::new("the NFS server refuses the node", advice)
    } else if has(&words, &["mount.nfs", "nfs"])
        && has(&words, &["timed out", "no route to host", "connection refused", "unreachable"])
    {
        let advice = format!(
            "let node {node} reach the NFS server (port 2049: firewall, security group, mount target in its zone)"
        );
        Known::new(format!("node {node} does not reach the NFS server"), advice)
    } else if has(&words, &["failed to resolve", "no such host", "name or service not known"]) {
        let advice = format!("correct the server's name, or the DNS of node {node}: mounts ask the node's resolver");
        Known::new(format!("node {node} cannot resolve the name of the volume's server"), advice)
    } else if has(&words, &["reason given by server: no such file or directory"]) {
        Known::new("the NFS server has no such path", "create the path on the server, or correct it in the volume")
    } else if has(&words, &["fsck", "wrong fs type", "bad superblock", "structure needs cleaning"]) {
        let advice = "check the file system of the volume by hand where nothing else uses it, or restore it from a backup or a snapshot";
        Known::new("the file system on the volume is damaged, or not of the type that is named", advice)
            .risk("a repair can lose data: take a snapshot first")
    } else if has(&words, &["an operation with the given volume"]) {
        // `VolumeOperationAlreadyExistsFmt` of ceph-csi, and the like in other drivers.
        let advice = format!(
            "look at what the earlier operation hangs on: the log of {the_driver}{}, and the health of its storage",
            if attaching { String::new() } else { of_node() }
        );
        Known::new(format!("an earlier operation of {the_driver} on this volume has not ended"), advice)
    } else if has(
        &words,
        &[
            "unauthorizedoperation",
            "accessdenied",
            "authorizationfailed",
            "does not have authorization",
            "not authorized",
            "permission_denied",
        ],
    ) {
        let advice = format!(
            "give the identity of {the_driver} (IAM role, managed identity, service account of its controller) the right that the \
             message names"
        );
        Known::new(format!("the cloud refuses {the_driver}"), advice)
    } else if attaching && has(&words, &["code = notfound", "does not exist", "invalidvolume.notfound"]) {
        Known::new(
            "the disk behind the volume does not exist any more",
            "restore the disk from a snapshot or a backup into a new volume and claim",
        )
        .risk("what was written since the backup is lost; deleting the claim does not bring the disk back")
    } else if has(
        &words,
        &[
            "attachmentlimitexceeded",
            "attachment limit",
            "exceed max volume",
            "maximum number of data disks",
            "max number of volumes",
        ],
    ) {
        let advice = format!(
            "delete the pod, so that it is scheduled anew, and let {the_driver} publish how many volumes the node takes (CSINode): the \
             scheduler counts only against that number"
        );
        Known::new(format!("node {node} has as many volumes attached as its machine takes"), advice)
            .command(cx.kubectl.line("", &["get", "csinode", node, "-o", "yaml"]))
    } else if let Some((_, name)) = said.split_once("failed to get secretproviderclass ") {
        let name = name.split([',', ' ']).next().unwrap_or_default();
        let advice = format!("create SecretProviderClass {name}, or correct its name in {}", place(pod, cx));
        Known::new(format!("SecretProviderClass {name} cannot be read"), advice)
    } else if has(&words, &["cache: timed out waiting for the condition"]) {
        let advice = format!(
            "see whether the kubelet of node {node} reaches the API server: it could not read the Secret or ConfigMap in time, \
             and tries again by itself"
        );
        Known::new(
            format!("the kubelet of node {node} did not get the Secret or ConfigMap from the API server"),
            advice,
        )
    } else {
        return None;
    })
}

/// The driver of the pod's volumes, where there is one.
fn drivers(pod: &Pod, cx: &Context<'_>) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for r in crate::sched::filters::claims::claims_of(pod) {
        let Some(claim) = cx.snapshot.persistent_volume_claims.named(pod.meta.ns(), &r.name) else { continue };
        let volume = crate::sched::filters::claims::volume_name(claim);
        let spec = cx.snapshot.persistent_volumes.named("", volume).and_then(|v| v.spec.as_ref());
        let Some(csi) = spec.and_then(|s| s.persistent_volume_source.as_ref()?.csi.as_ref()) else { continue };
        if !all.contains(&csi.driver) {
            all.push(csi.driver.clone());
        }
    }
    match &*all {
        [one] => Some(one.clone()),
        _ => None,
    }
}
