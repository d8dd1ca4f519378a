//! `drain-plan` as text: many nodes by what blocks them, or each of those that were named.

use super::Screen;
use super::digest::{self, again};
use super::findings::{paragraph, remedies};
use super::style::{Tone, paint, safe};
use super::table::{Cell, Table, wrap};
use crate::drain::actor::Actor;
use crate::drain::outcome::{Action, Outcome, Verdict};
use crate::finding::{Code, Finding};
use crate::lists::{count, some};
use crate::report::Document;
use crate::report::digest::{Told, problems, verdicts};
use crate::report::plan::{ActorReport, Blocker, DrainPlan, NodeReport, PodReport, ReplacementReport};
use crate::snapshot::Str;
use crate::snapshot::age::duration_words;

/// Pods with the same outcome are named up to this number, and counted beyond.
const NAMED: usize = 3;
/// So many blockers and rounds are told of many nodes.
const MOST: usize = 6;

/// The answer as text. `every_row`: whether each node has a row, however many there are.
pub fn text(document: &Document<DrainPlan>, screen: &Screen, every_row: bool) -> String {
    let plan = &document.body;
    if screen.no_headers && (plan.each_alone || plan.nodes.len() > 1) {
        return table(plan, screen, true).render(screen);
    }
    let mut out = String::new();
    if plan.each_alone {
        out.push_str(&preflight(document, screen, every_row));
    } else if plan.nodes.len() > 1 {
        out.push_str(&several(document, screen, every_row));
    } else {
        out.push_str(&timeline(plan, screen));
        out.push_str(&plan.nodes.iter().map(|n| detail(n, plan.actor.as_ref(), screen)).collect::<String>());
    }
    out.push_str(&by(plan, screen));
    if !document.findings.is_empty() {
        out.push('\n');
        document.findings.iter().for_each(|f| out.push_str(&paragraph(f, screen)));
    }
    out.push_str(&super::gaps(document, screen));
    out
}

/// Who drains, where that was asked, and how well that is known.
fn by(plan: &DrainPlan, screen: &Screen) -> String {
    let Some(actor) = &plan.actor else { return String::new() };
    let mut out = String::new();
    let text = format!("By {}: {}.", actor.title, actor.source);
    out.push_str(&format!("\n{}\n", wrap(&safe(&text), screen.prose_width(), 2)));
    if screen.wide() {
        for (setting, what) in &actor.settings {
            out.push_str(&format!("  {}\n", wrap(&format!("{setting}: {what}"), screen.prose_width(), 4)));
        }
    }
    out
}

/// When each node is drained, where several drains at a time were asked for.
fn timeline(plan: &DrainPlan, screen: &Screen) -> String {
    let Some(timeline) = &plan.timeline else { return String::new() };
    let width = screen.prose_width();
    let mut out = format!("\n{}\n", wrap(&safe(&timeline.summary()), width, 0));
    let mut table = Table::new(vec!["BEGINS", "ENDS", "LANE", "NODE", "VERDICT", "AFTER", "WAITS FOR"]).indented(2);
    let most = if screen.wide() { usize::MAX } else { digest::TABLE };
    for turn in timeline.turns.iter().take(most) {
        let begins = if turn.reached { duration_words(turn.begins) } else { "not begun".to_owned() };
        let ends = match turn.ends {
            _ if !turn.reached => "-".to_owned(),
            Some(ends) => duration_words(ends),
            None => "never".to_owned(),
        };
        table.row([
            begins.into(),
            ends.into(),
            turn.lane.to_string().into(),
            (&*turn.node).into(),
            Cell::verdict(turn.verdict.as_str()),
            turn.after.as_deref().unwrap_or("-").into(),
            if turn.waits_for.is_empty() { "-".to_owned() } else { turn.waits_for.join(",") }.into(),
        ]);
    }
    out.push_str(&table.render(screen));
    let mut line = |text: &str| out.push_str(&format!("  {}\n", wrap(&safe(text), width, 2)));
    if timeline.turns.len() > most {
        line(&format!("and {}: -o wide", count(timeline.turns.len() - most, "more node")));
    }
    if timeline.longest_chain.len() > 1 {
        line(&format!(
            "Longest chain: {}.",
            timeline.longest_chain.iter().map(|n| &**n).collect::<Vec<_>>().join(", then ")
        ));
    }
    if timeline.seconds.is_some_and(|s| s > 0) {
        line(&format!("Upper bounds: {}.", timeline.basis));
    }
    out
}

