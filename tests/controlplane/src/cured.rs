//! A remedy, done: its commands are run as they are printed, then happens what was promised or it does not, and what was
//! declared is there again once it is undone.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::api::Api;
use crate::drained;
use crate::judge::drain::nodes;
use crate::judge::name_of;
use crate::kubectl::Said;
use crate::lane::Lane;
use crate::product::Answer;
use crate::remedies::Remedy;
use crate::runs::cures::Subject;
use crate::snapshot::key;
use crate::truth;

/// What becomes well does so within this, and rests.
const PATIENCE: Duration = Duration::from_secs(40);

/// Controllers follow what was undone within this.
const NOTICED: Duration = Duration::from_secs(1);

/// A remedy and the thing it is for.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The item of the answer: a node, a budget, a Pending pod.
    pub item: Value,
    /// What is offered for it.
    pub remedy: Remedy,
}

/// What came of a remedy.
pub struct Outcome {
    /// What was promised, and is not so; none where it is.
    pub broken: Option<String>,
    /// What the undoing did not bring back; none where it did, or where there is none.
    pub undone: Option<Option<String>>,
    /// All that was run.
    pub said: Vec<Said>,
}

/// Does a remedy, sees whether it does what it promised, and takes it back.
pub fn cure(lane: &Lane<'_>, subject: Subject, answer: &Answer, offer: &Offer, names: &[String]) -> Result<Outcome> {
    let before = lane.declared()?;
    let app = app_of_item(lane, offer);
    let mut said = Vec::new();
    run_lines(lane, "cure", &offer.remedy.lines, &mut said)?;
    let refused = said
        .iter()
        .find(|s| s.exit != Some(0))
        .map(|s| format!("{} ends with {:?}: {}", s.line, s.exit, s.output.trim()));
    let broken = match (refused, subject) {
        (Some(refused), _) => Some(refused),
        (None, Subject::Drain | Subject::Drains) => drains_now(lane, answer, offer, names, &mut said)?,
        (None, Subject::Status) => evicts_now(lane, offer)?,
        (None, Subject::Pending) => runs_now(lane, offer, &app)?,
    };
    let mut undone = None;
    if !offer.remedy.undo.is_empty() {
        run_lines(lane, "undo", &offer.remedy.undo, &mut said)?;
        for node in names {
            said.push(
                lane.shared
                    .kubectl
                    .shell(&format!("{}-uncordon-{node}", lane.world.name), &format!("kubectl uncordon {node}"))?,
            );
        }
        std::thread::sleep(NOTICED);
        undone = Some(difference(&before, &lane.declared()?));
    }
    Ok(Outcome { broken, undone, said })
}

fn run_lines(lane: &Lane<'_>, what: &str, lines: &[String], said: &mut Vec<Said>) -> Result<()> {
    for (i, line) in lines.iter().enumerate() {
        said.push(lane.shared.kubectl.shell(&format!("{}-{what}-{i}", lane.world.name), line)?);
    }
    Ok(())
}

/// Drains again. Where the remedy is for all that blocked, the drain ends; else the pods it is for are gone.
fn drains_now(
    lane: &Lane<'_>,
    answer: &Answer,
    offer: &Offer,
    names: &[String],
    said: &mut Vec<Said>,
) -> Result<Option<String>> {
    let pods = pods_of(&offer.item, &offer.remedy);
    let blocked: Vec<Value> = nodes(answer).iter().flat_map(staying).collect();
    let all = blocked.iter().all(|pod| pods.contains(&name_of(pod)));
    let before = lane.shared.api.get("/api/v1/pods")?;
    let drained = drained::drain(lane, names, &before)?;
    let texts = drained.said.iter().filter_map(|s| {
        Some(Said {
            line: s["line"].as_str()?.to_owned(),
            exit: s["exit"].as_i64().and_then(|exit| i32::try_from(exit).ok()),
            output: s["output"].as_str()?.to_owned(),
        })
    });
    said.extend(texts);
    if all && !drained.all_ended() {
        return Ok(Some(format!("the drain does not end: {:?} stay", drained.stayed)));
    }
    let stays: Vec<&String> = drained.stayed.iter().filter(|pod| pods.contains(*pod)).collect();
    Ok((!stays.is_empty()).then(|| format!("{stays:?} stay")))
}

/// The pods that a plan says stay.
fn staying(node: &Value) -> Vec<Value> {
    let pods = node["pods"].as_array().into_iter().flatten();
    let ignored = |p: &&Value| p["action"] == "none" || p["action"] == "skip";
    pods.filter(|p| p["outcome"] == "stays" && !ignored(p)).cloned().collect()
}

/// The pods that a remedy is for: those that its finding names, else those with its code.
fn pods_of(node: &Value, remedy: &Remedy) -> Vec<String> {
    let named: Vec<String> = remedy.objects.iter().filter_map(|o| o.strip_prefix("Pod/").map(str::to_owned)).collect();
    let staying = staying(node);
    let named: Vec<String> = named.into_iter().filter(|n| staying.iter().any(|p| name_of(p) == *n)).collect();
    if !named.is_empty() {
        return named;
    }
    let budgets: Vec<&str> = remedy.objects.iter().filter_map(|o| o.strip_prefix("PodDisruptionBudget/")).collect();
    let about = |pod: &&Value| {
        let codes = pod["codes"].as_array().into_iter().flatten().any(|code| code == remedy.code.as_str());
        let under =
            pod["budgets"].as_array().into_iter().flatten().filter_map(Value::as_str).any(|b| budgets.contains(&b));
        codes || under
    };
    staying.iter().filter(about).map(name_of).collect()
}

