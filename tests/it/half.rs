//! Inputs that are half of one: a gap or a plain error, and never a better verdict.

use serde_json::{Value, json};

use crate::program::{Ran, here, read_json, run_on};
use crate::verdicts::better;

/// Runs a command on what stands on its standard input.
fn on(input: &str, args: &[&str]) -> Ran {
    run_on(input, &[args, &["-o", "json", "--from", "-"]].concat())
}

/// A node with two pods under a budget that allows none: whoever overlooks something finds it better than it is.
fn objects() -> Vec<Value> {
    let pod = |name: &str, version: &str, ready: &str| {
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "shop", "uid": name, "resourceVersion": version, "labels": {"app": "web"},
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "s", "controller": true}]},
            "spec": {"nodeName": "n1", "containers": [{"name": "c"}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}})
    };
    vec![
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": "n1", "resourceVersion": "4"}, "status": {}}),
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web", "namespace": "shop", "uid": "s", "resourceVersion": "2"},
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}}, "status": {}}),
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": "shop", "uid": "b", "generation": 1, "resourceVersion": "5"},
            "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
            "status": {"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 2, "expectedPods": 2, "disruptionsAllowed": 0}}),
        pod("web-0", "7", "True"),
        pod("web-1", "8", "False"),
    ]
}

fn list(items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})
}

const COMMANDS: [&[&str]; 2] = [&["status", "-A"], &["drain-plan", "n1"]];

/// What the whole input says.
fn whole(args: &[&str]) -> Value {
    let ran = on(&list(&objects()).to_string(), args);
    assert!(ran.status != 1, "{}", ran.err);
    ran.json()
}

/// The answer says by a gap at this resource that something is missing, and nothing looks better for it.
fn is_a_gap(input: &str, resource: &str, words: &str) {
    for args in COMMANDS {
        let ran = on(input, args);
        let document = ran.json();
        let gaps = document["gaps"].as_array().into_iter().flatten();
        let effect = gaps.into_iter().find(|gap| gap["resource"] == resource).map(|gap| gap["effect"].clone());
        assert!(effect.is_some_and(|e| e.to_string().contains(words)), "{args:?} {resource}: {} {}", ran.err, ran.out);
        assert_eq!(document["complete"], false, "{args:?}: {document}");
        assert_eq!(better(&whole(args), &document), Vec::<String>::new(), "{args:?} {resource}");
    }
}

