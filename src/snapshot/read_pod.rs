//! From the wire form of a pod or a pod template to what is kept. Errors name the field that cannot be read.

use super::entrypoint;
use super::intern::{Interner, Str};
use super::keep::{Keep, Reader};
use super::meta::Meta;
use super::pod::{
    Condition, Container, ContainerState, ContainerStatus, HostPort, Phase, Pod, PodAffinityTerm, PodSpec, PodStatus,
    PreStop, Preferred, ResourceClaimRef, Resources, Terminated, Toleration, TopologySpread, Volume, VolumeSource,
};
use super::probe::Probe;
use super::quantity::Amounts;
use super::selector::{LabelSelector, NodeSelector, NodeTerm};
use crate::wire::pod as wire;
use crate::wire::time::Time;
use std::sync::Arc;

/// A pod template: what a workload makes its pods from.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// Labels and annotations of its pods.
    pub meta: Meta,
    /// The spec of its pods.
    pub spec: Arc<PodSpec>,
    /// Their volumes.
    pub volumes: Arc<Vec<Volume>>,
    /// The node it names itself.
    pub node: Option<Str>,
}

impl Keep for wire::Pod {
    type Kept = Pod;

    fn keep(self, reader: &mut Reader) -> Result<Pod, String> {
        let i = &mut reader.interner;
        let spec = self.spec.unwrap_or_default();
        let node = i.opt(&spec.node_name);
        let volumes = reader.volumes.share(spec.volumes.iter().filter_map(|v| volume(v, i)).collect());
        let spec = reader.specs.share(pod_spec(spec, i));
        Ok(Pod {
            meta: Meta::read(self.metadata, i),
            spec,
            volumes,
            node,
            status: status(&self.status.unwrap_or_default(), i),
        })
    }
}

impl Reader {
    /// Reads a pod template.
    pub(super) fn template(&mut self, wire: wire::PodTemplateSpec) -> Result<Template, String> {
        let pod = wire::Pod { metadata: wire.metadata, spec: wire.spec, status: None }.keep(self)?;
        Ok(Template { meta: pod.meta, spec: pod.spec, volumes: pod.volumes, node: pod.node })
    }
}

