//! Random worlds for the allocator of devices: pools, partitions, shares, taints, classes, and claims that look for them.

use serde_json::{Map, Value, json};

use crate::objects::{labels, node};
use crate::random::Choice;

const DRIVERS: [&str; 2] = ["gpu.example.com", "net.example.com"];
const RACK: &str = "common.example.com/rack";

/// Selectors of all sorts: that hold, that do not, and that fail where a device lacks what they look at.
const EXPRESSIONS: &[(u32, &str)] = &[
    (6, "device.driver == 'gpu.example.com'"),
    (2, "device.driver == 'net.example.com'"),
    (4, "device.attributes['gpu.example.com'].?model.orValue('') == 'H100'"),
    (4, "has(device.attributes['gpu.example.com'].numa) && device.attributes['gpu.example.com'].numa == 0"),
    (1, "device.attributes['gpu.example.com'].model == 'A100'"),
    (1, "device.attributes['gpu.example.com'].numa > 0"),
    (1, "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0"),
    (1, "device.attributes['gpu.example.com'].ver.isGreaterThan(semver('1.0.0'))"),
    (2, "device.allowMultipleAllocations"),
    (2, "'memory' in device.capacity['gpu.example.com']"),
    (2, "device.attributes[device.driver].?ok.orValue(true)"),
    (1, "device.attributes['gpu.example.com'].?model.orValue('').startsWith('A')"),
    (1, "['A100', 'H100'].exists(m, device.attributes['gpu.example.com'].?model.orValue('') == m)"),
    (1, "cel.bind(c, device.capacity[device.driver], 'memory' in c && c.memory.isLessThan(quantity('80Gi')))"),
    (1, "false"),
];

/// The cluster of a seed.
pub fn cluster(seed: u64) -> Vec<Value> {
    let mut choice = Choice::new(seed);
    let nodes = choice.number(2, 5);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "shop", "labels": labels(&[("resource.kubernetes.io/admin-access", "true")])}});
    let mut items = vec![namespace];
    items.extend((0..nodes).map(|i| node(&format!("n{i}"), ["za", "zb"][(i % 2) as usize], "8", "32Gi", 110)));
    let mut world = World { choice, nodes, items, slices: 0, devices: Vec::new() };
    world.pools();
    world.classes();
    world.allocated();
    for i in 0..world.choice.number(8, 16) {
        world.pending(i);
    }
    world.items
}

/// Where a device is, as allocations name it.
struct Place {
    driver: &'static str,
    pool: String,
    device: Value,
}

struct World {
    choice: Choice,
    nodes: i64,
    items: Vec<Value>,
    slices: usize,
    devices: Vec<Place>,
}

/// A pool whose slices are being made.
struct Pool {
    driver: &'static str,
    name: String,
    generation: i64,
    count: i64,
    /// Counter sets and their counters, where the pool has partitions.
    sets: Vec<(&'static str, Vec<&'static str>)>,
    /// Each device says itself where it is.
    per_device: bool,
}

impl World {
    fn pools(&mut self) {
        for n in 0..self.nodes {
            for (driver, percent) in DRIVERS.into_iter().zip([75, 40]) {
                if self.choice.chance(percent) {
                    self.local(driver, n);
                }
            }
        }
        if self.choice.chance(45) {
            self.fabric();
        }
    }

    /// The devices of one node.
    fn local(&mut self, driver: &'static str, n: i64) {
        let slices = self.choice.weighted(&[(3, 1), (1, 2)]);
        let mut sets = Vec::new();
        if self.choice.chance(25) {
            for set in ["cs0", "cs1"].into_iter().take(self.choice.number(1, 2) as usize) {
                sets.push((set, ["mem", "cpu"].into_iter().take(self.choice.number(1, 2) as usize).collect()));
            }
        }
        let missing = i64::from(self.choice.chance(4));
        let pool = Pool {
            driver,
            name: if self.choice.chance(70) { format!("n{n}") } else { format!("n{n}-{driver}") },
            generation: self.choice.weighted(&[(2, 1), (1, 2)]),
            count: slices + i64::from(!sets.is_empty()) + missing,
            sets,
            per_device: false,
        };
        let place = json!({"nodeName": format!("n{n}")});
        for slice in 0..slices {
            let devices: Vec<Value> =
                (0..self.choice.number(1, 4)).map(|d| self.device(&pool, &format!("d{slice}{d}"))).collect();
            self.slice(&pool, &place, &devices);
        }
        self.counters(&pool, &place);
        if self.choice.chance(6) {
            // One of another time: it makes the pool incomplete, or is passed over.
            let generation = pool.generation + self.choice.weighted(&[(1, -1), (1, 1)]);
            let count = self.choice.weighted(&[(1, 1), (1, pool.count)]);
            let other = Pool { generation, count, sets: Vec::new(), ..pool };
            let device = self.device(&other, "dx");
            self.slice(&other, &place, &[device]);
        }
    }

