//! Folds without a model (X9): extracts of each span, for when the model fails and the window is full.

use std::sync::Arc;

use super::FoldLimits;
use crate::facts::{Facts, Vocabulary};
use crate::local_summary::summarize;
use crate::message::EntryView;

/// The text of a span without any messages to extract.
const NOTHING: &str = include_str!("nothing.md");

/// Folds each of these spans by extracts, within the weight of a fold: the user's messages, the actions and the errors
/// in it. Every span gets a text.
pub fn local<'a, S>(
    spans: impl IntoIterator<Item = S>,
    vocabulary: &Arc<Vocabulary>,
    limits: &FoldLimits,
) -> Vec<String>
where
    S: IntoIterator<Item = EntryView<'a>> + Clone,
{
    let folded = spans.into_iter().map(|span| {
        let facts = Facts::scan(vocabulary.clone(), span.clone());
        let text = summarize(span, &facts, limits.fold_weight());
        match text.trim_matches('\n') {
            "" => NOTHING.trim_end().to_owned(),
            text => text.to_owned(),
        }
    });
    folded.collect()
}
