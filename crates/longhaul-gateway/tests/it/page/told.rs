//! A long session that was compacted again and again, as the usage log and the prefix store would hold it, and many
//! short ones.

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use longhaul_core::message::Usage;
use longhaul_core::models::ModelTable;
use longhaul_core::money::Usd;
use longhaul_gateway::branch::{BranchId, GatewaySessionId, HistoryChain, Tenant};
use longhaul_gateway::calling_agent::CallingAgent;
use longhaul_gateway::store::{
    BranchRecord, CallEnding, CallOrigin, CallRecord, CompactedPrefix, CompactedPrefixKind,
    InMemoryStore, PrefixProvenance, PrefixReport, PrefixStore, UsageLogRecord, UsageLogStore,
};
use serde_json::json;

use crate::support::sealed;

pub(crate) const SESSION: GatewaySessionId = GatewaySessionId(0x9f3c_21b8_04d7_e6a5);
pub(crate) const CAUSE: &str = "cache broke: 98,412 tokens read last time, 18,204 now (−81%, cost $0.4010): tool 14 `Read` changed (description)";
pub(crate) const MARKUP: &str = "<img src=x onerror=\"document.title='owned'\"><b>bold</b>";
/// The first words of the long session, which look like markup.
pub(crate) const TITLE: &str = "Move the <b>billing</b> service to the new ledger";
pub(crate) const ERROR: &str = "overloaded_error: Overloaded";
/// What it cost to write to the cache what a summary left.
pub(crate) const SETTLING_PICO: i128 = 10_000_000_000;
const LINE: BranchId = BranchId(0x11aa_22bb_33cc_44dd);
const AGENT: BranchId = BranchId(0x77ee_00ff_1234_5678);
const TENANT: Tenant = Tenant(0x4c4c_0000_1111_2222);
const MODEL: &str = "claude-opus-4-5";
const SMALL: &str = "claude-haiku-4-5";
/// How many short sessions there are.
pub(crate) const SHORT: u64 = 68;

fn began() -> Timestamp {
    let now = Timestamp::now().as_millisecond();
    Timestamp::from_millisecond(now - 3 * 3_600_000).unwrap()
}

fn minute(at: f64) -> Timestamp {
    began() + SignedDuration::from_millis((at * 60_000.0) as i64)
}

fn line(
    line: BranchId,
    session: GatewaySessionId,
    model: &str,
    messages: u32,
    seen: Timestamp,
) -> UsageLogRecord {
    UsageLogRecord::Line(BranchRecord {
        line,
        tenant: TENANT,
        session,
        parent: None,
        chain: HistoryChain {
            hash: u128::from(line.0),
            messages,
            answered: true,
        },
        model: model.to_owned(),
        agent: line == AGENT,
        seen,
        title: (session == SESSION && line != AGENT).then(|| TITLE.to_owned()),
    })
}

fn call(
    of: BranchId,
    at: Timestamp,
    model: &str,
    messages: u32,
    usage: Usage,
) -> (BranchId, CallRecord) {
    let spec = ModelTable::builtin().resolve(model).spec;
    let usage_output = usage.output;
    let record = CallRecord {
        at,
        model: model.to_owned(),
        messages,
        status: 200,
        ended: CallEnding::Whole,
        millis: 1_800 + usage.output * 7,
        cost: spec.cost_of_reply(&usage),
        usage: Some(usage),
        finding: None,
        saved: 0,
        rewritten: false,
        partial: false,
        caller: CallingAgent {
            agent: (of == LINE).then(|| "claude-cli".to_owned()),
            run: None,
        },
        began: Some(640 + usage_output * 2),
        error: None,
        breakpoints: Some(true),
        origin: CallOrigin::default(),
    };
    (of, record)
}

fn made(
    at: f64,
    kind: CompactedPrefixKind,
    before: u64,
    after: u64,
    waited: u64,
    cost: Option<f64>,
) -> PrefixProvenance {
    let whole = kind != CompactedPrefixKind::Extracted;
    let mut report = json!({
        "tokens": {"before": before, "after": after},
        "user_messages": {"total": 14, "verbatim": if whole { 14 } else { 11 }, "shortened": if whole { 0 } else { 2 }, "omitted": u64::from(!whole)},
        "rules": {"total": 3, "verbatim": 3},
        "files": {"touched": 9, "restored": 5, "left_out": u64::from(!whole)},
        "todos": {"open": 4, "kept": 4},
        "results": {"cleared": 27, "archived": 0},
        "notes": if whole { vec![] } else { vec!["The model did not answer in time; extracts stand for its summary."] },
    });
    if kind != CompactedPrefixKind::Settled {
        let results = (0..27_u64).map(|number| {
            json!({"call": format!("toolu_{number:02}"), "tool": "Read", "about": format!("src/<i>{number}</i>.rs"), "tokens": 9_000 - number * 300})
        });
        let results: Vec<_> = results.collect();
        report["went"] = json!({"results": results, "more": 3, "recallable": true});
    }
    if kind == CompactedPrefixKind::Cleared {
        report["economy"] = json!({"policy": "clear", "action": "clear", "priceUsd": 0.14, "rentUsd": 0.08, "waivedUsd": 0.07,
            "tokensFreed": before - after, "savedPerRequestUsd": 0.026, "payBackRequests": 6});
    }
    PrefixProvenance {
        session: SESSION,
        line: LINE,
        at: minute(at),
        kind,
        before,
        after,
        millis: 9_400,
        waited: (waited > 0).then_some(waited),
        cost: cost.map(|dollars| Usd::from_pico((dollars * 1e12) as i128)),
        report: PrefixReport::read(&report.to_string()),
    }
}

