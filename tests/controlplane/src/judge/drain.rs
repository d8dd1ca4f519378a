//! Holds a plan against the drains that followed.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Tally, absent, name_of, strings};
use crate::drained::Drained;
use crate::product::Answer;

/// The product's answers about one drain.
pub struct Plans {
    /// The plan for the command as it is run.
    pub plan: Answer,
    /// The plan for the same without the flags that kubectl asks for.
    pub bare: Answer,
}

/// What no snapshot tells of a world.
#[derive(Debug, Clone)]
pub struct Hidden {
    /// Something: "unknown" is no disagreement.
    pub anything: bool,
    /// Whether evictions come before a webhook has lost its pods: "blocked" is none either.
    pub race: bool,
    /// `namespace/name` of the Jobs' pods that end by themselves meanwhile: what is said of them is not judged, nor that one of
    /// them alone blocks.
    pub work: BTreeSet<String>,
}

/// Compares a drain with the plan for it: whether each node's drain ends, the exit status, which pods stay, and which
/// flags kubectl asks for.
pub fn judge(tally: &mut Tally, plans: &Plans, truth: &Drained, hidden: &Hidden) {
    let name = truth.nodes.join(",");
    flags(tally, &plans.bare, truth);
    if truth.close {
        tally.count("not judged: the clock decided");
        return;
    }
    let planned = nodes(&plans.plan);
    let mut unknown = false;
    for (node, ended) in &truth.ended {
        let ours = planned.iter().find(|n| n["name"] == node.as_str());
        let ours =
            ours.map_or_else(|| absent(&plans.plan), |n| word(n["verdict"].as_str().unwrap_or_default()).to_owned());
        let race = hidden.race || planned.iter().filter(|n| n["name"] == node.as_str()).any(|n| by_work(n, hidden));
        if hidden.anything && ours == "unknown" || race && ours == "blocked" {
            unknown = true;
            continue;
        }
        tally.add("drains", node, if *ended { "ends" } else { "blocked" }, &ours);
    }
    if unknown {
        tally.count("not judged: no snapshot could tell");
        return;
    }
    let exit = if truth.ended.values().all(|ended| *ended) { "0" } else { "2" };
    tally.add("exit status", &name, exit, &plans.plan.exit.to_string());
    stays(tally, &name, &planned, truth, hidden);
}

/// Whether all that blocks a node are pods that end by themselves.
fn by_work(node: &Value, hidden: &Hidden) -> bool {
    let pods = node["pods"].as_array().into_iter().flatten();
    let mut stay = pods.filter(|p| p["outcome"] == "stays" && p["action"] == "evict").peekable();
    stay.peek().is_some() && stay.all(|p| hidden.work.contains(&name_of(p)))
}

/// Which of the pods under one budget stays is chance; how many do is not.
fn stays(tally: &mut Tally, name: &str, planned: &[Value], truth: &Drained, hidden: &Hidden) {
    let pods: Vec<&Value> = planned.iter().filter_map(|n| n["pods"].as_array()).flatten().collect();
    let ignored = |p: &Value| p["action"] == "none" || p["action"] == "skip";
    let group = |key: &str| {
        let pod = pods.iter().find(|p| name_of(p) == key);
        let budgets = pod.map(|p| strings(&p["budgets"]).join(",")).unwrap_or_default();
        if budgets.is_empty() { key.to_owned() } else { budgets }
    };
    let untold = |p: &Value| ignored(p) || p["outcome"] == "unknown" || hidden.work.contains(&name_of(p));
    let left = |key: &&String| !pods.iter().any(|p| name_of(p) == ***key && untold(p));
    let stays = pods.iter().filter(|p| p["outcome"] == "stays" && !untold(p));
    let mut ours: Vec<String> = stays.map(|p| group(&name_of(p))).collect();
    let mut real: Vec<String> = truth.stayed.iter().filter(left).map(|key| group(key)).collect();
    ours.sort();
    real.sort();
    tally.add("pods that stay", name, &format!("{real:?}"), &format!("{ours:?}"));
}

fn flags(tally: &mut Tally, bare: &Answer, truth: &Drained) {
    let asked = nodes(bare);
    for (node, flags) in &truth.needed {
        let ours = asked.iter().find(|n| n["name"] == node.as_str());
        let mut ours = ours.map(|n| strings(&n["neededFlags"])).unwrap_or_default();
        let mut real = flags.clone();
        ours.sort();
        real.sort();
        tally.add("needed flags", node, &format!("{real:?}"), &format!("{ours:?}"));
    }
}

/// The nodes of a plan.
pub fn nodes(answer: &Answer) -> Vec<Value> {
    answer.document["nodes"].as_array().cloned().unwrap_or_default()
}

fn word(verdict: &str) -> &str {
    if ["drains", "waits"].contains(&verdict) { "ends" } else { verdict }
}
