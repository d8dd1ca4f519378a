//! What claims ask for: requests, and their alternatives. Mirrors `requestAccessor` and `validateDeviceRequest` of
//! `structured/internal/incubating/allocator_incubating.go`.

use super::capacity::Asked;
use super::ids::ExpressionId;
use super::inventory::Inventory;
use crate::snapshot::Snapshot;
use crate::wire::resource as wire;

/// A claim to be allocated.
#[derive(Debug, Clone)]
pub struct Claim {
    /// `namespace/name`, as upstream prints it.
    pub path: String,
    /// Its requests.
    pub requests: Vec<Request>,
    /// What its devices must have in common, or not.
    pub constraints: Vec<wire::DeviceConstraint>,
}

/// A request: one of several alternatives where it is a prioritised list.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its name.
    pub name: String,
    /// What is asked for, the preferred one first.
    pub alternatives: Vec<Wanted>,
    /// Whether they are subrequests, each with a name of its own.
    pub prioritised: bool,
}

/// Devices that are asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The name of the request or subrequest.
    pub name: String,
    /// The class.
    pub class: String,
    /// How many; `None` for all that match.
    pub count: Option<i64>,
    /// As their administrator, beside those who use them.
    pub admin: bool,
    /// Taints that are borne.
    pub tolerations: Vec<wire::DeviceToleration>,
    /// How much of their capacity.
    pub capacity: Option<Asked>,
    /// What must hold: the class's expressions first.
    pub selectors: Vec<Selector>,
}

/// An expression that must hold for a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// The number of the expression.
    pub expression: ExpressionId,
    /// Its text.
    pub text: String,
    /// Whether it is the class's, and its position there or in the request.
    pub of_class: bool,
    /// Its position.
    pub at: usize,
}

impl Request {
    /// The name of an alternative within the request; empty where the request is no list of them.
    pub fn sub_name<'a>(&self, wanted: &'a Wanted) -> &'a str {
        if self.prioritised { &wanted.name } else { "" }
    }
}

impl Claim {
    /// What a claim requests, its expressions known to the inventory. The error is upstream's words, or says what of it
    /// is not evaluated.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn read(
        path: String,
        devices: &wire::DeviceClaim,
        inventory: &Inventory,
        snapshot: &Snapshot,
    ) -> Result<Self, Refused> {
        let mut requests = Vec::with_capacity(devices.requests.len());
        for r in &devices.requests {
            let mut alternatives = Vec::new();
            let prioritised = r.exactly.is_none();
            let subs = r.first_available.iter().filter(|_| prioritised).map(Parts::of_sub);
            for parts in r.exactly.as_ref().map(|e| Parts::of_exact(&r.name, e)).into_iter().chain(subs) {
                alternatives.push(parts.read(&path, inventory, snapshot)?);
            }
            requests.push(Request { name: r.name.clone(), alternatives, prioritised });
        }
        Ok(Self { path, requests, constraints: devices.constraints.clone() })
    }
}

/// Why a claim cannot be judged on any node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The attempt to schedule the pod ends with this error.
    Fatal(String),
    /// It is not evaluated here.
    Unknown(String),
}

/// What requests and subrequests have alike.
struct Parts<'a> {
    name: &'a str,
    class: &'a str,
    selectors: &'a [wire::DeviceSelector],
    mode: &'a str,
    count: Option<i64>,
    admin: bool,
    tolerations: &'a [wire::DeviceToleration],
    capacity: Option<&'a wire::CapacityRequirements>,
    derived: bool,
}

impl<'a> Parts<'a> {
    fn of_exact(name: &'a str, e: &'a wire::ExactDeviceRequest) -> Self {
        Self {
            name,
            class: &e.device_class_name,
            selectors: &e.selectors,
            mode: &e.allocation_mode,
            count: e.count,
            admin: e.admin_access,
            tolerations: &e.tolerations,
            capacity: e.capacity.as_ref(),
            derived: !e.derived_attributes.is_empty(),
        }
    }

    fn of_sub(e: &'a wire::DeviceSubRequest) -> Self {
        Self {
            name: &e.name,
            class: &e.device_class_name,
            selectors: &e.selectors,
            mode: &e.allocation_mode,
            count: e.count,
            admin: false,
            tolerations: &e.tolerations,
            capacity: e.capacity.as_ref(),
            derived: !e.derived_attributes.is_empty(),
        }
    }

    fn read(self, claim: &str, inventory: &Inventory, snapshot: &Snapshot) -> Result<Wanted, Refused> {
        let Self { name, class, .. } = self;
        let fatal = |words: String| Err(Refused::Fatal(format!("claim {claim}, request {name}: {words}")));
        if self.derived {
            return Err(Refused::Unknown("derived attributes (an alpha feature)".to_owned()));
        }
        let Some(of_class) = snapshot.device_classes.named("", class) else {
            return fatal(format!(
                "could not retrieve device class {class}: deviceclass.resource.k8s.io {class:?} not found"
            ));
        };
        let count = match self.mode {
            // The API server sets what is left out.
            "ExactCount" | "" => Some(self.count.unwrap_or(1)),
            "All" => None,
            mode => return fatal(format!("unsupported count mode {mode}")),
        };
        let mut selectors = Vec::new();
        let class_selectors = of_class.body.spec.as_ref().map(|s| &*s.selectors).unwrap_or_default();
        for (list, of_class) in [(class_selectors, true), (self.selectors, false)] {
            for (at, selector) in list.iter().enumerate() {
                let Some(cel) = &selector.cel else {
                    return Err(Refused::Unknown(format!("a selector of request {name} that is no CEL expression")));
                };
                let text = cel.expression.clone();
                selectors.push(Selector { expression: inventory.expression(&text), text, of_class, at });
            }
        }
        Ok(Wanted {
            name: name.to_owned(),
            class: class.to_owned(),
            count,
            admin: self.admin,
            tolerations: self.tolerations.to_vec(),
            capacity: self.capacity.map(|c| c.requests.clone()),
            selectors,
        })
    }
}

impl Wanted {
    /// The first taint of a device that keeps it from being allocated. Mirrors `taintPreventsAllocation`.
    pub fn untolerated<'t>(&self, taints: &'t [wire::DeviceTaint]) -> Option<&'t wire::DeviceTaint> {
        let mut hard = taints.iter().filter(|t| matches!(&*t.effect, "NoSchedule" | "NoExecute"));
        hard.find(|taint| !self.tolerations.iter().any(|t| tolerates_taint(t, taint)))
    }
}

/// Mirrors `resourceclaim.ToleratesTaint`.
fn tolerates_taint(t: &wire::DeviceToleration, taint: &wire::DeviceTaint) -> bool {
    (t.effect.is_empty() || t.effect == taint.effect)
        && (t.key.is_empty() || t.key == taint.key)
        && match &*t.operator {
            "" | "Equal" => t.value == taint.value,
            "Exists" => true,
            _ => false,
        }
}
