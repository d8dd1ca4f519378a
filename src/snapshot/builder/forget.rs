//! Takes back what was added of a kind: a list that expired while it was read is read anew.

use super::{Builder, Kind};

impl Builder {
    /// Drops all objects of a kind. What came of reading it stays noted.
    pub fn forget(&mut self, kind: Kind) {
        let info = kind.info();
        match kind {
            Kind::Pod => self.pods.clear(),
            Kind::Node => self.nodes.clear(),
            Kind::PodDisruptionBudget => self.budgets.clear(),
            Kind::Event => self.events.clear(),
            Kind::Lease => self.leases.clear(),
            Kind::Namespace => self.namespaces.clear(),
            Kind::HorizontalPodAutoscaler => self.horizontal_pod_autoscalers.clear(),
            Kind::PriorityClass => self.priority_classes.clear(),
            Kind::PersistentVolumeClaim => self.persistent_volume_claims.clear(),
            Kind::PersistentVolume => self.persistent_volumes.clear(),
            Kind::StorageClass => self.storage_classes.clear(),
            Kind::CsiNode => self.csi_nodes.clear(),
            Kind::CsiDriver => self.csi_drivers.clear(),
            Kind::CsiStorageCapacity => self.csi_capacities.clear(),
            Kind::VolumeAttachment => self.volume_attachments.clear(),
            Kind::ResourceClaim => self.resource_claims.clear(),
            Kind::ResourceSlice => self.resource_slices.clear(),
            Kind::DeviceClass => self.device_classes.clear(),
            Kind::ResourceQuota => self.quotas.clear(),
            Kind::LimitRange => self.limit_ranges.clear(),
            Kind::ServiceAccount => self.service_accounts.clear(),
            Kind::Service => self.services.clear(),
            Kind::EndpointSlice => self.endpoint_slices.clear(),
            Kind::ValidatingWebhookConfiguration => self.validating_webhooks.clear(),
            Kind::MutatingWebhookConfiguration => self.mutating_webhooks.clear(),
            Kind::CustomResourceDefinition => self.definitions.clear(),
            Kind::Deployment
            | Kind::ReplicaSet
            | Kind::StatefulSet
            | Kind::DaemonSet
            | Kind::ReplicationController
            | Kind::Job
            | Kind::CronJob => self.workloads.retain(|w| (&*w.group, &*w.kind) != (info.group, info.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Item;
    use super::*;

    #[test]
    fn a_kind_is_forgotten_and_no_other() {
        let object = Item::Json(br#"{"metadata":{"name":"x","namespace":"a"}}"#);
        for forgotten in Kind::ALL {
            let mut builder = Builder::default();
            for kind in [Kind::Pod, Kind::StatefulSet, Kind::Deployment, *forgotten] {
                builder.add(kind, object).unwrap();
            }
            builder.forget(*forgotten);
            let left = builder.pods.len() + builder.workloads.len();
            let of_these = [Kind::Pod, Kind::StatefulSet, Kind::Deployment].contains(forgotten);
            assert_eq!(left, if of_these { 2 } else { 3 }, "{forgotten}");
        }
    }
}
