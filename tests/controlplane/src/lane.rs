//! One world in a shared control plane, from its making to its end.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::api::refused;
use crate::generate::worlds::{Node, Step, World};
use crate::health::Health;
use crate::kinds::Kind;
use crate::load::load;
use crate::shared::{Shared, of_all};
use crate::snapshot::{self, items};

/// Nothing moves for so long, and the kubelet has nothing in hand: the world has settled. The scheduler's and the
/// controllers' pauses after a failure are shorter.
const SETTLED: Duration = Duration::from_secs(4);

/// What changed just now is noticed by the controllers within this.
const NOTICED: Duration = Duration::from_millis(1500);

/// How long ago everything is said to have settled: long enough to tell what starts from what never will.
const AGED_BY: Duration = Duration::from_secs(300);

/// A world that is there.
pub struct Lane<'a> {
    /// Where.
    pub shared: &'a Shared,
    /// What.
    pub world: World,
    /// When it had settled: what is older is aged in the snapshot.
    settled: Timestamp,
}

impl<'a> Lane<'a> {
    /// Makes a world, lets it settle, and lets happen what happens in it.
    pub fn make(shared: &'a Shared, world: World) -> Result<Self> {
        let mut all = of_all();
        all.extend(world.items.iter().cloned());
        let loaded = load(&shared.api, &all)?;
        if let Some(refusal) = loaded.refused.first() {
            bail!("the API server does not take what was generated: {refusal}");
        }
        let mut lane = Self { shared, world, settled: Timestamp::now() };
        lane.rest()?;
        if !lane.world.then.is_empty() {
            for step in lane.world.then.clone() {
                lane.step(&step)?;
            }
            lane.rest()?;
        }
        lane.settled = Timestamp::now();
        for step in lane.world.last.clone() {
            lane.step(&step)?;
        }
        if !lane.world.last.is_empty() {
            std::thread::sleep(NOTICED);
        }
        Ok(lane)
    }

    /// Waits until the world has settled.
    pub fn rest(&self) -> Result<()> {
        let (start, namespaces) = (Instant::now(), &self.world.namespaces);
        std::thread::sleep(NOTICED);
        while self.still() < SETTLED {
            std::thread::sleep(Duration::from_millis(200));
            if start.elapsed() > Duration::from_secs(240) {
                bail!("{} does not come to rest", namespaces.join(" and "));
            }
        }
        self.shared.check()
    }

    /// For how long nothing has moved, and nothing is going to.
    pub fn still(&self) -> Duration {
        match self.shared.kubelet.busy(&self.world.namespaces) {
            true => Duration::ZERO,
            false => self.shared.mirror.quiet(&self.world.namespaces),
        }
    }

    /// The world as the product is shown it. From then on a question is asked about it.
    pub fn snapshot(&self) -> Result<Value> {
        let mut list = snapshot::of_world(&self.shared.api, &self.shared.version, &self.world)?;
        snapshot::age(&mut list, self.settled, AGED_BY);
        self.shared.kubelet.asked(&self.world.namespaces);
        Ok(list)
    }

