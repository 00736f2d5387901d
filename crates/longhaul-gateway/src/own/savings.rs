//! What was spent and saved, as JSON or CSV (documented in docs/gateway.md): of everything, of a range of days, or of one
//! run of an agent.

use std::collections::{BTreeMap, BTreeSet};

use http::{Request, Response, StatusCode};
use jiff::civil::Date;
use serde_json::{Value, json};

use super::csv::CsvTable;
use super::query::{AnswerFormat, AskedQuery};
use super::text_access::TextAccess;
use crate::branch::Tenant;
use crate::calling_agent::AgentRunId;
use crate::options::SessionNames;
use crate::own_body::{OwnBody, json_answer};
use crate::savings::{self, SavingsGrouping, SavingsReport, SavingsRow};
use crate::state::GatewayState;
use crate::store::{SessionRow, SpendDetail, SpendQuery, SpendRow, StoreError};

/// The path of it.
pub(super) const PATH: &str = "/longhaul/api/savings";
/// The most rows that are read from the store; the newest days come first.
const MOST_READ: usize = 200_000;
/// The most rows that are answered.
const MOST: usize = 1_000;
/// How many of the newest sessions are named.
const MOST_NAMED: usize = 10_000;
/// The most groups whose days are answered one by one.
const MOST_OVER_DAYS: usize = 8;

/// What is asked for.
struct AskedSavings {
    spend: SpendQuery,
    by: SavingsGrouping,
    model: Option<String>,
    key: Option<Tenant>,
    agent: Option<String>,
    over_days: bool,
    format: AnswerFormat,
}

pub(super) async fn answer<B>(state: &GatewayState, request: &Request<B>) -> Response<OwnBody> {
    let query = request.uri().query();
    let asked = match read(query) {
        Ok(asked) => asked,
        Err(why) => return json_answer(StatusCode::BAD_REQUEST, &json!({"error": why})),
    };
    let found = match asked.format {
        AnswerFormat::Json => {
            let access = TextAccess::of(state, request).await;
            found(state, &asked, access.names()).await
        }
        AnswerFormat::Csv => return csv(state, &asked).await,
    };
    match found {
        Ok(found) => json_answer(StatusCode::OK, &found),
        Err(error) => failed(&error),
    }
}

pub(super) fn failed(error: &StoreError) -> Response<OwnBody> {
    let error = json!({"error": error.to_string()});
    json_answer(StatusCode::INTERNAL_SERVER_ERROR, &error)
}

fn read(query: Option<&str>) -> Result<AskedSavings, String> {
    let known = [
        "since", "until", "run", "by", "over", "model", "key", "agent", "format",
    ];
    let asked = AskedQuery::read(query, &known)?;
    let by = match asked.text("by") {
        Some(by) => by.parse::<SavingsGrouping>()?,
        None => SavingsGrouping::default(),
    };
    let over_days = match asked.text("over") {
        None => false,
        Some("day") => true,
        Some(_) => return Err("`over` is `day`".to_owned()),
    };
    let run = asked.of::<AgentRunId>("run", "a hexadecimal number")?;
    let detail = match (run, by, over_days) {
        (Some(_), ..) | (None, SavingsGrouping::Session, true) => SpendDetail::DaysAndSessions,
        (None, SavingsGrouping::Session, false) => SpendDetail::Sessions,
        (None, ..) => SpendDetail::Days,
    };
    let key = asked.text("key").map(|key| u64::from_str_radix(key, 16));
    let key = key.transpose();
    Ok(AskedSavings {
        spend: SpendQuery {
            since: asked.time("since")?,
            until: asked.time("until")?,
            run,
            detail,
            most: run.is_none().then_some(MOST_READ),
        },
        by,
        model: asked.text("model").map(str::to_owned),
        key: key
            .map_err(|_| "`key` is a hexadecimal number")?
            .map(Tenant),
        agent: asked.text("agent").map(str::to_owned),
        over_days,
        format: asked.format()?,
    })
}

/// The rows of the usage log that are asked for, and whether there were too many to read.
struct ReadSpend {
    rows: Vec<SpendRow>,
    is_cut: bool,
}

async fn rows(state: &GatewayState, asked: &AskedSavings) -> Result<ReadSpend, StoreError> {
    let mut rows = state.store.spend(asked.spend).await?;
    let is_cut = asked.spend.most.is_some_and(|most| rows.len() >= most);
    rows.retain(|row| {
        asked.model.as_ref().is_none_or(|model| *model == row.model)
            && asked
                .key
                .is_none_or(|key| row.key == Some(key) || row.tenant == Some(key))
            && (asked.agent.as_ref()).is_none_or(|agent| row.agent.as_ref() == Some(agent))
    });
    Ok(ReadSpend { rows, is_cut })
}

