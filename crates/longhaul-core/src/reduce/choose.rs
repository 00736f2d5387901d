//! Chooses the form in which a new result is sent.

use super::result_text::ResultText;
use super::{changed, excerpt, same};
use crate::config::ResultReduction;

/// How many earlier readings of a file are compared with the newest.
const MOST_COMPARED: usize = 3;
/// How a host begins the answer to a reading of an unchanged file (W1).
const STUB: &str = "File unchanged since";

/// A result that is about to be sent for the first time, and what is in view already, as it came.
#[derive(Debug, Clone, Copy)]
pub struct ReductionCandidate<'a> {
    /// The new result. It did not fail.
    pub result: ResultText<'a>,
    /// The call of an identical result.
    pub same: Option<&'a str>,
    /// Results of reading the same file, the newest first.
    pub earlier: &'a [ResultText<'a>],
}

/// How a result was made smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReductionKind {
    /// It is a pointer to an identical result.
    Same,
    /// It is what changed since the same file was read before.
    Changed,
    /// It is the beginning, the end and the error lines of an oversized result.
    Excerpt,
}

impl ReductionKind {
    /// The name on disk.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Excerpt => "excerpt",
        }
    }
}

/// A result in the form in which it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReducedResult {
    /// How it was made smaller.
    pub kind: ReductionKind,
    /// The call whose result the text refers to. `None` if the text stands for itself.
    pub base: Option<String>,
    /// The text that is sent.
    pub text: String,
}

impl ReducedResult {
    fn of(kind: ReductionKind, base: Option<&str>, text: String) -> Self {
        Self {
            kind,
            base: base.map(str::to_owned),
            text,
        }
    }
}

/// Returns the form in which a new result is sent, or `None` if it is sent as it came.
///
/// ```
/// use longhaul_core::config::ResultReduction;
/// use longhaul_core::reduce::{ReductionCandidate, ResultText, reduce};
///
/// let text = "a line of output\n".repeat(100);
/// let candidate = ReductionCandidate {
///     result: ResultText { call: "toolu_2", text: &text },
///     same: Some("toolu_1"),
///     earlier: &[],
/// };
/// let sent = reduce(&candidate, ResultReduction::Exact).unwrap();
/// assert_eq!(sent.base.as_deref(), Some("toolu_1"));
/// assert!(sent.text.len() < 200);
/// assert_eq!(reduce(&candidate, ResultReduction::Off), None);
/// ```
pub fn reduce(
    candidate: &ReductionCandidate<'_>,
    setting: ResultReduction,
) -> Option<ReducedResult> {
    let result = candidate.result;
    if setting == ResultReduction::Off || result.text.starts_with(STUB) {
        return None;
    }
    let helps = |reduced: &ReducedResult| reduced.text.len() < result.text.len() / 2;
    let pointer = || {
        let base = candidate.same?;
        let text = same::pointer(base);
        Some(ReducedResult::of(ReductionKind::Same, Some(base), text)).filter(helps)
    };
    let change = || {
        let earlier = candidate.earlier.iter().take(MOST_COMPARED);
        let changes = earlier.filter_map(|base| {
            let text = changed::changed(*base, result)?;
            Some(ReducedResult::of(
                ReductionKind::Changed,
                Some(base.call),
                text,
            ))
        });
        changes
            .filter(helps)
            .min_by_key(|reduced| reduced.text.len())
    };
    let shortened = || {
        let text = excerpt::excerpt(result).filter(|_| setting == ResultReduction::Recallable)?;
        Some(ReducedResult::of(ReductionKind::Excerpt, None, text))
    };
    pointer().or_else(change).or_else(shortened)
}
