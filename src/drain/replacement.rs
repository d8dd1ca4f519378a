//! The pod that replaces an evicted one: the same without its node and its past.

use crate::snapshot::meta::Meta;
use crate::snapshot::pod::{Condition, Phase, Pod, PodStatus, Truth, Volume, VolumeSource};
use crate::snapshot::{Snapshot, Str};
use jiff::Timestamp;
use std::sync::Arc;

/// A pod not created yet that is like `old`. A StatefulSet's keeps its name, and so its claims. `node` is set where the
/// owner's template names one: such a pod never meets the scheduler.
pub fn replacement(old: &Pod, name: Str, node: Option<Str>, now: Timestamp) -> Arc<Pod> {
    Arc::new(Pod {
        meta: Meta {
            name,
            uid: None,
            creation_timestamp: Some(now),
            deletion_timestamp: None,
            deletion_grace_period: None,
            finalizers: Box::default(),
            ..old.meta.clone()
        },
        spec: old.spec.clone(),
        volumes: old.volumes.clone(),
        node,
        status: PodStatus { phase: Phase::Pending, ..PodStatus::default() },
    })
}

/// The name of the n-th pod that a plan makes in the place of `old`: unlike that of any pod that exists.
pub fn new_name(old: &Pod, n: usize) -> Str {
    format!("{}+{n}", old.meta.name).into()
}

/// The pod of another ordinal of the StatefulSet that `like` is of: with its own name, and its own claims. `None` where
/// those are still to be made: where their volumes will be is not known. Mirrors `newStatefulSetPod` of
/// `pkg/controller/statefulset/stateful_set_utils.go`.
pub fn of_ordinal(like: &Pod, n: i32, snapshot: &Snapshot) -> Option<Arc<Pod>> {
    let (set, _) = like.meta.name.rsplit_once('-')?;
    let name: Str = format!("{set}-{n}").into();
    let suffix = format!("-{}", like.meta.name);
    let own = |v: &Volume| {
        let source = match &v.source {
            VolumeSource::Claim { name: claim, read_only } if claim.ends_with(&suffix) => {
                let claim: Str = format!("{}-{name}", claim.strip_suffix(&suffix)?).into();
                snapshot.persistent_volume_claims.named(like.meta.ns(), &claim)?;
                VolumeSource::Claim { name: claim, read_only: *read_only }
            }
            other => other.clone(),
        };
        Some(Volume { source, ..v.clone() })
    };
    let volumes = like.volumes.iter().map(own).collect::<Option<Vec<Volume>>>()?;
    let labels =
        [("statefulset.kubernetes.io/pod-name", name.to_string()), ("apps.kubernetes.io/pod-index", n.to_string())]
            .into_iter()
            .filter(|(key, _)| like.meta.labels.has(key))
            .fold(like.meta.labels.clone(), |labels, (key, value)| labels.with(key, &value));
    let meta = Meta { name: name.clone(), labels, ..like.meta.clone() };
    let new = replacement(&Pod { meta, volumes: Arc::new(volumes), ..like.clone() }, name, None, snapshot.now);
    Some(new)
}

/// The same pod, Ready.
pub fn ready(pod: &Pod, now: Timestamp) -> Arc<Pod> {
    let condition = Condition {
        kind: "Ready".into(),
        status: Truth::True,
        since: Some(now),
        reason: "".into(),
        message: "".into(),
    };
    let status = PodStatus { phase: Phase::Running, conditions: Box::new([condition]), ..pod.status.clone() };
    Arc::new(Pod { status, ..pod.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::testing::Cluster;

    #[test]
    fn another_ordinal_has_its_own_name_and_claims() {
        // After newStatefulSetPod: identity and storage follow the ordinal.
        let meta = r#""labels": {"app": "db", "apps.kubernetes.io/pod-index": "0", "statefulset.kubernetes.io/pod-name": "db-0"}"#;
        let volumes = |claim: &str| {
            format!(r#""volumes": [{{"name": "data", "persistentVolumeClaim": {{"claimName": "{claim}"}}}}]"#)
        };
        for (title, claim, there, want) in [
            ("its claim is there", "data-db-0", "data-db-2", Some("data-db-2")),
            ("its claim is still to be made", "data-db-0", "data-db-1", None),
            ("a claim that all share", "shared", "data-db-1", Some("shared")),
        ] {
            let mut c = Cluster::new();
            c.add("v1", "PersistentVolumeClaim", "a", there, "{}");
            let pod = c.pod_of("a", "db-0", "n", meta, &volumes(claim), "");
            let new = of_ordinal(&pod, 2, &c.snapshot());
            let claims = new.as_ref().map(|p| match &p.volumes[0].source {
                VolumeSource::Claim { name, .. } => name.to_string(),
                other => format!("{other:?}"),
            });
            assert_eq!(claims.as_deref(), want, "{title}");
            if let Some(new) = new {
                let label = |key: &str| new.meta.labels.get(key).map(ToString::to_string);
                assert_eq!(&*new.meta.name, "db-2");
                assert_eq!(label("statefulset.kubernetes.io/pod-name").as_deref(), Some("db-2"));
                assert_eq!(label("apps.kubernetes.io/pod-index").as_deref(), Some("2"));
                assert_eq!((label("app").as_deref(), new.node.as_ref()), (Some("db"), None));
            }
        }
    }
}
