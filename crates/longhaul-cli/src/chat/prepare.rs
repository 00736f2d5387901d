//! Prepares an agent from flags, settings and the environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_agent::agent::AgentBuilder;
use longhaul_agent::event::ApprovalMode;
use longhaul_agent::offline::{ModelBackend, OfflineServer};
use longhaul_agent::project_setup::{Consent, ProjectSetup, SessionOverrides};
use longhaul_core::config::Config;
use longhaul_core::models::ModelTable;
use longhaul_provider::{ClientConfig, Dialect};

use super::model::{choose_model, variable};
use crate::args::{ChatArgs as Command, PermissionMode};
use crate::failure::CliError;
use crate::settings::{self, CommandSettings};

/// An agent that is ready to be opened, with what it was made from.
pub(super) struct PreparedAgent {
    pub(super) builder: AgentBuilder,
    pub(super) workplace: Arc<ProjectSetup>,
    pub(super) models: ModelTable,
    pub(super) cwd: PathBuf,
    /// The offline model, if it answers; it ends when this is dropped.
    pub(super) offline: Option<Arc<OfflineServer>>,
    /// Notices for the user.
    pub(super) notices: Vec<String>,
}

pub(super) async fn agent(
    command: &Command,
    given: &CommandSettings,
    mut config: Config,
    folder: &Path,
    consent: Option<&mut (dyn Consent + Send)>,
) -> Result<PreparedAgent, CliError> {
    let models = settings::models(&config)?;
    let cwd = real(folder)?;
    let further = command.add_dir.iter().map(|folder| real(folder));
    let wishes = SessionOverrides {
        mode: command.permission_mode.map(mode),
        allow: rules(&command.allowed_tools),
        deny: rules(&command.disallowed_tools),
        further: further.collect::<Result<Vec<_>, _>>()?,
        trust: command.trust,
        proxy: ClientConfig::from_env(Dialect::Anthropic, variable)
            .ok()
            .and_then(|config| config.proxy),
        server_files: command.mcp_config.clone(),
    };
    let workplace = ProjectSetup::open(&given.env, &cwd, wishes, consent).await?;
    let configured = config.model.clone().or(workplace.project.model.clone());
    let asked = choose_model(command, configured.as_deref()).await?;
    workplace.adjust(&mut config);
    let max_output = config.max_output;
    let patience = config.retry_patience;
    let mut notices = workplace.notices.clone();
    notices.extend(asked.notice.map(str::to_owned));
    let mut builder = AgentBuilder::new(asked.model, asked.id, &cwd, given.env.clone())
        .model_origin(asked.origin)
        .session(|session| {
            let session = session.models(models.clone()).config(config);
            session.patience(patience)
        })
        .shell(variable("SHELL"))
        .system_prompt(command.system_prompt.clone())
        .append_system_prompt(command.append_system_prompt.clone())
        .max_turns(command.max_turns)
        .max_cost(command.max_budget_usd)
        .max_reply(max_output);
    if let Some(offline) = &asked.offline {
        builder = builder
            .listener(offline.clone())
            .backend(ModelBackend::Simulator);
    }
    if command.print {
        builder = builder.unattended();
    }
    Ok(PreparedAgent {
        builder: workplace.equip(builder),
        workplace: Arc::new(workplace),
        models,
        cwd,
        offline: asked.offline,
        notices,
    })
}

fn mode(mode: PermissionMode) -> ApprovalMode {
    match mode {
        PermissionMode::Default => ApprovalMode::Default,
        PermissionMode::AcceptEdits => ApprovalMode::AcceptEdits,
        PermissionMode::Plan => ApprovalMode::Plan,
        PermissionMode::DontAsk => ApprovalMode::DontAsk,
        PermissionMode::BypassPermissions => ApprovalMode::BypassPermissions,
    }
}

/// Rules, separated by commas or given repeatedly. A comma in parentheses belongs to its rule.
fn rules(given: &[String]) -> Vec<String> {
    let mut rules = Vec::new();
    for text in given {
        let (mut depth, mut from) = (0_i32, 0);
        for (at, letter) in text.char_indices() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                ',' if depth == 0 => {
                    rules.push(&text[from..at]);
                    from = at + 1;
                }
                _ => {}
            }
        }
        rules.push(&text[from..]);
    }
    let rules = rules.into_iter().map(str::trim);
    rules
        .filter(|rule| !rule.is_empty())
        .map(str::to_owned)
        .collect()
}

fn real(folder: &Path) -> Result<PathBuf, CliError> {
    let failed = |source| CliError::Folder {
        path: folder.to_owned(),
        source,
    };
    let real = longhaul_store::real_path(folder).map_err(failed)?;
    if real.is_dir() {
        Ok(real)
    } else {
        Err(failed(std::io::ErrorKind::NotADirectory.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q1_rules_are_separated_by_commas_outside_of_parentheses() {
        let given = ["Bash(git diff:*, x), Edit".to_owned(), "Read(a)".to_owned()];
        assert_eq!(rules(&given), ["Bash(git diff:*, x)", "Edit", "Read(a)"]);
        assert!(rules(&[" , ".to_owned()]).is_empty());
    }
}
