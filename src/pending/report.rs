//! Puts the answer together, pod by pod.

use super::item::{Item, Subject};
use super::scheduling::schedule;
use super::select::{self, Request, Target};
use super::stage::Stage;
use crate::sched::State;
use crate::snapshot::Snapshot;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// Why what is asked about is not running; or the name of what is not there.
pub fn pending(request: &Request, snapshot: &Snapshot, state: &State) -> Result<Vec<Item>, Target> {
    let subjects = select::select(request, snapshot)?;
    Ok(subjects
        .into_iter()
        .filter_map(|s| match s {
            Subject::Pod(p) => Some(pod(&p, snapshot, state)),
            Subject::Workload(_) => None,
        })
        .collect())
}

fn pod(pod: &Arc<Pod>, snapshot: &Snapshot, state: &State) -> Item {
    let stage = Stage::of(pod);
    let mut item = Item {
        subject: Subject::Pod(pod.clone()),
        owner: snapshot.top_controller_of(&pod.meta).cloned(),
        stage,
        asks: Vec::new(),
        scheduling: None,
        findings: Vec::new(),
    };
    if matches!(stage, Stage::Unscheduled | Stage::Nominated) {
        item.scheduling = Some(schedule(state, pod).0);
    }
    item
}
