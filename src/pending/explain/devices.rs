//! Device claims: what a request lacks on the nearest node, and who has the devices.

use crate::finding::{Code, Finding, Ref};
use crate::pending::facts::{Facts, count, some};
use crate::sched::Reason;
use crate::sched::filters::devices::ids::{DeviceId, Entry};
use crate::sched::filters::devices::lacking::{Lack, Lacking};
use crate::sched::filters::devices::taken;
use crate::sched::filters::dynamic_resources::claims::{Claim, claims_of};
use crate::sched::filters::dynamic_resources::{Unmet, claim_name, unmet};
use crate::sched::node::NodeInfo;
use crate::snapshot::Kind;
use crate::snapshot::object::Object;
use crate::wire::resource::{DeviceAttribute, ResourceClaim};
use std::collections::HashSet;
use std::sync::Arc;

/// Findings about device claims on the nodes that refuse for them.
pub fn findings(f: &Facts<'_>) -> Vec<Finding> {
    let mut all: Vec<Finding> = f.diagnosis.error.iter().map(|words| failed(f, words)).collect();
    all.extend(not_judged(f));
    let nodes = f.nodes_where(|r| matches!(r, Reason::CannotAllocateClaims));
    if !nodes.is_empty() {
        all.push(cannot_allocate(f, &nodes));
    }
    let elsewhere = f.nodes_where(|r| matches!(r, Reason::ClaimNotOnNode));
    if !elsewhere.is_empty() {
        all.push(not_on_node(f, &elsewhere));
    }
    all
}

/// The references to the pod's own claims.
fn own(f: &Facts<'_>) -> impl Iterator<Item = Ref> {
    let pod = f.pod();
    let names = pod.spec.resource_claims.iter().filter_map(|r| claim_name(pod, r).ok().flatten());
    names.map(|n| Ref::new("resource.k8s.io/v1", "ResourceClaim", pod.meta.ns(), &n))
}

/// The attempt ends in an error: no node is chosen, although some may be free.
fn failed(f: &Facts<'_>, words: &str) -> Finding {
    let message = format!(
        "the scheduler gives up with an error, whatever devices other nodes have, and tries again: {words}. The claim, its \
         class or the ResourceSlice has to be corrected"
    );
    Finding::new(Code::ResourceClaim, message).about(own(f))
}

/// What is not evaluated, and of how many nodes.
fn not_judged(f: &Facts<'_>) -> Option<Finding> {
    let (_, what) = f.diagnosis.not_judged().next()?;
    let nodes: Vec<_> = f.diagnosis.not_judged().filter_map(|(id, _)| f.node(id)).map(|n| n.name()).collect();
    let message =
        format!("not known whether the pod fits on {} ({}): {what}", count(nodes.len(), "node"), some(&nodes));
    Some(Finding::new(Code::NotJudged, message).about(own(f)))
}

/// What is missing on the node that comes nearest.
fn cannot_allocate(f: &Facts<'_>, nodes: &[&Arc<NodeInfo>]) -> Finding {
    let on = count(nodes.len(), "node");
    // The first nodes stand for all: of thousands most are alike.
    let nearest = nodes.iter().take(LOOKED_AT).filter_map(|n| Some((n, unmet(&f.incoming, n)?)));
    let Some((node, unmet)) = nearest.max_by_key(|(_, u)| u.lacking.as_ref().map(|l| (l.lack.rank(), l.passed.len())))
    else {
        return Finding::new(Code::ResourceClaim, format!("its device claims cannot be allocated on {on}"))
            .about(own(f));
    };
    let what = match &unmet.request {
        Some(request) => format!("{}, request {request}", claim_words(&unmet)),
        None => claim_words(&unmet),
    };
    let place =
        if nodes.len() == 1 { format!("on {}", node.name()) } else { format!("on {on}; nearest is {}", node.name()) };
    let (why, holders) = match &unmet.lacking {
        Some(lacking) => (why(f, lacking), holders(f, lacking)),
        None => ("its devices cannot be allocated together".to_owned(), Vec::new()),
    };
    let held: Vec<String> = holders.iter().map(|c| holder(c)).collect();
    let held = if held.is_empty() { String::new() } else { format!("; allocated to {}", some(held)) };
    let message = format!("{what}: not enough devices {place}: {why}{held}");
    let others = holders.iter().take(4).map(|c| Ref::of(Kind::ResourceClaim, &c.meta));
    Finding::new(Code::ResourceClaim, message).about(own(f).chain(others))
}

/// So many nodes are looked at for the nearest one.
const LOOKED_AT: usize = 50;

fn claim_words(unmet: &Unmet) -> String {
    let name = unmet.claim.rsplit('/').next().unwrap_or_default();
    if name.starts_with('<') {
        "extended resources offered by a DeviceClass".to_owned()
    } else {
        format!("claim {name}")
    }
}

