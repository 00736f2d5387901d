//! What managing conversations was worth: what was spent, what was left out, and what that saved.
//!
//! `worth.rs` says what tokens that were not sent would have cost at the least; the page and the reports use it alike.
//! `report.rs` adds the usage log up by day, session, key, model or agent, `losses.rs` what the compactions of a run lost.

mod losses;
mod report;
mod worth;

use longhaul_core::models::ModelTable;

pub use losses::LossTotals;
pub(crate) use report::added_up;
pub use report::{SavingsGrouping, SavingsReport, SavingsRow};
pub(crate) use worth::{of_calls, of_left_out};

use crate::store::{PrefixStore, SpendQuery, StoreError, UsageLogStore};

/// How many compactions of a session are looked at for what was lost.
const COMPACTIONS: usize = 1_000;

/// What was spent and saved, and what the compactions of that time lost.
///
/// # Errors
/// Fails if a store cannot be read.
pub async fn look_up(
    log: &dyn UsageLogStore,
    prefixes: &dyn PrefixStore,
    query: SpendQuery,
    by: SavingsGrouping,
    models: &ModelTable,
) -> Result<(SavingsReport, LossTotals), StoreError> {
    let rows = log.spend(query).await?;
    let mut sessions: Vec<_> = rows.iter().filter_map(|row| row.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let mut made = Vec::new();
    for session in sessions {
        made.extend(prefixes.made(session, COMPACTIONS).await?);
    }
    made.retain(|made| query.since.is_none_or(|since| made.at >= since));
    Ok((SavingsReport::of(&rows, by, models), LossTotals::of(&made)))
}
