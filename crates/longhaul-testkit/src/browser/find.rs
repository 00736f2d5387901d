//! Looks for a browser, and starts it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::PATIENCE;

/// Names it goes by.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
/// Which one to use.
const VARIABLE: &str = "LONGHAUL_TEST_CHROMIUM";
/// What it says once it can be driven, before the address.
const READY: &str = "DevTools listening on ";
const FLAGS: [&str; 11] = [
    "--headless",
    // Tests may run as root, where its sandbox cannot.
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

/// A browser that was started; killed when dropped, and its profile deleted.
#[derive(Debug)]
pub(super) struct BrowserProcess {
    _child: Child,
    _profile: TempDir,
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
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
        println!("skipped: no browser found (install chromium or set {VARIABLE})");
    }
    found
}

/// Starts it and waits until it says where it can be driven.
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
    // What it says later is of no interest, but it must be able to say it.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let running = BrowserProcess {
        _child: child,
        _profile: profile,
    };
    (running, url)
}
