//! Finds a browser and starts it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::PATIENCE;

/// The names of the program.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
/// The variable that names the program to use.
const VARIABLE: &str = "LONGHAUL_TEST_CHROMIUM";
/// The text that the browser prints before its address once it can be driven.
const READY: &str = "DevTools listening on ";
const FLAGS: [&str; 11] = [
    "--headless",
    // Tests may run as root, where the browser's sandbox does not work.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
];

/// A browser that was started. When dropped, it is killed and its profile is deleted.
#[derive(Debug)]
pub(super) struct BrowserProcess {
    _child: Child,
    _profile: TempDir,
}

pub(super) fn program() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let found = named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let places = NAMES
            .iter()
            .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        places.into_iter().find(|place| place.is_file())
    });
    if found.is_none() {
        if std::env::var("CI").is_ok_and(|value| value == "true") {
            panic!("CI=true and no browser: install chromium or set {VARIABLE}");
        }
        crate::skipped::note(&format!(
            "no browser found (install chromium or set {VARIABLE})"
        ));
    }
    found
}

/// Starts the browser and waits until it prints the address for driving it.
pub(super) async fn start(program: &Path) -> (BrowserProcess, String) {
    let profile = TempDir::new().unwrap();
    let mut child = Command::new(program)
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg("about:blank")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = String::new();
    let listening = async {
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(url) = line.strip_prefix(READY) {
                return Some(url.trim().to_owned());
            }
            said.push_str(&line);
            said.push('\n');
        }
        None
    };
    let url = tokio::time::timeout(PATIENCE, listening)
        .await
        .ok()
        .flatten();
    let Some(url) = url else {
        panic!("{} did not start: {said}", program.display());
    };
    // The browser's later output is of no interest, but its pipe must be drained.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let running = BrowserProcess {
        _child: child,
        _profile: profile,
    };
    (running, url)
}
