//! The real control plane as the judge of kubectl-pdb. See README.md.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

mod api;
mod cases;
mod certs;
mod components;
mod cured;
mod drained;
mod generate;
mod health;
mod judge;
mod kinds;
mod kubectl;
mod kubelet;
mod lane;
mod load;
mod mirror;
mod objects;
mod plane;
mod process;
mod product;
mod proxy;
mod random;
mod remedies;
mod reset;
mod runs;
mod scheduling;
mod shared;
mod snapshot;
mod tables;
mod truth;
mod webhooks;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};

use components::Version;
use generate::pending::Purpose;
use judge::Tally;
use product::Product;
use runs::cures::Subject;
use runs::pending::Pending;
use runs::{Settings, over_lanes, over_seeds};
use shared::Shared;

/// Holds kubectl-pdb against the real control plane.
#[derive(Parser)]
#[command(name = "controlplane")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Common {
    /// The Kubernetes version of the control plane
    #[arg(long, value_enum, default_value = "1.36", global = true)]
    version: Version,
    /// The kubectl-pdb to judge (default: the one beside this program)
    #[arg(long, global = true)]
    product: Option<PathBuf>,
    /// Where cases of disagreement are written
    #[arg(long, default_value = "/tmp/misses", global = true)]
    misses: PathBuf,
    /// Write the worlds of `drain` and `cures` as cases also where all agree
    #[arg(long, global = true)]
    keep: bool,
    /// How many disagreements are printed
    #[arg(long, default_value_t = 20, global = true)]
    show: usize,
}

#[derive(Args)]
struct Seeds {
    /// The seeds: `A..B` (without B), or one
    #[arg(long, value_parser = seeds, default_value = "0..3")]
    seeds: Range<u64>,
}

#[derive(Args)]
struct Lanes {
    #[command(flatten)]
    seeds: Seeds,
    /// How many worlds there are at the same time, on one control plane
    #[arg(long, default_value_t = 8)]
    lanes: usize,
}

#[derive(Subcommand)]
enum Command {
    /// Build the components and end
    Build,
    /// Write what upstream's own code says of texts (quantities, times, selectors …) to tests/tables
    Tables,
    /// Random workloads and budgets: the budgets' numbers and every pod's eviction
    Budgets(Seeds),
    /// Random Pending pods: the scheduler's message word for word
    Pending(Seeds),
    /// Random preemptors: the nominated node and the victims
    Preempt(Seeds),
    /// Random claims of devices: where they fit, and the scheduler's message where nowhere
    Devices(Seeds),
    /// Random queues of Pending pods: who is bound at the end
    Queue(Seeds),
    /// Random worlds under real controllers: the plan against the real `kubectl drain`
    Drain(Lanes),
    /// Random manifests, judged before they are applied: the budgets' numbers and a real drain say what is right
    Check(Lanes),
    /// Worlds in trouble: the commands of each verified remedy are run, and what they promise is looked for
    Cures {
        /// What is in trouble
        subject: Subject,
        #[command(flatten)]
        lanes: Lanes,
    },
    /// A few fixed seeds of everything, on both versions
    Short,
    /// The product's own client against this API server: tokens, refusals, faults; the audit log shows what it asked
    Live,
    /// Write random clusters with the control plane's answers, for tests that need no control plane
    Record {
        /// What kind
        what: What,
        #[command(flatten)]
        seeds: Seeds,
        /// The folder to write to
        #[arg(long)]
        out: PathBuf,
    },
    /// Put recorded cases through the control plane and compare with what was recorded
    Replay {
        /// Folders with a cluster.json and a truth.json, at any depth
        #[arg(required = true)]
        folders: Vec<PathBuf>,
    },
}

