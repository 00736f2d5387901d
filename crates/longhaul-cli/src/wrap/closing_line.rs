//! The line at the end of a run: what was used, saved and lost.

use longhaul_gateway::savings::{LossTotals, SavingsReport, SavingsRow};

use super::plan::WrapPlan;
use crate::terminal::{dollars, short};
use crate::text::{clean, count};

/// What a run used, saved and lost.
#[derive(Debug, Default)]
pub(super) struct RunFigures {
    total: SavingsRow,
    lost: LossTotals,
    /// Why figures are missing, for each gateway that has not told them.
    pub(super) missing: Vec<String>,
}

impl RunFigures {
    pub(super) fn add(&mut self, report: &SavingsReport, lost: LossTotals) {
        self.total.add(&report.total);
        if let Some(simulated) = &report.simulated {
            self.total.add(simulated);
        }
        self.lost.add(&lost);
    }
}

/// The line.
pub(super) fn of(plan: &WrapPlan, figures: &RunFigures) -> String {
    let name = &plan.name;
    if let Some(why) = figures.missing.first() {
        return format!(
            "what {name} used is not known, because the gateway did not say: {}; `longhaul doctor` looks for the reason.",
            clean(why)
        );
    }
    let total = &figures.total;
    if total.calls == 0 && plan.profile.as_ref().is_some_and(|agent| agent.unmanaged) {
        return format!("the requests of {name} were passed on unmanaged and are not counted.");
    }
    if total.calls == 0 {
        return format!(
            "no call of {name} to a model came through the gateway{}.",
            match &plan.profile {
                Some(_) => "; where its own settings name another address, they win",
                None => "",
            }
        );
    }
    let failed = match total.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    let unmeasured = match total.unmeasured {
        0 => String::new(),
        number => format!(", {number} without saying what they used"),
    };
    let price = match (total.cost_usd, total.unpriced) {
        (None, _) => "at prices that are not known".to_owned(),
        (Some(cost), 0) => dollars(cost),
        (Some(cost), _) => format!("{} as far as prices are known", dollars(cost)),
    };
    let simulated = match total.simulated {
        true => " (simulated: nothing was paid)",
        false => "",
    };
    let own = match total.own_calls {
        0 => String::new(),
        number => format!(", and the gateway {number} of its own"),
    };
    format!(
        "{name} made {}{failed}{unmeasured}{own}: {} tokens in, {} from the cache, {} written to it, {} out, {price}{simulated}. {} {}",
        count(total.calls, "call", "calls"),
        short(total.input_tokens),
        short(total.cache_read_tokens),
        short(total.cache_write_tokens),
        short(total.output_tokens),
        saved(total),
        lost(&figures.lost, total),
    )
}

fn saved(total: &SavingsRow) -> String {
    let tokens = format!("{} tokens not sent", short(total.saved_tokens));
    let spent = format!("{} of that", dollars(total.summaries_cost_usd));
    match total.saved_usd {
        _ if total.saved_tokens == 0 && total.compactions == 0 => {
            "Saved nothing: all of it was sent.".to_owned()
        }
        Some(saved) if saved > 0.0 => format!("Saved at least {} ({tokens}).", dollars(saved)),
        Some(saved) => format!(
            "Saved nothing yet ({tokens}): making room cost {spent}, {} more than it saved so far.",
            dollars(-saved)
        ),
        None => format!("Saved {tokens}, at a price that is not known."),
    }
}

fn lost(lost: &LossTotals, total: &SavingsRow) -> String {
    if lost.is_nothing() {
        return "Nothing was lost.".to_owned();
    }
    let parts = [
        (lost.results, "tool result", "tool results", ""),
        (
            lost.messages_shortened,
            "message of yours",
            "messages of yours",
            " shortened",
        ),
        (
            lost.messages_omitted,
            "message of yours",
            "messages of yours",
            " left out",
        ),
        (lost.rules, "rule", "rules", " not word for word"),
        (lost.files, "file", "files", " not named"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many, what)| format!("{}{what}", count(number, one, many)))
        .collect();
    format!(
        "Lost from the model's view by {}: {}.",
        count(total.compactions, "compaction", "compactions"),
        parts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total() -> SavingsRow {
        SavingsRow {
            calls: 12,
            input_tokens: 36,
            cache_read_tokens: 118_000,
            cache_write_tokens: 10_200,
            output_tokens: 900,
            cost_usd: Some(0.17),
            saved_usd: Some(0.0),
            ..SavingsRow::default()
        }
    }

    #[test]
    fn what_was_saved_is_never_made_better_than_it_is() {
        assert_eq!(saved(&total()), "Saved nothing: all of it was sent.");
        let cost = SavingsRow {
            compactions: 1,
            saved_tokens: 64_000,
            summaries_cost_usd: 0.05,
            saved_usd: Some(-0.03),
            ..total()
        };
        assert_eq!(
            saved(&cost),
            "Saved nothing yet (64K tokens not sent): making room cost $0.050 of that, $0.030 more than it saved so far."
        );
        let unknown = SavingsRow {
            saved_usd: None,
            ..cost
        };
        assert!(saved(&unknown).contains("not known"));
    }

    #[test]
    fn what_was_lost_is_counted_in_words() {
        let few = LossTotals {
            results: 12,
            messages_shortened: 1,
            ..LossTotals::default()
        };
        let once = SavingsRow {
            compactions: 1,
            ..total()
        };
        assert_eq!(
            lost(&few, &once),
            "Lost from the model's view by 1 compaction: 12 tool results, 1 message of yours shortened."
        );
        assert_eq!(lost(&LossTotals::default(), &once), "Nothing was lost.");
    }
}
