//! Commands against a cluster: the same answer as from a file, and again and again.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::fake_api::{FakeApi, Running};
use crate::program::{Ran as Run, run};
use crate::reply::Reply;

const NOTHING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/empty-kubeconfig.yaml");
const PODS: &str = "/api/v1/namespaces/shop/pods";

fn against(api: &Running, args: &[&str]) -> Run {
    run([args, &["--kubeconfig", NOTHING, "--server", &api.url]].concat())
}

fn pod(ready: bool) -> Value {
    json!({
        "metadata": {"name": "web-0", "namespace": "shop", "uid": "p", "labels": {"app": "web"}, "ownerReferences": [
            {"apiVersion": "example.com/v1", "kind": "Widget", "name": "web", "uid": "w", "controller": true}]},
        "spec": {"nodeName": "n", "containers": [{"name": "c"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}]},
    })
}

/// One budget over one pod of a custom owner, which wants one.
fn cluster() -> FakeApi {
    let budget = json!({
        "metadata": {"name": "web", "namespace": "shop", "generation": 1},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"observedGeneration": 1, "expectedPods": 1, "desiredHealthy": 0, "currentHealthy": 1,
            "disruptionsAllowed": 1},
    });
    let widgets = json!({"groupVersion": "example.com/v1", "resources": [
        {"name": "widgets", "namespaced": true, "kind": "Widget"},
        {"name": "widgets/scale", "namespaced": true, "kind": "Scale"}]});
    FakeApi::new()
        .list("/apis/policy/v1/poddisruptionbudgets", "PodDisruptionBudgetList", vec![budget])
        .list("/api/v1/pods", "PodList", vec![pod(true)])
        .object("/apis/example.com/v1", widgets)
        .object("/apis/example.com/v1/namespaces/shop/widgets/web/scale", json!({"spec": {"replicas": 1}}))
}

fn not_ready_once() -> Reply {
    let list = json!({"kind": "PodList", "metadata": {}, "items": [pod(false)]});
    Reply::new(200, "application/json", list.to_string())
}

