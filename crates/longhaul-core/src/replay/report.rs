//! Everything that a replay says about one session.

use super::hindsight::{HindsightKind, best_in_hindsight};
use super::priced::PricedConversation;
use super::recorded_bill::RecordedBill;
use super::session::{SessionFacts, SessionRecording};
use super::simulation::{PolicyRun, ReplayDriver, RunAction, simulate};
use super::terms::{ReplayTerms, ReplayWindow};
use crate::economy::EconomyPolicy;
use crate::money::Usd;
use crate::window::WindowError;

/// Why a session cannot be replayed. It is counted apart, never as $0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreplayable {
    /// There is nothing in the file.
    #[error("the file is empty")]
    Empty,
    /// No reply says what was billed.
    #[error("no reply records its usage")]
    NoUsage,
    /// A model's prices are not known.
    #[error(
        "the prices of `{0}` are not known; a models file can name them, and --model another model"
    )]
    NoPrices(String),
}

/// A session under all policies.
#[derive(Debug, Clone)]
pub struct ReplayReport {
    /// The bill as recorded.
    pub recorded: RecordedBill,
    /// What is known about the recording.
    pub facts: SessionFacts,
    /// The names of the models.
    pub models: Vec<String>,
    /// The number of requests.
    pub requests: u64,
    /// When the first and the last request were made, as far as that is recorded.
    pub span: Option<(jiff::Timestamp, jiff::Timestamp)>,
    /// The cache lifetime.
    pub ttl: crate::prompt::Ttl,
    /// Nothing removed, in a window without an end.
    pub append_only: ReplayedPolicy,
    /// The policies in each window.
    pub windows: Vec<ReplayedWindow>,
}

/// The policies in one window.
#[derive(Debug, Clone)]
pub struct ReplayedWindow {
    /// The size that was asked for.
    pub window: ReplayWindow,
    /// The policies `off`, `clear` and `full`.
    pub policies: Vec<(EconomyPolicy, ReplayedPolicy)>,
    /// The best in hindsight by clearing, and by clearing and summaries.
    pub best: Vec<(HindsightKind, ReplayedPolicy)>,
}

/// What a session costs under one policy.
#[derive(Debug, Clone, Default)]
pub struct ReplayedPolicy {
    /// What is billed for prompts and summaries.
    pub prompt_side: Usd,
    /// What is billed for what the model writes, which is the same for all.
    pub output: Usd,
    /// The part of it that is billed for making summaries.
    pub summaries: Usd,
    /// What was done; requests are counted through all conversations.
    pub actions: Vec<RunAction>,
    /// For each request, the tokens that it sends and what has been billed since the beginning.
    pub steps: Vec<(u64, Usd)>,
}

impl ReplayedPolicy {
    /// Everything that is billed.
    pub fn total(&self) -> Usd {
        self.prompt_side + self.output
    }

    /// The largest view.
    pub fn peak(&self) -> u64 {
        self.steps.iter().map(|(view, _)| *view).max().unwrap_or(0)
    }

    /// Adds the run of another conversation.
    fn add(&mut self, run: PolicyRun) {
        let (requests, before) = (self.steps.len(), self.total());
        self.prompt_side += run.prompt_side();
        self.summaries += run.summaries;
        self.output += run.output;
        let actions = run.actions.iter().map(|action| RunAction {
            request: action.request + requests,
            ..*action
        });
        self.actions.extend(actions);
        let steps = run.steps.iter();
        self.steps
            .extend(steps.map(|step| (step.view, before + step.total)));
    }
}

/// Why a replay ended without a report.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The session cannot be replayed.
    #[error(transparent)]
    Session(#[from] Unreplayable),
    /// A window is too small, which is the caller's mistake.
    #[error(transparent)]
    Window(#[from] WindowError),
}

/// Replays a session in each of these windows.
///
/// # Errors
/// If the session cannot be replayed, or if a window is too small to work in.
pub fn replay(
    session: &SessionRecording,
    terms: &ReplayTerms,
    windows: &[ReplayWindow],
) -> Result<ReplayReport, ReplayError> {
    if session.facts.entries == 0 && session.facts.damaged_lines == 0 {
        return Err(Unreplayable::Empty.into());
    }
    if session.requests().next().is_none() {
        return Err(Unreplayable::NoUsage.into());
    }
    let recorded_unpriced = terms.recorded.iter().find(|spec| spec.prices.is_none());
    if let Some(name) = terms.unpriced().first() {
        return Err(Unreplayable::NoPrices((*name).to_owned()).into());
    }
    if let Some(spec) = recorded_unpriced {
        return Err(Unreplayable::NoPrices(spec.id.clone()).into());
    }
    let mut report = ReplayReport {
        recorded: RecordedBill::of(session, terms),
        facts: session.facts,
        models: session.models.clone(),
        requests: session.requests().count() as u64,
        span: span(session),
        ttl: terms.ttl,
        append_only: ReplayedPolicy::default(),
        windows: Vec::with_capacity(windows.len()),
    };
    for conversation in &session.conversations {
        let priced = PricedConversation::new(conversation, &terms.in_window(ReplayWindow::Own))?;
        report
            .append_only
            .add(simulate(&priced, ReplayDriver::AppendOnly));
    }
    for window in windows {
        report.windows.push(in_window(session, terms, *window)?);
    }
    Ok(report)
}

fn in_window(
    session: &SessionRecording,
    terms: &ReplayTerms,
    window: ReplayWindow,
) -> Result<ReplayedWindow, WindowError> {
    let policies = [
        EconomyPolicy::Off,
        EconomyPolicy::Clear,
        EconomyPolicy::Full,
    ];
    let kinds = [HindsightKind::Clear, HindsightKind::Full];
    let mut replayed = ReplayedWindow {
        window,
        policies: policies.map(|policy| (policy, Default::default())).into(),
        best: kinds.map(|kind| (kind, Default::default())).into(),
    };
    let terms = terms.in_window(window);
    for conversation in &session.conversations {
        let priced = PricedConversation::new(conversation, &terms)?;
        for (policy, sum) in &mut replayed.policies {
            sum.add(simulate(&priced, ReplayDriver::Policy(*policy)));
        }
        let found = best_in_hindsight(&priced);
        for ((_, sum), (_, schedule)) in replayed.best.iter_mut().zip(&found) {
            let before = sum.prompt_side;
            sum.add(simulate(&priced, ReplayDriver::Script(&schedule.actions)));
            // The bound, not what this schedule happens to cost.
            sum.prompt_side = before + schedule.prompt_side;
        }
    }
    Ok(replayed)
}

fn span(session: &SessionRecording) -> Option<(jiff::Timestamp, jiff::Timestamp)> {
    let times = || session.requests().filter_map(|request| request.start);
    times().min().zip(times().max())
}
