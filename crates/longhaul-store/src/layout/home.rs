//! The root folders under which programs keep their sessions: Longhaul's own and Claude Code's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use super::folder::FolderName;
use super::{SessionId, UnlistedPath, folder_name, is_one_name, peek, walk};

/// The parts of the environment that determine where files are. Tests make their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Env {
    /// `LONGHAUL_HOME`
    pub longhaul_home: Option<OsString>,
    /// `CLAUDE_CONFIG_DIR`
    pub claude_config_dir: Option<OsString>,
    /// `CLAUDE_CODE_PROJECT_DIR_NAME`
    pub claude_project_dir_name: Option<OsString>,
    /// The user's home folder.
    pub user_home: Option<PathBuf>,
    /// The platform's folder for users' data.
    pub data_folder: Option<PathBuf>,
}

impl Env {
    /// The environment of this process.
    pub fn of_process() -> Self {
        let strategy = etcetera::base_strategy::choose_native_strategy().ok();
        Self {
            longhaul_home: std::env::var_os("LONGHAUL_HOME"),
            claude_config_dir: std::env::var_os("CLAUDE_CONFIG_DIR"),
            claude_project_dir_name: std::env::var_os("CLAUDE_CODE_PROJECT_DIR_NAME"),
            user_home: etcetera::home_dir().ok(),
            data_folder: strategy.map(|strategy| strategy.data_dir()),
        }
    }
}

/// Which program's sessions a home holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HomeOwner {
    /// Our own sessions: Longhaul may change them.
    Longhaul,
    /// Claude Code's sessions: they are read in place and forked on resume.
    ClaudeCode,
}

/// A root folder and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
    owner: HomeOwner,
    project_name: Option<String>,
    user_home: Option<PathBuf>,
}

/// A home cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// Neither the variable nor the platform says where the home is.
    #[error("cannot tell where to look for sessions: set {variable} to a folder")]
    Unknown {
        /// The variable that would set it.
        variable: &'static str,
    },
    /// The path cannot be made absolute.
    #[error("{} cannot be used as a folder for sessions: {source}", path.display())]
    NotAbsolute {
        /// The path of the home.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// Our home and another program's would be the same, and its sessions would be ours to change and purge.
    #[error("LONGHAUL_HOME is {}, which is Claude Code's own folder: set it to a folder of its own", path.display())]
    NotOurs {
        /// The path of the home.
        path: PathBuf,
    },
    /// `CLAUDE_CODE_PROJECT_DIR_NAME` is not a single name.
    #[error("CLAUDE_CODE_PROJECT_DIR_NAME is {name:?}, which is not the name of one folder")]
    BadProjectName {
        /// The value of the variable.
        name: String,
    },
}

impl Home {
    /// Our own home: `LONGHAUL_HOME`, else `longhaul` in the platform's data folder.
    ///
    /// # Errors
    /// Fails if no folder is known (set `LONGHAUL_HOME`), and if it is not usable or is Claude Code's own.
    pub fn longhaul(env: &Env) -> Result<Self, HomeError> {
        let root = set(env.longhaul_home.as_ref())
            .or_else(|| env.data_folder.as_ref().map(|data| data.join("longhaul")))
            .ok_or(HomeError::Unknown {
                variable: "LONGHAUL_HOME",
            })?;
        let home = Self {
            user_home: env.user_home.clone(),
            ..Self::at(&root, HomeOwner::Longhaul)?
        };
        if claude_root(env).is_some_and(|other| is_same_folder(&home.root, &other)) {
            return Err(HomeError::NotOurs { path: home.root });
        }
        Ok(home)
    }

    /// Claude Code's home: `CLAUDE_CONFIG_DIR`, else `~/.claude`.
    ///
    /// # Errors
    /// Fails if no folder is known (set `CLAUDE_CONFIG_DIR`), and if it is not usable.
    pub fn claude(env: &Env) -> Result<Self, HomeError> {
        let root = claude_root(env).ok_or(HomeError::Unknown {
            variable: "CLAUDE_CONFIG_DIR",
        })?;
        let mut home = Self::at(&root, HomeOwner::ClaudeCode)?;
        if let Some(name) = set(env.claude_project_dir_name.as_ref()) {
            let name = name.to_string_lossy().into_owned();
            if !is_one_name(&name) {
                return Err(HomeError::BadProjectName { name });
            }
            home.project_name = Some(name);
        }
        Ok(home)
    }

    /// A home at a folder of the caller's choice.
    ///
    /// # Errors
    /// Fails if the path cannot be made absolute.
    pub fn at(root: &Path, owner: HomeOwner) -> Result<Self, HomeError> {
        let root = std::path::absolute(root).map_err(|source| HomeError::NotAbsolute {
            path: root.to_owned(),
            source,
        })?;
        Ok(Self {
            root,
            owner,
            project_name: None,
            user_home: None,
        })
    }

    /// The root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The program that owns the home.
    pub fn owner(&self) -> HomeOwner {
        self.owner
    }

    /// The user's home folder, if known: purging must never take it for ours.
    pub(crate) fn user_home(&self) -> Option<&Path> {
        self.user_home.as_deref()
    }

    /// The folder of all projects.
    pub fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    /// The folder for the sessions of a project, given its working folder (absolute). It need not exist.
    pub fn project_folder(&self, working_folder: &Path) -> PathBuf {
        let name = (self.project_name.clone()).unwrap_or_else(|| folder_name(working_folder));
        self.projects().join(name)
    }

    /// The folders that hold sessions of a project. There is more than one only where a long path makes the name
    /// ambiguous: then all folders with the same beginning whose entries name this working folder are returned.
    pub fn find_project(&self, working_folder: &Path) -> (Vec<PathBuf>, Vec<UnlistedPath>) {
        let mut problems = Vec::new();
        let cut = match FolderName::of(working_folder) {
            FolderName::Cut(cut) if self.project_name.is_none() => cut,
            _ => {
                let folder = self.project_folder(working_folder);
                return (
                    folder.is_dir().then_some(folder).into_iter().collect(),
                    problems,
                );
            }
        };
        let ours = folder_name(working_folder);
        let start = format!("{cut}-");
        let mut folders = walk::children(&self.projects(), &mut problems);
        folders.retain(|folder| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            folder.is_dir()
                && name.starts_with(&start)
                && (name == ours || peek::is_of_project(folder, working_folder))
        });
        (folders, problems)
    }

    /// The path of a session's transcript, given the name of its project's folder.
    pub fn transcript(&self, project: &str, session: &SessionId) -> PathBuf {
        self.projects().join(project).join(session.file_name())
    }
}

/// The value of a variable; an empty one counts as not set.
fn set(value: Option<&OsString>) -> Option<PathBuf> {
    value.filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn claude_root(env: &Env) -> Option<PathBuf> {
    set(env.claude_config_dir.as_ref())
        .or_else(|| env.user_home.as_ref().map(|home| home.join(".claude")))
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    match (crate::real_path(one), crate::real_path(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == std::path::absolute(other).unwrap_or_default(),
    }
}
