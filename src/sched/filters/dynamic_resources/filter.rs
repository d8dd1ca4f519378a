//! What the plugin says of a pod and of nodes.

use super::binding;
use super::claims::{Claim, claims_of};
use super::extended::{self, Asked};
use crate::sched::devices::Devices;
use crate::sched::diagnosis::Diagnosis;
use crate::sched::filters::devices::features::Features;
use crate::sched::filters::devices::lacking::{Lack, Lacking, lacking};
use crate::sched::filters::devices::request::{self, Refused};
use crate::sched::filters::devices::search::{Outcome, search};
use crate::sched::filters::{Filter, Incoming, Prepared};
use crate::sched::node::{NodeId, NodeInfo};
use crate::sched::status::{Plugin, Reason, Status, Verdict};
use crate::snapshot::intern::Interner;
use crate::snapshot::selector::NodeSelector;
use crate::snapshot::{Kind, Snapshot};
use crate::wire::resource as wire;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

/// So many devices one search on one node may look at, and all searches for a pod together. The scheduler gives up after
/// ten seconds on a node (`DynamicResourcesFilterTimeoutDefault`).
const STEPS_ON_NODE: u64 = 2_000_000;
const STEPS: u64 = 50_000_000;

/// Whether the pod has device claims, or extended resources that a DeviceClass offers.
pub fn has_claims(incoming: &Incoming<'_>) -> bool {
    let features = Features::of(incoming.state.minor());
    features.claims
        && (!incoming.pod().spec.resource_claims.is_empty()
            || (features.extended && !extended::asked(incoming).is_empty()))
}

/// Makes it ready. Mirrors `PreEnqueue` and `PreFilter`.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    if !has_claims(incoming) {
        return Prepared::Skip;
    }
    match made_ready(incoming) {
        Ok(filter) => Prepared::Runs(Box::new(filter)),
        Err(Refusal::Pod(reason)) => Prepared::Rejects(Status::unresolvable(Plugin::DynamicResources, reason)),
        Err(Refusal::Nodes(reason)) => Prepared::Runs(Box::new(Refuses(reason))),
    }
}

/// What is said of a pod before nodes are looked at, or of every node.
enum Refusal {
    Pod(Reason),
    Nodes(Reason),
}

fn made_ready<'a>(incoming: &Incoming<'a>) -> Result<DynamicResources<'a>, Refusal> {
    let snapshot = incoming.snapshot();
    if let Some(kind) = unread(snapshot) {
        return Err(Refusal::Pod(Reason::NotJudged(format!("{} could not be read", kind.resource()).into())));
    }
    // Without its claims a pod is not put into the queue.
    let pod = incoming.pod();
    let claims =
        claims_of(pod, snapshot).map_err(|fault| Refusal::Pod(Reason::NotEnqueued(fault.words(pod).into())))?;
    let features = Features::of(incoming.state.minor());
    let extended = if features.extended { extended::asked(incoming) } else { Vec::new() };
    let made_before = !extended.is_empty() && extended::made_before(pod, snapshot).is_some();
    let to_allocate = || claims.iter().copied().filter(|c| !c.is_allocated());
    if let Some(reason) = to_allocate().flat_map(requests).find_map(|r| without_class(r, snapshot)) {
        return Err(Refusal::Pod(reason));
    }
    let devices = incoming.state.devices();
    let read = |claim: &Claim| {
        let spec = claim.body.spec.as_ref().and_then(|s| s.devices.clone()).unwrap_or_default();
        request::Claim::read(claim.meta.path(), &spec, &devices.inventory, snapshot)
    };
    let wanted = to_allocate().map(read).collect::<Result<Vec<_>, _>>().map_err(|r| Refusal::Nodes(reason_of(r)))?;
    Ok(DynamicResources {
        devices,
        incoming: incoming.clone(),
        allocated: claims
            .iter()
            .copied()
            .filter(|c| c.is_allocated())
            .map(|c| Allocated::of(c, incoming, features))
            .collect(),
        wanted,
        extended,
        made_before,
        has_own: !claims.is_empty(),
        steps: Cell::new(STEPS),
    })
}

/// A kind without which nothing can be told.
fn unread(snapshot: &Snapshot) -> Option<Kind> {
    let kinds = [Kind::ResourceClaim, Kind::ResourceSlice, Kind::DeviceClass];
    kinds.into_iter().find(|k| snapshot.coverage.hides(*k))
}

