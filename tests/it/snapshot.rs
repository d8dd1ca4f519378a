//! `snapshot`: what is in the file, and what must never be.

use serde_json::{Value, json};

use crate::fake_api::FakeApi;
use crate::program::{Ran as Run, run};
use crate::reply::Reply;
use kubectl_pdb::snapshot::Source;
use kubectl_pdb::snapshot::builder::Builder;
use kubectl_pdb::snapshot::workload::Scale;

fn snapshot(api: FakeApi, flags: &[&str]) -> Run {
    let api = api.start();
    let nothing = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/empty-kubeconfig.yaml");
    let connect = ["snapshot", "--kubeconfig", nothing, "--server", &api.url];
    run([&connect[..], flags].concat())
}

/// A cluster with something in every place that must not be passed on.
fn cluster() -> FakeApi {
    let annotations =
        json!({"kubectl.kubernetes.io/last-applied-configuration": "{\"s3cr3t\":1}", "foreign": "s3cr3t"});
    let spec = json!({
        "containers": [{
            "name": "c", "image": "registry.corp/app:1", "args": ["--password=s3cr3t"],
            "env": [{"name": "PASSWORD", "value": "s3cr3t"}, {"name": "AWS_ROLE_ARN", "value": "s3cr3t"}],
            "envFrom": [{"secretRef": {"name": "s3cr3t"}}],
        }],
        "volumes": [{"name": "v", "secret": {"secretName": "s3cr3t"}}],
    });
    let owner = |kind: &str, api: &str| json!([{"apiVersion": api, "kind": kind, "name": "w", "uid": format!("uid-{kind}"), "controller": true}]);
    let pod = |name: &str, owners: Value| {
        json!({"metadata": {"name": name, "namespace": "shop", "annotations": annotations, "ownerReferences": owners},
            "spec": spec})
    };
    let template = json!({"metadata": {"annotations": annotations}, "spec": spec});
    let deployment = json!({"metadata": {"name": "w", "namespace": "shop", "uid": "uid-Deployment", "annotations": annotations},
        "spec": {"replicas": 2, "template": template}});
    let event = json!({"metadata": {"name": "e", "namespace": "shop"}, "reason": "Pulled",
        "message": "Container image \"registry.corp/app:1\" already present on machine"});
    let secret = json!({"metadata": {"name": "s", "namespace": "shop"}, "data": {"password": "s3cr3t"}});
    let widgets = json!({"groupVersion": "example.com/v1", "resources": [
        {"name": "widgets", "namespaced": true, "kind": "Widget"},
        {"name": "widgets/scale", "namespaced": true, "kind": "Scale"}]});
    FakeApi::new()
        .list(
            "/api/v1/pods",
            "PodList",
            vec![pod("a", owner("Deployment", "apps/v1")), pod("b", owner("Widget", "example.com/v1"))],
        )
        .list("/apis/apps/v1/deployments", "DeploymentList", vec![deployment])
        .list("/api/v1/events", "EventList", vec![event])
        .list("/api/v1/secrets", "SecretList", vec![secret])
        .object("/apis/example.com/v1", widgets)
        .object("/apis/example.com/v1/namespaces/shop/widgets/w/scale", json!({"spec": {"replicas": 4}}))
}

#[test]
fn the_file_says_what_was_read_and_passes_nothing_on() {
    let forbidden = Reply::status(403, "Forbidden", "no");
    let got = snapshot(cluster().always("/api/v1/nodes", forbidden), &[]);
    assert_eq!(got.status, 0, "{}", got.err);
    assert_eq!(got.err, "warning: nodes: forbidden, and so not in the snapshot\n");
    assert!(!got.out.contains("s3cr3t"), "{}", got.out);
    let list: Value = serde_json::from_str(&got.out).unwrap();
    let head = &list["items"][0];
    assert_eq!((&head["apiVersion"], &head["kind"]), (&json!("kubectl-pdb/v1"), &json!("Snapshot")));
    assert_eq!(head["serverVersion"], "v1.36.3");
    assert!(head["now"].as_str().is_some_and(|now| now.ends_with('Z')), "{head}");
    let outcome = |resource: &str| {
        let read = head["read"].as_array().unwrap();
        read.iter().find(|read| read["resource"] == resource).map(|read| read["outcome"].clone())
    };
    assert_eq!(outcome("pods"), Some("read".into()));
    assert_eq!(outcome("nodes"), Some("forbidden".into()));
    assert_eq!(outcome("services"), Some("read".into()));
    assert_eq!(outcome("resourceslices.resource.k8s.io"), Some("absent".into()));
    assert_eq!(outcome("secrets"), None);
    let kinds: Vec<_> = list["items"].as_array().unwrap().iter().filter_map(|item| item["kind"].as_str()).collect();
    assert_eq!(kinds, ["Snapshot", "Pod", "Pod", "Event", "Deployment", "Widget", "CustomResourceDefinition"]);
}

