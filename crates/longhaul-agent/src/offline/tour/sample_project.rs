//! The project that the tour works in: a small program with its tests, notes, data and log, shipped with this one. The
//! tour is then the same everywhere, and touches no folder of the user.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The files, in the order in which they were changed last.
const FILES: &[(&str, &str)] = &[
    (
        "pyproject.toml",
        include_str!("sample_project/pyproject.toml"),
    ),
    (
        "tidewatch/__init__.py",
        include_str!("sample_project/tidewatch/__init__.py"),
    ),
    (
        "tidewatch/tide.py",
        include_str!("sample_project/tidewatch/tide.py"),
    ),
    (
        "tidewatch/report.py",
        include_str!("sample_project/tidewatch/report.py"),
    ),
    (
        "tests/test_parse.py",
        include_str!("sample_project/tests/test_parse.py"),
    ),
    (
        "tidewatch/parse.py",
        include_str!("sample_project/tidewatch/parse.py"),
    ),
    (
        "tidewatch/cli.py",
        include_str!("sample_project/tidewatch/cli.py"),
    ),
    (
        "docs/decisions.md",
        include_str!("sample_project/docs/decisions.md"),
    ),
    (
        "tests/test_alarm.py",
        include_str!("sample_project/tests/test_alarm.py"),
    ),
    (
        "tidewatch/store.py",
        include_str!("sample_project/tidewatch/store.py"),
    ),
    (
        "tidewatch/alarm.py",
        include_str!("sample_project/tidewatch/alarm.py"),
    ),
    (
        "logs/collector.log",
        include_str!("sample_project/logs/collector.log"),
    ),
    (
        "data/readings-2026-03.csv",
        include_str!("sample_project/data/readings-2026-03.csv"),
    ),
    (
        "docs/field-notes.md",
        include_str!("sample_project/docs/field-notes.md"),
    ),
    ("README.md", include_str!("sample_project/README.md")),
];
/// When the first of them was changed: 12 March 2026, 08:00 UTC. Listings are sorted by time, so the times are fixed.
const FIRST_CHANGE: Duration = Duration::from_secs(1_773_302_400);

/// Writes the sample project into a folder of its own. Whatever is in the folder from an earlier tour is removed.
pub fn write_sample_project(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(folder)?,
        Ok(_) => fs::remove_file(folder)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut changed = SystemTime::UNIX_EPOCH + FIRST_CHANGE;
    for (name, content) in FILES {
        let path = folder.join(name);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        let mut file = File::create(&path)?;
        file.write_all(content.as_bytes())?;
        file.set_modified(changed)?;
        changed += Duration::from_secs(60);
    }
    Ok(())
}
