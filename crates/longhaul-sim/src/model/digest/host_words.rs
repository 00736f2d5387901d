//! What a host writes around a summary: how the model goes on, where it finds details, and what the host itself kept.
//! None of it is the summary's.

/// The heading of what the host kept word for word.
const KEPT: &str = "## Kept word for word";
/// How the lines begin that a host writes after a summary. A test holds them against what the engine writes; the last
/// ones are other agents'.
const FRAMES: &[&str] = &[
    "The whole conversation is in this file",
    "Where the summary does not say enough",
    "The newest messages of that conversation follow",
    "Go on with the work from exactly where it stopped",
    "You are working on your own. This is not a first wake-up",
    "If you need specific details from before compaction",
    "Please continue the conversation from where we left",
    "Continue the conversation from where it left off",
    "Recent messages are preserved verbatim",
];

/// A message that carries a summary, in its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostedSummary<'t> {
    /// The summary, with the line that opens the message.
    pub(crate) summary: &'t str,
    /// What the host kept beside it; blank if there is nothing.
    pub(crate) kept: &'t str,
}

impl<'t> HostedSummary<'t> {
    /// Takes a message apart.
    pub(crate) fn read(text: &'t str) -> Self {
        let begins = |is_it: &dyn Fn(&str) -> bool| {
            let mut at = 0;
            for line in text.split_inclusive('\n') {
                if is_it(line.trim()) {
                    return at;
                }
                at += line.len();
            }
            text.len()
        };
        let frame = begins(&is_frame);
        let kept = begins(&|line| line == KEPT).min(frame);
        Self {
            summary: &text[..kept],
            kept: &text[kept..frame],
        }
    }
}

fn is_frame(line: &str) -> bool {
    FRAMES.iter().any(|frame| line.starts_with(frame))
        || line.starts_with("The `") && line.contains("` tool finds anything that was said")
}

#[cfg(test)]
mod tests {
    use longhaul_core::summary::message::{
        CompactionMode, DetailLookup, KeptPlacement, SummaryMessage,
    };

    use super::*;

    #[test]
    fn what_the_engine_writes_after_a_summary_is_not_the_summarys() {
        let appendix = "## Kept word for word\n\nThe session itself recorded what follows.\n\n### Work still open\n- (pending) dig";
        for mode in [
            CompactionMode::Manual,
            CompactionMode::Automatic,
            CompactionMode::Autonomous,
        ] {
            for transcript in [Some("/data/s.jsonl"), None] {
                for recall_tool in [Some("recall"), None] {
                    let message = SummaryMessage {
                        summary: None,
                        appendix,
                        look_up: DetailLookup {
                            transcript,
                            recall_tool,
                        },
                        kept: KeptPlacement::Behind,
                        mode,
                    };
                    let text = message.text();
                    let read = HostedSummary::read(&text);
                    assert_eq!(read.kept.trim(), appendix);
                    assert_eq!(read.summary.trim().lines().count(), 1, "{}", read.summary);
                }
            }
        }
    }
}
