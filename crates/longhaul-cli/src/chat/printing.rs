//! `longhaul chat -p`: prompts from the command line and from a pipe, answers on stdout.

use std::io::{IsTerminal, Read};

use longhaul::hooks::EndReason;
use longhaul_agent::agent::Said;
use longhaul_agent::print::{self, Format, Options};

use super::make::Made;
use super::{signals, start};
use crate::args::{Chat as Command, InputFormat, OutputFormat};
use crate::failure::{Failure, Outcome, tell};
use crate::text::clean;

/// What is to be answered: the argument, and what is piped in.
pub(super) fn prompts(command: &Command) -> Result<Vec<Said>, Failure> {
    let mut piped = String::new();
    if !std::io::stdin().is_terminal() {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(Failure::Stdin)?;
        piped = String::from_utf8_lossy(&bytes).into_owned();
    }
    let given = command.prompt.as_deref().unwrap_or_default().trim();
    let prompts = match command.input_format {
        InputFormat::StreamJson => {
            let mut all = print::prompts(&piped)?;
            if !given.is_empty() {
                all.insert(0, Said::text(given));
            }
            all
        }
        InputFormat::Text => {
            let parts = [given, piped.trim()];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            match parts.is_empty() {
                true => Vec::new(),
                false => vec![Said::text(parts.join("\n\n"))],
            }
        }
    };
    match prompts.is_empty() {
        true => Err(Failure::NoPrompt),
        false => Ok(prompts),
    }
}

pub(super) async fn run(
    command: &Command,
    made: Made,
    prompts: Vec<Said>,
) -> Result<Outcome, Failure> {
    for notice in &made.notices {
        tell(&clean(notice));
    }
    // It answers until the end.
    let _offline = made.offline;
    let opened = made.builder.open(start(command)).await;
    let (mut agent, mut events) = opened.map_err(|error| Failure::Agent { error })?;
    let options = Options {
        format: match command.output_format {
            OutputFormat::Text => Format::Text,
            OutputFormat::Json => Format::Json,
            OutputFormat::StreamJson => Format::StreamJson,
        },
        interrupt: signals()?,
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
