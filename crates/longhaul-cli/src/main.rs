//! The `longhaul` command, with one file or folder per subcommand; `args.rs` defines the command line, `failure.rs` the
//! errors.

mod agents;
mod api_url;
mod args;
mod chat;
mod compact;
mod config;
mod doctor;
mod failure;
mod gateway_store;
mod inspect;
mod logging;
mod manual;
mod mcp;
mod notes;
mod output;
mod progress;
mod purge;
mod reading;
mod recall;
mod replay;
mod running_gateways;
mod savings;
mod serve;
mod settings;
mod show;
mod signals;
mod sim;
mod table;
mod target;
mod terminal;
mod text;
mod wrap;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, CliCommand};
use failure::{CliError, CliOutcome};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(asked) => return shown(&asked),
    };
    let code = match run(args) {
        Ok(outcome) => outcome.into(),
        Err(failure) => failure.report(),
    };
    longhaul_telemetry::finish();
    code
}

/// Shows the help, the version, or what is wrong with the arguments.
fn shown(asked: &clap::Error) -> ExitCode {
    match asked.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            CliError::Stdout(error).report()
        }
        _ => ExitCode::from(u8::try_from(asked.exit_code()).unwrap_or(2)),
    }
}

fn run(args: Args) -> Result<CliOutcome, CliError> {
    let mut settings = settings::CommandSettings::from(&args.global);
    if matches!(
        args.command,
        CliCommand::Chat(_) | CliCommand::Serve(_) | CliCommand::Wrap(_)
    ) {
        settings.exporting = logging::ExportPolicy::IfAsked;
    }
    let has_screen = match &args.command {
        CliCommand::Chat(chat) => !chat.print,
        CliCommand::Wrap(_) => true,
        _ => false,
    };
    if has_screen {
        settings.log_lines = logging::LogLinePolicy::NotOnScreen;
    }
    match args.command {
        // These two must work with any configuration.
        CliCommand::Completions(command) => manual::completions(&command),
        CliCommand::Man(command) => manual::man(&command),
        CliCommand::Chat(command) => chat::run(&command, &settings),
        CliCommand::Compact(command) => compact::run(&command, &settings),
        CliCommand::Config(command) => config::run(&command, &settings),
        CliCommand::Doctor(command) => doctor::run(&command, &settings),
        CliCommand::Inspect(command) => inspect::run(&command, &settings),
        CliCommand::Mcp(command) => mcp::run(&command, &settings),
        CliCommand::Notes(command) => notes::run(&command, &settings),
        CliCommand::Purge(command) => purge::run(&command, &settings),
        CliCommand::Recall(command) => recall::run(&command, &settings),
        CliCommand::Replay(command) => replay::run(&command, &settings),
        CliCommand::Savings(command) => savings::run(&command, &settings),
        CliCommand::Serve(command) => serve::run(&command, &settings),
        CliCommand::Show(command) => show::run(&command, &settings),
        CliCommand::Sim(command) => sim::run(&command, &settings),
        CliCommand::Wrap(command) => wrap::run(&command, &settings),
    }
}
