//! The usage log in a table: one row for each day, session, key, model or agent, and their total.

use std::collections::BTreeMap;
use std::str::FromStr;

use longhaul_core::models::ModelTable;
use longhaul_core::money::Usd;
use serde::{Deserialize, Serialize};

use super::worth;
use crate::store::SpendRow;

/// What a row of the table stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavingsGrouping {
    /// A day, in UTC.
    #[default]
    Day,
    /// A session of the gateway.
    Session,
    /// A key, as the hash of the credential; the tenant where that was not recorded yet.
    Key,
    /// A model.
    Model,
    /// An agent.
    Agent,
}

impl SavingsGrouping {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("day", Self::Day),
        ("session", Self::Session),
        ("key", Self::Key),
        ("model", Self::Model),
        ("agent", Self::Agent),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, grouping)| *grouping == self);
        found.map_or("", |(name, _)| *name)
    }

    /// The group that a row of the usage log belongs to; empty where it is not known.
    pub(crate) fn of(self, row: &SpendRow) -> String {
        match self {
            Self::Day => row.day.to_string(),
            Self::Session => row.session.map(|id| id.to_string()).unwrap_or_default(),
            Self::Key => {
                let key = row.key.or(row.tenant);
                key.map(|id| id.to_string()).unwrap_or_default()
            }
            Self::Model => row.model.clone(),
            Self::Agent => row.agent.clone().unwrap_or_default(),
        }
    }
}

impl FromStr for SavingsGrouping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        let wrong = || "write `day`, `session`, `key`, `model` or `agent`".to_owned();
        found.map(|(_, grouping)| *grouping).ok_or_else(wrong)
    }
}

/// The figures of a group, or of all.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SavingsRow {
    /// The day, session, key, model or agent; empty where it is not known, and for the total.
    pub key: String,
    /// Whether the built-in simulator answered, so that nothing was paid.
    #[serde(default)]
    pub simulated: bool,
    /// How many calls the clients made.
    pub calls: u64,
    /// How many requests the gateway made itself, for summaries and notes. Tokens and cost include them.
    #[serde(default)]
    pub own_calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many of them used a model without known prices: their cost is not in the figures.
    pub unpriced: u64,
    /// How many of them were answered without saying what they used: they are not in the other figures.
    #[serde(default)]
    pub unmeasured: u64,
    /// Prompt tokens outside the cache.
    pub input_tokens: u64,
    /// Prompt tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Prompt tokens written to the cache.
    pub cache_write_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// What the provider bills for the calls and for the gateway's own requests; `None` where no price is known.
    pub cost_usd: Option<f64>,
    /// The part of that for the gateway's own requests.
    #[serde(default)]
    pub own_cost_usd: f64,
    /// How many compactions were made.
    pub compactions: u64,
    /// What managing cost: the gateway's own requests, and writing to the cache again what stays. It is a part of
    /// `cost_usd`, except where a period begins after it was spent.
    pub summaries_cost_usd: f64,
    /// Tokens of the clients' histories that were not sent, at the least.
    pub saved_tokens: u64,
    /// What that saved, less what managing cost; `None` where something was left out and no price is
    /// known.
    pub saved_usd: Option<f64>,
}

impl SavingsRow {
    /// What the same calls would have cost, had everything been sent: at least this. `None` where that is not known.
    pub fn without_usd(&self) -> Option<f64> {
        Some(self.cost_usd? + self.saved_usd?)
    }

    /// The part of that which was saved, negative where compactions have not paid for themselves. `None` where it is not
    /// known, or where nothing was spent.
    pub fn saved_share(&self) -> Option<f64> {
        let (saved, without) = self.saved_usd.zip(self.without_usd())?;
        (without > 0.0).then(|| saved / without)
    }

