//! What the API server is recorded to have said to a workload's controller, and which admission plugin said it. After the
//! messages in `plugin/pkg/admission`, `apiserver/pkg/admission/plugin` and `pod-security-admission` of 1.36 and 1.37.

use crate::finding::{Code, Ref};
use crate::snapshot::Snapshot;
use crate::snapshot::workload::{Detail, Workload};
use jiff::Timestamp;
use std::sync::Arc;

/// A recorded refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    /// The server's words, without those of the controller.
    pub words: String,
    /// When they were last heard.
    pub when: Option<Timestamp>,
    /// Which admission plugin says so; `API server` where none does.
    pub plugin: &'static str,
    /// Its code.
    pub code: Code,
}

/// Reasons of events with which controllers report that they could not make something.
const REASONS: [&str; 4] = ["FailedCreate", "ReplicaSetCreateError", "JobCreationFailed", "FailedWorkloadCreate"];

/// The last refusal that is recorded and was not overcome since: as an event, else in a condition of the workload.
pub(super) fn recorded(workload: &Arc<Workload>, snapshot: &Snapshot) -> Option<Said> {
    let meta = &workload.meta;
    let events = snapshot.events_about(&workload.kind, meta.ns(), &meta.name);
    let event = events.filter(|e| REASONS.contains(&&*e.reason)).max_by_key(|e| e.last_seen);
    // A pod that was made later shows that it was overcome.
    let made = snapshot.pods_controlled_by(workload).iter().filter_map(|p| p.meta.creation_timestamp).max();
    let stands = |seen: Option<Timestamp>| seen.is_none_or(|s| made.is_none_or(|m| m <= s));
    let (words, when) = match event {
        Some(e) if stands(e.last_seen) => (e.message.to_string(), e.last_seen),
        _ => failure(workload)?,
    };
    let words = bare(&words).to_owned();
    let (plugin, code) = plugin_of(&words);
    Some(Said { words, when, plugin, code })
}

/// What the workload's own condition says.
fn failure(workload: &Workload) -> Option<(String, Option<Timestamp>)> {
    let at = |t: Option<crate::wire::time::Time>| t.and_then(crate::wire::time::Time::timestamp);
    macro_rules! failed {
        ($conditions:expr) => {{
            let failed = $conditions
                .iter()
                .find(|c| c.type_ == "ReplicaFailure" && c.status == "True" || c.reason == "ReplicaSetCreateError")?;
            Some((failed.message.clone(), at(failed.last_transition_time)))
        }};
    }
    match &workload.detail {
        Detail::ReplicaSet(s) => failed!(s.conditions),
        Detail::Deployment(d) => failed!(d.1.conditions),
        Detail::ReplicationController(s) => failed!(s.conditions),
        _ => None,
    }
}

/// The words behind those of a controller: `Error creating: `, `create Pod x in StatefulSet y failed error: ` …
fn bare(message: &str) -> &str {
    for lead in ["Error creating job: ", "Error creating: ", " failed error: ", "creating jobs failed with error: "] {
        if let Some((_, words)) = message.split_once(lead) {
            return words;
        }
    }
    match message.strip_prefix("Failed to create new replica set ").and_then(|m| m.split_once(": ")) {
        Some((_, words)) => words,
        None => message,
    }
}

/// The quota that a refusal names.
pub(super) fn quota_named(said: &str, ns: &str) -> Option<Ref> {
    let (_, after) = ["exceeded quota: ", "failed quota: ", "status unknown for quota: "]
        .iter()
        .find_map(|lead| said.split_once(lead))?;
    let name = after.split([',', ':']).next()?;
    Some(Ref::new("v1", "ResourceQuota", ns, name))
}

