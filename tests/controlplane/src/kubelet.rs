//! A kubelet in a few lines, for all nodes: bound pods become Ready, terminating pods go.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::Value;

use crate::api::{Api, refused};
use crate::objects::Health;
use crate::snapshot::{items, key};

/// A pod with this annotation becomes Ready so many seconds after it was bound.
pub const READY_AFTER: &str = "controlplane.test/ready-after";
/// A pod with this annotation never becomes Ready: its container crashes.
pub const CRASHES: &str = "controlplane.test/crashes";

/// The running kubelet. It ends when dropped.
pub struct Kubelet {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Kubelet {
    /// Starts it.
    pub fn start(api: &Api) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (api, stopped) = (api.clone(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let mut seen = HashMap::new();
            while !stopped.load(Ordering::Relaxed) {
                for pod in items(&api.get("/api/v1/pods")?) {
                    match look(&api, pod, &mut seen) {
                        // Somebody else was quicker; the next look sees what became of it.
                        Err(error) if !refused(&error, 409) && !refused(&error, 404) => return Err(error),
                        _ => {}
                    }
                }
                std::thread::sleep(Duration::from_millis(150));
            }
            Ok(())
        });
        Self { stop, thread: Some(thread) }
    }

    /// Ends it, and says what went wrong meanwhile.
    pub fn stop(mut self) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(anyhow!("the kubelet panicked")),
            None => Ok(()),
        }
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// When a pod (by uid) was first seen bound, and first seen terminating.
type Seen = HashMap<String, (Instant, Option<Instant>)>;

fn look(api: &Api, pod: &Value, seen: &mut Seen) -> Result<()> {
    if pod["spec"]["nodeName"].is_null() {
        return Ok(());
    }
    let uid = pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let times = seen.entry(uid).or_insert_with(|| (Instant::now(), None));
    if pod["metadata"]["deletionTimestamp"].is_null() {
        if pod["status"]["phase"] == "Pending" {
            run(api, pod, times.0.elapsed())?;
        }
        return Ok(());
    }
    let since = *times.1.get_or_insert_with(Instant::now);
    let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or(0);
    if since.elapsed() >= Duration::from_secs(grace) {
        finish(api, pod)?;
    }
    Ok(())
}

/// Starts the pod's container, or leaves it crashing.
fn run(api: &Api, pod: &Value, bound: Duration) -> Result<()> {
    let annotation = |name: &str| pod["metadata"]["annotations"][name].as_str();
    let wait = annotation(READY_AFTER).and_then(|seconds| seconds.parse().ok()).unwrap_or(0);
    if bound < Duration::from_secs(wait) {
        return Ok(());
    }
    let health = if annotation(CRASHES).is_some() { Health::Crashing } else { Health::Ready };
    set_health(api, pod, health)
}

/// Writes the status of a pod of this health.
pub fn set_health(api: &Api, pod: &Value, health: Health) -> Result<()> {
    let mut pod = pod.clone();
    let class = pod["status"]["qosClass"].take();
    pod["status"] = health.status_since(&jiff::Timestamp::now());
    pod["status"]["qosClass"] = class;
    api.replace(&format!("{}/status", path(&pod)), &pod).map(|_| ())
}

/// The last delete. A pod that is not restarted is marked Failed before, for which its Job waits.
fn finish(api: &Api, pod: &Value) -> Result<()> {
    if pod["spec"]["restartPolicy"] != "Always" && pod["status"]["phase"] == "Running" {
        return set_health(api, pod, Health::Failed);
    }
    api.delete(&path(pod), 0)
}

/// Where the API has it.
pub fn path(pod: &Value) -> String {
    let key = key(pod);
    let (namespace, name) = key.split_once('/').unwrap_or_default();
    format!("/api/v1/namespaces/{namespace}/pods/{name}")
}