/// A kind of random cluster.
#[derive(Clone, Copy, clap::ValueEnum)]
enum What {
    Budgets,
    Pending,
    Preempt,
    Devices,
    Drain,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(tally) if !tally.failures.is_empty() => ExitCode::from(2),
        Ok(tally) if !tally.misses.is_empty() => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs the command and prints the figures.
fn run(cli: Cli) -> Result<Tally> {
    process::clean_up_on_signals()?;
    if let Command::Tables = cli.command {
        println!("{}", tables::write(Version::V1_36)?.display());
        return Ok(Tally::default());
    }
    let Common { version, product, misses, keep, show } = cli.common;
    let product = match cli.command {
        Command::Build | Command::Tables | Command::Replay { .. } | Command::Record { .. } => None,
        _ => Some(Product::find(product)?),
    };
    if let (Command::Short, Some(product)) = (&cli.command, &product) {
        return Ok(report(runs::short::run(product, &misses)?, show));
    }
    let settings = Settings { keep, ..Settings::new(version, product, misses)? };
    let tally = match cli.command {
        Command::Build | Command::Tables | Command::Short => Tally::default(),
        Command::Budgets(Seeds { seeds }) => over_seeds(seeds, |seed| runs::budgets::run(&settings, seed))?,
        Command::Pending(Seeds { seeds }) => runs::pending::over(&settings, seeds, Purpose::Messages)?,
        Command::Preempt(Seeds { seeds }) => runs::pending::over(&settings, seeds, Purpose::Preemption)?,
        Command::Devices(Seeds { seeds }) => runs::devices::over(&settings, seeds)?,
        Command::Queue(Seeds { seeds }) => runs::queue::over(&settings, seeds)?,
        Command::Drain(Lanes { seeds, lanes }) => {
            let shared = Shared::start(&settings)?;
            over_lanes(seeds.seeds, lanes, |seed| runs::drain::run(&settings, &shared, seed))
        }
        Command::Check(Lanes { seeds, lanes }) => {
            let shared = Shared::start(&settings)?;
            over_lanes(seeds.seeds, lanes, |seed| runs::check::run(&settings, &shared, seed))
        }
        Command::Cures { subject, lanes: Lanes { seeds, lanes } } => {
            let shared = Shared::start(&settings)?;
            over_lanes(seeds.seeds, lanes, |seed| runs::cures::run(&settings, &shared, subject, seed))
        }
        Command::Live => runs::live::run(&settings)?,
        Command::Record { what, seeds, out } => {
            record(&settings, what, seeds.seeds, &out)?;
            Tally::default()
        }
        Command::Replay { folders } => replay(&settings, &folders, show)?,
    };
    Ok(report(tally, show))
}

/// Prints the figures.
fn report(tally: Tally, show: usize) -> Tally {
    print!("{}{}", tally.details(show), tally.summary());
    tally
}

fn replay(settings: &Settings, folders: &[PathBuf], show: usize) -> Result<Tally> {
    let mut tally = Tally::default();
    for folder in folders.iter().flat_map(|root| cases::folders(root)) {
        let one = runs::replay::run(settings, &folder).with_context(|| folder.display().to_string())?;
        if !one.misses.is_empty() {
            eprintln!("{}\n{}", folder.display(), one.details(show));
        }
        tally.merge(one);
    }
    Ok(tally)
}

fn record(settings: &Settings, what: What, seeds: Range<u64>, out: &Path) -> Result<()> {
    let (mut run, mut shared) = (None, None);
    for seed in seeds {
        let (name, list, truth) = match what {
            What::Budgets => {
                let seen = runs::budgets::record(settings, seed)?;
                let truth = cases::status_truth(&settings.components.version, &seen.budgets, &seen.evictions, None);
                (format!("budget-{seed}"), seen.list, truth)
            }
            What::Drain => {
                let shared = match &mut shared {
                    Some(shared) => shared,
                    none => none.insert(Shared::start(settings)?),
                };
                let seen = runs::drain::record(shared, seed).with_context(|| format!("seed {seed}"))?;
                (format!("drain-{seed}"), seen.list, seen.truth)
            }
            What::Devices => {
                let run = match &mut run {
                    Some(run) => run,
                    none => none.insert(Pending::start(settings)?),
                };
                let last = runs::devices::rounds(run, seed).with_context(|| format!("seed {seed}"))?.pop();
                let seen = last.context("no round was made")?;
                (format!("devices-{seed}"), seen.list, seen.scheduled.to_json())
            }
            What::Pending | What::Preempt => {
                let (name, purpose) = match what {
                    What::Pending => ("pending", Purpose::Messages),
                    _ => ("preempt", Purpose::Preemption),
                };
                let run = match &mut run {
                    Some(run) => run,
                    none => none.insert(Pending::start(settings)?),
                };
                let seen = run.record(seed, purpose).with_context(|| format!("seed {seed}"))?;
                (format!("{name}-{seed}"), seen.list, seen.scheduled.to_json())
            }
        };
        println!("{}", cases::write(out, &name, &list, &truth)?.display());
    }
    Ok(())
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let number = |part: &str| part.parse::<u64>().map_err(|e| format!("{part}: {e}"));
    match text.split_once("..") {
        Some((first, end)) => Ok(number(first)?..number(end)?),
        None => number(text).map(|one| one..one + 1),
    }
}