async fn found(
    state: &GatewayState,
    asked: &AskedSavings,
    names: SessionNames,
) -> Result<Value, StoreError> {
    if asked.spend.run.is_some() {
        let (log, prefixes) = (&*state.store, &*state.prefix_store);
        let looked_up = savings::look_up(log, prefixes, asked.spend, asked.by, &state.models);
        let (report, lost) = looked_up.await?;
        let mut shown = shown(&report);
        shown["lost"] = json!(lost);
        return Ok(shown);
    }
    let ReadSpend { rows, is_cut } = rows(state, asked).await?;
    let report = SavingsReport::of(&rows, asked.by, &state.models);
    let mut shown = shown(&report);
    shown["incomplete"] = json!(is_cut);
    if asked.by == SavingsGrouping::Session {
        name_sessions(state, &mut shown, names).await?;
    }
    if asked.over_days {
        shown["days"] = json!(days(&rows, &report, asked.by, state));
    }
    Ok(shown)
}

/// Names the sessions of an answer as the list of sessions does.
async fn name_sessions(
    state: &GatewayState,
    shown: &mut Value,
    names: SessionNames,
) -> Result<(), StoreError> {
    let known = state.store.sessions(MOST_NAMED).await?;
    let known: BTreeMap<&str, &SessionRow> = known
        .iter()
        .map(|row| (row.session.as_str(), row))
        .collect();
    for row in shown["rows"].as_array_mut().into_iter().flatten() {
        let found = row["key"].as_str().and_then(|id| known.get(id));
        let title = found.and_then(|row| row.title.as_ref());
        row["title"] = json!(title.filter(|_| names == SessionNames::FirstWords));
        row["client"] = json!(found.and_then(|row| row.client.as_ref()));
    }
    Ok(())
}

/// A row with what the same would have cost otherwise.
fn row(row: &SavingsRow) -> Value {
    let mut shown = json!(row);
    shown["without_usd"] = json!(row.without_usd());
    shown["saved_share"] = json!(row.saved_share());
    shown
}

fn shown(report: &SavingsReport) -> Value {
    let rows: Vec<Value> = report.rows.iter().take(MOST).map(row).collect();
    json!({
        "by": report.by,
        "rows": rows,
        "more_rows": report.rows.len().saturating_sub(MOST),
        "total": row(&report.total),
        "simulated": report.simulated.as_ref().map(row),
    })
}

/// What each group cost on each day. The groups that cost least are one, named null.
fn days(
    rows: &[SpendRow],
    report: &SavingsReport,
    by: SavingsGrouping,
    state: &GatewayState,
) -> Vec<Value> {
    let named = report.rows.iter().take(MOST_OVER_DAYS);
    let named: BTreeSet<&str> = named.map(|row| row.key.as_str()).collect();
    let mut groups: BTreeMap<(Date, Option<String>), Vec<&SpendRow>> = BTreeMap::new();
    // What was simulated is shown only where nothing else is.
    let is_real = rows.iter().any(|row| !row.simulated);
    for row in rows.iter().filter(|row| !(row.simulated && is_real)) {
        let key = match by {
            SavingsGrouping::Day => Some(String::new()),
            _ => Some(by.of(row)).filter(|key| named.contains(key.as_str())),
        };
        groups.entry((row.day, key)).or_default().push(row);
    }
    let days = groups.into_iter().map(|((day, key), rows)| {
        let total = savings::added_up(String::new(), &rows, &state.models);
        json!({
            "day": day, "key": key, "calls": total.calls, "cost_usd": total.cost_usd,
            "own_cost_usd": total.own_cost_usd, "summaries_cost_usd": total.summaries_cost_usd,
            "simulated": total.simulated, "saved_usd": total.saved_usd,
        })
    });
    days.collect()
}

/// The columns of the file.
const COLUMNS: [&str; 19] = [
    "key",
    "simulated",
    "calls",
    "failed",
    "unpriced",
    "unmeasured",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "cost_usd",
    "own_calls",
    "own_cost_usd",
    "compactions",
    "summaries_cost_usd",
    "saved_tokens",
    "saved_usd",
    "without_usd",
    "saved_share",
];

async fn csv(state: &GatewayState, asked: &AskedSavings) -> Response<OwnBody> {
    let ReadSpend { rows, .. } = match rows(state, asked).await {
        Ok(read) => read,
        Err(error) => return failed(&error),
    };
    let name = asked.by.name();
    if asked.over_days && asked.by != SavingsGrouping::Day {
        let mut table = CsvTable::new(&[&["day"], &COLUMNS[..]].concat());
        let mut by_day: BTreeMap<Date, Vec<SpendRow>> = BTreeMap::new();
        for row in rows {
            by_day.entry(row.day).or_default().push(row);
        }
        for (day, rows) in by_day {
            for one in SavingsReport::of(&rows, asked.by, &state.models).rows {
                let mut shown = row(&one);
                shown["day"] = json!(day);
                table.push(&shown);
            }
        }
        return table.answer(&format!("longhaul-by-{name}-and-day"));
    }
    let mut table = CsvTable::new(&COLUMNS);
    for one in SavingsReport::of(&rows, asked.by, &state.models).rows {
        table.push(&row(&one));
    }
    table.answer(&format!("longhaul-by-{name}"))
}
