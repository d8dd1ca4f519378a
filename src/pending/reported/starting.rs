//! Pods that have their node and do not start, in the words that kubelets, runtimes, network plugins and drivers are reported
//! with: each is told in plain words, with what can be done.

use super::*;

/// What a container waits with.
fn waits(reason: &str, words: &str) -> Object {
    pod("a/p").on("n").with(
        json!({"spec": {"containers": [{"name": "c", "image": "registry.example.com/app:1"}]}, "status":
        {"phase": "Pending", "containerStatuses": [{"name": "c", "ready": false, "state": {"waiting":
            {"reason": reason, "message": words}}}]}}),
    )
}

type Words = &'static [&'static str];

fn row(title: &'static str, objects: Vec<Object>, code: Code, said: Words, advised: Words) -> Row {
    (title, objects, "p", code, said, advised)
}

fn owned(pod: Object) -> Vec<Object> {
    let web = object("apps/v1", "StatefulSet", "a/web")
        .annotation("meta.helm.sh/release-name", "shop")
        .spec(json!({"replicas": 1, "selector": {"matchLabels": {"a": "b"}}}));
    vec![node("n"), web, pod.owned_by("apps/v1", "StatefulSet/web")]
}

#[test]
fn images_that_are_not_pulled() {
    let back_off = |words: &str| vec![node("n"), waits("ImagePullBackOff", words)];
    let secret = event(
        "Pod",
        "FailedToRetrieveImagePullSecret",
        "Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed.",
    );
    let row = |title, objects, said: Words, advised: Words| row(title, objects, Code::ImagePull, said, advised);
    check([
        row(
            "no credentials",
            back_off("unexpected status from HEAD request to https://registry.example.com/v2/app: 401 Unauthorized"),
            &["registry registry.example.com refuses: the credentials are missing or wrong"],
            &["give the pod credentials for registry.example.com (imagePullSecrets"],
        ),
        row(
            "credentials that are not there",
            [back_off("pull access denied, repository does not exist or may require authorization"), vec![secret]]
                .concat(),
            &["image pull Secret regcred cannot be read"],
            &["create image pull Secret regcred in namespace a", "kubectl get secret regcred -n a"],
        ),
        row(
            "a cloud's registry",
            vec![
                node("n"),
                waits("ImagePullBackOff", "403 Forbidden").with(json!({"spec": {"containers": [{"name": "c",
                    "image": "1.dkr.ecr.eu-west-1.amazonaws.com/app:1"}]}})),
            ],
            &[],
            &["for ECR the nodes' IAM role needs the right to pull"],
        ),
        row(
            "too many pulls",
            back_off("429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit"),
            &["limits how often its images are pulled"],
            &["pull with credentials (imagePullSecrets), or from a mirror"],
        ),
        row(
            "no such tag, of a Helm release",
            owned(waits("ErrImagePull", "failed to resolve reference \"registry.example.com/app:1\": not found")),
            &["registry registry.example.com has no such image, or not that tag"],
            &["correct the image of container c in the template of StatefulSet a/web (Helm release shop resets it"],
        ),
        row(
            "another architecture",
            vec![
                node("n").label("kubernetes.io/arch", "arm64"),
                waits("ErrImagePull", "no match for platform in manifest: not found"),
            ],
            &["the image has no variant for the node's architecture (arm64)"],
            &["publish the image for that architecture"],
        ),
        row(
            "a certificate of nobody",
            back_off("tls: failed to verify certificate: x509: certificate signed by unknown authority"),
            &["node does not trust the certificate of registry registry.example.com"],
            &["trust the certificate authority"],
        ),
        row(
            "a name that the node does not know",
            back_off("dial tcp: lookup registry.local on 10.0.0.2:53: no such host"),
            &["node n cannot resolve the name"],
            &["the node's resolver, not the cluster's DNS"],
        ),
        row(
            "no way there",
            back_off("dial tcp 10.0.0.9:443: i/o timeout"),
            &["node n does not reach registry registry.example.com"],
            &["a route or NAT, the firewall, or the proxy"],
        ),
        row(
            "a full disk",
            back_off("failed to extract layer: write /var/lib/x: no space left on device"),
            &["the disk of node n is full"],
            &["free disk space on node n"],
        ),
        row(
            "not a name",
            vec![node("n"), waits("InvalidImageName", "couldn't parse image name")],
            &["not a valid name of an image"],
            &["correct the image of container c in pod a/p"],
        ),
        row(
            "never pulled",
            vec![
                node("n"),
                waits("ErrImageNeverPull", "Container image \"app:dev\" is not present with pull policy of Never"),
            ],
            &["imagePullPolicy is Never, and the node does not have the image"],
            &["load the image onto node n"],
        ),
    ]);
}

