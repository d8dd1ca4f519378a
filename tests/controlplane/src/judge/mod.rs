//! Holds the product's answers against the control plane's.

pub mod drain;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::product::Answer;
use crate::scheduling::{Scheduled, Verdict};
use crate::snapshot::{items, key};
use crate::truth::{BudgetTruth, EvictionTruth, budget};

/// One disagreement.
#[derive(Debug, Clone)]
pub struct Miss {
    /// What was compared: `budgets`, `evictions`, …
    pub figure: String,
    /// The object, `namespace/name`.
    pub object: String,
    /// What the control plane says.
    pub real: String,
    /// What the product says.
    pub ours: String,
}

/// How often both said the same, by figure.
#[derive(Debug, Default)]
pub struct Tally {
    figures: BTreeMap<String, (usize, usize)>,
    counts: BTreeMap<String, usize>,
    /// Every disagreement.
    pub misses: Vec<Miss>,
    /// What could not be asked, by the fault of this program or of the machine.
    pub failures: Vec<String>,
}

impl Tally {
    /// Nothing but a failure.
    pub fn failed(what: &str) -> Self {
        Self { failures: vec![what.to_owned()], ..Self::default() }
    }

    /// Counts one comparison.
    pub fn add(&mut self, figure: &str, object: &str, real: &str, ours: &str) {
        let (same, all) = self.figures.entry(figure.to_owned()).or_default();
        *all += 1;
        if real == ours {
            *same += 1;
        } else {
            let (object, real, ours) = (object.to_owned(), real.to_owned(), ours.to_owned());
            self.misses.push(Miss { figure: figure.to_owned(), object, real, ours });
        }
    }

    /// Counts a comparison that another figure tells of, too.
    pub fn count_in(&mut self, figure: &str, agrees: bool) {
        let (same, all) = self.figures.entry(figure.to_owned()).or_default();
        *all += 1;
        *same += usize::from(agrees);
    }

    /// Counts a comparison whose outcome is known.
    pub fn note(&mut self, figure: &str, object: &str, agrees: bool, real: &str, ours: &str) {
        self.add(figure, object, real, if agrees { real } else { ours });
    }

    /// Counts something that is told beside the comparisons: what was not judged, say.
    pub fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    /// Takes in another tally.
    pub fn merge(&mut self, other: Self) {
        for (figure, (same, all)) in other.figures {
            let sum = self.figures.entry(figure).or_default();
            sum.0 += same;
            sum.1 += all;
        }
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        self.misses.extend(other.misses);
        self.failures.extend(other.failures);
    }

    /// `budgets: 500 of 500 agree`, a line a figure.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        for (figure, (same, all)) in &self.figures {
            let _ = writeln!(text, "{figure}: {same} of {all} agree");
        }
        for (what, count) in &self.counts {
            let _ = writeln!(text, "{what}: {count}");
        }
        for failure in &self.failures {
            let _ = writeln!(text, "failed: {failure}");
        }
        text
    }

    /// The misses, at most `most`.
    pub fn details(&self, most: usize) -> String {
        let mut text = String::new();
        for miss in self.misses.iter().take(most) {
            let _ =
                writeln!(text, "  {} {}\n    real: {}\n    ours: {}", miss.figure, miss.object, miss.real, miss.ours);
        }
        if self.misses.len() > most {
            let _ = writeln!(text, "  and {} more", self.misses.len() - most);
        }
        text
    }
}

/// The `status` document's items by `namespace/name`.
fn by_key(items: &Value) -> BTreeMap<String, &Value> {
    items.as_array().into_iter().flatten().map(|item| (name_of(item), item)).collect()
}

/// Compares `status -A` with the budgets' truth: the four numbers, and whether the sync failed.
///
/// Of budgets that share a pod the running controller follows only one, by chance (`getPdbForPod`); the others keep the
/// numbers of their last sync. For them the numbers of the snapshot are as true as those of a new look.
pub fn budgets(tally: &mut Tally, answer: &Answer, list: &Value, truth: &BTreeMap<String, BudgetTruth>) {
    let statuses = items(list).iter().filter(|item| item["kind"] == "PodDisruptionBudget");
    let recorded: BTreeMap<String, BudgetTruth> = statuses.map(|b| (key(b), budget(b))).collect();
    let items = by_key(&answer.document["items"]);
    for (key, truth) in truth {
        let text =
            |truth: &BudgetTruth| format!("{:?} sync failed: {}", truth.numbers, truth.condition == "SyncFailed");
        let real = text(truth);
        let ours = match items.get(key) {
            Some(item) => {
                let number = |field: &str| item[field].as_i64().unwrap_or(-1);
                let numbers = [
                    number("expectedPods"),
                    number("desiredHealthy"),
                    number("currentHealthy"),
                    number("disruptionsAllowed"),
                ];
                format!("{numbers:?} sync failed: {}", has_code(item, "sync-failed"))
            }
            None => absent(answer),
        };
        let shared = items.get(key).is_some_and(|item| has_code(item, "overlap"));
        let kept = shared && recorded.get(key).is_some_and(|recorded| text(recorded) == ours);
        tally.note("budgets", key, real == ours || kept, &real, &ours);
    }
}

