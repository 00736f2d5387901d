//! What the bills were made of: tokens by how they were billed, what was left of the user's words, errors and waits.

use longhaul_core::money::Usd;
use longhaul_sim::usage_log::UsageTotals;

use crate::fidelity::Kept;

/// What one session cost, and what was left of it.
#[derive(Debug, Default)]
pub(crate) struct Bill {
    pub(crate) requests: usize,
    /// What was billed for everything but the answers.
    pub(crate) cost: Usd,
    pub(crate) tokens: UsageTotals,
    /// What the model still had in view of the user's words when it answered last.
    pub(crate) kept: Kept,
    /// The tokens of the largest prompt of the client.
    pub(crate) largest: u64,
    /// The requests that the client got an error for, and the first error.
    pub(crate) refused: usize,
    pub(crate) refusal: Option<String>,
    /// How long the client waited for each answer, in milliseconds of real time.
    pub(crate) waits: Vec<f64>,
    /// A direct run as a transcript.
    pub(crate) recorded: String,
}

impl Bill {
    /// The median wait.
    fn wait(&self) -> f64 {
        let mut waits = self.waits.clone();
        waits.sort_by(f64::total_cmp);
        waits.get(waits.len() / 2).copied().unwrap_or_default()
    }
}

/// Prints what the bills were made of, and what was left of the user's words.
pub(crate) fn details<'a>(ways: impl Iterator<Item = (&'a str, &'a Vec<Bill>)>, window: u64) {
    println!(
        "\n  {:<13}{:>20}{:>10}{:>10}{:>10}{:>10}{:>9}{:>8}{:>9}{:>8}",
        "all sessions",
        "thousand tokens read",
        "written",
        "uncached",
        "messages",
        "rules",
        "largest",
        "beyond",
        "refused",
        "ms"
    );
    for (name, bills) in ways {
        let (mut tokens, mut kept) = (UsageTotals::default(), Kept::default());
        for bill in bills {
            tokens.add(&bill.tokens);
            kept.add(bill.kept);
        }
        let written = tokens.cache_write_5m_input_tokens + tokens.cache_write_1h_input_tokens;
        let refused: usize = bills.iter().map(|bill| bill.refused).sum();
        let beyond = bills.iter().filter(|bill| bill.largest > window).count();
        let largest = bills.iter().map(|bill| bill.largest).max().unwrap_or(0);
        let mut waits: Vec<f64> = bills.iter().map(Bill::wait).collect();
        waits.sort_by(f64::total_cmp);
        println!(
            "  {name:<13}{:>20}{:>10}{:>10}{:>10}{:>10}{largest:>9}{beyond:>8}{refused:>9}{:>8.1}",
            tokens.cache_read_input_tokens / 1_000,
            written / 1_000,
            tokens.input_tokens / 1_000,
            format!("{}/{}", kept.messages.0, kept.messages.1),
            format!("{}/{}", kept.rules.0, kept.rules.1),
            waits.get(waits.len() / 2).copied().unwrap_or_default(),
        );
        if let Some(refusal) = bills.iter().find_map(|bill| bill.refusal.as_ref()) {
            println!("    {}", refusal.chars().take(300).collect::<String>());
        }
    }
    println!(
        "  messages and rules: word for word in the last request as the model saw it; beyond: sessions whose largest \
         prompt exceeds the window; ms: the median of the sessions' median waits for an answer"
    );
}
