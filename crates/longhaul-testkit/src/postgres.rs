//! A PostgreSQL server for tests: one that `LONGHAUL_TEST_POSTGRES` names, else a private one made with `initdb`.
//!
//! A private server listens on a socket in a folder of its own, keeps nothing on the disk for longer than needed, and is
//! watched by a shell that ends it and deletes the folder when this process ends, however it ends. Where there is neither,
//! [`database`] prints one line and gives nothing; under `CI=true` that is a failure. Everything panics where a test would.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "the helpers of tests are tests too"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use sqlx::{Connection as _, Executor as _, PgConnection};
use url::Url;

/// A URL of a server on which databases may be made.
const GIVEN: &str = "LONGHAUL_TEST_POSTGRES";
/// Makes, starts, starts again and ends a server.
const SCRIPT: &str = include_str!("postgres.sh");

/// An empty database of its own.
pub struct TestDatabase {
    url: String,
    name: String,
    server: Arc<PostgresServer>,
}

impl TestDatabase {
    /// Its URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The server that it is on.
    #[must_use]
    pub fn server(&self) -> &PostgresServer {
        &self.server
    }

    /// Runs SQL without an answer.
    pub fn execute(&self, sql: &str) {
        execute(&self.url, sql);
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        // A private server goes as a whole; a given one is left as it was found.
        if self.server.guard.is_none() {
            let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
            execute(self.server.url.as_str(), &drop);
        }
    }
}

/// A database on the server that all tests of this process share.
///
/// # Panics
/// When there is no server and the environment says `CI=true`, and when one cannot be started.
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
    SHARED
        .get_or_init(start)
        .as_ref()
        .map(PostgresServer::database)
}

/// A database on a server of its own, which may be restarted; nothing where none can be made.
///
/// # Panics
/// As [`database`].
#[must_use]
pub fn private_database() -> Option<TestDatabase> {
    PostgresServer::private().map(|server| Arc::new(server).database())
}

/// A server.
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
            println!("skipped: no PostgreSQL (set {GIVEN}, or put initdb on the PATH)");
            return None;
        };
        let mut guard = as_somebody();
        // A signal for the tests is none for it.
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

    /// Ends the server as a crash would, and starts it again.
    pub fn restart(&self) {
        self.order("restart");
    }

    /// Ends the server as a crash would.
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

/// A private server ends with its last database, not only with the process.
impl Drop for PostgresGuard {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // If it cannot be waited for, it ends by itself.
        let _ = self.child.wait();
    }
}

/// On a thread of its own: the caller may be on a runtime.
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

/// Where `initdb` and `pg_ctl` are.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path)
        // A link to it may stand alone.
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

/// A command that runs another: as ourselves, but not as root, whom PostgreSQL refuses.
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