/// The long session: it grows, is cleared and summarized, breaks its cache twice and fails once.
pub(crate) fn long() -> (Vec<UsageLogRecord>, Vec<PrefixProvenance>) {
    let mut records = vec![
        line(LINE, SESSION, MODEL, 127, minute(160.0)),
        line(AGENT, SESSION, SMALL, 17, minute(90.0)),
    ];
    let (mut window, mut cached, mut left_out) = (21_000_u64, 0_u64, 0_u64);
    let mut compactions = Vec::new();
    for turn in 0..64_u32 {
        let at = 2.5 * f64::from(turn);
        let before = window;
        let shrink = match turn {
            18 => Some((CompactedPrefixKind::Cleared, 62_000, 0, None)),
            27 => Some((CompactedPrefixKind::Summarized, 34_000, 0, Some(0.171))),
            40 => Some((CompactedPrefixKind::Noted, 31_000, 0, None)),
            46 => Some((CompactedPrefixKind::Settled, 44_000, 0, None)),
            55 => Some((CompactedPrefixKind::Extracted, 36_000, 2_350, Some(0.052))),
            _ => None,
        };
        if let Some((kind, after, waited, cost)) = shrink {
            if kind == CompactedPrefixKind::Extracted {
                // The request that waited was to be sent with old results cleared, but that was not enough.
                let cleared = CompactedPrefixKind::Cleared;
                compactions.push(made(at - 0.5, cleared, before, before - 9_000, 0, None));
            }
            let one = made(at - 0.4, kind, before, after, waited, cost);
            if kind == CompactedPrefixKind::Summarized {
                // On a model that binds its thinking, its first use is recorded, too.
                let settled = PrefixProvenance {
                    at: minute(at - 0.1),
                    kind: CompactedPrefixKind::Settled,
                    cost: Some(Usd::from_pico(SETTLING_PICO)),
                    report: one.settled_report(),
                    ..one.clone()
                };
                compactions.extend([one, settled]);
            } else {
                compactions.push(one);
            }
            left_out += before - after;
            window = after;
            cached = 16_000;
        }
        let grown = 3_500 + u64::from(turn * 37 % 11) * 900;
        let broken = matches!(turn, 23 | 50);
        let read = if broken { 18_204 } else { cached };
        let output = 240 + u64::from(turn * 13 % 9) * 110;
        let usage = Usage {
            input: 12 + u64::from(turn % 7) * 190,
            cache_read: read,
            cache_write_5m: (window + grown).saturating_sub(read),
            output,
            ..Usage::default()
        };
        cached = window + grown;
        window = cached + output;
        let (of, mut record) = call(LINE, minute(at), MODEL, 1 + 2 * turn, usage);
        record.saved = left_out;
        record.rewritten = left_out > 0;
        record.finding = broken.then(|| CAUSE.to_owned());
        if turn == 33 {
            (record.status, record.usage, record.cost) = (529, None, None);
            record.error = Some(ERROR.to_owned());
        }
        records.push(UsageLogRecord::Call(Some(of), Box::new(record)));
    }
    for turn in 0..9_u32 {
        let usage = Usage {
            input: 30,
            cache_read: u64::from(turn) * 2_300,
            cache_write_5m: 2_400,
            output: 150,
            ..Usage::default()
        };
        let (of, record) = call(
            AGENT,
            minute(80.0 + f64::from(turn)),
            SMALL,
            1 + 2 * turn,
            usage,
        );
        records.push(UsageLogRecord::Call(Some(of), Box::new(record)));
    }
    (records, compactions)
}

/// Short sessions, older than the long one; one has a model whose name is markup.
fn short() -> Vec<UsageLogRecord> {
    let mut records = Vec::new();
    for number in 0..SHORT {
        let (of, session) = (
            BranchId(1_000 + number),
            GatewaySessionId(0xabc0_0000 + number),
        );
        let model = match number % 3 {
            _ if number == 1 => MARKUP,
            0 => "claude-sonnet-4-5-20250929",
            1 => "gpt-of-unknown-price",
            _ => MODEL,
        };
        let seen = began() - SignedDuration::from_mins(7 * number as i64);
        records.push(line(of, session, model, 3, seen));
        for turn in 0..(1 + number % 5) {
            let usage = Usage {
                input: 90,
                cache_read: turn * 4_000,
                cache_write_5m: 4_100,
                output: 300,
                ..Usage::default()
            };
            let (_, record) = call(of, seen, model, 1, usage);
            records.push(UsageLogRecord::Call(Some(of), Box::new(record)));
        }
    }
    records
}

/// Stores all sessions.
pub(crate) async fn fill(store: &InMemoryStore) {
    let (records, compactions) = long();
    store.append(records).await.unwrap();
    store.append(short()).await.unwrap();
    for (number, made) in (0_u32..).zip(compactions) {
        let rewrite = CompactedPrefix {
            tenant: TENANT,
            at: u128::from(number),
            messages: 10 + number,
            text: Bytes::from_static(b"{}"),
            root: None,
            summary: 0,
            lines: Bytes::new(),
            cleared: Vec::new(),
            derived: None,
            settled: true,
            made,
        };
        store.put(sealed(rewrite)).await.unwrap();
    }
}