/// CloudNativePG's Cluster owns pods, so that its scale is asked for, and of itself more is read than that.
#[test]
fn an_owner_of_which_more_is_read_is_written_once() {
    let owner = json!([{"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "name": "db", "uid": "u", "controller": true}]);
    let pod = json!({"metadata": {"name": "db-1", "namespace": "shop", "ownerReferences": owner}});
    let db = json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
        "metadata": {"name": "db", "namespace": "shop", "uid": "u"}, "spec": {"instances": 3, "superuser": "s3cr3t"}});
    let resources = json!({"groupVersion": "postgresql.cnpg.io/v1", "resources": [
        {"name": "clusters", "namespaced": true, "kind": "Cluster"},
        {"name": "clusters/scale", "namespaced": true, "kind": "Scale"}]});
    let group = "/apis/postgresql.cnpg.io/v1";
    let groups = json!({"groups": [{"name": "postgresql.cnpg.io", "preferredVersion": {"groupVersion": "postgresql.cnpg.io/v1"}}]});
    let api = FakeApi::new()
        .list("/api/v1/pods", "PodList", vec![pod])
        .list(&format!("{group}/clusters"), "ClusterList", vec![db])
        .object("/apis", groups)
        .object(group, resources)
        .object(&format!("{group}/namespaces/shop/clusters/db/scale"), json!({"spec": {"replicas": 3}}));
    let got = snapshot(api, &[]);
    assert!(!got.out.contains("s3cr3t"), "{}", got.out);
    let mut builder = Builder::default();
    let list: Value = serde_json::from_str(&got.out).unwrap();
    list["items"].as_array().unwrap().iter().for_each(|o| builder.add_json(o.to_string().as_bytes()).unwrap());
    let read = builder.finish(Source::default(), None);
    assert_eq!(read.cloud_native_pg_clusters.iter().map(|c| c.spec.instances).collect::<Vec<_>>(), [Some(3)]);
    assert_eq!(read.workload("Cluster", "shop", "db").unwrap().scale, Scale::Replicas(3));
}

#[test]
fn images_are_renamed_on_request() {
    let got = snapshot(cluster(), &[]);
    assert!(got.out.contains("registry.corp/app:1"), "{}", got.out);
    let got = snapshot(cluster(), &["--redact"]);
    assert_eq!(got.status, 0, "{}", got.err);
    assert!(!got.out.contains("registry.corp") && got.out.contains("image-1"), "{}", got.out);
}

#[test]
fn a_namespace_is_enough_where_one_is_named() {
    let other = json!({"metadata": {"name": "x", "namespace": "other"}});
    let got = snapshot(cluster().list("/api/v1/services", "ServiceList", vec![other]), &["-n", "shop"]);
    let list: Value = serde_json::from_str(&got.out).unwrap();
    let head = &list["items"][0]["read"];
    assert_eq!((&head[0]["resource"], &head[0]["namespace"]), (&json!("pods"), &json!("shop")));
    assert_eq!((&head[1]["resource"], &head[1]["namespace"]), (&json!("nodes"), &Value::Null));
    assert!(!got.out.contains("\"other\""), "{}", got.out);
}

#[test]
fn files_are_no_cluster() {
    let got = run(["snapshot", "--from", "cluster.json"]);
    assert_eq!((got.status, got.out.as_str()), (1, ""));
    assert!(got.err.starts_with("error: snapshot reads a cluster"), "{}", got.err);
    let got = run(["status", "--from", "cluster.json", "--context", "x"]);
    assert_eq!(got.status, 1);
    assert!(got.err.contains("--context means a cluster"), "{}", got.err);
    let got = run(["snapshot"]);
    assert_eq!(got.status, 1);
    assert!(
        got.err.starts_with("error: no cluster is configured\nhint: looked into /nonexistent/.kube/config"),
        "{}",
        got.err
    );
}
