//! `why-pending` as a table of all that is not running, or the whole story of one pod.

use super::Screen;
use super::findings::{paragraph, remedies};
use super::style::{Tone, paint, safe};
use super::table::{Cell, Table, cut, wrap};
use crate::finding::{Code, Finding, Severity};
use crate::pending::facts::{count, some};
use crate::pending::item::Placement;
use crate::pending::scheduling::Scheduling;
use crate::pending::{Item, Stage, Subject, detail, recorded};
use crate::sched::preemption::PreemptionOutcome;
use crate::sched::{ASSUMED, NodeId, Reason, State, Status};
use crate::snapshot::age::{age, duration_words};
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// One row for pods of one owner with one cause.
    Table {
        /// Whether the namespace is a column.
        all_namespaces: bool,
    },
    /// Each item with its whole story.
    Detail,
}

/// The answer as text.
pub fn text(items: &[Item], findings: &[Finding], state: &State, screen: &Screen, view: View) -> String {
    match view {
        View::Table { all_namespaces } => table(items, findings, state, screen, all_namespaces),
        View::Detail if items.is_empty() => "Nothing of what was asked about is waiting.\n".to_owned(),
        View::Detail => {
            let stories = items.iter().map(|i| story(i, state, screen)).collect::<Vec<_>>().join("\n");
            let judged = items.iter().any(|i| i.scheduling.is_some());
            if judged { format!("{stories}\n{}\n", wrap(ASSUMED, screen.prose_width(), 0)) } else { stories }
        }
    }
}

/// Whether the scheduler has long refused a pod that fits.
fn contradicts(item: &Item, state: &State) -> bool {
    let fits = item.scheduling.as_ref().is_some_and(|s| !s.fits.is_empty());
    let long = |p: &Pod| recorded::refused_for_long(p, state.snapshot());
    fits && matches!(&item.subject, Subject::Pod(p) if long(p))
}

/// Pods of one owner that wait for the same thing.
struct Row<'a> {
    items: Vec<&'a Item>,
    owner: String,
    why: String,
}

/// Things that wait for one cause together: the same owner, stage and scheduler's words.
fn rows<'a>(items: &'a [Item]) -> Vec<Row<'a>> {
    let mut rows: Vec<(String, Row<'a>)> = Vec::new();
    for item in items {
        let meta = item.subject.meta();
        let owner = item.owner.as_ref().map(|w| format!("{}/{}", w.kind.to_lowercase(), w.meta.name));
        let message = item.scheduling.as_ref().map_or("", |s| &s.message);
        let codes: Vec<&str> = item.findings.iter().map(|f| f.code.as_str()).collect();
        let alone = owner.is_none() || matches!(item.subject, Subject::Workload(_));
        let own = if alone { &*meta.name } else { "" };
        let key = format!("{}|{owner:?}|{own}|{}|{message}|{codes:?}", meta.ns(), item.stage.as_str());
        match rows.iter_mut().find(|(k, _)| *k == key) {
            Some((_, row)) => row.items.push(item),
            None => {
                let name = match &item.subject {
                    Subject::Workload(w) => format!("{}/{}", w.kind.to_lowercase(), w.meta.name),
                    Subject::Pod(p) => owner.unwrap_or_else(|| format!("pod/{}", p.meta.name)),
                };
                rows.push((key, Row { items: vec![item], owner: name, why: headline(item) }));
            }
        }
    }
    rows.into_iter().map(|(_, r)| r).collect()
}