fn pod_spec(w: wire::PodSpec, i: &mut Interner) -> PodSpec {
    let affinity = w.affinity.unwrap_or_default();
    let node_affinity = affinity.node_affinity.unwrap_or_default();
    let near = affinity.pod_affinity.unwrap_or_default();
    let far = affinity.pod_anti_affinity.unwrap_or_default();
    let terms = |list: &[wire::PodAffinityTerm], i: &mut Interner| list.iter().map(|t| affinity_term(t, i)).collect();
    let preferred = |list: &[wire::WeightedPodAffinityTerm], i: &mut Interner| {
        let term = |p: &wire::WeightedPodAffinityTerm| {
            let term = affinity_term(p.pod_affinity_term.as_ref()?, i);
            Some(Preferred { weight: p.weight.unwrap_or_default(), term })
        };
        list.iter().filter_map(term).collect()
    };
    let preferred_node = |p: &wire::PreferredSchedulingTerm| {
        let term = NodeTerm::read(p.preference.as_ref()?, i);
        Some(Preferred { weight: p.weight.unwrap_or_default(), term })
    };
    let preferred_node_affinity =
        node_affinity.preferred_during_scheduling_ignored_during_execution.iter().filter_map(preferred_node).collect();
    let containers = |list: &[wire::Container], i: &mut Interner| {
        list.iter().map(|c| container(c, w.host_network, i)).collect::<Box<[_]>>()
    };
    PodSpec {
        containers: containers(&w.containers, i),
        init_containers: containers(&w.init_containers, i),
        restart_policy: i.str(&w.restart_policy),
        termination_grace: w.termination_grace_period_seconds.unwrap_or(30),
        active_deadline: w.active_deadline_seconds,
        node_selector: i.map(&w.node_selector),
        service_account: i.opt(&w.service_account_name),
        host_network: w.host_network,
        node_affinity: node_affinity
            .required_during_scheduling_ignored_during_execution
            .map(|s| NodeSelector::read(&s, i)),
        pod_affinity: terms(&near.required_during_scheduling_ignored_during_execution, i),
        pod_anti_affinity: terms(&far.required_during_scheduling_ignored_during_execution, i),
        preferred_node_affinity,
        preferred_pod_affinity: preferred(&near.preferred_during_scheduling_ignored_during_execution, i),
        preferred_pod_anti_affinity: preferred(&far.preferred_during_scheduling_ignored_during_execution, i),
        scheduler_name: if w.scheduler_name.is_empty() { i.str("default-scheduler") } else { i.str(&w.scheduler_name) },
        tolerations: w.tolerations.iter().map(|t| toleration(t, i)).collect(),
        priority_class: i.opt(&w.priority_class_name),
        priority: w.priority,
        preemption_policy: w.preemption_policy.as_deref().map(|p| i.str(p)),
        readiness_gates: w.readiness_gates.iter().map(|g| i.str(&g.condition_type)).collect(),
        scheduling_gates: w.scheduling_gates.iter().map(|g| i.str(&g.name)).collect(),
        runtime_class: w.runtime_class_name.as_deref().map(|n| i.str(n)),
        overhead: Amounts::read(&w.overhead, i),
        os: w.os.and_then(|os| i.opt(&os.name)),
        pod_group: w.scheduling_group.and_then(|g| g.pod_group_name).map(|n| i.str(&n)),
        resources: w.resources.as_ref().map(|r| resources(r, i)),
        topology_spread: w.topology_spread_constraints.iter().map(|c| topology_spread(c, i)).collect(),
        resource_claims: w
            .resource_claims
            .iter()
            .map(|c| ResourceClaimRef {
                name: i.str(&c.name),
                claim: c.resource_claim_name.as_deref().map(|n| i.str(n)),
                template: c.resource_claim_template_name.as_deref().map(|n| i.str(n)),
            })
            .collect(),
    }
}

/// Environment variables whose names (never values) are kept: they tell where credentials come from, or a Kafka client.
pub fn keeps_env(name: &str) -> bool {
    matches!(name, "AWS_WEB_IDENTITY_TOKEN_FILE" | "AWS_ROLE_ARN" | "AWS_CONTAINER_CREDENTIALS_FULL_URI")
        || is_kafka(name)
}

/// Whether the name of an environment variable says that a client of Kafka reads it: `KAFKA_BROKERS`,
/// `SPRING_KAFKA_BOOTSTRAP_SERVERS`, `MSK_BOOTSTRAP_SERVERS`, `CONNECT_BOOTSTRAP_SERVERS`, `BROKERS_MSK`.
pub fn is_kafka(name: &str) -> bool {
    ["KAFKA", "BOOTSTRAP_SERVER", "BOOTSTRAP_BROKER"].iter().any(|mark| name.contains(mark))
        || name.split('_').any(|word| word == "MSK")
}

fn container(w: &wire::Container, host_network: bool, i: &mut Interner) -> Container {
    // On the node's network a container's port is the node's port: the API fills hostPort in; a template may not have it.
    let host_port = |p: &wire::ContainerPort| match p.host_port {
        None | Some(0) if host_network => p.container_port.unwrap_or_default(),
        port => port.unwrap_or_default(),
    };
    Container {
        name: i.str(&w.name),
        image: i.str(&w.image),
        resources: w.resources.as_ref().map(|r| resources(r, i)).unwrap_or_default(),
        host_ports: w
            .ports
            .iter()
            .filter(|p| host_port(p) > 0)
            .map(|p| HostPort {
                port: host_port(p),
                protocol: i.str(if p.protocol.is_empty() { "TCP" } else { &p.protocol }),
                ip: i.str(if p.host_ip.is_empty() { "0.0.0.0" } else { &p.host_ip }),
            })
            .collect(),
        sidecar: w.restart_policy == "Always",
        restarts_all: w.restart_policy_rules.iter().any(|r| r.action == "RestartAllContainers"),
        restart_policy: i.opt(&w.restart_policy),
        restarts_by_rule: !w.restart_policy_rules.is_empty(),
        readiness_probe: w.readiness_probe.as_ref().map(Probe::read),
        startup_probe: w.startup_probe.as_ref().map(Probe::read),
        entrypoint: entrypoint::read(&w.command, &w.args, i),
        pre_stop: w.lifecycle.as_ref().and_then(|l| l.pre_stop.as_ref()).map(pre_stop),
        env: w.env.iter().filter(|e| keeps_env(&e.name)).map(|e| i.str(&e.name)).collect(),
    }
}

