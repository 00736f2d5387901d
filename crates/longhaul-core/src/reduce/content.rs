//! Results by their content as it stands in entries and requests: a string, or a list of blocks.

use std::borrow::Cow;

use super::{ReducedResult, ReductionCandidate, ResultText, reduce};
use crate::config::ResultReduction;
use crate::json::{self, ObjectReader, items};

/// The text of a content that is one text: a string, or a list with one text block.
pub fn text_of_content(raw: &[u8]) -> Option<Cow<'_, str>> {
    if raw.first() == Some(&b'"') {
        return json::text(raw);
    }
    let list = items(raw)?;
    let [only] = list.as_slice() else {
        return None;
    };
    let object = ObjectReader::new(only);
    (object.string("type")? == "text").then(|| object.string("text"))?
}

/// Chooses the form of a new result as [`reduce`] does. `same` is the call of an identical result, `earlier` the contents
/// that reading the same file gave before, the newest first, with their calls.
pub fn reduce_among<'a>(
    result: ResultText<'_>,
    same: Option<&str>,
    earlier: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    setting: ResultReduction,
) -> Option<ReducedResult> {
    let texts: Vec<(&str, Cow<'_, str>)> = earlier
        .into_iter()
        .filter_map(|(call, content)| Some((call, text_of_content(content)?)))
        .collect();
    let earlier: Vec<ResultText<'_>> = texts
        .iter()
        .map(|(call, text)| ResultText { call, text })
        .collect();
    let candidate = ReductionCandidate {
        result,
        same,
        earlier: &earlier,
    };
    reduce(&candidate, setting)
}
