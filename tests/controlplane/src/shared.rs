//! A control plane that many worlds share, with all its controllers, the scheduler, a kubelet and the webhooks' network.

use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use serde_json::{Value, json};

use crate::api::Api;
use crate::kubectl::Kubectl;
use crate::kubelet::Kubelet;
use crate::load::load;
use crate::mirror::Mirror;
use crate::objects::definition;
use crate::plane::{Controllers, KUBELET, Options, Plane};
use crate::runs::Settings;
use crate::webhooks;

/// The shared control plane. Everything ends when it is dropped.
pub struct Shared {
    // Fields drop in the order of their declaration: what asks the API server before the server.
    /// The kubelet of all nodes.
    pub kubelet: Kubelet,
    /// The pods and budgets as they are.
    pub mirror: Mirror,
    /// A client with every right.
    pub api: Api,
    /// The real kubectl.
    pub kubectl: Kubectl,
    /// `v1.36.3`
    pub version: String,
    plane: Mutex<Plane>,
}

impl Shared {
    /// Starts all of it.
    pub fn start(settings: &Settings) -> Result<Self> {
        let options = Options { classes: true, workloads: true, ..Options::default() };
        let mut plane = Plane::start(&settings.components, &options)?;
        let mirror = Mirror::start(&plane.api)?;
        webhooks::serve(plane.folder(), plane.certificates.authority.clone(), mirror.clone())?;
        let kubelet = Kubelet::start(&plane.api.with_token(KUBELET), &mirror);
        plane.start_controllers(Controllers::Workloads)?;
        plane.start_scheduler()?;
        load(&plane.api, &of_all())?;
        Ok(Self {
            kubelet,
            mirror,
            api: plane.api.clone(),
            kubectl: Kubectl::of(&plane),
            version: plane.components.version.clone(),
            plane: Mutex::new(plane),
        })
    }

    /// Fails when a part of it has ended by itself.
    pub fn check(&self) -> Result<()> {
        self.kubelet.check()?;
        self.plane.lock().unwrap_or_else(PoisonError::into_inner).check()
    }
}

/// What all worlds use and none changes.
pub fn of_all() -> Vec<Value> {
    let class = |name: &str, value: i64| json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value});
    let storage = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"});
    vec![
        class("low", 100),
        class("high", 10_000),
        storage,
        definition("Rollout", "rollouts", true),
        definition("Queue", "queues", false),
    ]
}
