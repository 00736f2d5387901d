//! Tests that are skipped because something is missing on this machine, and the list of them at the end of a run.
//!
//! What a passing test prints is not shown, so each skipped test also leaves a note in the target folder. The last test
//! program of the workspace (`xtask/tests/skipped.rs`) prints the notes of its run and deletes them. A run is known by
//! Cargo, which starts all its test programs.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Says that the current test is skipped, and why: what is missing, and how to get it.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub fn note(reason: &str) {
    println!("skipped: {reason}");
    let thread = std::thread::current();
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_name().unwrap_or_default().to_string_lossy();
    // A test runs on a thread with its name; a helper of it may not.
    let test = thread.name().unwrap_or("a test").replace("::", ".");
    if let Some(folder) = folder() {
        // The line above is enough where nothing can be written.
        let _ = std::fs::create_dir_all(&folder);
        let _ = std::fs::write(folder.join(format!("{program}.{test}")), reason);
    }
}

/// How many tests of this run were skipped for each reason. Their notes are deleted.
#[must_use]
pub fn take_all() -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    let Some(folder) = folder() else {
        return reasons;
    };
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        if let Ok(reason) = std::fs::read_to_string(entry.path()) {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    // Notes of runs that did not get to their end are of no use to anybody.
    if let Some(all) = folder.parent() {
        let _ = std::fs::remove_dir_all(all);
    }
    reasons
}

/// Where the notes of this run are: beside the test programs, in a folder that is named by the process that started them.
fn folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let target = program.parent()?.parent()?;
    Some(target.join("skipped-tests").join(run_id().to_string()))
}

#[cfg(unix)]
fn run_id() -> u32 {
    std::os::unix::process::parent_id()
}

#[cfg(not(unix))]
fn run_id() -> u32 {
    0
}
