//! A kubelet in a few lines, for all nodes: bound pods start and become Ready, or not; terminating pods end. Beside it
//! runs what of the node controller a drain meets: a cordon's taint.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::api::{Api, Refusal};
use crate::health::Health;
use crate::mirror::Mirror;
use crate::snapshot::key;

/// What a pod's annotations tell this kubelet of its containers: things that a real one finds out by running them.
pub mod says {
    /// The container crashes, time and again.
    pub const CRASHES: &str = "controlplane.test/crashes";
    /// The image cannot be pulled.
    pub const NO_IMAGE: &str = "controlplane.test/no-image";
    /// The container runs, and its readiness probe fails.
    pub const UNREADY: &str = "controlplane.test/unready";
    /// Somebody sets the pod's readiness gates so many seconds after its start. Without it nobody does.
    pub const GATE_AFTER: &str = "controlplane.test/gate-after";
    /// The container ends well so many seconds after its start.
    pub const ENDS_AFTER: &str = "controlplane.test/ends-after";
    /// The container ends well so many seconds after the question was asked (see [`super::Kubelet::asked`]).
    pub const ENDS_LATER: &str = "controlplane.test/ends-later";
    /// The container ends so many seconds after SIGTERM, not only when its grace period is over.
    pub const EXITS_AFTER: &str = "controlplane.test/exits-after";
}

const CORDON_TAINT: &str = "node.kubernetes.io/unschedulable";

/// What ends later than this is not waited for.
const PATIENCE: Duration = Duration::from_secs(90);

/// A last delete that was refused is tried again after this.
const AGAIN: Duration = Duration::from_secs(1);

/// The running kubelet. It ends when dropped.
pub struct Kubelet {
    orders: Arc<Orders>,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<Result<()>>>>,
}

/// What the harness tells it.
#[derive(Default)]
struct Orders {
    /// Nodes whose kubelet does not answer.
    silent: Mutex<HashSet<String>>,
    /// By namespace: when the question was asked.
    asked: Mutex<HashMap<String, Instant>>,
    /// By the pod's uid: what becomes of it from then on, instead of what its own course is.
    health: Mutex<HashMap<String, Vec<(Instant, Health)>>>,
    /// Namespaces in which something is going to happen by itself.
    busy: Mutex<HashSet<String>>,
}

