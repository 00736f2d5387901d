//! Tool results in a client's own bytes: whose they are, and the placeholder that is sent for those that were cleared.

use std::collections::BTreeSet;

use bytes::Bytes;
use longhaul_core::json;
use longhaul_provider::Dialect;

use super::element::ElementParts;
use super::splice::Splices;

/// The placeholder for a result. It names no tool to get the result back with, because the client has none.
const CLEARED: &str = include_str!("fragments/cleared.txt");

/// The element with a placeholder instead of these results; all other bytes stay as they are.
pub(super) fn without_results(dialect: Dialect, element: &Bytes, gone: &BTreeSet<&str>) -> Bytes {
    let Some(read) = ElementParts::read(element) else {
        return element.clone();
    };
    let mut splices = Splices::default();
    for result in read.results(dialect) {
        if gone.contains(&*result.call)
            && let Some(content) = result.content
        {
            splices.replace(content, json::quote(CLEARED.trim_end()));
        }
    }
    splices.apply(element)
}

/// The calls whose results an element holds.
pub(super) fn result_calls(dialect: Dialect, element: &Bytes) -> Vec<String> {
    let Some(read) = ElementParts::read(element) else {
        return Vec::new();
    };
    let results = read.results(dialect).into_iter();
    results.map(|result| result.call.into_owned()).collect()
}