/// Every node alone: what blocks, then the rounds.
fn preflight(document: &Document<DrainPlan>, screen: &Screen, every_row: bool) -> String {
    let plan = &document.body;
    let mut out = format!("{}\n", wrap(&summary(&plan.nodes), screen.prose_width(), 0));
    let rows = every_row || screen.wide() || plan.nodes.len() <= digest::TABLE;
    if rows {
        let whole = table(plan, screen, true);
        let table = if whole.fits(screen) || screen.wide() { whole } else { table(plan, screen, false) };
        out.push_str(&format!("\n{}", table.render(screen)));
    }
    let all = again(&document.source, &["drain-plan".to_owned(), "--all".to_owned()]);
    let mut end = rounds(plan, screen);
    if !rows {
        end.push_str(&format!("\n{}\n", wrap(&safe(&format!("every node: {all}")), screen.prose_width(), 2)));
    }
    let others: Vec<_> = problems(&plan.nodes).into_iter().filter(|g| g.verdict != "blocked").collect();
    // What stands around the blockers is short, and each of its parts is told; the blockers get the rest of the screen.
    let taken = out.lines().count() + end.lines().count();
    let left = if rows { usize::MAX } else { digest::SCREEN.saturating_sub(taken) };
    let most = if others.is_empty() { left } else { left / 3 };
    let others = digest::groups(&others, &document.source, screen, digest::Depth::Few, &all, most);
    out.push_str(&blockers(document, screen, &all, left.saturating_sub(others.lines().count())));
    out.push_str(&others);
    out.push_str(&end);
    out
}

/// What blocks, the most nodes first: with its cause and its fix in half of the lines that are left, and one in any case; by
/// its name in the others.
fn blockers(document: &Document<DrainPlan>, screen: &Screen, all: &str, left: usize) -> String {
    let blockers = document.body.blockers();
    let mut told: Vec<String> = Vec::new();
    let mut lines = 0;
    for (at, blocker) in blockers.iter().take(MOST).enumerate() {
        let text = blocked_by(blocker, document, screen);
        let all_fit = at + 1 == blockers.len() && lines + text.lines().count() <= left;
        if at > 0 && !all_fit && lines + text.lines().count() > left / 2 {
            break;
        }
        lines += text.lines().count();
        told.push(text);
    }
    let mut rest = blockers.iter().skip(told.len()).peekable();
    let mut out = told.concat();
    if rest.peek().is_none() {
        return out;
    }
    out.push('\n');
    // The lines that count the others need room, too.
    let mut room = left.saturating_sub(lines + 4);
    let mut named = 0;
    for blocker in rest {
        let nodes = count(blocker.nodes.len(), "node");
        let words = format!("blocked: {nodes} by {} ({})", blocker.what, blocker.finding.code);
        let text = wrap(&safe(&words), screen.prose_width(), 2);
        let lines = text.lines().count();
        if lines > room {
            break;
        }
        room -= lines;
        named += 1;
        out.push_str(&format!("{text}\n"));
    }
    let words = match blockers.len() - told.len() - named {
        0 => format!("their fixes: {all}"),
        more => format!("and {}: {all}", count(more, "more cause")),
    };
    out.push_str(&format!("{}\n", wrap(&safe(&words), screen.prose_width(), 2)));
    out
}

/// `78 nodes: 5 blocked, 2 wait, 71 drain.`
pub fn summary(nodes: &[NodeReport]) -> String {
    let said = verdicts(nodes).into_iter().map(|(verdict, n)| match (verdict, n) {
        ("waits", 1) => "1 drains after waiting".to_owned(),
        ("waits", n) => format!("{n} drain after waiting"),
        ("drains", 1) => "1 drains".to_owned(),
        ("drains", n) => format!("{n} drain"),
        ("forced", n) => format!("{n} forced past a budget"),
        (verdict, n) => format!("{n} {verdict}"),
    });
    format!("{}: {}.", count(nodes.len(), "node"), said.collect::<Vec<_>>().join(", "))
}

