//! Grace periods: long ones, and those that are too short for what the pod does before it ends.

use super::Look;
use crate::drain::note::Note;
use crate::duration;
use crate::finding::{Code, Remedy};
use crate::snapshot::age::duration_words;
use crate::snapshot::pod::{Pod, PreStop};
use crate::snapshot::{Snapshot, Str};
use std::collections::HashMap;

/// A grace period from this on is told, in seconds.
const LONG: i64 = 300;

/// What a container needs to end after its preStop hook, at the least, in seconds.
const SHUTDOWN: i64 = 5;

/// `spec.template.spec.terminationGracePeriod` of Karpenter's NodePools, in seconds.
pub(super) fn node_pools(snapshot: &Snapshot) -> HashMap<Str, i64> {
    let pools = snapshot.customs.iter().filter(|c| &*c.group == "karpenter.sh" && &*c.kind == "NodePool");
    let grace = |c: &crate::snapshot::custom::Custom| {
        let text = c.at("/spec/template/spec/terminationGracePeriod")?.as_str()?;
        i64::try_from(duration::parse(text).ok()?.as_secs()).ok()
    };
    pools.filter_map(|c| Some((c.meta.name.clone(), grace(c)?))).collect()
}

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let pod = look.pod;
    if !look.is_running() {
        return;
    }
    let own = pod.spec.termination_grace;
    let given = look.options.grace(pod);
    if given >= LONG {
        let text =
            format!("it is gone up to {} ({given} s) after it is let go: its grace period is long", words(given));
        notes.push(Note::new(Code::LongGrace, text));
    }
    if given < own {
        let text = format!("--grace-period={given} cuts its grace period of {own} s");
        notes.push(Note::new(Code::GraceBudget, text));
    }
    if let Some((pool, limit)) = node_pool(look).filter(|(_, limit)| *limit < own) {
        let text = format!(
            "NodePool {pool} ends the node {} after its drain begins (terminationGracePeriod), before the pod's own grace \
             period of {own} s and past every budget",
            words(limit)
        );
        notes.push(Note::new(Code::GraceBudget, text));
    }
    if let Some(sleep) = pre_stop(pod).filter(|sleep| sleep + SHUTDOWN > given) {
        let text = format!(
            "its preStop hook alone takes {sleep} s of {given} s of grace: the containers are killed before they can end"
        );
        let remedy = Remedy {
            text: format!(
                "raise terminationGracePeriodSeconds of its template to more than {sleep} s plus what it needs to shut down"
            ),
            ..Remedy::default()
        };
        notes.push(Note::new(Code::GraceBudget, text).remedy(remedy));
    }
}

fn node_pool<'a>(look: &Look<'a>) -> Option<(&'a str, i64)> {
    let pool = look.node()?.meta.labels.get("karpenter.sh/nodepool")?;
    look.facts.node_pools.get(pool).map(|limit| (&**pool, *limit))
}

/// The longest wait of the pod's preStop hooks, as far as they tell.
fn pre_stop(pod: &Pod) -> Option<i64> {
    let wait = |hook: &PreStop| match hook {
        PreStop::Sleep(seconds) => Some(*seconds),
        PreStop::Exec(seconds) => *seconds,
        PreStop::Other => None,
    };
    pod.spec.containers.iter().filter_map(|c| c.pre_stop.as_ref()).filter_map(wait).max()
}

fn words(seconds: i64) -> String {
    if seconds == 3600 { "1 hour".to_owned() } else { duration_words(seconds) }
}
