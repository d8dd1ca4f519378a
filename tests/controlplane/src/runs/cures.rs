//! Remedies that are marked as verified, done: the printed commands are run by the real kubectl as they are printed, and
//! then happens what was promised, or it does not.
//!
//! Each remedy gets a world of its own from the same seed, and is the product's answer to that very world.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::Settings;
use crate::api::Api;
use crate::cases;
use crate::drained::{self, FLAGS};
use crate::generate::worlds::{World, blocked, drains, pending};
use crate::judge::Tally;
use crate::judge::drain::nodes;
use crate::kubectl::Said;
use crate::lane::Lane;
use crate::product::Answer;
use crate::remedies::{self, Remedy};
use crate::shared::Shared;
use crate::snapshot::{items, key};
use crate::truth;

/// At most so many remedies of one world are done.
const EACH: usize = 5;

/// What becomes well does so within this, and rests.
const PATIENCE: Duration = Duration::from_secs(40);

/// Controllers follow what was undone within this.
const NOTICED: Duration = Duration::from_secs(1);

/// What the remedies are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Subject {
    /// Worlds in which a drain is blocked; the drain is run again
    Drain,
    /// The random worlds of `drain`, as far as they are blocked
    Drains,
    /// Worlds in which a budget allows nothing; evictions are tried
    Status,
    /// Worlds in which a pod stays Pending, or is not made; it is watched
    Pending,
}

impl Subject {
    fn world(self, name: &str, seed: u64) -> World {
        match self {
            Self::Drain | Self::Status => blocked::world(name, seed),
            Self::Drains => drains::world(name, seed),
            Self::Pending => pending::world(name, seed),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Drain => "blocked",
            Self::Drains => "drains",
            Self::Status => "status",
            Self::Pending => "pending",
        }
    }
}

/// A remedy and the thing it is for.
#[derive(Debug, Clone)]
struct Offer {
    /// The item of the answer: a node, a budget, a Pending pod.
    item: Value,
    remedy: Remedy,
}

/// What came of a remedy.
struct Outcome {
    /// What was promised, and is not so; none where it is.
    broken: Option<String>,
    /// What the undoing did not bring back; none where it did, or where there is none.
    undone: Option<Option<String>>,
    /// All that was run.
    said: Vec<Said>,
}

/// One seed: make the world, ask for remedies, and for each of them make it again and do it.
pub fn run(settings: &Settings, shared: &Shared, subject: Subject, seed: u64) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut wanted: Vec<Remedy> = Vec::new();
    for trial in 0..EACH {
        let world = subject.world(&format!("{}{seed}t{trial}", &subject.word()[..1]), seed);
        let lane = Lane::make(shared, world)?;
        let list = lane.snapshot()?;
        let names = if subject == Subject::Pending { Vec::new() } else { lane.nodes()? };
        let answer = ask(settings, subject, &lane, &list, &names, trial)?;
        let offers = offers(&mut tally, subject, &answer, trial == 0);
        if trial == 0 {
            wanted = offers.iter().map(|offer| offer.remedy.clone()).collect();
            tally.count(if wanted.is_empty() {
                "worlds without a verified remedy"
            } else {
                "worlds with verified remedies"
            });
            if wanted.is_empty() {
                let verdicts = verdicts(subject, &answer);
                eprintln!(
                    "seed {seed} ({}): no verified remedy; {}",
                    lane.world.made_of.join(", "),
                    verdicts.join(", ")
                );
            }
        }
        if settings.keep && trial == 0 {
            let truth = json!({"seed": seed, "madeOf": lane.world.made_of, "answer": answer.document});
            cases::write(&settings.misses, &format!("world-{}-{seed}", subject.word()), &list, &truth)?;
        }
        // Names differ from world to world: the n-th of the same kind is the same remedy.
        let Some(like) = wanted.get(trial) else {
            lane.remove()?;
            break;
        };
        let nth = wanted[..trial].iter().filter(|known| known.like(like)).count();
        if let Some(offer) = offers.iter().filter(|offer| offer.remedy.like(like)).nth(nth) {
            let outcome = cure(&lane, subject, &answer, offer, &names)?;
            let case = note(&mut tally, subject, seed, offer, &outcome);
            if let Some(case) = case {
                let truth = record(&lane, seed, subject, &names, offer, &outcome);
                let at = cases::write(
                    &settings.misses,
                    &format!("{case}-{}-{seed}-{trial}", subject.word()),
                    &list,
                    &truth,
                )?;
                eprintln!("seed {seed} ({}): a case is in {}", lane.world.made_of.join(", "), at.display());
            }
        }
        lane.remove()?;
    }
    Ok(tally)
}

fn ask(
    settings: &Settings,
    subject: Subject,
    lane: &Lane<'_>,
    list: &Value,
    names: &[String],
    trial: usize,
) -> Result<Answer> {
    let file = settings.scratch.path().join(format!("{}-{trial}.json", lane.world.name));
    std::fs::write(&file, list.to_string()).context("write the snapshot")?;
    let args: Vec<&str> = match subject {
        Subject::Pending => vec!["why-pending", "-A"],
        Subject::Status => vec!["status", "-A"],
        Subject::Drain | Subject::Drains => {
            let flags = FLAGS.iter().copied().chain(lane.world.drain.flags.iter().map(String::as_str));
            ["drain-plan"].into_iter().chain(names.iter().map(String::as_str)).chain(flags).collect()
        }
    };
    settings.product()?.ask(&args, &file)
}