fn blocked_by(blocker: &Blocker<'_>, document: &Document<DrainPlan>, screen: &Screen) -> String {
    let width = screen.prose_width();
    let mut out = format!(
        "\n{}: {} by {} ({})\n",
        paint("blocked", Tone::Bad),
        count(blocker.nodes.len(), "node"),
        safe(&blocker.what),
        blocker.finding.code
    );
    let mut line = |text: &str| out.push_str(&format!("  {}\n", wrap(&safe(text), width, 4)));
    line(&format!("{}: {}", if blocker.nodes.len() == 1 { "node" } else { "nodes" }, named(&blocker.nodes, 4)));
    line(&blocker.finding.message);
    let node = document.body.nodes.iter().find(|n| blocker.nodes.first() == Some(&&n.name));
    // A budget that its own drain uses up is best helped by a place for the replacement.
    let place = node
        .into_iter()
        .flat_map(|n| &n.findings)
        .filter(|f| f.code == Code::ReplacementUnschedulable && blocker.finding.code == Code::BudgetShared);
    if let Some(remedy) = place.chain([blocker.finding]).find_map(|f| f.remedies.first()) {
        line(&digest::fix(remedy));
    } else if let Some(why) = &blocker.finding.no_remedy {
        line(why);
    }
    if let Some(node) = blocker.nodes.first() {
        let words = ["drain-plan".to_owned(), node.to_string()];
        out.push_str(&format!("  more: {}\n", safe(&again(&document.source, &words))));
    }
    out
}

fn named(nodes: &[&Str], most: usize) -> String {
    some(nodes.iter().map(|n| &***n), most)
}

/// Nodes of one command: how it ends, the better order, then each node.
fn several(document: &Document<DrainPlan>, screen: &Screen, every_row: bool) -> String {
    let plan = &document.body;
    let hanging: Vec<&str> = plan.nodes.iter().filter(|n| n.verdict == Verdict::Blocked).map(|n| &*n.name).collect();
    let pods = plan.nodes.iter().flat_map(|n| &n.pods).filter(|p| p.blocks()).count();
    let first = if hanging.is_empty() {
        summary(&plan.nodes)
    } else {
        let stay = if pods == 1 { "1 pod stays" } else { &format!("{pods} pods stay") };
        format!("The drain as given does not end on {}: {stay}.", some(hanging, NAMED))
    };
    let mut out = format!("{}\n", wrap(&safe(&first), screen.prose_width(), 0));
    out.push_str(&timeline(plan, screen));
    let whole = table(plan, screen, true);
    let short = if whole.fits(screen) || screen.wide() { whole } else { table(plan, screen, false) };
    out.push_str(&format!("\n{}", short.render(screen)));
    out.push_str(&rounds(plan, screen));
    let told: Vec<&NodeReport> =
        plan.nodes.iter().filter(|n| every_row || plan.nodes.len() <= MOST || n.is_problem()).collect();
    for node in told.iter().take(if every_row { usize::MAX } else { MOST }) {
        out.push_str(&format!("\n{}", detail(node, plan.actor.as_ref(), screen)));
    }
    if !every_row && told.len() > MOST {
        out.push_str(&format!("\nand {}: --all\n", count(told.len() - MOST, "more node")));
    }
    out
}

/// A row for each node, comma-separated.
pub fn csv(plan: &DrainPlan) -> String {
    const HEADERS: &[&str] =
        &["node", "verdict", "alone", "round", "pods", "waiting", "blocked", "seconds", "code", "why", "command"];
    let row = |n: &NodeReport| {
        vec![
            n.name.to_string(),
            n.verdict.as_str().to_owned(),
            n.alone.as_str().to_owned(),
            plan.round_of(n).map(|r| r.to_string()).unwrap_or_default(),
            n.pods.len().to_string(),
            count_pods(n, |p| p.outcome == Outcome::Waits).to_string(),
            count_pods(n, PodReport::blocks).to_string(),
            n.estimate.seconds.to_string(),
            n.leading().map(|f| f.code.to_string()).unwrap_or_default(),
            n.cause(),
            n.command.clone(),
        ]
    };
    super::template::csv(HEADERS, plan.nodes.iter().map(row))
}

