//! Reading from a cluster that is slow, busy, forgetful, or none at all.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kubectl_pdb::cluster::{Cluster, ConnectOptions, ListEvent, ListOutcome, ListRequest, Needs, Observer, Silent};
use kubectl_pdb::error::{Failure, FailureKind};
use kubectl_pdb::snapshot::coverage::ReadOutcome as Gap;
use kubectl_pdb::snapshot::workload::Scale;
use kubectl_pdb::snapshot::{Kind, Snapshot};
use serde_json::{Value, json};

use crate::fake_api::{FakeApi, Running};
use crate::reply::Reply;

const PODS: &str = "/api/v1/pods";
const NODES: &str = "/api/v1/nodes";

fn options(server: &str) -> ConnectOptions {
    // An empty kubeconfig keeps that of the machine out of the tests.
    let nothing = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/empty-kubeconfig.yaml");
    ConnectOptions { kubeconfig: Some(nothing.into()), server: Some(server.into()), ..ConnectOptions::default() }
}

fn connected(api: &Running) -> Cluster {
    Cluster::connect(&options(&api.url), Silent).unwrap()
}

fn pods(count: usize) -> Vec<Value> {
    let pod = |i: usize| {
        let namespace = if i.is_multiple_of(2) { "a" } else { "b" };
        json!({"metadata": {"name": format!("p{i}"), "namespace": namespace}})
    };
    (0..count).map(pod).collect()
}

/// What a list gave: the names in it, after all restarts, and its outcome.
fn read(cluster: &Cluster, requests: &[ListRequest]) -> Result<Vec<(Vec<String>, ListOutcome)>, Failure> {
    let mut names = vec![Vec::new(); requests.len()];
    let outcomes = cluster.read_all(requests, |index, event| match event {
        ListEvent::Restart => names[index].clear(),
        ListEvent::Page(page) => {
            let list: Value = serde_json::from_slice(&page.body).unwrap();
            let items = list["items"].as_array().unwrap();
            names[index].extend(items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()));
        }
    })?;
    Ok(names.into_iter().zip(outcomes).collect())
}

