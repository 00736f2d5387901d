//! Where settings, skills, commands and agents lie. Paths only; nothing here is read.

use std::path::{Path, PathBuf};

use longhaul_store::{Env, Home};

/// Whose a settings file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingsOwner {
    /// The user's, for all projects.
    User,
    /// The project's: whoever gave us the project wrote it.
    Project,
    /// The user's for this project, unless it came with it: who reads it finds out.
    Local,
}

/// A settings file that may be there.
#[derive(Debug, Clone)]
pub(super) struct SettingsFile {
    pub(super) path: PathBuf,
    pub(super) owner: SettingsOwner,
    /// From where `/…` in its rules counts.
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
        // A repository that is the whole home folder is nobody's project.
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

    /// Where the user's answers for this project are kept.
    pub(super) fn local_settings(&self) -> PathBuf {
        self.root.join(".claude/settings.local.json")
    }

    /// The project's `.mcp.json`, and the file in which the user's servers are.
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

    /// The same for commands.
    pub(super) fn command_folders(&self) -> Vec<PathBuf> {
        self.folders("commands")
    }

    /// The same for agents.
    pub(super) fn agent_folders(&self) -> Vec<PathBuf> {
        self.folders("agents")
    }

    /// The same for output styles.
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