fn count_pods(n: &NodeReport, test: impl Fn(&PodReport) -> bool) -> usize {
    n.pods.iter().filter(|p| test(p)).count()
}

fn table(plan: &DrainPlan, screen: &Screen, causes: bool) -> Table {
    let mut headers = vec!["NODE", "VERDICT", "ROUND", "PODS", "WAITING", "BLOCKED"];
    if !plan.each_alone {
        headers.insert(2, "ALONE");
    }
    if screen.wide() {
        headers.extend(["TIME", "FLAGS"]);
    }
    if causes {
        headers.push("WHY");
    }
    let mut table = Table::new(headers);
    if screen.wide() && causes {
        table = table.last_below();
    }
    for n in &plan.nodes {
        let mut row: Vec<Cell> = vec![(&*n.name).into(), Cell::verdict(n.verdict.as_str())];
        if !plan.each_alone {
            row.push(Cell::verdict(n.alone.as_str()));
        }
        row.push(plan.round_of(n).map_or_else(|| "-".to_owned(), |r| r.to_string()).into());
        row.push(n.pods.len().to_string().into());
        row.push(count_pods(n, |p| p.outcome == Outcome::Waits).to_string().into());
        row.push(count_pods(n, PodReport::blocks).to_string().into());
        if screen.wide() {
            row.push(duration_words(n.estimate.seconds).into());
            row.push(if n.needed_flags.is_empty() { "-".to_owned() } else { n.needed_flags.join(",") }.into());
        }
        if causes {
            row.push(n.leading().map_or_else(|| "-".to_owned(), |f| f.message.clone()).into());
        }
        table.row(row);
    }
    table
}

fn detail(n: &NodeReport, actor: Option<&ActorReport>, screen: &Screen) -> String {
    let width = screen.prose_width();
    let mut out = headline(n, width);
    // That somebody drains it already is what to know first.
    for finding in n.findings.iter().filter(|f| f.code == Code::DrainInProgress) {
        out.push_str(&format!("  {}\n", wrap(&safe(&finding.message), width, 2)));
    }
    let actor = actor.filter(|a| a.name != Actor::Kubectl.as_str());
    // Never wrapped: it has to be pasted as it is. Another drainer is not started by a command.
    if actor.is_none() {
        out.push_str(&format!("\n  {}\n", paint(&safe(&n.command), Tone::Strong)));
    }
    for (flag, code) in [("--delete-emptydir-data", Code::EmptyDir), ("--force", Code::Unmanaged)] {
        out.push_str(&destroys(n, flag, code, (actor, width)));
    }
    let told: Vec<&Finding> = if screen.wide() { n.findings.iter().collect() } else { n.told() };
    let aim = match n.verdict {
        Verdict::Blocked => format!("to unblock {}", safe(&n.name)),
        Verdict::Forced => format!("to have {} drained within its budgets", safe(&n.name)),
        _ => "what can be done".to_owned(),
    };
    let fixes = remedies(told.iter().copied(), &aim, screen);
    if !fixes.is_empty() {
        out.push_str(&format!("\n{fixes}"));
    }
    if !n.pods.is_empty() {
        out.push_str(&format!("\n{}", pods(n, screen)));
    }
    // What stands above, or in the table, is not told again.
    let leading = n.leading();
    let said = |f: &&&Finding| {
        let in_table = n.pods.iter().any(|p| p.why.as_ref().is_some_and(|why| f.message.ends_with(why.as_str())));
        screen.wide() || (leading != Some(**f) && f.code != Code::DrainInProgress && !in_table)
    };
    let rest: String = told.iter().filter(said).map(|f| paragraph(f, screen)).collect();
    if !rest.is_empty() {
        out.push_str(&format!("\n{rest}"));
    }
    out.push_str(&format!("\n  {}\n", wrap(&safe(&time(n, actor)), width, 2)));
    out
}

