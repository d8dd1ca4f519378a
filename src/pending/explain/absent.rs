//! A resource of which no node has any: who offers it, whether that runs, and what nodes have in its place.

use crate::cure::Remedy;
use crate::pending::amounts::{HUGE_PAGES, is_device};
use crate::pending::facts::{Facts, some};
use crate::sched::filters::node_resources_fit::Shortage;
use crate::snapshot::quantity::{Amounts, Quantity};
use std::collections::BTreeSet;

/// What is said of a resource that no node offers.
pub struct Absent {
    /// What follows the amounts.
    pub words: String,
    /// What can be done.
    pub remedy: Remedy,
}

/// `None` where some node offers the resource.
pub fn of(f: &Facts<'_>, resource: &str, what: Shortage) -> Option<Absent> {
    let has = |amounts: &Amounts| amounts.get(resource).is_some_and(|q| q > Quantity::ZERO);
    let nodes = || f.state.nodes().iter().map(|n| &n.node);
    if what == Shortage::Pods || nodes().any(|n| has(&n.allocatable)) {
        return None;
    }
    let lead = format!("; no node offers {resource}");
    if resource.starts_with(HUGE_PAGES) {
        let others = others(f, |name| name.starts_with(HUGE_PAGES));
        let others = if others.is_empty() { String::new() } else { format!(" (nodes have {})", some(others)) };
        let text = format!(
            "reserve huge pages of that size on a node (by the kernel's settings; the kubelet sees them when it is \
             restarted), or request a size that nodes have{others}"
        );
        return Some(Absent { words: format!("{lead}{others}"), remedy: Remedy::advice(text) });
    }
    if !is_device(what, f.state.catalogue()) {
        let text = format!("see why the kubelets report no {resource}");
        return Some(Absent { words: format!("{lead}: the kubelets report none"), remedy: Remedy::advice(text) });
    }
    let domain = resource.split_once('/').map_or(resource, |(domain, _)| domain);
    let vendor = domain.split('.').next().unwrap_or(domain);
    // The device manager keeps devices that are not healthy in the capacity (`GetCapacity` of `cm/devicemanager`).
    let unhealthy: Vec<String> = nodes().filter(|n| has(&n.capacity)).map(|n| n.meta.name.to_string()).collect();
    let broken = match unhealthy.is_empty() {
        true => String::new(),
        false => format!(
            " ({} has it as capacity, and none of it is allocatable: its devices are not healthy)",
            some(unhealthy)
        ),
    };
    let others = others(f, |name| name.split_once('/').is_some_and(|(d, _)| d == domain));
    let instead =
        if others.is_empty() { String::new() } else { format!("; nodes have {} in its place", some(&others)) };
    let published = driver(f, vendor);
    let by_slices = match &published {
        Some(driver) => {
            format!("; driver {driver} publishes its devices as ResourceSlices, which only device claims get")
        }
        None => String::new(),
    };
    let plugin = f.cx.components.containing(&["device-plugin"]);
    let plugin: Vec<_> = plugin.pods.into_iter().filter(|p| p.meta.name.contains(vendor)).collect();
    let plugin = crate::pending::components::Component { pods: plugin };
    let runs = match plugin.pods.is_empty() {
        true => String::new(),
        false => format!("; its device plugin {}", plugin.words(f.snapshot())),
    };
    let text = match (&published, others.is_empty()) {
        (Some(driver), _) => format!(
            "request the device by a ResourceClaim of driver {driver}, or set extendedResourceName: {resource} in its \
             DeviceClass (Kubernetes 1.36 and later)"
        ),
        (None, false) => {
            format!("request what the nodes have ({}), or let the device plugin offer {resource}", some(&others))
        }
        (None, true) => format!(
            "install or repair the device plugin that offers {resource} on its nodes{}",
            runs.replacen(';', ":", 1)
        ),
    };
    Some(Absent { words: format!("{lead}{broken}{instead}{by_slices}{runs}"), remedy: Remedy::advice(text) })
}

/// Resources of nodes by their names.
fn others(f: &Facts<'_>, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let each = f.state.nodes().iter().flat_map(|n| n.node.allocatable.iter());
    let there = each.filter(|(name, q)| *q > Quantity::ZERO && wanted(name));
    there.map(|(name, _)| name.to_string()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// A driver of the vendor that publishes devices.
fn driver(f: &Facts<'_>, vendor: &str) -> Option<String> {
    let drivers = f.snapshot().resource_slices.iter().filter_map(|s| s.spec.as_ref()).map(|s| &*s.driver);
    let driver = drivers.filter(|d| d.split('.').any(|part| part == vendor)).min()?;
    Some(driver.to_owned())
}
