//! What is not read is not met: each field of a Pod, a ResourceClaim, a ResourceSlice, a DeviceClass and a PersistentVolume
//! that a filter of kube-scheduler looks at changes what is said. A world stands for each field, in which the field decides; the
//! world is judged with the field and without it, and must not be judged the same. The fields are those that `Filter` and
//! `PreFilter` of the default plugins of 1.36 read.

#![expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]

use super::State;
use super::message::message;
use super::testing::{cluster, find, merged, node, pod};
use serde_json::{Value, json};

/// What the scheduler makes of pod `p`.
fn outcome(objects: &[Value]) -> String {
    let snapshot = cluster(objects);
    let state = State::new(&snapshot);
    let p = find(&snapshot, "p");
    if let [hold, ..] = &*super::pre_enqueue::holds(&p, &snapshot) {
        return format!("held: {hold:?}");
    }
    let d = state.diagnose(&p);
    let preemption = state.preempt(&p, &d);
    let victims = preemption.chosen.iter().flat_map(|c| &c.victims).map(|v| v.pod.meta.path());
    format!("{:?} {} {:?}", d.fits, message(&d, &preemption), victims.collect::<Vec<_>>())
}

/// A field: of which object (`kind/name`), and its JSON pointer.
type Field = (&'static str, &'static str);

/// The objects without the field; with another value of it, where one is given.
fn without(objects: &[Value], (of, pointer): Field, other: &Value) -> Vec<Value> {
    let (kind, name) = of.split_once('/').expect("kind/name");
    let mut objects = objects.to_vec();
    let object = objects.iter_mut().find(|o| o["kind"] == kind && o["metadata"]["name"] == name).expect("the object");
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    let parent = object.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}"));
    match (parent, other) {
        (Value::Object(map), Value::Null) => {
            map.remove(field).unwrap_or_else(|| panic!("{pointer}"));
        }
        (Value::Object(map), other) => {
            map.insert(field.to_owned(), other.clone());
        }
        (Value::Array(list), Value::Null) => {
            list.remove(field.parse().expect("an index"));
        }
        (parent, _) => panic!("{pointer}: {parent}"),
    }
    objects
}

fn check(world: &str, objects: &[Value], fields: &[(Field, Value)]) {
    let whole = outcome(objects);
    let same = |(field, other): &&(Field, Value)| whole == outcome(&without(objects, *field, other));
    let unread: Vec<Field> = fields.iter().filter(same).map(|(field, _)| *field).collect();
    assert!(unread.is_empty(), "{world}: {whole}: no difference is made by {unread:?}");
}

/// Without the field.
fn gone(of: &'static str, pointer: &'static str) -> (Field, Value) {
    ((of, pointer), Value::Null)
}

/// With another value of the field.
fn other(of: &'static str, pointer: &'static str, value: Value) -> (Field, Value) {
    ((of, pointer), value)
}

const P: &str = "Pod/p";
const O: &str = "Pod/o";

fn spec(spec: Value) -> Value {
    json!({ "spec": spec })
}