/// The whole answer for a node: its verdict, how many pods, and the cause.
fn headline(n: &NodeReport, width: usize) -> String {
    let parts = [
        (count_pods(n, PodReport::blocks), "blocked"),
        (n.forced.len(), "deleted past a budget"),
        (count_pods(n, |p| p.outcome == Outcome::Unknown), "unknown"),
        (count_pods(n, |p| p.outcome == Outcome::Waits && p.forced_at.is_none()), "evicted after waiting"),
        (count_pods(n, |p| p.outcome == Outcome::Gone), "evicted immediately"),
        (count_pods(n, PodReport::is_ignored), "ignored"),
    ];
    let said: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}")).collect();
    let all = match n.pods.len() {
        0 => "no pods, nothing to do".to_owned(),
        total => format!("{}: {}{}", count(total, "pod"), said.join(", "), without_a_node(n)),
    };
    let (name, verdict) = (safe(&n.name), n.verdict.as_str());
    let cause = n.leading().map(|f| format!("  {}\n", wrap(&safe(&f.message), width, 2))).unwrap_or_default();
    let beside = name.len() + verdict.len() + 5 + all.len() <= width;
    let all = if beside { format!("   {all}") } else { format!("\n  {}", wrap(&all, width, 2)) };
    format!("{name}  {}{all}\n{cause}", paint(&verdict.to_uppercase(), Tone::of_verdict(verdict)))
}

/// How many pods the drain leaves Pending: a green verdict alone would hide them.
fn without_a_node(n: &NodeReport) -> String {
    let pending = count_pods(n, |p| {
        matches!(p.outcome, Outcome::Gone | Outcome::Waits)
            && matches!(p.replacement, Some(ReplacementReport::Unschedulable(_)))
    });
    match pending {
        0 => String::new(),
        n => format!("; {} cannot be scheduled afterwards", count(n, "replacement")),
    }
}

fn time(n: &NodeReport, actor: Option<&ActorReport>) -> String {
    let takes = n.duration();
    match ends(n, actor) {
        None => takes.map_or_else(|| "Nothing is evicted.".to_owned(), |takes| format!("The drain ends in {takes}.")),
        Some(ends) => match takes {
            Some(takes) if n.pods.iter().any(|p| matches!(p.outcome, Outcome::Gone | Outcome::Waits)) => {
                format!("{ends} The other pods end in {takes}.")
            }
            _ => ends,
        },
    }
}

/// How a drain ends that is blocked.
fn ends(n: &NodeReport, actor: Option<&ActorReport>) -> Option<String> {
    let blocked = Some(count_pods(n, PodReport::blocks)).filter(|_| n.verdict == Verdict::Blocked)?;
    if let Some(actor) = actor {
        return Some(by_actor(actor, blocked));
    }
    let stay = if blocked == 1 { "1 pod stays".to_owned() } else { format!("{blocked} pods stay") };
    let limit = if n.command.contains(" --timeout=") { "until --timeout" } else { "without limit (no --timeout)" };
    let errors = n.pods.iter().filter(|p| p.blocks()).all(|p| p.codes.contains(&Code::Overlap));
    Some(if errors {
        format!("The drain ends in an error: {stay}.")
    } else {
        format!("The drain does not end: {stay}. kubectl waits {limit}.")
    })
}

/// How the drain of a blocked node goes on, by another drainer than kubectl.
fn by_actor(actor: &ActorReport, blocked: usize) -> String {
    let setting = |name: &str| actor.settings.get(name).map_or("", |s| s.as_str());
    let stay = if blocked == 1 { "1 pod stays".to_owned() } else { format!("{blocked} pods stay") };
    match setting("deadline") {
        deadline if deadline.starts_with("none") => {
            let more = deadline.strip_prefix("none; ").map(|more| format!("; {more}")).unwrap_or_default();
            format!(
                "The drain does not end: {stay}. Refused evictions are tried again {}, without limit{more}.",
                setting("retry")
            )
        }
        deadline => format!("The drain is given up after {deadline}: {stay}."),
    }
}

