//! Resources that operators define, and of which an answer depends on a field. They come as JSON alone.

use super::macros::json;
use super::meta::{Condition, ObjectMeta};

json! {
    /// `longhorn.io/v1beta2.Setting`.
    LonghornSetting {
        metadata: Option<ObjectMeta>,
        value: String,
    }

    /// `kubevirt.io/v1.VirtualMachineInstance`.
    VirtualMachineInstance {
        metadata: Option<ObjectMeta>,
        spec: VirtualMachineInstanceSpec,
        status: VirtualMachineInstanceStatus,
    }

    /// `kubevirt.io/v1.VirtualMachineInstanceSpec`.
    VirtualMachineInstanceSpec {
        eviction_strategy: Option<String>,
    }

    /// `kubevirt.io/v1.VirtualMachineInstanceStatus`.
    VirtualMachineInstanceStatus {
        conditions: Vec<Condition>,
    }

    /// `postgresql.cnpg.io/v1.Cluster`.
    CloudNativePGCluster {
        metadata: Option<ObjectMeta>,
        spec: CloudNativePGClusterSpec,
    }

    /// `postgresql.cnpg.io/v1.ClusterSpec`.
    CloudNativePGClusterSpec {
        instances: Option<i64>,
        #[serde(rename = "enablePDB")]
        enable_pdb: Option<bool>,
    }
}
