//! The sums over all sessions.

use jiff::Timestamp;
use longhaul_core::money::Usd;
use longhaul_core::replay::{ReplayedPolicy, RunActionKind, SessionFacts};

use super::policy_names::{APPEND_ONLY, policies};
use super::sessions::ReplayedSessions;

/// The sums over all replayed sessions.
#[derive(Default)]
pub(super) struct ReplayTotals {
    pub(super) requests: u64,
    pub(super) recorded: Usd,
    pub(super) recorded_prompts: Usd,
    pub(super) recorded_summaries: Usd,
    pub(super) append_only: PolicyTotal,
    /// The windows in the order in which they were asked for.
    pub(super) windows: Vec<WindowTotal>,
    pub(super) facts: SessionFacts,
    pub(super) span: Option<(Timestamp, Timestamp)>,
    /// How far the computed bills of the sessions are from the recorded ones: the median of the absolute shares.
    pub(super) deviation: Option<f64>,
    pub(super) models: Vec<String>,
}

/// The sums of one window.
pub(super) struct WindowTotal {
    pub(super) window: longhaul_core::replay::ReplayWindow,
    /// The policies and the best in hindsight, in the order in which they are shown.
    pub(super) policies: Vec<PolicyTotal>,
}

/// The sums of one policy.
#[derive(Default, Clone)]
pub(super) struct PolicyTotal {
    pub(super) name: &'static str,
    pub(super) cost: Usd,
    pub(super) summaries_cost: Usd,
    pub(super) summaries: u64,
    pub(super) clearings: u64,
    pub(super) peak: u64,
}

impl PolicyTotal {
    fn add(&mut self, policy: &ReplayedPolicy) {
        let done = |kind| policy.actions.iter().filter(move |one| one.kind == kind);
        self.cost += policy.total();
        self.summaries_cost += policy.summaries;
        self.summaries += done(RunActionKind::Summarize).count() as u64;
        self.clearings += done(RunActionKind::Clear).count() as u64;
        self.peak = self.peak.max(policy.peak());
    }
}

impl ReplayTotals {
    pub(super) fn of(sessions: &ReplayedSessions) -> Self {
        let mut totals = Self::default();
        let mut deviations = Vec::new();
        totals.append_only.name = APPEND_ONLY;
        for session in &sessions.replayed {
            let report = &session.report;
            totals.requests += report.requests;
            totals.recorded += report.recorded.total();
            totals.recorded_prompts += report.recorded.prompts;
            totals.recorded_summaries += report.recorded.summaries;
            totals.append_only.add(&report.append_only);
            deviations.extend(report.recorded.deviation().map(f64::abs));
            totals.facts = sum(totals.facts, report.facts);
            totals.span = match (totals.span, report.span) {
                (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
                (one, other) => one.or(other),
            };
            for model in &report.models {
                if !totals.models.contains(model) {
                    totals.models.push(model.clone());
                }
            }
            for (at, window) in report.windows.iter().enumerate() {
                let named = policies(window);
                if totals.windows.len() == at {
                    totals.windows.push(WindowTotal {
                        window: window.window,
                        policies: named
                            .iter()
                            .map(|(name, _)| PolicyTotal {
                                name,
                                ..PolicyTotal::default()
                            })
                            .collect(),
                    });
                }
                for (total, (_, policy)) in totals.windows[at].policies.iter_mut().zip(named) {
                    total.add(policy);
                }
            }
        }
        deviations.sort_by(f64::total_cmp);
        totals.deviation = deviations.get(deviations.len() / 2).copied();
        totals
    }
}

fn sum(one: SessionFacts, other: SessionFacts) -> SessionFacts {
    SessionFacts {
        entries: one.entries + other.entries,
        damaged_lines: one.damaged_lines + other.damaged_lines,
        without_usage: one.without_usage + other.without_usage,
        sidechain_answers: one.sidechain_answers + other.sidechain_answers,
        partial_outputs: one.partial_outputs + other.partial_outputs,
        compactions: one.compactions + other.compactions,
        clearings: one.clearings + other.clearings,
        rewinds: one.rewinds + other.rewinds,
        clock_steps_back: one.clock_steps_back + other.clock_steps_back,
        model_switches: one.model_switches + other.model_switches,
    }
}