/// How a plugin's words are known.
enum Words {
    /// They begin so, once the object is named.
    Begin(&'static str),
    /// This occurs in them.
    Hold(&'static str),
}
use Words::{Begin, Hold};

/// Each plugin's words. Those that say what others wrote (webhooks, policies) come first, as any word may follow.
const PLUGINS: &[(&str, Code, &[Words])] = &[
    (
        "ValidatingAdmissionWebhook or MutatingAdmissionWebhook",
        Code::AdmissionWebhook,
        &[
            Begin("admission webhook \""),
            Begin("Internal error occurred: failed calling webhook \""),
            Begin("failed calling webhook \""),
            Begin("Internal error occurred: admission webhook \""),
        ],
    ),
    (
        "ValidatingAdmissionPolicy",
        Code::AdmissionPolicy,
        &[
            Begin("ValidatingAdmissionPolicy '"),
            Begin("policy '"),
            Begin("policy \""),
            Begin("admission request denied by policy"),
        ],
    ),
    ("PodSecurity", Code::PodSecurity, &[Begin("violates PodSecurity "), Begin("Not allowed by PodSecurity")]),
    (
        "ImagePolicyWebhook",
        Code::AdmissionPlugin,
        &[
            Begin("image policy webhook backend denied"),
            Begin("one or more images rejected by webhook backend"),
            Begin("Error contacting webhook: "),
        ],
    ),
    (
        "NamespaceLifecycle",
        Code::NamespaceTerminating,
        &[Begin("unable to create new content in namespace "), Begin("namespaces \"")],
    ),
    (
        "RBAC",
        Code::ControllerForbidden,
        &[
            Begin("User \""),
            Begin("cannot set blockOwnerDeletion"),
            Begin("cannot set an ownerRef on a resource you can't"),
        ],
    ),
    (
        "ServiceAccount",
        Code::ServiceAccount,
        &[
            Begin("error looking up service account "),
            Begin("no service account specified for pod "),
            Hold(" is not allowed because service account "),
        ],
    ),
    (
        "Priority",
        Code::PriorityClass,
        &[
            Begin("no PriorityClass with name "),
            Begin("failed to resolve PriorityClass "),
            Begin("the integer value of priority ("),
            Begin("the string value of PreemptionPolicy ("),
            Hold("default priority class"),
        ],
    ),
    (
        "RuntimeClass",
        Code::RuntimeClass,
        &[
            Begin("pod rejected: RuntimeClass "),
            Begin("pod rejected: Pod's Overhead "),
            Begin("pod rejected: Pod Overhead "),
            Begin("conflict: runtimeClass.scheduling.nodeSelector["),
        ],
    ),
    (
        "PodNodeSelector",
        Code::AdmissionPlugin,
        &[Begin("pod node label selector "), Hold(" annotations' node label selectors conflict")],
    ),
    (
        "PodTolerationRestriction",
        Code::AdmissionPlugin,
        &[Begin("pod tolerations (possibly merged with namespace default tolerations) conflict")],
    ),
    (
        "LimitPodHardAntiAffinityTopology",
        Code::AdmissionPlugin,
        &[Begin("affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ")],
    ),
    (
        "SecurityContextConstraint of OpenShift",
        Code::AdmissionPlugin,
        &[Begin("unable to validate against any security context constraint")],
    ),
    ("AlwaysDeny", Code::AdmissionPlugin, &[Begin("admission control is denying all modifications")]),
    (
        "LimitRanger",
        Code::LimitRange,
        &[
            Hold(" usage per Container is "),
            Hold(" usage per Pod is "),
            Hold(" max limit to request ratio per "),
            Hold("there was an error enforcing limit ranges"),
        ],
    ),
    (
        "ResourceQuota",
        Code::Quota,
        &[
            Begin("exceeded quota: "),
            Begin("failed quota: "),
            Begin("status unknown for quota: "),
            Begin("insufficient quota to "),
            Begin("quota usage is negative for "),
            Hold("resource quota evaluation timed out"),
            Hold("error resolving quota: "),
            Hold("error matching scopes of quota "),
            Begin("Operation cannot be fulfilled on resourcequotas "),
        ],
    ),
];

/// Which plugin says so, and the code of what it says.
fn plugin_of(said: &str) -> (&'static str, Code) {
    let (forbidden, words) = said_of_object(said);
    let known = |w: &Words| match w {
        Begin(lead) => words.starts_with(lead),
        Hold(part) => words.contains(part),
    };
    if let Some((plugin, code, _)) = PLUGINS.iter().find(|(_, _, all)| all.iter().any(known)) {
        return (plugin, *code);
    }
    let invalid = said.contains(" is invalid: ") || said.contains(" cannot be handled as a ");
    match (invalid, forbidden) {
        (true, _) => ("API server", Code::InvalidPod),
        (false, true) => ("of a name that is not known", Code::AdmissionPlugin),
        (false, false) => ("API server", Code::CreateFailed),
    }
}

/// Whether the server forbids it, and its words without the object that they are about: `pods "x" is forbidden: `.
fn said_of_object(said: &str) -> (bool, &str) {
    match said.split_once(" is forbidden: ") {
        // What a webhook or a policy says may hold these words, too.
        Some((object, words)) if object.len() < 300 && !object.contains("denied") => (true, words),
        _ => (false, said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_known_by_the_plugins_words() {
        const FORBIDDEN: &str = "pods \"w-x\" is forbidden: ";
        let forbidden = [
            ("exceeded quota: q, requested: pods=1, used: pods=5, limited: pods=5", Code::Quota),
            ("failed quota: q: must specify cpu for: c; memory for: c", Code::Quota),
            ("status unknown for quota: q, resources: pods", Code::Quota),
            ("insufficient quota to consume: requests.nvidia.com/gpu", Code::Quota),
            ("insufficient quota to match these scopes: [{PriorityClass In [system-node-critical]}]", Code::Quota),
            ("no PriorityClass with name gold was found", Code::PriorityClass),
            (
                "the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 \
                 from the given PriorityClass name",
                Code::PriorityClass,
            ),
            ("error looking up service account a/robot: serviceaccount \"robot\" not found", Code::ServiceAccount),
            (
                "volume with secret.secretName=\"s\" is not allowed because service account robot does not reference that secret",
                Code::ServiceAccount,
            ),
            ("maximum cpu usage per Container is 2, but limit is 2500m", Code::LimitRange),
            ("minimum memory usage per Pod is 100Mi.  No request is specified", Code::LimitRange),
            (
                "[maximum cpu usage per Container is 2, but limit is 3, maximum memory usage per Container is 1Gi, but limit is 2Gi]",
                Code::LimitRange,
            ),
            ("cpu max limit to request ratio per Container is 1, but provided ratio is 2.000000", Code::LimitRange),
            (
                "violates PodSecurity \"restricted:latest\": runAsNonRoot != true (pod or container \"c\" must set \
                 securityContext.runAsNonRoot=true)",
                Code::PodSecurity,
            ),
            ("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: exceeded quota: q", Code::AdmissionPolicy),
            ("pod rejected: RuntimeClass \"kata\" not found", Code::RuntimeClass),
            ("conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c", Code::RuntimeClass),
            ("unable to create new content in namespace a because it is being terminated", Code::NamespaceTerminating),
            ("pod node label selector conflicts with its namespace node label selector", Code::AdmissionPlugin),
            ("pod node label selector labels conflict with its namespace whitelist", Code::AdmissionPlugin),
            (
                "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist",
                Code::AdmissionPlugin,
            ),
            ("image policy webhook backend denied one or more images: no", Code::AdmissionPlugin),
            (
                "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is \
                 allowed",
                Code::AdmissionPlugin,
            ),
            (
                "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
                Code::ControllerForbidden,
            ),
            ("words of a plugin that nobody knows", Code::AdmissionPlugin),
        ];
        for (words, want) in forbidden {
            assert_eq!(plugin_of(&format!("{FORBIDDEN}{words}")).1, want, "{words}");
        }
        for (words, want) in [
            ("admission webhook \"quota.example.com\" denied the request: exceeded quota: no", Code::AdmissionWebhook),
            ("admission webhook \"x\" denied the request: pods \"a\" is forbidden: no", Code::AdmissionWebhook),
            (
                "Internal error occurred: failed calling webhook \"x\": failed to call webhook: Post \"https://a.b.svc\": EOF",
                Code::AdmissionWebhook,
            ),
            (
                "pods is forbidden: User \"system:serviceaccount:kube-system:replicaset-controller\" cannot create resource \
                 \"pods\" in API group \"\" in the namespace \"shop\"",
                Code::ControllerForbidden,
            ),
            ("Pod \"w-x\" is invalid: spec.containers[0].image: Required value", Code::InvalidPod),
            (
                "Pod \"w-x\" is invalid: spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal \
                 to cpu limit of 1",
                Code::InvalidPod,
            ),
            ("Internal error occurred: resource quota evaluation timed out", Code::Quota),
            ("namespaces \"a\" not found", Code::NamespaceTerminating),
            ("pods \"w-0\" already exists", Code::CreateFailed),
            ("etcdserver: request timed out", Code::CreateFailed),
        ] {
            assert_eq!(plugin_of(words).1, want, "{words}");
        }
    }

    #[test]
    fn controllers_lead_the_words_in() {
        for (message, want) in [
            ("Error creating: pods \"x\" is forbidden: no", "pods \"x\" is forbidden: no"),
            (
                "create Pod pg-1 in StatefulSet pg failed error: pods \"pg-1\" is forbidden: no",
                "pods \"pg-1\" is forbidden: no",
            ),
            ("Error creating job: jobs.batch \"x\" is forbidden: no", "jobs.batch \"x\" is forbidden: no"),
            ("Failed to create new replica set \"web-1\": exceeded quota: q", "exceeded quota: q"),
            ("pods \"x\" is forbidden: no", "pods \"x\" is forbidden: no"),
        ] {
            assert_eq!(bare(message), want);
        }
    }
}
