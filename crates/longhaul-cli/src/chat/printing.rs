//! `longhaul chat -p`: prompts from the command line and from a pipe, answers on stdout.

use std::io::{BufRead, BufReader, IsTerminal, Read};

use longhaul::hooks::EndReason;
use longhaul_agent::agent::Said;
use longhaul_agent::host::TextCommands;
use longhaul_agent::print::{self, Format, Options, Prompts};

use super::make::Made;
use super::{cancel_on_signals, start};
use crate::args::{Chat as Command, InputFormat, OutputFormat};
use crate::failure::{Failure, Outcome, tell};
use crate::settings::Given;
use crate::text::clean;

/// What is to be answered: the argument, and what is piped in. A stream of prompts is read while they are answered.
pub(super) fn prompts(command: &Command) -> Result<Prompts, Failure> {
    let given = command.prompt.as_deref().unwrap_or_default().trim();
    let is_piped = !std::io::stdin().is_terminal();
    if command.input_format == InputFormat::StreamJson {
        let first = (!given.is_empty()).then(|| Said::text(given));
        let input: Box<dyn BufRead + Send> = match is_piped {
            true => Box::new(BufReader::new(std::io::stdin())),
            false => Box::new(std::io::empty()),
        };
        return Ok(Prompts::from_lines(first, input));
    }
    let mut piped = Vec::new();
    if is_piped {
        let mut stdin = std::io::stdin().lock();
        stdin.read_to_end(&mut piped).map_err(Failure::Stdin)?;
    }
    let piped = String::from_utf8_lossy(&piped);
    let parts = [given, piped.trim()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    match parts.is_empty() {
        true => Err(Failure::NoPrompt),
        false => Ok(vec![Said::text(parts.join("\n\n"))].into()),
    }
}

pub(super) async fn run(
    command: &Command,
    given: &Given,
    made: Made,
    prompts: Prompts,
) -> Result<Outcome, Failure> {
    for notice in &made.notices {
        tell(&clean(notice));
    }
    // It answers until the end.
    let _offline = made.offline;
    let opened = made.builder.open(start(command)).await;
    let (mut agent, mut events) = opened.map_err(|error| Failure::Agent { error })?;
    cancel_on_signals(agent.cancellation().clone())?;
    let options = Options {
        format: match command.output_format {
            OutputFormat::Text => Format::Text,
            OutputFormat::Json => Format::Json,
            OutputFormat::StreamJson => Format::StreamJson,
        },
        commands: Some(TextCommands::new(
            &agent,
            made.workplace,
            given.env.clone(),
            made.models,
        )),
    };
    let mut out = std::io::stdout();
    let mut talk = |line: &str| tell(&clean(line));
    let printed = print::print(
        &mut agent,
        &mut events,
        prompts,
        &options,
        &mut out,
        &mut talk,
    )
    .await;
    agent.close(EndReason::Other).await;
    Ok(Outcome::Worked(printed.map_err(Failure::Stdout)?.code()))
}
