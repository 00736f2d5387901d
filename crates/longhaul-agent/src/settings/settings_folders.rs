//! Where settings, skills, commands and agents are stored. These are paths only; nothing is read here.

use std::path::{Path, PathBuf};

use longhaul_store::{Env, Home};

/// The owner of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingsOwner {
    /// The user, for all projects.
    User,
    /// The project: whoever gave us the project wrote it.
    Project,
    /// The user, for this project, unless the file came with the project: its reader finds that out.
    Local,
}

/// A settings file that may exist.
#[derive(Debug, Clone)]
pub(super) struct SettingsFile {
    pub(super) path: PathBuf,
    pub(super) owner: SettingsOwner,
    /// The folder that `/…` in its rules starts from.
    pub(super) base: PathBuf,
}

/// The folders of a session's settings.
#[derive(Debug, Clone)]
pub(super) struct SettingsFolders {
    pub(super) root: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) user_home: Option<PathBuf>,
    claude: Option<PathBuf>,
    longhaul: Option<PathBuf>,
    claude_json: Option<PathBuf>,
}

impl SettingsFolders {
    pub(super) fn new(env: &Env, cwd: &Path) -> Self {
        let places = longhaul::memory_files::places(env, cwd);
        // If the repository is the whole home folder, it is not a project.
        let is_home = places.user_home.as_deref() == Some(&places.project_root);
        let root = if is_home {
            cwd.to_owned()
        } else {
            places.project_root
        };
        let set = env
            .claude_config_dir
            .as_ref()
            .filter(|folder| !folder.is_empty());
        let claude_json = match set {
            Some(folder) => Some(Path::new(folder).join(".claude.json")),
            None => env.user_home.as_ref().map(|home| home.join(".claude.json")),
        };
        Self {
            root,
            cwd: cwd.to_owned(),
            user_home: env.user_home.clone(),
            claude: Home::claude(env).ok().map(|home| home.root().to_owned()),
            longhaul: Home::longhaul(env).ok().map(|home| home.root().to_owned()),
            claude_json,
        }
    }

    /// The settings files, the least specific first, each once.
    pub(super) fn settings_files(&self) -> Vec<SettingsFile> {
        let mut files: Vec<SettingsFile> = Vec::new();
        let mut add = |path: PathBuf, owner: SettingsOwner, base: &Path| {
            if !files.iter().any(|file| file.path == path) {
                files.push(SettingsFile {
                    path,
                    owner,
                    base: base.to_owned(),
                });
            }
        };
        for folder in [&self.claude, &self.longhaul].into_iter().flatten() {
            add(folder.join("settings.json"), SettingsOwner::User, folder);
        }
        for folder in [&self.root, &self.cwd] {
            add(
                folder.join(".claude/settings.json"),
                SettingsOwner::Project,
                folder,
            );
        }
        for folder in [&self.root, &self.cwd] {
            add(
                folder.join(".claude/settings.local.json"),
                SettingsOwner::Local,
                folder,
            );
        }
        files
    }

    /// The user's own folders of settings.
    pub(super) fn homes(&self) -> Vec<PathBuf> {
        let homes = [&self.claude, &self.longhaul].into_iter().flatten();
        homes.cloned().collect()
    }

    /// Where the user's answers for this project are stored.
    pub(super) fn local_settings(&self) -> PathBuf {
        self.root.join(".claude/settings.local.json")
    }

    /// The project's `.mcp.json`, and the file that contains the user's servers.
    pub(super) fn mcp_file(&self) -> PathBuf {
        self.root.join(".mcp.json")
    }

    pub(super) fn claude_json(&self) -> Option<&Path> {
        self.claude_json.as_deref()
    }

    /// Folders of skills, the most specific first.
    pub(super) fn skill_folders(&self) -> Vec<PathBuf> {
        self.folders("skills")
    }

    /// Folders of commands, the most specific first.
    pub(super) fn command_folders(&self) -> Vec<PathBuf> {
        self.folders("commands")
    }

    /// Folders of agents, the most specific first.
    pub(super) fn agent_folders(&self) -> Vec<PathBuf> {
        self.folders("agents")
    }

    /// Folders of output styles, the most specific first.
    pub(super) fn style_folders(&self) -> Vec<PathBuf> {
        self.folders("output-styles")
    }

    fn folders(&self, what: &str) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        let up = self
            .cwd
            .ancestors()
            .take_while(|folder| folder.starts_with(&self.root));
        folders.extend(up.map(|folder| folder.join(".claude").join(what)));
        folders.extend(
            [&self.longhaul, &self.claude]
                .into_iter()
                .flatten()
                .map(|home| home.join(what)),
        );
        let mut seen: Vec<PathBuf> = Vec::new();
        folders.retain(|folder| {
            let is_new = !seen.contains(folder);
            seen.push(folder.clone());
            is_new
        });
        folders
    }
}
