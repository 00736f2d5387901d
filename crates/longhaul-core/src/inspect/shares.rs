//! The categories of the view as shares of the window that add up to it, for whoever shows them.
//!
//! The categories themselves are unpadded estimates (T4); the window is a measurement, or a padded estimate. Where the
//! categories are all that is sent, they share the window in proportion: tokenizers make more or less of the same text
//! than the estimate does. Where the file does not record the request prefix and the window holds more than the
//! categories explain, the rest is a share of its own.

use std::collections::BTreeMap;

use super::report::Categories;

/// The shares of a window. Their sum is the number of tokens in the window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowShares {
    /// The system prompt, where the file records it.
    pub system_prompt: u64,
    /// Tool definitions, where the file records them.
    pub tools: u64,
    /// Memory files, where the file records them.
    pub memory_files: u64,
    /// Summaries of compactions.
    pub summaries: u64,
    /// User messages other than tool results and summaries.
    pub human_messages: u64,
    /// Text and reasoning of the model.
    pub assistant_messages: u64,
    /// Tool calls.
    pub tool_requests: u64,
    /// Tool results that have not been cleared.
    pub tool_results: u64,
    /// The part of `tool_results` that each tool has; it adds up to `tool_results`.
    pub tool_results_by_tool: BTreeMap<String, u64>,
    /// The part of `tool_results` that reads a file that is in the view already.
    pub duplicate_reads: u64,
    /// Attachments that have not been cleared.
    pub attachments: u64,
    /// What no category explains: the request prefix of a file that does not record it.
    pub unattributed: u64,
}

impl Categories {
    /// The categories as shares of a window with this many tokens in use.
    pub fn shares(&self, used: u64) -> WindowShares {
        let parts = [
            self.system_prompt,
            self.tools,
            self.memory_files,
            self.summaries,
            self.human_messages.saturating_sub(self.summaries),
            self.assistant_messages,
            self.tool_requests,
            self.tool_results,
            self.attachments,
        ];
        let known: u64 = parts.iter().sum();
        // The framing of messages and tools is part of what each of them takes.
        let is_all = self.system_prompt + self.tools > 0;
        let unattributed = match known {
            0 => used,
            _ if is_all => 0,
            known => used.saturating_sub(known),
        };
        let shares = apportioned(&parts, used - unattributed);
        let results = shares[7];
        let by_tool: Vec<u64> = self.tool_results_by_tool.values().copied().collect();
        let by_tool = apportioned(&by_tool, results);
        let again = u128::from(self.duplicate_reads) * u128::from(results)
            / u128::from(self.tool_results.max(1));
        WindowShares {
            system_prompt: shares[0],
            tools: shares[1],
            memory_files: shares[2],
            summaries: shares[3],
            human_messages: shares[4],
            assistant_messages: shares[5],
            tool_requests: shares[6],
            tool_results: results,
            attachments: shares[8],
            tool_results_by_tool: self
                .tool_results_by_tool
                .keys()
                .cloned()
                .zip(by_tool)
                .collect(),
            duplicate_reads: u64::try_from(again).unwrap_or(results).min(results),
            unattributed,
        }
    }
}

/// Divides a total in the proportion of these parts, so that the shares add up to it (largest remainders).
fn apportioned(parts: &[u64], total: u64) -> Vec<u64> {
    let sum: u128 = parts.iter().map(|part| u128::from(*part)).sum();
    if sum == 0 || sum == u128::from(total) {
        return parts.to_vec();
    }
    let exact = |part: &u64| u128::from(*part) * u128::from(total);
    let mut shares: Vec<u64> = parts
        .iter()
        .map(|part| u64::try_from(exact(part) / sum).unwrap_or(total))
        .collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(exact(&parts[*at]) % sum));
    let left = total.saturating_sub(shares.iter().sum());
    for at in order.into_iter().take(usize::try_from(left).unwrap_or(0)) {
        shares[at] += 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(shares: &WindowShares) -> u64 {
        shares.system_prompt
            + shares.tools
            + shares.memory_files
            + shares.summaries
            + shares.human_messages
            + shares.assistant_messages
            + shares.tool_requests
            + shares.tool_results
            + shares.attachments
            + shares.unattributed
    }

    #[test]
    fn t4_shares_add_up_to_the_window_whatever_was_estimated() {
        let categories = Categories {
            human_messages: 1_001,
            summaries: 334,
            assistant_messages: 777,
            tool_results: 5_003,
            tool_results_by_tool: [("Bash".to_owned(), 1_001), ("Read".to_owned(), 4_002)].into(),
            duplicate_reads: 2_000,
            system_prompt: 333,
            ..Categories::default()
        };
        for used in [0, 1, 100, 3_557, 7_113, 7_114, 7_115, 20_000] {
            let shares = categories.shares(used);
            assert_eq!(sum(&shares), used);
            let by_tool: u64 = shares.tool_results_by_tool.values().sum();
            assert_eq!(by_tool, shares.tool_results);
            assert!(shares.duplicate_reads <= shares.tool_results);
        }
        assert_eq!(categories.shares(7_114).tool_results, 5_003);
        let half_more = categories.shares(7_114 * 3 / 2);
        assert_eq!((half_more.tool_results, half_more.unattributed), (7_504, 0));
        let without_prefix = Categories {
            system_prompt: 0,
            ..categories
        };
        let shares = without_prefix.shares(7_200);
        assert_eq!((shares.tool_results, shares.unattributed), (5_003, 419));
        assert_eq!(Categories::default().shares(12).unattributed, 12);
    }
}