fn pre_stop(w: &wire::LifecycleHandler) -> PreStop {
    match (&w.sleep, &w.exec) {
        (Some(sleep), _) => PreStop::Sleep(sleep.seconds.unwrap_or_default()),
        (None, Some(exec)) => PreStop::Exec(sleep_in(&exec.command)),
        (None, None) => PreStop::Other,
    }
}

/// The seconds of a `sleep N` in a command line, whether given as words or inside a shell's script.
pub(super) fn sleep_in(command: &[String]) -> Option<i64> {
    let text = command.join(" ");
    let (_, after) = text.split_once("sleep ")?;
    let number = after.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
    number.parse().ok()
}

/// Requests and limits of a container or a pod.
fn resources(w: &wire::ResourceRequirements, i: &mut Interner) -> Resources {
    Resources { requests: Amounts::read(&w.requests, i), limits: Amounts::read(&w.limits, i) }
}

fn affinity_term(w: &wire::PodAffinityTerm, i: &mut Interner) -> PodAffinityTerm {
    PodAffinityTerm {
        selector: LabelSelector::read(w.label_selector.as_ref(), i),
        namespaces: i.strs(&w.namespaces),
        namespace_selector: w.namespace_selector.as_ref().map(|s| LabelSelector::read(Some(s), i)),
        topology_key: i.str(&w.topology_key),
    }
}

fn toleration(w: &wire::Toleration, i: &mut Interner) -> Toleration {
    Toleration {
        key: i.str(&w.key),
        operator: i.str(if w.operator.is_empty() { "Equal" } else { &w.operator }),
        value: i.str(&w.value),
        effect: i.str(&w.effect),
        seconds: w.toleration_seconds,
    }
}

fn topology_spread(w: &wire::TopologySpreadConstraint, i: &mut Interner) -> TopologySpread {
    TopologySpread {
        max_skew: w.max_skew.unwrap_or(1),
        topology_key: i.str(&w.topology_key),
        required: w.when_unsatisfiable != "ScheduleAnyway",
        selector: LabelSelector::read(w.label_selector.as_ref(), i),
        min_domains: w.min_domains,
        honor_affinity: w.node_affinity_policy.as_deref() != Some("Ignore"),
        honor_taints: w.node_taints_policy.as_deref() == Some("Honor"),
        match_label_keys: i.strs(&w.match_label_keys),
    }
}

