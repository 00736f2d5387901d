//! What `longhaul replay` forecasts for the direct run, which is a recording, too: a transcript with the usage that the
//! simulator billed.

use jiff::Timestamp;
use longhaul_core::economy::EconomyPolicy;
use longhaul_core::models::ModelTable;
use longhaul_core::replay::{
    PricedConversation, ReplayDriver, ReplayTerms, ReplayWindow, ReplayedHost, best_in_hindsight,
    simulate,
};
use serde_json::{Value, json};

use crate::session::recording;

/// The policies, in the order of their columns.
pub(crate) const POLICIES: [EconomyPolicy; 3] = [
    EconomyPolicy::Off,
    EconomyPolicy::Clear,
    EconomyPolicy::Full,
];

/// Figures as parts of what the direct run costs.
pub(crate) struct Forecast {
    /// The bill under each of the policies.
    pub(crate) policies: [f64; 3],
    /// The best schedules in hindsight: of clearings, and of clearings and summaries.
    pub(crate) best: [f64; 2],
}

/// Forecasts what a recorded direct run would cost.
pub(crate) fn forecast(recorded: &str, model: &str, window: u64) -> Forecast {
    let session = recording(recorded.as_bytes());
    let table = ModelTable::builtin();
    let terms = ReplayTerms::of(&session, &table, Some(model), Some(Default::default()));
    let terms = terms.decided_by(ReplayedHost::Gateway);
    let terms = terms.in_window(ReplayWindow::Tokens(window));
    let conversations: Vec<PricedConversation> = session
        .conversations
        .iter()
        .map(|conversation| PricedConversation::new(conversation, &terms).unwrap())
        .collect();
    let total = |driver: ReplayDriver<'_>| -> f64 {
        let runs = conversations.iter().map(|one| simulate(one, driver));
        runs.map(|run| run.prompt_side().to_f64()).sum()
    };
    let whole = total(ReplayDriver::AppendOnly);
    let best = conversations.iter().map(|one| {
        let best = best_in_hindsight(one);
        best.map(|(_, schedule)| schedule.prompt_side.to_f64())
    });
    let best = best.fold([0.0, 0.0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    Forecast {
        policies: POLICIES.map(|policy| total(ReplayDriver::Policy(policy)) / whole),
        best: best.map(|best| best / whole),
    }
}

/// Adds the line of a message to a transcript.
pub(crate) fn record(recorded: &mut String, at: Timestamp, message: &Value) {
    let lines = recorded.lines().count();
    let uuid = |line: usize| format!("00000000-0000-4000-8000-{line:012}");
    let line = json!({
        "type": message["role"], "sessionId": "bill", "timestamp": at.to_string(), "message": message,
        "uuid": uuid(lines), "parentUuid": lines.checked_sub(1).map(uuid),
    });
    *recorded += &format!("{line}\n");
}
