//! Remedies that are marked as verified, done: the printed commands are run by the real kubectl as they are printed, and
//! then happens what was promised, or it does not.
//!
//! Each remedy gets a world of its own from the same seed, and is the product's answer to that very world.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Settings;
use crate::cases;
use crate::cured::{Offer, Outcome, cure};
use crate::drained::{self, FLAGS};
use crate::generate::worlds::{World, blocked, drains, pending};
use crate::judge::{Tally, name_of};
use crate::kubectl::Said;
use crate::lane::Lane;
use crate::product::Answer;
use crate::remedies::{self, Remedy};
use crate::shared::Shared;
use crate::snapshot::{items, key};

/// At most so many remedies of one world are done.
const EACH: usize = 5;

/// What the remedies are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Subject {
    /// Worlds in which a drain is blocked; the drain is run again
    Drain,
    /// The random worlds of `drain`, as far as they are blocked
    Drains,
    /// Worlds in which a budget allows nothing; evictions are tried
    Status,
    /// Worlds in which a pod stays Pending, or is not made; it is watched
    Pending,
}

impl Subject {
    /// The world of a seed.
    pub fn world(self, name: &str, seed: u64) -> World {
        match self {
            Self::Drain | Self::Status => blocked::world(name, seed),
            Self::Drains => drains::world(name, seed),
            Self::Pending => pending::world(name, seed),
        }
    }

    /// A word for figures and folders.
    pub fn word(self) -> &'static str {
        match self {
            Self::Drain => "blocked",
            Self::Drains => "drains",
            Self::Status => "status",
            Self::Pending => "pending",
        }
    }
}

/// One seed: make the world, ask for remedies, and for each of them make the world again and do it. One that does not cure
/// gets a second try: then it was the clock, or a choice of the scheduler's.
pub fn run(settings: &Settings, shared: &Shared, subject: Subject, seed: u64) -> Result<Tally> {
    let mut tally = Tally::default();
    let asked = Asked::of(settings, shared, subject, seed, "")?;
    let wanted: Vec<Remedy> = asked.offers.iter().map(|offer| offer.remedy.clone()).collect();
    for _ in 0..asked.without {
        tally.count("verified remedies without a command");
    }
    if wanted.is_empty() {
        tally.count("worlds without a verified remedy");
        let made_of = asked.lane.world.made_of.join(", ");
        eprintln!("seed {seed} ({made_of}): no verified remedy; {}", verdicts(subject, &asked.answer).join(", "));
    } else {
        tally.count("worlds with verified remedies");
    }
    if settings.keep {
        let truth = json!({"seed": seed, "madeOf": asked.lane.world.made_of, "answer": asked.answer.document});
        cases::write(&settings.misses, &format!("world-{}-{seed}", subject.word()), &asked.list, &truth)?;
    }
    // The first world serves the first remedy.
    let mut first = Some(asked);
    for at in 0..wanted.len().min(EACH) {
        let asked = match first.take() {
            Some(asked) => asked,
            None => Asked::of(settings, shared, subject, seed, &format!("t{at}"))?,
        };
        let one = asked.cure(subject, &wanted, at)?;
        match one {
            Some((_, outcome, _)) if outcome.broken.is_some() => {
                let again =
                    Asked::of(settings, shared, subject, seed, &format!("t{at}x"))?.cure(subject, &wanted, at)?;
                if again.as_ref().is_some_and(|(_, outcome, _)| outcome.broken.is_none()) {
                    tally.count("cured at the second try");
                }
                note(settings, &mut tally, subject, seed, at, again)?;
            }
            one => note(settings, &mut tally, subject, seed, at, one)?,
        }
    }
    if let Some(asked) = first {
        asked.lane.remove()?;
    }
    Ok(tally)
}

/// A world, and the product's answer to it.
struct Asked<'a> {
    lane: Lane<'a>,
    list: Value,
    /// The nodes that are drained.
    names: Vec<String>,
    answer: Answer,
    offers: Vec<Offer>,
    /// How many remedies are said to have been tried, and have no command.
    without: usize,
}

/// A remedy, what came of it, and its case.
type Done = (Offer, Outcome, Case);

/// A case's snapshot and truth.
struct Case {
    list: Value,
    truth: Value,
}

impl<'a> Asked<'a> {
    fn of(settings: &Settings, shared: &'a Shared, subject: Subject, seed: u64, which: &str) -> Result<Self> {
        let world = subject.world(&format!("{}{seed}{which}", &subject.word()[..1]), seed);
        let lane = Lane::make(shared, world)?;
        let list = lane.snapshot()?;
        let names = if subject == Subject::Pending { Vec::new() } else { lane.nodes()? };
        let answer = ask(settings, subject, &lane, &list, &names)?;
        let (offers, without) = offers(subject, &answer);
        Ok(Self { lane, list, names, answer, offers, without })
    }

    /// Does the remedy that is like the one wanted, and takes the world away. Names differ from world to world: the n-th of
    /// the same kind is the same remedy. None where it is not offered in this world.
    fn cure(self, subject: Subject, wanted: &[Remedy], at: usize) -> Result<Option<Done>> {
        let done = match wanted.get(at) {
            Some(like) => {
                let nth = wanted.iter().take(at).filter(|known| known.like(like)).count();
                match self.offers.iter().filter(|offer| offer.remedy.like(like)).nth(nth) {
                    Some(offer) => {
                        let outcome = cure(&self.lane, subject, &self.answer, offer, &self.names)?;
                        let truth = record(&self.lane, subject, &self.names, offer, &outcome);
                        Some((offer.clone(), outcome, truth))
                    }
                    None => None,
                }
            }
            None => None,
        };
        self.lane.remove()?;
        Ok(done.map(|(offer, outcome, truth)| (offer, outcome, Case { list: self.list, truth })))
    }
}