#[test]
fn a_file_gives_the_answer_that_the_cluster_gave() {
    let api = cluster().start();
    let live = against(&api, &["status", "-A", "-o", "json"]);
    assert_eq!(live.status, 0, "{}", live.err);
    let file = std::env::temp_dir().join(format!("kubectl-pdb-{}.json", std::process::id()));
    std::fs::write(&file, against(&api, &["snapshot"]).out).unwrap();
    let from = run(["status", "-A", "-o", "json", "--from", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    let items = |run: &Run| serde_json::from_str::<Value>(&run.out).unwrap()["items"].clone();
    assert_eq!(items(&live), items(&from));
    assert_eq!((&items(&live)[0]["verdict"], &items(&live)[0]["expectedPods"]), (&json!("allows"), &json!(1)));
    let source = &serde_json::from_str::<Value>(&live.out).unwrap()["source"];
    assert_eq!((&source["server"], &source["serverVersion"]), (&json!(api.url), &json!("v1.36.3")));
}

#[test]
fn what_the_answer_is_about_has_to_be_readable() {
    let words = r#"User "dev" cannot list resource "poddisruptionbudgets" in API group "policy" at the cluster scope"#;
    let forbidden = Reply::status(403, "Forbidden", &format!("poddisruptionbudgets.policy is forbidden: {words}"));
    let api = cluster().always("/apis/policy/v1/poddisruptionbudgets", forbidden).start();
    let got = against(&api, &["status", "-A"]);
    assert_eq!((got.status, got.out.as_str()), (1, ""));
    let want =
        "error: forbidden: dev may not list poddisruptionbudgets.policy in the whole cluster\nhint: get a ClusterRole";
    assert!(got.err.starts_with(want), "{}", got.err);
}

#[test]
fn requests_are_shown_and_tokens_are_not() {
    let api = cluster().start();
    let got = against(&api, &["status", "-n", "shop", "-v", "6", "--token", "s3cr3t"]);
    assert!(got.err.contains("GET /api/v1/namespaces/shop/pods?limit=500 200 in"), "{}", got.err);
    assert!(got.err.contains("/api/v1/namespaces/shop/pods: 1 pages"), "{}", got.err);
    assert!(got.err.contains("9 lists: "), "{}", got.err);
    assert!(!got.err.contains("s3cr3t"), "{}", got.err);
    assert_eq!(against(&api, &["status", "-n", "shop"]).err, "");
}

#[test]
fn a_wait_ends_when_the_budget_allows_one() {
    let api = cluster().script(PODS, [not_ready_once(), not_ready_once()]).start();
    let got = against(&api, &["status", "web", "-n", "shop", "-o", "name", "--wait=1m", "--interval", "10ms"]);
    assert_eq!((got.status, got.out.as_str()), (0, "poddisruptionbudget.policy/web\n"), "{}", got.err);
    assert_eq!(api.asked().iter().filter(|line| line.contains("/pods?")).count(), 3);
    let api = cluster().always(PODS, not_ready_once()).start();
    let got = against(&api, &["status", "web", "-n", "shop", "--wait=100ms", "--interval", "10ms"]);
    assert_eq!((got.status, got.out.as_str()), (1, ""));
    assert!(got.err.starts_with("error: what is waited for has not come in time"), "{}", got.err);
}

#[test]
fn a_watch_prints_what_changed() {
    let away = Reply::status(401, "Unauthorized", "Unauthorized");
    let api = cluster().script(PODS, [not_ready_once(), not_ready_once()]).start();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-pdb"))
        .args(["status", "-n", "shop", "-w", "--interval", "10ms", "--kubeconfig", NOTHING, "--server", &api.url])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let rows: Vec<_> = lines.filter(|line| line.starts_with("web ")).take(2).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(rows[0].contains("waits") && rows[1].contains("allows"), "{rows:?}");
    // What will not pass ends it.
    let api =
        cluster().script("/version", [Reply::new(200, "application/json", "{\"gitVersion\":\"v1\"}"), away]).start();
    let got = against(&api, &["status", "-n", "shop", "-w", "--interval", "10ms"]);
    assert_eq!(got.status, 1);
    assert!(got.err.contains("does not accept the credentials"), "{}", got.err);
}

#[test]
fn a_wait_for_a_drain_ends_when_its_pods_are_gone() {
    let node = json!({"metadata": {"name": "n"}, "spec": {"unschedulable": true}});
    let with_pod = json!({"kind": "PodList", "metadata": {}, "items": [pod(true)]}).to_string();
    let with_pod = Reply::new(200, "application/json", with_pod);
    let api = FakeApi::new()
        .list("/api/v1/nodes", "NodeList", vec![node])
        .list("/api/v1/pods", "PodList", vec![])
        .script("/api/v1/pods", [with_pod.clone(), with_pod])
        .start();
    let got = against(&api, &["drain-plan", "n", "-o", "name", "--wait", "--interval", "10ms"]);
    assert_eq!((got.status, got.out.as_str()), (0, "node/n\n"), "{}", got.err);
    assert_eq!(api.asked().iter().filter(|line| line.starts_with("GET /api/v1/pods?")).count(), 3);
}

#[test]
fn no_pod_is_said_to_run_that_may_not_be_read() {
    let words = r#"pods is forbidden: User "dev" cannot list resource "pods" in API group "" at the cluster scope"#;
    let api = cluster().always("/api/v1/pods", Reply::status(403, "Forbidden", words)).start();
    let got = against(&api, &["why-pending", "-A"]);
    assert_eq!((got.status, got.out.as_str()), (1, ""));
    assert!(got.err.starts_with("error: forbidden: dev may not list pods in the whole cluster\n"), "{}", got.err);
}

#[test]
fn nodes_have_to_be_readable_to_be_drained() {
    let words = r#"nodes is forbidden: User "dev" cannot list resource "nodes" in API group "" at the cluster scope"#;
    let api = cluster().always("/api/v1/nodes", Reply::status(403, "Forbidden", words)).start();
    let got = against(&api, &["drain-plan"]);
    assert_eq!((got.status, got.out.as_str()), (1, ""));
    assert!(got.err.starts_with("error: forbidden: dev may not list nodes in the whole cluster\n"), "{}", got.err);
}

/// Pods, nodes and claims of two namespaces; `slow-0` has its node and does not start.
fn starting() -> FakeApi {
    let pod = |namespace: &str, name: &str, node: Option<&str>| {
        json!({
            "metadata": {"name": name, "namespace": namespace, "uid": name},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "web:1"}],
                "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]},
            "status": {"phase": "Pending", "containerStatuses": [{"name": "c",
                "state": {"waiting": {"reason": "ContainerCreating"}}}]},
        })
    };
    let node = |name: &str| json!({"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let claim = json!({"metadata": {"name": "data", "namespace": "shop"},
        "spec": {"volumeName": "v", "accessModes": ["ReadWriteOnce"]}});
    let attached = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n2", "attacher": "d",
        "source": {"persistentVolumeName": "v"}}, "status": {"attached": true}});
    let pods = vec![
        pod("kube-system", "static", Some("n1")),
        pod("other", "far", Some("n2")),
        pod("shop", "holder", Some("n2")),
        pod("shop", "slow-0", Some("n1")),
        pod("shop", "waits", None),
    ];
    FakeApi::new()
        .list("/api/v1/pods", "PodList", pods)
        .list("/api/v1/nodes", "NodeList", vec![node("n1"), node("n2")])
        .list("/api/v1/persistentvolumeclaims", "PersistentVolumeClaimList", vec![claim])
        .list("/apis/storage.k8s.io/v1/volumeattachments", "VolumeAttachmentList", vec![attached])
}