/// All that is offered. Of a plan, what is offered for nodes that are blocked.
fn offers(tally: &mut Tally, subject: Subject, answer: &Answer, count: bool) -> Vec<Offer> {
    let list = if matches!(subject, Subject::Drain | Subject::Drains) { "nodes" } else { "items" };
    let mut all: Vec<Offer> = Vec::new();
    for item in answer.document[list].as_array().into_iter().flatten() {
        if list == "nodes" && item["verdict"] != "blocked" {
            continue;
        }
        let (found, without) = remedies::of(&item["findings"]);
        for _ in 0..if count { without } else { 0 } {
            tally.count("verified remedies without a command");
        }
        for remedy in found {
            if !all.iter().any(|offer| offer.remedy.lines == remedy.lines) {
                all.push(Offer { item: item.clone(), remedy });
            }
        }
    }
    all
}

/// What the answer says instead: the verdicts and codes of its items.
fn verdicts(subject: Subject, answer: &Answer) -> Vec<String> {
    let (list, verdict) = match subject {
        Subject::Drain | Subject::Drains => ("nodes", "verdict"),
        Subject::Status => ("items", "verdict"),
        Subject::Pending => ("items", "stage"),
    };
    let of = |item: &Value| {
        let findings = item["findings"].as_array().into_iter().flatten();
        let codes: Vec<&str> = findings.filter_map(|finding| finding["code"].as_str()).collect();
        format!("{} {} [{}]", name_of(item), item[verdict].as_str().unwrap_or_default(), codes.join(" "))
    };
    answer.document[list].as_array().into_iter().flatten().map(of).collect()
}

/// Does a remedy, sees whether it does what it promised, and takes it back.
fn cure(lane: &Lane<'_>, subject: Subject, answer: &Answer, offer: &Offer, names: &[String]) -> Result<Outcome> {
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

fn name_of(item: &Value) -> String {
    format!("{}/{}", item["namespace"].as_str().unwrap_or_default(), item["name"].as_str().unwrap_or_default())
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

/// Counts the outcome; the word for a case where something was not as promised.
fn note(tally: &mut Tally, subject: Subject, seed: u64, offer: &Offer, outcome: &Outcome) -> Option<&'static str> {
    let remedy = &offer.remedy;
    let figure = format!("cures of {}", subject.word());
    let object = format!("{seed}: {} {}: {}", remedy.code, name_of(&offer.item), remedy.lines.join("; "));
    let real = outcome.broken.clone().unwrap_or_else(|| "cured".to_owned());
    tally.add(&figure, &object, &real, "cured");
    tally.count_in(&format!("{figure} by {}: {}", remedy.code, remedy.kind()), outcome.broken.is_none());
    let mut case = outcome.broken.as_ref().map(|_| "cure");
    if let Some(undone) = &outcome.undone {
        let real = undone.clone().unwrap_or_else(|| "undone".to_owned());
        tally.add(
            &format!("undoings of {}", subject.word()),
            &format!("{seed}: {}", remedy.undo.join("; ")),
            &real,
            "undone",
        );
        case = case.or(undone.as_ref().map(|_| "undo"));
    }
    case
}

/// A case's truth.
fn record(lane: &Lane<'_>, seed: u64, subject: Subject, names: &[String], offer: &Offer, outcome: &Outcome) -> Value {
    let flags: Vec<&str> = FLAGS.iter().copied().chain(lane.world.drain.flags.iter().map(String::as_str)).collect();
    let question = match subject {
        Subject::Pending => "kubectl pdb why-pending -A".to_owned(),
        Subject::Status => "kubectl pdb status -A".to_owned(),
        Subject::Drain | Subject::Drains => {
            drained::line(names, &flags).replace("kubectl drain", "kubectl pdb drain-plan")
        }
    };
    let remedy = &offer.remedy;
    let run: Vec<Value> = outcome.said.iter().map(Said::to_json).collect();
    let pods = lane.shared.api.get("/api/v1/pods").map(|list| items(&list).to_vec()).unwrap_or_default();
    let after = pods.iter().filter(|pod| lane.world.namespaces.iter().any(|n| pod["metadata"]["namespace"] == **n));
    let after: Vec<String> = after
        .map(|pod| {
            format!(
                "{} on {} {} {}",
                key(pod),
                pod["spec"]["nodeName"],
                pod["status"]["phase"],
                pod["metadata"]["deletionTimestamp"]
            )
        })
        .collect();
    json!({"version": lane.shared.version, "seed": seed, "madeOf": lane.world.made_of, "question": question,
        "item": name_of(&offer.item), "code": remedy.code, "remedy": remedy.text, "commands": remedy.lines, "undo": remedy.undo,
        "cured": outcome.broken.is_none(), "otherwise": outcome.broken, "notUndone": outcome.undone.clone().flatten(),
        "run": run, "podsAfter": after})
}