fn ask(settings: &Settings, subject: Subject, lane: &Lane<'_>, list: &Value, names: &[String]) -> Result<Answer> {
    let file = settings.scratch.path().join(format!("{}.json", lane.world.name));
    std::fs::write(&file, list.to_string()).context("write the snapshot")?;
    let args: Vec<&str> = match subject {
        Subject::Pending => vec!["why-pending", "-A"],
        Subject::Status => vec!["status", "-A"],
        Subject::Drain | Subject::Drains => {
            let flags = FLAGS.iter().copied().chain(lane.world.drain.flags.iter().map(String::as_str));
            ["drain-plan"].into_iter().chain(names.iter().map(String::as_str)).chain(flags).collect()
        }
    };
    settings.product()?.ask(&args, &file)
}

/// All that is offered, each once; of a plan, what is offered for nodes that are blocked. And how many are said to have been
/// tried and have no command.
fn offers(subject: Subject, answer: &Answer) -> (Vec<Offer>, usize) {
    let list = if matches!(subject, Subject::Drain | Subject::Drains) { "nodes" } else { "items" };
    let (mut all, mut without): (Vec<Offer>, usize) = (Vec::new(), 0);
    for item in answer.document[list].as_array().into_iter().flatten() {
        if list == "nodes" && item["verdict"] != "blocked" {
            continue;
        }
        let (found, more) = remedies::of(&item["findings"]);
        without += more;
        for remedy in found {
            if !all.iter().any(|offer| offer.remedy.lines == remedy.lines) {
                all.push(Offer { item: item.clone(), remedy });
            }
        }
    }
    (all, without)
}

/// What the answer says instead: the verdicts and codes of its items.
fn verdicts(subject: Subject, answer: &Answer) -> Vec<String> {
    let (list, verdict) = match subject {
        Subject::Drain | Subject::Drains => ("nodes", "verdict"),
        Subject::Status => ("items", "verdict"),
        Subject::Pending => ("items", "stage"),
    };
    let of = |item: &Value| {
        let findings = item["findings"].as_array().into_iter().flatten();
        let codes: Vec<&str> = findings.filter_map(|finding| finding["code"].as_str()).collect();
        format!("{} {} [{}]", name_of(item), item[verdict].as_str().unwrap_or_default(), codes.join(" "))
    };
    answer.document[list].as_array().into_iter().flatten().map(of).collect()
}

/// Counts the outcome, and writes a case where something was not as promised.
fn note(
    settings: &Settings,
    tally: &mut Tally,
    subject: Subject,
    seed: u64,
    at: usize,
    done: Option<Done>,
) -> Result<()> {
    let Some((offer, outcome, case)) = done else {
        tally.count("remedies that were not offered again");
        return Ok(());
    };
    let (remedy, word) = (&offer.remedy, subject.word());
    let object = format!("{seed}: {} {}: {}", remedy.code, name_of(&offer.item), remedy.lines.join("; "));
    tally.add(&format!("cures of {word}"), &object, outcome.broken.as_deref().unwrap_or("cured"), "cured");
    tally.count_in(&format!("cures of {word} by {}: {}", remedy.code, remedy.kind()), outcome.broken.is_none());
    let mut kind = outcome.broken.as_ref().map(|_| "cure");
    if let Some(undone) = &outcome.undone {
        let object = format!("{seed}: {}", remedy.undo.join("; "));
        tally.add(&format!("undoings of {word}"), &object, undone.as_deref().unwrap_or("undone"), "undone");
        kind = kind.or(undone.as_ref().map(|_| "undo"));
    }
    if let Some(kind) = kind.or(settings.keep.then_some("cured")) {
        let path = cases::write(&settings.misses, &format!("{kind}-{word}-{seed}-{at}"), &case.list, &case.truth)?;
        eprintln!("seed {seed}: a case is in {}", path.display());
    }
    Ok(())
}

/// A case's truth.
fn record(lane: &Lane<'_>, subject: Subject, names: &[String], offer: &Offer, outcome: &Outcome) -> Value {
    let flags: Vec<&str> = FLAGS.iter().copied().chain(lane.world.drain.flags.iter().map(String::as_str)).collect();
    let question = match subject {
        Subject::Pending => "kubectl pdb why-pending -A".to_owned(),
        Subject::Status => "kubectl pdb status -A".to_owned(),
        Subject::Drain | Subject::Drains => {
            drained::line(names, &flags).replace("kubectl drain", "kubectl pdb drain-plan")
        }
    };
    let remedy = &offer.remedy;
    let run: Vec<Value> = outcome.said.iter().map(Said::to_json).collect();
    let pods = lane.shared.api.get("/api/v1/pods").map(|list| items(&list).to_vec()).unwrap_or_default();
    let after = pods.iter().filter(|pod| lane.world.namespaces.iter().any(|n| pod["metadata"]["namespace"] == **n));
    let after: Vec<String> = after
        .map(|pod| {
            format!(
                "{} on {} {} {}",
                key(pod),
                pod["spec"]["nodeName"],
                pod["status"]["phase"],
                pod["metadata"]["deletionTimestamp"]
            )
        })
        .collect();
    json!({"version": lane.shared.version, "madeOf": lane.world.made_of, "question": question,
        "item": name_of(&offer.item), "code": remedy.code, "remedy": remedy.text, "commands": remedy.lines, "undo": remedy.undo,
        "cured": outcome.broken.is_none(), "otherwise": outcome.broken, "notUndone": outcome.undone.clone().flatten(),
        "run": run, "podsAfter": after})
}
