//! What a pod counts as on a node. Mirrors `component-helpers/resource/helpers.go` (`PodRequests`,
//! `AggregateContainerRequests`) and `Resource.SetMaxResource` of `pkg/scheduler/framework/types.go`.

use super::catalogue::{Catalogue, ResourceId};
use crate::snapshot::Str;
use crate::snapshot::pod::{Container, ContainerStatus, Pod};
use crate::snapshot::quantity::{Amounts, Quantity};

/// Named quantities that are added up. Few names, so they are searched one by one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sums(Vec<(Str, Quantity)>);

impl Sums {
    /// What is in a list.
    pub fn of(amounts: &Amounts) -> Self {
        Self(amounts.iter().map(|(n, q)| (n.clone(), q)).collect())
    }

    fn entry(&mut self, name: &Str) -> Option<&mut Quantity> {
        self.0.iter_mut().find(|(n, _)| n == name).map(|(_, q)| q)
    }

    /// Adds to what is under a name.
    pub fn add(&mut self, name: &Str, quantity: Quantity) {
        match self.entry(name) {
            Some(q) => *q = *q + quantity,
            None => self.0.push((name.clone(), quantity)),
        }
    }

    /// Puts a quantity under a name.
    pub fn set(&mut self, name: &Str, quantity: Quantity) {
        match self.entry(name) {
            Some(q) => *q = quantity,
            None => self.0.push((name.clone(), quantity)),
        }
    }

    /// Adds all of another list.
    pub fn add_all(&mut self, other: &Self) {
        other.0.iter().for_each(|(n, q)| self.add(n, *q));
    }

    /// Takes what another list has under the names that are in this one.
    pub fn take_all(&mut self, other: &Self) {
        for (name, quantity) in &mut self.0 {
            *quantity = *quantity + -other.get(name).unwrap_or_default();
        }
    }

    fn max_all(&mut self, other: &Self) {
        for (name, quantity) in &other.0 {
            match self.entry(name) {
                Some(q) => *q = (*q).max(*quantity),
                None => self.0.push((name.clone(), *quantity)),
            }
        }
    }

    /// All pairs, in no special order.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, Quantity)> {
        self.0.iter().map(|(n, q)| (n, *q))
    }

    /// The quantity under a name.
    pub fn get(&self, name: &str) -> Option<Quantity> {
        self.0.iter().find(|(n, _)| **n == *name).map(|(_, q)| *q)
    }
}

impl FromIterator<(Str, Quantity)> for Sums {
    fn from_iter<I: IntoIterator<Item = (Str, Quantity)>>(pairs: I) -> Self {
        let mut sums = Self::default();
        pairs.into_iter().for_each(|(n, q)| sums.add(&n, q));
        sums
    }
}

/// Whose requests are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// A pod that looks for a node: what its spec says.
    Incoming,
    /// A pod on its node, where an in-place resize may be under way: the highest of what is wanted, set aside and in
    /// force. A resize called infeasible is left out.
    Running,
}

fn largest<'a>(lists: impl IntoIterator<Item = &'a Amounts>) -> Sums {
    let mut most = Sums::default();
    lists.into_iter().for_each(|l| most.max_all(&Sums::of(l)));
    most
}

/// A pod's requests: containers and sidecars added up, or the most demanding moment of its start if that is more; what
/// is set for the pod as a whole instead; and its overhead. `minor` is the scheduler's version.
pub fn requests(pod: &Pod, of: Of, minor: u32) -> Sums {
    let mut sums = if of == Of::Incoming || !has_resize(pod) {
        aggregate(pod, |c, _| Sums::of(&c.resources.requests))
    } else if minor >= 37 {
        resized_by_pod(pod)
    } else {
        let infeasible = resize_infeasible(pod);
        aggregate(pod, |c, status| effective(c, status, infeasible))
    };
    if let Some(resources) = &pod.spec.resources {
        for (name, quantity) in resources.requests.iter().filter(|(n, _)| is_pod_level(n)) {
            sums.set(name, quantity);
        }
    }
    pod.spec.overhead.iter().for_each(|(n, q)| sums.add(n, q));
    sums
}

