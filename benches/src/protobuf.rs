//! From JSON to Kubernetes' protobuf, for the fields that the generated clusters use.

use serde_json::Value;
use std::collections::HashMap;
use std::io;

/// The messages of upstream's `generated.proto`, a line each: `field=tag Type`. Without a type the field is what its
/// JSON value is: a string, a number, a boolean, or a list of them. `+` marks an embedded Go struct: a message of its
/// own in protobuf, spread into its parent in JSON.
const MESSAGES: &str = "
Node: metadata=1 ObjectMeta, spec=2 NodeSpec, status=3 NodeStatus
Namespace: metadata=1 ObjectMeta, spec=2 NamespaceSpec, status=3 NamespaceStatus
Pod: metadata=1 ObjectMeta, spec=2 PodSpec, status=3 PodStatus
Deployment: metadata=1 ObjectMeta, spec=2 DeploymentSpec, status=3 DeploymentStatus
ReplicaSet: metadata=1 ObjectMeta, spec=2 ReplicaSetSpec, status=3 ReplicaSetStatus
StatefulSet: metadata=1 ObjectMeta, spec=2 StatefulSetSpec, status=3 StatefulSetStatus
PodDisruptionBudget: metadata=1 ObjectMeta, spec=2 BudgetSpec, status=3 BudgetStatus
ObjectMeta: name=1, generateName=2, namespace=3, uid=5, resourceVersion=6, generation=7, creationTimestamp=8 Time, labels=11 Map, annotations=12 Map, ownerReferences=13 OwnerReference, managedFields=17 ManagedFieldsEntry
OwnerReference: kind=1, name=3, uid=4, apiVersion=5, controller=6, blockOwnerDeletion=7
ManagedFieldsEntry: manager=1, operation=2, apiVersion=3, time=4 Time, fieldsType=6, fieldsV1=7 Raw, subresource=8
NamespaceSpec: finalizers=1
NamespaceStatus: phase=1
NodeSpec: taints=5 Taint
Taint: key=1, value=2, effect=3
NodeStatus: capacity=1 Quantities, allocatable=2 Quantities, conditions=4 NodeCondition, nodeInfo=7 NodeSystemInfo, images=8 ContainerImage
NodeCondition: type=1, status=2, lastHeartbeatTime=3 Time, lastTransitionTime=4 Time, reason=5, message=6
NodeSystemInfo: osImage=5, containerRuntimeVersion=6, kubeletVersion=7
ContainerImage: names=1, sizeBytes=2
PodTemplateSpec: metadata=1 ObjectMeta, spec=2 PodSpec
PodSpec: volumes=1 Volume, containers=2 Container, restartPolicy=3, terminationGracePeriodSeconds=4, dnsPolicy=6, serviceAccountName=8, nodeName=10, securityContext=14 Empty, affinity=18 Affinity, schedulerName=19, tolerations=22 Toleration, priority=25, preemptionPolicy=31, topologySpreadConstraints=33 TopologySpreadConstraint
Empty:
Volume: name=1, +volumeSource=2 VolumeSource
VolumeSource: configMap=19 ConfigMapVolumeSource, projected=26 ProjectedVolumeSource
ConfigMapVolumeSource: +localObjectReference=1 LocalObjectReference, items=2 KeyToPath, defaultMode=3
LocalObjectReference: name=1
KeyToPath: key=1, path=2
ProjectedVolumeSource: sources=1 VolumeProjection, defaultMode=2
VolumeProjection: configMap=3 ConfigMapProjection, serviceAccountToken=4 ServiceAccountTokenProjection
ConfigMapProjection: +localObjectReference=1 LocalObjectReference, items=2 KeyToPath
ServiceAccountTokenProjection: audience=1, expirationSeconds=2, path=3
Container: name=1, image=2, ports=6 ContainerPort, env=7 EnvVar, resources=8 ResourceRequirements, volumeMounts=9 VolumeMount, readinessProbe=11 Probe, terminationMessagePath=13, imagePullPolicy=14, terminationMessagePolicy=20
ContainerPort: name=1, containerPort=3, protocol=4
EnvVar: name=1, value=2
ResourceRequirements: limits=1 Quantities, requests=2 Quantities
VolumeMount: name=1, readOnly=2, mountPath=3
Probe: +handler=1 ProbeHandler, timeoutSeconds=3, periodSeconds=4, successThreshold=5, failureThreshold=6
ProbeHandler: httpGet=2 HTTPGetAction
HTTPGetAction: path=1, port=2 IntOrString, scheme=4
Affinity: podAntiAffinity=3 PodAntiAffinity
PodAntiAffinity: preferredDuringSchedulingIgnoredDuringExecution=2 WeightedPodAffinityTerm
WeightedPodAffinityTerm: weight=1, podAffinityTerm=2 PodAffinityTerm
PodAffinityTerm: labelSelector=1 LabelSelector, topologyKey=3
LabelSelector: matchLabels=1 Map
Toleration: key=1, operator=2, value=3, effect=4, tolerationSeconds=5
TopologySpreadConstraint: maxSkew=1, topologyKey=2, whenUnsatisfiable=3, labelSelector=4 LabelSelector
PodStatus: phase=1, conditions=2 PodCondition, hostIP=5, podIP=6, startTime=7 Time, containerStatuses=8 ContainerStatus, qosClass=9
PodCondition: type=1, status=2, lastProbeTime=3 Time, lastTransitionTime=4 Time, reason=5, message=6
ContainerStatus: name=1, state=2 ContainerState, lastState=3 ContainerState, ready=4, restartCount=5, image=6, imageID=7, containerID=8, started=9
ContainerState: running=2 ContainerStateRunning
ContainerStateRunning: startedAt=1 Time
DeploymentSpec: replicas=1, selector=2 LabelSelector, template=3 PodTemplateSpec
DeploymentStatus: observedGeneration=1, replicas=2, updatedReplicas=3, readyReplicas=7
ReplicaSetSpec: replicas=1, selector=2 LabelSelector, template=3 PodTemplateSpec
ReplicaSetStatus: replicas=1, observedGeneration=3, readyReplicas=4
StatefulSetSpec: replicas=1, selector=2 LabelSelector, template=3 PodTemplateSpec
StatefulSetStatus: observedGeneration=1, replicas=2, readyReplicas=3, updatedReplicas=5
BudgetSpec: minAvailable=1 IntOrString, selector=2 LabelSelector, maxUnavailable=3 IntOrString
BudgetStatus: observedGeneration=1, disruptionsAllowed=3, currentHealthy=4, desiredHealthy=5, expectedPods=6, conditions=7 Condition
Condition: type=1, status=2, observedGeneration=3, lastTransitionTime=4 Time, reason=5, message=6
";