fn requests(claim: &Claim) -> impl Iterator<Item = &wire::DeviceRequest> {
    claim.body.spec.iter().filter_map(|s| s.devices.as_ref()).flat_map(|d| &d.requests)
}

/// What is said of a request whose class is not there. Mirrors `validateDeviceClass`.
fn without_class(request: &wire::DeviceRequest, snapshot: &Snapshot) -> Option<Reason> {
    let missing = |class: &str, name: &str| {
        if class.is_empty() {
            return Some(Reason::Fails(format!("request {name}: unsupported request type").into()));
        }
        let words = || format!("request {name}: device class {class} does not exist");
        snapshot.device_classes.named("", class).is_none().then(|| Reason::Words(words().into()))
    };
    match &request.exactly {
        Some(e) => missing(&e.device_class_name, &request.name),
        None if request.first_available.is_empty() => {
            let what = format!("a request of an unknown type ({})", request.name);
            Some(Reason::NotJudged(what.into()))
        }
        None => {
            let subs = &request.first_available;
            subs.iter().find_map(|s| missing(&s.device_class_name, &format!("{}/{}", request.name, s.name)))
        }
    }
}

fn reason_of(refused: Refused) -> Reason {
    match refused {
        Refused::Fatal(words) => Reason::Fails(words.into()),
        Refused::Unknown(what) => Reason::NotJudged(what.into()),
    }
}

/// Says the same of every node.
struct Refuses(Reason);

impl Filter for Refuses {
    fn plugin(&self) -> Plugin {
        Plugin::DynamicResources
    }

    fn check(&self, _: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        reasons.push(self.0.clone());
        Verdict::Unresolvable
    }
}

/// A claim that has its devices.
struct Allocated {
    /// From where they can be reached; `None` from everywhere.
    place: Option<NodeSelector>,
    /// Binding them has failed.
    lost: bool,
    /// It needs something that is not judged.
    doubt: bool,
}

impl Allocated {
    fn of(claim: &Claim, incoming: &Incoming<'_>, features: Features) -> Self {
        let allocation = claim.allocation();
        let place = allocation.and_then(|a| a.node_selector.as_ref());
        let results = allocation.and_then(|a| a.devices.as_ref()).map(|d| &*d.results).unwrap_or_default();
        Self {
            place: place.map(|s| NodeSelector::read(s, &mut Interner::default())),
            lost: features.binding && binding::is_lost(claim, incoming.snapshot().now),
            doubt: results.iter().any(|r| !r.skip_node_operations.is_empty()),
        }
    }

    /// Whether it is of no use on a node.
    fn is_unavailable(&self, node: &NodeInfo) -> bool {
        self.lost || self.place.as_ref().is_some_and(|p| !p.matches(node.name(), &node.node.meta.labels))
    }
}

struct DynamicResources<'a> {
    devices: &'a Devices,
    incoming: Incoming<'a>,
    allocated: Vec<Allocated>,
    /// What has to be allocated.
    wanted: Vec<request::Claim>,
    /// Extended resources, some of which a class offers.
    extended: Vec<Asked>,
    /// Whether an earlier attempt left its claim for extended resources.
    made_before: bool,
    /// Whether the pod names claims itself.
    has_own: bool,
    steps: Cell<u64>,
}