fn table(items: &[Item], findings: &[Finding], state: &State, screen: &Screen, all_namespaces: bool) -> String {
    if items.is_empty() {
        return "Every pod is running or has ended.\n".to_owned();
    }
    let rows = rows(items);
    let mut headers = vec!["OWNER", "PODS", "STAGE", "AGE", "WHY"];
    if all_namespaces {
        headers.insert(0, "NAMESPACE");
    }
    if screen.wide() {
        headers.splice(headers.len() - 1..headers.len() - 1, ["PRIORITY", "PREEMPTION", "EXAMPLE"]);
    }
    let mut table = Table::new(headers);
    for row in &rows {
        let Some(first) = row.items.first() else { continue };
        let meta = first.subject.meta();
        let mut cells: Vec<Cell> = Vec::new();
        if all_namespaces {
            cells.push(meta.ns().into());
        }
        let pods = if first.missing > 0 { first.missing } else { row.items.len() };
        cells.extend([
            row.owner.clone().into(),
            pods.to_string().into(),
            Cell::toned(first.stage.as_str(), tone(first)),
            oldest(row, state).into(),
        ]);
        if screen.wide() {
            let priority = match &first.subject {
                Subject::Pod(p) => p.priority().to_string(),
                Subject::Workload(_) => String::new(),
            };
            cells.extend([priority.into(), preemption_word(first, state).into(), (&*meta.name).into()]);
        }
        cells.push(row.why.clone().into());
        table.row(cells);
    }
    let mut out = table.render(screen);
    if !screen.no_headers {
        out.push_str(&summary(items, &rows, screen));
        for f in findings {
            out.push_str(&format!("{}\n", wrap(&format!("{}.", safe(&f.message)), screen.prose_width(), 0)));
        }
        if items.iter().any(|i| contradicts(i, state)) {
            let text = format!("{ASSUMED} A pod that fits here and stays Pending for 5 minutes meets one of them.");
            out.push_str(&format!("{}\n", wrap(&text, screen.prose_width(), 0)));
        }
    }
    out
}

fn oldest(row: &Row<'_>, state: &State) -> String {
    let first = row.items.iter().filter_map(|i| i.subject.meta().creation_timestamp).min();
    first.map(|t| age(t, state.snapshot().now)).unwrap_or_default()
}

fn tone(item: &Item) -> Tone {
    if item.is_stuck() { Tone::Bad } else { Tone::Waiting }
}

fn preemption_word(item: &Item, state: &State) -> String {
    let Some(s) = &item.scheduling else { return String::new() };
    match (&s.preemption.chosen, s.preemption.outcome) {
        (Some(c), _) => {
            let node = state.node(c.node).map(|n| n.name().to_string()).unwrap_or_default();
            format!("{node}, {}", count(c.victims.len(), "victim"))
        }
        (None, PreemptionOutcome::NotTried) => String::new(),
        (None, PreemptionOutcome::NotEligible) => "not now".to_owned(),
        (None, _) => "no help".to_owned(),
    }
}

