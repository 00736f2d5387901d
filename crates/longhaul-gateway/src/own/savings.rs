//! What was spent and saved, as JSON (documented in docs/gateway.md): of everything, or of one run of an agent.

use http::{Response, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::own_body::{OwnBody, json_answer};
use crate::savings::{self, SavingsGrouping, SavingsReport};
use crate::state::GatewayState;
use crate::store::{SpendQuery, StoreError};

/// The path of it.
pub(super) const PATH: &str = "/longhaul/api/savings";

pub(super) async fn answer(state: &GatewayState, query: Option<&str>) -> Response<OwnBody> {
    let (asked, by) = match read(query) {
        Ok(asked) => asked,
        Err(why) => return json_answer(StatusCode::BAD_REQUEST, &json!({"error": why})),
    };
    match found(state, asked, by).await {
        Ok(found) => json_answer(StatusCode::OK, &found),
        Err(error) => {
            let error = json!({"error": error.to_string()});
            json_answer(StatusCode::INTERNAL_SERVER_ERROR, &error)
        }
    }
}

/// Reads `since` (milliseconds since 1970), `run` and `by`.
fn read(query: Option<&str>) -> Result<(SpendQuery, SavingsGrouping), String> {
    let mut asked = SpendQuery::default();
    let mut by = SavingsGrouping::default();
    let pairs = query.unwrap_or_default().split('&');
    for pair in pairs.filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            "since" => {
                let millis = value.parse().ok();
                let since = millis.and_then(|millis| Timestamp::from_millisecond(millis).ok());
                asked.since = Some(since.ok_or("`since` is a number of milliseconds since 1970")?);
            }
            "run" => asked.run = Some(value.parse().map_err(|_| "`run` is a hexadecimal number")?),
            "by" => by = value.parse()?,
            _ => {
                return Err(format!(
                    "there is no {name:?}; ask with `since`, `run` and `by`"
                ));
            }
        }
    }
    Ok((asked, by))
}

async fn found(
    state: &GatewayState,
    asked: SpendQuery,
    by: SavingsGrouping,
) -> Result<Value, StoreError> {
    let Some(_) = asked.run else {
        let log = state.store.spend(asked).await?;
        return Ok(json!(SavingsReport::of(&log, by, &state.models)));
    };
    let (log, prefixes) = (&*state.store, &*state.prefix_store);
    let (report, lost) = savings::look_up(log, prefixes, asked, by, &state.models).await?;
    let mut shown = json!(report);
    shown["lost"] = json!(lost);
    Ok(shown)
}
