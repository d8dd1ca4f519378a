//! Real workloads, settled by real controllers; the snapshot's plan against the real `kubectl drain`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Settings;
use crate::api::{Api, refused};
use crate::cases;
use crate::generate::drain::{Scene, scene};
use crate::judge::{self, Tally};
use crate::kubelet::{self, Kubelet, set_health};
use crate::load::load;
use crate::objects::Health;
use crate::plane::{Controllers, Options, Plane};
use crate::process::Process;
use crate::snapshot::{self, items, key};

/// The flags that let a drain go ahead over what it asks leave for.
const FLAGS: [&str; 3] = ["--ignore-daemonsets", "--delete-emptydir-data", "--force"];

/// Nothing moves for so long: the drain hangs. kubectl tries again every five seconds, and everything else here is
/// quicker than that.
const HANGS: Duration = Duration::from_secs(16);

/// Nothing moves for so long: the cluster has settled. Slow pods become Ready six seconds after they were bound.
const SETTLED: Duration = Duration::from_secs(8);

/// What became of a drain.
#[derive(Debug, Clone, Default)]
pub struct Drained {
    /// The nodes, in the order in which they were drained.
    pub nodes: Vec<String>,
    /// By node: whether its drain ended.
    pub ended: BTreeMap<String, bool>,
    /// By node: the flags that kubectl asks for.
    pub flags: BTreeMap<String, Vec<String>>,
    /// The pods (`namespace/name`) that were on the nodes and are still there, but those that a drain leaves alone.
    pub stayed: Vec<String>,
    /// What kubectl said.
    pub log: String,
}

/// A snapshot, and what became of the drain after it.
pub struct Recorded {
    /// The List.
    pub list: Value,
    /// The drain.
    pub drained: Drained,
}

/// Makes the seed's cluster, lets it settle, takes the snapshot, and drains.
pub fn record(settings: &Settings, seed: u64) -> Result<Recorded> {
    let scene = scene(seed);
    let mut plane = Plane::start(&settings.components, &Options { classes: true, ..Options::default() })?;
    plane.start_controllers(Controllers::Workloads)?;
    plane.start_scheduler()?;
    let kubelet = Kubelet::start(&plane.api);
    let loaded = load(&plane.api, &scene.items)?;
    if let Some(refusal) = loaded.refused.first() {
        bail!("the API server does not take what was generated: {refusal}");
    }
    rest(&mut plane, SETTLED)?;
    disturb(&plane, &scene)?;
    rest(&mut plane, SETTLED)?;
    let list = snapshot::take(&plane)?;
    let drained = drain(&mut plane, &scene.drain, &list)?;
    kubelet.stop()?;
    plane.check()?;
    Ok(Recorded { list, drained })
}

/// What happens between the settling and the drain.
fn disturb(plane: &Plane, scene: &Scene) -> Result<()> {
    let list = plane.api.get("/api/v1/pods")?;
    let running: Vec<&Value> = items(&list).iter().filter(|pod| pod["status"]["phase"] == "Running").collect();
    for pod in scene.crash.iter().filter_map(|n| running.get(*n)) {
        crash(&plane.api, &kubelet::path(pod))?;
    }
    for (path, replicas) in &scene.scale {
        plane.api.merge(path, &json!({"spec": {"replicas": replicas}}))?;
    }
    if let Some((namespace, fewer)) = &scene.quota {
        let there = items(&list).iter().filter(|pod| pod["metadata"]["namespace"] == namespace.as_str()).count() as i64;
        let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "pods"},
            "spec": {"hard": {"pods": (there - fewer).max(0).to_string()}}});
        plane.api.create(&format!("/api/v1/namespaces/{namespace}/resourcequotas"), &quota)?;
    }
    Ok(())
}

/// Lets a pod crash, also where the kubelet writes its status at the same time.
fn crash(api: &Api, path: &str) -> Result<()> {
    loop {
        match set_health(api, &api.get(path)?, Health::Crashing) {
            Err(error) if refused(&error, 409) => {}
            done => return done,
        }
    }
}

/// Everything whose change means that something still moves.
fn state(plane: &Plane) -> Result<String> {
    let mut text = String::new();
    for pod in items(&plane.api.get("/api/v1/pods")?) {
        let ready = pod["status"]["conditions"].as_array().into_iter().flatten().find(|c| c["type"] == "Ready");
        let ready = ready.map_or(&Value::Null, |c| &c["status"]);
        let metadata = &pod["metadata"];
        let _ = writeln!(
            text,
            "{} {} {} {} {ready} {}",
            metadata["uid"],
            pod["spec"]["nodeName"],
            metadata["deletionTimestamp"],
            pod["status"]["phase"],
            pod["status"]["nominatedNodeName"],
        );
    }
    for budget in items(&plane.api.get("/apis/policy/v1/poddisruptionbudgets")?) {
        let truth = crate::truth::budget(budget);
        let _ = writeln!(text, "{} {:?} {}", key(budget), truth.numbers, truth.condition);
    }
    Ok(text)
}

/// Waits until nothing has moved for `quiet`.
fn rest(plane: &mut Plane, quiet: Duration) -> Result<()> {
    let (start, mut since, mut last) = (Instant::now(), Instant::now(), state(plane)?);
    while since.elapsed() < quiet {
        std::thread::sleep(Duration::from_millis(300));
        let now = state(plane)?;
        if now != last {
            (since, last) = (Instant::now(), now);
        }
        plane.check()?;
        if start.elapsed() > Duration::from_secs(180) {
            bail!("the cluster does not come to rest");
        }
    }
    Ok(())
}

