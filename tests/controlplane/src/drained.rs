//! Real drains of a world, to their end or until they hang.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use crate::generate::worlds::By;
use crate::kubectl::Running;
use crate::lane::Lane;
use crate::snapshot::{items, key};

/// The flags that let a drain go ahead over what it asks leave for.
pub const FLAGS: [&str; 3] = ["--ignore-daemonsets", "--delete-emptydir-data", "--force"];

/// Nothing moves for so long: the drain hangs. kubectl tries again every five seconds, and everything else here is
/// quicker than that.
const HANGS: Duration = Duration::from_secs(16);

/// A drain with a deadline of its own is waited for.
const PATIENCE: Duration = Duration::from_secs(150);

/// What became of a drain.
#[derive(Debug, Clone, Default)]
pub struct Drained {
    /// The nodes, in the order in which they were drained.
    pub nodes: Vec<String>,
    /// By node: whether its drain ended well.
    pub ended: BTreeMap<String, bool>,
    /// By node: the flags that kubectl asks for.
    pub needed: BTreeMap<String, Vec<String>>,
    /// The pods (`namespace/name`) that were on the nodes and are still there, but those that a drain leaves alone.
    pub stayed: Vec<String>,
    /// The commands, how they ended, and what they said.
    pub said: Vec<Value>,
    /// The clock decided: a deadline passed while the drain was getting on, or just did not.
    pub close: bool,
}

impl Drained {
    /// Whether all ended well.
    pub fn all_ended(&self) -> bool {
        self.ended.values().all(|ended| *ended)
    }
}

/// Drains the world's nodes as its question says. `before` is the world before.
pub fn drain(lane: &Lane<'_>, nodes: &[String], before: &Value) -> Result<Drained> {
    let question = &lane.world.drain;
    let mut drained = Drained { nodes: nodes.to_vec(), ..Drained::default() };
    for node in nodes {
        drained.needed.insert(node.clone(), needed_flags(lane, node, &question.flags)?);
    }
    let flags: Vec<&str> = FLAGS.into_iter().chain(question.flags.iter().map(String::as_str)).collect();
    match question.by {
        By::ManyCommands => at_once(lane, nodes, &flags, &mut drained)?,
        By::OneCommand | By::Rounds => one_command(lane, nodes, &flags, &mut drained)?,
    }
    drained.stayed = stayed(nodes, before, &lane.shared.api.get("/api/v1/pods")?);
    Ok(drained)
}

/// The line that drains these nodes.
pub fn line(nodes: &[String], flags: &[&str]) -> String {
    let quoted = flags.iter().map(|flag| if flag.contains(' ') { format!("'{flag}'") } else { (*flag).to_owned() });
    let words: Vec<String> = nodes.iter().cloned().chain(quoted).collect();
    format!("kubectl drain {}", words.join(" "))
}

/// One command for all nodes. Past one that hangs it is started again with the others, as `--timeout` would let it go on.
fn one_command(lane: &Lane<'_>, nodes: &[String], flags: &[&str], drained: &mut Drained) -> Result<()> {
    let mut left = nodes.to_vec();
    while !left.is_empty() {
        let name = format!("{}-drain-{}", lane.world.name, drained.said.len());
        let mut running = lane.shared.kubectl.start(&name, &line(&left, flags))?;
        let exit = wait(lane, &mut [&mut running], drained)?.remove(0);
        let said = running.said(exit);
        drained.said.push(said.to_json());
        let well = |node: &String| said.output.contains(&format!("node/{node} drained"));
        let tried = |node: &String| well(node) || said.output.contains(&format!("unable to drain node \"{node}\""));
        // All have been tried where it ended by itself; else it hangs at the first that is neither done nor given up.
        let hangs = if exit.is_none() { left.iter().position(|node| !tried(node)) } else { None };
        let end = hangs.map_or(left.len(), |at| at + 1);
        for node in left.drain(..end) {
            let ended = well(&node);
            drained.ended.insert(node, ended);
        }
    }
    Ok(())
}