impl Kubelet {
    /// Starts it, with a client of its own.
    pub fn start(api: &Api, mirror: &Mirror) -> Self {
        let (stop, orders) = (Arc::new(AtomicBool::new(false)), Arc::<Orders>::default());
        let mut running = Running {
            api: api.clone(),
            mirror: mirror.clone(),
            orders: Arc::clone(&orders),
            lives: HashMap::new(),
            addresses: 0,
        };
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                running.look()?;
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        });
        Self { orders, stop, thread: Mutex::new(Some(thread)) }
    }

    /// Fails when it has ended by itself, and says why.
    pub fn check(&self) -> Result<()> {
        match held(&self.thread).take_if(|thread| thread.is_finished()).map(JoinHandle::join) {
            Some(Ok(Err(error))) => Err(error),
            Some(_) => Err(anyhow!("the kubelet has ended")),
            None => Ok(()),
        }
    }

    /// From now on the pod is like this, and after the given times like that.
    pub fn order(&self, pod: &Value, health: &[(Duration, Health)]) {
        let course = health.iter().map(|(after, health)| (Instant::now() + *after, *health)).collect();
        held(&self.orders.health).insert(uid(pod), course);
    }

    /// The node's kubelet does not answer any more.
    pub fn silence(&self, node: &str) {
        held(&self.orders.silent).insert(node.to_owned());
    }

    /// Now a question is asked about these namespaces: what was to end later begins to.
    pub fn asked(&self, namespaces: &[String]) {
        held(&self.orders.asked).extend(namespaces.iter().map(|n| (n.clone(), Instant::now())));
    }

    /// Whether something is going to happen in these namespaces by itself, and soon.
    pub fn busy(&self, namespaces: &[String]) -> bool {
        let busy = held(&self.orders.busy);
        namespaces.iter().any(|namespace| busy.contains(namespace))
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = held(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the thread holds.
struct Running {
    api: Api,
    mirror: Mirror,
    orders: Arc<Orders>,
    /// By uid.
    lives: HashMap<String, Life>,
    addresses: u32,
}

/// One pod, from its binding on.
struct Life {
    start: Instant,
    /// What was written last.
    written: Option<Health>,
    terminating: Option<Instant>,
    /// The last delete that was tried.
    finished: Option<Instant>,
    address: String,
}

impl Running {
    fn look(&mut self) -> Result<()> {
        for node in self.mirror.nodes() {
            keep_cordon_taint(&self.api, &node)?;
        }
        let mut busy = HashSet::new();
        let mut there = HashSet::new();
        for pod in self.mirror.pods() {
            let Some(node) = pod["spec"]["nodeName"].as_str() else { continue };
            there.insert(uid(&pod));
            if held(&self.orders.silent).contains(node) {
                continue;
            }
            if self.one(&pod)? {
                busy.insert(pod["metadata"]["namespace"].as_str().unwrap_or_default().to_owned());
            }
        }
        self.lives.retain(|uid, _| there.contains(uid));
        *held(&self.orders.busy) = busy;
        Ok(())
    }

    /// Does for a pod what is due; whether more will be.
    fn one(&mut self, pod: &Value) -> Result<bool> {
        let addresses = &mut self.addresses;
        let life = self.lives.entry(uid(pod)).or_insert_with(|| {
            *addresses += 1;
            Life {
                start: Instant::now(),
                written: None,
                terminating: None,
                finished: None,
                address: format!("10.244.{}.{}", *addresses / 250, *addresses % 250 + 2),
            }
        });
        if !pod["metadata"]["deletionTimestamp"].is_null() {
            let since = *life.terminating.get_or_insert_with(Instant::now);
            let takes = shutdown(pod);
            if since.elapsed() < takes {
                return Ok(takes < PATIENCE);
            }
            if life.finished.is_none_or(|last| last.elapsed() > AGAIN) {
                // A first try is under way; that it is refused time and again means that it hangs.
                let first = life.finished.is_none();
                life.finished = Some(Instant::now());
                tolerate(finish(&self.api, pod, &life.address))?;
                return Ok(first);
            }
            return Ok(false);
        }
        let course = match held(&self.orders.health).get(&uid(pod)) {
            Some(ordered) => ordered.clone(),
            None => own_course(pod, life.start, held(&self.orders.asked).get(namespace(pod)).copied()),
        };
        let now = Instant::now();
        let due = course.iter().rev().find(|(at, _)| *at <= now).map(|(_, health)| *health);
        if due != life.written && !is_over(pod) {
            if let Some(health) = due {
                tolerate(write(&self.api, pod, health, &life.address))?;
            }
            life.written = due;
        }
        Ok(course.iter().any(|(at, _)| *at > now && *at - now < PATIENCE))
    }
}

/// A node that is cordoned has the taint, any other has not.
fn keep_cordon_taint(api: &Api, node: &Value) -> Result<()> {
    let mut taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
    let tainted = taints.iter().any(|taint| taint["key"] == CORDON_TAINT);
    let cordoned = node["spec"]["unschedulable"] == true;
    if tainted == cordoned {
        return Ok(());
    }
    match cordoned {
        true => {
            let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            taints.push(json!({"key": CORDON_TAINT, "effect": "NoSchedule", "timeAdded": now}));
        }
        false => taints.retain(|taint| taint["key"] != CORDON_TAINT),
    }
    let path = format!("/api/v1/nodes/{}", node["metadata"]["name"].as_str().unwrap_or_default());
    // Somebody else's taint must not be lost: the version is named.
    let version = &node["metadata"]["resourceVersion"];
    tolerate(
        api.merge(&path, &json!({"metadata": {"resourceVersion": version}, "spec": {"taints": taints}})).map(|_| ()),
    )
}

/// What becomes of a pod that nobody interferes with.
fn own_course(pod: &Value, start: Instant, asked: Option<Instant>) -> Vec<(Instant, Health)> {
    let annotation = |name: &str| pod["metadata"]["annotations"][name].as_str();
    let seconds = |name: &str| annotation(name).and_then(|text| text.parse().ok()).map(Duration::from_secs);
    let for_ever =
        [(says::CRASHES, Health::Crashing), (says::NO_IMAGE, Health::NoImage), (says::UNREADY, Health::Unready)];
    if let Some((_, health)) = for_ever.iter().find(|(name, _)| annotation(name).is_some()) {
        return vec![(start, *health)];
    }
    let mut course = Vec::new();
    let ready = start + probed(pod);
    if ready > start {
        course.push((start, Health::Unready));
    }
    let gated = pod["spec"]["readinessGates"].as_array().is_some_and(|gates| !gates.is_empty());
    match (gated, seconds(says::GATE_AFTER)) {
        (false, _) => course.push((ready, Health::Ready)),
        (true, None) => course.push((ready, Health::Gated)),
        (true, Some(after)) => course.extend([(ready, Health::Gated), (ready.max(start + after), Health::Ready)]),
    }
    let later = asked.and_then(|asked| Some(asked + seconds(says::ENDS_LATER)?));
    if let Some(end) = seconds(says::ENDS_AFTER).map(|after| start + after).or(later) {
        course.push((end, Health::Succeeded));
    }
    course
}

/// How long the probes let a container wait that does well from the start.
fn probed(pod: &Value) -> Duration {
    let of = |probe: &str, field: &str, otherwise: u64| {
        pod["spec"]["containers"][0][probe][field].as_u64().unwrap_or(otherwise)
    };
    let takes = |probe: &str| match pod["spec"]["containers"][0][probe].is_object() {
        true => {
            of(probe, "initialDelaySeconds", 0)
                + (of(probe, "successThreshold", 1) - 1) * of(probe, "periodSeconds", 10)
        }
        false => 0,
    };
    Duration::from_secs(takes("startupProbe").max(takes("readinessProbe")))
}

/// How long the pod takes to end once it is deleted.
fn shutdown(pod: &Value) -> Duration {
    let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or(0);
    let exits = pod["metadata"]["annotations"][says::EXITS_AFTER].as_str().and_then(|text| text.parse().ok());
    let hook = pod["spec"]["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64().unwrap_or(0);
    Duration::from_secs(exits.map_or(grace, |exits: u64| grace.min(hook + exits)))
}

/// The last delete. Before it a pod gets a phase that says that it is over, whatever its restart policy (upstream:
/// kubelet's `getPhase` of a terminal pod); a Job waits for that.
fn finish(api: &Api, pod: &Value, address: &str) -> Result<()> {
    if !is_over(pod) && pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_null() {
        write(api, pod, Health::Failed, address)?;
    }
    api.delete(&path(pod), 0)
}

fn write(api: &Api, pod: &Value, health: Health, address: &str) -> Result<()> {
    let mut status = health.status_after(&pod["status"], &Timestamp::now());
    status["podIP"] = json!(address);
    status["podIPs"] = json!([{"ip": address}]);
    api.merge(&format!("{}/status", path(pod)), &json!({"status": status}))?;
    match health {
        Health::Unready if !pod["metadata"]["annotations"][says::UNREADY].is_null() => report_probe(api, pod),
        _ => Ok(()),
    }
}

/// The event by which a kubelet tells that a probe fails.
fn report_probe(api: &Api, pod: &Value) -> Result<()> {
    let (metadata, now) = (&pod["metadata"], Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    let event = json!({"metadata": {"name": format!("{}.probe", metadata["name"].as_str().unwrap_or_default())},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"],
            "uid": metadata["uid"]},
        "type": "Warning", "reason": "Unhealthy", "message": "Readiness probe failed: HTTP probe failed with statuscode: 503",
        "source": {"component": "kubelet"}, "count": 60, "firstTimestamp": now, "lastTimestamp": now});
    api.create(&format!("/api/v1/namespaces/{}/events", namespace(pod)), &event).map(|_| ())
}

/// What the API server refuses is tried again, or was done by somebody else.
fn tolerate(done: Result<()>) -> Result<()> {
    match done {
        Err(error) if error.downcast_ref::<Refusal>().is_none() => Err(error),
        _ => Ok(()),
    }
}

fn is_over(pod: &Value) -> bool {
    ["Succeeded", "Failed"].contains(&pod["status"]["phase"].as_str().unwrap_or_default())
}

fn uid(pod: &Value) -> String {
    pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned()
}

fn namespace(pod: &Value) -> &str {
    pod["metadata"]["namespace"].as_str().unwrap_or_default()
}

/// Where the API has it.
fn path(pod: &Value) -> String {
    let key = key(pod);
    let (namespace, name) = key.split_once('/').unwrap_or_default();
    format!("/api/v1/namespaces/{namespace}/pods/{name}")
}