fn pages(outcome: &ListOutcome) -> u32 {
    match outcome {
        ListOutcome::Read { pages, .. } => *pages,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_are_read_in_pages() {
    let api = FakeApi::new().list(PODS, "PodList", pods(7)).list(NODES, "NodeList", vec![]).page(3).start();
    let lists = [
        ListRequest::new(PODS),
        ListRequest::new(NODES),
        ListRequest::new("/api/v1/namespaces/b/pods").fields("metadata.name=p3"),
    ];
    let got = read(&connected(&api), &lists).unwrap();
    assert_eq!(got[0].0, ["p0", "p1", "p2", "p3", "p4", "p5", "p6"]);
    assert_eq!((pages(&got[0].1), got[1].0.len(), pages(&got[1].1)), (3, 0, 1));
    assert_eq!(got[2].0, ["p3"]);
    let mut asked = api.asked();
    asked.sort();
    assert_eq!(
        asked,
        [
            "GET /api/v1/namespaces/b/pods?limit=500&fieldSelector=metadata.name%3Dp3",
            "GET /api/v1/nodes?limit=500",
            "GET /api/v1/pods?limit=500",
            "GET /api/v1/pods?limit=500&continue=3",
            "GET /api/v1/pods?limit=500&continue=6",
        ]
    );
}

#[test]
fn a_list_that_expires_is_read_anew() {
    let gone = Reply::status(410, "Expired", "The provided continue parameter is too old");
    let first = json!({"kind": "PodList", "metadata": {"continue": "4"}, "items": [{"metadata": {"name": "void"}}]});
    let first = Reply::new(200, "application/json", first.to_string());
    let api = FakeApi::new().list(PODS, "PodList", pods(4)).page(2).script(PODS, [first.clone(), gone.clone()]).start();
    let got = read(&connected(&api), &[ListRequest::new(PODS)]).unwrap();
    assert_eq!(got[0].0, ["p0", "p1", "p2", "p3"]);
    // One that always expires is given up, and is no reason to give up the others.
    let endless = (0..9).flat_map(|_| [first.clone(), gone.clone()]);
    let api = FakeApi::new().list(NODES, "NodeList", vec![]).script(PODS, endless).start();
    let got = read(&connected(&api), &[ListRequest::new(PODS), ListRequest::new(NODES)]).unwrap();
    assert!(matches!(&got[0].1, ListOutcome::Failed { message } if message.contains("too old (410)")), "{:?}", got[0]);
    assert_eq!(pages(&got[1].1), 1);
}

#[test]
fn what_concerns_one_list_leaves_the_others() {
    let forbidden =
        r#"nodes is forbidden: User "dev" cannot list resource "nodes" in API group "" at the cluster scope"#;
    let api = FakeApi::new()
        .list(PODS, "PodList", pods(1))
        .always(NODES, Reply::status(403, "Forbidden", forbidden))
        .always("/bad", Reply::status(500, "InternalError", "etcd is away"))
        .always("/page", Reply::new(200, "text/html", "<html>Please log in</html>"))
        .always("/junk", Reply::new(200, "application/json", "{\"kind\":\"PodList\",\"meta"))
        .always("/pod", Reply::new(200, "application/json", "{\"kind\":\"Pod\",\"metadata\":{}}"))
        .start();
    let paths = [PODS, NODES, "/api/v1/none", "/bad", "/page", "/junk", "/pod"];
    let got = read(&connected(&api), &paths.map(ListRequest::new)).unwrap();
    assert_eq!(got[0].0, ["p0"]);
    assert_eq!(got[1].1, ListOutcome::Forbidden { message: "dev may not list nodes in the whole cluster".into() });
    assert_eq!(got[2].1, ListOutcome::Absent);
    assert_eq!(got[3].1, ListOutcome::Failed { message: "etcd is away (500)".into() });
    for (index, words) in [(4, "neither JSON nor protobuf"), (5, "EOF while parsing"), (6, "its kind is \"Pod\"")] {
        let ListOutcome::Failed { message } = &got[index].1 else { panic!("{:?}", got[index]) };
        assert!(message.starts_with("the answer is no list: ") && message.contains(words), "{message}");
    }
}

#[derive(Default, Clone)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Observer for Heard {
    fn retrying(&self, path: &str, why: &str, wait: Duration) {
        self.0.lock().unwrap().push(format!("{path}: {why}: {} ms", wait.as_millis()));
    }
}

#[test]
fn a_busy_server_is_asked_again_when_it_says() {
    let busy = Reply::status(429, "TooManyRequests", "too many requests").header("Retry-After", "0");
    let down = Reply::status(503, "ServiceUnavailable", "starting");
    let broken = Reply::new(200, "application/json", "{\"kind\":\"PodList\"}").closed_at(5);
    let api = FakeApi::new().list(PODS, "PodList", pods(1)).script(PODS, [busy, down, broken]).start();
    let heard = Heard::default();
    let cluster = Cluster::connect(&options(&api.url), heard.clone()).unwrap();
    assert_eq!(read(&cluster, &[ListRequest::new(PODS)]).unwrap()[0].0, ["p0"]);
    let heard = heard.0.lock().unwrap();
    assert_eq!(heard[0], "/api/v1/pods: too many requests (429): 0 ms");
    assert_eq!(heard[1], "/api/v1/pods: starting (503): 400 ms");
    assert!(heard[2].ends_with(": 800 ms"), "{}", heard[2]);
    assert_eq!(heard.len(), 3);
}

#[test]
fn a_server_that_stays_busy_is_given_up() {
    let busy = Reply::status(429, "TooManyRequests", "too many requests").header("Retry-After", "0");
    let api = FakeApi::new().always(PODS, busy).start();
    let got = read(&connected(&api), &[ListRequest::new(PODS)]).unwrap();
    assert_eq!(got[0].1, ListOutcome::Failed { message: "too many requests (429)".into() });
    assert_eq!(api.asked().len(), 5);
}

#[test]
fn a_request_that_takes_too_long_is_given_up() {
    let slow = Reply::new(200, "application/json", "{}").after(Duration::from_secs(60));
    let api = FakeApi::new().always(PODS, slow).start();
    let options = ConnectOptions { request_timeout: Some(Duration::from_millis(50)), ..options(&api.url) };
    let cluster = Cluster::connect(&options, Silent).unwrap();
    let started = Instant::now();
    let got = read(&cluster, &[ListRequest::new(PODS)]).unwrap();
    assert_eq!(got[0].1, ListOutcome::Failed { message: "no whole answer within 0.05 s (--request-timeout)".into() });
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn credentials_that_are_not_accepted_end_it() {
    let api = FakeApi::new()
        .list(PODS, "PodList", pods(1))
        .always(NODES, Reply::status(401, "Unauthorized", "Unauthorized"))
        .start();
    let failure = read(&connected(&api), &[ListRequest::new(PODS), ListRequest::new(NODES)]).unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoAccess);
    assert_eq!(failure.to_string(), format!("{} does not accept the credentials: Unauthorized (401)", api.url));
    assert!(failure.hint.unwrap().contains("no credentials"));
}

#[test]
fn no_server_is_told_from_a_wrong_one() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = format!("http://{}", taken.local_addr().unwrap());
    drop(taken);
    let version = |server: &str| Cluster::connect(&options(server), Silent).unwrap().version().unwrap_err();
    let failure = version(&closed);
    assert_eq!(failure.kind, FailureKind::NoCluster);
    assert_eq!(failure.to_string(), format!("nothing answers at {closed}: the connection is refused"));
    let failure = version("http://no-such-host.invalid:6443");
    assert_eq!(failure.to_string(), "the name of the API server in http://no-such-host.invalid:6443 is not known here");
    let api = FakeApi::new().always("/version", Reply::new(200, "text/html", "<html>")).start();
    let failure = version(&api.url);
    assert_eq!(failure.to_string(), format!("{} does not answer as an API server: it gives no version", api.url));
    // A server without TLS where TLS is spoken.
    let failure = version(&api.url.replace("http:", "https:"));
    assert!(failure.to_string().contains("does not speak TLS"), "{failure}");
}

