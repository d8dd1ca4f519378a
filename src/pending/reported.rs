//! Situations after what people report in public (issues of Kubernetes, of drivers and operators), each with what has to be
//! said of it: what is expected stands with upstream's source where the rule is mirrored.

mod starting;

use super::{Request, pending};
use crate::finding::Code;
use crate::pending::{KindWord, Target};
use crate::sched::State;
use crate::testing::{Object, cluster, node, object, pod};
use serde_json::{Value, json};

/// A situation: its name, its objects, what is asked about, the leading code, words of its findings, words of remedies.
type Row = (&'static str, Vec<Object>, &'static str, Code, &'static [&'static str], &'static [&'static str]);

fn target(word: &str) -> Target {
    match word.split_once('/') {
        Some((kind, name)) => Target::Workload(KindWord { kind: kind.to_owned(), group: None }, name.to_owned()),
        None => Target::Pod(word.to_owned()),
    }
}

fn check<const N: usize>(rows: [Row; N]) {
    for (title, objects, asked, code, said, advised) in rows {
        let events = object("v1", "Event", "b/e")
            .with(json!({"involvedObject": {"kind": "Pod", "name": "x", "namespace": "b"}}));
        let snapshot = cluster().all(objects).add(events).snapshot();
        let state = State::new(&snapshot);
        let request = Request { targets: vec![target(asked)], namespace: Some("a".to_owned()), ..Request::default() };
        let items = pending(&request, &snapshot, &state).unwrap_or_else(|t| panic!("{title}: no {t:?}")).items;
        let report = crate::report::pending::PendingReport::new(&items, &state, true);
        let item = report.items.first().unwrap_or_else(|| panic!("{title}: no item"));
        assert_eq!(item.leading().map(|f| f.code), Some(code), "{title}: {:?}", item.findings);
        let all: String = item.findings.iter().map(|f| format!("{}\n", f.message)).collect();
        assert!(said.iter().all(|w| all.contains(w)), "{title}: {said:?} in {all}");
        let remedies: String = item
            .findings
            .iter()
            .flat_map(|f| &f.remedies)
            .map(|r| format!("{} [{}]\n", r.text, r.commands().join("; ")))
            .collect();
        assert!(advised.iter().all(|w| remedies.contains(w)), "{title}: {advised:?} in {remedies}");
        assert!(!remedies.contains("at most 0"), "{title}: {remedies}");
        in_json(title, &report, code);
    }
}

/// A program finds the stage, the code and what can be done; of what needs nobody, or cannot be cured, that is said.
fn in_json(title: &str, report: &crate::report::pending::PendingReport, code: Code) {
    let json = serde_json::to_value(report).unwrap();
    let item = &json["items"][0];
    assert!(item["stage"].is_string(), "{title}: {item}");
    let findings = item["findings"].as_array().unwrap();
    let led = findings.iter().find(|f| f["code"] == code.as_str());
    assert!(led.is_some_and(|f| f["message"].is_string() && f["severity"].is_string()), "{title}: {item}");
    let advised = |f: &Value| f["remedies"].as_array().is_some_and(|r| !r.is_empty()) || f["noRemedy"].is_string();
    let needs = item["stuck"] == true || led.is_some_and(|f| f["severity"] == "error");
    assert!(!needs || findings.iter().any(advised), "{title}: stuck, and nothing can be done: {item}");
}

fn using(claim: &str) -> Object {
    pod("a/p").spec(json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]}))
}

fn claim(class: Option<&str>) -> Object {
    object("v1", "PersistentVolumeClaim", "a/c")
        .spec(json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}, "storageClassName": class}))
        .status(json!({"phase": "Pending"}))
}

fn class(name: &str, provisioner: &str) -> Object {
    let body = json!({"provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"});
    object("storage.k8s.io/v1", "StorageClass", name).with(body)
}

fn volume(name: &str, more: Value) -> Object {
    let spec = json!({"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local"});
    object("v1", "PersistentVolume", name).spec(spec).with(more)
}

fn event(of: &str, reason: &str, words: &str) -> Object {
    object("v1", "Event", "a/said")
        .with(json!({"involvedObject": {"kind": of, "namespace": "a", "name": "p"}, "type": "Warning",
        "reason": reason, "message": words, "lastTimestamp": "2026-01-01T11:59:00Z"}))
}

const NONE: &str = "kubernetes.io/no-provisioner";

