//! Device claims (dynamic resource allocation).

use serde_json::{Value, json};

use crate::random::Choice;

const DRIVER: &str = "gpu.example.com";

/// The claims of a cluster that pods may name.
pub struct Devices(Vec<Claim>);

struct Claim {
    name: String,
    /// Allocated and used by nobody: the scheduler takes the allocation back from the first pod that it does not suit,
    /// so that no two pods may name it.
    idle: bool,
}

impl Devices {
    /// Adds a device class, the devices of some nodes, and claims in namespace `shop`.
    pub fn make(choice: &mut Choice, nodes: i64, items: &mut Vec<Value>) -> Self {
        if !choice.chance(40) {
            return Self(Vec::new());
        }
        items.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": DRIVER},
            "spec": {"selectors": [{"cel": {"expression": format!("device.driver == '{DRIVER}'")}}]}}));
        for n in 0..nodes {
            if choice.chance(50) {
                let devices: Vec<Value> = (0..choice.number(1, 2)).map(|d| json!({"name": format!("d{d}")})).collect();
                items.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": format!("n{n}-slice")},
                    "spec": {"driver": DRIVER, "nodeName": format!("n{n}"), "devices": devices,
                        "pool": {"name": format!("n{n}"), "generation": 1, "resourceSliceCount": 1}}}));
            }
        }
        let mut claims = Vec::new();
        for i in 0..choice.number(1, 4) {
            let name = format!("rc-{i}");
            let mut claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": {"namespace": "shop", "name": name, "uid": choice.uid()},
                "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": DRIVER, "allocationMode": "ExactCount",
                    "count": choice.weighted(&[(3, 1), (2, 2), (1, 3)])}}]}}});
            let mut idle = false;
            if choice.chance(40) {
                claim["spec"]["devices"]["requests"][0]["exactly"]["count"] = json!(1);
                let node = format!("n{}", choice.number(0, nodes));
                claim["status"] = json!({"allocation": {
                    "devices": {"results": [{"request": "r", "driver": DRIVER, "pool": node, "device": "d0"}]},
                    "nodeSelector": {"nodeSelectorTerms": [{"matchFields":
                        [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}}});
                idle = choice.chance(30);
                if !idle {
                    claim["status"]["reservedFor"] = json!([{"resource": "pods", "name": "user", "uid": choice.uid()}]);
                }
            }
            items.push(claim);
            claims.push(Claim { name, idle });
        }
        Self(claims)
    }

    /// Some Pending pods ask for a claim.
    pub fn attach(&mut self, choice: &mut Choice, pod: &mut Value) {
        if self.0.is_empty() || pod["metadata"]["namespace"] != "shop" || !choice.chance(12) {
            return;
        }
        let at = choice.number(0, self.0.len() as i64 - 1) as usize;
        let Some(Claim { name, idle }) = self.0.get(at) else { return };
        pod["spec"]["resourceClaims"] = json!([{"name": "g", "resourceClaimName": name}]);
        pod["spec"]["containers"][0]["resources"]["claims"] = json!([{"name": "g"}]);
        if *idle {
            self.0.remove(at);
        }
    }
}
