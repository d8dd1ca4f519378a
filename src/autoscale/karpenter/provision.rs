//! Could Karpenter add a node for a pod? Mirrors `Provisioner.Schedule` and `GetPendingPods`
//! (`provisioning/provisioner.go`), and `IsProvisionable` (`utils/pod/scheduling.go`).

use super::daemons::Daemon;
use super::fleet::{Host, hosts};
use super::labels::{CAPACITY_TYPE, NODE_POOL, Provider, ZONE};
use super::machine::Machine;
use super::node_pool::{NodePool, Unusable};
use super::requirement::{Operator, Requirement};
use super::requirements::of_pod;
use super::solve::{Ground, Moving, NewNode, Place, Refusal, Solve};
use super::template::{NoType, Options, Template};
use super::topology::{Topology, Universe};
use super::types::Types;
use super::volumes;
use crate::sched::State;
use crate::sched::resources::Sums;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::selector::NodeTerm;
use std::sync::Arc;

/// One Karpenter: NodePools of one provider, and the nodes that are there.
#[derive(Debug, Clone)]
pub struct Karpenter {
    /// Who makes its nodes.
    pub provider: Provider,
    /// Its NodePools, in the order in which they are tried.
    pub pools: Vec<NodePool>,
    /// Those that new nodes can come from, with their instance types.
    pub templates: Vec<Template>,
    /// Why new nodes do not come from the others.
    pub unusable: Vec<(Str, NoNodes)>,
    /// All nodes of the cluster, and NodeClaims without one.
    pub machines: Vec<Machine>,
    /// Those that stay, in the order in which they are tried.
    pub hosts: Vec<Host>,
    universe: Universe,
    tolerate: bool,
}

/// Why no new node comes from a pool, whatever a pod asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoNodes {
    /// By what it is.
    Pool(Unusable),
    /// Its requirements leave no instance type.
    Types(NoType),
}

/// Why Karpenter leaves a pod alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignored {
    /// The scheduler has not said that no node takes it.
    NotUnschedulable,
    /// A node is held for it.
    Nominated,
    /// It belongs to a DaemonSet, or is a static pod.
    OfNode,
    /// It refuses nodes of Karpenter.
    NotOnKarpenter,
    /// It uses device claims, which Karpenter leaves alone by default.
    DeviceClaims,
}

/// Why Karpenter refuses a pod, whatever its pools are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalid {
    /// It asks for a label that is Karpenter's own.
    Label(Str),
    /// It asks for a node by its field.
    Field,
    /// It compares a label with what is no positive integer.
    NotInteger(Str),
    /// None of the capacity types exists.
    CapacityType,
    /// A volume of it is not in order.
    Volume(volumes::Fault),
}

/// What Karpenter makes of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It leaves the pod alone.
    Ignored(Ignored),
    /// It has no pool that new nodes come from: it says nothing.
    NoPools,
    /// It refuses the pod.
    Invalid(Invalid),
    /// No pool gives a node, and why.
    Refused(Vec<(Str, Refusal)>),
    /// A node that is there takes it.
    Existing(Str),
    /// A new node would take it.
    New {
        /// The pool.
        pool: Str,
        /// Of which instance types.
        types: Suitable,
    },
}

/// Instance types that suffice for a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suitable {
    /// Those that are known, the cheapest first.
    pub known: Vec<Str>,
    /// Whether they are all that there are.
    pub all_known: bool,
}

/// What one pool says of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The pool.
    pub pool: Str,
    /// Of which instance types it could add a node; or why it does not, in words.
    pub answer: Result<Suitable, String>,
}

impl Karpenter {
    /// Every Karpenter whose NodePools are in a state's snapshot.
    pub fn all(state: &State) -> Vec<Self> {
        let pools = NodePool::all(state.snapshot());
        let mut providers: Vec<Provider> = pools.iter().map(|p| p.provider).collect();
        providers.sort_unstable();
        providers.dedup();
        let machines = if pools.is_empty() { Vec::new() } else { Machine::all(state) };
        let of = |provider| pools.iter().filter(|p| p.provider == provider).cloned().collect();
        providers.into_iter().map(|provider| Self::new(provider, of(provider), machines.clone(), state)).collect()
    }