#[test]
fn single_objects() {
    let api = FakeApi::new()
        .list("/apis/example.com/v1/widgets", "WidgetList", pods(1))
        .object("/apis/example.com/v1/namespaces/a/widgets/p0/scale", json!({"spec": {"replicas": 3}}))
        .start();
    let cluster = connected(&api);
    assert_eq!(cluster.version().unwrap().as_deref(), Some("v1.36.3"));
    let base = "/apis/example.com/v1/namespaces/a/widgets";
    let got = cluster.get_all(&[format!("{base}/p0/scale"), format!("{base}/p9/scale"), format!("{base}/p0")]).unwrap();
    let scale: Value = serde_json::from_slice(got[0].as_ref().unwrap()).unwrap();
    assert_eq!(scale["spec"]["replicas"], 3);
    assert_eq!(got[1], Err(ListOutcome::Absent));
    assert!(got[2].is_ok());
}

fn snapshot(api: &Running, kinds: &[Kind], namespace: Option<&str>) -> Snapshot {
    connected(api).read(&Needs { kinds, namespace, node: None }).unwrap()
}

#[test]
fn lists_become_a_snapshot_and_what_cannot_be_read_a_gap() {
    let pod = |name: &str, namespace: &str| json!({"metadata": {"name": name, "namespace": namespace, "uid": name}});
    let api = FakeApi::bare()
        .list(PODS, "PodList", vec![pod("a", "x"), pod("b", "x"), pod("c", "y")])
        .list(NODES, "NodeList", vec![json!({"metadata": {"name": "n"}, "spec": {"unschedulable": "perhaps"}})])
        .always("/api/v1/namespaces", Reply::status(403, "Forbidden", "no"))
        .page(2)
        .start();
    let kinds = [Kind::Pod, Kind::Node, Kind::Namespace, Kind::PodDisruptionBudget, Kind::StorageClass];
    let got = snapshot(&api, &kinds, None);
    assert_eq!(got.pods.iter().map(|pod| pod.meta.path()).collect::<Vec<_>>(), ["x/a", "x/b", "y/c"]);
    assert!(got.coverage.has(Kind::Pod));
    assert!(matches!(got.coverage.of(Kind::Node), Gap::Failed(why) if why.contains("perhaps")));
    assert_eq!(*got.coverage.of(Kind::Namespace), Gap::Forbidden("no (403)".into()));
    assert_eq!(*got.coverage.of(Kind::StorageClass), Gap::Absent);
    // No server that is an API server is without.
    assert_eq!(*got.coverage.of(Kind::PodDisruptionBudget), Gap::Failed("the server does not have it (404)".into()));
    assert_eq!(got.source.server_version.as_deref(), Some("v1.36.3"));
    let got = snapshot(&api, &kinds, Some("y"));
    assert_eq!(got.pods.iter().map(|pod| pod.meta.path()).collect::<Vec<_>>(), ["y/c"]);
    assert!(api.asked().contains(&"GET /api/v1/namespaces/y/pods?limit=500".to_owned()));
}

#[test]
fn a_list_that_is_read_anew_leaves_no_ghosts() {
    let ghost = json!({"kind": "PodList", "metadata": {"continue": "1"}, "items": [{"metadata": {"name": "ghost"}}]});
    let api = FakeApi::new()
        .list(PODS, "PodList", pods(1))
        .script(
            PODS,
            [Reply::new(200, "application/json", ghost.to_string()), Reply::status(410, "Expired", "too old")],
        )
        .start();
    let got = snapshot(&api, &[Kind::Pod], None);
    assert_eq!(got.pods.iter().map(|pod| pod.meta.path()).collect::<Vec<_>>(), ["a/p0"]);
}