    /// Adds the figures of another row. What was saved is unknown if either does not know it.
    pub fn add(&mut self, other: &Self) {
        self.saved_usd = match (self.calls, self.saved_usd, other.saved_usd) {
            (0, None, other) => other,
            (_, one, other) => one.zip(other).map(|(one, other)| one + other),
        };
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        self.own_cost_usd += other.own_cost_usd;
        self.simulated |= other.simulated;
        self.calls += other.calls;
        self.own_calls += other.own_calls;
        self.failed += other.failed;
        self.unpriced += other.unpriced;
        self.unmeasured += other.unmeasured;
        self.input_tokens += other.input_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
        self.output_tokens += other.output_tokens;
        self.compactions += other.compactions;
        self.summaries_cost_usd += other.summaries_cost_usd;
        self.saved_tokens += other.saved_tokens;
    }
}

/// The usage log in a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavingsReport {
    /// What the rows stand for.
    pub by: SavingsGrouping,
    /// The rows: days in their order, everything else by cost, the highest first.
    pub rows: Vec<SavingsRow>,
    /// All of them together; where some were paid, without those that were simulated.
    pub total: SavingsRow,
    /// What was simulated, together, where it is not in `total`.
    #[serde(default)]
    pub simulated: Option<SavingsRow>,
}

impl SavingsReport {
    /// Adds the usage log up.
    pub fn of(log: &[SpendRow], by: SavingsGrouping, models: &ModelTable) -> Self {
        let mut groups: BTreeMap<(bool, String), Vec<&SpendRow>> = BTreeMap::new();
        for row in log {
            let group = (row.simulated, by.of(row));
            groups.entry(group).or_default().push(row);
        }
        let mut rows: Vec<SavingsRow> = groups
            .into_iter()
            .map(|((_, key), rows)| added_up(key, &rows, models))
            .collect();
        if by != SavingsGrouping::Day {
            let spent = |row: &SavingsRow| row.cost_usd.unwrap_or(0.0);
            rows.sort_by(|one, other| {
                let by_cost = spent(other).total_cmp(&spent(one));
                one.simulated.cmp(&other.simulated).then(by_cost)
            });
        }
        let (simulated, real): (Vec<&SpendRow>, Vec<&SpendRow>) =
            log.iter().partition(|row| row.simulated);
        let total = |rows: &[&SpendRow]| added_up(String::new(), rows, models);
        let (total, simulated) = match (real.is_empty(), simulated.is_empty()) {
            (true, false) => (total(&simulated), None),
            (_, true) => (total(&real), None),
            (false, false) => (total(&real), Some(total(&simulated))),
        };
        Self {
            by,
            rows,
            total,
            simulated,
        }
    }
}

