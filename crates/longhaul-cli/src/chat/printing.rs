//! `longhaul chat -p`: prompts from the command line and from a pipe, answers on stdout.

use std::io::{BufRead, BufReader, IsTerminal, Read};

use longhaul::hooks::EndReason;
use longhaul_agent::agent::UserPrompt;
use longhaul_agent::host::TextCommands;
use longhaul_agent::print::{self, PrintFormat, PrintOptions, PromptQueue};

use super::prepare::PreparedAgent;
use super::{cancel_on_signals, start};
use crate::args::{ChatArgs as Command, InputFormat, OutputFormat};
use crate::failure::{CliError, CliOutcome, tell};
use crate::settings::CommandSettings;
use crate::text::clean;

/// The prompt: the argument and the piped input. A stream of prompts is read while they are answered.
pub(super) fn prompts(command: &Command) -> Result<PromptQueue, CliError> {
    let given = command.prompt.as_deref().unwrap_or_default().trim();
    let is_piped = !std::io::stdin().is_terminal();
    if command.input_format == InputFormat::StreamJson {
        let first = (!given.is_empty()).then(|| UserPrompt::text(given));
        let input: Box<dyn BufRead + Send> = if is_piped {
            Box::new(BufReader::new(std::io::stdin()))
        } else {
            Box::new(std::io::empty())
        };
        return Ok(PromptQueue::from_lines(first, input));
    }
    let mut piped = Vec::new();
    if is_piped {
        let mut stdin = std::io::stdin().lock();
        stdin.read_to_end(&mut piped).map_err(CliError::Stdin)?;
    }
    let piped = String::from_utf8_lossy(&piped);
    let parts = [given, piped.trim()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        Err(CliError::NoPrompt)
    } else {
        Ok(vec![UserPrompt::text(parts.join("\n\n"))].into())
    }
}

pub(super) async fn run(
    command: &Command,
    given: &CommandSettings,
    made: PreparedAgent,
    prompts: PromptQueue,
) -> Result<CliOutcome, CliError> {
    for notice in &made.notices {
        tell(&clean(notice));
    }
    // The offline model must answer until the end.
    let _offline = made.offline;
    let opened = made.builder.open(start(command)).await;
    let (mut agent, mut events) = opened.map_err(|error| CliError::Agent { error })?;
    cancel_on_signals(agent.cancellation().clone())?;
    let options = PrintOptions {
        format: match command.output_format {
            OutputFormat::Text => PrintFormat::Text,
            OutputFormat::Json => PrintFormat::Json,
            OutputFormat::StreamJson => PrintFormat::StreamJson,
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
    Ok(CliOutcome::Worked(
        printed.map_err(CliError::Stdout)?.code(),
    ))
}