    /// Devices that several nodes reach.
    fn fabric(&mut self) {
        let driver = self.choice.one(&DRIVERS);
        let driver = DRIVERS.into_iter().find(|d| *d == driver).unwrap_or(DRIVERS[0]);
        let slices = self.choice.number(1, 2);
        let sets = if self.choice.chance(30) { vec![("cs0", vec!["mem"])] } else { Vec::new() };
        let count = slices + i64::from(!sets.is_empty()) + i64::from(self.choice.chance(5));
        let per_device = self.choice.chance(40);
        let pool = Pool { driver, name: "fabric".to_owned(), generation: 1, count, sets, per_device };
        for slice in 0..slices {
            let devices: Vec<Value> =
                (0..self.choice.number(1, 4)).map(|d| self.device(&pool, &format!("f{slice}{d}"))).collect();
            let place = if per_device { json!({"perDeviceNodeSelection": true}) } else { self.somewhere() };
            self.slice(&pool, &place, &devices);
        }
        let place = self.somewhere();
        self.counters(&pool, &place);
    }

    fn somewhere(&mut self) -> Value {
        match self.choice.chance(50) {
            true => json!({"allNodes": true}),
            false => json!({"nodeSelector": self.zone()}),
        }
    }

    fn zone(&mut self) -> Value {
        json!({"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [self.choice.one(&["za", "zb"])]}]}]})
    }

    fn slice(&mut self, pool: &Pool, place: &Value, devices: &[Value]) {
        let one = |device: &Value| Place { driver: pool.driver, pool: pool.name.clone(), device: device.clone() };
        self.devices.extend(devices.iter().map(one));
        self.add_slice(pool, place, "devices", json!(devices));
    }

    /// The slice that says how much the partitions of a pool share.
    fn counters(&mut self, pool: &Pool, place: &Value) {
        let mut sets = Vec::new();
        for (name, counters) in &pool.sets {
            let mut values = Map::new();
            for counter in counters {
                values.insert((*counter).to_owned(), json!({"value": self.choice.one(&["4", "8", "10"])}));
            }
            sets.push(json!({"name": name, "counters": values}));
        }
        if !sets.is_empty() {
            self.add_slice(pool, place, "sharedCounters", json!(sets));
        }
    }

    fn add_slice(&mut self, pool: &Pool, place: &Value, part: &str, what: Value) {
        let mut spec = place.clone();
        spec["driver"] = json!(pool.driver);
        spec["pool"] =
            json!({"name": pool.name, "generation": pool.generation.max(0), "resourceSliceCount": pool.count});
        spec[part] = what;
        // The order of the names is none of the order of the slices.
        let name = format!("s{:02}-{}", self.choice.number(0, 99), self.slices);
        self.slices += 1;
        self.items.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": name}, "spec": spec}));
    }

    fn device(&mut self, pool: &Pool, name: &str) -> Value {
        let choice = &mut self.choice;
        let mut attributes = Map::new();
        for (percent, name, value) in [
            (80, "model", json!({"string": choice.one(&["A100", "H100"])})),
            (75, "numa", json!({"int": choice.number(0, 1)})),
            (40, "ok", json!({"bool": choice.chance(70)})),
            (30, "ver", json!({"version": choice.one(&["1.2.3", "0.9.0"])})),
            (30, RACK, json!({"string": choice.one(&["r1", "r2"])})),
        ] {
            if choice.chance(percent) {
                attributes.insert(name.to_owned(), value);
            }
        }
        let shared = choice.chance(30);
        let mut device = json!({"name": name, "attributes": attributes, "capacity": capacity(choice, shared)});
        if shared {
            device["allowMultipleAllocations"] = json!(true);
        }
        if !pool.sets.is_empty() && choice.chance(80) {
            let some = choice.number(1, pool.sets.len() as i64) as usize;
            let mut consumed = Vec::new();
            for (set, counters) in pool.sets.iter().take(some) {
                let set = if choice.chance(3) { "nope" } else { set };
                let mut values = Map::new();
                for counter in counters.iter().take(choice.number(1, counters.len() as i64) as usize) {
                    values.insert((*counter).to_owned(), json!({"value": choice.one(&["1", "2", "4", "8"])}));
                }
                consumed.push(json!({"counterSet": set, "counters": values}));
            }
            device["consumesCounters"] = json!(consumed);
        }
        if choice.chance(12) {
            let effect = choice.one(&["NoSchedule", "NoExecute", "None"]);
            device["taints"] = json!([{"key": "k", "value": choice.one(&["v", "w"]), "effect": effect}]);
        }
        if choice.chance(4) {
            device["bindingConditions"] = json!(["ready"]);
            device["bindingFailureConditions"] = json!(["failed"]);
            device["bindsToNode"] = json!(choice.chance(50));
        }
        if pool.per_device {
            match choice.number(0, 4) {
                0 | 1 => device["nodeName"] = json!(format!("n{}", choice.number(0, self.nodes - 1))),
                2 => device["allNodes"] = json!(true),
                _ => device["nodeSelector"] = self.zone(),
            }
        }
        device
    }

    fn classes(&mut self) {
        let odd = self.choice.weighted(EXPRESSIONS);
        let extended = self.choice.chance(30).then_some("example.com/card");
        for (name, selector, extended) in [
            ("gpu", Some(EXPRESSIONS[0].1), extended),
            ("net", Some(EXPRESSIONS[1].1), None),
            ("any", None, None),
            ("odd", Some(odd), None),
        ] {
            let mut spec = json!({});
            if let Some(expression) = selector {
                spec["selectors"] = json!([{"cel": {"expression": expression}}]);
            }
            if let Some(resource) = extended {
                spec["extendedResourceName"] = json!(resource);
            }
            self.items.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
                "metadata": {"name": name}, "spec": spec}));
        }
    }

    /// Claims of others, which hold devices.
    fn allocated(&mut self) {
        for i in 0..self.choice.number(0, 4) {
            if self.devices.is_empty() {
                return;
            }
            let Place { driver, pool, device } =
                &self.devices[self.choice.number(0, self.devices.len() as i64 - 1) as usize];
            let choice = &mut self.choice;
            let mut wanted = json!({"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1});
            let mut result = json!({"request": "r0", "driver": driver, "pool": pool, "device": device["name"]});
            if choice.chance(8) {
                wanted["adminAccess"] = json!(true);
                result["adminAccess"] = json!(true);
            } else if device["allowMultipleAllocations"] == true {
                result["shareID"] = json!(choice.uid());
                let mut consumed = Map::new();
                for name in device["capacity"].as_object().into_iter().flat_map(Map::keys) {
                    let amounts: &[&str] = if name == "memory" { &["10Gi", "20Gi"] } else { &["1", "4"] };
                    consumed.insert(name.clone(), json!(choice.one(amounts)));
                }
                if !consumed.is_empty() {
                    result["consumedCapacity"] = json!(consumed);
                }
            }
            self.items.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": {"namespace": "shop", "name": format!("held-{i}"), "uid": choice.uid()},
                "spec": {"devices": {"requests": [{"name": "r0", "exactly": wanted}]}},
                "status": {"allocation": {"devices": {"results": [result]}},
                    "reservedFor": [{"resource": "pods", "name": "user", "uid": choice.uid()}]}}));
        }
    }

    /// A Pending pod and its claims.
    fn pending(&mut self, i: i64) {
        let mut spec = json!({"containers": [{"name": "app", "image": "registry.example/app:1", "resources": {}}],
            "terminationGracePeriodSeconds": 30, "priority": 0, "preemptionPolicy": "Never"});
        let mut claims = Vec::new();
        if self.choice.chance(8) {
            let amount = json!({"example.com/card": self.choice.one(&["1", "2", "4"])});
            spec["containers"][0]["resources"] = json!({"requests": amount, "limits": amount});
        } else {
            for j in 0..self.choice.weighted(&[(4, 1), (1, 2)]) {
                let name = format!("c{i}-{j}");
                let claim = self.claim(&name);
                self.items.push(claim);
                claims.push(json!({"name": format!("c{j}"), "resourceClaimName": name}));
            }
            if self.choice.chance(5) {
                // What others hold: only where the allocation is.
                claims.push(json!({"name": "held", "resourceClaimName": "held-0"}));
            }
        }
        if claims.last().is_some_and(|c| c["name"] == "held")
            && !self.items.iter().any(|item| item["metadata"]["name"] == "held-0")
        {
            claims.pop();
        }
        if !claims.is_empty() {
            spec["resourceClaims"] = json!(claims);
        }
        self.items.push(json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"namespace": "shop", "name": format!("pend-{i}"), "uid": self.choice.uid(), "labels": {"app": "web"}},
            "spec": spec, "status": {"phase": "Pending"}}));
    }

    fn claim(&mut self, name: &str) -> Value {
        let mut requests = Vec::new();
        for j in 0..self.choice.weighted(&[(3, 1), (2, 2), (1, 3)]) {
            let name = format!("r{j}");
            if self.choice.chance(20) {
                let ways = self.choice.number(1, 3);
                let ways: Vec<Value> = (0..ways).map(|w| self.wanted(Some(&format!("s{w}")))).collect();
                requests.push(json!({"name": name, "firstAvailable": ways}));
            } else {
                requests.push(json!({"name": name, "exactly": self.wanted(None)}));
            }
        }
        let mut devices = json!({"requests": requests});
        if self.choice.chance(30) {
            let kind = self.choice.weighted(&[(2, "matchAttribute"), (1, "distinctAttribute")]);
            let attribute = self.choice.one(&["gpu.example.com/numa", "gpu.example.com/model", RACK]);
            let mut constraint = json!({kind: attribute});
            if self.choice.chance(40) {
                constraint["requests"] = json!(["r0"]);
            }
            devices["constraints"] = json!([constraint]);
        }
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"namespace": "shop", "name": name, "uid": self.choice.uid()}, "spec": {"devices": devices}})
    }

    /// One request; with a name it is one of several ways.
    fn wanted(&mut self, way: Option<&str>) -> Value {
        let choice = &mut self.choice;
        let class = choice.weighted(&[(2, "gpu"), (1, "any"), (1, "net"), (1, "odd")]);
        let mut wanted = json!({"deviceClassName": class});
        if let Some(name) = way {
            wanted["name"] = json!(name);
        }
        if choice.chance(12) {
            wanted["allocationMode"] = json!("All");
        } else {
            wanted["allocationMode"] = json!("ExactCount");
            wanted["count"] = json!(choice.weighted(&[(30, 1), (20, 2), (10, 3), (10, 4), (1, 20), (1, 33)]));
        }
        if choice.chance(40) {
            let selectors = choice.weighted(&[(3, 1), (1, 2)]);
            let one = |choice: &mut Choice| json!({"cel": {"expression": choice.weighted(EXPRESSIONS)}});
            wanted["selectors"] = (0..selectors).map(|_| one(choice)).collect();
        }
        if choice.chance(25) {
            wanted["tolerations"] = match choice.number(0, 2) {
                0 => json!([{"operator": "Exists"}]),
                1 => json!([{"key": "k", "operator": "Equal", "value": "v"}]),
                _ => json!([{"key": "k", "operator": "Exists", "effect": "NoSchedule"}]),
            };
        }
        if choice.chance(25) {
            let name = choice.weighted(&[(6, "memory"), (2, "cores"), (1, "nope")]);
            let amount = choice.one(&["1Gi", "10Gi", "12Gi", "20Gi", "40Gi", "100Gi", "3", "500m"]);
            wanted["capacity"] = json!({"requests": {name: amount}});
        }
        if way.is_none() && choice.chance(5) {
            wanted["adminAccess"] = json!(true);
        }
        wanted
    }
}