fn is_an_error(input: &str, words: &str) {
    for args in COMMANDS {
        let ran = on(input, args);
        assert_eq!((ran.status, &*ran.out), (1, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
}

/// The same answer as from the whole, apart from where it came from.
fn is_the_same(input: &str) -> Vec<String> {
    COMMANDS
        .map(|args| {
            let (ran, mut whole) = (on(input, args), whole(args));
            let mut document = ran.json();
            for key in ["generatedAt", "source", "gaps"] {
                document[key] = Value::Null;
                whole[key] = Value::Null;
            }
            assert_eq!(document, whole, "{args:?}: {}", ran.err);
            ran.err
        })
        .into()
}

/// A list of one kind, as `kubectl get --raw` gives it: its items do not say what they are.
fn raw(kind: &str, metadata: &Value) -> String {
    let items: Vec<_> = objects().into_iter().filter(|object| object["kind"] == kind).collect();
    let api = items[0]["apiVersion"].clone();
    let bare = items.into_iter().map(|mut item| {
        let fields = item.as_object_mut().unwrap();
        fields.remove("apiVersion");
        fields.remove("kind");
        item
    });
    let bare: Vec<_> = bare.collect();
    json!({"kind": format!("{kind}List"), "apiVersion": api, "metadata": metadata, "items": bare}).to_string()
}

#[test]
fn a_page_is_not_the_list() {
    let others = |kind: &str| list(&objects().into_iter().filter(|object| object["kind"] != kind).collect::<Vec<_>>());
    let page = json!({"continue": "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0", "remainingItemCount": 7});
    for (kind, resource) in [("Pod", "pods"), ("PodDisruptionBudget", "poddisruptionbudgets.policy")] {
        let input = format!("{}\n{}", others(kind), raw(kind, &page));
        is_a_gap(&input, resource, "7 more of them follow");
        // Sorted by key, as jq -S writes it, the list says what it is behind its items.
        let sorted: std::collections::BTreeMap<String, Value> = serde_json::from_str(&raw(kind, &page)).unwrap();
        is_a_gap(&format!("{}\n{}", others(kind), json!(sorted)), resource, "7 more of them follow");
        is_the_same(&format!("{}\n{}", others(kind), raw(kind, &json!({"resourceVersion": "9"}))));
    }
    // Of a List of several kinds each may have more.
    let mut mixed = list(&objects());
    mixed["metadata"] = json!({"continue": "x"});
    is_a_gap(&mixed.to_string(), "pods", "more of them follow");
    is_a_gap(&mixed.to_string(), "poddisruptionbudgets.policy", "more of them follow");
}

#[test]
fn lists_within_lists_are_read() {
    let all = objects();
    let inner = list(&all[2..]);
    is_the_same(&list(&[all[0].clone(), all[1].clone(), inner]).to_string());
    is_the_same(&list(&[list(&[list(&all)])]).to_string());
    is_the_same(&json!({"items": all}).to_string());
    let typed: Value = serde_json::from_str(&raw("Pod", &json!({}))).unwrap();
    is_the_same(&list(&[all[..3].to_vec(), vec![typed]].concat()).to_string());
    let mut page: Value = serde_json::from_str(&raw("Pod", &json!({"continue": "x"}))).unwrap();
    is_a_gap(&list(&[all[..3].to_vec(), vec![page.take()]].concat()).to_string(), "pods", "more of them follow");
    // As YAML, too.
    is_the_same(&yaml(&list(&[list(&all)])));
    let deep = (0..20).fold(list(&all), |inner, _| list(&[inner]));
    is_an_error(&deep.to_string(), "Lists stand within Lists too deeply");
    // An operator's kind may be called a list, and have a name.
    let named = json!({"apiVersion": "example.com/v1", "kind": "AllowList", "metadata": {"name": "x"}, "spec": {}});
    is_the_same(&list(&[objects(), vec![named]].concat()).to_string());
}

#[test]
fn the_newer_of_two_states_counts_and_is_said() {
    // An older dump, in which both pods are Ready and the budget allows one.
    let mut older = objects();
    older[2]["metadata"]["resourceVersion"] = json!("3");
    older[2]["spec"]["minAvailable"] = json!(1);
    older[4]["metadata"]["resourceVersion"] = json!("6");
    older[4]["status"]["conditions"][0]["status"] = json!("True");
    let (older, newer) = (list(&older), list(&objects()));
    for input in [format!("{older}\n{newer}"), format!("{newer}\n{older}")] {
        for err in is_the_same(&input) {
            let said =
                "the input has 2 objects twice (Pod shop/web-1, PodDisruptionBudget shop/web): the newer ones count";
            assert!(err.contains(said), "{err}");
        }
    }
    // The same state twice is nothing to speak of.
    for err in is_the_same(&format!("{newer}\n{newer}")) {
        assert!(!err.contains("twice"), "{err}");
    }
}

#[test]
fn versions_are_numbers() {
    let mut older = objects();
    older[4]["metadata"]["resourceVersion"] = json!("999");
    older[4]["status"]["conditions"][0]["status"] = json!("True");
    let mut newer = objects();
    newer[4]["metadata"]["resourceVersion"] = json!("1000");
    is_the_same(&format!("{}\n{}", list(&newer), list(&older)));
}

fn yaml(value: &Value) -> String {
    serde_saphyr::to_string(value).unwrap()
}

#[test]
fn yaml_that_breaks_off_is_told() {
    let text = yaml(&list(&objects()));
    is_the_same(&text);
    // Behind each line: an error, unless nothing but the end of the list's own metadata is missing.
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let kind = text.rfind("\nkind: List").unwrap();
    for end in ends.iter().filter(|end| **end <= kind).step_by(7) {
        let ran = on(&text[..*end], COMMANDS[0]);
        assert_eq!((ran.status, &*ran.out), (1, ""), "{}", &text[..*end]);
    }
    is_an_error(&text[..=kind], "the input ends in the middle of a List");
    // A stream of documents: the last one lacks the status that an API server writes.
    let stream: String = objects().iter().map(|object| format!("---\n{}", yaml(object))).collect();
    is_the_same(&stream);
    let cut = stream.rfind("\nstatus:").unwrap();
    is_an_error(&stream[..=cut], "the input ends in the middle of Pod shop/web-1");
    // What was written by hand has neither status nor uid.
    let by_hand = "apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: shop}\nspec: {containers: [{name: c}]}\n";
    assert_eq!(on(&format!("{stream}---\n{by_hand}"), COMMANDS[0]).status, 0);
}

#[test]
fn json_that_breaks_off_is_told_wherever_it_does() {
    let text = list(&objects()).to_string();
    for end in (1..text.len()).step_by(97) {
        let ran = on(&text[..end], COMMANDS[0]);
        assert_eq!((ran.status, &*ran.out), (1, ""), "{}", &text[..end]);
    }
}

#[test]
fn the_snapshot_of_a_namespace_is_no_cluster() {
    let read = |namespace: Option<&str>| {
        let kinds = [
            "pods",
            "poddisruptionbudgets.policy",
            "nodes",
            "statefulsets.apps",
            "replicasets.apps",
            "deployments.apps",
            "daemonsets.apps",
        ];
        let entry = |resource: &str| {
            let mut entry = json!({"resource": resource, "outcome": "read"});
            if let Some(namespace) = namespace.filter(|_| resource != "nodes") {
                entry["namespace"] = json!(namespace);
            }
            entry
        };
        let head = json!({"apiVersion": "kubectl-pdb/v1", "kind": "Snapshot", "now": "2026-11-30T12:00:00Z",
            "read": kinds.map(entry)});
        list(&[vec![head], objects()].concat()).to_string()
    };
    let ask = |input: &str, args: &[&str]| {
        let ran = on(input, args);
        (ran.status, ran.json(), ran.err)
    };
    let of_shop = read(Some("shop"));
    // Of its own namespace everything is known.
    let (status, document, err) = ask(&of_shop, &["status", "-n", "shop"]);
    assert_eq!((status, &document["complete"]), (0, &json!(true)), "{err}");
    for (args, resource) in
        [(&["status", "-A"][..], "pods"), (&["drain-plan", "n1"], "pods"), (&["why-pending", "-A"], "pods")]
    {
        let (_, document, err) = ask(&of_shop, args);
        let gaps = document["gaps"].as_array().unwrap();
        let gap = gaps.iter().find(|gap| gap["resource"] == resource).unwrap_or_else(|| panic!("{args:?}: {err}"));
        assert!(gap["effect"].to_string().contains("of namespace shop alone"), "{gap}");
        assert_eq!(document["complete"], false);
    }
    // What other namespaces have on the node is not known, nor what takes its room.
    let freed = of_shop
        .replace("\"minAvailable\":2", "\"minAvailable\":0")
        .replace("\"disruptionsAllowed\":0", "\"disruptionsAllowed\":1");
    let (status, document, _) = ask(&freed, &["drain-plan", "n1"]);
    assert_eq!((status, &document["nodes"][0]["verdict"]), (3, &json!("unknown")), "{document}");
    let waiting = of_shop
        .replace("\"nodeName\":\"n1\"", "\"priority\":0")
        .replace("\"phase\":\"Running\"", "\"phase\":\"Pending\"");
    let (_, document, _) = ask(&waiting, &["why-pending", "web-0", "-n", "shop"]);
    assert_eq!(document["items"][0]["stage"], "unknown", "{document}");
    // Two snapshots of different namespaces are both.
    let both = format!("{of_shop}\n{}", read(Some("other")));
    assert_eq!(ask(&both, &["status", "-n", "other"]).1["complete"], true);
    assert_eq!(ask(&both, &["status", "-A"]).1["complete"], false);
    assert_eq!(ask(&read(None), &["status", "-A"]).1["complete"], true);
    // A namespace that is not in it.
    let (_, document, err) = ask(&of_shop, &["status", "-n", "elsewhere"]);
    assert_eq!(document["complete"], false, "{err}");
}

/// Recorded clusters with a kind left out and said to be forbidden, failed, or of one namespace.
#[test]
fn recorded_clusters_with_less_look_no_better() {
    for (case, args) in [
        ("status/r31-empty-selector-covers-the-namespace", &["status", "-A"][..]),
        ("drain-plan/r36-one-blocker-of-many", &["drain-plan"]),
        ("why-pending/r100-claim-does-not-exist", &["why-pending", "-A"]),
    ] {
        let file = here("cases").join(case).join("cluster.json");
        let cluster = read_json(&file);
        let whole = on(&cluster.to_string(), args).json();
        let items = cluster["items"].as_array().unwrap();
        let kinds: std::collections::BTreeSet<&str> = items.iter().filter_map(|item| item["kind"].as_str()).collect();
        for kind in kinds {
            let of_kind = |item: &&Value| item["kind"] == kind;
            let Some(api) = items.iter().find(of_kind).and_then(|item| item["apiVersion"].as_str()) else { continue };
            let rest: Vec<_> = items.iter().filter(|item| !of_kind(item)).cloned().collect();
            let half: Vec<_> = items.iter().filter(of_kind).step_by(2).cloned().collect();
            let page =
                json!({"kind": format!("{kind}List"), "apiVersion": api, "metadata": {"continue": "x"}, "items": half});
            let ran = on(&format!("{}\n{page}", list(&rest)), args);
            let document = ran.json();
            let refused = ran.status == 1 && ran.out.is_empty();
            let gaps = document["gaps"].to_string();
            assert!(
                refused || gaps.contains("more of them follow") || document["complete"] == true,
                "{case} {kind}: {gaps}"
            );
            let better: Vec<_> =
                better(&whole, &document).into_iter().filter(|words| !words.ends_with("is gone")).collect();
            assert!(refused || better.is_empty() || gaps.contains("more of them follow"), "{case} {kind}: {better:?}");
        }
    }
}

/// The objects with one changed.
fn changed(at: usize, change: impl Fn(&mut Value)) -> String {
    let mut all = objects();
    change(&mut all[at]);
    list(&all).to_string()
}

#[test]
fn objects_of_a_cluster_say_what_and_where_they_are() {
    let remove = |at: usize, from: &'static str, key: &'static str| {
        changed(at, |object| drop(object.pointer_mut(from).and_then(Value::as_object_mut).unwrap().remove(key)))
    };
    is_an_error(&remove(2, "/metadata", "namespace"), "PodDisruptionBudget web has no metadata.namespace");
    is_an_error(&remove(1, "/metadata", "namespace"), "StatefulSet web has no metadata.namespace");
    is_an_error(&remove(4, "/metadata", "name"), "a Pod has no metadata.name");
    is_an_error(&remove(4, "", "metadata"), "a Pod has no metadata.name");
    is_an_error(&remove(4, "", "apiVersion"), "has no apiVersion");
    is_an_error(&remove(4, "", "kind"), "has no kind");
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "shop"},
        "spec": {"accessModes": ["readwriteoncepod"]}});
    is_an_error(&list(&[objects(), vec![claim]].concat()).to_string(), "\"readwriteoncepod\" is no access mode");
}