#[test]
fn the_pod_s_rules_about_nodes() {
    let n = || node("n", json!({"metadata": {"labels": {"disk": "ssd", "cores": "8"}}}));
    let p = |more: Value| pod("p", spec(more));
    let required = |terms: Value| {
        p(
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [terms]}}}}),
        )
    };
    check("a selector", &[n(), p(json!({"nodeSelector": {"disk": "hdd"}}))], &[gone(P, "/spec/nodeSelector")]);
    check(
        "node affinity",
        &[n(), required(json!({"matchExpressions": [{"key": "disk", "operator": "In", "values": ["hdd"]}]}))],
        &[
            gone(P, "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution"),
            other(
                P,
                "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/operator",
                json!("NotIn"),
            ),
            other(
                P,
                "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions/0/values",
                json!(["ssd"]),
            ),
        ],
    );
    check(
        "fields of nodes",
        &[n(), required(json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m"]}]}))],
        &[other(
            P,
            "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values",
            json!(["n"]),
        )],
    );
    let tainted = node("n", spec(json!({"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]})));
    let t = json!({"tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]});
    check(
        "tolerations",
        &[tainted, p(t)],
        &[
            gone(P, "/spec/tolerations"),
            other(P, "/spec/tolerations/0/key", json!("x")),
            other(P, "/spec/tolerations/0/value", json!("x")),
            other(P, "/spec/tolerations/0/effect", json!("NoExecute")),
            other(P, "/spec/tolerations/0/operator", json!("Lt")),
        ],
    );
    check("gates", &[n(), p(json!({"schedulingGates": [{"name": "g"}]}))], &[gone(P, "/spec/schedulingGates")]);
    check("a group", &[n(), p(json!({"schedulingGroup": {"podGroupName": "g"}}))], &[gone(P, "/spec/schedulingGroup")]);
}

#[test]
fn what_the_pod_asks_for() {
    let n = || node("n", json!({}));
    let p = |more: Value| pod("p", spec(more));
    let cpu = |q: &str| json!({"requests": {"cpu": q}});
    check(
        "containers",
        &[n(), p(json!({"containers": [{"name": "c", "resources": cpu("5")}]}))],
        &[gone(P, "/spec/containers/0/resources/requests")],
    );
    check(
        "init containers and sidecars",
        &[
            n(),
            p(json!({"containers": [{"name": "c", "resources": cpu("2")}],
                "initContainers": [{"name": "i", "restartPolicy": "Always", "resources": cpu("3")}]})),
        ],
        &[
            gone(P, "/spec/initContainers/0/resources/requests"),
            gone(P, "/spec/initContainers/0/restartPolicy"),
            gone(P, "/spec/initContainers"),
        ],
    );
    check("overhead", &[n(), p(json!({"overhead": {"cpu": "4"}}))], &[gone(P, "/spec/overhead")]);
    check("the pod as a whole", &[n(), p(json!({"resources": cpu("5")}))], &[gone(P, "/spec/resources")]);
    let port = |ip: &str| json!({"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80, "hostIP": ip, "protocol": "UDP"}]}]});
    let o = pod("o", merged(spec(port("10.0.0.1")), spec(json!({"nodeName": "n"}))));
    check(
        "ports",
        &[n(), p(port("10.0.0.1")), o],
        &[
            other(P, "/spec/containers/0/ports/0/hostPort", json!(81)),
            other(P, "/spec/containers/0/ports/0/protocol", json!("TCP")),
            other(P, "/spec/containers/0/ports/0/hostIP", json!("10.0.0.2")),
        ],
    );
    let low =
        pod("o", spec(json!({"nodeName": "n", "priority": 1, "containers": [{"name": "c", "resources": cpu("4")}]})));
    check(
        "preemption",
        &[n(), p(json!({"priority": 10, "preemptionPolicy": "PreemptLowerPriority"})), low],
        &[
            gone(P, "/spec/priority"),
            other(P, "/spec/preemptionPolicy", json!("Never")),
            other(O, "/spec/priority", json!(10)),
        ],
    );
}

#[test]
fn the_pod_s_rules_about_pods() {
    let n = || node("n", json!({"metadata": {"labels": {"zone": "a"}}}));
    let m = || node("m", json!({"metadata": {"labels": {"zone": "b"}}}));
    let o = || pod("o", json!({"metadata": {"labels": {"app": "x", "rev": "1"}}, "spec": {"nodeName": "n"}}));
    let term =
        |more: Value| merged(json!({"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"}), more);
    let rule = |kind: &str, term: Value| json!({"metadata": {"labels": {"rev": "1"}}, "spec": {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}});
    check(
        "beside",
        &[n(), m(), o(), pod("p", rule("podAffinity", term(json!({}))))],
        &[
            gone(P, "/spec/affinity/podAffinity"),
            other(
                P,
                "/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/topologyKey",
                json!("kubernetes.io/none"),
            ),
            other(
                P,
                "/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/labelSelector/matchLabels/app",
                json!("y"),
            ),
            other(
                P,
                "/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/namespaces",
                json!(["b"]),
            ),
            other(O, "/metadata/labels/app", json!("y")),
            other(O, "/metadata/namespace", json!("b")),
            other(O, "/spec/nodeName", json!("m")),
        ],
    );
    check(
        "namespaces by their labels",
        &[
            n(),
            m(),
            o(),
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "labels": {"team": "t"}}}),
            pod("p", rule("podAffinity", term(json!({"namespaceSelector": {"matchLabels": {"team": "t"}}})))),
        ],
        &[
            other(
                P,
                "/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/namespaceSelector/matchLabels/team",
                json!("u"),
            ),
            gone("Namespace/a", "/metadata/labels/team"),
        ],
    );
    check(
        "apart",
        &[n(), o(), pod("p", rule("podAntiAffinity", term(json!({}))))],
        &[gone(P, "/spec/affinity/podAntiAffinity"), other(O, "/metadata/labels/app", json!("y"))],
    );
    let repels = pod("o", merged(rule("podAntiAffinity", term(json!({}))), spec(json!({"nodeName": "n"}))));
    check(
        "pods that do not bear it",
        &[n(), repels, pod("p", json!({"metadata": {"labels": {"app": "x"}}}))],
        &[gone(P, "/metadata/labels/app"), gone(O, "/spec/affinity")],
    );
    let spread = |more: Value| {
        let c = json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "x"}}});
        json!({"metadata": {"labels": {"app": "x", "rev": "1"}}, "spec": {"topologySpreadConstraints": [merged(c, more)]}})
    };
    check(
        "spread",
        &[n(), m(), o(), pod("p", spread(json!({})))],
        &[
            gone(P, "/spec/topologySpreadConstraints"),
            other(P, "/spec/topologySpreadConstraints/0/maxSkew", json!(2)),
            other(P, "/spec/topologySpreadConstraints/0/topologyKey", json!("kubernetes.io/none")),
            other(P, "/spec/topologySpreadConstraints/0/whenUnsatisfiable", json!("ScheduleAnyway")),
            other(P, "/spec/topologySpreadConstraints/0/labelSelector/matchLabels/app", json!("y")),
        ],
    );
    let second = || pod("o2", json!({"metadata": {"labels": {"app": "x"}}, "spec": {"nodeName": "m"}}));
    check(
        "spread over at least so many domains",
        &[n(), m(), o(), second(), pod("p", spread(json!({"minDomains": 3})))],
        &[gone(P, "/spec/topologySpreadConstraints/0/minDomains")],
    );
    let tainted = || merged(m(), spec(json!({"taints": [{"key": "k", "effect": "NoSchedule"}]})));
    check(
        "spread and taints",
        &[n(), tainted(), o(), pod("p", spread(json!({"nodeTaintsPolicy": "Honor"})))],
        &[gone(P, "/spec/topologySpreadConstraints/0/nodeTaintsPolicy")],
    );
    let elsewhere =
        || merged(spread(json!({"nodeAffinityPolicy": "Ignore"})), spec(json!({"nodeSelector": {"zone": "a"}})));
    check(
        "spread and selectors",
        &[n(), m(), o(), pod("p", elsewhere())],
        &[gone(P, "/spec/topologySpreadConstraints/0/nodeAffinityPolicy")],
    );
    check(
        "spread within a revision",
        &[
            n(),
            m(),
            merged(o(), json!({"metadata": {"labels": {"rev": "0"}}})),
            pod("p", spread(json!({"matchLabelKeys": ["rev"]}))),
        ],
        &[gone(P, "/spec/topologySpreadConstraints/0/matchLabelKeys")],
    );
}

#[test]
fn volumes_and_claims() {
    let n = || node("n", json!({"metadata": {"labels": {"topology.kubernetes.io/zone": "a"}}}));
    let p = || pod("p", spec(json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]})));
    let claim = |more: Value| {
        merged(
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "a"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}, "storageClassName": "wait"},
                "status": {"phase": "Pending"}}),
            more,
        )
    };
    let class = || {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "wait"},
            "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"})
    };
    let volume = |more: Value| {
        merged(
            json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv", "labels": {"l": "1"}},
                "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}, "storageClassName": "wait"},
                "status": {"phase": "Available"}}),
            more,
        )
    };
    const V: &str = "PersistentVolume/pv";
    const C: &str = "PersistentVolumeClaim/c";
    check(
        "a free volume",
        &[n(), class(), volume(json!({})), claim(spec(json!({"selector": {"matchLabels": {"l": "1"}}}))), p()],
        &[
            other(V, "/spec/accessModes", json!(["ReadOnlyMany"])),
            other(V, "/spec/capacity/storage", json!("1Gi")),
            other(V, "/spec/storageClassName", json!("x")),
            other(V, "/status/phase", json!("Released")),
            other(V, "/spec/volumeMode", json!("Block")),
            other(V, "/spec/volumeAttributesClassName", json!("x")),
            other(V, "/spec/claimRef", json!({"namespace": "a", "name": "d"})),
            other(V, "/metadata/deletionTimestamp", json!("2026-01-01T11:00:00Z")),
            gone(V, "/metadata/labels"),
            other(
                V,
                "/spec/nodeAffinity",
                json!({"required": {"nodeSelectorTerms": [{"matchExpressions":
                    [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}]}]}}),
            ),
            other(C, "/spec/accessModes", json!(["ReadWriteMany"])),
            other(C, "/spec/resources/requests/storage", json!("3Gi")),
            other(C, "/spec/storageClassName", json!("x")),
            other(C, "/spec/volumeMode", json!("Block")),
            other(C, "/spec/volumeAttributesClassName", json!("x")),
            other(C, "/spec/selector/matchLabels/l", json!("2")),
            other(C, "/spec/volumeName", json!("other")),
            other(C, "/metadata/deletionTimestamp", json!("2026-01-01T11:00:00Z")),
            other(C, "/metadata/annotations", json!({"volume.kubernetes.io/selected-node": "m"})),
            other(C, "/status/phase", json!("Lost")),
            other("StorageClass/wait", "/volumeBindingMode", json!("Immediate")),
        ],
    );
    let bound = claim(json!({"spec": {"volumeName": "pv"}, "status": {"phase": "Bound"}}));
    check(
        "a volume of a zone",
        &[
            n(),
            class(),
            volume(json!({"metadata": {"labels": {"topology.kubernetes.io/zone": "b"}}})),
            bound.clone(),
            p(),
        ],
        &[gone(V, "/metadata/labels"), other(C, "/spec/volumeName", json!("none"))],
    );
    let o = pod("o", merged(p(), json!({"metadata": {"name": "o", "uid": "o"}, "spec": {"nodeName": "n"}})));
    check(
        "one pod at a time",
        &[n(), class(), volume(json!({})), merged(bound, spec(json!({"accessModes": ["ReadWriteOncePod"]}))), p(), o],
        &[other(C, "/spec/accessModes", json!(["ReadWriteOnce"])), gone(O, "/spec/volumes")],
    );
}