struct Field {
    name: &'static str,
    tag: u64,
    of: &'static str,
    embedded: bool,
}

/// Encodes objects of the kinds in the table.
pub struct Encoder(HashMap<&'static str, Vec<Field>>);

impl Encoder {
    /// Reads the table.
    pub fn new() -> io::Result<Self> {
        let lines = MESSAGES.lines().filter(|line| !line.is_empty());
        lines.map(message).collect::<Option<_>>().map(Self).ok_or_else(|| io::Error::other("the table is broken"))
    }

    /// An object of a kind, without the envelope, as lists hold it. What the table does not know is an error.
    pub fn object(&self, kind: &str, object: &Value) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        self.message(kind, object, true, &mut out)?;
        Ok(out)
    }

    fn message(&self, kind: &str, value: &Value, is_object: bool, out: &mut Vec<u8>) -> io::Result<()> {
        let fields = self.0.get(kind).ok_or_else(|| unknown(kind, ""))?;
        let object = value.as_object().ok_or_else(|| unknown(kind, "its shape"))?;
        for name in object.keys() {
            // The envelope tells an object's kind.
            let in_envelope = is_object && matches!(name.as_str(), "apiVersion" | "kind");
            if !in_envelope && !self.knows(fields, name) {
                return Err(unknown(kind, name));
            }
        }
        for field in fields {
            if field.embedded {
                let mut parts = object.clone();
                parts.retain(|name, _| self.0.get(field.of).is_some_and(|inner| self.knows(inner, name)));
                let mut inner = Vec::new();
                self.message(field.of, &Value::Object(parts), false, &mut inner)?;
                bytes(field.tag, &inner, out);
            } else {
                match object.get(field.name) {
                    None | Some(Value::Null) => {}
                    Some(Value::Array(list)) => {
                        list.iter().try_for_each(|one| self.field(field.tag, field.of, one, out))?;
                    }
                    Some(one) => self.field(field.tag, field.of, one, out)?,
                }
            }
        }
        Ok(())
    }

    fn knows(&self, fields: &[Field], name: &str) -> bool {
        fields.iter().any(|field| {
            let inner = || self.0.get(field.of).is_some_and(|inner| self.knows(inner, name));
            if field.embedded { inner() } else { field.name == name }
        })
    }

    fn field(&self, tag: u64, of: &str, value: &Value, out: &mut Vec<u8>) -> io::Result<()> {
        let mut inner = Vec::new();
        match (of, value) {
            ("Map" | "Quantities", Value::Object(map)) => {
                for (key, value) in map {
                    inner.clear();
                    bytes(1, key.as_bytes(), &mut inner);
                    self.field(2, if of == "Map" { "" } else { "Quantity" }, value, &mut inner)?;
                    bytes(tag, &inner, out);
                }
                return Ok(());
            }
            ("Quantity", Value::String(text)) => bytes(1, text.as_bytes(), &mut inner),
            ("Raw", value) => bytes(1, value.to_string().as_bytes(), &mut inner),
            ("IntOrString", Value::String(text)) => {
                number(1, 1, &mut inner);
                bytes(3, text.as_bytes(), &mut inner);
            }
            ("IntOrString", Value::Number(n)) => {
                number(1, 0, &mut inner);
                number(2, n.as_u64().unwrap_or_default(), &mut inner);
            }
            ("Time", Value::String(text)) => {
                let time: jiff::Timestamp = text.parse().map_err(io::Error::other)?;
                number(1, time.as_second().unsigned_abs(), &mut inner);
            }
            ("", Value::String(text)) => inner.extend_from_slice(text.as_bytes()),
            ("", Value::Bool(is)) => {
                number(tag, u64::from(*is), out);
                return Ok(());
            }
            ("", Value::Number(n)) => {
                number(tag, n.as_u64().unwrap_or_default(), out);
                return Ok(());
            }
            (of, value) => self.message(of, value, false, &mut inner)?,
        }
        bytes(tag, &inner, out);
        Ok(())
    }
}

