//! A replay for programs. `docs/replay.md` is the reference.

use jiff::Timestamp;
use longhaul_core::money::Usd;
use longhaul_core::prompt::Ttl;
use longhaul_core::replay::{
    ActionReason, ReplayWindow, ReplayedHost, ReplayedPolicy, RunAction, RunActionKind,
    SessionFacts,
};
use serde::Serialize;

use super::policy_names::policies;
use super::sessions::ReplayedSession;
use super::totals::{PolicyTotal, WindowTotal};
use super::{ReplayResult, notes};

/// The version of the object. It grows when a field changes its meaning or disappears.
const VERSION: u32 = 1;

#[derive(Serialize)]
pub(super) struct ReplayJson<'a> {
    version: u32,
    model: Option<&'a str>,
    ttl: Option<Ttl>,
    host: &'static str,
    totals: TotalsJson,
    sessions: Vec<SessionJson<'a>>,
    apart: Vec<ApartJson<'a>>,
    assumptions: Vec<String>,
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct TotalsJson {
    sessions: u64,
    requests: u64,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    recorded_usd: Usd,
    recorded_prompt_usd: Usd,
    recorded_summaries_usd: Usd,
    append_only_usd: Usd,
    median_deviation: Option<f64>,
    windows: Vec<WindowTotalJson>,
    recording: FactsJson,
    repeated_answers: u64,
}

#[derive(Serialize)]
struct WindowTotalJson {
    window: Option<u64>,
    policies: Vec<PolicyTotalJson>,
}

#[derive(Serialize)]
struct PolicyTotalJson {
    policy: &'static str,
    cost_usd: Usd,
    summaries_usd: Usd,
    summaries: u64,
    clearings: u64,
    peak_tokens: u64,
    of_recorded: Option<f64>,
    of_append_only: Option<f64>,
}

#[derive(Serialize)]
struct SessionJson<'a> {
    file: &'a str,
    models: &'a [String],
    ttl: Ttl,
    requests: u64,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    recorded_usd: Usd,
    recorded_prompt_usd: Usd,
    recomputed_prompt_usd: Usd,
    deviation: Option<f64>,
    recorded_summaries_usd: Usd,
    append_only_usd: Usd,
    append_only_peak_tokens: u64,
    windows: Vec<SessionWindowJson>,
    recording: FactsJson,
}

#[derive(Serialize)]
struct SessionWindowJson {
    window: Option<u64>,
    policies: Vec<SessionPolicyJson>,
}

#[derive(Serialize)]
struct SessionPolicyJson {
    policy: &'static str,
    cost_usd: Usd,
    prompt_usd: Usd,
    output_usd: Usd,
    summaries_usd: Usd,
    peak_tokens: u64,
    actions: Vec<ActionJson>,
}

#[derive(Serialize)]
struct ActionJson {
    request: usize,
    action: &'static str,
    reason: &'static str,
    freed_tokens: u64,
    price_usd: Option<Usd>,
    rent_usd: Option<Usd>,
    waived_usd: Option<Usd>,
}

#[derive(Serialize)]
struct FactsJson {
    entries: u64,
    damaged_lines: u64,
    without_usage: u64,
    sidechain_answers: u64,
    partial_outputs: u64,
    compactions: u64,
    clearings: u64,
    rewinds: u64,
    clock_steps_back: u64,
    model_switches: u64,
}

#[derive(Serialize)]
struct ApartJson<'a> {
    file: &'a str,
    reason: &'a str,
}

impl<'a> ReplayJson<'a> {
    pub(super) fn of(result: &'a ReplayResult) -> Self {
        let apart = result.sessions.apart.iter().map(|one| ApartJson {
            file: &one.file,
            reason: &one.reason,
        });
        Self {
            version: VERSION,
            model: result.basis.model.as_deref(),
            ttl: result.basis.ttl,
            host: match result.basis.host {
                ReplayedHost::Session => "session",
                ReplayedHost::Gateway => "gateway",
            },
            totals: totals(result),
            sessions: result.sessions.replayed.iter().map(session).collect(),
            apart: apart.collect(),
            assumptions: notes::assumptions(result),
            remarks: notes::oddities(result),
        }
    }
}

