//! `why-pending` as text: all that does not run by cause, or the whole story of each item that was named.

use super::Screen;
use super::digest::{self, Depth};
use super::findings::{paragraph, remedies};
use super::style::{Tone, paint, safe};
use super::table::{Cell, Table, wrap};
use crate::finding::{Code, Finding, Severity};
use crate::lists::count;
use crate::pending::facts::some;
use crate::pending::item::Placement;
use crate::pending::scheduling::Scheduling;
use crate::pending::{Item, Stage, Subject, detail, recorded};
use crate::report::Document;
use crate::report::digest::{Told, problems};
use crate::report::pending::{PendingItem, PendingReport, PendingRow};
use crate::sched::preemption::PreemptionOutcome;
use crate::sched::{ASSUMED, NodeId, Reason, State, Status};
use crate::snapshot::age::{age, duration_words};
use crate::snapshot::pod::{Phase, Pod};
use std::sync::Arc;

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// One row for pods of one owner with one cause.
    Many {
        /// Whether the namespace is a column.
        all_namespaces: bool,
        /// Whether each row is shown, however many there are.
        every_row: bool,
    },
    /// Each item with its whole story.
    Detail,
}

/// The answer as text.
pub fn text(document: &Document<PendingReport>, items: &[Item], state: &State, screen: &Screen, view: View) -> String {
    let mut out = match view {
        View::Many { all_namespaces, every_row } => many(document, items, state, screen, all_namespaces, every_row),
        View::Detail => {
            let said = items.iter().zip(&document.body.items);
            let stories = said.map(|(i, says)| story(i, says, state, screen)).collect::<Vec<_>>().join("\n");
            let judged = items.iter().any(|i| i.scheduling.is_some());
            if judged { format!("{stories}\n{}\n", wrap(ASSUMED, screen.prose_width(), 0)) } else { stories }
        }
    };
    out.push_str(&super::gaps(document, screen));
    out
}

/// Whether the scheduler has long refused a pod that fits.
fn contradicts(item: &Item, state: &State) -> bool {
    let fits = item.scheduling.as_ref().is_some_and(|s| !s.fits.is_empty());
    let long = |p: &Pod| recorded::refused_for_long(p, state.snapshot());
    fits && matches!(&item.subject, Subject::Pod(p) if long(p))
}

fn many(
    document: &Document<PendingReport>,
    items: &[Item],
    state: &State,
    screen: &Screen,
    all_namespaces: bool,
    every_row: bool,
) -> String {
    let report = &document.body;
    if report.items.is_empty() {
        return String::new();
    }
    let rows = report.rows();
    let whole = table(&rows, screen, all_namespaces, true);
    if screen.no_headers {
        return whole.render(screen);
    }
    let head = format!("{}\n", wrap(&summary(&report.items), screen.prose_width(), 0));
    let mut words = vec!["why-pending".to_owned()];
    match report.items.first() {
        Some(item) if !all_namespaces => words.extend(["-n".to_owned(), item.namespace.clone()]),
        _ => words.push("-A".to_owned()),
    }
    words.push("--all".to_owned());
    let all = digest::again(&document.source, &words);
    let causes_fit = whole.fits(screen);
    let with = |shown: bool, depth: Depth| {
        let mut out = head.clone();
        if shown {
            let table = if causes_fit || screen.wide() { &whole } else { &table(&rows, screen, all_namespaces, false) };
            out.push_str(&format!("\n{}", table.render(screen)));
        }
        if !screen.wide() {
            let left = digest::room(&out);
            out.push_str(&digest::groups(&problems(&rows), &document.source, screen, depth, &all, left));
            if !shown {
                out.push_str(&format!("\n{}\n", wrap(&safe(&format!("every owner: {all}")), screen.prose_width(), 2)));
            }
        }
        out
    };
    let asked = every_row || screen.wide();
    let mut out = digest::within_a_screen(rows.len(), asked, causes_fit, with);
    if items.iter().any(|i| contradicts(i, state)) {
        let text =
            format!("{ASSUMED} A pod that fits here and stays Pending for 5 minutes meets an exception of these.");
        out.push_str(&format!("\n{}\n", wrap(&text, screen.prose_width(), 0)));
    }
    out
}