fn message(line: &'static str) -> Option<(&'static str, Vec<Field>)> {
    let (name, fields) = line.split_once(':')?;
    let field = |text: &'static str| {
        let (name, rest) = text.split_once('=')?;
        let (tag, of) = rest.split_once(' ').unwrap_or((rest, ""));
        let embedded = name.starts_with('+');
        Some(Field { name: name.trim_start_matches('+'), tag: tag.parse().ok()?, of, embedded })
    };
    let fields = fields.split(',').map(str::trim).filter(|text| !text.is_empty());
    Some((name, fields.map(field).collect::<Option<_>>()?))
}

fn unknown(kind: &str, what: &str) -> io::Error {
    io::Error::other(format!("the table of messages does not know {kind} {what}"))
}

fn varint(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn number(tag: u64, n: u64, out: &mut Vec<u8>) {
    varint(tag << 3, out);
    varint(n, out);
}

/// A field that is a string, bytes or a message.
pub fn bytes(tag: u64, content: &[u8], out: &mut Vec<u8>) {
    length(tag, content.len(), out);
    out.extend_from_slice(content);
}

/// What stands before such a field.
pub fn length(tag: u64, bytes: usize, out: &mut Vec<u8>) {
    varint(tag << 3 | 2, out);
    varint(bytes as u64, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubectl_pdb::wire::{apps, core, node, pod, policy};
    use prost::Message;
    use serde::de::DeserializeOwned;

    fn same<T: Message + Default + PartialEq + DeserializeOwned + std::fmt::Debug>(json: &Value, protobuf: &[u8]) {
        let from_json: T = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(T::decode(protobuf).unwrap(), from_json);
    }

    #[test]
    fn both_encodings_of_a_generated_cluster_say_the_same() {
        let encoder = Encoder::new().unwrap();
        let mut kinds = std::collections::BTreeSet::new();
        crate::cluster::each(150, 50, |object| {
            let kind = object["kind"].as_str().unwrap();
            let protobuf = encoder.object(kind, &object)?;
            match kind {
                "Pod" => same::<pod::Pod>(&object, &protobuf),
                "Node" => same::<node::Node>(&object, &protobuf),
                "Namespace" => same::<core::Namespace>(&object, &protobuf),
                "Deployment" => same::<apps::Deployment>(&object, &protobuf),
                "ReplicaSet" => same::<apps::ReplicaSet>(&object, &protobuf),
                "StatefulSet" => same::<apps::StatefulSet>(&object, &protobuf),
                "PodDisruptionBudget" => same::<policy::PodDisruptionBudget>(&object, &protobuf),
                other => panic!("{other}"),
            }
            kinds.insert(kind.to_owned());
            Ok(())
        })
        .unwrap();
        assert_eq!(kinds.len(), 7);
    }

    #[test]
    fn what_the_table_does_not_know_is_an_error() {
        let encoder = Encoder::new().unwrap();
        for (kind, object) in
            [("Pod", serde_json::json!({"spec": {"hostPID": true}})), ("Lease", serde_json::json!({}))]
        {
            assert!(encoder.object(kind, &object).is_err(), "{kind}");
        }
    }
}
