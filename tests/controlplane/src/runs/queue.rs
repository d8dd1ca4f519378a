//! Random queues of Pending pods: who is bound at the end, where, and who was preempted for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Settings, over_seeds};
use crate::cases;
use crate::generate::queue::cluster;
use crate::judge::Tally;
use crate::load::load;
use crate::plane::{Options, Plane};
use crate::product::Answer;
use crate::reset::reset;
use crate::scheduling::is_pending;
use crate::snapshot::{self, items, key};

const PODS: &str = "/api/v1/pods";

/// How a queue ended.
#[derive(Debug, Default)]
struct End {
    /// The node of each pod that waited; `None` for one that still does.
    pods: BTreeMap<String, Option<String>>,
    /// The running pods that were preempted.
    victims: BTreeSet<String>,
}

/// Runs these seeds on one control plane.
pub fn over(settings: &Settings, seeds: Range<u64>) -> Result<Tally> {
    let mut plane = Plane::start(&settings.components, &Options::default())?;
    let mut used = false;
    over_seeds(seeds, |seed| {
        if used {
            reset(&mut plane)?;
        }
        used = true;
        one(settings, &mut plane, seed)
    })
}

fn one(settings: &Settings, plane: &mut Plane, seed: u64) -> Result<Tally> {
    let loaded = load(&plane.api, &cluster(seed))?;
    if let Some(refusal) = loaded.refused.first() {
        bail!("the API server does not take what was generated: {refusal}");
    }
    let list = snapshot::take(plane)?;
    let end = play(plane)?;
    let file = settings.scratch.path().join(format!("queue-{seed}.json"));
    std::fs::write(&file, list.to_string()).context("write the snapshot")?;
    let answer = settings.product()?.ask(&["why-pending", "-A"], &file)?;
    let mut tally = Tally::default();
    judge(&mut tally, &answer, &end);
    if !tally.misses.is_empty() {
        let truth = json!({"pods": end.pods, "victims": end.victims});
        let at = cases::write(&settings.misses, &format!("queue-{seed}"), &list, &truth)?;
        eprintln!("seed {seed}: a case is in {}", at.display());
    }
    Ok(tally)
}

/// Starts the scheduler and lets it work until nothing moves any more. Pods that it preempts are gone at once, as there is
/// no kubelet to end them.
fn play(plane: &mut Plane) -> Result<End> {
    let before = plane.api.get(PODS)?;
    let waited: BTreeSet<String> = pods(&before).filter(is_pending).map(|p| key(&p)).collect();
    let ran: BTreeSet<String> = pods(&before).filter(|p| !p["spec"]["nodeName"].is_null()).map(|p| key(&p)).collect();
    plane.start_scheduler()?;
    let start = Instant::now();
    let (mut last, mut since) = (String::new(), Instant::now());
    // A pod is tried again after two seconds at most (podMaxBackoffSeconds).
    let quiet = Duration::from_secs(4);
    let list = loop {
        std::thread::sleep(Duration::from_millis(250));
        plane.check()?;
        let list = plane.api.get(PODS)?;
        for pod in pods(&list).filter(|p| !p["metadata"]["deletionTimestamp"].is_null()) {
            let (ns, name) = (&pod["metadata"]["namespace"], &pod["metadata"]["name"]);
            let path = format!(
                "/api/v1/namespaces/{}/pods/{}",
                ns.as_str().unwrap_or_default(),
                name.as_str().unwrap_or_default()
            );
            plane.api.delete(&path, 0)?;
        }
        // What is said of a pod changes with every attempt; where it is, and whether it was looked at, does not.
        let seen = |p: &Value| {
            p["status"]["conditions"].as_array().is_some_and(|c| c.iter().any(|c| c["type"] == "PodScheduled"))
        };
        let now: Vec<String> = pods(&list)
            .map(|p| format!("{} {} {} {}", key(&p), p["spec"]["nodeName"], p["status"]["nominatedNodeName"], seen(&p)))
            .collect();
        let now = now.join("\n");
        let unseen = pods(&list).any(|p| is_pending(&p) && !seen(&p));
        if now != last {
            (last, since) = (now, Instant::now());
        } else if !unseen && since.elapsed() > quiet {
            break list;
        }
        if start.elapsed() > Duration::from_secs(120) {
            bail!("the queue does not come to rest");
        }
    };
    plane.stop_scheduler();
    let left: BTreeMap<String, Value> = pods(&list).map(|p| (key(&p), p)).collect();
    let node = |name: &String| left.get(name).and_then(|p| p["spec"]["nodeName"].as_str()).map(str::to_owned);
    Ok(End {
        pods: waited.iter().map(|name| (name.clone(), node(name))).collect(),
        victims: ran.into_iter().filter(|name| !left.contains_key(name)).collect(),
    })
}

/// Objects in a list carry no kind.
fn pods(list: &Value) -> impl Iterator<Item = Value> + '_ {
    items(list).iter().map(|pod| {
        let mut pod = pod.clone();
        pod["kind"] = json!("Pod");
        pod
    })
}

/// A pod that was bound and then preempted by one that came to fit later is neither: it is told as not bound.
fn judge(tally: &mut Tally, answer: &Answer, end: &End) {
    let ours: BTreeMap<String, &Value> = answer.document["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|i| i["kind"] == "Pod")
        .map(|i| {
            let text = |field: &str| i[field].as_str().unwrap_or_default().to_owned();
            (format!("{}/{}", text("namespace"), text("name")), &i["queue"])
        })
        .collect();
    let victims: BTreeSet<&str> =
        ours.values().flat_map(|t| t["victims"].as_array().into_iter().flatten()).filter_map(Value::as_str).collect();
    for (pod, real) in &end.pods {
        let Some(turn) = ours.get(pod) else {
            tally.add("queue bound", pod, "in the queue", "not in the answer");
            continue;
        };
        let bound = |yes: bool| if yes { "bound" } else { "waits" };
        let placed = !turn["node"].is_null();
        tally.add("queue bound", pod, bound(real.is_some()), bound(placed));
        if let (Some(real), Some(node), Some(true)) = (real, turn["node"].as_str(), turn["certain"].as_bool()) {
            tally.add("queue node where nothing is chosen", pod, real, node);
        }
        if let (Some(real), Some(node)) = (real, turn["node"].as_str()) {
            tally.count(if real == node { "queue nodes: the same" } else { "queue nodes: another" });
        }
    }
    let real: Vec<&str> = end.victims.iter().map(|v| &**v).collect();
    let same = real == victims.iter().copied().collect::<Vec<_>>();
    tally.count(if same { "queue victims: the same" } else { "queue victims: others" });
}
