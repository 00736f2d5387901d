//! `longhaul chat`: an agent in a terminal, or a prompt answered on stdout.
//!
//! The agent comes from `longhaul-agent`; this module prepares it from flags and settings (`prepare.rs`;
//! `terminal_consent.rs` asks the user first where that is needed), gives it a model (`model.rs`), and shows it:
//! `printing.rs` for scripts, `screen.rs` for people; `tour.rs` prepares the tour.

mod model;
mod prepare;
mod printing;
mod screen;
mod terminal_consent;
mod tour;

use std::path::{Path, PathBuf};
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
    let flags = given_flags([
        ("models.file", &command.models),
        ("window.cap", &command.window),
    ]);
    let (config, folder, touring);
    let given = if command.tour {
        config = given.resolve_flags(flags)?;
        let (project, env) = tour::prepare(&given.env)?;
        folder = project;
        touring = given.with_env(env);
        &touring
    } else {
        config = given.resolve(flags)?;
        folder = PathBuf::from(".");
        given
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    let ended = runtime.block_on(work(command, given, config, &folder));
    // A read of the terminal that nobody waits for must not delay the end.
    runtime.shutdown_background();
    ended
}

async fn work(
    command: &Command,
    given: &CommandSettings,
    config: longhaul_core::config::Config,
    folder: &Path,
) -> Result<CliOutcome, CliError> {
    if command.print {
        // Checked before anything begins: a missing prompt or id is a mistake of the caller.
        if wants_list(command) {
            return Err(CliError::NoListInPrint);
        }
        let prompts = printing::prompts(command)?;
        let mut made = prepare::agent(command, given, config, folder, None).await?;
        made.builder = made.builder.resuming(resuming(command, None));
        return printing::run(command, given, made, prompts).await;
    }
    let mut terminal = terminal_consent::TerminalConsent::find();
    let consent = terminal.as_mut().map(|it| it as &mut (dyn Consent + Send));
    let mut made = prepare::agent(command, given, config, folder, consent).await?;
    let resuming = resuming(command, terminal.as_ref());
    made.builder = made.builder.resuming(resuming);
    screen::run(command, given, made).await
}

/// The session that the flags select.
fn start(command: &Command) -> SessionChoice {
    match (&command.resume, &command.session_id) {
        // The user chooses on the screen.
        (Some(id), _) if id.is_empty() => SessionChoice::New,
        (Some(id), _) => SessionChoice::Resume(id.clone()),
        (None, _) if command.go_on => SessionChoice::Continue,
        (None, Some(id)) => SessionChoice::NewWithId(id.clone()),
        (None, None) => SessionChoice::New,
    }
}

/// Whether the user wants to choose a session from a list.
fn wants_list(command: &Command) -> bool {
    command.resume.as_deref() == Some("")
}

/// How a session is resumed. On a terminal and without flags, the user is asked about a session that is in use.
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