/// The lists of pods that were asked for.
fn pods_asked(api: &Running) -> Vec<String> {
    let mut asked: Vec<_> = api.asked().into_iter().filter(|line| line.contains("/pods?")).collect();
    asked.sort();
    asked
}

#[test]
fn about_a_pod_that_has_its_node_no_other_namespace_is_read() {
    let api = starting().start();
    let got = against(&api, &["why-pending", "slow-0", "-n", "shop", "-o", "json"]);
    assert_eq!(got.status, 0, "{}", got.err);
    assert_eq!(
        pods_asked(&api),
        [
            "GET /api/v1/namespaces/shop/pods?limit=500",
            "GET /api/v1/namespaces/shop/pods?limit=500&fieldSelector=metadata.name%3Dslow-0",
            "GET /api/v1/pods?limit=500&fieldSelector=spec.nodeName%3Dn1",
        ]
    );
    // The answer is that of the whole cluster: who holds the volume on another node is in it.
    let file = std::env::temp_dir().join(format!("kubectl-pdb-starting-{}.json", std::process::id()));
    std::fs::write(&file, against(&api, &["snapshot"]).out).unwrap();
    let whole = run(["why-pending", "slow-0", "-n", "shop", "-o", "json", "--from", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    let items = |run: &Run| serde_json::from_str::<Value>(&run.out).unwrap()["items"].clone();
    assert!(items(&got).to_string().contains("used there by holder"), "{}", got.out);
    assert_eq!(items(&got), items(&whole));
}

#[test]
fn what_takes_the_room_of_a_waiting_pod_is_read_everywhere() {
    let api = starting().start();
    let got = against(&api, &["why-pending", "waits", "-n", "shop"]);
    assert_eq!(got.status, 0, "{}", got.err);
    let all = "GET /api/v1/pods?limit=500".to_owned();
    assert_eq!(pods_asked(&api).last(), Some(&all));
    // A pod whose place another of the same name has taken, without a node yet, is looked for everywhere.
    let bound = json!({"kind": "PodList", "metadata": {}, "items": [{"metadata": {"name": "waits", "namespace": "shop"},
        "spec": {"nodeName": "n1"}}]});
    let api = starting().script(PODS, [Reply::new(200, "application/json", bound.to_string())]).start();
    let got = against(&api, &["why-pending", "waits", "-n", "shop"]);
    assert_eq!(got.status, 0, "{}", got.err);
    assert_eq!(
        pods_asked(&api).last(),
        Some(&"GET /api/v1/pods?limit=500&fieldSelector=spec.nodeName%3Dn1".to_owned())
    );
    assert!(pods_asked(&api).contains(&all));
}

#[test]
fn a_command_reads_the_kinds_of_its_table_and_no_others() {
    let paths = |args: &[&str]| {
        let api = FakeApi::new().start();
        let _ = against(&api, args);
        let lists = api.asked().into_iter().filter(|line| line.contains("limit="));
        let mut lists: Vec<_> =
            lists.filter_map(|line| Some(line.strip_prefix("GET ")?.split('?').next()?.to_owned())).collect();
        lists.sort();
        lists
    };
    let all = [
        "/api/v1/namespaces",
        "/api/v1/nodes",
        "/api/v1/pods",
        "/api/v1/replicationcontrollers",
        "/apis/apps/v1/deployments",
        "/apis/apps/v1/replicasets",
        "/apis/apps/v1/statefulsets",
        "/apis/autoscaling/v2/horizontalpodautoscalers",
        "/apis/policy/v1/poddisruptionbudgets",
    ];
    assert_eq!(paths(&["status", "-A"]), all);
    // Of one namespace everything that lives in namespaces.
    let mut of_one = all.map(|path| {
        let (group, plural) = path.rsplit_once('/').unwrap();
        if matches!(plural, "namespaces" | "nodes") {
            path.to_owned()
        } else {
            format!("{group}/namespaces/shop/{plural}")
        }
    });
    of_one.sort();
    assert_eq!(paths(&["status", "-n", "shop"]), of_one);
    for args in [&["drain-plan", "n"][..], &["why-pending", "-A"]] {
        let read = paths(args);
        assert!(read.contains(&"/api/v1/persistentvolumes".to_owned()) && read.contains(&"/api/v1/pods".to_owned()));
        assert!(!read.iter().any(|path| path.contains("/namespaces/") || path.contains("secrets")), "{read:?}");
    }
}