fn why(f: &Facts<'_>, l: &Lacking) -> String {
    let (n, left) = (count(l.candidates.len(), "device"), l.passed.len());
    let wanted = if l.wanted == 1 { String::new() } else { format!(" ({} requested)", l.wanted) };
    match &l.lack {
        Lack::Devices if left == 0 => "no ResourceSlice publishes a device there".to_owned(),
        Lack::Devices => format!("{} there{wanted}", count(left, "device")),
        Lack::Pool(pool) => format!(
            "pool {pool} is incomplete or contradicts itself: its driver has not published all its ResourceSlices"
        ),
        Lack::Match(s) => {
            let of = if s.of_class { "the class's selector" } else { "the selector" };
            let has = has(f, &s.text, &l.candidates);
            format!("{left} of {n} match {of} {}{wanted}{has}", s.text)
        }
        Lack::Toleration(t) => format!(
            "{left} of {n} left{wanted} without the taint {}{}:{}, which the request does not tolerate",
            t.key,
            if t.value.is_empty() { String::new() } else { format!("={}", t.value) },
            t.effect
        ),
        Lack::Capacity(name, asked, free, has) => {
            format!("{left} of {n} with {asked} of capacity {name}{wanted}: at most {free} of {has} free")
        }
        Lack::Counter(set, name, takes, left_of) => {
            format!("{left} of {n} within the shared counters{wanted}: {takes} of {set}/{name} needed, {left_of} left")
        }
        Lack::Free => format!("{left} of {n} free{wanted}"),
        Lack::Together => "enough for each request alone, not for all requests and constraints together".to_owned(),
    }
}

/// What a device has of the attributes and capacities that an expression names.
fn has(f: &Facts<'_>, expression: &str, devices: &[Entry]) -> String {
    let inventory = &f.state.devices().inventory;
    let Some(device) = devices.first().and_then(|d| inventory.device(*d)).and_then(|d| inventory.published(d)) else {
        return String::new();
    };
    let named = |name: &str| {
        let id = name.rsplit('/').next().unwrap_or(name);
        expression.contains(id).then(|| id.to_owned())
    };
    let attributes = device.attributes.iter().filter_map(|(n, a)| Some(format!("{} {}", named(n)?, printed(a))));
    let capacity =
        device.capacity.iter().filter_map(|(n, c)| Some(format!("{} {}", named(n)?, c.value.as_ref()?.string)));
    let values: Vec<String> = attributes.chain(capacity).collect();
    if values.is_empty() { String::new() } else { format!("; {} has {}", device.name, values.join(", ")) }
}

fn printed(a: &DeviceAttribute) -> String {
    let number = a.int.map(|i| i.to_string()).or_else(|| a.bool.map(|b| b.to_string()));
    number.or_else(|| a.string.clone()).or_else(|| a.version.clone()).unwrap_or_else(|| "several values".to_owned())
}

/// The claims that have devices which the request could use.
fn holders<'a>(f: &'a Facts<'_>, l: &Lacking) -> Vec<&'a Claim> {
    if l.lack.rank() < 5 {
        return Vec::new();
    }
    let inventory = &f.state.devices().inventory;
    let ids: HashSet<DeviceId> = l.candidates.iter().filter_map(|e| Some(inventory.device(*e)?.id)).collect();
    // Of devices that share counters others are in the way.
    let pools = l.candidates.iter().filter_map(|e| inventory.pool_of(inventory.device(*e)?));
    let pools: HashSet<(&str, &str)> = pools.map(|p| (&*p.driver, &*p.name)).collect();
    let in_the_way = |c: &&Claim| {
        c.allocation().into_iter().flat_map(taken::results).any(|r| match l.lack {
            Lack::Counter(..) => pools.contains(&(&*r.driver, &*r.pool)),
            _ => inventory.id_of(&r.driver, &r.pool, &r.device).is_some_and(|id| ids.contains(&id)),
        })
    };
    f.snapshot().resource_claims.iter().filter(in_the_way).collect()
}

fn holder(claim: &Object<ResourceClaim>) -> String {
    let reserved = claim.status.as_ref().map(|s| &*s.reserved_for).unwrap_or_default();
    let users: Vec<&str> = reserved.iter().map(|r| &*r.name).collect();
    if users.is_empty() { claim.meta.path() } else { format!("{} ({})", claim.meta.path(), users.join(", ")) }
}

/// An allocated claim's devices are elsewhere.
fn not_on_node(f: &Facts<'_>, nodes: &[&Arc<NodeInfo>]) -> Finding {
    let claims = claims_of(f.pod(), f.snapshot()).unwrap_or_default();
    let claims: Vec<&Claim> = claims.into_iter().filter(|c| c.is_allocated()).collect();
    let held: Vec<String> = claims.iter().map(|c| holder(c)).collect();
    let devices = claims.iter().filter_map(|c| c.allocation()?.devices.as_ref());
    let devices: Vec<String> = devices.flat_map(|d| &d.results).map(|r| format!("{}/{}", r.pool, r.device)).collect();
    let message = format!(
        "claim {} is allocated already, and its devices ({}) cannot be used on {}",
        some(held),
        some(devices),
        count(nodes.len(), "node")
    );
    Finding::new(Code::ResourceClaim, message).about(own(f))
}