#[test]
fn devices() {
    let n = || node("n", json!({"metadata": {"labels": {"rack": "1"}}}));
    let resource = |kind: &str, name: &str, more: Value| {
        let base = json!({"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}});
        merged(base, more)
    };
    let class = || {
        let selectors = json!([{"cel": {"expression": "device.driver == 'd'"}}]);
        resource("DeviceClass", "k", spec(json!({"selectors": selectors})))
    };
    let slice = |more: Value| {
        let base = json!({"driver": "d", "nodeName": "n", "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "x", "attributes": {"model": {"string": "a"}}, "capacity": {"mem": {"value": "8Gi"}}}]});
        resource("ResourceSlice", "s", spec(merged(base, more)))
    };
    let claim = |request: Value, more: Value| {
        let exactly = merged(json!({"deviceClassName": "k"}), request);
        let spec = merged(json!({"devices": {"requests": [{"name": "r", "exactly": exactly}]}}), more);
        resource("ResourceClaim", "c", json!({"metadata": {"namespace": "a"}, "spec": spec}))
    };
    let p = || pod("p", spec(json!({"resourceClaims": [{"name": "g", "resourceClaimName": "c"}]})));
    const S: &str = "ResourceSlice/s";
    const C: &str = "ResourceClaim/c";
    let model = json!({"selectors": [{"cel": {"expression": "device.attributes['d'].model == 'a' && device.capacity['d'].mem.compareTo(quantity('4Gi')) > 0"}}]});
    let taint = json!([{"key": "t", "value": "v", "effect": "NoSchedule"}]);
    check(
        "one device",
        &[n(), class(), slice(json!({})), claim(model, json!({})), p()],
        &[
            other(S, "/spec/driver", json!("e")),
            other(S, "/spec/nodeName", json!("m")),
            other(S, "/spec/pool/resourceSliceCount", json!(2)),
            gone(S, "/spec/devices"),
            other(S, "/spec/devices/0/attributes/model/string", json!("b")),
            other(S, "/spec/devices/0/capacity/mem/value", json!("1Gi")),
            other(S, "/spec/devices/0/taints", taint.clone()),
            other(C, "/spec/devices/requests/0/exactly/deviceClassName", json!("none")),
            other(C, "/spec/devices/requests/0/exactly/count", json!(2)),
            other(C, "/spec/devices/requests/0/exactly/selectors/0/cel/expression", json!("false")),
            other("DeviceClass/k", "/spec/selectors/0/cel/expression", json!("false")),
            other(C, "/metadata/deletionTimestamp", json!("2026-01-01T11:00:00Z")),
        ],
    );
    let held = |node: &str| {
        let allocation = json!({"devices": {"results": [{"request": "r", "driver": "d", "pool": "n", "device": "x"}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}});
        json!({"status": {"allocation": allocation}})
    };
    let of_another =
        || merged(resource("ResourceClaim", "h", held("n")), json!({"metadata": {"namespace": "a"}, "spec": {}}));
    check(
        "a device that another claim has",
        &[n(), class(), slice(json!({})), claim(json!({}), json!({})), of_another(), p()],
        &[
            gone(P, "/spec/resourceClaims"),
            gone("ResourceClaim/h", "/status/allocation"),
            other("ResourceClaim/h", "/status/allocation/devices/results/0/device", json!("y")),
            other("ResourceClaim/h", "/status/allocation/devices/results/0/pool", json!("y")),
            other("ResourceClaim/h", "/status/allocation/devices/results/0/driver", json!("y")),
            other(C, "/spec/devices/requests/0/exactly/adminAccess", json!(true)),
        ],
    );
    check(
        "a claim that has its device",
        &[n(), class(), slice(json!({})), merged(claim(json!({}), json!({})), held("m")), p()],
        &[gone(C, "/status/allocation"), gone(C, "/status/allocation/nodeSelector")],
    );
    check(
        "a taint of a device",
        &[
            n(),
            class(),
            slice(json!({"devices": [{"name": "x", "taints": taint}]})),
            claim(
                json!({"tolerations": [{"key": "t", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]}),
                json!({}),
            ),
            p(),
        ],
        &[
            gone(C, "/spec/devices/requests/0/exactly/tolerations"),
            other(C, "/spec/devices/requests/0/exactly/tolerations/0/value", json!("w")),
            other(C, "/spec/devices/requests/0/exactly/tolerations/0/key", json!("w")),
        ],
    );
    let two = |a: &str, b: &str| {
        let device = |name: &str, v: &str| json!({"name": name, "attributes": {"d/numa": {"string": v}}});
        json!({"devices": [device("x", a), device("y", b)]})
    };
    let both = |constraint: Value| claim(json!({"count": 2}), json!({"devices": {"constraints": [constraint]}}));
    check(
        "devices that must be alike",
        &[n(), class(), slice(two("0", "1")), both(json!({"matchAttribute": "d/numa"})), p()],
        &[gone(C, "/spec/devices/constraints"), other(S, "/spec/devices/1/attributes/d~1numa/string", json!("0"))],
    );
    check(
        "all devices",
        &[n(), class(), slice(two("0", "1")), of_another(), claim(json!({"allocationMode": "All"}), json!({})), p()],
        &[gone(C, "/spec/devices/requests/0/exactly/allocationMode")],
    );
    let first = json!({"devices": {"requests": [{"name": "r", "exactly": null, "firstAvailable":
        [{"name": "i", "deviceClassName": "none"}, {"name": "j", "deviceClassName": "k"}]}]}});
    let list = resource("ResourceClaim", "c", json!({"metadata": {"namespace": "a"}, "spec": first}));
    check(
        "the first that is to be had",
        &[
            n(),
            class(),
            resource("DeviceClass", "none", spec(json!({"selectors": [{"cel": {"expression": "false"}}]}))),
            slice(json!({})),
            list,
            p(),
        ],
        &[gone(C, "/spec/devices/requests/0/firstAvailable/1")],
    );
    for (world, place, elsewhere) in [
        (
            "by a selector",
            json!({"nodeName": null, "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["1"]}]}]}}),
            other(S, "/spec/nodeSelector/nodeSelectorTerms/0/matchExpressions/0/values", json!(["2"])),
        ),
        ("everywhere", json!({"nodeName": null, "allNodes": true}), other(S, "/spec/allNodes", json!(false))),
        (
            "each device by itself",
            json!({"nodeName": null, "perDeviceNodeSelection": true, "devices": [{"name": "x", "nodeName": "n"}]}),
            other(S, "/spec/devices/0/nodeName", json!("m")),
        ),
    ] {
        check(world, &[n(), class(), slice(place), claim(json!({}), json!({})), p()], &[elsewhere]);
    }
    // Counters stand in a slice of their own: API validation of 1.35 wants either them or devices.
    let pool = |more: Value| merged(json!({"pool": {"name": "n", "generation": 1, "resourceSliceCount": 2}}), more);
    let counted = slice(pool(json!({
        "devices": [{"name": "x", "consumesCounters": [{"counterSet": "c", "counters": {"mem": {"value": "4"}}}]}]})));
    let counters = merged(
        slice(pool(json!({"devices": null,
        "sharedCounters": [{"name": "c", "counters": {"mem": {"value": "8"}}}]}))),
        json!({"metadata": {"name": "t"}}),
    );
    check(
        "counters",
        &[n(), class(), counted, counters, claim(json!({}), json!({})), p()],
        &[
            other("ResourceSlice/t", "/spec/sharedCounters/0/counters/mem/value", json!("2")),
            other(S, "/spec/devices/0/consumesCounters/0/counters/mem/value", json!("9")),
        ],
    );
    let shared = || {
        slice(
            json!({"devices": [{"name": "x", "allowMultipleAllocations": true, "capacity": {"mem": {"value": "8Gi"}}}]}),
        )
    };
    let part = claim(json!({"capacity": {"requests": {"mem": "9Gi"}}}), json!({}));
    check(
        "a part of a device",
        &[n(), class(), shared(), part, p()],
        &[
            gone(C, "/spec/devices/requests/0/exactly/capacity"),
            other(S, "/spec/devices/0/capacity/mem/value", json!("10Gi")),
        ],
    );
    let asks = pod(
        "p",
        spec(
            json!({"containers": [{"name": "c", "resources": {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}}]}),
        ),
    );
    check(
        "devices as an extended resource",
        &[n(), merged(class(), spec(json!({"extendedResourceName": "example.com/gpu"}))), slice(json!({})), asks],
        &[gone("DeviceClass/k", "/spec/extendedResourceName")],
    );
}