    /// The nodes of the question.
    pub fn nodes(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for node in &self.world.drain.nodes {
            let name = self.node(node)?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn node(&self, node: &Node) -> Result<String> {
        match node {
            Node::Named(name) => Ok(name.clone()),
            Node::Of(namespace, app, n) => {
                let pods = self.pods(namespace, app);
                let on: Vec<&str> = pods.iter().filter_map(|pod| pod["spec"]["nodeName"].as_str()).collect();
                let name =
                    on.get(*n).or(on.last()).with_context(|| format!("{namespace}/{app} has no pod on a node"))?;
                Ok((*name).to_owned())
            }
        }
    }

    /// The pods with this label `app`, by name.
    pub fn pods(&self, namespace: &str, app: &str) -> Vec<std::sync::Arc<Value>> {
        let all = self.shared.mirror.pods_in(&[namespace.to_owned()]);
        all.into_iter().filter(|pod| pod["metadata"]["labels"]["app"] == app).collect()
    }

    fn step(&self, step: &Step) -> Result<()> {
        let api = &self.shared.api;
        let pod_path = |namespace: &str, app: &str, n: usize| {
            let pod = self.pods(namespace, app).get(n).cloned()?;
            Some(format!("/api/v1/namespaces/{namespace}/pods/{}", pod["metadata"]["name"].as_str()?))
        };
        let done = match step {
            Step::Merge(path, patch) => api.merge(path, patch).map(|_| ()),
            Step::Create(object) => self.create(object),
            Step::Delete(path) => api.delete_with(path, &json!({"propagationPolicy": "Background"})),
            Step::DeletePod(namespace, app, n) => match pod_path(namespace, app, *n) {
                Some(path) => api.delete_with(&path, &json!({})),
                None => Ok(()),
            },
            Step::MergePod(namespace, app, n, patch) => match pod_path(namespace, app, *n) {
                Some(path) => api.merge(&path, patch).map(|_| ()),
                None => Ok(()),
            },
            Step::Health(namespace, app, n, health, ready) => {
                if let Some(pod) = self.pods(namespace, app).get(*n).filter(|pod| !pod["spec"]["nodeName"].is_null()) {
                    let now = (Duration::ZERO, *health);
                    let later = ready.map(|after| (Duration::from_secs(after), Health::Ready));
                    let course: Vec<_> = std::iter::once(now).chain(later).collect();
                    self.shared.kubelet.order(pod, &course);
                }
                Ok(())
            }
            Step::Silence(node) => self.silence(&self.node(node)?),
            Step::QuotaBelow(namespace, fewer) => {
                let there = self.shared.mirror.pods_in(std::slice::from_ref(namespace));
                let there = there.iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null()).count() as i64;
                self.create(&json!({"apiVersion": "v1", "kind": "ResourceQuota",
                    "metadata": {"namespace": namespace, "name": "pods"},
                    "spec": {"hard": {"pods": (there - fewer).max(0).to_string()}}}))
            }
        };
        match done {
            // An earlier step took the object away, or put something in the way.
            Err(error) if refused(&error, 404) || error.to_string().contains("admission") => Ok(()),
            done => done.with_context(|| format!("{step:?}")),
        }
    }

    fn create(&self, object: &Value) -> Result<()> {
        let loaded = load(&self.shared.api, std::slice::from_ref(object))?;
        match loaded.refused.first() {
            Some(refusal) => bail!("the API server does not take what was generated: {refusal}"),
            None => Ok(()),
        }
    }

    /// A kubelet falls silent, and the node controller notes it on the node and on its pods.
    fn silence(&self, node: &str) -> Result<()> {
        self.shared.kubelet.silence(node);
        let api = &self.shared.api;
        let path = format!("/api/v1/nodes/{node}");
        let mut object = api.get(&path)?;
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        for condition in object["status"]["conditions"].as_array_mut().into_iter().flatten() {
            condition["status"] = json!("Unknown");
            condition["reason"] = json!("NodeStatusUnknown");
            condition["message"] = json!("Kubelet stopped posting node status.");
            condition["lastTransitionTime"] = json!(now);
        }
        api.merge(&format!("{path}/status"), &json!({"status": {"conditions": object["status"]["conditions"]}}))?;
        let mut taints = object["spec"]["taints"].as_array().cloned().unwrap_or_default();
        for effect in ["NoSchedule", "NoExecute"] {
            taints.push(json!({"key": "node.kubernetes.io/unreachable", "effect": effect, "timeAdded": now}));
        }
        api.merge(&path, &json!({"spec": {"taints": taints}}))?;
        for pod in self.shared.mirror.pods_in(&self.world.namespaces) {
            let metadata = &pod["metadata"];
            if pod["spec"]["nodeName"] == node && pod["status"]["phase"] == "Running" {
                let mut conditions = pod["status"]["conditions"].clone();
                for condition in conditions.as_array_mut().into_iter().flatten().filter(|c| c["type"] == "Ready") {
                    condition["status"] = json!("False");
                    condition["reason"] = json!("NodeNotReady");
                    condition["lastTransitionTime"] = json!(now);
                }
                let (namespace, name) = (metadata["namespace"].as_str(), metadata["name"].as_str());
                let path = format!(
                    "/api/v1/namespaces/{}/pods/{}/status",
                    namespace.unwrap_or_default(),
                    name.unwrap_or_default()
                );
                api.merge(&path, &json!({"status": {"conditions": conditions}}))?;
            }
        }
        Ok(())
    }

    /// What people have declared in this world, by path: what an undoing must bring back. The counts that autoscalers hold
    /// are left out.
    pub fn declared(&self) -> Result<Map<String, Value>> {
        let mut declared = Map::new();
        let kinds = Kind::built_in().into_iter().filter(|kind| kind.kind != "Pod" && kind.kind != "EndpointSlice");
        for kind in kinds.filter(|kind| kind.kind != "ReplicaSet" && kind.kind != "CustomResourceDefinition") {
            for object in snapshot::collect(&self.shared.api, &kind, &self.world)? {
                let labels = &object["metadata"]["labels"];
                declared.insert(kind.path(&object), json!({"spec": object["spec"], "labels": labels}));
            }
        }
        let targets: Vec<Value> = declared.values().map(|o| o["spec"]["scaleTargetRef"]["name"].clone()).collect();
        for (path, object) in &mut declared {
            if targets.iter().any(|name| name.as_str().is_some_and(|name| path.ends_with(&format!("s/{name}")))) {
                object["spec"]["replicas"] = Value::Null;
            }
        }
        Ok(declared)
    }

    /// Takes the world away, without waiting for its end.
    pub fn remove(self) -> Result<()> {
        let api = &self.shared.api;
        // What could refuse goes first, and what makes pods anew before the pods.
        for kind in Kind::built_in().iter().rev().filter(|kind| !kind.namespaced && kind.kind != "Namespace") {
            for object in items(&api.get(&kind.all())?) {
                if snapshot::is_of(&self.world, kind, object) && kind.kind != "Node" {
                    api.delete(&kind.path(object), 0)?;
                }
            }
        }
        for namespace in &self.world.namespaces {
            api.delete(&format!("/api/v1/namespaces/{namespace}"), 0)?;
        }
        for pod in self.shared.mirror.pods_in(&self.world.namespaces) {
            let metadata = &pod["metadata"];
            let key = snapshot::key(&pod);
            let (namespace, name) = key.split_once('/').unwrap_or_default();
            let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
            if metadata["finalizers"].as_array().is_some_and(|f| !f.is_empty()) {
                let _ = api.merge(&path, &json!({"metadata": {"finalizers": null}}));
            }
            let _ = api.delete(&path, 0);
        }
        for item in self.world.items.iter().filter(|item| item["kind"] == "Node") {
            api.delete(&format!("/api/v1/nodes/{}", item["metadata"]["name"].as_str().unwrap_or_default()), 0)?;
        }
        Ok(())
    }
}