/// A command for each node, at the same time.
pub fn at_once(lane: &Lane<'_>, nodes: &[String], flags: &[&str], drained: &mut Drained) -> Result<()> {
    let mut running = Vec::new();
    for node in nodes {
        let name = format!("{}-drain-{}-{}", lane.world.name, drained.said.len(), running.len());
        running.push(lane.shared.kubectl.start(&name, &line(std::slice::from_ref(node), flags))?);
    }
    let mut all: Vec<&mut Running> = running.iter_mut().collect();
    let exits = wait(lane, &mut all, drained)?;
    for ((node, running), exit) in nodes.iter().zip(running).zip(exits) {
        drained.ended.insert(node.clone(), exit == Some(0));
        drained.said.push(running.said(exit).to_json());
    }
    Ok(())
}

/// Waits for the ends; none where a drain hangs, which it is taken to once nothing has moved for long enough.
fn wait(lane: &Lane<'_>, running: &mut [&mut Running], drained: &mut Drained) -> Result<Vec<Option<i32>>> {
    let (start, deadline) = (Instant::now(), deadline(&lane.world.drain.flags));
    loop {
        let exits = running.iter_mut().map(|r| r.exit()).collect::<Result<Vec<_>>>()?;
        let took = start.elapsed();
        if exits.iter().all(Option::is_some) {
            if let Some(deadline) = deadline {
                let quiet = lane.shared.mirror.quiet(&lane.world.namespaces);
                drained.close |= match exits.iter().all(|exit| *exit == Some(0)) {
                    true => took > deadline.mul_f64(0.6),
                    false => took >= deadline && quiet < Duration::from_secs(6),
                };
            }
            return Ok(exits);
        }
        let hangs = took > HANGS && lane.still() > HANGS;
        if if deadline.is_some() { took > PATIENCE } else { hangs } {
            return Ok(exits);
        }
        lane.shared.check()?;
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// The `--timeout` among the flags.
fn deadline(flags: &[String]) -> Option<Duration> {
    let text = flags.iter().find_map(|flag| flag.strip_prefix("--timeout="))?;
    text.strip_suffix('s')?.parse().ok().map(Duration::from_secs)
}

/// The flags that kubectl asks for until it has all it needs: of one pod it names the next only once it has the first.
fn needed_flags(lane: &Lane<'_>, node: &str, given: &[String]) -> Result<Vec<String>> {
    let mut needed: Vec<String> = Vec::new();
    loop {
        let mut args = vec!["drain".to_owned(), node.to_owned(), "--dry-run=client".to_owned()];
        args.extend(given.iter().chain(&needed).cloned());
        let said = lane.shared.kubectl.run(&args)?;
        let asked = FLAGS.iter().map(|flag| (*flag).to_owned());
        let new: Vec<String> = asked.filter(|flag| said.contains(&**flag) && !needed.contains(flag)).collect();
        if new.is_empty() {
            return Ok(needed);
        }
        needed.extend(new);
    }
}

/// The pods of the nodes that are still there, a terminating one too. What a DaemonSet owns a drain leaves alone.
pub fn stayed(nodes: &[String], before: &Value, after: &Value) -> Vec<String> {
    let uid = |pod: &Value| pod["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let left: Vec<String> = items(after).iter().map(uid).collect();
    let on_nodes = |pod: &&Value| pod["spec"]["nodeName"].as_str().is_some_and(|n| nodes.iter().any(|node| node == n));
    let daemon = |pod: &Value| {
        let owners = pod["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        owners.into_iter().any(|owner| owner["kind"] == "DaemonSet" && owner["apiVersion"] == "apps/v1")
    };
    // A list's items do not say what they are; those of a snapshot do.
    let pods = items(before).iter().filter(|item| item["kind"].is_null() || item["kind"] == "Pod").filter(on_nodes);
    pods.filter(|pod| !daemon(pod) && left.contains(&uid(pod))).map(key).collect()
}

/// The drain in the recorded form.
pub fn truth(drained: &Drained, lane: &Lane<'_>, seed: u64) -> Value {
    let question = &lane.world.drain;
    let mut argv = vec!["kubectl", "drain"];
    argv.extend(drained.nodes.iter().map(String::as_str));
    argv.extend(FLAGS);
    argv.extend(question.flags.iter().map(String::as_str));
    json!({"version": lane.shared.version, "seed": seed, "madeOf": lane.world.made_of, "hidden": lane.world.hidden,
        "argv": argv, "by": format!("{:?}", question.by), "verdict": if drained.all_ended() { "drains" } else { "blocked" },
        "nodes": drained.ended, "neededFlags": drained.needed, "stayed": drained.stayed, "close": drained.close,
        "commands": drained.said})
}
