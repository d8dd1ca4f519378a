//! How long the engines take over a cluster once it is read, beside the reading itself: ratios within one run.
//!
//! `benches generate PODS NODES > FILE; cargo bench -p benches --bench engines -- FILE`

use kubectl_pdb::budget::{Selection, judge};
use kubectl_pdb::drain::options::{After, DrainOptions};
use kubectl_pdb::drain::{Request, plan};
use kubectl_pdb::pending::{self, Target, pending};
use kubectl_pdb::sched::State;
use kubectl_pdb::snapshot::Snapshot;
use std::error::Error;
use std::io::{self, Write};
use std::time::{Duration, Instant};

const RUNS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    // cargo adds flags of its own.
    let file = std::env::args().skip(1).find(|arg| !arg.starts_with("--")).ok_or("usage: engines FILE")?;
    let begun = Instant::now();
    let snapshot = kubectl_pdb::file::load(&[file], None).map_err(|e| format!("{e:?}"))?;
    let read = begun.elapsed();
    let mut out = io::stdout().lock();
    writeln!(out, "{} pods, {} nodes, read in {:.2} s", snapshot.pods.len(), snapshot.nodes.len(), read.as_secs_f64())?;
    let waiting = snapshot.pods.iter().find(|p| p.node.is_none() && !p.is_finished()).ok_or("no pod waits")?;
    let one = pending::Request {
        targets: vec![Target::Pod(waiting.meta.name.to_string())],
        namespace: Some(waiting.meta.ns().to_owned()),
        selector: None,
        not_ready: false,
    };
    let rows: [(&str, &dyn Fn()); 5] = [
        ("status of every budget", &|| status(&snapshot)),
        ("drain-plan of one node", &|| drains(&snapshot, 1)),
        ("drain-plan of every node", &|| drains(&snapshot, usize::MAX)),
        ("why-pending of one pod, by name", &|| why_pending(&snapshot, &one)),
        ("why-pending of every pod that waits", &|| why_pending(&snapshot, &pending::Request::default())),
    ];
    for (name, run) in rows {
        let took = median(run);
        let share = took.as_secs_f64() / read.as_secs_f64();
        writeln!(out, "{name:<40} {:7.2} s   {share:.2} of the reading", took.as_secs_f64())?;
    }
    Ok(())
}

fn median(run: &dyn Fn()) -> Duration {
    let mut all: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    all.sort_unstable();
    all.get(RUNS / 2).copied().unwrap_or_default()
}

fn status(snapshot: &Snapshot) {
    let selection = Selection::new(snapshot);
    (0..snapshot.budgets.len()).for_each(|at| drop(judge(snapshot, &selection, at)));
}

fn drains(snapshot: &Snapshot, most: usize) {
    let nodes = snapshot.nodes.iter().take(most).cloned().collect();
    let request = Request { nodes, each_alone: true, options: DrainOptions::default(), after: After::Back };
    drop(plan(snapshot, &Selection::new(snapshot), &request));
}

fn why_pending(snapshot: &Snapshot, request: &pending::Request) {
    drop(pending(request, snapshot, &State::new(snapshot)));
}
