//! The workspace as Cargo and git see it: its root, its crates and their dependencies, its tracked files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The workspace and its `cargo metadata`.
pub(crate) struct CargoWorkspace {
    /// The folder of the root manifest.
    pub(crate) root: PathBuf,
    /// The target folder for builds.
    pub(crate) target: PathBuf,
    /// The full output of `cargo metadata`.
    pub(crate) metadata: Value,
}

impl CargoWorkspace {
    /// Runs `cargo metadata` for this machine's platform only: for all platforms it would download crates that are
    /// never built here, and so fail without a network.
    pub(crate) fn load() -> Result<Self, Vec<String>> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let version = output(Command::new(rustc).arg("-vV"))?;
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .unwrap_or_default();
        let text = output(cargo().args([
            "metadata",
            "--format-version",
            "1",
            "--filter-platform",
            host,
        ]))?;
        let metadata: Value = serde_json::from_str(&text)
            .map_err(|error| vec![format!("cargo metadata did not print valid JSON: {error}")])?;
        let path = |key: &str| PathBuf::from(metadata[key].as_str().unwrap_or("."));
        Ok(Self {
            root: path("workspace_root"),
            target: path("target_directory"),
            metadata,
        })
    }

    /// The packages of the workspace itself.
    pub(crate) fn members(&self) -> Vec<&Value> {
        let ids = array(&self.metadata["workspace_members"]);
        array(&self.metadata["packages"])
            .iter()
            .filter(|package| ids.contains(&package["id"]))
            .collect()
    }

    /// Files under version control, relative to the root. New ones that are not ignored count, so that a check
    /// before the commit sees what a check after it would.
    pub(crate) fn tracked_files(&self) -> Result<Vec<String>, Vec<String>> {
        let mut git = Command::new("git");
        git.current_dir(&self.root).args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ]);
        let listed = output(&mut git)?;
        let mut files: Vec<String> = listed
            .split('\0')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        files.retain(|name| self.root.join(name).is_file());
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Every `.rs` file below the folders of the crates named in `rooms`, relative to the root.
    pub(crate) fn sources(&self, rooms: &[&str]) -> Vec<PathBuf> {
        let mut crates = vec![PathBuf::from("xtask")];
        crates.extend(
            entries(&self.root.join("crates"))
                .into_iter()
                .filter_map(|path| relative(&path, &self.root)),
        );
        let mut found = Vec::new();
        for folder in crates
            .iter()
            .flat_map(|one| rooms.iter().map(move |room| one.join(room)))
        {
            let mut open = vec![self.root.join(folder)];
            while let Some(folder) = open.pop() {
                for path in entries(&folder) {
                    if path.is_dir() {
                        open.push(path);
                    } else if path.extension().is_some_and(|ext| ext == "rs") {
                        found.extend(relative(&path, &self.root));
                    }
                }
            }
        }
        found.sort();
        found
    }

    /// A file's text; bytes that are not valid UTF-8 are replaced.
    pub(crate) fn text(&self, file: impl AsRef<Path>) -> Result<String, Vec<String>> {
        let path = self.root.join(file);
        let bytes =
            std::fs::read(&path).map_err(|error| vec![format!("{}: {error}", path.display())])?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The Cargo executable that runs this task.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command and returns its standard output; its standard error passes through.
pub(crate) fn output(command: &mut Command) -> Result<String, Vec<String>> {
    let mut words = vec![
        Path::new(command.get_program())
            .file_name()
            .unwrap_or_default(),
    ];
    words.extend(command.get_args().take(2));
    let name = words.join(OsStr::new(" ")).to_string_lossy().into_owned();
    let done = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| vec![format!("cannot run {name}: {error}")])?;
    if !done.status.success() {
        return Err(vec![format!("{name} failed ({})", done.status)]);
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The elements of a JSON array; empty for any other value.
pub(crate) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a JSON string; empty for any other value.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect()
}

fn relative(path: &Path, root: &Path) -> Option<PathBuf> {
    path.strip_prefix(root).ok().map(Path::to_owned)
}