#[test]
fn containers_that_are_not_started() {
    let config = |words: &str| vec![node("n"), waits("CreateContainerConfigError", words)];
    let run = |words: &str| vec![node("n"), waits("RunContainerError", words)];
    check([
        row(
            "no such Secret",
            config("secret \"db\" not found"),
            Code::ConfigMissing,
            &["Secret a/db does not exist"],
            &["create Secret a/db, or correct its name in pod a/p; where External Secrets"],
        ),
        row(
            "no such ConfigMap",
            config("configmap \"db\" not found"),
            Code::ConfigMissing,
            &["ConfigMap a/db does not exist"],
            &["create ConfigMap a/db", "kubectl get configmaps -n a"],
        ),
        row(
            "no such key",
            config("couldn't find key DB_URL in ConfigMap a/db"),
            Code::ConfigMissing,
            &["ConfigMap a/db has no key DB_URL"],
            &["add key DB_URL to ConfigMap a/db", "kubectl describe configmap db -n a"],
        ),
        row(
            "a user that is root",
            config("container has runAsNonRoot and image will run as root (pod: \"p\", container: c)"),
            Code::ConfigMissing,
            &["the image runs as root, and securityContext.runAsNonRoot forbids that"],
            &["set runAsUser to the number of a user other than 0 for container c"],
        ),
        row(
            "a user by name",
            config("container has runAsNonRoot and image has non-numeric user (node), cannot verify user is non-root"),
            Code::ConfigMissing,
            &["names its user by a word"],
            &["set runAsUser to that user's number"],
        ),
        row(
            "no such command",
            run("OCI runtime create failed: exec: \"serve\": executable file not found in $PATH: unknown"),
            Code::Sandbox,
            &["the command of the container is not in the image"],
            &["correct command and args of container c"],
        ),
        row(
            "no GPU driver",
            run("nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown"),
            Code::Sandbox,
            &["the GPU driver of node n does not answer"],
            &["repair the GPU driver of node n (no pod of nvidia is on that node)"],
        ),
        row(
            "a name that is taken",
            vec![node("n"), waits("CreateContainerError", "name \"x\" is reserved for \"y\"")],
            Code::Sandbox,
            &["has not finished an earlier try"],
            &["look at the container runtime of node n"],
        ),
        row(
            "an init container that does not end",
            vec![
                node("n"),
                pod("a/p").on("n").with(json!({"spec": {"initContainers": [{"name": "wait"}]}, "status": {"phase": "Pending",
                    "initContainerStatuses": [{"name": "wait", "state": {"running": {"startedAt": "2026-01-01T02:00:00Z"}}}]}})),
            ],
            Code::Init,
            &["init container wait has run for 10 h on node n"],
            &["kubectl logs p -c wait -n a"],
        ),
        row(
            "an init container that fails",
            vec![
                node("n"),
                pod("a/p").on("n").with(json!({"spec": {"initContainers": [{"name": "wait"}]}, "status": {"phase": "Pending",
                    "initContainerStatuses": [{"name": "wait", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}})),
            ],
            Code::Init,
            &["init container wait fails again and again"],
            &["kubectl logs p -c wait --previous -n a"],
        ),
    ]);
}

#[test]
fn volumes_that_are_not_mounted() {
    let starting = || {
        let waiting = json!([{"name": "c", "ready": false, "state": {"waiting": {"reason": "ContainerCreating"}}}]);
        using("c").on("n").status(json!({"phase": "Pending", "containerStatuses": waiting}))
    };
    let world = |reason: &str, words: &str| {
        let bound = claim(Some("x")).with(json!({"spec": {"volumeName": "v"}, "status": {"phase": "Bound"}}));
        let volume = volume("v", json!({"spec": {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "h"}}}));
        vec![node("n"), starting(), bound, volume, event("Pod", reason, words)]
    };
    let mount = |words: &str| world("FailedMount", words);
    let attach = |words: &str| world("FailedAttachVolume", words);
    let row = |title, objects, said: Words, advised: Words| row(title, objects, Code::VolumeAttach, said, advised);
    check([
        row(
            "a path that is not there",
            mount("hostPath type check failed: /data is not a directory"),
            &["node n has no /data of the type that hostPath names"],
            &["create /data on node n"],
        ),
        row(
            "no program for NFS",
            mount("mount: bad option; for several filesystems you might need a /sbin/mount.<type> helper program."),
            &["node n lacks the program that mounts such a file system"],
            &["install the file system's client on the nodes"],
        ),
        row(
            "an NFS server that refuses",
            mount("mount.nfs: access denied by server while mounting 10.0.0.9:/x"),
            &["the NFS server refuses the node"],
            &["let the NFS server export the path to node n"],
        ),
        row(
            "an NFS server out of reach",
            mount("mount.nfs: Connection timed out"),
            &["node n does not reach the NFS server"],
            &["port 2049"],
        ),
        row(
            "an operation that hangs",
            mount("rpc error: code = Aborted desc = an operation with the given Volume ID 1 already exists"),
            &["an earlier operation of driver ebs.csi.aws.com on this volume has not ended"],
            &["look at what the earlier operation hangs on"],
        ),
        row(
            "a damaged file system",
            mount("'fsck' found errors on device /dev/x but could not correct them"),
            &["the file system on the volume is damaged"],
            &["check the file system of the volume by hand"],
        ),
        row(
            "no right in the cloud",
            attach("Could not attach volume: api error UnauthorizedOperation: You are not authorized"),
            &["the cloud refuses driver ebs.csi.aws.com"],
            &["give the identity of driver ebs.csi.aws.com"],
        ),
        row(
            "a disk that is gone",
            attach("rpc error: code = NotFound desc = Volume \"vol-1\" not found"),
            &["the disk behind the volume does not exist any more"],
            &["restore the disk from a snapshot"],
        ),
        row(
            "a machine that is full of disks",
            attach("api error AttachmentLimitExceeded: x"),
            &["node n has as many volumes attached as its machine takes"],
            &["let driver ebs.csi.aws.com publish how many volumes the node takes"],
        ),
    ]);
}

#[test]
fn sandboxes_without_a_network() {
    let starting = || {
        pod("a/p").on("n").status(json!({"phase": "Pending", "containerStatuses":
            [{"name": "c", "ready": false, "state": {"waiting": {"reason": "ContainerCreating"}}}]}))
    };
    let world = |words: &str| vec![node("n"), starting(), event("Pod", "FailedCreatePodSandBox", words)];
    let with = |words: &str, more: Object| [world(words), vec![more]].concat();
    let row = |title, objects, said: Words, advised: Words| row(title, objects, Code::Sandbox, said, advised);
    let calico = || pod("kube-system/calico-node-x").label("k8s-app", "calico-node").on("n");
    check([
        row(
            "an agent that does not run",
            with("plugin type=\"calico\" failed (add): x", calico().crashing()),
            &["network plugin calico does not work on node n"],
            &["bring up the network plugin calico on node n (calico on n does not run: kube-system/calico-node-x"],
        ),
        row(
            "an agent that runs",
            with("plugin type=\"calico\" failed (add): x", calico().ready()),
            &["network plugin calico of node n fails although its pod there runs"],
            &["look at the network plugin calico on node n (calico on n runs"],
        ),
        row(
            "old credentials",
            with("plugin type=\"calico\" failed (add): connection is unauthorized: Unauthorized", calico().ready()),
            &["the API server refuses the credentials that network plugin calico has on node n"],
            &["restart the pod of calico on node n", "kubectl delete pod calico-node-x -n kube-system"],
        ),
        row(
            "no address of AWS",
            world("plugin type=\"aws-cni\" failed (add): add cmd: failed to assign an IP address to container"),
            &["no address is left for a pod of node n"],
            &["assign prefixes (ENABLE_PREFIX_DELEGATION"],
        ),
        row(
            "no address of Calico",
            with("plugin type=\"calico\" failed (add): No IPs available in pools: [10.0.0.0/24]", calico().ready()),
            &["no address is left for a pod of node n"],
            &["add an IPPool to Calico"],
        ),
        row(
            "no address of a range",
            world("plugin type=\"bridge\" failed (add): no IP addresses available in range set: 10.0.1.1-10.0.1.254"),
            &["no address is left"],
            &["free addresses of range 10.0.1.1-10.0.1.254 on node n"],
        ),
        row(
            "a network that is not there",
            world(
                "plugin type=\"multus-shim\" failed (add): cannot find a network-attachment-definition (lan) in namespace (a): x",
            ),
            &["NetworkAttachmentDefinition a/lan does not exist"],
            &["create NetworkAttachmentDefinition a/lan"],
        ),
        row(
            "no image of the sandbox",
            world("failed to get sandbox image \"registry.k8s.io/pause:3.9\": dial tcp: i/o timeout"),
            &["node n cannot pull the image of the sandbox itself"],
            &["let node n pull its sandbox image"],
        ),
    ]);
}

#[test]
fn pods_that_a_kubelet_rejects() {
    let failed = |reason: &str, words: &str| {
        let status = json!({"phase": "Failed", "reason": reason, "message": format!("Pod was rejected: {words}")});
        vec![node("n"), pod("a/p").on("n").status(status)]
    };
    let row = |title, objects, said: Words, advised: Words| row(title, objects, Code::KubeletReject, said, advised);
    check([
        row(
            "no healthy device",
            failed(
                "UnexpectedAdmissionError",
                "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected",
            ),
            &["node n has no healthy device for nvidia.com/gpu to give it", "nothing makes another"],
            &["see to the device plugin for nvidia.com/gpu on node n"],
        ),
        row(
            "half a core",
            failed("SMTAlignmentError", "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2"),
            &["gives whole cores only"],
            &["request a multiple of 2 as cpu in pod a/p"],
        ),
        row(
            "no NUMA node",
            failed("TopologyAffinityError", "Resources cannot be allocated with Topology locality"),
            &["no single NUMA node of n has all that it asks for"],
            &["request less than one NUMA node has"],
        ),
        row(
            "a node under pressure",
            failed("Evicted", "The node had condition: [DiskPressure]. "),
            &["node n is short of memory, disk or process ids; The node had condition: [DiskPressure]"],
            &["free what node n is short of"],
        ),
        row(
            "a sysctl",
            failed("SysctlForbidden", "forbidden sysctl: \"net.core.somaxconn\" not allowlisted"),
            &["the kubelet of node n does not allow that sysctl"],
            &["allowedUnsafeSysctls"],
        ),
        row(
            "labels that changed",
            failed("NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"),
            &["the labels of node n do not match"],
            &["kubectl get node n --show-labels"],
        ),
        row("no room", failed("OutOfcpu", "Node didn't have enough resource: cpu"), &["(OutOfcpu)"], &[]),
    ]);
}
