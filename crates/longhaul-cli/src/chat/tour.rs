//! The surroundings of the tour: the sample project in a folder of its own, the default settings, and neither the memory
//! files nor the servers of the user, so that the tour is the same everywhere.

use std::path::{Path, PathBuf};

use longhaul_agent::offline::tour::write_sample_project;
use longhaul_store::layout::{Env, Home};

use crate::failure::CliError;

/// The folder of the tour in LONGHAUL_HOME.
const FOLDER: &str = "tour";
/// The name of the sample project.
const PROJECT: &str = "tidewatch";

/// Writes the sample project. Returns its folder, and the environment in which the tour takes place.
pub(super) fn prepare(env: &Env) -> Result<(PathBuf, Env), CliError> {
    let home = Home::longhaul(env)?;
    let folder = home.root().join(FOLDER);
    let project = folder.join(PROJECT);
    write_sample_project(&project).map_err(|source| CliError::Write {
        path: project.clone(),
        source,
    })?;
    Ok((project, without_claude(env, &home, &folder)))
}

/// The environment with an empty folder in place of the user's home and of Claude Code's folder. Sessions are stored
/// where they always are.
fn without_claude(env: &Env, home: &Home, folder: &Path) -> Env {
    let nothing = folder.join("home");
    Env {
        longhaul_home: Some(home.root().as_os_str().to_owned()),
        claude_config_dir: Some(nothing.join(".claude").into_os_string()),
        user_home: Some(nothing),
        ..env.clone()
    }
}
