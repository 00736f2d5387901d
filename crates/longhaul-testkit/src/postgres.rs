//! A PostgreSQL server for tests: the one that `LONGHAUL_TEST_POSTGRES` names, or a private one made with `initdb`.
//!
//! A private server listens on a socket in a folder of its own, keeps nothing on the disk for longer than needed, and
//! is watched by a shell that stops it and deletes the folder when this process ends, however it ends. If neither is
//! available, [`database`] prints one line and returns `None`; under `CI=true` that is a failure. Everything panics
//! where a test would.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of tests are tests too"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use sqlx::{Connection as _, Executor as _, PgConnection};
use url::Url;

/// The variable with the URL of a server on which databases may be created.
const GIVEN: &str = "LONGHAUL_TEST_POSTGRES";
/// Creates, starts, restarts and stops a server.
const SCRIPT: &str = include_str!("postgres.sh");

/// An empty database for one test.
pub struct TestDatabase {
    url: String,
    name: String,
    server: Arc<PostgresServer>,
}

impl TestDatabase {
    /// The URL of the database.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The server of the database.
    #[must_use]
    pub fn server(&self) -> &PostgresServer {
        &self.server
    }

    /// Runs SQL and ignores its result.
    pub fn execute(&self, sql: &str) {
        execute(&self.url, sql);
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        // A private server is removed as a whole; a given one is left as it was found.
        if self.server.guard.is_none() {
            let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
            execute(self.server.url.as_str(), &drop);
        }
    }
}

/// A database on the server that all tests of this process share.
///
/// # Panics
/// If there is no server and the environment says `CI=true`, and when one cannot be started.
#[must_use]
pub fn database() -> Option<TestDatabase> {
    static SHARED: OnceLock<Option<Arc<PostgresServer>>> = OnceLock::new();
    let start = || match std::env::var(GIVEN) {
        Ok(url) => Some(Arc::new(PostgresServer {
            url: Url::parse(&url).expect("LONGHAUL_TEST_POSTGRES is a URL"),
            guard: None,
        })),
        Err(_) => PostgresServer::private().map(Arc::new),
    };
    let server = SHARED.get_or_init(start).as_ref();
    or_skipped(server.map(PostgresServer::database))
}

/// Notes that a test is skipped if there is no database for it.
fn or_skipped(database: Option<TestDatabase>) -> Option<TestDatabase> {
    if database.is_none() {
        crate::skipped::note(&format!(
            "no PostgreSQL (set {GIVEN}, or put initdb on the PATH)"
        ));
    }
    database
}

/// A database on a private server, which may be restarted; `None` where no server can be created.
///
/// # Panics
/// Under the same conditions as [`database`].
#[must_use]
pub fn private_database() -> Option<TestDatabase> {
    or_skipped(PostgresServer::private().map(|server| Arc::new(server).database()))
}

/// A PostgreSQL server.
pub struct PostgresServer {
    url: Url,
    guard: Option<Mutex<PostgresGuard>>,
}

struct PostgresGuard {
    child: Child,
    says: BufReader<ChildStdout>,
}

impl PostgresServer {
    fn private() -> Option<Self> {
        let Some(programs) = programs() else {
            let ci = std::env::var("CI").is_ok_and(|value| value == "true");
            assert!(!ci, "CI=true and no PostgreSQL: install it, or set {GIVEN}");
            return None;
        };
        let mut guard = as_somebody();
        // A signal to the tests must not reach the server.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut guard, 0);
        let mut child = guard
            .arg("sh")
            .args(["-c", SCRIPT])
            .env("PROGRAMS", programs)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut says = BufReader::new(child.stdout.take().unwrap());
        let mut folder = String::new();
        says.read_line(&mut folder).unwrap();
        let folder = folder.trim_end();
        assert!(!folder.is_empty(), "the server does not start");
        Some(Self {
            url: Url::parse(&format!(
                "postgres://postgres@localhost/postgres?host={folder}"
            ))
            .unwrap(),
            guard: Some(Mutex::new(PostgresGuard { child, says })),
        })
    }

    /// Stops the server as a crash would, and starts it again.
    pub fn restart(&self) {
        self.order("restart");
    }

    /// Stops the server as a crash would.
    pub fn stop(&self) {
        self.order("stop");
    }

    fn order(&self, order: &str) {
        let guard = self.guard.as_ref().expect("a private server");
        let mut guard = guard.lock().unwrap();
        let orders = guard.child.stdin.as_mut().unwrap();
        writeln!(orders, "{order}").unwrap();
        let mut done = String::new();
        guard.says.read_line(&mut done).unwrap();
        assert_eq!(done.trim_end(), order);
    }

    fn database(self: &Arc<Self>) -> TestDatabase {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("longhaul_test_{}_{number}", std::process::id());
        execute(self.url.as_str(), &format!("CREATE DATABASE {name}"));
        let mut url = self.url.clone();
        url.set_path(&name);
        TestDatabase {
            url: url.to_string(),
            name,
            server: Arc::clone(self),
        }
    }
}

/// A private server is stopped with its last database, not only with the process.
impl Drop for PostgresGuard {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // If waiting fails, the server stops by itself.
        let _ = self.child.wait();
    }
}

/// Runs SQL on a thread of its own, because the caller may be on a runtime.
fn execute(url: &str, sql: &str) {
    let work = || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(async {
            let mut connection = PgConnection::connect(url).await.unwrap();
            connection.execute(sqlx::raw_sql(sql)).await.unwrap();
            connection.close().await.unwrap();
        });
    };
    std::thread::scope(|scope| scope.spawn(work).join().unwrap());
}

/// The folder with `initdb` and `pg_ctl`.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path)
        // There may be only a link to it.
        .filter_map(|folder| folder.join("initdb").canonicalize().ok())
        .filter_map(|program| program.parent().map(Path::to_owned));
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let mut installed: Vec<PathBuf> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .collect();
    installed.sort();
    let all = |folder: &PathBuf| folder.join("initdb").exists() && folder.join("pg_ctl").exists();
    on_path.chain(installed.into_iter().rev()).find(all)
}

/// A command that runs another one as the current user, but never as root, which PostgreSQL refuses.
fn as_somebody() -> Command {
    let says = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    };
    if says("id", &["-u"]).as_deref() != Some("0") {
        return Command::new("env");
    }
    let user = ["postgres", "nobody"]
        .into_iter()
        .find(|user| says("id", &["-u", user]).is_some())
        .expect("a user besides root");
    let group = says("id", &["-gn", user]).unwrap();
    if says("setpriv", &["--version"]).is_some() {
        let mut command = Command::new("setpriv");
        command.arg(format!("--reuid={user}"));
        command.args([&format!("--regid={group}"), "--clear-groups"]);
        return command;
    }
    let mut command = Command::new("runuser");
    command.args(["-u", user, "--"]);
    command
}