#[test]
fn what_the_api_gives_in_other_forms_is_no_object() {
    let all = objects();
    let metas = |kind: &str| -> Vec<Value> {
        let meta = |o: &Value| json!({"apiVersion": "meta.k8s.io/v1", "kind": kind, "metadata": o["metadata"]});
        all[3..].iter().map(meta).collect()
    };
    let rest = list(&all[..3]);
    for (other, words) in [
        (list(&metas("PartialObjectMetadata")), "is a PartialObjectMetadata, in which"),
        (
            json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "items": metas("")}),
            "is a PartialObjectMetadata, in which",
        ),
        (json!({"apiVersion": "meta.k8s.io/v1", "kind": "Table", "rows": []}), "is a Table, in which"),
        // kubectl get -w --output-watch-events
        (json!({"type": "ADDED", "object": all[3]}), "it has no kind"),
        (json!({"apiVersion": "v1", "kind": "PodList"}), "is a list that has no items"),
        (json!({"apiVersion": "v1", "kind": "List", "items": {"a": 1}}), "is a list that has no items"),
        (
            json!({"apiVersion": "kubectl-pdb/v2", "kind": "Snapshot"}),
            "written by another version of this program (v2)",
        ),
        (
            json!({"apiVersion": "v1", "kind": "Status", "message": "the server is busy", "code": 500}),
            "the server says \"the server is busy\"",
        ),
    ] {
        is_an_error(&format!("{rest}\n{other}"), words);
    }
}

