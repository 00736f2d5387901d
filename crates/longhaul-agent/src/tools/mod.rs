//! The tools there are, a file or folder each.

mod bash;
mod blocking;
mod definition;
mod diff;
mod edit;
mod glob;
mod grep;
mod input;
mod judged;
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
mod write;

use std::path::Path;
use std::sync::Arc;

pub use bash::{Bash, BashOutput, KillShell, ShellGlance, ShellStatus, Shells, Variables};
pub use edit::Edit;
pub use glob::Glob;
pub use grep::Grep;
pub use read::Read;
pub use services::{Services, services};
pub use write::Write;

use crate::files::FileState;
use crate::place::Place;
use crate::tool::Tool;

/// Says whether a file is none of the model's business: for searches, which meet files that nobody asked about.
pub type Hidden = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The tools that touch files and the shell. Searches pass over what is hidden.
pub fn files_and_shell(
    place: &Arc<Place>,
    files: &Arc<FileState>,
    shells: &Arc<Shells>,
    hidden: &Hidden,
) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Read::new(place.clone(), files.clone())),
        Arc::new(Write::new(place.clone(), files.clone())),
        Arc::new(Edit::new(place.clone(), files.clone())),
        Arc::new(Grep::new(place.clone(), hidden.clone())),
        Arc::new(Glob::new(place.clone(), hidden.clone())),
        Arc::new(Bash::new(place.clone(), files.clone(), shells.clone())),
        Arc::new(BashOutput::new(shells.clone(), files.clone())),
        Arc::new(KillShell::new(shells.clone())),
    ]
}
