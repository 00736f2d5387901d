//! A gateway in a separate process: this test binary again, with one test that serves.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::SqliteStore;

use super::super::endless::small_windows;

/// The variable with the upstream; if it is set, the test below serves.
const UPSTREAM: &str = "LONGHAUL_TEST_SERVES";
const FOLDER: &str = "LONGHAUL_TEST_FOLDER";
const LISTENING: &str = "listening on ";
/// The page size in which the system counts.
const PAGE: u64 = 4_096;

/// Serves until its standard input ends, if it is asked to; otherwise passes immediately.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_if_asked() {
    let Ok(upstream) = std::env::var(UPSTREAM) else {
        return;
    };
    let folder = std::path::PathBuf::from(std::env::var(FOLDER).unwrap());
    let store = Arc::new(SqliteStore::open(&folder.join("books.sqlite")).unwrap());
    let tenants = Tenants::of_file(&folder.join("secret")).unwrap();
    let upstream = UpstreamChoice::Url(upstream.parse().unwrap());
    let mut options = GatewayOptions::new(upstream, store, tenants);
    options.models = small_windows();
    let gateway = Gateway::start(options).await.unwrap();
    println!("\n{LISTENING}{}", gateway.addr());
    let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    ended.await.unwrap().unwrap();
    gateway.stop().await;
}

/// A gateway in a separate process. It ends with the process that started it.
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    addr: String,
    _folder: tempfile::TempDir,
}

impl Process {
    pub(super) async fn start(upstream: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "soak::process::serves_if_asked", "--nocapture"])
            .env(UPSTREAM, upstream)
            .env(FOLDER, folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let addr = lines
            .find_map(|line| Some(line.unwrap().strip_prefix(LISTENING)?.to_owned()))
            .expect("it listens");
        // Its later output has to go somewhere.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            input: child.stdin.take(),
            child,
            addr,
            _folder: folder,
        }
    }

    pub(super) fn addr(&self) -> String {
        self.addr.clone()
    }

    /// The bytes of memory it uses, if the system reports that.
    pub(super) fn resident(&self) -> Option<u64> {
        let path = format!("/proc/{}/statm", self.child.id());
        let pages = std::fs::read_to_string(path).ok()?;
        Some(pages.split(' ').nth(1)?.parse::<u64>().ok()? * PAGE)
    }

    /// Stops it gracefully.
    pub(super) fn stop(&mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}
