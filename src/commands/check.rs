//! `check`: what manifests would do, before they are applied.

use crate::answer::Answer;
use crate::check::{Checked, Content, Ignores, Options, check};
use crate::cli::{CheckArgs, Global, Level};
use crate::error::{Failure, Result};
use crate::file::documents;
use crate::finding::Finding;
use crate::render::{self, Format};
use crate::report::check::{CheckItem, CheckReport};
use crate::report::{API_VERSION, Document, Source};
use jiff::Timestamp;

/// Runs the command.
pub fn run(args: &CheckArgs, global: &Global) -> Result<Answer> {
    let paths = if args.files.is_empty() { &global.from } else { &args.files };
    if paths.is_empty() {
        return Err(Failure::usage("no manifests are given").hint("give a file, a folder or - with -f"));
    }
    let manifests = documents(paths)?;
    if manifests.iter().all(|m| m.content == Content::NoObject) {
        return Err(Failure::bad_input(format!("{}: no Kubernetes object in it", paths.join(", ")))
            .hint("give .yaml, .yml or .json files, or what helm template prints with -f -"));
    }
    let options = Options {
        namespace: global.namespace.clone().filter(|n| !n.is_empty()).unwrap_or_else(|| "default".to_owned()),
        require_budgets: args.require_budgets,
        ignores: ignores(args)?,
    };
    let outcome = check(&manifests, &options);
    let status = exit_status(&outcome.items, args.fail_on);
    let item = |checked: &Checked| {
        let mut item = CheckItem::from(checked);
        item.findings.retain(|f| args.severity.takes(f.severity));
        item
    };
    let report = CheckReport {
        items: outcome.items.iter().map(item).collect(),
        changes: Vec::new(),
        ignored: outcome.ignored,
        skipped: outcome.skipped,
    };
    let document = Document {
        api_version: API_VERSION,
        kind: "CheckReport",
        generated_at: Timestamp::now(),
        source: Source {
            context: None,
            server: None,
            files: paths.clone(),
            server_version: None,
            now: Timestamp::now(),
        },
        complete: !outcome.items.iter().any(Checked::is_unknown),
        gaps: Vec::new(),
        findings: Vec::new(),
        body: report,
    };
    let screen = global.screen();
    let fails = |finding: &Finding| args.fail_on.takes(finding.severity);
    let text = match screen.format {
        Format::Json => render::json(&document)?,
        Format::Yaml => render::yaml(&document)?,
        Format::Sarif => render::json(&render::check::sarif::log(&document.body))?,
        Format::Junit => render::check::junit::suites(&document.body, fails),
        Format::Github => render::check::github::annotations(&document.body),
        Format::Html => render::html::check(&document),
        Format::JsonPath | Format::CustomColumns => render::templated(&document, &global.output(), &screen)?,
        format @ Format::Csv => return Err(super::not_written("check", format)),
        Format::Name => render::check::names(&document.body),
        Format::Text | Format::Wide => render::check::text(&document.body, &screen),
    };
    Ok(Answer { text, warnings: Vec::new(), nothing: None, status })
}

fn ignores(args: &CheckArgs) -> Result<Ignores> {
    let mut all = args.ignore.clone();
    for file in &args.ignore_file {
        let text = std::fs::read_to_string(file)
            .map_err(|e| Failure::bad_input(format!("{file}: cannot be read")).caused_by(e))?;
        all.extend(Ignores::parse(&text).map_err(|e| Failure::usage(format!("{file}: {e}")))?);
    }
    Ok(Ignores(all))
}

fn exit_status(items: &[Checked], fail_on: Level) -> u8 {
    if items.iter().flat_map(|c| &c.findings).any(|f| fail_on.takes(f.severity)) {
        2
    } else if items.iter().any(Checked::is_unknown) {
        3
    } else {
        0
    }
}
