//! LONGHAUL_HOME: whether it can be used, whether others can look into it, and how much room is left; and the settings.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::path::Path;

use longhaul_store::layout::Home;

use super::finding::{Finding, FindingState};
use crate::settings::{self, CommandSettings};
use crate::terminal::bytes;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

const HOME: &str = "home";
/// Below this much free space a gateway cannot work for long.
const TOO_LITTLE: u64 = 50 << 20;
/// Below this much it may soon be too little.
const LITTLE: u64 = 500 << 20;

/// What is found of LONGHAUL_HOME.
pub(super) fn home(given: &CommandSettings) -> Vec<Finding> {
    let home =
        match Home::longhaul(&given.env) {
            Ok(home) => home.root().to_owned(),
            Err(error) => {
                return vec![Finding::new(HOME, FindingState::Broken, error.to_string()).advise(
                "Set LONGHAUL_HOME to a folder of your own, as in LONGHAUL_HOME=~/.longhaul.",
            )];
            }
        };
    let mut found = vec![folder(&home)];
    if let Some(free) = home.ancestors().find_map(system::free_space) {
        found.push(space(free));
    }
    found
}

fn folder(home: &Path) -> Finding {
    let shown = home.display();
    let is_usable = |folder: &Path| folder.is_dir() && system::may_write(folder);
    match std::fs::metadata(home) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let above = home.ancestors().skip(1).find(|folder| folder.exists());
            if above.is_some_and(is_usable) {
                return Finding::new(HOME, FindingState::Ok, format!("{shown} will be created"));
            }
            Finding::new(
                HOME,
                FindingState::Broken,
                format!("{shown} cannot be created"),
            )
            .advise("Set LONGHAUL_HOME to a folder that you may write to.")
        }
        Err(error) => Finding::new(HOME, FindingState::Broken, format!("{shown}: {error}"))
            .advise("Check the permissions of the folders above it."),
        Ok(found) if !found.is_dir() => Finding::new(
            HOME,
            FindingState::Broken,
            format!("{shown} is not a folder"),
        )
        .advise("Set LONGHAUL_HOME to a folder."),
        Ok(_) if !system::may_write(home) => Finding::new(
            HOME,
            FindingState::Broken,
            format!("{shown} cannot be written to"),
        )
        .advise(system::MAKE_IT_YOURS),
        Ok(found) if system::is_open_to_others(&found) => Finding::new(
            HOME,
            FindingState::Warning,
            format!("other users may look into {shown}, which holds conversations"),
        )
        .advise(system::close_to_others(home)),
        Ok(_) => Finding::new(HOME, FindingState::Ok, system::is_private(home)),
    }
}

fn space(free: u64) -> Finding {
    let says = format!("{} free where LONGHAUL_HOME is", bytes(free));
    let state = match free {
        0..TOO_LITTLE => FindingState::Broken,
        TOO_LITTLE..LITTLE => FindingState::Warning,
        _ => return Finding::new("disk", FindingState::Ok, says),
    };
    Finding::new("disk", state, says).advise(
        "Make room, set `retention.days` so that old data is deleted, or set LONGHAUL_HOME to a folder on another disk.",
    )
}

/// Whether the settings and the models can be read.
pub(super) fn settings(given: &CommandSettings) -> Option<Finding> {
    let read = given.resolve(Vec::new());
    let models = read.and_then(|config| settings::models(&config));
    Some(match models {
        Ok(_) => Finding::new("settings", FindingState::Ok, "can be read"),
        Err(error) => Finding::new("settings", FindingState::Broken, error.to_string()).advise(
            "Correct the file or variable; `longhaul config --explain` lists all settings.",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_much_space_is_too_little_is_judged() {
        assert_eq!(space(1 << 20).state, FindingState::Broken);
        assert_eq!(space(100 << 20).state, FindingState::Warning);
        assert_eq!(space(10 << 30).state, FindingState::Ok);
        assert!(space(0).advice.is_some());
    }
}
