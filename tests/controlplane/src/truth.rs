//! What the control plane itself says about budgets: their numbers, and the eviction endpoint's answers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::api::{Api, Refusal};
use crate::plane::{Controllers, Plane, wait_for};
use crate::snapshot::{items, key};

/// What the disruption controller wrote for one budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetTruth {
    /// expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed
    pub numbers: [i64; 4],
    /// The condition's reason: SufficientPods, InsufficientPods, SyncFailed.
    pub condition: String,
    /// The condition's message.
    pub message: String,
}

/// What the eviction endpoint answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvictionTruth {
    /// 201, 429, 500, …
    pub code: u16,
    /// The Status' message; empty for 201.
    pub message: String,
    /// The messages of `details.causes`.
    pub causes: Vec<String>,
}

/// Runs the disruption controller until it has looked at every budget, ends it, and gives what it wrote.
pub fn budgets(plane: &mut Plane) -> Result<BTreeMap<String, BudgetTruth>> {
    plane.start_controllers(Controllers::Disruption)?;
    settle_budgets(plane)?;
    plane.stop_controllers();
    let list = plane.api.get(BUDGETS)?;
    Ok(items(&list).iter().filter(|b| key(b) != SENTINEL).map(|b| (key(b), budget(b))).collect())
}

const BUDGETS: &str = "/apis/policy/v1/poddisruptionbudgets";
const SENTINEL: &str = "default/zz-sentinel";

/// Waits until the controller has synced all budgets. It has one queue and one worker: a budget made after its start
/// comes last, so once that one is synced all others have been, and then nothing may change for a moment.
fn settle_budgets(plane: &Plane) -> Result<()> {
    let path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/zz-sentinel";
    plane.api.delete(path, 0)?;
    // The informers must have delivered what was there at the start.
    std::thread::sleep(Duration::from_millis(1500));
    let sentinel = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "zz-sentinel"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"no": "pod"}}}});
    plane.api.create("/apis/policy/v1/namespaces/default/poddisruptionbudgets", &sentinel)?;
    wait_for("the disruption controller", 90, || {
        let seen = plane.api.get(path)?;
        Ok((seen["status"]["observedGeneration"] == 1).then_some(()))
    })?;
    unchanged(&plane.api, BUDGETS, Duration::from_millis(1500))?;
    plane.api.delete(path, 0)
}

/// Waits until a collection has kept its resource versions for `quiet`.
pub fn unchanged(api: &Api, path: &str, quiet: Duration) -> Result<()> {
    let versions = || -> Result<Vec<String>> {
        let list = api.get(path)?;
        Ok(items(&list).iter().map(|i| i["metadata"]["resourceVersion"].to_string()).collect())
    };
    let (start, mut since, mut last) = (Instant::now(), Instant::now(), versions()?);
    while since.elapsed() < quiet {
        std::thread::sleep(Duration::from_millis(200));
        let now = versions()?;
        if now != last {
            (since, last) = (Instant::now(), now);
        }
        if start.elapsed() > Duration::from_secs(120) {
            bail!("{path} does not come to rest");
        }
    }
    Ok(())
}

/// A budget's status.
pub fn budget(object: &Value) -> BudgetTruth {
    let status = &object["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    let condition = status["conditions"].as_array().into_iter().flatten().find(|c| c["type"] == "DisruptionAllowed");
    let text = |field: &str| condition.and_then(|c| c[field].as_str()).unwrap_or_default().to_owned();
    BudgetTruth {
        numbers: [
            number("expectedPods"),
            number("desiredHealthy"),
            number("currentHealthy"),
            number("disruptionsAllowed"),
        ],
        condition: text("reason"),
        message: text("message"),
    }
}

/// Asks for a dry-run eviction of every pod in the List.
pub fn evictions(api: &Api, list: &Value) -> Result<BTreeMap<String, EvictionTruth>> {
    let pods = items(list).iter().filter(|item| item["kind"] == "Pod");
    pods.map(|pod| Ok((key(pod), evict_dry(api, pod)?))).collect()
}

fn evict_dry(api: &Api, pod: &Value) -> Result<EvictionTruth> {
    let (namespace, name) = (&pod["metadata"]["namespace"], &pod["metadata"]["name"]);
    let path = format!(
        "/api/v1/namespaces/{}/pods/{}/eviction?dryRun=All",
        namespace.as_str().unwrap_or_default(),
        name.as_str().unwrap_or_default()
    );
    let eviction =
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"namespace": namespace, "name": name}});
    match api.create(&path, &eviction) {
        // The endpoint answers the refusal over two budgets as a Status whose own code says 500.
        Ok(status) => match status["code"].as_u64().and_then(|code| u16::try_from(code).ok()) {
            Some(code) if code >= 300 => Ok(refusal(code, &status)),
            _ => Ok(EvictionTruth { code: 201, message: String::new(), causes: Vec::new() }),
        },
        Err(error) => match error.downcast_ref::<Refusal>() {
            Some(Refusal { code, status, .. }) => Ok(refusal(*code, status)),
            None => Err(error),
        },
    }
}

fn refusal(code: u16, status: &Value) -> EvictionTruth {
    let causes = status["details"]["causes"].as_array().into_iter().flatten();
    EvictionTruth {
        code,
        message: status["message"].as_str().unwrap_or_default().to_owned(),
        causes: causes.filter_map(|c| c["message"].as_str()).map(str::to_owned).collect(),
    }
}
