//! After the tables of upstream's controllers: what each would make next.

use super::*;
use crate::testing::{Object, cluster, deployment, node, object, pod, stateful_set, workload};
use serde_json::{Value, json};

/// What a workload's controller finds, with its codes.
fn of(kind: &str, cluster: &crate::testing::Cluster) -> (WorkloadStatus, Vec<Code>) {
    let snapshot = cluster.snapshot();
    let workload = snapshot.workloads.iter().find(|w| &*w.kind == kind && &*w.meta.name == "w").unwrap();
    let found = sync(workload, &Context::new(&snapshot));
    let codes = found.findings.iter().map(|f| f.code).collect();
    (found, codes)
}

fn owned(api_version: &str, kind: &str, name: &str) -> Object {
    pod(&format!("a/{name}")).owned_by(api_version, &format!("{kind}/w")).on("n1").ready()
}

fn failed_create(kind: &str, words: &str) -> Object {
    object("v1", "Event", "a/e").with(json!({"involvedObject": {"kind": kind, "namespace": "a", "name": "w"},
        "reason": "FailedCreate", "message": words, "type": "Warning", "lastTimestamp": "2026-01-01T11:59:00Z"}))
}

const ENDING: (&str, i64) = ("2026-01-01T12:10:00Z", 900);

#[test]
fn a_job_lacks_what_its_controller_would_make() {
    // After TestControllerSyncJob: parallelism, completions, active, succeeded and terminating pods, the policy; how many
    // pods are to be made (those that the policy makes wait included).
    let waits = Some(Code::ReplacementPolicy);
    let lacks = Some(Code::MissingPods);
    for (title, parallelism, completions, active, succeeded, terminating, policy, missing, why) in [
        ("job start", 2, Some(5), 0, 0, 0, "TerminatingOrFailed", 2, lacks),
        ("WQ job start", 2, None, 0, 0, 0, "TerminatingOrFailed", 2, lacks),
        ("correct # of pods", 3, Some(5), 3, 0, 0, "TerminatingOrFailed", 0, None),
        ("WQ job: correct # of pods", 2, None, 2, 0, 0, "TerminatingOrFailed", 0, None),
        ("too few active pods", 2, Some(5), 1, 1, 0, "TerminatingOrFailed", 1, lacks),
        ("too few active pods with a dynamic job", 2, None, 1, 0, 0, "TerminatingOrFailed", 1, lacks),
        ("too many active pods", 2, Some(5), 3, 0, 0, "TerminatingOrFailed", 0, None),
        ("WQ job finishing", 2, None, 1, 1, 0, "TerminatingOrFailed", 0, None),
        ("the last completions", 2, Some(5), 1, 4, 0, "TerminatingOrFailed", 0, None),
        ("terminating pods are replaced", 1, Some(1), 0, 0, 1, "TerminatingOrFailed", 1, lacks),
        ("terminating pods are waited for", 1, Some(1), 0, 0, 1, "Failed", 1, waits),
        ("more than parallelism", 1, Some(1), 1, 0, 1, "TerminatingOrFailed", 0, Some(Code::OverParallelism)),
        ("as many as parallelism", 2, Some(2), 1, 1, 1, "TerminatingOrFailed", 0, None),
        ("no parallelism", 0, Some(5), 0, 0, 0, "TerminatingOrFailed", 0, None),
        (
            "as many pods as there are numbers",
            i32::MAX,
            Some(i32::MAX),
            1,
            0,
            0,
            "TerminatingOrFailed",
            2_147_483_646,
            lacks,
        ),
    ] {
        let completions = completions.map_or(Value::Null, |n: i32| json!(n));
        let spec = json!({"parallelism": parallelism, "completions": completions, "podReplacementPolicy": policy});
        let job = object("batch/v1", "Job", "a/w").spec(spec).status(json!({"succeeded": succeeded}));
        let live = (0..active).map(|i| owned("batch/v1", "Job", &format!("live-{i}")));
        let leaving =
            (0..terminating).map(|i| owned("batch/v1", "Job", &format!("ending-{i}")).deleted(ENDING.0, ENDING.1));
        let (found, codes) = of("Job", &cluster().add(job).all(live).all(leaving));
        assert_eq!(found.missing, missing, "{title}");
        assert_eq!(codes.first().copied(), why, "{title}: {:?}", found.findings);
    }
}

