//! The pods, budgets and nodes of a control plane as they are at this moment, kept by watches: what the kubelet looks at,
//! and what tells whether something still moves.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::api::{Api, Event};
use crate::plane::wait_for;
use crate::snapshot::{items, key};
use crate::truth;

const PODS: &str = "/api/v1/pods";
const BUDGETS: &str = "/apis/policy/v1/poddisruptionbudgets";
const NODES: &str = "/api/v1/nodes";
const WATCHED: [&str; 3] = [PODS, BUDGETS, NODES];

/// The mirror. Cheap to clone; the watches end with the last clone.
#[derive(Clone)]
pub struct Mirror(Arc<Shared>);

struct Shared {
    seen: Mutex<Seen>,
    stop: Arc<AtomicBool>,
}

#[derive(Default)]
struct Seen {
    /// By collection, then by `namespace/name`: the object, and that of it whose change is a movement.
    objects: BTreeMap<&'static str, BTreeMap<String, (Arc<Value>, String)>>,
    /// By namespace: when something moved last.
    moved: BTreeMap<String, Instant>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Mirror {
    /// Starts the watches and waits until all collections were read.
    pub fn start(api: &Api) -> Result<Self> {
        let mirror = Self(Arc::new(Shared { seen: Mutex::default(), stop: Arc::default() }));
        for path in WATCHED {
            let (api, shared, stop) = (api.clone(), Arc::downgrade(&mirror.0), Arc::clone(&mirror.0.stop));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    // The server ends a watch from time to time, and all of them when it ends itself.
                    let _ = follow(&api, path, &stop, |change| {
                        if let Some(shared) = shared.upgrade() {
                            lock(&shared.seen).take(path, change);
                        }
                    });
                    std::thread::sleep(Duration::from_millis(200));
                }
            });
        }
        wait_for("what is watched", 30, || Ok((mirror.lock().objects.len() == WATCHED.len()).then_some(())))?;
        Ok(mirror)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        lock(&self.0.seen)
    }

    /// All pods.
    pub fn pods(&self) -> Vec<Arc<Value>> {
        self.all(PODS)
    }

    /// All nodes.
    pub fn nodes(&self) -> Vec<Arc<Value>> {
        self.all(NODES)
    }

    fn all(&self, path: &str) -> Vec<Arc<Value>> {
        self.lock().objects.get(path).into_iter().flatten().map(|(_, (object, _))| Arc::clone(object)).collect()
    }

    /// The pods of these namespaces, by namespace and name.
    pub fn pods_in(&self, namespaces: &[String]) -> Vec<Arc<Value>> {
        self.pods().into_iter().filter(|pod| namespaces.iter().any(|n| pod["metadata"]["namespace"] == **n)).collect()
    }

    /// For how long nothing has moved in these namespaces.
    pub fn quiet(&self, namespaces: &[String]) -> Duration {
        let seen = self.lock();
        let last = namespaces.iter().filter_map(|namespace| seen.moved.get(namespace)).max();
        last.map_or(Duration::MAX, Instant::elapsed)
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a watch gives.
enum Change {
    All(Vec<Value>),
    One(Event),
}

/// Reads the collection, then every change, until the watch ends.
fn follow(api: &Api, path: &'static str, stop: &AtomicBool, mut take: impl FnMut(Change)) -> Result<()> {
    let list = api.get(path)?;
    let version = list["metadata"]["resourceVersion"].as_str().context("a list without a version")?.to_owned();
    take(Change::All(items(&list).to_vec()));
    let events = api.watch(path, &version)?;
    while !stop.load(Ordering::Relaxed) {
        match events.recv_timeout(Duration::from_millis(200)) {
            Ok(event) => take(Change::One(event)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
    Ok(())
}

impl Seen {
    fn take(&mut self, path: &'static str, change: Change) {
        match change {
            Change::All(list) => {
                let gone = self.objects.insert(path, BTreeMap::new()).unwrap_or_default();
                for object in list {
                    let before = gone.get(&key(&object)).map(|(_, before)| before.as_str());
                    self.put(path, object, before);
                }
            }
            Change::One(Event { deleted: true, object }) => {
                self.objects.entry(path).or_default().remove(&key(&object));
                self.moved(&object);
            }
            Change::One(Event { object, .. }) => {
                let before = self.objects.get(path).and_then(|all| all.get(&key(&object))).map(|(_, b)| b.clone());
                self.put(path, object, before.as_deref());
            }
        }
    }

    fn put(&mut self, path: &'static str, object: Value, before: Option<&str>) {
        let now = match path {
            PODS => pod(&object),
            BUDGETS => budget(&object),
            _ => object["spec"].to_string(),
        };
        if before != Some(&now) {
            self.moved(&object);
        }
        self.objects.entry(path).or_default().insert(key(&object), (Arc::new(object), now));
    }

    fn moved(&mut self, object: &Value) {
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        self.moved.insert(namespace.to_owned(), Instant::now());
    }
}

fn pod(pod: &Value) -> String {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.into_iter().find(|c| c["type"] == "Ready").map_or(&Value::Null, |c| &c["status"]);
    let metadata = &pod["metadata"];
    format!(
        "{} {} {} {} {ready} {}",
        metadata["uid"],
        pod["spec"]["nodeName"],
        metadata["deletionTimestamp"],
        pod["status"]["phase"],
        pod["status"]["nominatedNodeName"],
    )
}

fn budget(budget: &Value) -> String {
    let truth = truth::budget(budget);
    format!("{:?} {}", truth.numbers, truth.condition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seen(change: Change) -> Seen {
        let mut seen = Seen::default();
        seen.take(PODS, change);
        seen
    }

    #[test]
    fn only_what_matters_is_a_movement() {
        let pod = |phase: &str, version: &str| json!({"metadata": {"namespace": "shop", "name": "web", "uid": "u", "resourceVersion": version}, "status": {"phase": phase}});
        let mut seen = seen(Change::All(vec![pod("Pending", "1")]));
        let first = seen.moved["shop"];
        seen.take(PODS, Change::One(Event { deleted: false, object: pod("Pending", "2") }));
        assert_eq!(seen.moved["shop"], first);
        seen.take(PODS, Change::One(Event { deleted: false, object: pod("Running", "3") }));
        let second = seen.moved["shop"];
        assert!(second > first);
        seen.take(PODS, Change::One(Event { deleted: true, object: pod("Running", "3") }));
        assert!(seen.moved["shop"] > second);
        assert!(seen.objects[PODS].is_empty());
    }
}