/// Waits until some pod that could not be evicted before can be.
fn evicts_now(lane: &Lane<'_>, offer: &Offer) -> Result<Option<String>> {
    let listed = offer.item["pods"].as_array().cloned().unwrap_or_default();
    let named: Vec<&str> = offer.remedy.objects.iter().filter_map(|o| o.strip_prefix("Pod/")).collect();
    let about = |pod: &&Value| named.is_empty() || named.contains(&&*name_of(pod));
    let held: Vec<String> = listed.iter().filter(about).filter(|p| p["eviction"]["code"] != 201).map(name_of).collect();
    if held.is_empty() {
        return Ok(None);
    }
    let namespace = offer.item["namespace"].as_str().unwrap_or_default();
    let labels: Vec<Value> = held.iter().filter_map(|name| app_of(lane, name)).collect();
    let mut last = String::new();
    let ends = until(lane, || {
        let pods = lane.shared.mirror.pods_in(&[namespace.to_owned()]);
        let same = pods.iter().filter(|pod| labels.contains(&pod["metadata"]["labels"]["app"]));
        let list: Vec<Value> = same.map(|pod| typed(pod)).collect();
        let answers = truth::evictions(&lane.shared.api, &json!({"items": list}))?;
        last = answers.iter().map(|(pod, e)| format!("{pod}: {} {}", e.code, e.message)).collect::<Vec<_>>().join("; ");
        Ok(answers.values().any(|eviction| eviction.code == 201))
    })?;
    Ok((!ends).then_some(last))
}

fn app_of(lane: &Lane<'_>, name: &str) -> Option<Value> {
    let pods = lane.shared.mirror.pods_in(&lane.world.namespaces);
    pods.iter().find(|pod| key(pod) == name).map(|pod| pod["metadata"]["labels"]["app"].clone())
}

fn typed(pod: &Value) -> Value {
    let mut pod = pod.clone();
    pod["kind"] = json!("Pod");
    pod
}

/// The label `app` of what an item is about. Workloads of these worlds are called by it.
fn app_of_item(lane: &Lane<'_>, offer: &Offer) -> String {
    let app = app_of(lane, &name_of(&offer.item)).unwrap_or_else(|| offer.item["name"].clone());
    app.as_str().unwrap_or_default().to_owned()
}

/// Waits until the pod has a node, or as many of its workload as there should be.
fn runs_now(lane: &Lane<'_>, offer: &Offer, app: &str) -> Result<Option<String>> {
    let namespace = offer.item["namespace"].as_str().unwrap_or_default();
    let mut last = String::new();
    let runs = until(lane, || {
        let pods = lane.pods(namespace, app);
        let live: Vec<_> = pods.iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null()).collect();
        let waiting: Vec<String> =
            live.iter().filter(|pod| pod["spec"]["nodeName"].is_null()).map(|pod| key(pod)).collect();
        let wanted = wanted(&lane.shared.api, namespace, app)?;
        last = format!("{} of {wanted:?} pods, {waiting:?} without a node", live.len());
        Ok(waiting.is_empty() && wanted.is_none_or(|wanted| live.len() as i64 >= wanted) && !live.is_empty())
    })?;
    Ok((!runs).then_some(last))
}

/// How many pods the workload of this name should have; none where there is no such workload that says so.
fn wanted(api: &Api, namespace: &str, name: &str) -> Result<Option<i64>> {
    for plural in ["deployments", "statefulsets", "replicasets"] {
        if let Some(object) = api.find(&format!("/apis/apps/v1/namespaces/{namespace}/{plural}/{name}"))? {
            return Ok(object["spec"]["replicas"].as_i64());
        }
    }
    Ok(None)
}

/// Waits until it is so and stays so for a moment; not longer than something still moves, or may.
fn until(lane: &Lane<'_>, mut so: impl FnMut() -> Result<bool>) -> Result<bool> {
    let (start, mut since) = (Instant::now(), None);
    loop {
        if so()? {
            if since.get_or_insert_with(Instant::now).elapsed() > Duration::from_secs(2) {
                return Ok(true);
            }
        } else {
            since = None;
            let still = start.elapsed() > Duration::from_secs(12) && lane.still() > Duration::from_secs(12);
            if still || start.elapsed() > PATIENCE {
                return Ok(false);
            }
        }
        std::thread::sleep(Duration::from_millis(300));
    }
}

/// The first object that an undoing has not brought back, and how it differs.
fn difference(before: &Map<String, Value>, after: &Map<String, Value>) -> Option<String> {
    for (path, was) in before {
        let was = without_nothing(was);
        match after.get(path).map(without_nothing) {
            // A Job that has ended is deleted when its time has come.
            None if path.contains("/jobs/") => {}
            None => return Some(format!("{path} is gone")),
            Some(is) if is != was => return Some(format!("{path} was {was} and is {is}")),
            Some(_) => {}
        }
    }
    after.keys().find(|path| !before.contains_key(*path)).map(|path| format!("{path} is new"))
}

/// The same without empty fields and without what time alone writes.
fn without_nothing(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept =
                fields.iter().filter(|(name, _)| *name != "timeAdded" && *name != "kubectl.kubernetes.io/restartedAt");
            let kept = kept.map(|(name, value)| (name.clone(), without_nothing(value)));
            let kept: Map<String, Value> = kept.filter(|(_, value)| !is_nothing(value)).collect();
            Value::Object(kept)
        }
        Value::Array(all) => Value::Array(all.iter().map(without_nothing).collect()),
        other => other.clone(),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(all) => all.is_empty(),
        _ => false,
    }
}
