//! The product's own client against this API server: with every right, with the README's rights, with one kind missing,
//! with a wrong token, with no server, and with a server that fails in the middle of a list.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Settings, encodings};
use crate::generate::budgets::cluster;
use crate::generate::pending::{self, Purpose};
use crate::judge::{self, Tally};
use crate::load::load;
use crate::plane::{Options, Plane};
use crate::product::{Answer, Product};
use crate::proxy::{Fault, Proxy};
use crate::{snapshot, truth};

const READER: (&str, &str) = ("reader-token", "reader");
const PARTIAL: (&str, &str) = ("partial-token", "partial");

/// A cluster with custom owners among the others.
const SEED: u64 = 4;

/// A fault that answers later than this has not been noticed.
const PATIENCE: Duration = Duration::from_secs(45);

struct Live<'a> {
    plane: Plane,
    product: &'a Product,
    tally: Tally,
}

/// Runs all checks.
pub fn run(settings: &Settings) -> Result<Tally> {
    let options = Options { users: vec![READER, PARTIAL], audit: true, ..Options::default() };
    let mut plane = Plane::start(&settings.components, &options)?;
    load(&plane.api, &cluster(SEED, Timestamp::now()))?;
    let budgets = truth::budgets(&mut plane)?;
    let list = snapshot::take(&plane)?;
    let evictions = truth::evictions(&plane.api, &list)?;
    grant(&plane)?;
    let mut live = Live { plane, product: settings.product()?, tally: Tally::default() };

    let admin = live.ask("admin", "admin-token")?;
    judge::budgets(&mut live.tally, &admin, &list, &budgets);
    judge::evictions(&mut live.tally, &admin, &evictions);
    let file = settings.scratch.path().join("live.json");
    std::fs::write(&file, list.to_string()).context("write the snapshot")?;
    let from_file = live.product.ask(&["status", "-A"], &file)?;
    live.same("live and file say the same", &from_file, &admin);

    let reader = live.ask("reader", READER.0)?;
    live.check("the README's rights suffice", whole(&reader), &words(&reader));
    live.same("the reader sees what the admin sees", &reader, &admin);
    live.only_reads()?;

    let partial = live.ask("partial", PARTIAL.0)?;
    let gap = partial.document["gaps"].as_array().into_iter().flatten().any(|gap| {
        gap["resource"].as_str().is_some_and(|r| r.contains("statefulsets")) && gap["reason"] == "forbidden"
    });
    live.check("a kind that may not be read is a gap", gap && partial.exit == 0, &words(&partial));
    live.check("a gap is not complete", partial.document["complete"] == false, &words(&partial));

    let wrong = live.ask("wrong", "no-such-token")?;
    live.check("a wrong token is an error", wrong.exit == 1 && !wrong.stderr.is_empty(), &words(&wrong));
    let started = Instant::now();
    let dead = live.ask_at("dead", "https://127.0.0.1:1", "admin-token")?;
    live.check("a dead server is an error", dead.exit == 1 && !dead.stderr.is_empty(), &words(&dead));
    live.check("a dead server is noticed soon", started.elapsed() < PATIENCE, "");
    live.faults(&admin)?;
    for seed in SEED..SEED + 4 {
        load(&live.plane.api, &pending::cluster(seed, Purpose::Messages))?;
    }
    load(&live.plane.api, &encodings::others())?;
    live.both_encodings()?;
    Ok(live.tally)
}