fn has_code(item: &Value, code: &str) -> bool {
    item["findings"].as_array().into_iter().flatten().any(|finding| finding["code"] == code)
}

/// Compares `status -A` with the eviction endpoint's answers: code, message and causes. A pod that the product lists
/// under no budget counts as let go.
pub fn evictions(tally: &mut Tally, answer: &Answer, truth: &BTreeMap<String, EvictionTruth>) {
    let mut listed: BTreeMap<String, &Value> = BTreeMap::new();
    for item in answer.document["items"].as_array().into_iter().flatten() {
        listed.extend(by_key(&item["pods"]));
    }
    for (key, truth) in truth {
        let real = eviction_text(truth.code, &truth.message, &truth.causes);
        let ours = match listed.get(key) {
            Some(pod) => {
                let eviction = &pod["eviction"];
                let causes: Vec<String> = eviction["causes"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|c| c.as_str().map(str::to_owned))
                    .collect();
                let code = eviction["code"].as_u64().and_then(|c| u16::try_from(c).ok()).unwrap_or(0);
                let message = if code == 201 { "" } else { eviction["message"].as_str().unwrap_or_default() };
                eviction_text(code, message, if code == 201 { &[] } else { &causes })
            }
            None if answer.document.is_null() => absent(answer),
            None => eviction_text(201, "", &[]),
        };
        tally.add("evictions", key, &real, &ours);
    }
}

fn eviction_text(code: u16, message: &str, causes: &[String]) -> String {
    format!("{code} {message} {causes:?}")
}

fn absent(answer: &Answer) -> String {
    match answer.document.is_null() {
        true => format!("exit {}: {}", answer.exit, answer.stderr.trim()),
        false => "not listed".to_owned(),
    }
}

/// Compares `why-pending -A` with what the scheduler did: the nodes a pod fits on, the message word for word, the
/// nominated node and (where that is no tie broken by chance) the victims.
pub fn pending(tally: &mut Tally, answer: &Answer, truth: &Scheduled) {
    let items = by_key(&answer.document["items"]);
    for (key, verdict) in &truth.pods {
        let Some(item) = items.get(key) else {
            tally.add("messages", key, &format!("{verdict:?}"), &absent(answer));
            continue;
        };
        match verdict {
            Verdict::Bound(node) => {
                let fits = strings(&item["scheduler"]["fits"]);
                tally.note(
                    "fits",
                    key,
                    fits.contains(node),
                    node,
                    &format!("{fits:?} {}", item["scheduler"]["message"]),
                );
            }
            Verdict::Waits { message, nominated, .. } => {
                let ours = item["scheduler"]["message"].as_str().unwrap_or("none");
                let same = ours == message || is_an_error_of_a_node(&item["scheduler"], message);
                tally.note("messages", key, same, message, ours);
                preemption(tally, key, &item["preemption"], nominated.as_deref(), truth);
            }
        }
    }
}

/// The scheduler asks nodes at the same time, and ends with the error of whichever fails first.
fn is_an_error_of_a_node(ours: &Value, message: &str) -> bool {
    let groups = ours["groups"].as_array().into_iter().flatten();
    let mut reasons = groups.flat_map(|group| group["reasons"].as_array().into_iter().flatten());
    reasons
        .any(|r| message == format!("running {} filter plugin: {}", r["plugin"], r["message"].as_str().unwrap_or("")))
}

fn preemption(tally: &mut Tally, key: &str, ours: &Value, nominated: Option<&str>, truth: &Scheduled) {
    let node = ours["node"].as_str();
    let Some(nominated) = nominated else {
        tally.add("nominated nodes", key, "none", node.unwrap_or("none"));
        return;
    };
    let ties = strings(&ours["ties"]);
    let tie = ties.iter().any(|t| t == nominated);
    tally.note("nominated nodes", key, node == Some(nominated) || tie, nominated, &format!("{node:?} ties {ties:?}"));
    // The victims on the node that was chosen, which may be another one of equal rank.
    let candidates = ours["candidates"].as_array().into_iter().flatten();
    let chosen = candidates.into_iter().find(|c| c["node"] == nominated).map(|c| &c["victims"]);
    let mut victims = strings(match node == Some(nominated) {
        true => &ours["victims"],
        false => chosen.unwrap_or(&Value::Null),
    });
    victims.sort();
    tally.add("victims", key, &format!("{:?}", truth.victims.iter().collect::<Vec<_>>()), &format!("{victims:?}"));
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

/// `namespace/name` of an item.
pub fn name_of(item: &Value) -> String {
    format!("{}/{}", item["namespace"].as_str().unwrap_or_default(), item["name"].as_str().unwrap_or_default())
}
