//! Which transcripts the server may read: those of one project, or of all projects if the user said so. Clients name
//! sessions by id and never by path, so no call can lead to another file.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_store::layout::{
    Env, Home, HomeOwner, SessionId, SessionOverview, folder_name, sessions, working_folder,
};

use super::mcp_tool_error::McpToolError;
use crate::args::McpArgs;
use crate::failure::CliError;

/// The ids that an ambiguous beginning may mean are listed up to this many.
const CANDIDATES: usize = 8;

/// The sessions that may be read.
pub(super) struct SessionScope {
    /// Our own home, where the indexes are.
    pub(super) home: Home,
    homes: Vec<Home>,
    reach: SessionReach,
}

enum SessionReach {
    /// One project, by its folder; a folder that is reached through a link has two paths.
    Project(Vec<PathBuf>),
    AllProjects,
}

/// A session that may be read.
pub(super) struct FoundSession {
    pub(super) overview: SessionOverview,
    pub(super) owner: HomeOwner,
}

impl FoundSession {
    pub(super) fn id(&self) -> &str {
        self.overview.id.as_str()
    }

    /// The program that wrote the session.
    pub(super) fn agent(&self) -> &'static str {
        match self.owner {
            HomeOwner::ClaudeCode => "Claude Code",
            HomeOwner::Longhaul => "Longhaul",
            _ => "another program",
        }
    }

    /// When the session was last changed.
    pub(super) fn changed(&self) -> String {
        let time = jiff::Timestamp::try_from(self.overview.modified);
        time.map_or_else(
            |_| "at an unknown time".to_owned(),
            |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        )
    }
}

impl SessionScope {
    pub(super) fn new(command: &McpArgs, env: &Env) -> Result<Self, CliError> {
        let home = Home::longhaul(env)?;
        let mut homes = vec![home.clone()];
        homes.extend(Home::claude(env));
        let reach = if command.all_projects {
            SessionReach::AllProjects
        } else {
            SessionReach::Project(project(
                command.project.as_deref().unwrap_or(Path::new(".")),
            )?)
        };
        Ok(Self { home, homes, reach })
    }

    /// What the sessions belong to, for messages.
    pub(super) fn name(&self) -> &'static str {
        match self.reach {
            SessionReach::Project(_) => "this project",
            SessionReach::AllProjects => "any project",
        }
    }

    /// All sessions, the newest first.
    pub(super) fn sessions(&self) -> Vec<FoundSession> {
        let mut found = Vec::new();
        for home in &self.homes {
            // A file that a link leads out of the home belongs to somebody else.
            let Ok(inside) = longhaul_store::real_path(&home.projects()) else {
                continue;
            };
            for folder in self.folders(home) {
                let list = sessions(&folder);
                for problem in list.problems {
                    tracing::warn!(%problem, "a session is not listed");
                }
                let kept = list.sessions.into_iter().filter(|session| {
                    longhaul_store::real_path(&session.path)
                        .is_ok_and(|real| real.starts_with(&inside))
                        && !self.is_of_other_project(&session.path)
                });
                found.extend(kept.map(|overview| FoundSession {
                    overview,
                    owner: home.owner(),
                }));
            }
        }
        found.sort_by_key(|session| std::cmp::Reverse(session.overview.modified));
        found
    }

    /// The session with this id or the only one whose id begins with it; without an id, the newest.
    pub(super) fn session(&self, id: Option<&str>) -> Result<FoundSession, McpToolError> {
        let scope = self.name();
        let mut sessions = self.sessions();
        let Some(id) = id else {
            let newest = sessions.into_iter().next();
            return newest.ok_or(McpToolError::NoSessions { scope });
        };
        if let Some(at) = sessions.iter().position(|session| session.id() == id) {
            return Ok(sessions.swap_remove(at));
        }
        sessions.retain(|session| session.id().starts_with(id));
        let unknown = || McpToolError::NoSuchSession {
            id: id.to_owned(),
            scope,
        };
        SessionId::parse(id).map_err(|_| unknown())?;
        let only = sessions.pop().ok_or_else(unknown)?;
        if sessions.is_empty() {
            return Ok(only);
        }
        sessions.push(only);
        let ids = sessions.iter().take(CANDIDATES).map(FoundSession::id);
        Err(McpToolError::AmbiguousSession {
            id: id.to_owned(),
            candidates: ids.collect::<Vec<_>>().join(", "),
        })
    }

    fn folders(&self, home: &Home) -> Vec<PathBuf> {
        match &self.reach {
            SessionReach::Project(paths) => {
                let mut folders: Vec<PathBuf> = paths
                    .iter()
                    .flat_map(|path| home.find_project(path).0)
                    .collect();
                folders.sort();
                folders.dedup();
                folders
            }
            SessionReach::AllProjects => {
                let listed = fs::read_dir(home.projects()).into_iter().flatten();
                let paths = listed.flatten().map(|entry| entry.path());
                paths.filter(|path| path.is_dir()).collect()
            }
        }
    }

    /// Whether a session in the project's folder was held in another project: the names of project folders do not
    /// tell `/a/b-c` from `/a/b/c`, but the entries name the folder itself.
    fn is_of_other_project(&self, transcript: &Path) -> bool {
        let SessionReach::Project(paths) = &self.reach else {
            return false;
        };
        let Ok(Some(held_in)) = working_folder(transcript) else {
            return false;
        };
        !paths.contains(&held_in)
            && paths
                .iter()
                .any(|path| folder_name(path) == folder_name(&held_in))
    }
}

/// The paths of a project's folder: as given, and without links.
fn project(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let failed = |source| CliError::Folder {
        path: folder.to_owned(),
        source,
    };
    let real = longhaul_store::real_path(folder).map_err(failed)?;
    if !real.is_dir() {
        return Err(failed(std::io::ErrorKind::NotADirectory.into()));
    }
    let given = std::path::absolute(folder).map_err(failed)?;
    let given = given.components().collect::<PathBuf>();
    Ok(if given == real {
        vec![real]
    } else {
        vec![real, given]
    })
}