    fn new(provider: Provider, pools: Vec<NodePool>, machines: Vec<Machine>, state: &State) -> Self {
        let snapshot = state.snapshot();
        let mut daemons = Daemon::all(snapshot);
        let (mut templates, mut unusable) = (Vec::new(), Vec::new());
        let mut universe = Universe::default();
        let mut tolerate = false;
        for pool in &pools {
            if let Some(why) = pool.unusable() {
                unusable.push((pool.name().clone(), NoNodes::Pool(why)));
                continue;
            }
            let class = &pool.object.spec.template.spec.node_class_ref.name;
            let types = Types::of(provider, class, snapshot);
            domains(pool, &types, &mut universe);
            tolerate |= pool.taints.iter().any(|t| &*t.effect == "PreferNoSchedule");
            match Template::new(pool.clone(), types, &mut daemons) {
                Ok(mut template) => {
                    template.unseen = unseen(pool, &machines);
                    templates.push(template);
                }
                Err(why) => unusable.push((pool.name().clone(), NoNodes::Types(why))),
            }
        }
        let hosts = hosts(&machines, &daemons, state, provider);
        Self { provider, pools, templates, unusable, machines, hosts, universe, tolerate }
    }

    /// What is looked through for places.
    pub fn ground<'a>(&'a self, state: &'a State) -> Ground<'a> {
        Ground {
            state,
            templates: &self.templates,
            hosts: &self.hosts,
            provider: self.provider,
            tolerate: self.tolerate,
        }
    }

    /// Rules about other pods, none yet.
    pub fn topology<'a>(&'a self, state: &'a State) -> Topology<'a> {
        Topology::new(state, &self.machines, self.universe.clone(), self.provider)
    }

    /// Whether it looks at a pod. Mirrors `IsProvisionable` and `GetPendingPods`.
    pub fn looks_at(&self, pod: &Pod) -> Result<(), Answer> {
        let failed = pod.condition("PodScheduled").is_some_and(|c| &*c.reason == "Unschedulable");
        if pod.is_of_node() {
            return Err(Answer::Ignored(Ignored::OfNode));
        }
        if !failed {
            return Err(Answer::Ignored(Ignored::NotUnschedulable));
        }
        if pod.status.nominated_node.is_some() {
            return Err(Answer::Ignored(Ignored::Nominated));
        }
        self.could_look_at(pod)
    }

    /// The same for a pod that does not exist yet, and that no node will take.
    pub fn could_look_at(&self, pod: &Pod) -> Result<(), Answer> {
        if of_pod(&pod.spec, true, self.provider).get(NODE_POOL).is_some_and(Requirement::is_nothing) {
            return Err(Answer::Ignored(Ignored::NotOnKarpenter));
        }
        if !pod.spec.resource_claims.is_empty() {
            return Err(Answer::Ignored(Ignored::DeviceClaims));
        }
        Ok(())
    }

    /// Whether a pod is such as Karpenter can find a node for. Mirrors `Provisioner.Validate`.
    pub fn validate(&self, pod: &Pod, state: &State) -> Result<(), Invalid> {
        if let Some((key, _)) = pod.spec.node_selector.iter().find(|(k, _)| self.is_restricted(k)) {
            return Err(Invalid::Label(key.clone()));
        }
        for term in pod.spec.node_affinity.iter().flat_map(|a| &a.0) {
            self.validate_term(term)?;
        }
        volumes::validate(pod, state.snapshot()).map_err(Invalid::Volume)
    }

    fn is_restricted(&self, key: &str) -> bool {
        self.provider.is_restricted(self.provider.normalized(key))
    }

    fn validate_term(&self, term: &NodeTerm) -> Result<(), Invalid> {
        if !term.fields.is_empty() {
            return Err(Invalid::Field);
        }
        for r in &term.labels {
            if self.is_restricted(&r.key) {
                return Err(Invalid::Label(r.key.clone()));
            }
            let operator = Operator::from(r.operator);
            let positive = |v: &Str| v.parse::<i64>().is_ok_and(|n| n >= 0);
            if matches!(operator, Operator::Gt | Operator::Lt) && !r.values.first().is_some_and(positive) {
                return Err(Invalid::NotInteger(r.key.clone()));
            }
            let known = |v: &Str| matches!(&**v, "on-demand" | "spot" | "reserved");
            let of_capacity = self.provider.normalized(&r.key) == CAPACITY_TYPE;
            if of_capacity && operator == Operator::In && !r.values.iter().any(known) {
                return Err(Invalid::CapacityType);
            }
        }
        Ok(())
    }

    /// What it makes of each pod of a batch. The pods are not in the state.
    pub fn provision(&self, pods: &[Arc<Pod>], state: &State) -> Vec<Answer> {
        self.answers(pods, state, Moving::default())
    }

