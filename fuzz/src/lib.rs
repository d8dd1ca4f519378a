//! Changes to clusters in JSON that leave them JSON.

use fastrand::Rng;
use serde_json::{Number, Value, json};

/// An input of the target `engines` with a few changes; `None` where it is not JSON behind its first byte, or where
/// the bytes themselves should be changed for once.
pub fn mutated(input: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut rng = Rng::with_seed(seed.into());
    if rng.u8(..20) == 0 {
        return None;
    }
    let (first, body) = input.split_first()?;
    let mut cluster: Value = serde_json::from_slice(body).ok()?;
    let first = if rng.u8(..4) == 0 { rng.u8(..) } else { *first };
    for _ in 0..rng.u8(1..5) {
        let other = pick(&mut rng, &cluster).clone();
        change(&mut rng, &mut cluster, &other);
    }
    let mut changed = vec![first];
    serde_json::to_writer(&mut changed, &cluster).ok()?;
    Some(changed)
}

/// A value somewhere within.
fn pick<'a>(rng: &mut Rng, value: &'a Value) -> &'a Value {
    let inner: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    };
    if inner.is_empty() || rng.u8(..6) == 0 {
        return value;
    }
    let one = rng.usize(..inner.len());
    pick(rng, inner[one])
}

/// Changes a value somewhere within; `other` is one of the same cluster.
fn change(rng: &mut Rng, value: &mut Value, other: &Value) {
    let deeper = rng.u8(..6) != 0;
    match value {
        Value::Array(items) if !items.is_empty() => {
            let at = rng.usize(..items.len());
            match rng.u8(..8) {
                _ if deeper => change(rng, &mut items[at], other),
                0..2 => drop(items.remove(at)),
                2..4 => items.push(items[at].clone()),
                4 => items.swap(at, 0),
                5 => items.push(other.clone()),
                6 => {
                    let times = rng.usize(..40);
                    items.extend(vec![items[at].clone(); times]);
                }
                _ => items.clear(),
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let at = rng.usize(..fields.len());
            let name = fields.keys().nth(at).cloned().unwrap_or_default();
            match rng.u8(..6) {
                _ if deeper => change(rng, &mut fields[&name], other),
                0..2 => drop(fields.shift_remove(&name)),
                2 => drop(fields.insert(name, other.clone())),
                3 => {
                    let (known, _) = FIELDS[rng.usize(..FIELDS.len())];
                    fields.insert(known.to_owned(), other.clone());
                }
                _ => {
                    let (known, text) = FIELDS[rng.usize(..FIELDS.len())];
                    fields.insert(known.to_owned(), serde_json::from_str(text).unwrap_or_default());
                }
            }
        }
        scalar => *scalar = replaced(rng, scalar, other),
    }
}

fn replaced(rng: &mut Rng, old: &Value, other: &Value) -> Value {
    if rng.u8(..5) == 0 {
        return other.clone();
    }
    match old {
        Value::Number(_) if rng.bool() => {
            let numbers = [0, 1, 2, -1, 3, 100, 101, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN];
            Value::Number(Number::from(numbers[rng.usize(..numbers.len())]))
        }
        Value::Number(_) => json!(rng.i64(..) >> rng.u8(..63)),
        Value::Bool(old) => json!(!old),
        Value::String(text) if rng.u8(..3) == 0 => {
            let mut letters: Vec<char> = text.chars().collect();
            let at = rng.usize(..=letters.len());
            letters.insert(at, rng.char('\0'..='\u{ff}'));
            json!(letters.into_iter().collect::<String>())
        }
        _ => json!(WORDS[rng.usize(..WORDS.len())]),
    }
}

/// Fields that objects often lack, and what may stand in them.
const FIELDS: &[(&str, &str)] = &[
    ("deletionTimestamp", "\"2026-01-01T00:00:00Z\""),
    ("deletionGracePeriodSeconds", "9223372036854775807"),
    ("finalizers", "[\"example.com/held\"]"),
    (
        "ownerReferences",
        "[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"x\",\"uid\":\"x\",\"controller\":true}]",
    ),
    ("replicas", "2147483647"),
    ("parallelism", "2147483647"),
    ("completions", "2147483647"),
    ("minAvailable", "\"100%\""),
    ("maxUnavailable", "\"1%\""),
    ("unhealthyPodEvictionPolicy", "\"AlwaysAllow\""),
    ("nodeName", "\"n1\""),
    ("nominatedNodeName", "\"n1\""),
    ("priority", "-2147483648"),
    ("preemptionPolicy", "\"Never\""),
    ("schedulingGates", "[{\"name\":\"g\"}]"),
    ("tolerations", "[{\"operator\":\"Exists\"}]"),
    ("taints", "[{\"key\":\"k\",\"effect\":\"NoExecute\"}]"),
    ("unschedulable", "true"),
    (
        "topologySpreadConstraints",
        "[{\"maxSkew\":1,\"topologyKey\":\"kubernetes.io/hostname\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{}}]",
    ),
    (
        "affinity",
        "{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"zone\",\"labelSelector\":{}}]}}",
    ),
    ("terminationGracePeriodSeconds", "9223372036854775807"),
    ("restartPolicy", "\"Always\""),
    ("podReplacementPolicy", "\"Failed\""),
    ("completionMode", "\"Indexed\""),
    ("podManagementPolicy", "\"Parallel\""),
    ("hard", "{\"pods\":\"0\",\"cpu\":\"9E\",\"requests.memory\":\"8Ei\"}"),
    ("selector", "{\"matchLabels\":{}}"),
    ("selector", "null"),
    ("labels", "{}"),
    (
        "volumes",
        "[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"data\"}},{\"name\":\"e\",\"emptyDir\":{}}]",
    ),
];

/// Texts that some field takes.
const WORDS: &[&str] = &[
    "",
    "0",
    "1",
    "-1",
    "True",
    "False",
    "Unknown",
    "Running",
    "Pending",
    "Failed",
    "Succeeded",
    "Ready",
    "100%",
    "50%",
    "-5%",
    "1e30",
    "9223372036854775807",
    "8Ei",
    "10E",
    "1m",
    "-1Gi",
    "0.1Ki",
    "2026-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "9999-12-31T23:59:59-14:00",
    "0000-01-01T00:00:00+14:00",
    "In",
    "NotIn",
    "Exists",
    "DoesNotExist",
    "Gt",
    "Lt",
    "NoSchedule",
    "NoExecute",
    "CrashLoopBackOff",
    "ImagePullBackOff",
    "Parallel",
    "OrderedReady",
    "Recreate",
    "RollingUpdate",
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "Node",
    "Pod",
    "apps/v1",
    "batch/v1",
    "policy/v1",
    "v1",
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "a/b/c",
    "é\u{202e}\u{7}",
    "<b>&\"'",
];