/// A pod's limits, added up in the same way. Overhead is added where there is a limit. Mirrors `PodLimits`.
pub fn limits(pod: &Pod) -> Sums {
    let mut sums = aggregate(pod, |c, _| Sums::of(&c.resources.limits));
    if let Some(resources) = &pod.spec.resources {
        for (name, quantity) in resources.limits.iter().filter(|(n, _)| is_pod_level(n)) {
            sums.set(name, quantity);
        }
    }
    for (name, quantity) in pod.spec.overhead.iter() {
        if sums.get(name).is_some_and(|q| q > Quantity::ZERO) {
            sums.add(name, quantity);
        }
    }
    sums
}

/// Whether the kubelet reports resources that differ from the spec.
pub fn has_resize(pod: &Pod) -> bool {
    all_containers(pod).any(|(c, status)| {
        let other = |a: &Amounts| *a != c.resources.requests;
        status.is_some_and(|s| {
            s.allocated.as_ref().is_some_and(other) || s.resources.as_ref().is_some_and(|r| other(&r.requests))
        })
    })
}

fn resize_infeasible(pod: &Pod) -> bool {
    pod.condition("PodResizePending").is_some_and(|c| &*c.reason == "Infeasible")
}

/// Up to 1.36 each container counts with its highest.
fn effective(container: &Container, status: Option<&ContainerStatus>, infeasible: bool) -> Sums {
    let spec = &container.resources.requests;
    let Some((status, actual)) = status.and_then(|s| Some((s, s.resources.as_ref()?))) else { return Sums::of(spec) };
    let reported = [Some(&actual.requests), status.allocated.as_ref()].into_iter().flatten();
    if infeasible { largest(reported) } else { largest(reported.chain([spec])) }
}

/// Since 1.37 the three sums are compared, not the containers.
fn resized_by_pod(pod: &Pod) -> Sums {
    let infeasible = resize_infeasible(pod);
    let fallback = |c: &Container| if infeasible { Sums::default() } else { Sums::of(&c.resources.requests) };
    let allocated = |s: Option<&ContainerStatus>| s.and_then(|s| s.allocated.as_ref()).map(Sums::of);
    let mut sums = aggregate(pod, |c, s| allocated(s).unwrap_or_else(|| fallback(c)));
    sums.max_all(&aggregate(pod, |c, s| {
        let actual = s.and_then(|s| s.resources.as_ref()).map(|r| &r.requests).filter(|r| !r.is_empty());
        actual.map(Sums::of).or_else(|| allocated(s)).unwrap_or_else(|| fallback(c))
    }));
    if !infeasible {
        sums.max_all(&aggregate(pod, |c, _| Sums::of(&c.resources.requests)));
    }
    sums
}

fn aggregate(pod: &Pod, ask: impl Fn(&Container, Option<&ContainerStatus>) -> Sums) -> Sums {
    let mut sums = Sums::default();
    for c in &pod.spec.containers {
        sums.add_all(&ask(c, find(&pod.status.containers, c)));
    }
    let mut sidecars = Sums::default();
    let mut start = Sums::default();
    for c in &pod.spec.init_containers {
        let asked = ask(c, if c.sidecar { find(&pod.status.init_containers, c) } else { None });
        if c.sidecar {
            sums.add_all(&asked);
            sidecars.add_all(&asked);
            start.max_all(&sidecars);
        } else {
            let mut moment = sidecars.clone();
            moment.add_all(&asked);
            start.max_all(&moment);
        }
    }
    sums.max_all(&start);
    sums
}

