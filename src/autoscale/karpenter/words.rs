//! What Karpenter's pools say of a pod, for a person.

use super::node_pool::Unusable;
use super::provision::{Invalid, NoNodes};
use super::requirements::Mismatch;
use super::solve::Refusal;
use super::template::NoType;
use super::topology::Unsatisfiable;
use super::topology_group::Rule;
use super::volumes::Fault;
use crate::lists::some;
use std::fmt;

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deleting => f.write_str("it is being deleted"),
            Self::Static => f.write_str("it has a fixed number of nodes (spec.replicas)"),
            Self::NotReady(why) if why.is_empty() => f.write_str("it is not Ready"),
            Self::NotReady(why) => write!(f, "it is not Ready ({why})"),
            Self::Unread(field) => write!(f, "{field} cannot be read"),
        }
    }
}

impl fmt::Display for NoNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool(why) => why.fmt(f),
            Self::Types(NoType { lacks: Some(lacks), .. }) => {
                write!(f, "no instance type has {lacks}, which it requires")
            }
            Self::Types(_) => f.write_str("no instance type meets its own requirements"),
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(key) => write!(f, "it requires the label {key}, which Karpenter keeps for itself"),
            Self::Field => f.write_str("its node affinity has matchFields"),
            Self::NotInteger(key) => write!(f, "it compares {key} with what is not a positive integer"),
            Self::CapacityType => f.write_str("it requires a karpenter.sh/capacity-type that does not exist"),
            Self::Volume(fault) => fault.fmt(f),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (claim, what) = match self {
            Self::NoClaim(claim) => (claim, "does not exist"),
            Self::ClaimDeleted(claim) => (claim, "is being deleted"),
            Self::ClaimLost(claim) => (claim, "has lost its volume"),
            Self::NoVolume(claim) => (claim, "names a volume that does not exist"),
            Self::VolumeDeleted(claim) => (claim, "has a volume that is being deleted"),
            Self::Unbound(claim) => (claim, "is not bound to its volume yet"),
            Self::NoClass(claim) => (claim, "is not bound and names no StorageClass"),
            Self::ClassMissing(claim) => (claim, "names a StorageClass that does not exist"),
            Self::Immediate(claim) => (claim, "must be bound first (volumeBindingMode Immediate)"),
        };
        write!(f, "its PersistentVolumeClaim {claim} {what}")
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = &self.asked;
        match &self.offered {
            None => write!(f, "the pod requires {asked}, and its nodes have no such label"),
            Some(offered) => write!(f, "its nodes have {offered}, and the pod requires {asked}"),
        }
    }
}

impl fmt::Display for Unsatisfiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (selector, key) = (&self.selector, &self.key);
        match (self.rule, self.of_others) {
            (Rule::Spread { .. }, _) => {
                write!(f, "its topologySpreadConstraint over {key} admits no domain ({selector})")
            }
            (Rule::Affinity, _) => write!(f, "its podAffinity to {selector} admits no {key}"),
            (Rule::AntiAffinity, false) => write!(f, "its podAntiAffinity to {selector} admits no {key}"),
            (Rule::AntiAffinity, true) => {
                write!(f, "the podAntiAffinity of running pods to {selector} admits no {key}")
            }
        }
    }
}

impl fmt::Display for NoType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(lacks) = &self.lacks {
            return write!(f, "no instance type has {lacks}");
        }
        if let Some(key) = &self.min_values {
            return write!(f, "too few instance types are left for its minValues of {key}");
        }
        f.write_str(match (self.labels, self.size, self.offering) {
            (true, true, true) => "no instance type has the labels and the room together",
            (false, _, _) => "no instance type has the labels that the pod requires",
            (_, false, _) => "no instance type is large enough",
            (_, _, false) => "no instance type is offered in the zone and the capacity type",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes => f.write_str("it has as many nodes as its limit allows"),
            Self::Limits(over) => {
                let each = over.iter().map(|o| format!("{} of {} {}", o.left, o.limit, o.resource));
                write!(f, "its limits have {} to spare, too little for any instance type that suffices", some(each, 3))
            }
            Self::Taint(taint) => write!(f, "the pod does not tolerate its taint {taint}"),
            Self::Labels(m) => m.fmt(f),
            Self::Volumes(m) => {
                let asked = &m.asked;
                match &m.offered {
                    None => write!(f, "a volume can be reached where {asked}, and its nodes have no such label"),
                    Some(offered) => write!(f, "its nodes have {offered}, and a volume can be reached where {asked}"),
                }
            }
            Self::Others(u) => u.fmt(f),
            Self::Types(none) => none.fmt(f),
        }
    }
}
