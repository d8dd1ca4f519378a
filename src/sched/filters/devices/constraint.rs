//! What the devices of a claim must have in common, or must not. Mirrors `matchAttributeConstraint`
//! (`allocator_incubating.go`) and `distinctAttributeConstraint` (`constraint.go`).

use super::features::Features;
use crate::wire::resource as wire;
use std::collections::HashMap;

/// A constraint with the devices chosen so far.
#[derive(Debug, Clone)]
pub struct Constraint<'a> {
    /// The requests it is about; all where there are none.
    requests: &'a [String],
    kind: Kind<'a>,
    attribute: &'a str,
}

#[derive(Debug, Clone)]
enum Kind<'a> {
    /// All have the same value: that of the first, and how many there are.
    Match(Option<&'a wire::DeviceAttribute>, usize),
    /// All values differ. Since 1.37 each device's is kept.
    Distinct(Vec<&'a wire::DeviceAttribute>),
    /// Up to 1.36 only the last one of each request is kept, and how many there were.
    DistinctByRequest(HashMap<&'a str, &'a wire::DeviceAttribute>, usize),
}

impl<'a> Constraint<'a> {
    /// A constraint without devices; `None` for one of an unknown kind.
    pub fn new(wire: &'a wire::DeviceConstraint, features: Features) -> Option<Self> {
        let (kind, attribute) = match (&wire.match_attribute, &wire.distinct_attribute) {
            (Some(attribute), _) => (Kind::Match(None, 0), attribute),
            // Part of DRAConsumableCapacity.
            (None, Some(attribute)) if features.minor >= 37 => (Kind::Distinct(Vec::new()), attribute),
            (None, Some(attribute)) if features.consumable => (Kind::DistinctByRequest(HashMap::new(), 0), attribute),
            _ => return None,
        };
        Some(Self { requests: &wire.requests, kind, attribute })
    }

    /// Whether it is about devices of a request, or of one of its subrequests.
    fn concerns(&self, request: &str, sub: &str) -> bool {
        let named = |n: &String| n == request || (!sub.is_empty() && n.split_once('/') == Some((request, sub)));
        self.requests.is_empty() || self.requests.iter().any(named)
    }

    /// Adds a device, if it may be added.
    ///
    /// # Errors
    /// The attribute has several values, which takes a feature that is off.
    pub fn add(&mut self, request: &'a str, sub: &str, driver: &str, device: &'a wire::Device) -> Result<bool, String> {
        if !self.concerns(request, sub) {
            return Ok(true);
        }
        let Some(value) = attribute(device, driver, self.attribute) else { return Ok(false) };
        if is_list(value) {
            return Err(format!("attribute {} with several values (an alpha feature)", self.attribute));
        }
        Ok(match &mut self.kind {
            Kind::Match(first @ None, n) => {
                *first = Some(value);
                *n = 1;
                true
            }
            Kind::Match(Some(first), n) if same(value, first) => {
                *n += 1;
                true
            }
            Kind::Match(..) => false,
            Kind::Distinct(values) => {
                let differs = !values.iter().any(|v| same(value, v));
                if differs {
                    values.push(value);
                }
                differs
            }
            Kind::DistinctByRequest(values, n) => {
                let differs = *n == 0 || !values.values().any(|v| same(value, v));
                if differs {
                    values.insert(request, value);
                    *n += 1;
                }
                differs
            }
        })
    }

    /// Takes back the device that was added last.
    pub fn remove(&mut self, request: &str, sub: &str) {
        if !self.concerns(request, sub) {
            return;
        }
        match &mut self.kind {
            Kind::Match(first, n) => {
                *n = n.saturating_sub(1);
                if *n == 0 {
                    *first = None;
                }
            }
            Kind::Distinct(values) => {
                values.pop();
            }
            Kind::DistinctByRequest(values, n) => {
                values.remove(request);
                *n = n.saturating_sub(1);
            }
        }
    }
}

/// The attribute of a qualified name. Mirrors `lookupAttribute`.
pub fn attribute<'a>(device: &'a wire::Device, driver: &str, name: &str) -> Option<&'a wire::DeviceAttribute> {
    device.attributes.get(name).or_else(|| {
        let (domain, id) = name.split_once('/')?;
        if domain == driver { device.attributes.get(id) } else { None }
    })
}

fn is_list(a: &wire::DeviceAttribute) -> bool {
    !(a.ints.is_empty() && a.bools.is_empty() && a.strings.is_empty() && a.versions.is_empty())
}

fn same(a: &wire::DeviceAttribute, b: &wire::DeviceAttribute) -> bool {
    if a.string.is_some() {
        a.string == b.string
    } else if a.int.is_some() {
        a.int == b.int
    } else if a.bool.is_some() {
        a.bool == b.bool
    } else {
        a.version.is_some() && a.version == b.version
    }
}