fn destroys(n: &NodeReport, flag: &str, code: Code, (actor, width): (Option<&ActorReport>, usize)) -> String {
    let hit: Vec<String> = n
        .pods
        .iter()
        .filter(|p| p.codes.contains(&code) && matches!(p.action, Action::Evict | Action::Delete))
        .map(PodReport::path)
        .collect();
    if hit.is_empty() {
        return String::new();
    }
    let names = some(hit.iter().map(|s| &**s), NAMED);
    let text = match code {
        Code::EmptyDir if actor.is_some() => format!("risk: the emptyDir data of {names} is lost"),
        _ if actor.is_some() => format!("risk: {names} are lost for good: no controller makes a new pod"),
        Code::EmptyDir => format!("risk: {flag} destroys the emptyDir data of {names}"),
        _ => format!("risk: {flag} deletes {names} for good: no controller makes a new pod"),
    };
    format!("      {}\n", wrap(&safe(&text), width, 6))
}

fn pods(n: &NodeReport, screen: &Screen) -> String {
    let mut headers = vec!["STEP", "POD", "FATE", "WHY"];
    if screen.wide() {
        headers.splice(3..3, ["ACTION", "REPLACEMENT", "BUDGETS"]);
    }
    let mut table = Table::new(headers).indented(2).last_below();
    let mut sorted: Vec<&PodReport> = n.pods.iter().collect();
    sorted.sort_by_key(|p| (p.rank(), p.step.unwrap_or(u32::MAX)));
    let led = n.leading().map_or("", |f| f.message.as_str());
    let mut rest = &sorted[..];
    while let Some(first) = rest.first() {
        let key = (first.rank(), first.step, is_plain(first));
        let same = rest.iter().take_while(|p| (p.rank(), p.step, is_plain(p)) == key).count();
        let (group, others) = rest.split_at(same);
        if is_plain(first) && group.len() > NAMED && !screen.wide() {
            let what = format!("{} pods (-o wide names them)", group.len());
            table.row([step(first).into(), what.into(), fate(first), group_why(group).into()]);
        } else {
            group.iter().for_each(|p| table.row(row(p, led, screen)));
        }
        rest = others;
    }
    table.render(screen)
}

fn fate(p: &PodReport) -> Cell {
    let tone = match p.rank() {
        0 | 1 => Tone::Bad,
        2 | 5 => Tone::Faint,
        3 => Tone::Waiting,
        _ => Tone::Good,
    };
    Cell::toned(p.fate(), tone)
}

/// Whether there is nothing to say of the pod by itself.
fn is_plain(p: &PodReport) -> bool {
    p.is_ignored() || (p.outcome == Outcome::Gone && p.why.is_none())
}

fn step(p: &PodReport) -> String {
    match (p.blocks(), p.step) {
        (true, _) => "never".to_owned(),
        (_, Some(step)) => step.to_string(),
        _ => "-".to_owned(),
    }
}

fn group_why(group: &[&PodReport]) -> String {
    let any = |code: Code| group.iter().any(|p| p.codes.contains(&code));
    match (any(Code::DaemonSet), any(Code::Mirror)) {
        (true, true) => "DaemonSets and static pods".to_owned(),
        (true, false) => "DaemonSets".to_owned(),
        (false, true) => "static pods".to_owned(),
        _ => "-".to_owned(),
    }
}

