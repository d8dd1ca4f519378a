//! `check`: what manifests would do, before they are applied.

use super::{drain_plan, status, why_pending};
use crate::answer::Answer;
use crate::check::against::against;
use crate::check::{Checked, Content, Options, check};
use crate::cli::{CheckArgs, Global, Level};
use crate::error::{Failure, Result};
use crate::file::{cannot_read, documents};
use crate::finding::Finding;
use crate::finding::ignore::Ignores;
use crate::input::Scope;
use crate::render::{self, Format};
use crate::report::check::{ChangeReport, CheckItem, CheckReport};
use crate::report::{API_VERSION, Document, Need, Source};
use crate::snapshot::{Kind, Snapshot};
use jiff::Timestamp;

/// The kinds that are read of a cluster which the manifests are held against: what a drain meets, and what places pods.
pub fn needs() -> Vec<Need> {
    with_pending_and_status(drain_plan::NEEDS.to_vec())
}

fn with_pending_and_status(mut all: Vec<Need>) -> Vec<Need> {
    for need in why_pending::NEEDS.iter().chain(status::NEEDS) {
        if !all.iter().any(|known| known.kind == need.kind) {
            all.push(Need::incidental(need.kind, need.effect));
        }
    }
    all
}

/// Runs the command.
pub fn run(args: &CheckArgs, global: &Global) -> Result<Answer> {
    let paths = if args.files.is_empty() { &global.from } else { &args.files };
    if paths.is_empty() {
        return Err(Failure::usage("no manifests are given").hint("give a file, a folder or - with -f"));
    }
    let cluster = cluster(args, global)?;
    let manifests = documents(paths)?;
    if manifests.iter().all(|m| m.content == Content::NoObject) {
        return Err(Failure::bad_input(format!("{}: no Kubernetes object in it", paths.join(", ")))
            .hint("give .yaml, .yml or .json files, or what helm template prints with -f -"));
    }
    let options = Options {
        namespace: namespace(global, cluster.as_ref()),
        require_budgets: args.require_budgets,
        ignores: ignores(args)?,
    };
    let against = cluster.as_ref().map(|snapshot| against(&manifests, &options.namespace, snapshot));
    let outcome = check(&manifests, &options, against.as_ref());
    let item = |checked: &Checked| {
        let mut item = CheckItem::from(checked);
        item.findings.retain(|f| args.severity.takes(f.severity));
        item
    };
    let changes = against.as_ref().map(|a| &*a.changes).unwrap_or_default();
    let mut ignored = outcome.ignored;
    let mut findings = against.as_ref().map(|a| a.findings.clone()).unwrap_or_default();
    findings.retain(|finding| {
        let hidden =
            finding.refs.iter().any(|about| options.ignores.reason(finding.code, &about.path(), None).is_some());
        ignored += usize::from(hidden);
        !hidden
    });
    let report = CheckReport {
        items: outcome.items.iter().map(item).collect(),
        changes: changes.iter().map(ChangeReport::from).collect(),
        objects: outcome.objects,
        files: outcome.files,
        hooks: outcome.hooks,
        ignored,
        skipped: outcome.skipped,
    };
    let mut document = match &cluster {
        Some(snapshot) => {
            let needs = with_pending_and_status(drain_plan::needs_of(snapshot));
            Document::new("CheckReport", snapshot, &needs, Timestamp::now(), ()).with(report)
        }
        None => Document {
            api_version: API_VERSION,
            kind: "CheckReport",
            generated_at: Timestamp::now(),
            source: Source {
                context: None,
                server: None,
                files: Vec::new(),
                server_version: None,
                now: Timestamp::now(),
            },
            complete: true,
            gaps: Vec::new(),
            findings: Vec::new(),
            body: report,
        },
    };
    document.source.files.splice(0..0, paths.iter().cloned());
    document.complete &= !outcome.items.iter().any(Checked::is_unknown) && !against.is_some_and(|a| a.is_unknown);
    let all = outcome.items.iter().flat_map(|c| &c.findings).chain(&findings);
    let status = exit_status(all, args.fail_on, document.complete);
    findings.retain(|f| args.severity.takes(f.severity));
    document.findings = findings;
    let screen = global.screen();
    let fails = |finding: &Finding| args.fail_on.takes(finding.severity);
    let text = match screen.format {
        Format::Json => render::json(&document)?,
        Format::Yaml => render::yaml(&document)?,
        Format::Sarif => render::json(&render::check::sarif::log(&document))?,
        Format::Junit => render::check::junit::suites(&document, fails),
        Format::Github => render::check::github::annotations(&document),
        Format::Html => render::html::check(&document),
        Format::JsonPath | Format::CustomColumns => render::templated(&document, &global.output(), &screen)?,
        format @ Format::Csv => return Err(super::not_written("check", format)),
        Format::Name => render::check::names(&document.body),
        Format::Text | Format::Wide => render::check::text(&document, &screen, cluster.is_some()),
    };
    let warnings = cluster.as_ref().map(super::input_warnings).unwrap_or_default();
    Ok(Answer { text, warnings, nothing: None, status })
}

fn ignores(args: &CheckArgs) -> Result<Ignores> {
    let mut all = args.ignore.clone();
    for file in &args.ignore_file {
        let text = std::fs::read_to_string(file).map_err(|e| cannot_read(file, e))?;
        all.extend(Ignores::parse(&text).map_err(|e| Failure::usage(format!("{file}: {e}")))?);
    }
    Ok(Ignores(all))
}

/// The cluster that the manifests are held against: a snapshot of it beside the manifests, or a live one that flags name.
fn cluster(args: &CheckArgs, global: &Global) -> Result<Option<Snapshot>> {
    let from = !args.files.is_empty() && !global.from.is_empty();
    #[cfg(feature = "live")]
    let live = global.connect.any_given().is_some();
    #[cfg(not(feature = "live"))]
    let live = false;
    if !from && !live {
        return Ok(None);
    }
    if from && args.files.iter().chain(&global.from).filter(|path| *path == "-").count() > 1 {
        return Err(Failure::usage("-f - and --from - both read standard input: give a file for one of the two"));
    }
    let snapshot = global.input()?.read(&needs(), &Scope::All)?;
    super::require(&snapshot, Kind::Node)?;
    super::require(&snapshot, Kind::Pod)?;
    Ok(Some(snapshot))
}

/// The namespace of what names none: as the flag has it, else the context of a live cluster.
fn namespace(global: &Global, cluster: Option<&Snapshot>) -> String {
    if cluster.is_some_and(|snapshot| snapshot.source.server.is_some())
        && let Scope::Namespace(name) = global.scope(false)
    {
        return name;
    }
    global.namespace.clone().filter(|n| !n.is_empty()).unwrap_or_else(|| "default".to_owned())
}

fn exit_status<'f>(mut findings: impl Iterator<Item = &'f Finding>, fail_on: Level, complete: bool) -> u8 {
    if findings.any(|f| fail_on.takes(f.severity)) {
        2
    } else if complete {
        0
    } else {
        3
    }
}