impl Live<'_> {
    fn check(&mut self, what: &str, holds: bool, otherwise: &str) {
        self.tally.note("live checks", what, holds, "holds", &format!("does not hold {otherwise}"));
    }

    fn same(&mut self, what: &str, one: &Answer, other: &Answer) {
        let difference = first_difference(one, other);
        self.check(what, difference.is_none(), &difference.unwrap_or_default());
    }

    fn ask(&self, name: &str, token: &str) -> Result<Answer> {
        self.ask_at(name, &self.plane.server, token)
    }

    fn ask_at(&self, name: &str, server: &str, token: &str) -> Result<Answer> {
        let kubeconfig = self.plane.kubeconfig_for(name, server, token)?;
        let kubeconfig = kubeconfig.to_string_lossy();
        self.product.run(&["status", "-A", "-o", "json"], &[("KUBECONFIG", &kubeconfig)])
    }

    /// The audit log holds every request of the reader: get and list alone.
    fn only_reads(&mut self) -> Result<()> {
        let log = self.plane.audit_log()?;
        let entries = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let verbs: Vec<String> = entries
            .filter(|entry| entry["user"]["username"] == READER.1)
            .map(|entry| entry["verb"].as_str().unwrap_or_default().to_owned())
            .collect();
        let other: Vec<&String> = verbs.iter().filter(|verb| *verb != "get" && *verb != "list").collect();
        self.check("nothing but get and list is asked", !verbs.is_empty() && other.is_empty(), &format!("{other:?}"));
        Ok(())
    }

    /// What is kept of each object is the same whether it came as protobuf or as JSON.
    fn both_encodings(&mut self) -> Result<()> {
        let kubeconfig = |server: &str| self.plane.kubeconfig_for("encodings", server, "admin-token");
        let snapshot = |server: &str| -> Result<Vec<Value>> {
            let kubeconfig = kubeconfig(server)?;
            let kubeconfig = kubeconfig.to_string_lossy();
            let answer = self.product.run(&["snapshot"], &[("KUBECONFIG", &*kubeconfig)])?;
            let items = answer.document["items"].as_array().cloned().unwrap_or_default();
            // The head tells the time, and events are always new ones.
            let items = items.into_iter().filter(|item| item["kind"] != "Snapshot" && item["kind"] != "Event");
            Ok(items.map(encodings::without_nothing).collect())
        };
        // The controllers may still be at work between two readings.
        for _ in 0..20 {
            let protobuf = snapshot(&self.plane.server)?;
            let json = snapshot(&Proxy::start(&self.plane.api, Fault::JsonAlone)?.server)?;
            if protobuf == snapshot(&self.plane.server)? {
                let difference = protobuf.iter().zip(&json).find(|(a, b)| a != b);
                let words = difference.map(|(a, b)| format!("{a}\n      and {b}")).unwrap_or_default();
                let words = format!("{} and {} objects {words}", protobuf.len(), json.len());
                let kinds: BTreeSet<&str> = protobuf.iter().filter_map(|item| item["kind"].as_str()).collect();
                let missing: Vec<_> = encodings::BOTH.iter().filter(|kind| !kinds.contains(*kind)).collect();
                self.check("every built-in kind is there", missing.is_empty(), &format!("{missing:?}"));
                self.check("protobuf and JSON hold the same", protobuf == json, &words);
                return self.both_answers();
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        bail!("the control plane does not come to rest")
    }

    /// What is answered is the same, too.
    fn both_answers(&mut self) -> Result<()> {
        for args in
            [&["status", "-A", "-o", "json"][..], &["drain-plan", "-o", "json"], &["why-pending", "-A", "-o", "json"]]
        {
            let ask = |server: &str| {
                let kubeconfig = self.plane.kubeconfig_for("encodings", server, "admin-token")?;
                self.product.run(args, &[("KUBECONFIG", &kubeconfig.to_string_lossy())])
            };
            let protobuf = ask(&self.plane.server)?;
            let json = ask(&Proxy::start(&self.plane.api, Fault::JsonAlone)?.server)?;
            self.same(&format!("{} says the same of protobuf and JSON", args[0]), &protobuf, &json);
        }
        Ok(())
    }

    /// A server that fails in the middle of a paged list.
    fn faults(&mut self, whole_answer: &Answer) -> Result<()> {
        for fault in
            [Fault::None, Fault::TooManyRequests, Fault::Unavailable, Fault::Expired, Fault::Closed, Fault::Down]
        {
            let proxy = Proxy::start(&self.plane.api, fault)?;
            let started = Instant::now();
            let answer = self.ask_at("proxy", &proxy.server, "any")?;
            let name = format!("{fault:?} in a paged list");
            let same = first_difference(&answer, whole_answer).is_none();
            match fault {
                // What cannot be read is never shown as good.
                Fault::Down => {
                    let said = answer.exit != 0 || answer.document["complete"] == false;
                    self.check(&format!("{name} is said"), said, &words(&answer));
                }
                _ => self.check(&format!("{name} is got over"), same && whole(&answer), &words(&answer)),
            }
            self.check(&format!("{name} ends soon"), started.elapsed() < PATIENCE, "");
            let reads = proxy.methods().iter().all(|method| method == "GET");
            self.check(&format!("{name}: only GET, in pages"), reads && proxy.pages() > 1 || fault == Fault::Down, "");
        }
        Ok(())
    }
}

fn whole(answer: &Answer) -> bool {
    answer.exit == 0 && answer.document["complete"] == true
}

/// The first item that two answers do not share.
fn first_difference(one: &Answer, other: &Answer) -> Option<String> {
    let (one, other) = (facts(one), facts(other));
    if one.len() != other.len() {
        return Some(format!("{} items and {}", one.len(), other.len()));
    }
    one.iter().zip(&other).find(|(a, b)| a != b).map(|(a, b)| format!("{a}\n      and {b}"))
}

/// The items without what passes, and with just the codes of their findings: messages tell ages, commands the context.
fn facts(answer: &Answer) -> Vec<Value> {
    let mut items = answer.document["items"].as_array().cloned().unwrap_or_default();
    for item in &mut items {
        let codes: Vec<Value> = item["findings"].as_array().into_iter().flatten().map(|f| f["code"].clone()).collect();
        item["findings"] = json!(codes);
        for (part, passes) in [("", "ageSeconds"), ("/scheduler", "reportedSecondsAgo")] {
            if let Some(fields) = item.pointer_mut(part).and_then(Value::as_object_mut) {
                fields.remove(passes);
            }
        }
    }
    items
}

fn words(answer: &Answer) -> String {
    format!(
        "exit {} complete {} gaps {} {}",
        answer.exit,
        answer.document["complete"],
        answer.document["gaps"],
        answer.stderr.trim()
    )
}

/// Gives the reader the rights that the README asks for, and the other user the same without StatefulSets.
fn grant(plane: &Plane) -> Result<()> {
    let role = readme_role()?;
    let kubeconfig = format!("--kubeconfig={}", plane.kubeconfig().display());
    let manifest = plane.folder().join("role.yaml");
    std::fs::write(&manifest, &role).context("write the role")?;
    let mut command = Command::new(plane.components.kubectl());
    command.args([&kubeconfig, "create", "-o", "json", "-f"]).arg(&manifest);
    let output = command.output().context("run kubectl")?;
    if !output.status.success() {
        bail!("the README's role is not taken: {}", String::from_utf8_lossy(&output.stderr));
    }
    let created: Value = serde_json::from_slice(&output.stdout).context("understand kubectl")?;
    let name = created["metadata"]["name"].as_str().unwrap_or_default();
    // What the README says of custom owners.
    let custom = json!({"metadata": {"name": "custom-scales"}, "rules": [{"apiGroups": ["apps.example.com"],
        "resources": ["rollouts/scale", "queues/scale"], "verbs": ["get"]}]});
    let mut less = created["rules"].clone();
    for resources in less.as_array_mut().into_iter().flatten().filter_map(|rule| rule["resources"].as_array_mut()) {
        resources.retain(|resource| !resource.as_str().is_some_and(|r| r.starts_with("statefulsets")));
    }
    if let Some(rules) = less.as_array_mut() {
        rules.retain(|rule| rule["resources"].as_array().is_none_or(|r| !r.is_empty()));
    }
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let partial = json!({"metadata": {"name": "partial"}, "rules": less});
    for role in [&custom, &partial] {
        plane.api.create(&format!("{rbac}/clusterroles"), role)?;
    }
    let bindings =
        [(READER.1, name), (READER.1, "custom-scales"), (PARTIAL.1, "partial"), (PARTIAL.1, "custom-scales")];
    for (user, role) in bindings {
        let binding = json!({"metadata": {"name": format!("{user}-{role}")},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]});
        plane.api.create(&format!("{rbac}/clusterrolebindings"), &binding)?;
    }
    Ok(())
}

/// The ClusterRole in the README: the fenced block that holds one.
fn readme_role() -> Result<String> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(&readme).with_context(|| format!("read {}", readme.display()))?;
    let mut blocks = text.split("```").skip(1).step_by(2);
    let block = blocks.find(|block| block.contains("kind: ClusterRole\n")).context("the README has no ClusterRole")?;
    Ok(block.split_once('\n').map(|(_, body)| body.to_owned()).unwrap_or_default())
}