#[test]
fn a_job_that_makes_no_pods_says_why() {
    let condition =
        |kind: &str, reason: &str| json!([{"type": kind, "status": "True", "reason": reason, "message": "m"}]);
    for (title, spec, status, missing, code, words) in [
        (
            "complete",
            json!({}),
            json!({"conditions": condition("Complete", "CompletionsReached")}),
            0,
            Code::Completed,
            "complete",
        ),
        (
            "by its policy",
            json!({}),
            json!({"conditions": condition("SuccessCriteriaMet", "SuccessPolicy")}),
            0,
            Code::Completed,
            "successPolicy",
        ),
        (
            "failed",
            json!({}),
            json!({"conditions": condition("Failed", "BackoffLimitExceeded")}),
            0,
            Code::JobFailed,
            "BackoffLimitExceeded",
        ),
        (
            "about to fail",
            json!({}),
            json!({"conditions": condition("FailureTarget", "PodFailurePolicy")}),
            0,
            Code::JobFailed,
            "about to fail",
        ),
        (
            "suspended",
            json!({"suspend": true, "parallelism": 2, "completions": 3}),
            json!({}),
            2,
            Code::Gated,
            "spec.suspend",
        ),
        (
            "looked after by another",
            json!({"managedBy": "kueue.x-k8s.io/multikueue"}),
            json!({}),
            0,
            Code::MissingPods,
            "multikueue",
        ),
        (
            "every index done or failed",
            json!({"completionMode": "Indexed", "completions": 4, "parallelism": 4, "backoffLimitPerIndex": 1}),
            json!({"succeeded": 2, "completedIndexes": "0,2", "failedIndexes": "1,3"}),
            0,
            Code::IndexFailed,
            "indexes 1,3",
        ),
        (
            "an index failed, another is open",
            json!({"completionMode": "Indexed", "completions": 3, "parallelism": 3, "backoffLimitPerIndex": 1}),
            json!({"succeeded": 1, "completedIndexes": "0", "failedIndexes": "1"}),
            1,
            Code::IndexFailed,
            "index 1 ",
        ),
    ] {
        let job = object("batch/v1", "Job", "a/w").spec(spec).status(status);
        let (found, codes) = of("Job", &cluster().add(job));
        assert_eq!((found.missing, codes.first().copied()), (missing, Some(code)), "{title}");
        assert!(found.findings[0].message.contains(words), "{title}: {}", found.findings[0].message);
    }
}

#[test]
fn two_pods_of_one_index_are_told() {
    let job =
        object("batch/v1", "Job", "a/w").spec(json!({"completionMode": "Indexed", "completions": 2, "parallelism": 2}));
    let index =
        |name: &str, i: &str| owned("batch/v1", "Job", name).label("batch.kubernetes.io/job-completion-index", i);
    let old = index("old", "0").deleted(ENDING.0, ENDING.1);
    let (found, codes) = of("Job", &cluster().add(job).add(old).add(index("new", "0")).add(index("other", "1")));
    assert_eq!(found.missing, 0);
    assert!(codes.contains(&Code::IndexOverlap) && codes.contains(&Code::OverParallelism), "{codes:?}");
    assert!(found.findings[0].message.contains("index 0 by new and old (being deleted)"), "{:?}", found.findings);
}

#[test]
fn a_job_waits_after_failures() {
    // After TestGetRemainingBackoffTime: 10 s, then twice as long after each failure, 10 minutes at most.
    for (failures, ago, waits) in
        [(1, 5, true), (1, 11, false), (2, 15, true), (3, 45, false), (9, 599, true), (9, 601, false)]
    {
        let job = object("batch/v1", "Job", "a/w").spec(json!({"parallelism": 1, "completions": 1}));
        let end =
            jiff::Timestamp::from_second("2026-01-01T12:00:00Z".parse::<jiff::Timestamp>().unwrap().as_second() - ago);
        let ended =
            json!([{"name": "c", "state": {"terminated": {"exitCode": 1, "finishedAt": end.unwrap().to_string()}}}]);
        let pods = (0..failures).map(|i| {
            owned("batch/v1", "Job", &format!("f-{i}")).ended("Failed").status(json!({"containerStatuses": ended}))
        });
        let (found, _) = of("Job", &cluster().add(job).all(pods));
        assert_eq!(found.missing, 1);
        let told = found.findings[0].message.contains("makes its next pod in at most");
        assert_eq!(told, waits, "{failures} failures, {ago} s ago: {}", found.findings[0].message);
    }
}

