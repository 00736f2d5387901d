//! How long calls took, as percentiles (documented in docs/gateway.md).

use std::collections::BTreeMap;

use http::{Response, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::query::AskedQuery;
use super::savings::failed;
use crate::own_body::{OwnBody, json_answer};
use crate::state::GatewayState;
use crate::store::{CallSpan, LatencyRow};

/// The path of it.
pub(super) const PATH: &str = "/longhaul/api/latency";
/// The most models that are answered one by one: those with the most calls.
const MOST: usize = 100;
/// Which of the calls is quoted, in thousandths of all.
const PERCENTILES: [(&str, u64); 4] = [("p50", 500), ("p90", 900), ("p95", 950), ("p99", 990)];

pub(super) async fn answer(state: &GatewayState, query: Option<&str>) -> Response<OwnBody> {
    let read = || {
        let asked = AskedQuery::read(query, &["since", "until"])?;
        let (since, until) = (asked.time("since")?, asked.time("until")?);
        Ok::<_, String>((
            since.unwrap_or(Timestamp::UNIX_EPOCH),
            until.unwrap_or(Timestamp::MAX),
        ))
    };
    let (since, until) = match read() {
        Ok(asked) => asked,
        Err(why) => return json_answer(StatusCode::BAD_REQUEST, &json!({"error": why})),
    };
    match state.store.latency(since, until).await {
        Ok(rows) => json_answer(StatusCode::OK, &shown(&rows)),
        Err(error) => failed(&error),
    }
}

/// Calls by how long they took.
#[derive(Default)]
struct LatencyCounts(BTreeMap<u64, u64>);

impl LatencyCounts {
    fn calls(&self) -> u64 {
        self.0.values().sum()
    }

    /// The percentiles in milliseconds; null without calls.
    fn percentiles(&self) -> Value {
        let calls = self.calls();
        let mut shown = json!({"calls": calls});
        for (name, of_thousand) in PERCENTILES {
            // The call that this share of all calls was not slower than.
            let rank = (calls * of_thousand).div_ceil(1_000).max(1);
            let mut seen = 0;
            let found = self.0.iter().find(|(_, count)| {
                seen += **count;
                seen >= rank
            });
            shown[name] = json!(found.map(|(millis, _)| millis));
        }
        shown
    }
}

fn shown(rows: &[LatencyRow]) -> Value {
    let mut models: BTreeMap<&str, BTreeMap<CallSpan, LatencyCounts>> = BTreeMap::new();
    let mut all: BTreeMap<CallSpan, LatencyCounts> = BTreeMap::new();
    for row in rows {
        let of_model = models.entry(&row.model).or_default();
        for counts in [of_model, &mut all] {
            let counts = counts.entry(row.span).or_default();
            *counts.0.entry(row.millis).or_default() += row.calls;
        }
    }
    let spans = |counts: &BTreeMap<CallSpan, LatencyCounts>| {
        let none = LatencyCounts::default();
        let of = |span| counts.get(&span).unwrap_or(&none).percentiles();
        json!({"whole": of(CallSpan::Whole), "beginning": of(CallSpan::Beginning)})
    };
    let calls = |counts: &BTreeMap<CallSpan, LatencyCounts>| {
        counts.get(&CallSpan::Whole).map_or(0, LatencyCounts::calls)
    };
    let mut each: Vec<_> = models.iter().collect();
    each.sort_by_key(|(_, counts)| std::cmp::Reverse(calls(counts)));
    let each = each.into_iter().take(MOST).map(|(model, counts)| {
        let mut shown = spans(counts);
        shown["model"] = json!(model);
        shown
    });
    json!({"models": each.collect::<Vec<_>>(), "all": spans(&all)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_call_that_this_share_was_not_slower_than() {
        let row = |model: &str, millis, calls| LatencyRow {
            model: model.to_owned(),
            span: CallSpan::Whole,
            millis,
            calls,
        };
        let rows = [row("a", 100, 89), row("a", 200, 10), row("b", 9_000, 1)];
        let shown = shown(&rows);
        assert_eq!(
            shown["all"]["whole"],
            json!({"calls": 100, "p50": 100, "p90": 200, "p95": 200, "p99": 200})
        );
        assert_eq!(shown["models"][0]["model"], "a");
        assert_eq!(shown["models"][1]["whole"]["p50"], 9_000);
        assert_eq!(shown["all"]["beginning"]["p99"], Value::Null);
    }
}