fn totals(result: &ReplayResult) -> TotalsJson {
    let totals = &result.totals;
    TotalsJson {
        sessions: result.sessions.replayed.len() as u64,
        requests: totals.requests,
        from: totals.span.map(|span| span.0),
        to: totals.span.map(|span| span.1),
        recorded_usd: totals.recorded,
        recorded_prompt_usd: totals.recorded_prompts,
        recorded_summaries_usd: totals.recorded_summaries,
        append_only_usd: totals.append_only.cost,
        median_deviation: totals.deviation,
        windows: totals
            .windows
            .iter()
            .map(|window| window_total(result, window))
            .collect(),
        recording: facts(totals.facts),
        repeated_answers: result.sessions.repeated_answers,
    }
}

fn window_total(result: &ReplayResult, window: &WindowTotal) -> WindowTotalJson {
    let policy = |policy: &PolicyTotal| PolicyTotalJson {
        policy: policy.name,
        cost_usd: policy.cost,
        summaries_usd: policy.summaries_cost,
        summaries: policy.summaries,
        clearings: policy.clearings,
        peak_tokens: policy.peak,
        of_recorded: part(policy.cost, result.totals.recorded),
        of_append_only: part(policy.cost, result.totals.append_only.cost),
    };
    WindowTotalJson {
        window: tokens(window.window),
        policies: window.policies.iter().map(policy).collect(),
    }
}

fn part(cost: Usd, whole: Usd) -> Option<f64> {
    let whole = whole.to_f64();
    (whole > 0.0).then(|| cost.to_f64() / whole)
}

/// The size of a window; none for the model's own.
fn tokens(window: ReplayWindow) -> Option<u64> {
    match window {
        ReplayWindow::Own => None,
        ReplayWindow::Tokens(tokens) => Some(tokens),
    }
}

fn session(session: &ReplayedSession) -> SessionJson<'_> {
    let report = &session.report;
    let windows = report.windows.iter().map(|window| SessionWindowJson {
        window: tokens(window.window),
        policies: policies(window)
            .into_iter()
            .map(|(name, replayed)| policy(name, replayed))
            .collect(),
    });
    SessionJson {
        file: &session.file,
        models: &report.models,
        ttl: report.ttl,
        requests: report.requests,
        from: report.span.map(|span| span.0),
        to: report.span.map(|span| span.1),
        recorded_usd: report.recorded.total(),
        recorded_prompt_usd: report.recorded.prompts,
        recomputed_prompt_usd: report.recorded.recomputed_prompts,
        deviation: report.recorded.deviation(),
        recorded_summaries_usd: report.recorded.summaries,
        append_only_usd: report.append_only.total(),
        append_only_peak_tokens: report.append_only.peak(),
        windows: windows.collect(),
        recording: facts(report.facts),
    }
}

fn policy(name: &'static str, replayed: &ReplayedPolicy) -> SessionPolicyJson {
    SessionPolicyJson {
        policy: name,
        cost_usd: replayed.total(),
        prompt_usd: replayed.prompt_side,
        output_usd: replayed.output,
        summaries_usd: replayed.summaries,
        peak_tokens: replayed.peak(),
        actions: replayed.actions.iter().map(action).collect(),
    }
}

fn action(action: &RunAction) -> ActionJson {
    let priced = action.reason == ActionReason::Price;
    ActionJson {
        // Requests are counted from 1, as people count.
        request: action.request + 1,
        action: action_name(action.kind),
        reason: reason_name(action.reason),
        freed_tokens: action.freed,
        price_usd: priced.then_some(action.price),
        rent_usd: priced.then_some(action.rent),
        waived_usd: priced.then_some(action.waived),
    }
}

/// What an action is called.
pub(super) fn action_name(kind: RunActionKind) -> &'static str {
    match kind {
        RunActionKind::Clear => "clear",
        RunActionKind::Summarize => "summarize",
    }
}

/// What a reason is called.
pub(super) fn reason_name(reason: ActionReason) -> &'static str {
    match reason {
        ActionReason::Price => "price",
        ActionReason::Idle => "idle",
        ActionReason::Threshold => "threshold",
        ActionReason::Schedule => "hindsight",
    }
}

fn facts(facts: SessionFacts) -> FactsJson {
    FactsJson {
        entries: facts.entries,
        damaged_lines: facts.damaged_lines,
        without_usage: facts.without_usage,
        sidechain_answers: facts.sidechain_answers,
        partial_outputs: facts.partial_outputs,
        compactions: facts.compactions,
        clearings: facts.clearings,
        rewinds: facts.rewinds,
        clock_steps_back: facts.clock_steps_back,
        model_switches: facts.model_switches,
    }
}
