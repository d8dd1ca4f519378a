//! `DynamicResources`: device claims must be allocated on the node, or be possible to allocate there. Mirrors
//! `plugins/dynamicresources/dynamicresources.go`: what it says before nodes are looked at, of a node, and after all
//! nodes have refused.

pub mod binding;
pub mod claims;
pub mod extended;
mod filter;

pub use claims::{ClaimFault, claim_name, claim_of};
pub use filter::{Unmet, frees, has_claims, prepare, unmet};

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use crate::sched::testing::{merged, node, pod, says_in};
    use serde_json::{Value, json};

    const DRIVER: &str = "gpu.example.com";

    fn class(more: Value) -> Value {
        let selector = json!({"cel": {"expression": format!("device.driver == '{DRIVER}'")}});
        let base = json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
            "spec": {"selectors": [selector]}});
        merged(base, more)
    }

    /// The slice of node n, with these devices.
    fn slice(devices: Value, more: Value) -> Value {
        let base = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
            "spec": {"driver": DRIVER, "nodeName": "n", "devices": devices,
                "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1}}});
        merged(base, more)
    }

    fn claim(name: &str, more: Value) -> Value {
        let base = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "a"}, "spec": {"devices": {"requests": [exactly(json!({}))]}}});
        merged(base, more)
    }

    fn exactly(more: Value) -> Value {
        let base = json!({"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1});
        json!({"name": "req-1", "exactly": merged(base, more)})
    }

    /// Requests of the claim `c`.
    fn asks(requests: Value) -> Value {
        claim("c", json!({"spec": {"devices": {"requests": requests}}}))
    }

    /// A claim that has device d0 of node n's pool, allocated for a node.
    fn allocated(name: &str, node: &str, admin: bool) -> Value {
        let result = json!({"request": "req-1", "driver": DRIVER, "pool": "n", "device": "d0", "adminAccess": admin});
        let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
        let user = json!({"resource": "pods", "name": "user", "uid": "user"});
        claim(
            name,
            json!({"status": {"reservedFor": [user], "allocation": {"devices": {"results": [result]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]}}}}),
        )
    }

    /// What is said of a pod with a reference `r` to a claim; the part before preemption's.
    fn said(reference: Value, status: Value, objects: Vec<Value>, version: &str) -> String {
        let reference = merged(json!({"name": "r"}), reference);
        let p = pod("p", json!({"spec": {"resourceClaims": [reference]}, "status": {"resourceClaimStatuses": status}}));
        first(&[vec![node("n", json!({})), p], objects].concat(), version)
    }

    fn first(objects: &[Value], version: &str) -> String {
        let said = says_in(objects, version);
        let words = said.strip_prefix("0/1 nodes are available: ").unwrap_or(&said);
        words.split_once(". ").map_or(words, |(first, _)| first).to_owned()
    }

    const NONE: &str = "1 cannot allocate all claims";

    #[test]
    fn claims_are_met_as_upstream() {
        // After TestPlugin: the pod names claim c.
        let one = || slice(json!([{"name": "d0"}]), json!({}));
        let two = || slice(json!([{"name": "d0"}, {"name": "d1"}]), json!({}));
        let tainted = |effect: &str| {
            slice(json!([{"name": "d0", "taints": [{"key": "k", "value": "v", "effect": effect}]}]), json!({}))
        };
        let tolerating = |t: Value| asks(json!([exactly(json!({"tolerations": [t]}))]));
        let c = || claim("c", json!({}));
        let all = || asks(json!([exactly(json!({"allocationMode": "All", "count": null}))]));
        let other = |admin: bool| allocated("other", "n", admin);
        let first_of = |classes: [&str; 2]| {
            let sub = |(i, class): (usize, &&str)| json!({"name": format!("sub-{i}"), "deviceClassName": class, "allocationMode": "ExactCount", "count": i + 1});
            asks(json!([{"name": "req-1", "firstAvailable": classes.iter().enumerate().map(sub).collect::<Vec<_>>()}]))
        };
        for (title, objects, want) in [
            ("no resources", vec![c(), class(json!({}))], NONE),
            ("with resources", vec![c(), class(json!({})), one()], ""),
            ("exhausted", vec![c(), class(json!({})), one(), other(false)], NONE),
            ("another device is taken", vec![c(), class(json!({})), two(), other(false)], ""),
            ("more than there are", vec![asks(json!([exactly(json!({"count": 3}))])), class(json!({})), two()], NONE),
            (
                "two requests, one device",
                vec![asks(json!([exactly(json!({})), exactly(json!({}))])), class(json!({})), one()],
                NONE,
            ),
            ("all of them", vec![all(), class(json!({})), two()], ""),
            ("all of them, one is taken", vec![all(), class(json!({})), two(), other(false)], NONE),
            ("tainted", vec![c(), class(json!({})), tainted("NoSchedule")], NONE),
            ("tainted for those that run", vec![c(), class(json!({})), tainted("NoExecute")], NONE),
            ("tainted without effect", vec![c(), class(json!({})), tainted("None")], ""),
            (
                "tainted and tolerated",
                vec![tolerating(json!({"key": "k", "operator": "Exists"})), class(json!({})), tainted("NoSchedule")],
                "",
            ),
            (
                "another value is tolerated",
                vec![
                    tolerating(json!({"key": "k", "operator": "Equal", "value": "w"})),
                    class(json!({})),
                    tainted("NoSchedule"),
                ],
                NONE,
            ),
            (
                "admin access",
                vec![asks(json!([exactly(json!({"adminAccess": true}))])), class(json!({})), one(), other(false)],
                "",
            ),
            ("the other has admin access", vec![c(), class(json!({})), one(), other(true)], ""),
            ("missing class", vec![c()], "request req-1: device class gpu does not exist. not found"),
            ("wrong topology", vec![allocated("c", "m", false)], "1 resourceclaim not available on the node"),
            ("good topology", vec![allocated("c", "n", false)], ""),
            ("prioritized list", vec![first_of(["gpu", "gpu"]), class(json!({})), one()], ""),
            ("prioritized list, none", vec![first_of(["gpu", "gpu"]), class(json!({}))], NONE),
            (
                "prioritized list, unknown class",
                vec![first_of(["gpu", "no"]), class(json!({})), one()],
                "request req-1/sub-1: device class no does not exist. not found",
            ),
            (
                "another driver's device",
                vec![c(), class(json!({})), slice(json!([{"name": "d0"}]), json!({"spec": {"driver": "x"}}))],
                NONE,
            ),
            (
                "another node's device",
                vec![c(), class(json!({})), slice(json!([{"name": "d0"}]), json!({"spec": {"nodeName": "m"}}))],
                NONE,
            ),
            (
                "a pool of which a slice is not there",
                vec![
                    c(),
                    class(json!({})),
                    slice(json!([{"name": "d0"}]), json!({"spec": {"pool": {"resourceSliceCount": 2}}})),
                ],
                NONE,
            ),
            (
                "the slice is out of date",
                vec![
                    c(),
                    class(json!({})),
                    one(),
                    slice(json!([]), json!({"metadata": {"name": "new"}, "spec": {"pool": {"generation": 2}}})),
                ],
                NONE,
            ),
            ("being deleted", vec![claim("c", json!({"metadata": {"deletionTimestamp": "2026-01-01T12:00:00Z"}}))], ""),
        ] {
            let said = said(json!({"resourceClaimName": "c"}), json!([]), objects, "v1.36.3");
            let want = want.strip_suffix(". not found").unwrap_or(want);
            assert_eq!(said, want, "{title}");
        }
        // Device taints count since 1.36.
        let objects = vec![c(), class(json!({})), tainted("NoSchedule")];
        assert_eq!(said(json!({"resourceClaimName": "c"}), json!([]), objects, "v1.35.2"), "");
    }

    #[test]
    fn claims_of_templates_belong_to_their_pod() {
        // After TestPlugin, "claim-template", "missing-claim" and "wrong-claim".
        let owned = |uid: &str| {
            let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": true});
            merged(allocated("p-r", "n", false), json!({"metadata": {"ownerReferences": [owner]}}))
        };
        let made = || json!([{"name": "r", "resourceClaimName": "p-r"}]);
        for (title, status, objects, want) in [
            ("its own", made(), vec![owned("p")], ""),
            // The scheduler does not queue the pod, and writes nothing.
            ("not made yet", json!([]), vec![owned("p")], ""),
            ("another pod's", made(), vec![owned("other")], ""),
            ("none is needed", json!([{"name": "r"}]), vec![], ""),
        ] {
            assert_eq!(said(json!({"resourceClaimTemplateName": "t"}), status, objects, "v1.36.3"), want, "{title}");
        }
    }

    #[test]
    fn extended_resources_are_met_as_upstream() {
        // After TestPlugin, "extended-resource-name-*": the pod asks one example.com/gpu.
        let offers = || class(json!({"spec": {"extendedResourceName": "example.com/gpu"}}));
        let one = || slice(json!([{"name": "d0"}]), json!({}));
        let has = |n: &str| node("n", json!({"status": {"allocatable": {"example.com/gpu": n}}}));
        const SHORT: &str = "1 Insufficient example.com/gpu";
        for (title, node, objects, resource, version, want) in [
            ("the node has it itself", has("1"), vec![offers()], "example.com/gpu", "v1.36.3", ""),
            ("zero of its own, a device", has("0"), vec![offers(), one()], "example.com/gpu", "v1.36.3", ""),
            ("zero of its own, no class", has("0"), vec![class(json!({})), one()], "example.com/gpu", "v1.36.3", SHORT),
            ("no device", node("n", json!({})), vec![offers()], "example.com/gpu", "v1.36.3", NONE),
            ("a device", node("n", json!({})), vec![offers(), one()], "example.com/gpu", "v1.36.3", ""),
            (
                "by the class's name",
                node("n", json!({})),
                vec![offers(), one()],
                "deviceclass.resource.kubernetes.io/gpu",
                "v1.36.3",
                "",
            ),
            ("before the feature", node("n", json!({})), vec![offers(), one()], "example.com/gpu", "v1.35.2", SHORT),
        ] {
            let amounts = json!({resource: "1"});
            let container = json!({"name": "c", "resources": {"requests": amounts, "limits": amounts}});
            let p = pod("p", json!({"spec": {"containers": [container]}}));
            assert_eq!(first(&[vec![node, p], objects].concat(), version), want, "{title}");
        }
    }
}
