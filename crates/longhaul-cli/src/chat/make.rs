//! An agent from flags, settings and the environment.

use std::path::{Path, PathBuf};

use longhaul::hooks::{CommandHooks, HookSet, HookSettings};
use longhaul_agent::agent::AgentBuilder;
use longhaul_core::config::Config;
use longhaul_sim::server::Server;
use longhaul_store::layout::{Env, Home};

use super::model::answering;
use crate::args::Chat as Command;
use crate::failure::{Failure, warn};
use crate::settings::{self, Given};

/// An agent that can be opened, and the simulated model it asks, if it does.
pub(super) async fn agent(
    command: &Command,
    given: &Given,
    config: Config,
) -> Result<(AgentBuilder, Option<Server>), Failure> {
    let models = settings::models(&config)?;
    let cwd = real(Path::new("."))?;
    let further = command.add_dir.iter().map(|folder| real(folder));
    let further = further.collect::<Result<Vec<_>, _>>()?;
    let asked = answering(command, config.model.as_deref()).await?;
    let hooks = HookSettings::load(hook_files(&given.env, &cwd));
    for notice in &hooks.notices {
        warn(&notice.to_string());
    }
    let hooks = HookSet::new().with_commands(CommandHooks::new(hooks, &cwd));
    let mut builder = AgentBuilder::new(asked.model, asked.id, cwd, given.env.clone())
        .further(further)
        .models(models)
        .config(config)
        .hooks(hooks)
        .shell(std::env::var("SHELL").ok())
        .system_prompt(command.system_prompt.clone())
        .append_system_prompt(command.append_system_prompt.clone())
        .max_turns(command.max_turns);
    if command.print {
        builder = builder.unattended();
    }
    Ok((builder, asked.offline))
}

/// Settings files with hooks, the least specific first.
fn hook_files(env: &Env, cwd: &Path) -> Vec<PathBuf> {
    let homes = [Home::claude(env), Home::longhaul(env)];
    let users = homes.into_iter().flatten();
    let users = users.map(|home| home.root().join("settings.json"));
    let own = ["settings.json", "settings.local.json"];
    let projects = own.map(|name| cwd.join(".claude").join(name));
    users.chain(projects).collect()
}

fn real(folder: &Path) -> Result<PathBuf, Failure> {
    let failed = |source| Failure::Folder {
        path: folder.to_owned(),
        source,
    };
    let real = std::fs::canonicalize(folder).map_err(failed)?;
    match real.is_dir() {
        true => Ok(real),
        false => Err(failed(std::io::ErrorKind::NotADirectory.into())),
    }
}
