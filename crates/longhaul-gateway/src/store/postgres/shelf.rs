//! Rewrites: put durably, found by hash.

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use sqlx::postgres::PgRow;
use sqlx::{Connection, PgConnection, Row};

use super::super::{Kind, Made, Rewrite, Sealed};
use super::read::{count, dollars, hash, id, limit, small, time};
use super::write::{signed, text};
use crate::line::{LineId, Seal, SessionId, Tenant};

/// A use is written down again after so long: purges are not more exact than that.
const USED_EVERY: SignedDuration = SignedDuration::from_hours(1);

/// What a transaction commits is on the disk, also where the server is told to be quick rather than safe.
pub(super) async fn durably(transaction: &mut PgConnection) -> sqlx::Result<()> {
    let durable = "SELECT set_config('synchronous_commit', 'on', TRUE)
                   WHERE current_setting('synchronous_commit') = 'off'";
    sqlx::query(durable).execute(transaction).await?;
    Ok(())
}

pub(super) async fn probe(connection: &mut PgConnection) -> sqlx::Result<()> {
    let mut transaction = connection.begin().await?;
    durably(&mut transaction).await?;
    let probe = "INSERT INTO longhaul.probe (id, at) VALUES (1, now())
                 ON CONFLICT (id) DO UPDATE SET at = excluded.at";
    sqlx::query(probe).execute(&mut *transaction).await?;
    transaction.commit().await
}

pub(super) async fn put(
    connection: &mut PgConnection,
    sealed: &Sealed<Rewrite>,
) -> sqlx::Result<()> {
    let rewrite = &sealed.stored;
    let mut transaction = connection.begin().await?;
    durably(&mut transaction).await?;
    let made = &rewrite.made;
    // The same may be put twice, when it is not known whether the first time was good.
    let number: i64 = sqlx::query(
        "INSERT INTO longhaul.made
             (session, line, at, kind, before, after, millis, waited, cost_pico, report)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (line, at, kind) DO UPDATE SET session = excluded.session,
             before = excluded.before, after = excluded.after, millis = excluded.millis,
             waited = excluded.waited, cost_pico = excluded.cost_pico, report = excluded.report
         RETURNING id",
    )
    .bind(made.session.0.cast_signed())
    .bind(made.line.0.cast_signed())
    .bind(made.at.as_millisecond())
    .bind(made.kind.name())
    .bind(signed(made.before))
    .bind(signed(made.after))
    .bind(signed(made.millis))
    .bind(signed(made.waited_column()))
    .bind(
        made.cost
            .map(|cost| i64::try_from(cost.pico()).unwrap_or(i64::MAX)),
    )
    .bind(text(&made.report))
    .fetch_one(&mut *transaction)
    .await?
    .try_get(0)?;
    sqlx::query(
        "INSERT INTO longhaul.rewrite
             (tenant, at, messages, made, used, root, summary, settled, cleared, lines, text, seal)
         VALUES (coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1),
             $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (tenant, at) DO UPDATE SET messages = excluded.messages, made = excluded.made,
             used = excluded.used, root = excluded.root, summary = excluded.summary,
             settled = excluded.settled, cleared = excluded.cleared, lines = excluded.lines,
             text = excluded.text, seal = excluded.seal",
    )
    .bind(rewrite.tenant.0.cast_signed())
    .bind(rewrite.at.to_le_bytes())
    .bind(i64::from(rewrite.messages))
    .bind(number)
    .bind(Timestamp::now().as_millisecond())
    .bind(rewrite.root.map(u128::to_le_bytes))
    .bind(signed(rewrite.summary as u64))
    .bind(rewrite.settled)
    .bind(serde_json::Value::from(rewrite.cleared.clone()).to_string())
    .bind(&rewrite.lines[..])
    .bind(&rewrite.text[..])
    .bind(sealed.seal.map(|seal| seal.0.to_vec()))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

pub(super) async fn find(
    connection: &mut PgConnection,
    tenant: Tenant,
    at: &[u128],
    least: u32,
) -> sqlx::Result<Option<Sealed<Rewrite>>> {
    let hashes: Vec<Vec<u8>> = at.iter().map(|hash| hash.to_le_bytes().to_vec()).collect();
    let row = sqlx::query(
        "SELECT m.session, m.line, m.at, m.kind, m.before, m.after, m.millis, m.waited, m.cost_pico,
                m.report, r.at, r.messages, r.used, r.root, r.summary, r.settled, r.cleared, r.lines,
                r.text, r.id, r.seal
         FROM longhaul.rewrite r JOIN longhaul.made m ON m.id = r.made
         WHERE r.tenant = coalesce((SELECT tenant FROM longhaul.tenant WHERE of_key = $1), $1)
             AND r.at = ANY ($2) AND r.messages > $3 AND r.seal IS NOT NULL
         ORDER BY r.messages DESC LIMIT 1",
    )
    .bind(tenant.0.cast_signed())
    .bind(hashes)
    .bind(i64::from(least))
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let bytes = |at| row.try_get::<Vec<u8>, _>(at).map(Bytes::from);
    let root: Option<Vec<u8>> = row.try_get(13)?;
    let found = Rewrite {
        tenant,
        at: hash(&row, 10)?,
        messages: small(&row, 11)?,
        text: bytes(18)?,
        root: root
            .and_then(|root| root.try_into().ok())
            .map(u128::from_le_bytes),
        summary: small(&row, 14)?,
        lines: bytes(17)?,
        cleared: serde_json::from_str(row.try_get(16)?).unwrap_or_default(),
        settled: row.try_get(15)?,
        made: made(&row)?,
    };
    let now = Timestamp::now();
    if row.try_get::<i64, _>(12)? < (now - USED_EVERY).as_millisecond() {
        let used = sqlx::query("UPDATE longhaul.rewrite SET used = $1 WHERE id = $2");
        let used = used.bind(now.as_millisecond());
        used.bind(row.try_get::<i64, _>(19)?)
            .execute(connection)
            .await?;
    }
    let seal: Option<Vec<u8>> = row.try_get(20)?;
    Ok(Some(Sealed {
        stored: found,
        seal: seal.as_deref().and_then(Seal::stored),
    }))
}

pub(super) async fn made_in(
    connection: &mut PgConnection,
    session: SessionId,
    most: usize,
) -> sqlx::Result<Vec<Made>> {
    let rows = sqlx::query(
        "SELECT session, line, at, kind, before, after, millis, waited, cost_pico, report
         FROM longhaul.made WHERE session = $1 ORDER BY at DESC, id DESC LIMIT $2",
    );
    let rows = rows.bind(session.0.cast_signed()).bind(limit(most));
    let rows = rows.fetch_all(connection).await?;
    rows.iter().rev().map(made).collect()
}

fn made(row: &PgRow) -> sqlx::Result<Made> {
    Ok(Made {
        session: SessionId(id(row, 0)?),
        line: LineId(id(row, 1)?),
        at: time(row, 2)?.unwrap_or_default(),
        kind: Kind::of(row.try_get(3)?).unwrap_or(Kind::Extracted),
        before: count(row, 4)?,
        after: count(row, 5)?,
        millis: count(row, 6)?,
        waited: Made::waited_of(count(row, 7)?),
        cost: dollars(row, 8)?,
        report: row.try_get(9)?,
    })
}