/// What a device has of memory and cores, and, where it is shared, in which portions.
fn capacity(choice: &mut Choice, shared: bool) -> Value {
    let mut all = Map::new();
    if choice.chance(60) {
        let mut memory = json!({"value": choice.one(&["20Gi", "40Gi", "80Gi"])});
        if shared {
            match choice.number(0, 5) {
                0 => memory["requestPolicy"] = json!({"default": "10Gi", "validRange": {"min": "5Gi", "step": "5Gi"}}),
                1 => {
                    let range = json!({"min": "5Gi", "step": "5Gi", "max": "20Gi"});
                    memory["requestPolicy"] = json!({"default": "10Gi", "validRange": range});
                }
                2 => memory["requestPolicy"] = json!({"default": "10Gi", "validValues": ["10Gi", "20Gi"]}),
                _ => {}
            }
        }
        all.insert("memory".to_owned(), memory);
    }
    if choice.chance(25) {
        let mut cores = json!({"value": choice.one(&["8", "16"])});
        if shared {
            match choice.number(0, 5) {
                0 => cores["requestPolicy"] = json!({"default": "1", "validRange": {"min": "1"}}),
                1 => cores["requestPolicy"] = json!({"default": "1", "validRange": {"min": "1", "step": "3"}}),
                2 => cores["requestPolicy"] = json!({"default": "4", "validValues": ["2", "4", "8"]}),
                _ => {}
            }
        }
        all.insert("cores".to_owned(), cores);
    }
    json!(all)
}
