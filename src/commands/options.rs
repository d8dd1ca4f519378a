//! `options`: the flags that every command takes to find a cluster, which no command's own help repeats.

use crate::answer::Answer;
use crate::cli::Cli;
use crate::error::Result;
use crate::plugin::CLUSTER;
use clap::CommandFactory;

/// Runs the command.
///
/// # Errors
/// None: it has the form of the others.
pub fn run() -> Result<Answer> {
    let command = Cli::command();
    let mut flags = clap::Command::new("options")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .help_template("These flags can be given to every command:\n\n{options}");
    for arg in command.get_arguments().filter(|a| a.get_help_heading() == Some(CLUSTER)) {
        flags = flags.arg(arg.clone().help_heading(None::<&str>).global(false).env(None::<&str>));
    }
    Ok(Answer::new(format!("{}\n", flags.render_help().to_string().trim_end())))
}
