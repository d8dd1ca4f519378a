//! Small worlds that real controllers settle, many of them on one control plane: each has its own nodes and namespaces,
//! and its pods ask for its nodes.

pub mod admission;
pub mod blocked;
pub mod budgets;
pub mod drains;
pub mod manifests;
pub mod pending;
pub mod pods;
pub mod workloads;

use serde_json::{Value, json};

use crate::health::Health;
use crate::objects::node;
use crate::random::Choice;

/// The label by which a world's pods ask for its nodes, as those of a node pool do.
const POOL: &str = "pool";

/// A small cluster, how it came to be as it is, and a question about it.
pub struct World {
    /// Its name, which begins the names of its nodes, namespaces and all else that lies outside of namespaces.
    pub name: String,
    /// Its namespaces.
    pub namespaces: Vec<String>,
    /// What is created first.
    pub items: Vec<Value>,
    /// What happens once that has settled; it settles again.
    pub then: Vec<Step>,
    /// What happens right before the question.
    pub last: Vec<Step>,
    /// What is drained, and how.
    pub drain: Drain,
    /// What it was made from, for the reader of a case.
    pub made_of: Vec<&'static str>,
    /// What no snapshot can tell of it. "Unknown" is then as good an answer as what happened.
    pub hidden: Vec<&'static str>,
}

/// A question about drains.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Drain {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// How the nodes are drained.
    pub by: By,
    /// Flags beyond those without which kubectl refuses.
    pub flags: Vec<String>,
}

/// How several nodes are drained.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum By {
    /// By one command that names all of them.
    #[default]
    OneCommand,
    /// By a command each, at the same time.
    ManyCommands,
    /// All nodes of the world, as the plan's order says: round by round, each round's nodes at the same time and then back.
    Rounds,
}

/// A node of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// By name.
    Named(String),
    /// The one of the n-th pod of this workload: (namespace, label app, n).
    Of(String, String, usize),
}

/// Something that happens in a world.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A merge patch of the object at the path.
    Merge(String, Value),
    /// A new object.
    Create(Value),
    /// The object at the path is deleted, and what it owns after it.
    Delete(String),
    /// The n-th pod of this workload is deleted: (namespace, label app, n).
    DeletePod(String, String, usize),
    /// The n-th pod of this workload is patched: (namespace, label app, n).
    MergePod(String, String, usize, Value),
    /// The n-th pod of this workload is like this from then on: (namespace, label app, n), and seconds after which it is
    /// Ready again.
    Health(String, String, usize, Health, Option<u64>),
    /// The kubelet of the node does not answer any more, and the node controller has seen it.
    Silence(Node),
    /// A quota on pods, so many fewer than there are: (namespace, how many fewer).
    QuotaBelow(String, i64),
}

/// Makes a world.
pub struct Builder {
    /// Where the choices come from.
    pub choice: Choice,
    world: World,
    nodes: Vec<String>,
}

impl Builder {
    /// An empty world.
    pub fn new(name: &str, seed: u64) -> Self {
        let world = World {
            name: name.to_owned(),
            namespaces: Vec::new(),
            items: Vec::new(),
            then: Vec::new(),
            last: Vec::new(),
            drain: Drain::default(),
            made_of: Vec::new(),
            hidden: Vec::new(),
        };
        Self { choice: Choice::new(seed), world, nodes: Vec::new() }
    }

    /// The world.
    pub fn done(self) -> World {
        self.world
    }

    /// The name within the world: `w1-n1` for `n1`.
    pub fn named(&self, name: &str) -> String {
        format!("{}-{name}", self.world.name)
    }

    /// Says what the world is made of.
    pub fn made_of(&mut self, what: &'static str) {
        if !self.world.made_of.contains(&what) {
            self.world.made_of.push(what);
        }
    }

    /// Says what no snapshot can tell.
    pub fn hidden(&mut self, what: &'static str) {
        self.world.hidden.push(what);
    }

    /// Adds a namespace and gives its full name.
    pub fn namespace(&mut self, name: &str) -> String {
        let name = self.named(name);
        self.add(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
        self.world.namespaces.push(name.clone());
        name
    }

    /// Adds a node with so much CPU (`2`, `1500m`) in a zone, and gives its name.
    pub fn node(&mut self, cpu: &str, zone: &str) -> String {
        let name = self.named(&format!("n{}", self.nodes.len() + 1));
        let mut node = node(&name, &self.named(zone), cpu, "16Gi", 110);
        node["metadata"]["labels"][POOL] = json!(self.world.name);
        self.add(node);
        self.nodes.push(name.clone());
        name
    }

    /// The nodes' names.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// One of the nodes.
    pub fn some_node(&mut self) -> String {
        let at = self.choice.number(0, self.nodes.len() as i64 - 1) as usize;
        self.nodes.get(at).cloned().unwrap_or_default()
    }

    /// Changes a node before it is created.
    pub fn change_node(&mut self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut items = self.world.items.iter_mut();
        if let Some(node) = items.find(|item| item["kind"] == "Node" && item["metadata"]["name"] == name) {
            change(node);
        }
    }

    /// Adds an object.
    pub fn add(&mut self, object: Value) {
        self.world.items.push(object);
    }

    /// Something that happens once all has settled.
    pub fn then(&mut self, step: Step) {
        self.world.then.push(step);
    }

    /// Something that happens right before the question.
    pub fn last(&mut self, step: Step) {
        self.world.last.push(step);
    }

    /// What is drained.
    pub fn drain(&mut self, drain: Drain) {
        self.world.drain = drain;
    }
}

/// The path of an object in a namespace: `/apis/apps/v1/namespaces/x/deployments/y`.
pub fn path(api_version: &str, kind: &str, namespace: &str, name: &str) -> String {
    let root = if api_version.contains('/') { "apis" } else { "api" };
    format!("/{root}/{api_version}/namespaces/{namespace}/{}s/{name}", kind.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_world() {
        type Make = fn(&str, u64) -> World;
        let makers: [(&str, Make); 4] = [
            ("drains", drains::world),
            ("blocked", blocked::world),
            ("pending", pending::world),
            ("manifests", manifests::world),
        ];
        for (name, make) in makers {
            for seed in 0..60 {
                let (one, other) = (make("w", seed), make("w", seed));
                assert_eq!(
                    (&one.items, &one.then, &one.last, &one.drain),
                    (&other.items, &other.then, &other.last, &other.drain)
                );
                assert!(!one.made_of.is_empty(), "{name} {seed}");
                for item in one.items.iter().filter(|item| item["metadata"]["namespace"].is_null()) {
                    let own = item["metadata"]["name"].as_str().unwrap();
                    assert!(own.starts_with("w-"), "{name} {seed}: {own} is of no world");
                }
            }
        }
    }
}