/// Drains as `kubectl drain NODE…` does: all cordoned first, then one after the other, also past one that hangs.
fn drain(plane: &mut Plane, nodes: &[String], before: &Value) -> Result<Drained> {
    let mut drained = Drained { nodes: nodes.to_vec(), ..Drained::default() };
    for node in nodes {
        drained.flags.insert(node.clone(), needed_flags(plane, node)?);
    }
    let mut cordon = vec!["cordon".to_owned()];
    cordon.extend(nodes.iter().cloned());
    kubectl(plane, &cordon)?;
    for node in nodes {
        let mut args = vec![kubeconfig(plane), "drain".to_owned(), node.clone()];
        args.extend(FLAGS.map(str::to_owned));
        let name = format!("drain-{node}");
        let mut process = Process::start(&name, &plane.components.kubectl(), &args, plane.folder())?;
        drained.ended.insert(node.clone(), ends(plane, &mut process)?);
        drop(process);
        drained.log.push_str(&std::fs::read_to_string(plane.folder().join(format!("{name}.log"))).unwrap_or_default());
    }
    let after = plane.api.get("/api/v1/pods")?;
    drained.stayed = stayed(nodes, before, &after);
    Ok(drained)
}

/// Whether the drain ends well; it is taken to hang once nothing has moved for long enough.
fn ends(plane: &mut Plane, process: &mut Process) -> Result<bool> {
    let (mut since, mut last) = (Instant::now(), String::new());
    loop {
        if let Some(status) = process.ended()? {
            return Ok(status.success());
        }
        let now = state(plane)?;
        if now != last {
            (since, last) = (Instant::now(), now);
        }
        if since.elapsed() > HANGS {
            return Ok(false);
        }
        plane.check()?;
        std::thread::sleep(Duration::from_millis(300));
    }
}

/// The flags that kubectl asks for until it has all it needs: of one pod it names the next only once it has the first.
fn needed_flags(plane: &Plane, node: &str) -> Result<Vec<String>> {
    let mut needed: Vec<String> = Vec::new();
    loop {
        let mut args = vec!["drain".to_owned(), node.to_owned(), "--dry-run=client".to_owned()];
        args.extend(needed.iter().cloned());
        let said = kubectl(plane, &args)?;
        let asked = FLAGS.iter().map(|flag| (*flag).to_owned());
        let new: Vec<String> = asked.filter(|flag| said.contains(&**flag) && !needed.contains(flag)).collect();
        if new.is_empty() {
            return Ok(needed);
        }
        needed.extend(new);
    }
}

/// Runs kubectl to its end and gives all that it said.
fn kubectl(plane: &Plane, args: &[String]) -> Result<String> {
    let output =
        Command::new(plane.components.kubectl()).arg(kubeconfig(plane)).args(args).output().context("run kubectl")?;
    Ok(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

fn kubeconfig(plane: &Plane) -> String {
    format!("--kubeconfig={}", plane.kubeconfig().display())
}

/// The pods of the nodes that are still there, a terminating one too. What a DaemonSet owns a drain leaves alone.
fn stayed(nodes: &[String], before: &Value, after: &Value) -> Vec<String> {
    let uid = |pod: &Value| pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let left: Vec<String> = items(after).iter().map(uid).collect();
    let on_nodes = |pod: &&Value| pod["spec"]["nodeName"].as_str().is_some_and(|n| nodes.iter().any(|node| node == n));
    let daemon = |pod: &Value| {
        pod["metadata"]["ownerReferences"].as_array().into_iter().flatten().any(|owner| owner["kind"] == "DaemonSet")
    };
    let pods = items(before).iter().filter(|item| item["kind"] == "Pod").filter(on_nodes);
    pods.filter(|pod| !daemon(pod) && left.contains(&uid(pod))).map(key).collect()
}

/// One seed: settle, ask the product, drain, compare; a miss is written as a case.
pub fn run(settings: &Settings, seed: u64) -> Result<Tally> {
    let recorded = record(settings, seed)?;
    let file = settings.scratch.path().join(format!("drain-{seed}.json"));
    std::fs::write(&file, recorded.list.to_string()).context("write the snapshot")?;
    let mut args = vec!["drain-plan"];
    args.extend(recorded.drained.nodes.iter().map(String::as_str));
    let bare = settings.product()?.ask(&args, &file)?;
    args.extend(FLAGS);
    let plan = settings.product()?.ask(&args, &file)?;
    let mut tally = Tally::default();
    judge::drain(&mut tally, &plan, &bare, &recorded.drained);
    if !tally.misses.is_empty() {
        let at = cases::write(
            &settings.misses,
            &format!("drain-{seed}"),
            &recorded.list,
            &truth(&recorded.drained, settings),
        )?;
        eprintln!("seed {seed}: a case is in {}", at.display());
    }
    Ok(tally)
}

/// The drain in the recorded form.
pub fn truth(drained: &Drained, settings: &Settings) -> Value {
    let mut argv = vec!["kubectl", "drain"];
    argv.extend(drained.nodes.iter().map(String::as_str));
    argv.extend(FLAGS);
    let ends = drained.ended.values().all(|ended| *ended);
    json!({"version": settings.components.version, "argv": argv, "verdict": if ends { "drains" } else { "blocked" },
        "nodes": drained.ended, "neededFlags": drained.flags, "stayed": drained.stayed, "output": drained.log})
}
