//! What a claim takes of the capacity of a device that claims share. Mirrors
//! `structured/internal/incubating/consumable_capacity.go`.

use super::features::Features;
use super::ids::amount;
use crate::snapshot::quantity::Quantity;
use crate::wire::resource as wire;
use crate::wire::scalar;
use std::collections::BTreeMap;

/// Amounts by name.
pub type Amounts = BTreeMap<String, Quantity>;

/// How much a device has of something, and in which amounts it is given.
#[derive(Debug, Clone)]
pub struct Capacity {
    /// How much there is.
    pub value: Quantity,
    policy: Option<Policy>,
}

#[derive(Debug, Clone)]
struct Policy {
    default: Option<Quantity>,
    values: Vec<Quantity>,
    range: Option<Range>,
}

#[derive(Debug, Clone)]
struct Range {
    min: Option<Quantity>,
    max: Option<Quantity>,
    step: Option<Quantity>,
}

impl Capacity {
    pub(super) fn read(wire: &wire::DeviceCapacity) -> Self {
        let some = |q: &Option<scalar::Quantity>| q.as_ref().map(|q| amount(Some(q)));
        let policy = wire.request_policy.as_ref().map(|p| Policy {
            default: some(&p.default),
            values: p.valid_values.iter().map(|q| amount(Some(q))).collect(),
            range: p.valid_range.as_ref().map(|r| Range { min: some(&r.min), max: some(&r.max), step: some(&r.step) }),
        });
        Self { value: amount(wire.value.as_ref()), policy }
    }
}

/// Amounts that a request asks for.
pub type Asked = BTreeMap<String, scalar::Quantity>;

/// What a request takes of each capacity of a device; `None` where the device has not all that is asked for, or does not
/// give such an amount. Mirrors `requestsContainNonExistCapacity`, `calculateConsumedCapacity` and `violatesPolicy`.
///
/// # Errors
/// The amount cannot be rounded (since 1.37); upstream's words.
pub fn consumed(
    asked: Option<&Asked>,
    capacity: &[(String, Capacity)],
    features: Features,
) -> Result<Option<Amounts>, String> {
    let has = |name: &String| capacity.iter().any(|(n, _)| n == name);
    if asked.is_some_and(|a| !a.keys().all(has)) {
        return Ok(None);
    }
    let mut all = Amounts::new();
    for (name, capacity) in capacity {
        let asked = asked.and_then(|a| a.get(name)).map(|q| amount(Some(q)));
        let taken = match asked {
            Some(asked) => capacity.round(asked, features).map_err(|e| format!("capacity {name:?}: {e}"))?,
            None => capacity.policy.as_ref().and_then(|p| p.default).unwrap_or(capacity.value),
        };
        if features.minor >= 37 && taken < Quantity::ZERO {
            return Err(format!("capacity {name:?}: capacity value is negative"));
        }
        all.insert(name.clone(), taken);
    }
    let given = |(name, c): &(String, Capacity)| all.get(name).is_none_or(|taken| c.gives(*taken, features));
    Ok(capacity.iter().all(given).then_some(all))
}

/// Whether what is taken fits beside what claims have of the device already.
pub fn fits(taken: &Amounts, capacity: &[(String, Capacity)], used: [Option<&Amounts>; 2]) -> bool {
    capacity.iter().all(|(name, c)| {
        let already = used.iter().flatten().filter_map(|a| a.get(name).copied());
        already.chain(taken.get(name).copied()).sum::<Quantity>() <= c.value
    })
}

/// Rounds as integers, or as thousandths where the range has a fraction (since 1.37).
fn in_steps(features: Features, range: &Range) -> fn(Quantity) -> i64 {
    let exact = |q: &Option<Quantity>| q.is_none_or(|q| Quantity::milli(q.milli_value()) == q);
    let steps = range.step.is_none_or(|s| s.milli_value() >= 1);
    if features.fractional && exact(&range.min) && exact(&range.max) && exact(&range.step) && steps {
        Quantity::milli_value
    } else {
        Quantity::value
    }
}

impl Capacity {
    /// Mirrors `roundUpRange` and `roundUpValidValues`.
    fn round(&self, asked: Quantity, features: Features) -> Result<Quantity, String> {
        let Some(policy) = &self.policy else { return Ok(asked) };
        if let Some(range @ Range { min: Some(min), .. }) = &policy.range {
            if asked < *min {
                return Ok(*min);
            }
            let Some(step) = range.step else { return Ok(asked) };
            let unit = in_steps(features, range);
            let in_milli = unit(Quantity::units(1)) == 1000;
            let refused = |why: String| {
                let words = "capacity request cannot be represented in the device's range arithmetic";
                Err(format!("{words}: {why}"))
            };
            if in_milli && Quantity::milli(asked.milli_value()) != asked {
                return refused(format!("request {asked} is not a representable milli value"));
            }
            if features.minor >= 37 && !in_milli && asked > Quantity::units(i64::MAX) {
                return refused(format!("request {asked} exceeds MaxInt64"));
            }
            let [wanted, size, from] = [asked, step, *min].map(|q| i128::from(unit(q)));
            if size <= 0 {
                return Ok(asked);
            }
            let added = wanted - from;
            let steps = added.div_euclid(size) + i128::from(added.rem_euclid(size) != 0);
            let Ok(rounded) = i64::try_from(from + size * steps) else {
                if features.minor < 37 {
                    return Ok(Quantity::units(i64::MAX));
                }
                let end = if in_milli { "the milli-value range" } else { "MaxInt64" };
                return refused(format!("rounding request {asked} up to the next step passes {end}"));
            };
            return Ok(if in_milli {
                Quantity::milli(rounded).written_as(step)
            } else if features.minor >= 37 {
                Quantity::units(rounded).written_as(step)
            } else {
                Quantity::bytes(rounded)
            });
        }
        Ok(policy.values.iter().find(|v| asked <= **v).copied().unwrap_or(asked))
    }

    /// Whether such an amount is given. Mirrors `violatesPolicy`.
    fn gives(&self, taken: Quantity, features: Features) -> bool {
        let Some(policy) = &self.policy else { return true };
        if policy.default == Some(taken) {
            return true;
        }
        if let Some(range) = &policy.range {
            if range.max.is_some_and(|max| taken > max) {
                return false;
            }
            let Some(step) = range.step else { return true };
            let unit = in_steps(features, range);
            let (taken, step, from) = (unit(taken), unit(step), unit(range.min.unwrap_or_default()));
            return step == 0 || (i128::from(taken) - i128::from(from)) % i128::from(step) == 0;
        }
        policy.values.is_empty() || policy.values.contains(&taken)
    }
}