fn find<'a>(statuses: &'a [ContainerStatus], c: &Container) -> Option<&'a ContainerStatus> {
    statuses.iter().find(|s| s.name == c.name)
}

fn all_containers(pod: &Pod) -> impl Iterator<Item = (&Container, Option<&ContainerStatus>)> {
    let containers = pod.spec.containers.iter().map(|c| (c, find(&pod.status.containers, c)));
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.sidecar);
    containers.chain(sidecars.map(|c| (c, find(&pod.status.init_containers, c))))
}

/// Resources that may be set for a pod as a whole. Mirrors `IsSupportedPodLevelResource`.
fn is_pod_level(name: &str) -> bool {
    name == "cpu" || name == "memory" || name.starts_with("hugepages-")
}

/// Whether a resource other than cpu, memory and ephemeral storage is counted at all. Mirrors `IsScalarResourceName`.
pub fn is_scalar(name: &str) -> bool {
    is_extended(name)
        || name.starts_with("hugepages-")
        || name.contains("kubernetes.io/")
        || name.starts_with("attachable-volumes-")
}

/// Whether it is an extended resource, such as a device. Mirrors `IsExtendedResourceName`.
pub fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/") && !name.starts_with("requests.")
}

/// Requests in the scheduler's units: thousandths of a core, bytes, pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Thousandths of a core.
    pub cpu: i64,
    /// Bytes.
    pub memory: i64,
    /// Bytes.
    pub ephemeral: i64,
    /// Everything else that is counted.
    pub scalars: Vec<(ResourceId, i64)>,
}

impl Request {
    /// From named quantities.
    pub fn new(sums: &Sums, catalogue: &Catalogue) -> Self {
        let mut r = Self::default();
        for (name, q) in sums.iter() {
            match &**name {
                "cpu" => r.cpu = q.milli_value().max(0),
                "memory" => r.memory = q.value().max(0),
                "ephemeral-storage" => r.ephemeral = q.value().max(0),
                _ if is_scalar(name) => r.scalars.push((catalogue.resource(name), q.value().max(0))),
                _ => {}
            }
        }
        r.scalars.sort_unstable();
        r
    }
}

/// What a node has, or what its pods take of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Room {
    /// Thousandths of a core.
    pub cpu: i64,
    /// Bytes.
    pub memory: i64,
    /// Bytes.
    pub ephemeral: i64,
    scalars: Vec<i64>,
}

impl Room {
    /// A node's allocatable resources.
    pub fn allocatable(amounts: &Amounts, catalogue: &Catalogue) -> Self {
        let get = |name: &str| amounts.get(name).unwrap_or_default();
        let mut room = Self {
            cpu: get("cpu").milli_value(),
            memory: get("memory").value(),
            ephemeral: get("ephemeral-storage").value(),
            scalars: Vec::new(),
        };
        for (name, q) in amounts.iter().filter(|(n, _)| is_scalar(n)) {
            room.add_scalar(catalogue.resource(name), q.value());
        }
        room
    }

    /// The amount of a counted resource.
    pub fn scalar(&self, id: ResourceId) -> i64 {
        self.scalars.get(usize::from(id)).copied().unwrap_or_default()
    }

    fn add_scalar(&mut self, id: ResourceId, n: i64) {
        let at = usize::from(id);
        if self.scalars.len() <= at {
            self.scalars.resize(at + 1, 0);
        }
        if let Some(s) = self.scalars.get_mut(at) {
            *s = s.saturating_add(n);
        }
    }

    /// Adds a pod's requests, or takes them away with `sign` -1.
    pub fn count(&mut self, r: &Request, sign: i64) {
        self.cpu = self.cpu.saturating_add(sign * r.cpu);
        self.memory = self.memory.saturating_add(sign * r.memory);
        self.ephemeral = self.ephemeral.saturating_add(sign * r.ephemeral);
        r.scalars.iter().for_each(|(id, n)| self.add_scalar(*id, sign * n));
    }
}