#[test]
fn claims_without_a_volume() {
    let local = || class("local", NONE);
    let wanting = || claim(Some("local"));
    check([
        (
            "a class that does not exist",
            vec![node("n"), using("c"), claim(Some("gone")), class("fast", "x")],
            "p",
            Code::VolumeUnbound,
            &["its class gone does not exist"],
            &["create StorageClass gone", "a class that exists (fast)"],
        ),
        (
            "no class, and one that could be the default",
            vec![node("n"), using("c"), claim(None), class("fast", "x")],
            "p",
            Code::VolumeUnbound,
            &["there is no default one"],
            &["make StorageClass fast the default", "kubectl patch storageclass fast"],
        ),
        (
            "the empty class, which no default replaces",
            vec![node("n"), using("c"), claim(Some("")), class("fast", "x")],
            "p",
            Code::VolumeUnbound,
            &[],
            &["states the empty class, which no default replaces"],
        ),
        (
            "several classes, none the default",
            vec![node("n"), using("c"), claim(None), class("fast", "x"), class("slow", "x")],
            "p",
            Code::VolumeUnbound,
            &[],
            &["a class that exists (fast, slow)"],
        ),
        (
            "provisioned for a node that is gone",
            vec![
                node("n"),
                using("c"),
                claim(Some("fast")).annotation("volume.kubernetes.io/selected-node", "old"),
                class("fast", "x"),
            ],
            "p",
            Code::VolumeUnbound,
            &["for node old, which does not exist any more"],
            &["kubectl annotate pvc c volume.kubernetes.io/selected-node- -n a"],
        ),
        (
            "a volume that is too small",
            vec![
                node("n"),
                using("c"),
                wanting(),
                local(),
                volume("v", json!({"spec": {"capacity": {"storage": "5Gi"}}, "status": {"phase": "Available"}})),
            ],
            "p",
            Code::VolumeUnbound,
            &["v is too small (5Gi)"],
            &["make a PersistentVolume of class local"],
        ),
        (
            "a volume of another mode",
            vec![
                node("n"),
                using("c"),
                wanting(),
                local(),
                volume("v", json!({"spec": {"accessModes": ["ReadOnlyMany"]}, "status": {"phase": "Available"}})),
            ],
            "p",
            Code::VolumeUnbound,
            &["v offers ReadOnlyMany, and the claim wants ReadWriteOnce"],
            &[],
        ),
        (
            "a volume kept for the claim that was there before",
            vec![
                node("n"),
                using("c"),
                wanting(),
                local(),
                volume(
                    "v",
                    json!({"spec": {"claimRef": {"namespace": "a", "name": "c", "uid": "old"}}, "status": {"phase": "Released"}}),
                ),
            ],
            "p",
            Code::VolumeUnbound,
            &["v is kept for an earlier claim of the same name"],
            &["let volume v forget the claim that it had"],
        ),
        (
            "a class that makes volumes where no node is",
            vec![
                node("n"),
                using("c"),
                claim(Some("fast")),
                class("fast", "x").with(json!({"allowedTopologies": [{"matchLabelExpressions":
                    [{"key": "topology.kubernetes.io/zone", "values": ["c"]}]}]})),
            ],
            "p",
            Code::VolumeUnbound,
            &["makes volumes only in topology.kubernetes.io/zone=c (allowedTopologies)"],
            &["add a node in topology.kubernetes.io/zone=c"],
        ),
        (
            "a claim of another namespace",
            vec![node("n"), using("c"), claim(Some("x")).with(json!({"metadata": {"namespace": "b"}}))],
            "p",
            Code::VolumeMissing,
            &["claim c does not exist in namespace a"],
            &["namespace b has a claim of that name"],
        ),
        (
            "a disk of a node that is gone",
            vec![
                node("n"),
                using("c"),
                claim(Some("local")).with(json!({"spec": {"volumeName": "v"}, "status": {"phase": "Bound"}})),
                local(),
                volume(
                    "v",
                    json!({"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions":
                    [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["old"]}]}]}}}}),
                ),
            ],
            "p",
            Code::VolumeNodeAffinity,
            &["no such node exists: what lies on its disks is out of reach"],
            &["restore the volume from a backup"],
        ),
    ]);
}

