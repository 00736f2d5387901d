//! Tracks how fast the window fills and how long a summary takes. Both determine how far ahead of the threshold a
//! summary must be requested, so that it is ready when it is needed (X5).

use std::collections::VecDeque;

use jiff::Timestamp;

/// The number of turns that are remembered.
const TURNS: usize = 8;
/// The assumed duration of a summary, in milliseconds, before one was made.
const A_SUMMARY: u64 = 45_000;
/// The longest duration that counts for a turn, in milliseconds: while the user is idle, nothing grows.
const LONGEST_TURN: u64 = 30_000;
/// The shortest duration that counts for a turn, in milliseconds.
const SHORTEST_TURN: u64 = 500;
/// The longest lead, in percent of what fills before the threshold.
const LONGEST_LEAD_PERCENT: u64 = 30;

/// The longest lead of a summary before a threshold up to which the window fills by so many tokens.
pub(crate) fn longest_lead(fills: u64) -> u64 {
    fills / 100 * LONGEST_LEAD_PERCENT
}

/// Tracks the growth of a session's window.
#[derive(Debug, Clone, Default)]
pub(crate) struct WindowGrowth {
    last: Option<(u64, Timestamp)>,
    /// By how many tokens the window grew in each turn, and how many milliseconds that took.
    turns: VecDeque<(u64, u64)>,
    summary: Option<u64>,
}

impl WindowGrowth {
    /// Takes a reply after which the window holds this many tokens.
    pub(crate) fn replied(&mut self, used: u64, now: Timestamp) {
        if let Some((before, since)) = self.last.replace((used, now)) {
            let took = now.duration_since(since).as_millis();
            let took = u64::try_from(took).unwrap_or(0);
            let took = took.clamp(SHORTEST_TURN, LONGEST_TURN);
            if self.turns.len() == TURNS {
                self.turns.pop_front();
            }
            self.turns.push_back((used.saturating_sub(before), took));
        }
    }

    /// Notes that the window was made smaller.
    pub(crate) fn shrunk(&mut self) {
        self.last = None;
    }

    /// Notes how many milliseconds a summary took.
    pub(crate) fn summary_took(&mut self, milliseconds: u64) {
        self.summary = Some(milliseconds);
    }

    /// Tokens by which the window may grow while a summary is written, at most `most`.
    pub(crate) fn lead(&self, most: u64) -> u64 {
        let Some(largest) = self.largest() else {
            return most;
        };
        let count = self.turns.len() as u64;
        let took: u64 = self.turns.iter().map(|(_, took)| took).sum();
        let pace = (took / count).max(1);
        let typical = self.typical();
        let turns = self.summary.unwrap_or(A_SUMMARY).div_ceil(pace);
        // Two more turns, as large as the largest: turns vary, and the turn that reaches the threshold is judged before
        // its request.
        typical
            .saturating_mul(turns)
            .saturating_add(largest.saturating_mul(2))
            .min(most)
    }

    /// Tokens by which the window grows in one turn, as far as is known.
    pub(crate) fn typical(&self) -> u64 {
        let grown: u64 = self.turns.iter().map(|(grown, _)| grown).sum();
        grown.div_ceil((self.turns.len() as u64).max(1))
    }

    /// The most tokens by which the window grew in one of the last turns; `None` if that is not known.
    pub(crate) fn largest(&self) -> Option<u64> {
        self.turns.iter().map(|(grown, _)| *grown).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    fn grown(by: &[u64], seconds: i64) -> WindowGrowth {
        let mut growth = WindowGrowth::default();
        let mut now = Timestamp::constant(1_800_000_000, 0);
        let mut used = 10_000;
        growth.replied(used, now);
        for by in by {
            now += SignedDuration::from_secs(seconds);
            used += by;
            growth.replied(used, now);
        }
        growth
    }

    #[test]
    fn x5_the_lead_follows_from_growth_and_from_how_long_summaries_take() {
        let mut growth = grown(&[1_000, 2_000, 500], 10);
        assert_eq!(
            growth.lead(100_000),
            1_167 * 5 + 4_000,
            "45 seconds are five turns as they usually are, and two large ones"
        );
        growth.summary_took(20_000);
        assert_eq!(growth.lead(100_000), 1_167 * 2 + 4_000);
        assert_eq!(growth.lead(4_000), 4_000, "there is a limit");
    }

    #[test]
    fn x5_a_rest_of_the_user_does_not_shorten_the_lead() {
        let growth = grown(&[1_000, 1_000], 36_000);
        assert_eq!(growth.lead(100_000), 1_000 * 4);
    }

    #[test]
    fn x5_only_the_last_turns_count() {
        let mut by = vec![9_000];
        by.extend([100; TURNS]);
        assert_eq!(grown(&by, 10).largest(), Some(100));
    }

    #[test]
    fn x5_before_anything_is_known_the_lead_is_the_longest() {
        assert_eq!(WindowGrowth::default().lead(50_000), 50_000);
    }
}