/// The figures of some rows of the usage log.
pub(crate) fn added_up(key: String, rows: &[&SpendRow], models: &ModelTable) -> SavingsRow {
    let sum = |of: fn(&SpendRow) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
    // The sum of nothing is negative zero.
    let dollars = |of: fn(&SpendRow) -> f64| rows.iter().map(|row| of(row)).sum::<f64>() + 0.0;
    let left_out = rows
        .iter()
        .filter(|row| row.saved_tokens > 0)
        .map(|row| (row.model.as_str(), row.saved_tokens));
    let worth = worth::of_calls(left_out, |model, tokens| {
        worth::of_left_out(&models.resolve(model).spec, tokens)
    });
    let saved_tokens = sum(|row| row.saved_tokens);
    let summaries_cost_usd = dollars(|row| row.compactions_cost_usd);
    let (cost, unpriced) = (dollars(|row| row.cost_usd), sum(|row| row.unpriced));
    let worth = worth
        .map(Usd::to_f64)
        .or((saved_tokens == 0).then_some(0.0));
    SavingsRow {
        key,
        simulated: rows.iter().any(|row| row.simulated),
        own_calls: sum(|row| row.own_calls),
        calls: sum(|row| row.calls),
        failed: sum(|row| row.failed),
        unpriced,
        unmeasured: sum(|row| row.unmeasured),
        input_tokens: sum(|row| row.input),
        cache_read_tokens: sum(|row| row.cache_read),
        cache_write_tokens: sum(|row| row.cache_write),
        output_tokens: sum(|row| row.output),
        cost_usd: (unpriced == 0 || cost > 0.0).then_some(cost),
        own_cost_usd: dollars(|row| row.own_cost_usd),
        compactions: sum(|row| row.compactions),
        summaries_cost_usd,
        saved_tokens,
        saved_usd: worth.map(|worth| worth - summaries_cost_usd),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::branch::GatewaySessionId;

    fn row(model: &str, saved_tokens: u64, compactions_cost_usd: f64) -> SpendRow {
        SpendRow {
            day: "2026-03-01".parse().unwrap(),
            session: Some(GatewaySessionId(1)),
            model: model.to_owned(),
            agent: None,
            tenant: None,
            key: None,
            simulated: false,
            calls: 1,
            own_calls: 0,
            failed: 0,
            unpriced: 0,
            unmeasured: 0,
            input: 10,
            cache_read: 0,
            cache_write: 0,
            output: 1,
            cost_usd: 0.5,
            own_cost_usd: 0.0,
            saved_tokens,
            compactions: 1,
            compactions_cost_usd,
        }
    }

    #[test]
    fn what_compactions_cost_is_taken_off_what_was_saved() {
        let models = ModelTable::builtin();
        let log = [row("claude-opus-5-5", 1_000_000, 0.25)];
        let report = SavingsReport::of(&log, SavingsGrouping::Model, &models);
        let spec = models.resolve("claude-opus-5-5").spec;
        let read = worth::of_left_out(&spec, 1_000_000).unwrap().to_f64();
        assert!(read > 0.0);
        assert_eq!(report.total.saved_usd, Some(read - 0.25));
        assert_eq!(report.rows[0].key, "claude-opus-5-5");
        let only_costs = [row("claude-opus-5-5", 0, 0.25)];
        let report = SavingsReport::of(&only_costs, SavingsGrouping::Day, &models);
        assert_eq!(report.total.saved_usd, Some(-0.25));
        assert_eq!(report.rows[0].key, "2026-03-01");
    }

    #[test]
    fn without_prices_nothing_is_claimed() {
        let models = ModelTable::builtin();
        let unknown = "a-model-that-nobody-has-heard-of";
        let report = SavingsReport::of(&[row(unknown, 9, 0.0)], SavingsGrouping::Agent, &models);
        assert_eq!(report.total.saved_usd, None);
        let both = [row(unknown, 9, 0.0), row("claude-opus-5-5", 1_000, 0.0)];
        let report = SavingsReport::of(&both, SavingsGrouping::Agent, &models);
        let spec = models.resolve("claude-opus-5-5").spec;
        let known = worth::of_left_out(&spec, 1_000).unwrap().to_f64();
        assert_eq!(report.total.saved_usd, Some(known));
    }

    #[test]
    fn what_managing_cost_is_a_part_of_what_was_spent() {
        let models = ModelTable::builtin();
        let log = [row("claude-opus-5-5", 1_000_000, 0.25)];
        let total = SavingsReport::of(&log, SavingsGrouping::Day, &models).total;
        assert_eq!(total.cost_usd, Some(0.5));
        assert_eq!(total.without_usd(), Some(0.5 + total.saved_usd.unwrap()));
    }

    #[test]
    fn what_was_simulated_is_in_no_total_of_what_was_paid() {
        let models = ModelTable::builtin();
        let simulated = SpendRow {
            simulated: true,
            ..row("claude-opus-5-5", 0, 0.0)
        };
        let log = [simulated, row("claude-opus-5-5", 0, 0.0)];
        let report = SavingsReport::of(&log, SavingsGrouping::Model, &models);
        assert_eq!(report.total.cost_usd, Some(0.5));
        assert_eq!(report.simulated.unwrap().calls, 1);
        let marked: Vec<bool> = report.rows.iter().map(|row| row.simulated).collect();
        assert_eq!(marked, [false, true]);
    }

    #[test]
    fn a_cost_that_is_not_known_is_not_nothing() {
        let models = ModelTable::builtin();
        let unknown = SpendRow {
            unpriced: 1,
            cost_usd: 0.0,
            ..row("a-model-that-nobody-has-heard-of", 0, 0.0)
        };
        let total = SavingsReport::of(&[unknown], SavingsGrouping::Model, &models).total;
        assert_eq!(total.cost_usd, None);
        assert_eq!(total.without_usd(), None);
        let nothing = SavingsReport::of(&[], SavingsGrouping::Model, &models).total;
        assert!(nothing.own_cost_usd.is_sign_positive());
    }
}
