//! The connection to the server: a pool, timeouts, and what is retried.

use std::str::FromStr;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, Executor, PgConnection, Postgres};

use super::super::StoreError;
use super::backoff::{ASKING, StoreBackoff};

/// Connections of one gateway for the usage log and the prefix store; one more is for claims.
const MOST: u32 = 8;
/// How long to wait for a free connection.
const ACQUIRING: Duration = Duration::from_secs(4);
/// How long to wait for a new connection where nothing else limits it.
const CONNECTING: Duration = Duration::from_secs(10);
/// The pause between two attempts: the first one, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));
/// The settings of a connection: the server ends what hangs.
const SETTINGS: &str =
    "SET statement_timeout = '60s'; SET idle_in_transaction_session_timeout = '60s'";

/// The address of the server.
#[derive(Clone)]
pub(super) struct PostgresAddress {
    options: PgConnectOptions,
    shown: String,
}

impl std::fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}

impl PostgresAddress {
    pub(super) fn of(url: &str) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url).map_err(|error| StoreError::Open {
            place: "postgres".to_owned(),
            reason: error_text(&error),
        })?;
        // Statements contain no values, but there are many of them.
        let options = options.disable_statement_logging();
        let (host, port) = (options.get_host(), options.get_port());
        let host = match options.get_socket() {
            Some(folder) => folder.display().to_string(),
            None => format!("{host}:{port}"),
        };
        let database = options.get_database().unwrap_or(options.get_username());
        let shown = format!("postgres://{host}/{database}");
        Ok(Self { options, shown })
    }

    /// Opens a separate connection.
    pub(super) async fn connect(&self, name: &str) -> Result<PgConnection, StoreError> {
        let options = self.options.clone().application_name(name);
        match tokio::time::timeout(CONNECTING, PgConnection::connect_with(&options)).await {
            Ok(connected) => connected.map_err(|error| self.cannot(error_text(&error))),
            Err(_) => Err(self.cannot("it did not answer".to_owned())),
        }
    }

    pub(super) fn cannot(&self, reason: String) -> StoreError {
        let place = self.shown.clone();
        StoreError::Open { place, reason }
    }

    pub(super) fn shown(&self) -> &str {
        &self.shown
    }
}

/// A connection of the pool.
pub(super) type PooledConnection = PoolConnection<Postgres>;
/// An operation on a connection.
pub(super) type Attempt<T> = BoxFuture<'static, sqlx::Result<T>>;

/// The pool. Broken connections are replaced when they are next needed.
#[derive(Debug, Clone)]
pub(super) struct PostgresPool {
    pool: PgPool,
    place: PostgresAddress,
    rest: StoreBackoff,
}

impl PostgresPool {
    pub(super) fn new(place: PostgresAddress, rest: StoreBackoff) -> Self {
        let options = PgPoolOptions::new()
            .max_connections(MOST)
            .acquire_timeout(ACQUIRING)
            // A broken connection is noticed when it is used: that saves every request a round trip.
            .test_before_acquire(false)
            .after_connect(|connection, _| {
                Box::pin(async move {
                    connection.execute(sqlx::raw_sql(SETTINGS)).await?;
                    Ok(())
                })
            });
        let connect = place.options.clone().application_name("longhaul");
        Self {
            pool: options.connect_lazy_with(connect),
            place,
            rest,
        }
    }

    /// Runs an operation that a request may wait for and that may be repeated: for two seconds at most, and not at all
    /// while the server is left alone.
    pub(super) async fn ask<T>(
        &self,
        work: impl Fn(PooledConnection) -> Attempt<T> + Send + Sync,
    ) -> Result<T, StoreError> {
        let question = self.rest.ask()?;
        let done = self.attempt(ASKING, work).await;
        question.ended(&done);
        done
    }

    /// Runs an operation that may be repeated and that no request waits for: it is retried while the failure is
    /// transient and time is left.
    pub(super) async fn run<T>(
        &self,
        patience: Duration,
        work: impl Fn(PooledConnection) -> Attempt<T> + Send + Sync,
    ) -> Result<T, StoreError> {
        let done = self.attempt(patience, work).await;
        self.rest.heard(&done);
        done
    }

    async fn attempt<T>(
        &self,
        patience: Duration,
        work: impl Fn(PooledConnection) -> Attempt<T> + Send + Sync,
    ) -> Result<T, StoreError> {
        let mut last = None;
        let attempts = async {
            let (mut pause, most) = PAUSES;
            loop {
                let tried = match self.pool.acquire().await {
                    Ok(connection) => work(connection).await,
                    Err(error) => Err(error),
                };
                match tried {
                    Err(error) if passes(&error) => last = Some(error_text(&error)),
                    done => return done.map_err(|error| StoreError::Failed(error_text(&error))),
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(most);
            }
        };
        let done = tokio::time::timeout(patience, attempts).await;
        done.unwrap_or_else(|_| {
            let reason = last.unwrap_or_else(|| "it did not answer".to_owned());
            let place = self.place.shown();
            Err(StoreError::NoAnswer(format!("{place}: {reason}")))
        })
    }
}

/// Whether a retry may help: the connection or the server was lost, or other transactions were in the way.
fn passes(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            // Lost connections; shutting down and starting up; too many connections.
            code.starts_with("08") || code.starts_with("57P") || code == "53300"
                // Another transaction came first; a standby is about to take over.
                || matches!(&*code, "40001" | "40P01" | "23505" | "25006")
        }),
        _ => false,
    }
}

/// The error text for people.
pub(super) fn error_text(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Configuration(error) => format!("the address is wrong: {error}"),
        sqlx::Error::PoolTimedOut => "no connection".to_owned(),
        other => other.to_string(),
    }
}
