//! What Karpenter gives up of a pod's wishes, one after the other, when it finds no place. Mirrors
//! `provisioning/scheduling/preferences.go`.
//!
//! Of the alternatives of a required node affinity the first is given up first, before any wish: so a pod with a wish that
//! cannot be met has only its last alternative left once the wish is given up.

use crate::snapshot::pod::{PodSpec, Preferred, Toleration};

/// Gives up one thing. False where nothing is left to give up. `tolerate` says whether some pool has a taint of the effect
/// `PreferNoSchedule`.
pub fn relax(spec: &mut PodSpec, tolerate: bool) -> bool {
    drop_required_term(spec)
        || drop_heaviest(&mut spec.preferred_pod_affinity)
        || drop_heaviest(&mut spec.preferred_pod_anti_affinity)
        || drop_heaviest(&mut spec.preferred_node_affinity)
        || drop_spread_wish(spec)
        || tolerate && tolerate_prefer_no_schedule(spec)
}

/// Drops the first alternative of the required node affinity, where more than one is left.
pub fn drop_required_term(spec: &mut PodSpec) -> bool {
    let Some(affinity) = spec.node_affinity.as_mut().filter(|a| a.0.len() > 1) else { return false };
    affinity.0 = affinity.0.iter().skip(1).cloned().collect();
    true
}

fn drop_heaviest<T: Clone>(list: &mut Box<[Preferred<T>]>) -> bool {
    let Some(weight) = list.iter().map(|p| p.weight).max() else { return false };
    let at = list.iter().position(|p| p.weight == weight);
    *list = list.iter().enumerate().filter(|(i, _)| Some(*i) != at).map(|(_, p)| p.clone()).collect();
    true
}

fn drop_spread_wish(spec: &mut PodSpec) -> bool {
    let Some(at) = spec.topology_spread.iter().position(|c| !c.required) else { return false };
    let mut rest = spec.topology_spread.to_vec();
    rest.swap_remove(at);
    spec.topology_spread = rest.into();
    true
}

/// Tolerates every taint of the effect `PreferNoSchedule`. False where the pod does already.
pub fn tolerate_prefer_no_schedule(spec: &mut PodSpec) -> bool {
    let effect = "PreferNoSchedule";
    let all =
        |t: &Toleration| t.key.is_empty() && &*t.operator == "Exists" && t.value.is_empty() && &*t.effect == effect;
    if spec.tolerations.iter().any(all) {
        return false;
    }
    let new = Toleration {
        key: "".into(),
        operator: "Exists".into(),
        value: "".into(),
        effect: effect.into(),
        seconds: None,
    };
    spec.tolerations = spec.tolerations.iter().cloned().chain([new]).collect();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, find, pod};
    use serde_json::json;

    #[test]
    fn wishes_are_given_up_in_upstream_s_order() {
        let term = |key: &str| json!({"matchExpressions": [{"key": key, "operator": "Exists"}]});
        let beside = json!({"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {}}});
        let spread = |when: &str| json!({"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when});
        let object = pod("a/p").spec(json!({
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term("a"), term("b")]},
                    "preferredDuringSchedulingIgnoredDuringExecution":
                        [{"weight": 1, "preference": term("c")}, {"weight": 9, "preference": term("d")}],
                },
                "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [beside]},
            },
            "topologySpreadConstraints": [spread("ScheduleAnyway"), spread("DoNotSchedule")],
        }));
        let mut spec = (*find(&cluster().add(object).snapshot(), "a/p").spec).clone();
        let left = |s: &PodSpec| {
            let terms = s.node_affinity.as_ref().map_or(0, |a| a.0.len());
            let wishes: Vec<i32> = s.preferred_node_affinity.iter().map(|p| p.weight).collect();
            (terms, s.preferred_pod_affinity.len(), wishes, s.topology_spread.len(), s.tolerations.len())
        };
        assert_eq!(left(&spec), (2, 1, vec![1, 9], 2, 0));
        for want in [
            (1, 1, vec![1, 9], 2, 0),
            (1, 0, vec![1, 9], 2, 0),
            (1, 0, vec![1], 2, 0),
            (1, 0, vec![], 2, 0),
            (1, 0, vec![], 1, 0),
            (1, 0, vec![], 1, 1),
        ] {
            assert!(relax(&mut spec, true), "{want:?}");
            assert_eq!(left(&spec), want);
        }
        assert!(!relax(&mut spec, true), "nothing is left");
    }
}