#[test]
fn a_list_that_the_server_refused_is_a_gap() {
    let status = |code: u16| {
        let details = json!({"group": "policy", "kind": "poddisruptionbudgets"});
        json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "nobody may list these",
            "reason": "Forbidden", "details": details, "code": code})
    };
    let rest: Vec<Value> = objects().into_iter().filter(|o| o["kind"] != "PodDisruptionBudget").collect();
    for code in [403, 500] {
        let input = format!("{}\n{}", list(&rest), status(code));
        let ran = on(&input, &["drain-plan", "n1"]);
        assert_eq!((ran.status, &ran.json()["nodes"][0]["verdict"]), (3, &json!("unknown")), "{}", ran.err);
        let ran = on(&input, &["status", "-A"]);
        assert!(ran.status == 1 && ran.err.contains("nobody may list these"), "{}", ran.err);
    }
}

#[test]
fn go_writes_null_for_no_items() {
    let none = json!({"apiVersion": "v1", "kind": "PodList", "items": null});
    let ran = on(&format!("{}\n{none}", list(&objects()[..3])), &["status", "-A"]);
    let document = ran.json();
    assert_eq!(document["items"][0]["verdict"], "unused", "{document}");
}

#[test]
fn what_the_answer_stands_on_is_told_and_the_rest_is_counted() {
    let without_budgets: Vec<Value> = objects().into_iter().filter(|o| o["kind"] != "PodDisruptionBudget").collect();
    let ran = run_on(&list(&without_budgets).to_string(), &["drain-plan", "n1", "--from", "-"]);
    let (_, told) = ran.out.split_once("not everything could be read:\n").unwrap_or_else(|| panic!("{}", ran.out));
    let resources: Vec<&str> =
        told.lines().filter_map(|line| line.split_once(" (not in the input):")).map(|l| l.0.trim()).collect();
    assert!(resources.contains(&"poddisruptionbudgets.policy"), "{told}");
    assert!(!resources.contains(&"limitranges"), "one that only helps is not told by itself: {told}");
    assert!(told.contains(" further kinds are not in the input, and taken as empty"), "{told}");
    assert!(told.lines().count() < 10, "{told}");
}
