//! What nodes cost, where that can be known. Mirrors `resolveNodePrice` (`disruption/types.go`), `WorstLaunchPrice`
//! (`pkg/cloudprovider/types.go`) and `RemoveInstanceTypeOptionsByPriceAndMinValues` (`scheduling/nodeclaim.go`).

use super::super::instance_type::{InstanceType, Price};
use super::super::labels::{CAPACITY_TYPE, INSTANCE_TYPE, Provider, ZONE};
use super::super::requirements::Requirements;
use super::super::solve::NewNode;
use super::super::template::{Options, Template};
use super::super::types::Types;
use super::Keeps;
use crate::snapshot::{Map, Str};

/// What a node costs by its labels: `None` where only the cloud knows. What is missing, where it has no price and so is
/// never consolidated.
pub fn of_labels(labels: &Map, types: &Types) -> Result<Option<Price>, Keeps> {
    let label = |key: &str| labels.get(key).ok_or_else(|| Keeps::NoPrice(key.into()));
    let kind = label(INSTANCE_TYPE)?;
    let (capacity, zone) = (label(CAPACITY_TYPE)?, label(ZONE)?);
    let Types::Known(all) = types else { return Ok(None) };
    let kind = all.iter().find(|t| t.name == *kind).ok_or_else(|| Keeps::NoPrice(INSTANCE_TYPE.into()))?;
    let offering = kind.offerings.iter().find(|o| o.zone == *zone && o.capacity_type == *capacity);
    Ok(Some(offering.and_then(|o| o.price).unwrap_or(Price(0))))
}

/// The dearest offering that a launch may end in; `None` where there is no offering.
fn worst(kind: &InstanceType, required: &Requirements, provider: Provider) -> Option<Price> {
    let open = |key: &str| provider.is_well_known(key);
    let of = |capacity: &'static str| kind.offerings.iter().filter(move |o| &*o.capacity_type == capacity);
    let fitting = |capacity| of(capacity).filter(|o| required.compatible(&o.requirements, open));
    ["reserved", "spot", "on-demand"].into_iter().find_map(|capacity| fitting(capacity).filter_map(|o| o.price).max())
}

/// The types among those of a new node that are cheaper than a price, whatever their launch ends in; `None` where there
/// is none, or too few for the pool's `minValues`. By their numbers.
pub fn cheaper(node: &NewNode, among: &[usize], template: &Template, than: Price) -> Option<Vec<usize>> {
    let provider = template.pool.provider;
    let is_cheaper = |at: &usize| {
        // Most types cost more whatever fits: they are not looked at.
        let some = |k: &&InstanceType| k.offerings.iter().any(|o| o.price.is_some_and(|p| p < than));
        let kind = template.listed().get(*at).filter(some);
        kind.and_then(|k| worst(k, &node.requirements, provider)).is_some_and(|p| p < than)
    };
    let left: Vec<usize> = among.iter().copied().filter(is_cheaper).collect();
    (!left.is_empty() && template.too_few(&left, &node.requirements).is_none()).then_some(left)
}

/// The types of a new node by their numbers; `None` where they are not known.
pub fn known(node: &NewNode) -> Option<&[usize]> {
    match &node.options {
        Options::Known(all) => Some(all),
        Options::Open(_) => None,
    }
}

/// The name of a type of a template.
pub fn name(template: &Template, at: usize) -> Option<&Str> {
    template.listed().get(at).map(|t| &t.name)
}