    /// The same for pods that come one after the other and that no node that is there takes.
    pub fn provision_new(&self, pods: &[Arc<Pod>], state: &State) -> Vec<Answer> {
        let resting = (0..self.hosts.len()).collect();
        let pods_of_nodes = (0..pods.len()).collect();
        self.answers(pods, state, Moving { resting, pods: pods_of_nodes, counted: true, ..Moving::default() })
    }

    fn answers(&self, pods: &[Arc<Pod>], state: &State, moving: Moving) -> Vec<Answer> {
        let usable = self.pools.iter().any(|p| p.unusable().is_none());
        let mut answers: Vec<Option<Answer>> = Vec::with_capacity(pods.len());
        let mut batch = Vec::new();
        for pod in pods {
            let answer = self.could_look_at(pod).err();
            let answer = answer.or_else(|| self.validate(pod, state).err().map(Answer::Invalid));
            let answer = answer.or_else(|| (!usable).then_some(Answer::NoPools));
            if answer.is_none() {
                batch.push(pod.clone());
            }
            answers.push(answer);
        }
        let solve = Solve::new(self.ground(state), self.topology(state), moving);
        let solution = solve.solve(&batch);
        let mut places = solution.places.iter();
        let mut next = || match places.next() {
            Some(Place::Existing(at)) => {
                Answer::Existing(self.hosts.get(*at).map_or_else(|| "".into(), |h| h.name.clone()))
            }
            Some(Place::New(at)) => solution.new.get(*at).map_or(Answer::NoPools, |node| self.new_node(node)),
            Some(Place::Nowhere(why)) => Answer::Refused(why.clone()),
            None => Answer::NoPools,
        };
        answers.into_iter().map(|a| a.unwrap_or_else(&mut next)).collect()
    }

    /// What each pool says of a pod that comes alone, in the order in which they are tried.
    pub fn offers(&self, pod: &Arc<Pod>, state: &State) -> Vec<Offer> {
        let solve = Solve::new(self.ground(state), self.topology(state), Moving::default());
        let of_template = |(number, answer): (usize, Result<Options, Refusal>)| {
            let template = self.templates.get(number)?;
            let answer = answer.map(|options| suitable(template, &options));
            Some(Offer { pool: template.pool.name().clone(), answer: answer.map_err(|r| r.to_string()) })
        };
        let mut offers: Vec<Offer> = solve.offers(pod).into_iter().filter_map(of_template).collect();
        let unusable = self.unusable.iter();
        offers.extend(unusable.map(|(pool, why)| Offer { pool: pool.clone(), answer: Err(why.to_string()) }));
        offers
    }

    fn new_node(&self, node: &NewNode) -> Answer {
        let Some(template) = self.templates.get(node.template) else { return Answer::NoPools };
        Answer::New { pool: template.pool.name().clone(), types: suitable(template, &node.options) }
    }
}

/// What a pool has by its own count beside the nodes that are seen: a file may lack nodes.
fn unseen(pool: &NodePool, machines: &[Machine]) -> Sums {
    let mut rest = pool.reported();
    for machine in machines.iter().filter(|m| m.labels().get(NODE_POOL) == Some(pool.name())) {
        rest.take_all(&machine.capacity());
    }
    if rest.get("nodes").unwrap_or_default() <= Quantity::ZERO {
        return Sums::default();
    }
    rest.iter().map(|(name, q)| (name.clone(), q.max(Quantity::ZERO))).collect()
}

fn suitable(template: &Template, options: &Options) -> Suitable {
    Suitable { known: template.names(options), all_known: matches!(options, Options::Known(_)) }
}

/// The domains that nodes of a pool can be in. Mirrors `buildDomainGroups`.
fn domains(pool: &NodePool, types: &Types, universe: &mut Universe) {
    let own = &pool.requirements;
    let listed = match types {
        Types::Known(all) => all,
        Types::Open(open) => &open.seen,
    };
    for kind in listed.iter() {
        let mut all = own.clone();
        all.add_all(&kind.requirements);
        for offering in &kind.offerings {
            if all.get(ZONE).is_none_or(|r| r.has(&offering.zone)) {
                universe.insert(&ZONE.into(), &offering.zone, &pool.taints);
            }
        }
        all.iter().for_each(|r| r.values().for_each(|v| universe.insert(&r.key, v, &pool.taints)));
    }
    if let Types::Open(open) = types {
        let zones = open.zones.iter().flatten();
        let within = |z: &&Str| own.get(ZONE).is_none_or(|r| r.has(z));
        zones.filter(within).for_each(|z| universe.insert(&ZONE.into(), z, &pool.taints));
    }
    for r in own.iter() {
        r.listed().into_iter().flatten().for_each(|v| universe.insert(&r.key, v, &pool.taints));
    }
}