fn volume(w: &crate::wire::volume::Volume, i: &mut Interner) -> Option<Volume> {
    let s = w.volume_source.as_ref()?;
    let disk = |id: String, read_only, i: &mut Interner| VolumeSource::Disk { ids: Box::new([i.str(&id)]), read_only };
    let source = if let Some(e) = &s.empty_dir {
        VolumeSource::EmptyDir { memory: e.medium == "Memory" }
    } else if s.host_path.is_some() {
        VolumeSource::HostPath
    } else if let Some(c) = &s.persistent_volume_claim {
        VolumeSource::Claim { name: i.str(&c.claim_name), read_only: c.read_only }
    } else if let Some(e) = &s.ephemeral {
        let spec = e.volume_claim_template.as_ref().and_then(|t| t.spec.clone()).unwrap_or_default();
        VolumeSource::Ephemeral {
            class: spec.storage_class_name.as_deref().map(|c| i.str(c)),
            access_modes: i.strs(&spec.access_modes),
        }
    } else if let Some(c) = &s.csi {
        VolumeSource::Csi { driver: i.str(&c.driver) }
    } else if let Some(d) = &s.gce_persistent_disk {
        disk(format!("gce/{}", d.pd_name), d.read_only, i)
    } else if let Some(d) = &s.aws_elastic_block_store {
        disk(format!("aws/{}", d.volume_id), false, i)
    } else if let Some(d) = &s.iscsi {
        disk(format!("iscsi/{}", d.iqn), d.read_only, i)
    } else if let Some(d) = &s.rbd {
        let id = |monitor: &String| format!("rbd/{monitor}/{}/{}", d.pool, d.image);
        VolumeSource::Disk { ids: d.monitors.iter().map(|m| i.str(&id(m))).collect(), read_only: d.read_only }
    } else {
        return None;
    };
    Some(Volume { name: i.str(&w.name), source })
}

fn status(w: &wire::PodStatus, i: &mut Interner) -> PodStatus {
    let containers = |list: &[wire::ContainerStatus], i: &mut Interner| {
        list.iter().map(|c| container_status(c, i)).collect::<Box<[_]>>()
    };
    PodStatus {
        phase: Phase::read(&w.phase),
        conditions: w
            .conditions
            .iter()
            .map(|c| Condition::read(&c.type_, &c.status, c.last_transition_time, &c.reason, &c.message, i))
            .collect(),
        reason: i.opt(&w.reason),
        message: i.opt(&w.message),
        nominated_node: i.opt(&w.nominated_node_name),
        started: w.start_time.and_then(Time::timestamp),
        containers: containers(&w.container_statuses, i),
        init_containers: containers(&w.init_container_statuses, i),
        resize: i.opt(&w.resize),
        resource_claims: w
            .resource_claim_statuses
            .iter()
            .map(|c| (i.str(&c.name), c.resource_claim_name.as_deref().map(|n| i.str(n))))
            .collect(),
    }
}

fn container_status(w: &wire::ContainerStatus, i: &mut Interner) -> ContainerStatus {
    let ended = |t: &wire::ContainerStateTerminated, i: &mut Interner| Terminated {
        exit_code: t.exit_code.unwrap_or_default(),
        reason: i.str(&t.reason),
        message: i.str(&t.message),
        started: t.started_at.and_then(Time::timestamp),
        finished: t.finished_at.and_then(Time::timestamp),
    };
    let state = w.state.clone().unwrap_or_default();
    ContainerStatus {
        name: i.str(&w.name),
        ready: w.ready,
        started: w.started,
        restarts: w.restart_count.unwrap_or_default(),
        state: match (&state.waiting, &state.running, &state.terminated) {
            (Some(w), ..) => ContainerState::Waiting { reason: i.str(&w.reason), message: i.str(&w.message) },
            (_, Some(r), _) => ContainerState::Running(r.started_at.and_then(Time::timestamp)),
            (.., Some(t)) => ContainerState::Terminated(ended(t, i)),
            _ => ContainerState::Unknown,
        },
        last: w.last_state.as_ref().and_then(|s| s.terminated.as_ref()).map(|t| ended(t, i)),
        allocated: if w.allocated_resources.is_empty() { None } else { Some(Amounts::read(&w.allocated_resources, i)) },
        resources: w.resources.as_ref().map(|r| resources(r, i)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_are_found_in_commands() {
        for (command, want) in [
            (vec!["sleep", "15"], Some(15)),
            (vec!["/bin/sh", "-c", "nginx -s quit; sleep 30"], Some(30)),
            (vec!["/bin/sh", "-c", "touch /tmp/x"], None),
            (vec!["sleep", "infinity"], None),
        ] {
            let command: Vec<String> = command.into_iter().map(str::to_owned).collect();
            assert_eq!(sleep_in(&command), want, "{command:?}");
        }
    }
}