#[test]
fn resources_that_no_node_offers() {
    let asks = |name: &str, n: &str| pod("a/p").requests(name, n);
    let gpu = || asks("nvidia.com/gpu", "1");
    let slice = object("resource.k8s.io/v1", "ResourceSlice", "s")
        .spec(json!({"driver": "gpu.nvidia.com", "nodeName": "n",
        "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "d"}]}));
    let plugin = || pod("gpu/nvidia-device-plugin-x").label("app", "nvidia-device-plugin").on("n").crashing();
    check([
        (
            "huge pages",
            vec![node("n"), asks("hugepages-2Mi", "1Gi")],
            "p",
            Code::Insufficient,
            &["it requests 1Gi hugepages-2Mi", "no node offers hugepages-2Mi"],
            &["reserve huge pages of that size"],
        ),
        (
            "devices of another name",
            vec![node("n").allocatable("nvidia.com/mig-1g.5gb", "7"), gpu()],
            "p",
            Code::ExtendedResource,
            &["nodes have nvidia.com/mig-1g.5gb in its place"],
            &["request what the nodes have (nvidia.com/mig-1g.5gb)"],
        ),
        (
            "devices that are not healthy",
            vec![node("n").status(json!({"capacity": {"nvidia.com/gpu": "1"}})), gpu(), plugin()],
            "p",
            Code::ExtendedResource,
            &["n has it as capacity, and none of it is allocatable", "its device plugin does not run"],
            &["install or repair the device plugin"],
        ),
        (
            "devices by another way",
            vec![node("n"), gpu(), slice],
            "p",
            Code::ExtendedResource,
            &["driver gpu.nvidia.com publishes its devices as ResourceSlices"],
            &["set extendedResourceName: nvidia.com/gpu"],
        ),
    ]);
}

#[test]
fn rules_that_nearly_match() {
    let tolerating = |t: Value| pod("a/p").spec(json!({"tolerations": [t]}));
    let tainted = || node("n").taint("dedicated=ml:NoSchedule");
    let near = || {
        pod("a/p").spec(json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "cache"}}, "topologyKey": "kubernetes.io/hostname"}]}}}))
    };
    let cache = |path: &str| pod(path).label("app", "cache");
    check([
        (
            "a toleration of another value",
            vec![tainted(), tolerating(json!({"key": "dedicated", "operator": "Equal", "value": "gpu"}))],
            "p",
            Code::Taint,
            &["its toleration of that key is for value gpu"],
            &[],
        ),
        (
            "a toleration of another effect",
            vec![tainted(), tolerating(json!({"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}))],
            "p",
            Code::Taint,
            &["its toleration of that key is for effect NoExecute"],
            &[],
        ),
        ("no pod to be beside", vec![node("n"), near()], "p", Code::PodAffinity, &["no such pod exists"], &[]),
        (
            "a pod of another namespace to be beside",
            vec![node("n"), near(), cache("b/cache").on("n")],
            "p",
            Code::PodAffinity,
            &["b/cache has these labels: the term needs namespaces or namespaceSelector"],
            &[],
        ),
        (
            "a pod to be beside that waits itself",
            vec![node("n").cordoned(), near(), cache("a/cache")],
            "p",
            Code::Cordoned,
            &[],
            &[],
        ),
        (
            "every node runs the control plane",
            vec![node("n").taint("node-role.kubernetes.io/control-plane:NoSchedule"), pod("a/p")],
            "p",
            Code::Taint,
            &[],
            &["kubectl taint nodes n node-role.kubernetes.io/control-plane:NoSchedule-"],
        ),
        (
            "Windows, which the kubelet looks at alone",
            vec![node("n").label("kubernetes.io/os", "linux"), pod("a/p").spec(json!({"os": {"name": "windows"}}))],
            "p",
            Code::KubeletReject,
            &["the kubelet of n (linux) would reject the pod (PodOSNotSupported)"],
            &["nodeSelector kubernetes.io/os: windows"],
        ),
        (
            "deleted before it had a node",
            vec![
                node("n"),
                pod("a/p").deleted("2026-01-01T11:00:00Z", 0).with(json!({"metadata": {"finalizers": ["x/y"]}})),
            ],
            "p",
            Code::Terminating,
            &["held by finalizer x/y: the scheduler does not look at a pod that is being deleted"],
            &[],
        ),
    ]);
}

#[test]
fn bound_and_not_started() {
    let starting = || {
        pod("a/p").on("n").status(json!({"phase": "Pending", "containerStatuses":
            [{"name": "c", "ready": false, "state": {"waiting": {"reason": "ContainerCreating"}}}]}))
    };
    let runs = |reason: &str, kind: &str| {
        let conditions =
            json!([{"type": "Ready", "status": "True"}, {"type": kind, "status": "True", "reason": reason}]);
        pod("a/p").on("n").ready().status(json!({ "conditions": conditions }))
    };
    check([
        (
            "its devices' driver is not registered",
            vec![
                node("n"),
                starting(),
                event("Pod", "FailedPrepareDynamicResources", "DRA driver gpu.example.com is not registered"),
            ],
            "p",
            Code::ResourceClaim,
            &["the kubelet of node n cannot prepare its devices"],
            &["bring up the kubelet plugin of DRA driver gpu.example.com on node n"],
        ),
        (
            "its volume's driver is not registered",
            vec![
                node("n"),
                starting(),
                event(
                    "Pod",
                    "FailedMount",
                    "x: driver name ebs.csi.aws.com not found in the list of registered CSI drivers",
                ),
            ],
            "p",
            Code::VolumeAttach,
            &[],
            &["bring up the node plugin of CSI driver ebs.csi.aws.com on node n", "(no pod of ebs is on that node)"],
        ),
        (
            "its network plugin fails",
            vec![
                node("n"),
                starting(),
                event(
                    "Pod",
                    "FailedCreatePodSandBox",
                    "failed to setup network: plugin type=\"calico\" failed (add): x",
                ),
                pod("kube-system/calico-node").label("k8s-app", "calico-node").on("n").crashing(),
            ],
            "p",
            Code::Sandbox,
            &[],
            &["network plugin calico on node n (calico on n does not run: kube-system/calico-node"],
        ),
        (
            "a handler that the node lacks",
            vec![
                node("n"),
                starting().spec(json!({"runtimeClassName": "kata"})),
                event("Pod", "FailedCreatePodSandBox", "no runtime for \"kata\" is configured"),
            ],
            "p",
            Code::Sandbox,
            &[],
            &["configure the handler of RuntimeClass kata"],
        ),
        (
            "a resize that can never be",
            vec![node("n"), runs("Infeasible", "PodResizePending")],
            "p",
            Code::Insufficient,
            &["refuses its resize for good (Infeasible)"],
            &[],
        ),
        (
            "a resize that waits",
            vec![node("n"), runs("Deferred", "PodResizePending")],
            "p",
            Code::Insufficient,
            &["its resize waits for room on node n (Deferred)"],
            &[],
        ),
        (
            "a resize that fails",
            vec![node("n"), runs("Error", "PodResizeInProgress")],
            "p",
            Code::Running,
            &["cannot carry out its resize (Error)"],
            &[],
        ),
    ]);
}

#[test]
fn workloads_without_pods() {
    let hpa = |name: &str, min: i32| {
        object("autoscaling/v2", "HorizontalPodAutoscaler", &format!("a/{name}"))
            .spec(json!({"minReplicas": min, "maxReplicas": 5,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}))
    };
    let asleep =
        || object("apps/v1", "Deployment", "a/d").spec(json!({"replicas": 0, "selector": {"matchLabels": {"a": "b"}}}));
    let cron = |deadline: Option<i64>| {
        object("batch/v1", "CronJob", "a/n").spec(json!({"schedule": "* * * * *", "startingDeadlineSeconds": deadline}))
    };
    let refused =
        event("CronJob", "FailedCreate", "Error creating job: jobs.batch \"n-1\" is forbidden: exceeded quota: q, x")
            .with(json!({"involvedObject": {"name": "n"}}));
    check([
        (
            "an autoscaler does not wake it",
            vec![asleep(), hpa("h", 2)],
            "deployment/d",
            Code::ScaledDown,
            &["HorizontalPodAutoscaler h does not scale it up from 0"],
            &[],
        ),
        (
            "an autoscaler from 0",
            vec![asleep(), hpa("h", 0)],
            "deployment/d",
            Code::ScaledDown,
            &["(minReplicas 0) scales it up by its metrics"],
            &[],
        ),
        (
            "KEDA wakes it",
            vec![asleep(), hpa("h", 1).owned_by("keda.sh/v1alpha1", "ScaledObject/s")],
            "deployment/d",
            Code::ScaledDown,
            &["when a trigger of ScaledObject s becomes active"],
            &[],
        ),
        (
            "a deadline that is too short",
            vec![cron(Some(5))],
            "cronjob/n",
            Code::Running,
            &["startingDeadlineSeconds 5 skips each Job"],
            &[],
        ),
        (
            "its Jobs are refused",
            vec![cron(None), refused],
            "cronjob/n",
            Code::Quota,
            &["its Jobs are refused by quota"],
            &["have quota q raised"],
        ),
        (
            "its account is not there",
            vec![
                object("apps/v1", "ReplicaSet", "a/r").spec(json!({"replicas": 1, "template": {"spec":
                    {"serviceAccountName": "bot", "containers": [{"name": "c"}]}}})),
                object("v1", "ServiceAccount", "a/default"),
            ],
            "replicaset/r",
            Code::ServiceAccount,
            &["its service account bot does not exist"],
            &["kubectl create serviceaccount bot -n a"],
        ),
    ]);
}

#[test]
fn other_schedulers_and_groups() {
    let refused = || json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "x"}]);
    let of = |path: &str| pod(path).spec(json!({"schedulerName": "volcano"})).status(json!({"conditions": refused()}));
    let volcano = |path: &str| of(path).annotation("scheduling.k8s.io/group-name", "g");
    let marked = |path: &str| of(path).label("scheduling.x-k8s.io/pod-group", "g");
    check([
        (
            "Volcano's gang",
            vec![node("n"), volcano("a/p"), volcano("a/q").on("n")],
            "p",
            Code::OtherScheduler,
            &["it belongs to group g (scheduling.k8s.io/group-name)", "2 pods exist, 1 of them with a node"],
            &[],
        ),
        (
            "coscheduling's gang",
            vec![node("n"), marked("a/p"), volcano("b/q")],
            "p",
            Code::OtherScheduler,
            &["it belongs to group g (scheduling.x-k8s.io/pod-group)", "1 pod exists, 0 of them with a node"],
            &[],
        ),
    ]);
}

