//! The nodes that are there, ready to be asked whether they take a pod, by Karpenter's rules. Mirrors
//! `provisioning/scheduling/existingnode.go` and `calculateExistingNodeClaims` (`scheduling/scheduler.go`).

use super::daemons::{Daemon, asked, together};
use super::labels::{HOSTNAME, NODE_POOL, Provider};
use super::machine::Machine;
use super::ports;
use super::requirement::Requirement;
use super::requirements::{Requirements, label, of_labels};
use crate::sched::State;
use crate::sched::resources::Sums;
use crate::snapshot::node::Taint;
use crate::snapshot::pod::HostPort;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::{Map, Str};

/// A node that is there, or whose NodeClaim is.
#[derive(Debug, Clone)]
pub struct Host {
    /// Its number among the machines.
    pub machine: usize,
    /// Its name.
    pub name: Str,
    /// Its `kubernetes.io/hostname`.
    pub host: Str,
    /// Its labels.
    pub labels: Map,
    /// What it keeps away.
    pub taints: Vec<Taint>,
    /// What is free, when the daemons that are to come have come.
    pub free: Sums,
    /// Ports that are taken.
    pub ports: Vec<HostPort>,
    /// What counts towards the limits of its pool.
    pub capacity: Sums,
    /// Its pool.
    pub pool: Option<Str>,
}

impl Host {
    /// Whether its labels meet what is required.
    pub fn meets(&self, required: &Requirements, provider: Provider) -> bool {
        required.met_where(|key| self.label(key, provider))
    }

    fn label(&self, key: &str, provider: Provider) -> Option<&Str> {
        if key == HOSTNAME { Some(&self.host) } else { label(&self.labels, key, provider) }
    }

    /// What its labels are, as requirements.
    pub fn requirements(&self, provider: Provider) -> Requirements {
        let mut all = of_labels(&self.labels, provider);
        all.add(Requirement::equals(HOSTNAME, self.host.clone()));
        all
    }
}

/// The nodes that stay, in the order in which they are tried: those that are ready for pods first, then by name.
pub fn hosts(machines: &[Machine], daemons: &[Daemon], state: &State, provider: Provider) -> Vec<Host> {
    let mut all: Vec<(bool, Host)> = machines
        .iter()
        .enumerate()
        .filter(|(_, m)| !m.is_going())
        .map(|(at, m)| (!m.is_initialized(), host(at, m, daemons, state, provider)))
        .collect();
    all.sort_by(|a, b| (a.0, &a.1.name).cmp(&(b.0, &b.1.name)));
    all.into_iter().map(|(_, host)| host).collect()
}

fn host(at: usize, machine: &Machine, daemons: &[Daemon], state: &State, provider: Provider) -> Host {
    let (labels, taints) = (machine.labels(), machine.taints());
    let coming = daemons.iter().filter(|d| d.comes_to_node(&labels, &taints, provider));
    let mut to_come = together(coming.map(|d| &d.requests));
    let slots = || machine.node.iter().flat_map(|n| &n.pods);
    let there = slots().filter(|s| s.info.pod.is_of("DaemonSet"));
    let there: Vec<Sums> = there.map(|s| asked(&s.info.pod, state.minor())).collect();
    to_come.take_all(&together(there.iter()));
    let to_come: Sums = to_come.iter().map(|(n, q)| (n.clone(), q.max(Quantity::ZERO))).collect();
    let mut free = machine.available(state);
    free.take_all(&to_come);
    Host {
        machine: at,
        name: machine.name().into(),
        host: machine.host(),
        pool: labels.get(NODE_POOL).cloned(),
        capacity: machine.capacity(),
        ports: slots().flat_map(|s| ports::of(&s.info.pod)).cloned().collect(),
        labels,
        taints,
        free,
    }
}