#[test]
fn a_stateful_set_waits_for_the_pods_before() {
    // As TestStatefulSetControl's invariants have it: with OrderedReady no pod is made before all of lower ordinals are
    // Ready and available; Parallel does not wait; a pod is replaced once it is gone.
    let ready = |name: &str| owned("apps/v1", "StatefulSet", name);
    let unready = |name: &str| ready(name).condition("Ready", "False", "");
    let leaving = |name: &str| ready(name).deleted(ENDING.0, ENDING.1);
    let fresh = |name: &str| {
        let since = "2026-01-01T11:59:50Z";
        ready(name).status(json!({"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": since}]}))
    };
    for (title, spec, pods, missing, ordered) in [
        ("one not Ready", json!({}), vec![unready("w-0")], 2, true),
        ("one Ready", json!({}), vec![ready("w-0")], 2, false),
        ("none", json!({}), vec![], 3, false),
        ("parallel", json!({"podManagementPolicy": "Parallel"}), vec![unready("w-0")], 2, false),
        ("one leaves", json!({}), vec![ready("w-0"), leaving("w-1"), ready("w-2")], 1, true),
        (
            "one leaves, parallel",
            json!({"podManagementPolicy": "Parallel"}),
            vec![ready("w-0"), leaving("w-1"), ready("w-2")],
            1,
            true,
        ),
        ("one that leaves holds the next", json!({}), vec![leaving("w-0")], 3, true),
        ("not yet available", json!({"minReadySeconds": 30}), vec![fresh("w-0")], 2, true),
        ("available", json!({"minReadySeconds": 5}), vec![fresh("w-0")], 2, false),
        ("other ordinals", json!({"ordinals": {"start": 5}}), vec![ready("w-0"), ready("w-5")], 2, false),
        ("a hole", json!({}), vec![ready("w-0"), ready("w-2")], 1, false),
        ("all", json!({}), vec![ready("w-0"), ready("w-1"), ready("w-2")], 0, false),
        ("none wanted", json!({"replicas": 0}), vec![], 0, false),
        ("as many as there are numbers", json!({"replicas": i32::MAX}), vec![ready("w-0")], 2_147_483_646, false),
    ] {
        let set = stateful_set("a/w").replicas(3).spec(spec);
        let (found, codes) = of("StatefulSet", &cluster().add(set).all(pods));
        assert_eq!(found.missing, missing, "{title}");
        assert_eq!(codes.contains(&Code::Ordered), ordered, "{title}: {:?}", found.findings);
        assert_eq!(codes.is_empty(), missing == 0, "{title}");
    }
}

#[test]
fn replicas_are_counted_without_the_ended_and_the_ending() {
    let of_set = |name: &str| owned("apps/v1", "ReplicaSet", name);
    for (pods, missing) in [
        (vec![], 3),
        (vec![of_set("a"), of_set("b"), of_set("c")], 0),
        (vec![of_set("a"), of_set("b").deleted(ENDING.0, ENDING.1), of_set("c").ended("Failed")], 2),
    ] {
        let (found, _) =
            of("ReplicaSet", &cluster().add(workload("apps/v1", "ReplicaSet", "a/w").replicas(3)).all(pods));
        assert_eq!(found.missing, missing);
    }
}

#[test]
fn a_deployment_says_what_its_replica_sets_do_not() {
    let set = |replicas: i32| {
        object("apps/v1", "ReplicaSet", "a/w-1").owned_by("apps/v1", "Deployment/w").spec(json!({"replicas": replicas}))
    };
    let of_set = |name: &str| pod(&format!("a/{name}")).owned_by("apps/v1", "ReplicaSet/w-1").on("n1").ready();
    let web = |spec: Value, observed: i64| {
        object("apps/v1", "Deployment", "a/w").spec(spec).status(json!({"observedGeneration": observed}))
    };
    let recreate = json!({"replicas": 2, "strategy": {"type": "Recreate"}});
    let refused = "pods \"w-1-x\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1";
    let failure = json!({"conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": refused}]});
    for (title, objects, missing, code) in [
        ("behind", vec![web(json!({"replicas": 2}), 0), set(1), of_set("x")], 1, Some(Code::ControllerBehind)),
        (
            "scaled up a moment ago",
            vec![web(json!({"replicas": 2}), 1), set(1), of_set("x")],
            1,
            Some(Code::ControllerBehind),
        ),
        ("no ReplicaSet", vec![web(json!({"replicas": 2}), 1)], 2, Some(Code::ControllerBehind)),
        ("paused from the start", vec![web(json!({"replicas": 2, "paused": true}), 1)], 2, Some(Code::Gated)),
        ("paused, and scaled", vec![web(json!({"replicas": 1, "paused": true}), 1), set(1), of_set("x")], 0, None),
        (
            "old pods first",
            vec![web(recreate, 1), set(0), of_set("x").deleted(ENDING.0, ENDING.1)],
            2,
            Some(Code::Ordered),
        ),
        ("refused", vec![web(json!({"replicas": 2}), 1), set(2).status(failure), of_set("x")], 1, Some(Code::Quota)),
        ("all", vec![web(json!({"replicas": 1}), 1), set(1), of_set("x")], 0, None),
        ("none wanted", vec![web(json!({"replicas": 0}), 1), set(0)], 0, None),
    ] {
        let (found, codes) = of("Deployment", &cluster().all(objects));
        assert_eq!(found.missing, missing, "{title}");
        assert_eq!(codes.first().copied(), code, "{title}: {:?}", found.findings);
    }
}