#[test]
fn the_scale_of_custom_owners_is_asked_for() {
    let owned = |name: &str, api: &str, kind: &str, owner: &str| {
        json!({"metadata": {"name": name, "namespace": "a", "ownerReferences": [
            {"apiVersion": api, "kind": kind, "name": owner, "uid": owner, "controller": true}]}})
    };
    let group = json!({"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": [
        {"name": "widgets", "namespaced": true, "kind": "Widget"},
        {"name": "widgets/scale", "namespaced": true, "kind": "Scale"},
        {"name": "gadgets", "namespaced": true, "kind": "Gadget"}]});
    let scale = |name: &str| format!("/apis/example.com/v1/namespaces/a/widgets/{name}/scale");
    let api = FakeApi::new()
        .list(
            PODS,
            "PodList",
            vec![
                owned("p1", "example.com/v1", "Widget", "scaled"),
                owned("p2", "example.com/v1", "Widget", "scaled"),
                owned("p3", "example.com/v1", "Widget", "forbidden"),
                owned("p4", "example.com/v1", "Widget", "gone"),
                owned("p5", "example.com/v1", "Gadget", "plain"),
                owned("p6", "gone.example.com/v1", "Thing", "no-group"),
                owned("p7", "locked.example.com/v1", "Thing", "locked"),
                owned("p8", "apps/v1", "ReplicaSet", "rs"),
            ],
        )
        .object("/apis/example.com/v1", group)
        .object(&scale("scaled"), json!({"kind": "Scale", "spec": {"replicas": 3}}))
        .always(&scale("forbidden"), Reply::status(403, "Forbidden", "no"))
        .always(
            "/apis/locked.example.com/v1",
            Reply::status(503, "ServiceUnavailable", "no").header("Retry-After", "0"),
        )
        .start();
    let got = snapshot(&api, &[Kind::Pod], None);
    let scales: Vec<_> = got.workloads.iter().map(|w| (w.meta.name.to_string(), w.scale)).collect();
    let want = [
        ("forbidden", Scale::Unknown),
        ("locked", Scale::Unknown),
        ("no-group", Scale::NoScale),
        ("plain", Scale::NoScale),
        ("scaled", Scale::Replicas(3)),
    ];
    assert_eq!(scales, want.map(|(name, scale)| (name.to_owned(), scale)));
    assert_eq!(api.asked().iter().filter(|line| line.ends_with("widgets/scaled/scale")).count(), 1);
}

#[test]
fn what_answers_name_of_operators_is_read_where_they_are() {
    let group = |name: &str| json!({"name": name, "preferredVersion": {"groupVersion": format!("{name}/v1beta2")}});
    let setting = json!({"apiVersion": "longhorn.io/v1beta2", "kind": "Setting", "value": "block-if-contains-last-replica",
        "metadata": {"name": "node-drain-policy", "namespace": "longhorn-system"}});
    let api = FakeApi::new()
        .object("/apis", json!({"groups": [group("apps"), group("longhorn.io")]}))
        .list("/apis/longhorn.io/v1beta2/settings", "SettingList", vec![setting])
        .start();
    let got = snapshot(&api, &[Kind::LonghornSetting, Kind::NodePool], None);
    assert_eq!(got.longhorn_settings[0].value, "block-if-contains-last-replica");
    // Without its operator a kind is not there to be read, and that is no gap.
    assert!(got.coverage.has(Kind::NodePool) && got.node_pools.is_empty());
    let mut asked = api.asked();
    asked.sort();
    let list = "GET /apis/longhorn.io/v1beta2/settings?limit=500&fieldSelector=metadata.name%3Dnode-drain-policy";
    assert_eq!(asked, ["GET /apis", list, "GET /version"]);
    let api = FakeApi::new().always("/apis", Reply::status(403, "Forbidden", "no")).start();
    assert!(!snapshot(&api, &[Kind::NodePool], None).coverage.has(Kind::NodePool), "the server may have it");
}

#[test]
fn nothing_is_read_before_it_is_asked_for() {
    let api = FakeApi::new().start();
    let cluster = connected(&api);
    assert_eq!((cluster.context(), cluster.namespace(), cluster.server()), (None, "default", api.url.as_str()));
    assert_eq!(api.asked(), Vec::<String>::new());
}