/// A row for each item, comma-separated.
pub fn csv(report: &PendingReport) -> String {
    const HEADERS: &[&str] =
        &["kind", "namespace", "name", "owner", "stage", "pods", "age_seconds", "priority", "code", "why"];
    let row = |i: &PendingItem| {
        vec![
            i.kind.clone(),
            i.namespace.clone(),
            i.name.clone(),
            i.owner.clone().unwrap_or_default(),
            i.stage.to_owned(),
            i.pods().to_string(),
            i.age_seconds.map(|s| s.to_string()).unwrap_or_default(),
            i.priority.to_string(),
            i.leading().map(|f| f.code.to_string()).unwrap_or_default(),
            i.cause(),
        ]
    };
    super::template::csv(HEADERS, report.items.iter().map(row))
}

fn table(rows: &[PendingRow<'_>], screen: &Screen, all_namespaces: bool, causes: bool) -> Table {
    let mut headers = vec!["OWNER", "PODS", "STAGE", "AGE"];
    if all_namespaces {
        headers.insert(0, "NAMESPACE");
    }
    if screen.wide() {
        headers.extend(["PRIORITY", "PREEMPTION", "EXAMPLE"]);
    }
    if causes {
        headers.push("WHY");
    }
    let mut table = Table::new(headers);
    if screen.wide() && causes {
        table = table.last_below();
    }
    for row in rows {
        let first = row.first();
        let mut cells: Vec<Cell> = Vec::new();
        if all_namespaces {
            cells.push(first.namespace.clone().into());
        }
        let oldest = row.items.iter().filter_map(|i| i.age_seconds).max();
        cells.extend([
            first.owner_path().into(),
            row.weight().to_string().into(),
            Cell::toned(first.stage, if first.stuck { Tone::Bad } else { Tone::Waiting }),
            oldest.map(|s| duration_words(s).replace(' ', "")).unwrap_or_default().into(),
        ]);
        if screen.wide() {
            let priority = if first.kind == "Pod" { first.priority.to_string() } else { String::new() };
            cells.extend([priority.into(), preemption_word(first).into(), first.name.clone().into()]);
        }
        if causes {
            cells.push(first.cause().into());
        }
        table.row(cells);
    }
    table
}

fn preemption_word(item: &PendingItem) -> String {
    match &item.preemption {
        None => String::new(),
        Some(p) => match &p.node {
            Some(node) => format!("{node}, evicts {}", count(p.victims.len(), "pod")),
            None if p.message.is_empty() => String::new(),
            None => "no help".to_owned(),
        },
    }
}

/// `14 pods are not running: 6 not-created, 8 unscheduled.`
pub fn summary(items: &[PendingItem]) -> String {
    const STAGES: [&str; 6] = ["not-created", "gated", "unscheduled", "nominated", "bound", "unknown"];
    let of = |stage: &str| items.iter().filter(|i| i.stage == stage).map(PendingItem::pods).sum::<usize>();
    let said: Vec<String> = STAGES.iter().filter(|s| of(s) > 0).map(|s| format!("{} {s}", of(s))).collect();
    let total: usize = STAGES.iter().map(|s| of(s)).sum();
    let are = if total == 1 { "is" } else { "are" };
    format!("{} {are} not running or not Ready: {}.", count(total, "pod"), said.join(", "))
}

/// The whole story of one item: the cause, what to do, what speaks against each node, the scheduler's own words.
fn story(item: &Item, says: &PendingItem, state: &State, screen: &Screen) -> String {
    let width = screen.prose_width();
    let mut out = format!("{}\n", paint(&wrap(&safe(&first_line(item, says, state)), width, 0), Tone::Strong));
    let led = says.leading();
    if let Some(finding) = led.filter(|f| f.code != Code::StaleCondition && needs_cause(item)) {
        out.push_str(&format!("  {}\n", wrap(&safe(&finding.message), width, 2)));
    }
    if let Some(p) = &item.placement {
        out.push_str(&format!("{}\n", wrap(&safe(&placed(p)), width, 0)));
    } else if let Some(next) = says.state.as_ref().and_then(|s| s.next.as_ref()) {
        out.push_str(&format!("  next: {}\n", safe(next)));
    }
    let evicts = item.scheduling.as_ref().is_some_and(|s| s.preemption.chosen.is_some());
    let aim = if evicts { "to spare the pods that it evicts" } else { "to let the pod run" };
    let fixes = remedies(says.findings.iter(), aim, screen);
    if !fixes.is_empty() {
        out.push_str(&format!("\n{fixes}"));
    }
    if let (Subject::Pod(pod), None) = (&item.subject, &item.placement) {
        out.push_str(&format!("\n{}\n", wrap(&safe(&demands(says, pod)), width, 2)));
    }
    if let Some(s) = &item.scheduling {
        out.push_str(&nodes(&s.pod, s, state, screen));
    }
    let others = says.findings.iter().filter(|f| f.code != Code::StaleCondition && Some(*f) != led);
    let others: String = others.map(|f| paragraph(f, screen)).collect();
    if !others.is_empty() {
        out.push_str(&format!("\n{others}"));
    }
    out.push_str(&said(item, state, screen));
    if let Some(finding) = led {
        out.push_str(&format!("\nmore: kubectl pdb explain {}\n", finding.code));
    }
    out
}

/// Whether the first line leaves the cause to the line below it.
fn needs_cause(item: &Item) -> bool {
    item.placement.is_none() && item.scheduling.as_ref().is_some_and(|s| s.fits.is_empty())
}

/// Whether a pod with room on some node is kept from running by this.
fn is_beyond_room(finding: &Finding) -> bool {
    matches!((finding.code, finding.severity), (Code::KubeletReject, _) | (Code::SchedulerError, Severity::Error))
}

/// The whole answer in one sentence.
fn first_line(item: &Item, says: &PendingItem, state: &State) -> String {
    let meta = item.subject.meta();
    let age = meta.creation_timestamp.map(|t| age(t, state.snapshot().now).replace(' ', ""));
    let since = age.map_or_else(String::new, |age| format!(" for {age}"));
    let path = meta.path();
    let name = |id: NodeId| state.node(id).map(|n| n.name().to_string()).unwrap_or_default();
    let cause = says.cause();
    let cause = cause.trim_end_matches('.');
    if let Some(p) = &item.placement {
        let what = format!("{} {path}", item.subject.kind());
        return match p.wanted - p.placed {
            0 => format!("{what}: all {} would fit.", count(p.wanted, "pod")),
            _ => format!("{what}: {} of {} would fit; the next does not: {cause}.", p.placed, p.wanted),
        };
    }
    let pending = format!("{path}: Pending{since}");
    match (&item.subject, item.stage, &item.scheduling) {
        (Subject::Workload(w), ..) if item.missing == 0 => {
            let named = format!("{} {path}", w.kind);
            if cause.starts_with(&named) { format!("{cause}.") } else { format!("{named}: {cause}.") }
        }
        (Subject::Workload(w), ..) if &*w.kind == "CronJob" => {
            let lacks = format!("a Job of {} was not made", count(item.missing, "pod"));
            format!("CronJob {path}: {lacks}: {cause}.")
        }
        (Subject::Workload(w), ..) => format!("{} {path} lacks {}: {cause}.", w.kind, count(item.missing, "pod")),
        (Subject::Pod(pod), Stage::Bound, _) if pod.is_finished() => format!("{path}: {cause}."),
        (Subject::Pod(pod), Stage::Bound, _) => match (&says.state, says.leading()) {
            (Some(_), Some(_)) if pod.status.phase == Phase::Running => {
                let state = says.state.as_ref().map_or("", |s| s.text.trim_end_matches('.'));
                if cause.starts_with("the pod is not Pending") {
                    format!("{path}: {cause}.")
                } else {
                    format!("{path} {state}; {cause}.")
                }
            }
            (Some(_), Some(_)) => format!("{path} has its node and has not started{since}: {cause}."),
            (Some(state), None) => format!("{path} {}.", state.text),
            (None, _) => format!("{path}: {cause}."),
        },
        (_, Stage::Gated, _) | (_, _, None) => format!("{pending}: {cause}."),
        // It has room, and that is not what is missing.
        (_, _, Some(s)) if !s.fits.is_empty() && says.leading().is_some_and(is_beyond_room) => {
            format!("{pending}: {cause}.")
        }
        (_, _, Some(s)) if !s.fits.is_empty() => {
            let nodes = some(s.fits.iter().map(|id| name(*id)));
            let again = if says.scheduler.as_ref().is_some_and(|s| s.reported.is_some()) { " again" } else { "" };
            format!("{pending}: fits now on {nodes}; the scheduler has not tried{again} yet.")
        }
        (_, _, Some(s)) => match (&s.preemption.chosen, s.preemption.outcome) {
            (Some(c), _) => {
                let victims = some(c.victims.iter().map(|v| v.pod.meta.path()));
                format!(
                    "{pending}: the scheduler will evict {victims} from {} to make room; nothing to do.",
                    name(c.node)
                )
            }
            (None, PreemptionOutcome::NotEligible) => {
                format!("{pending}: no node can run it, and the scheduler does not evict other pods for it now.")
            }
            (None, PreemptionOutcome::NotTried) => format!("{pending}: refused before any node was looked at."),
            (None, _) => {
                format!("{pending}: no node can run it, and evicting pods of lower priority would not help.")
            }
        },
    }
}

fn placed(p: &Placement) -> String {
    if p.nodes.is_empty() {
        return "No node can run any of the pods.".to_owned();
    }
    let each = p.nodes.iter().map(|(name, n)| if *n == 1 { name.to_string() } else { format!("{n} on {name}") });
    format!("Likely nodes: {}.", some(each))
}

fn demands(says: &PendingItem, pod: &Pod) -> String {
    let asks = if says.asks.is_empty() { "no requests, no rules".to_owned() } else { says.asks.join(", ") };
    let owner = says.owner.as_ref().map(|w| format!("; owner {w}")).unwrap_or_default();
    format!("  pod: {asks}; priority {}{owner}", pod.priority())
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
    let mut table = Table::new(["NODE", "PREEMPTION", "WHY NOT"]).indented(2).last_below();
    for (why, how, ids) in rows.iter().take(MOST_ROWS) {
        let names = ids.iter().filter_map(|id| state.node(*id)).map(|n| n.name().clone());
        // Two long names leave no room for the rest of the row.
        let most = if screen.width.is_some_and(|width| width < 120) { 1 } else { 2 };
        let names = if ids.len() > most && !screen.wide() {
            let first = names.take(1).next().map(|n| n.to_string()).unwrap_or_default();
            format!("{first} and {} more", ids.len() - 1)
        } else {
            names.map(|n| n.to_string()).collect::<Vec<_>>().join(", ")
        };
        table.row([names.into(), how.clone().into(), why.clone().into()]);
    }
    let more = if cut_off > 0 { format!("  and {cut_off} more rows: -o json has every node\n") } else { String::new() };
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
    let mut said: Vec<String> = Vec::new();
    // Several plugins can refuse for one reason.
    for reason in each {
        if !said.contains(&reason) {
            said.push(reason);
        }
    }
    said.join("; ")
}

/// A reason in few words.
fn short(r: &Reason) -> String {
    match r {
        Reason::Unschedulable => "cordoned".to_owned(),
        Reason::NodeAffinity => "nodeSelector or nodeAffinity does not match".to_owned(),
        Reason::Spread => "topologySpreadConstraints: skew too large".to_owned(),
        Reason::SpreadLabel => "topologySpreadConstraints: the node lacks the label".to_owned(),
        Reason::PodAffinity => "podAffinity: no matching pod there".to_owned(),
        Reason::PodAntiAffinity => "podAntiAffinity: a matching pod runs there".to_owned(),
        Reason::ExistingAntiAffinity => "podAntiAffinity of a pod that runs there".to_owned(),
        Reason::VolumeNodeAffinity => "the volume cannot be reached from there".to_owned(),
        Reason::NoVolumeToBind => "no volume to bind".to_owned(),
        Reason::Words(w) if w.starts_with("node(s) didn't satisfy plugin") => {
            "not looked at: the pod is tied to another node".to_owned()
        }
        other => other.text().trim_start_matches("node(s) ").to_owned(),
    }
}

/// What preemption would do on a node.
fn at_node(s: &Scheduling, id: NodeId) -> String {
    let p = &s.preemption;
    if let Some(c) = p.candidates.iter().find(|c| c.node == id) {
        let chosen = if p.chosen.as_ref().is_some_and(|x| x.node == id) { "will" } else { "could" };
        let names = some(c.victims.iter().map(|v| v.pod.meta.name.clone()));
        let violates = if c.violations > 0 { format!(" ({} against its budget)", c.violations) } else { String::new() };
        return format!("{chosen} evict {names}{violates}");
    }
    match (p.outcome, p.failure(id)) {
        (PreemptionOutcome::NotTried | PreemptionOutcome::NotEligible, _) => "not tried".to_owned(),
        (_, Some(f)) if f.reasons.contains(&Reason::NoVictims) => "no pod of lower priority".to_owned(),
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
            out.push_str(&format!("kube-scheduler wrote these words{ago}.\n"));
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
        let table = View::Many { all_namespaces: false, every_row: false };
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
            let request = Request { namespace: Some("a".to_owned()), ..Request::default() };
            let items = crate::pending::pending(&request, &snapshot, &state).unwrap().items;
            let screen = Screen { format: Format::Text, width: None, no_headers: false };
            let report = PendingReport::new(&items, &state, true);
            let document = Document::new("PendingReport", &snapshot, &[], snapshot.now, ()).with(report);
            let text = text(&document, &items, &state, &screen, view);
            let title = format!("{minutes} min, {taints}, {view:?}: {text}");
            assert_eq!(text.matches("Assumed:").count(), said, "{title}");
        }
    }
}
