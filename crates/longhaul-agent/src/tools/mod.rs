//! The built-in tools, each in its own file or folder.

pub(crate) mod ask_user;
mod bash;
mod blocking;
mod definition;
mod diff;
mod edit;
mod glob;
mod grep;
mod input;
mod judged_paths;
pub mod mcp;
mod place_files;
pub mod plan;
mod read;
pub mod recall;
mod search;
mod services;
pub mod skill;
pub mod todo;
mod typed;
mod walk;
pub mod web_fetch;
pub(crate) mod web_search;
mod write;

use std::path::Path;
use std::sync::Arc;

pub use bash::{BackgroundShells, ShellStatus, ShellSummary};
pub(crate) use bash::{BashOutputTool, BashTool, KillShellTool, ShellVariables};
pub(crate) use edit::EditTool;
pub(crate) use glob::GlobTool;
pub(crate) use grep::GrepTool;
pub(crate) use read::ReadTool;
pub use services::{ToolServices, services};
pub(crate) use write::WriteTool;

use crate::files::FileState;
use crate::session_paths::SessionPaths;
use crate::tool::Tool;

/// Whether a file must be hidden from the model: for searches, which come across files that nobody asked about.
pub type HiddenPathFn = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The tools that touch files and the shell. Searches skip hidden files.
pub fn files_and_shell(
    place: &Arc<SessionPaths>,
    files: &Arc<FileState>,
    shells: &Arc<BackgroundShells>,
    hidden: &HiddenPathFn,
) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ReadTool::new(place.clone(), files.clone())),
        Arc::new(WriteTool::new(place.clone(), files.clone())),
        Arc::new(EditTool::new(place.clone(), files.clone())),
        Arc::new(GrepTool::new(place.clone(), hidden.clone())),
        Arc::new(GlobTool::new(place.clone(), hidden.clone())),
        Arc::new(BashTool::new(place.clone(), files.clone(), shells.clone())),
        Arc::new(BashOutputTool::new(shells.clone(), files.clone())),
        Arc::new(KillShellTool::new(shells.clone())),
    ]
}
