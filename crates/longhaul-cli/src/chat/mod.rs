//! `longhaul chat`: an agent in a terminal, or a prompt answered on stdout.
//!
//! The agent is the library's; here it is put together from flags and settings (`make.rs`, who asks what must be asked
//! first in `asking.rs`), given a model (`model.rs`), and shown: `printing.rs` for scripts, `screen.rs` for people.

mod model;
mod prepare;
mod printing;
mod screen;
mod terminal_consent;

use std::sync::Arc;

use longhaul::session::Cancellation;
use longhaul_agent::agent::{CopyPolicy, InUsePolicy, ResumeOptions, SessionChoice};
use longhaul_agent::project_setup::Consent;

use crate::args::ChatArgs as Command;
use crate::failure::{CliError, CliOutcome, tell};
use crate::settings::{CommandSettings, given_flags};
use crate::signals::EndSignals;
use crate::text::clean;

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let config = given.resolve(given_flags([
        ("models.file", &command.models),
        ("window.cap", &command.window),
    ]))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    let ended = runtime.block_on(work(command, given, config));
    // A read of the terminal that nobody waits for must not hold the end up.
    runtime.shutdown_background();
    ended
}

async fn work(
    command: &Command,
    given: &CommandSettings,
    config: longhaul_core::config::Config,
) -> Result<CliOutcome, CliError> {
    if command.print {
        // Before anything is begun: a prompt that is missing is a mistake of the caller.
        let prompts = printing::prompts(command)?;
        let mut made = prepare::agent(command, given, config, None).await?;
        made.builder = made.builder.resuming(resuming(command, None));
        return printing::run(command, given, made, prompts).await;
    }
    let mut terminal = terminal_consent::TerminalConsent::find();
    let consent = terminal.as_mut().map(|it| it as &mut (dyn Consent + Send));
    let mut made = prepare::agent(command, given, config, consent).await?;
    let resuming = resuming(command, terminal.as_ref());
    made.builder = made.builder.resuming(resuming);
    screen::run(command, given, made).await
}

/// Which session is wanted.
fn start(command: &Command) -> SessionChoice {
    match &command.resume {
        Some(id) => SessionChoice::Resume(id.clone()),
        None if command.go_on => SessionChoice::Continue,
        None => SessionChoice::New,
    }
}

/// How a session is gone on with. Where there is a terminal and nothing was said, the user is asked about one that is in use.
fn resuming(
    command: &Command,
    terminal: Option<&terminal_consent::TerminalConsent>,
) -> ResumeOptions {
    let in_use = match (command.wait, terminal) {
        (true, _) => InUsePolicy::Wait(Arc::new(|in_use| {
            tell(&clean(&format!("{in_use}; waiting until it is free.")));
        })),
        (false, Some(_)) => InUsePolicy::Ask(Arc::new(terminal_consent::copies)),
        (false, None) => InUsePolicy::Refuse,
    };
    ResumeOptions {
        in_use,
        copy: if command.fork_session {
            CopyPolicy::Always
        } else {
            CopyPolicy::Never
        },
        branch: command.branch.clone(),
    }
}

/// Stops the agent when the process is asked to end.
fn cancel_on_signals(cancellation: Cancellation) -> Result<(), CliError> {
    let mut signals = EndSignals::listen().map_err(CliError::Runtime)?;
    tokio::spawn(async move {
        signals.received().await;
        cancellation.cancel();
    });
    Ok(())
}
