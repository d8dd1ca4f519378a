//! The `kubectl-pdb` executable: reads the command line, answers, and says how it ends.

use kubectl_pdb::answer::{self, Answer};
use kubectl_pdb::cli::{Cli, Color, Command};
use kubectl_pdb::error::Result;
use kubectl_pdb::plugin::Invocation;
use kubectl_pdb::{commands, complete, logging};
use std::process::ExitCode;

fn main() -> ExitCode {
    match complete::answer_shell() {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(e) => {
            let _ = e.print(); // As below.
            return ExitCode::FAILURE;
        }
    }
    let cli = match Invocation::here().plugin().parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(e) => {
            let failed = e.use_stderr();
            let _ = e.print(); // Nothing is left to be done about a closed terminal.
            return u8::from(failed).into();
        }
    };
    match cli.global.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    logging::init(cli.global.verbosity);
    match run(&cli) {
        Ok(answer) => answer::print(&answer),
        Err(failure) => answer::print_failure(&failure),
    }
}

fn run(cli: &Cli) -> Result<Answer> {
    let global = &cli.global;
    match &cli.command {
        Command::Status(args) => commands::status::run(args, global),
        Command::DrainPlan(args) => commands::drain_plan::run(args, global),
        Command::WhyPending(args) => commands::why_pending::run(args, global),
        Command::Check(args) => commands::check::run(args, global),
        #[cfg(feature = "live")]
        Command::Snapshot(args) => commands::snapshot::run(args, global),
        Command::Explain(args) => commands::explain::run(args, global),
        Command::Schema(args) => commands::schema::run(args, global),
        Command::Completion(args) => commands::completion::run(args),
        Command::Options => commands::options::run(),
        Command::Man(args) => commands::man::run(args),
    }
}
