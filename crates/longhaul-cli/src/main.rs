//! The `longhaul` command. One file a subcommand; `args.rs` is what can be typed, `failure.rs` how it fails.

mod args;
mod books;
mod chat;
mod compact;
mod config;
mod failure;
mod inspect;
mod logging;
mod manual;
mod notes;
mod output;
mod progress;
mod purge;
mod reading;
mod recall;
mod serve;
mod settings;
mod show;
mod signals;
mod sim;
mod table;
mod target;
#[cfg(feature = "otel")]
mod telemetry;
mod terminal;
mod text;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use failure::{Failure, Outcome};

fn main() -> ExitCode {
    let code = match run(Args::parse()) {
        Ok(outcome) => outcome.into(),
        Err(failure) => failure.report(),
    };
    #[cfg(feature = "otel")]
    telemetry::finish();
    code
}

fn run(args: Args) -> Result<Outcome, Failure> {
    let mut settings = settings::Given::from(&args.global);
    if matches!(args.command, Command::Chat(_) | Command::Serve(_)) {
        settings.exporting = logging::Exporting::IfAsked;
    }
    if matches!(&args.command, Command::Chat(chat) if !chat.print) {
        settings.log_lines = logging::LogLines::NotOnScreen;
    }
    match args.command {
        // These two must work whatever is configured.
        Command::Completions(command) => manual::completions(&command),
        Command::Man(command) => manual::man(&command),
        Command::Chat(command) => chat::run(&command, &settings),
        Command::Compact(command) => compact::run(&command, &settings),
        Command::Config(command) => config::run(&command, &settings),
        Command::Inspect(command) => inspect::run(&command, &settings),
        Command::Notes(command) => notes::run(&command, &settings),
        Command::Purge(command) => purge::run(&command, &settings),
        Command::Recall(command) => recall::run(&command, &settings),
        Command::Serve(command) => serve::run(&command, &settings),
        Command::Show(command) => show::run(&command, &settings),
        Command::Sim(command) => sim::run(&command, &settings),
    }
}