impl DynamicResources<'_> {
    /// What is to be allocated on a node, or what speaks against the node before that.
    fn wanted_on(&self, node: &NodeInfo) -> Result<Cow<'_, [request::Claim]>, Reason> {
        if self.extended.is_empty() {
            return Ok(Cow::Borrowed(&self.wanted));
        }
        if self.made_before {
            return Err(Reason::Words("cannot schedule extended resource claim".into()));
        }
        // They come from devices only where the node has none of the plain kind.
        let mut by_devices = BTreeMap::new();
        for asked in self.extended.iter().filter(|a| node.allocatable.scalar(a.id) == 0) {
            match &asked.class {
                Some(class) => drop(by_devices.insert(asked.name.clone(), class.clone())),
                None if !node.node.allocatable.iter().any(|(n, _)| *n == asked.name) => {
                    return Err(Reason::Words("cannot fit resource".into()));
                }
                None => {}
            }
        }
        if by_devices.is_empty() {
            return Ok(Cow::Borrowed(&self.wanted));
        }
        let pod = self.incoming.pod();
        let claim = extended::claim(pod, &by_devices);
        let path = format!("{}/{}", pod.meta.ns(), extended::CLAIM);
        let claim = request::Claim::read(path, &claim, &self.devices.inventory, self.incoming.snapshot());
        Ok(self.wanted.iter().cloned().chain([claim.map_err(reason_of)?]).collect())
    }

    /// Mirrors `Filter`.
    fn refusal(&self, node: &NodeInfo) -> Option<Reason> {
        let wanted = match self.wanted_on(node) {
            Ok(wanted) => wanted,
            Err(reason) => return Some(reason),
        };
        if wanted.is_empty() && !self.has_own {
            return None;
        }
        if self.allocated.iter().any(|a| a.doubt) {
            return Some(Reason::NotJudged(
                "an allocation that skips operations on the node (an alpha feature)".into(),
            ));
        }
        if !wanted.is_empty() {
            let granted = self.steps.get().min(STEPS_ON_NODE);
            let mut left = granted;
            let outcome = search(&self.devices.inventory, &self.devices.taken, &node.node, &wanted, &mut left);
            self.steps.set(self.steps.get() - (granted - left));
            match outcome {
                Outcome::Found(_) => {}
                Outcome::None => return Some(Reason::CannotAllocateClaims),
                Outcome::Invalid(words) => return Some(Reason::Words(words.into())),
                Outcome::Fatal(words) => return Some(Reason::Fails(words.into())),
                Outcome::Unknown(what) => return Some(Reason::NotJudged(what.into())),
            }
        }
        self.allocated.iter().any(|a| a.is_unavailable(node)).then_some(Reason::ClaimNotOnNode)
    }
}

impl Filter for DynamicResources<'_> {
    fn plugin(&self) -> Plugin {
        Plugin::DynamicResources
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        match self.refusal(node) {
            None => Verdict::Fits,
            Some(reason) => {
                reasons.push(reason);
                Verdict::Unresolvable
            }
        }
    }
}

/// A request that cannot be met on a node.
#[derive(Debug, Clone)]
pub struct Unmet {
    /// The claim, `namespace/name`.
    pub claim: String,
    /// The request, where one alone cannot be met.
    pub request: Option<String>,
    /// What it lacks.
    pub lacking: Option<Lacking>,
}

/// What lacks most on a node that cannot allocate the pod's claims. For people.
pub fn unmet(incoming: &Incoming<'_>, node: &NodeInfo) -> Option<Unmet> {
    let Ok(filter) = made_ready(incoming) else { return None };
    let wanted = filter.wanted_on(node).ok()?;
    let (inventory, taken) = (&filter.devices.inventory, &filter.devices.taken);
    let requests = wanted.iter().flat_map(|c| c.requests.iter().map(move |r| (c, r)));
    let all = requests.filter_map(|(claim, request)| {
        let lacking = lacking(inventory, taken, &node.node, request)?;
        let request = (lacking.lack != Lack::Together).then(|| request.name.clone());
        Some(Unmet { claim: claim.path.clone(), request, lacking: Some(lacking) })
    });
    all.min_by_key(|u| u.lacking.as_ref().map(|l| l.lack.rank()))
}

/// What PostFilter takes back: the allocation of one of the pod's claims that is of no use on a node which refused the
/// pod over it, where nobody else uses the claim; or the claim that an earlier attempt made for extended resources.
/// Upstream's words.
pub fn frees(incoming: &Incoming<'_>, diagnosis: &Diagnosis) -> Option<&'static str> {
    let features = Features::of(incoming.state.minor());
    if !has_claims(incoming) || diagnosis.rejection.is_some() {
        return None;
    }
    let unreached = |(_, status): &&(NodeId, Status)| status.reasons.contains(&Reason::ClaimNotOnNode);
    let refusing = || diagnosis.failures.iter().filter(unreached).filter_map(|(id, _)| incoming.state.node(*id));
    let own = incoming.pod().meta.uid.as_deref();
    let frees = |claim: &Claim| {
        let free = claim.status.as_ref().is_some_and(|s| match &s.reserved_for[..] {
            [] => true,
            [one] => own == Some(&*one.uid),
            _ => false,
        });
        let allocated = claim.is_allocated().then(|| Allocated::of(claim, incoming, features));
        free && allocated.is_some_and(|a| refusing().any(|node| a.is_unavailable(node)))
    };
    if claims_of(incoming.pod(), incoming.snapshot()).into_iter().flatten().any(frees) {
        return Some("deallocation of ResourceClaim completed");
    }
    let extended = features.extended && !extended::asked(incoming).is_empty();
    let left = extended && extended::made_before(incoming.pod(), incoming.snapshot()).is_some();
    left.then_some("deletion of ResourceClaim completed")
}