#[test]
fn a_daemon_set_wants_a_pod_on_each_node_that_it_may_use() {
    // After TestNodeShouldRunDaemonPod and TestTaintPressureNodeDaemonLaunchesPod, …: cordons and pressure are tolerated,
    // other taints are not; node selectors and names hold.
    let tainted = |taint: &str| node("n2").taint(taint);
    for (title, n2, template, wanted) in [
        ("two nodes", node("n2"), json!({}), 2),
        ("cordoned", node("n2").cordoned(), json!({}), 2),
        ("under pressure", tainted("node.kubernetes.io/memory-pressure:NoSchedule"), json!({}), 2),
        ("not ready, to be left", tainted("node.kubernetes.io/not-ready:NoExecute"), json!({}), 2),
        ("not ready, from the start", tainted("node.kubernetes.io/not-ready:NoSchedule"), json!({}), 1),
        ("no network", tainted("node.kubernetes.io/network-unavailable:NoSchedule"), json!({}), 1),
        (
            "no network, on the node's own",
            tainted("node.kubernetes.io/network-unavailable:NoSchedule"),
            json!({"hostNetwork": true}),
            2,
        ),
        ("reserved", tainted("dedicated=db:NoSchedule"), json!({}), 1),
        ("preferably not", tainted("dedicated=db:PreferNoSchedule"), json!({}), 2),
        ("selected", node("n2").label("disk", "ssd"), json!({"nodeSelector": {"disk": "ssd"}}), 1),
        ("none selected", node("n2"), json!({"nodeSelector": {"disk": "ssd"}}), 0),
        ("named", node("n2"), json!({"nodeName": "n2"}), 1),
    ] {
        let set = object("apps/v1", "DaemonSet", "a/w")
            .spec(json!({"template": {"spec": template}}))
            .status(json!({"observedGeneration": 1}));
        let (found, codes) = of("DaemonSet", &cluster().add(node("n1")).add(n2).add(set));
        assert_eq!((found.desired, found.missing), (Some(wanted), wanted), "{title}");
        let code = if wanted == 0 { Code::NodeAffinity } else { Code::MissingPods };
        assert_eq!(codes, [code], "{title}: {:?}", found.findings);
    }
    let set = || {
        object("apps/v1", "DaemonSet", "a/w")
            .spec(json!({"template": {"spec": {}}}))
            .status(json!({"observedGeneration": 1}))
    };
    let here = |name: &str| owned("apps/v1", "DaemonSet", name);
    let pending = pod("a/y").owned_by("apps/v1", "DaemonSet/w").spec(json!({"affinity": {"nodeAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields":
            [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]}}}}));
    for (title, pods, missing, code) in [
        ("one runs", vec![here("x")], 1, Some(Code::MissingPods)),
        ("one runs, one has no node yet", vec![here("x"), pending], 0, None),
        ("one leaves", vec![here("x"), here("y").on("n2").deleted(ENDING.0, ENDING.1)], 1, Some(Code::Ordered)),
    ] {
        let (found, codes) = of("DaemonSet", &cluster().add(node("n1")).add(node("n2")).add(set()).all(pods));
        assert_eq!((found.missing, codes.first().copied()), (missing, code), "{title}: {:?}", found.findings);
    }
}

