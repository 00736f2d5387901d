//! Folds with no model (X9): extracts of each span, for when the model fails and the window is full.

use std::sync::Arc;

use super::FoldLimits;
use crate::facts::{Facts, Vocabulary};
use crate::local_summary::summarize;
use crate::message::EntryView;

/// What a span says in which nothing is said.
const NOTHING: &str = include_str!("nothing.md");

/// Folds each of these spans by extracts, within the weight of a fold: what the user said in it, what was done and what
/// went wrong. There always is a text for each.
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
