//! The instance types of kwok, Karpenter's provider for tests. Mirrors `kwok/tools/gen_instance_types.go` and
//! `kwok/cloudprovider/helpers.go`; a file of other types that it may be given cannot be seen.

use super::instance_type::{InstanceType, Offering, Price};
use super::labels::{ARCH, CAPACITY_TYPE, INSTANCE_TYPE, OS, ZONE};
use super::requirement::{Operator, Requirement};
use crate::sched::resources::Sums;
use crate::snapshot::Str;
use crate::snapshot::quantity::Quantity;
use std::sync::{Arc, OnceLock};

const ZONES: [&str; 4] = ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"];
const CPUS: [i64; 12] = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256];
/// A family, and its GiB of memory for each cpu.
const FAMILIES: [(&str, i64); 3] = [("c", 2), ("s", 4), ("m", 8)];
const GIB: i64 = 1 << 30;
const MIB: i64 = 1 << 20;

/// All of them, made once.
pub fn types() -> Arc<Vec<InstanceType>> {
    static TYPES: OnceLock<Arc<Vec<InstanceType>>> = OnceLock::new();
    let make = || {
        let sizes = CPUS.into_iter().flat_map(|cpu| FAMILIES.map(|family| (cpu, family)));
        let systems = ["linux", "windows"].map(|os| ["amd64", "arm64"].map(|arch| (os, arch))).into_iter().flatten();
        let systems: Vec<(&str, &str)> = systems.collect();
        sizes.flat_map(|size| systems.iter().map(move |system| one(size, *system)).collect::<Vec<_>>()).collect()
    };
    TYPES.get_or_init(|| Arc::new(make())).clone()
}

fn one((cpu, (family, gib)): (i64, (&str, i64)), (os, arch): (&str, &str)) -> InstanceType {
    let name: Str = format!("{family}-{cpu}x-{arch}-{os}").into();
    let memory = cpu * gib * GIB;
    let amounts = |cpu: Quantity, memory: i64| -> Sums {
        let pods = (cpu.value() * 16).clamp(0, 1024);
        let all = [
            ("cpu", cpu),
            ("memory", Quantity::units(memory)),
            ("ephemeral-storage", Quantity::units(20 * GIB)),
            ("pods", Quantity::units(pods)),
        ];
        all.into_iter().map(|(n, q)| (Str::from(n), q)).collect()
    };
    let label = |key: &str, value: String| Requirement::equals(key, value.into());
    let several = |key: &str, values: &[&str]| {
        Requirement::new(key.into(), Operator::In, values.iter().map(|v| Str::from(*v)).collect::<Vec<_>>())
    };
    let requirements = [
        label(INSTANCE_TYPE, name.to_string()),
        label(ARCH, arch.to_owned()),
        label(OS, os.to_owned()),
        several(ZONE, &ZONES),
        several(CAPACITY_TYPE, &["spot", "on-demand"]),
        label("karpenter.kwok.sh/instance-size", cpu.to_string()),
        label("karpenter.kwok.sh/instance-family", family.to_owned()),
        label("karpenter.kwok.sh/instance-cpu", cpu.to_string()),
        label("karpenter.kwok.sh/instance-memory", Quantity::units(memory).to_string()),
    ];
    // $0.025 for a cpu and $0.001 for 1,000,000,000 bytes; spot is 30 % cheaper.
    let price = cpu.unsigned_abs() * 250_000_000_000 + memory.unsigned_abs() * 10;
    let offerings = ZONES.into_iter().flat_map(|zone| {
        let spot = Offering::new(zone, "spot", Some(Price(price / 10 * 7)));
        [spot, Offering::new(zone, "on-demand", Some(Price(price)))]
    });
    InstanceType {
        requirements: requirements.into_iter().collect(),
        capacity: amounts(Quantity::units(cpu), memory),
        // What the kubelet keeps: 100m and 10Mi.
        allocatable: amounts(Quantity::milli(cpu * 1000 - 100), memory - 10 * MIB),
        offerings: offerings.collect(),
        name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_upstream_s_list() {
        // After `kwok/cloudprovider/instance_types.json`, and the nodes that kwok makes.
        let all = types();
        assert_eq!(all.len(), 144);
        let find = |name: &str| all.iter().find(|t| &*t.name == name).expect("the type");
        for (name, cpu, memory, pods, spot, on_demand) in [
            ("c-1x-amd64-linux", "900m", "2038Mi", "16", "$0.0190", "$0.0271"),
            ("m-256x-arm64-windows", "255900m", "2097142Mi", "1024", "$6.0193", "$8.5990"),
        ] {
            let kind = find(name);
            for (resource, want) in [("cpu", cpu), ("memory", memory), ("pods", pods)] {
                assert_eq!(kind.allocatable.get(resource), Quantity::parse(want), "{name} {resource}");
            }
            let prices: Vec<String> =
                kind.offerings.iter().take(2).map(|o| o.price.expect("known").to_string()).collect();
            assert_eq!(prices, [spot, on_demand], "{name}");
        }
    }
}