fn row(p: &PodReport, led: &str, screen: &Screen) -> Vec<Cell> {
    let mut row: Vec<Cell> = vec![step(p).into(), p.path().into(), fate(p)];
    if screen.wide() {
        let action = match p.action {
            Action::Evict => "evict",
            Action::Delete => "delete",
            Action::Skip => "skip",
            Action::None => "none",
        };
        let new = match &p.replacement {
            Some(ReplacementReport::Node(node)) => node.to_string(),
            Some(ReplacementReport::NewNode(new)) => format!("new node of {}", new.pool),
            Some(ReplacementReport::Unschedulable(_)) => "unschedulable".to_owned(),
            None => "-".to_owned(),
        };
        let budgets = if p.budgets.is_empty() { "-".to_owned() } else { p.budgets.join(",") };
        row.extend([action.into(), new.into(), budgets.into()]);
    }
    let why = match (&p.why, &p.replacement) {
        (Some(why), _) if led.ends_with(why.as_str()) && !screen.wide() => "see above".to_owned(),
        (Some(why), _) => why.clone(),
        (None, Some(ReplacementReport::Node(node))) => format!("replacement fits on {node}"),
        _ => "-".to_owned(),
    };
    row.push(why.into());
    row
}

/// The advice for doing it in rounds: each with the one command that drains it, and what comes after it.
fn rounds(plan: &DrainPlan, screen: &Screen) -> String {
    let width = screen.prose_width();
    let blocked: Vec<&str> = plan.nodes.iter().filter(|n| n.alone == Verdict::Blocked).map(|n| &*n.name).collect();
    let mut out = match plan.order.len() {
        0 if blocked.is_empty() => return "\nNo order: whether the nodes drain is not known.\n".to_owned(),
        0 => return "\nNo node can be drained before it is unblocked.\n".to_owned(),
        1 => "\n1 round: its nodes can be drained at the same time.\n".to_owned(),
        n if plan.lower_bound == n => format!("\n{n} rounds:\n"),
        n => format!("\n{n} rounds (at least {} are needed):\n", plan.lower_bound),
    };
    for (at, round) in plan.order.iter().enumerate().take(MOST) {
        let typed = plan.actor.as_ref().is_none_or(|a| a.name == Actor::Kubectl.as_str());
        let whole = command(plan, round);
        if !typed || round.len() > MOST || screen.width.is_some_and(|w| whole.len() + 5 > w.max(80)) {
            let names: Vec<&Str> = round.iter().collect();
            let text = format!("{}: {}", count(round.len(), "node"), named(&names, 4));
            out.push_str(&format!("  {}  {}\n", at + 1, wrap(&safe(&text), width, 5)));
        } else {
            // Never wrapped: it has to be pasted as it is.
            out.push_str(&format!("  {}  {}\n", at + 1, safe(&whole)));
        }
    }
    if plan.order.len() > MOST {
        out.push_str(&format!("  and {}: -o json lists them\n", count(plan.order.len() - MOST, "more round")));
    }
    let after = match plan.after {
        "back" => "Before each next round: kubectl uncordon the nodes of the round, and wait until its pods are Ready.",
        _ => "Before each next round the nodes of the round are taken away, and their pods are Ready elsewhere.",
    };
    if plan.order.len() > 1 {
        out.push_str(&format!("  {}\n", wrap(after, width, 2)));
    }
    if !blocked.is_empty() {
        out.push_str(&format!(
            "  {}\n",
            wrap(&safe(&format!("Blocked, drain later: {}", some(blocked, NAMED))), width, 2)
        ));
    }
    out
}

/// The one command that drains the nodes of a round: the flags are those that any of its nodes needs.
fn command(plan: &DrainPlan, round: &[Str]) -> String {
    let of_round = || plan.nodes.iter().filter(|n| round.contains(&n.name)).map(|n| (&n.name, &n.command));
    let needs = |flag: &&&str| of_round().any(|(_, command)| command.contains(**flag));
    let mut line = format!("kubectl drain {}", round.iter().map(|n| &**n).collect::<Vec<_>>().join(" "));
    for flag in NEEDED.iter().filter(needs) {
        line.push_str(flag);
    }
    // The rest is what the user gave, the same for each node.
    if let Some((name, command)) = of_round().next() {
        let rest = command.strip_prefix(&format!("kubectl drain {name}")).unwrap_or_default();
        line.push_str(&NEEDED.iter().fold(rest.to_owned(), |rest, flag| rest.replace(flag, "")));
    }
    line
}

/// The flags without which kubectl refuses a node, as they stand in a command.
const NEEDED: &[&str] = &[" --ignore-daemonsets", " --delete-emptydir-data", " --force"];