fn summary(items: &[Item], rows: &[Row<'_>], screen: &Screen) -> String {
    let of = |stage: Stage| items.iter().filter(|i| i.stage == stage).map(|i| i.missing.max(1)).sum::<usize>();
    let stages = [Stage::NotCreated, Stage::Gated, Stage::Unscheduled, Stage::Nominated, Stage::Bound, Stage::Unknown];
    let said: Vec<String> =
        stages.iter().filter(|s| of(**s) > 0).map(|s| format!("{} {}", of(*s), s.as_str())).collect();
    let total: usize = stages.iter().map(|s| of(*s)).sum();
    let text = format!("{} not running: {}.", count(total, "pod"), said.join(", "));
    let example = rows.first().and_then(|r| r.items.first()).map(|i| {
        let meta = i.subject.meta();
        let name = match &i.subject {
            Subject::Pod(_) => meta.name.to_string(),
            Subject::Workload(w) => format!("{}/{}", w.kind.to_lowercase(), meta.name),
        };
        format!("More about one: kubectl pdb why-pending {} -n {}\n", safe(&name), safe(meta.ns()))
    });
    format!("\n{}\n{}", wrap(&text, screen.prose_width(), 0), example.unwrap_or_default())
}

/// The cause in one line.
fn headline(item: &Item) -> String {
    let rank = |f: &&Finding| match (f.severity, f.code) {
        (_, Code::StaleCondition) => 9,
        (Severity::Error, _) => 0,
        (Severity::Warning, _) => 1,
        (Severity::Info, Code::FitsNow | Code::NominatedWaits | Code::OtherScheduler) => 0,
        (Severity::Info, _) => 3,
    };
    match item.findings.iter().min_by_key(rank) {
        Some(f) => f.message.clone(),
        None if item.stage == Stage::Bound => "it is starting".to_owned(),
        None if item.stage == Stage::NotCreated => "no cause is seen".to_owned(),
        None => "-".to_owned(),
    }
}

/// The whole story of one item.
fn story(item: &Item, state: &State, screen: &Screen) -> String {
    let width = screen.prose_width();
    let mut out = format!("{}\n", paint(&wrap(&safe(&first_line(item, state)), width, 0), Tone::Strong));
    if let Some(p) = &item.placement {
        out.push_str(&format!("{}\n", wrap(&safe(&placed(p)), width, 0)));
        if let Some(s) = &item.scheduling {
            out.push_str(&nodes(&s.pod, s, state, screen));
        }
    } else if let Subject::Pod(pod) = &item.subject {
        out.push_str(&format!("{}\n", wrap(&safe(&demands(item, pod)), width, 0)));
        if let Some(s) = &item.scheduling {
            out.push_str(&nodes(pod, s, state, screen));
        }
    }
    let findings: Vec<&Finding> = item.findings.iter().filter(|f| f.code != Code::StaleCondition).collect();
    if !findings.is_empty() {
        out.push('\n');
        findings.iter().for_each(|f| out.push_str(&paragraph(f, screen)));
    }
    let cures = remedies(item.findings.iter(), "to let the pod run", screen);
    if !cures.is_empty() {
        out.push_str(&format!("\n{cures}"));
    }
    out.push_str(&said(item, state, screen));
    out
}

/// The whole answer in one sentence.
fn first_line(item: &Item, state: &State) -> String {
    let meta = item.subject.meta();
    let since = meta.creation_timestamp.map(|t| format!(" ({})", age(t, state.snapshot().now))).unwrap_or_default();
    let path = meta.path();
    let name = |id: NodeId| state.node(id).map(|n| n.name().to_string()).unwrap_or_default();
    if let Some(p) = &item.placement {
        let what = format!("{} {path}", item.subject.kind());
        return match p.wanted - p.placed {
            0 => format!("{what}: all {} would fit.", count(p.wanted, "pod")),
            _ => format!("{what}: {} of {} would fit; the next does not: {}", p.placed, p.wanted, headline(item)),
        };
    }
    match (&item.subject, item.stage, &item.scheduling) {
        (Subject::Workload(w), ..) => {
            format!("{} {path} lacks {}: {}", w.kind, count(item.missing, "pod"), headline(item))
        }
        (_, Stage::Gated, _) => format!("{path}: {}{since}.", headline(item)),
        (_, Stage::Bound, _) => format!("{path} has its node and has not started{since}: {}", headline(item)),
        (_, _, None) => format!("{path} has no node{since}: {}", headline(item)),
        (_, _, Some(s)) if !s.fits.is_empty() => {
            format!("{path} fits now{since}: {} would take it.", some(s.fits.iter().map(|id| name(*id))))
        }
        (_, _, Some(s)) => match (&s.preemption.chosen, s.preemption.outcome) {
            (Some(c), _) => {
                let victims = some(c.victims.iter().map(|v| v.pod.meta.path()));
                format!(
                    "{path}: no node takes it{since}; preemption would make room on {} by taking {victims}.",
                    name(c.node)
                )
            }
            (None, PreemptionOutcome::NotEligible) => {
                format!("{path}: no node takes it{since}, and it does not preempt now.")
            }
            (None, PreemptionOutcome::NotTried) => format!("{path}: refused before any node is looked at{since}."),
            (None, _) => format!("{path}: no node takes it{since}, and preemption cannot help."),
        },
    }
}

fn placed(p: &Placement) -> String {
    if p.nodes.is_empty() {
        return "None of them finds a node.".to_owned();
    }
    let each = p.nodes.iter().map(|(name, n)| if *n == 1 { name.to_string() } else { format!("{n} on {name}") });
    format!("Likely nodes: {}.", some(each))
}

fn demands(item: &Item, pod: &Pod) -> String {
    let asks = if item.asks.is_empty() { "nothing in particular".to_owned() } else { item.asks.join(", ") };
    let owner = item.owner.as_ref().map(|w| format!(" It belongs to {} {}.", w.kind, w.meta.name));
    format!("It asks {asks}; priority {}.{}", pod.priority(), owner.unwrap_or_default())
}

/// A row of the table of nodes: what speaks against them, and what preemption would do there.
type NodeRow = (String, String, Vec<NodeId>);

fn nodes(pod: &Arc<Pod>, s: &Scheduling, state: &State, screen: &Screen) -> String {
    let mut rows: Vec<NodeRow> = Vec::new();
    let each = state.nodes().len() <= 200;
    for group in &s.groups {
        for id in &group.nodes {
            // Amounts differ from node to node: they are told for small clusters, groups for large ones.
            let why = why_not(&group.refusals, pod, *id, state, each);
            let how = at_node(s, *id);
            match rows.iter_mut().find(|(w, h, _)| *w == why && *h == how) {
                Some((_, _, ids)) => ids.push(*id),
                None => rows.push((why, how, vec![*id])),
            }
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    rows.sort_by_key(|(_, _, ids)| ids.first().copied());
    let cut_off = rows.len().saturating_sub(MOST_ROWS);
    let mut table = Table::new(["NODE", "WHY NOT", "PREEMPTION"]).indented(2);
    let room = screen.width.map(|w| w.saturating_sub(48).max(30));
    for (why, how, ids) in rows.iter().take(MOST_ROWS) {
        let names = ids.iter().filter_map(|id| state.node(*id)).map(|n| n.name().clone());
        let names = if ids.len() > 2 && !screen.wide() {
            let first = names.take(1).next().map(|n| n.to_string()).unwrap_or_default();
            format!("{first} and {} more", ids.len() - 1)
        } else {
            names.map(|n| n.to_string()).collect::<Vec<_>>().join(", ")
        };
        let why = room.map_or_else(|| why.clone(), |r| cut(why, r));
        table.row([names.into(), why.into(), how.clone().into()]);
    }
    let more = if cut_off > 0 { format!("  … {cut_off} more rows: -o json has every node\n") } else { String::new() };
    format!("\n{}{more}", table.render(screen))
}

/// More rows than this are no table to read.
const MOST_ROWS: usize = 30;

fn why_not(refusals: &[Status], pod: &Arc<Pod>, id: NodeId, state: &State, amounts: bool) -> String {
    let detail = |r: &Reason| match state.node(id) {
        Some(n) if amounts => detail::detail(r, pod, n, state),
        _ => String::new(),
    };
    let each = refusals.iter().flat_map(|s| &s.reasons).map(|r| {
        let detail = detail(r);
        match r {
            Reason::Insufficient(what) if !detail.is_empty() => format!("{what}: {detail}"),
            Reason::TooManyPods if !detail.is_empty() => format!("full: {detail}"),
            Reason::Taint if !detail.is_empty() => format!("taint {detail}"),
            Reason::Ports if !detail.is_empty() => format!("port {detail}"),
            r => short(r),
        }
    });
    each.collect::<Vec<_>>().join("; ")
}

/// A reason in few words.
fn short(r: &Reason) -> String {
    match r {
        Reason::Unschedulable => "cordoned".to_owned(),
        Reason::NodeAffinity => "selector or affinity".to_owned(),
        Reason::Spread => "would make the spread too uneven".to_owned(),
        Reason::SpreadLabel => "lacks the label of the spread".to_owned(),
        Reason::PodAffinity => "not beside the pods it wants".to_owned(),
        Reason::PodAntiAffinity => "beside pods it avoids".to_owned(),
        Reason::ExistingAntiAffinity => "beside pods that avoid it".to_owned(),
        Reason::VolumeNodeAffinity => "its volume is elsewhere".to_owned(),
        Reason::NoVolumeToBind => "no volume to bind".to_owned(),
        Reason::Words(w) if w.starts_with("node(s) didn't satisfy plugin") => {
            "left out: bound to another node".to_owned()
        }
        other => other.text().trim_start_matches("node(s) ").to_owned(),
    }
}

/// What preemption would do on a node.
fn at_node(s: &Scheduling, id: NodeId) -> String {
    let p = &s.preemption;
    if let Some(c) = p.candidates.iter().find(|c| c.node == id) {
        let chosen = if p.chosen.as_ref().is_some_and(|x| x.node == id) { "chosen: " } else { "could " };
        let names = some(c.victims.iter().map(|v| v.pod.meta.name.clone()));
        let violates = if c.violations > 0 { format!(" ({} against a budget)", c.violations) } else { String::new() };
        return format!("{chosen}take {names}{violates}");
    }
    match (p.outcome, p.failure(id)) {
        (PreemptionOutcome::NotTried | PreemptionOutcome::NotEligible, _) => "not tried".to_owned(),
        (_, Some(f)) if f.reasons.contains(&Reason::NoVictims) => "nothing of lower priority there".to_owned(),
        (_, Some(f)) => format!("not enough: {}", f.reasons.first().map(short).unwrap_or_default()),
        (PreemptionOutcome::Found, None) if looked_at(s, id) => "not looked at".to_owned(),
        (_, None) => "cannot help".to_owned(),
    }
}

/// Whether preemption would look at the node at all.
fn looked_at(s: &Scheduling, id: NodeId) -> bool {
    let group = s.groups.iter().find(|g| g.nodes.binary_search(&id).is_ok());
    group.and_then(|g| g.refusals.first()).is_some_and(|r| r.resolvable)
}

/// What kube-scheduler says now, and what is recorded.
fn said(item: &Item, state: &State, screen: &Screen) -> String {
    let Subject::Pod(pod) = &item.subject else { return String::new() };
    let mut out = String::new();
    let width = screen.prose_width();
    let now = item.scheduling.as_ref().map_or("", |s| &s.message);
    if !now.is_empty() {
        out.push_str(&format!("\nkube-scheduler would write now\n  {}\n", wrap(&safe(now), width, 2)));
    }
    let condition = pod.condition("PodScheduled").filter(|c| !c.message.is_empty());
    if let (Some(c), Stage::Unscheduled | Stage::Nominated) = (condition, item.stage) {
        let ago = c.since.map(|t| state.snapshot().now.duration_since(t).as_secs());
        let ago = ago.map(|s| format!(" {} ago", duration_words(s.max(0)))).unwrap_or_default();
        if &*c.message == now {
            out.push_str(&format!("It wrote the same{ago}.\n"));
        } else {
            out.push_str(&format!("\nrecorded{ago}\n  {}\n", wrap(&safe(&c.message), width, 2)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending::Request;
    use crate::render::Format;
    use crate::sched::testing::{cluster, node, pod};
    use serde_json::json;

    #[test]
    fn what_is_assumed_is_said_once_and_where_it_matters() {
        // Two pods fit on the node, and the scheduler refused them some minutes ago; or a taint keeps them away.
        let table = View::Table { all_namespaces: false };
        for (minutes, taints, view, said) in [
            (6, json!([]), table, 1),
            (4, json!([]), table, 0),
            (6, json!([{"key": "k", "effect": "NoSchedule"}]), table, 0),
            (6, json!([]), View::Detail, 1),
            (6, json!([{"key": "k", "effect": "NoSchedule"}]), View::Detail, 1),
        ] {
            let condition = json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/1 nodes are available", "lastTransitionTime": format!("2026-01-01T11:{:02}:00Z", 60 - minutes)});
            let p = |name: &str| pod(name, json!({"status": {"conditions": [condition]}}));
            let snapshot = cluster(&[node("n", json!({"spec": {"taints": taints}})), p("a"), p("b")]);
            let state = State::new(&snapshot);
            let request = Request { targets: Vec::new(), namespace: Some("a".to_owned()), selector: None };
            let items = crate::pending::pending(&request, &snapshot, &state).unwrap().items;
            let screen = Screen { format: Format::Text, width: None, no_headers: false };
            let text = text(&items, &[], &state, &screen, view);
            let title = format!("{minutes} min, {taints}, {view:?}: {text}");
            assert_eq!(text.matches("Assumed:").count(), said, "{title}");
        }
    }
}