#[test]
fn a_cron_job_says_why_it_makes_no_job() {
    let cron = |spec: Value| {
        object("batch/v1", "CronJob", "a/w")
            .spec(json!({"schedule": "0 * * * *", "jobTemplate": {"spec": {"parallelism": 2, "completions": 5}}}))
            .spec(spec)
            .status(json!({"lastScheduleTime": "2026-01-01T11:00:00Z"}))
    };
    let job = |status: Value| {
        object("batch/v1", "Job", "a/w-1")
            .owned_by("batch/v1", "CronJob/w")
            .created("2026-01-01T11:00:00Z")
            .status(status)
    };
    let event = |reason: &str, words: &str, kind: &str| {
        failed_create("CronJob", words).with(json!({"reason": reason, "type": kind}))
    };
    let quota = "Error creating job: jobs.batch \"w-2\" is forbidden: exceeded quota: q, requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: count/jobs.batch=1";
    for (title, objects, missing, code, words) in [
        ("suspended", vec![cron(json!({"suspend": true}))], 0, Code::Gated, "spec.suspend"),
        (
            "refused",
            vec![cron(json!({})), event("FailedCreate", quota, "Warning")],
            2,
            Code::Quota,
            "exceeded quota: q",
        ),
        (
            "refused, and overcome since",
            vec![
                cron(json!({})),
                event("FailedCreate", quota, "Warning"),
                job(json!({})).created("2026-01-01T11:59:30Z"),
            ],
            0,
            Code::Running,
            "active: w-1",
        ),
        (
            "too late",
            vec![cron(json!({})), event("MissSchedule", "Missed scheduled time", "Warning")],
            0,
            Code::MissingPods,
            "MissSchedule",
        ),
        (
            "at work",
            vec![cron(json!({"concurrencyPolicy": "Forbid"})), job(json!({}))],
            0,
            Code::Running,
            "concurrencyPolicy Forbid",
        ),
        (
            "idle",
            vec![cron(json!({})), job(json!({"conditions": [{"type": "Complete", "status": "True"}]}))],
            0,
            Code::Running,
            "no Job of it is active",
        ),
    ] {
        let (found, codes) = of("CronJob", &cluster().all(objects));
        assert_eq!((found.missing, codes.first().copied()), (missing, Some(code)), "{title}: {:?}", found.findings);
        assert!(found.findings[0].message.contains(words), "{title}: {}", found.findings[0].message);
    }
}

#[test]
fn a_custom_owner_speaks_of_what_it_owns() {
    let owner = || object("x.example.com/v1", "Widget", "a/w");
    let definition =
        object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.x.example.com").spec(json!({
        "group": "x.example.com", "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [{"name": "v1", "subresources": {"scale": {"specReplicasPath": ".spec.replicas"}}}]}));
    let set =
        object("apps/v1", "StatefulSet", "a/s").owned_by("x.example.com/v1", "Widget/w").spec(json!({"replicas": 2}));
    let own = pod("a/x").owned_by("x.example.com/v1", "Widget/w").on("n1").ready();
    let of_set = pod("a/s-0").owned_by("apps/v1", "StatefulSet/s").on("n1").ready();
    for (title, objects, wanted, there, missing) in [
        ("its own pods, scaled", vec![owner().spec(json!({"replicas": 2})), definition, own.clone()], Some(2), 1, 1),
        ("its own pods, without a scale", vec![owner(), own], None, 1, 0),
        ("a StatefulSet", vec![owner(), set, of_set], Some(2), 1, 0),
    ] {
        let (found, _) = of("Widget", &cluster().all(objects));
        assert_eq!((found.desired, found.current, found.missing), (wanted, there, missing), "{title}");
    }
}

#[test]
fn owners_in_a_ring_end() {
    let ring = |name: &str, owner: &str| {
        object("x.io/v1", "Ring", &format!("a/{name}")).owned_by("x.io/v1", &format!("Ring/{owner}"))
    };
    let (found, _) = of("Ring", &cluster().add(ring("w", "v")).add(ring("v", "w")));
    assert_eq!(found.missing, 0);
}

#[test]
fn everything_is_accounted_for() {
    // Whatever owns it: each of these lacks pods, and nothing is recorded.
    let snapshot = cluster()
        .add(deployment("a/web").replicas(2))
        .add(object("batch/v1", "CronJob", "a/nightly").spec(json!({"schedule": "@daily"})))
        .add(object("batch/v1", "Job", "a/nightly-1").owned_by("batch/v1", "CronJob/nightly"))
        .add(object("apps/v1", "StatefulSet", "a/pg").owned_by("x.io/v1", "Database/pg").spec(json!({"replicas": 3})))
        .add(object("x.io/v1", "Database", "a/pg"))
        .snapshot();
    let state = crate::sched::State::new(&snapshot);
    let request = crate::pending::Request::default();
    let items = crate::pending::pending(&request, &snapshot, &state).unwrap().items;
    let mut got: Vec<(String, usize)> =
        items.iter().map(|i| (format!("{}/{}", i.subject.kind(), i.subject.meta().name), i.missing)).collect();
    got.sort();
    let want = [("Deployment/web", 2), ("Job/nightly-1", 1), ("StatefulSet/pg", 3)];
    assert_eq!(got, want.map(|(n, m)| (n.to_owned(), m)));
    assert!(items.iter().all(|i| !i.findings.is_empty()));
}