#[test]
fn jobs_that_are_held() {
    let job = |name: &str| {
        object("batch/v1", "Job", &format!("a/{name}"))
            .spec(json!({"suspend": true, "parallelism": 1, "completions": 1}))
    };
    let queued = || job("j").label("kueue.x-k8s.io/queue-name", "q");
    let workload = |status: Value| {
        object("kueue.x-k8s.io/v1beta2", "Workload", "a/w")
            .owned_by("batch/v1", "Job/j")
            .spec(json!({"queueName": "q", "podSets": [{"name": "main", "count": 1}]}))
            .status(status)
    };
    let waits = |reason: &str, words: &str| json!({"conditions": [{"type": "QuotaReserved", "status": "False", "reason": reason, "message": words}]});
    let local = |policy: &str| {
        object("kueue.x-k8s.io/v1beta2", "LocalQueue", "a/q").spec(json!({"clusterQueue": "cq", "stopPolicy": policy}))
    };
    let cluster_queue =
        |policy: &str| object("kueue.x-k8s.io/v1beta2", "ClusterQueue", "cq").spec(json!({"stopPolicy": policy}));
    check([
        (
            "a queue that is not there",
            vec![
                queued(),
                workload(waits("Inadmissible", "LocalQueue q doesn't exist")),
                local("").with(json!({"metadata": {"name": "r"}})),
            ],
            "job/j",
            Code::Gated,
            &["LocalQueue q does not exist in namespace a"],
            &["(there: r)"],
        ),
        (
            "a queue that somebody stopped",
            vec![
                queued(),
                workload(waits("Inadmissible", "ClusterQueue cq is inactive")),
                local(""),
                cluster_queue("Hold"),
            ],
            "job/j",
            Code::Gated,
            &["waits in queue q: ClusterQueue cq is inactive; ClusterQueue cq is stopped (stopPolicy Hold)"],
            &["kubectl patch clusterqueue.kueue.x-k8s.io/cq"],
        ),
        (
            "a pause before the next try",
            vec![
                queued(),
                workload(crate::testing::merged(
                    waits("Pending", "Exceeded the PodsReady timeout"),
                    json!({"requeueState": {"count": 3, "requeueAt": "2026-01-01T12:05:00Z"}}),
                )),
                local(""),
            ],
            "job/j",
            Code::Gated,
            &["Kueue does not try again before 2026-01-01T12:05:00Z (in 5 min, after 3 requeues)"],
            &[],
        ),
        (
            "a check that said no",
            vec![
                queued(),
                workload(json!({"admissionChecks": [{"name": "prov", "state": "Rejected", "message": "no room"}]}))
                    .spec(json!({"active": false})),
                local(""),
            ],
            "job/j",
            Code::Gated,
            &["it was refused by admission check prov, which is Rejected (no room)"],
            &["activate Workload a/w again"],
        ),
        (
            "a JobSet that is suspended",
            vec![
                object("jobset.x-k8s.io/v1alpha2", "JobSet", "a/s"),
                job("s-0").owned_by("jobset.x-k8s.io/v1alpha2", "JobSet/s"),
            ],
            "jobset/s",
            Code::Running,
            &["all of its Jobs are suspended"],
            &[],
        ),
    ]);
}
