//! Claims among gateways: advisory locks of one session, on a connection reserved for them.
//!
//! The server releases them when that connection ends, so a gateway that dies holds none. Within this process a list
//! records what is claimed, because a session may take a lock that it already has.

use std::sync::Arc;

use sqlx::{Executor, PgConnection, Row};
use tokio::sync::Mutex;

use super::super::claims::LocalClaims as Here;
use super::super::{Claim, StoreError};
use super::backoff::{ASKING, StoreBackoff};
use super::connect::{PostgresAddress, error_text};

/// A machine that vanished is noticed within a minute.
const SETTINGS: &str =
    "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3";

#[derive(Debug, Clone)]
pub(super) struct AdvisoryClaims {
    here: Here,
    place: PostgresAddress,
    connection: Arc<Mutex<Option<PgConnection>>>,
    rest: StoreBackoff,
}

struct AdvisoryClaim {
    key: u64,
    here: Option<Box<dyn Claim>>,
    claims: AdvisoryClaims,
}

impl Claim for AdvisoryClaim {}

impl AdvisoryClaims {
    pub(super) fn new(place: PostgresAddress, rest: StoreBackoff) -> Self {
        Self {
            here: Here::default(),
            place,
            connection: Arc::default(),
            rest,
        }
    }

    pub(super) async fn claim(&self, key: u64) -> Result<Option<Box<dyn Claim>>, StoreError> {
        let Some(here) = self.here.claim(key) else {
            return Ok(None);
        };
        let question = self.rest.ask()?;
        let asking = self.ask("SELECT pg_try_advisory_lock($1)", key);
        let got = tokio::time::timeout(ASKING, asking).await;
        let got = got.unwrap_or_else(|_| {
            let place = self.place.shown();
            Err(StoreError::NoAnswer(format!("{place}: no claim in time")))
        });
        let got = got.map_err(|error| match error {
            // The server cannot be reached.
            StoreError::Open { .. } => StoreError::NoAnswer(error.to_string()),
            other => other,
        });
        question.ended(&got);
        Ok(got?.then(|| {
            Box::new(AdvisoryClaim {
                key,
                here: Some(here),
                claims: self.clone(),
            }) as Box<dyn Claim>
        }))
    }

    /// Runs a query on the connection; if that turns out to be broken, once more on a new one.
    async fn ask(&self, question: &'static str, key: u64) -> Result<bool, StoreError> {
        let mut kept = self.connection.lock().await;
        if let Some(mut connection) = kept.take()
            && let Ok(answer) = asked(&mut connection, question, key).await
        {
            *kept = Some(connection);
            return Ok(answer);
        }
        let mut connection = self.place.connect("longhaul claims").await?;
        let failed = |error| StoreError::Failed(error_text(&error));
        let set = connection.execute(sqlx::raw_sql(SETTINGS)).await;
        set.map_err(failed)?;
        let answer = asked(&mut connection, question, key)
            .await
            .map_err(failed)?;
        *kept = Some(connection);
        Ok(answer)
    }

    /// Releases a lock. If the connection is gone, so is the lock.
    async fn give_back(&self, key: u64) {
        let mut kept = self.connection.lock().await;
        if let Some(mut connection) = kept.take()
            && asked(&mut connection, "SELECT pg_advisory_unlock($1)", key)
                .await
                .is_ok()
        {
            *kept = Some(connection);
        }
    }
}

async fn asked(
    connection: &mut PgConnection,
    question: &'static str,
    key: u64,
) -> sqlx::Result<bool> {
    let question = sqlx::query(question).bind(key.cast_signed());
    question.fetch_one(connection).await?.try_get(0)
}

impl Drop for AdvisoryClaim {
    fn drop(&mut self) {
        // Without a runtime the process is ending, and its connections with it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let (claims, here, key) = (self.claims.clone(), self.here.take(), self.key);
        runtime.spawn(async move {
            claims.give_back(key).await;
            // Only now may this process claim it again.
            drop(here);
        });
    }
}
