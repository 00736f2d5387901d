//! Finds items by a typed part of their text.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};

/// The indices of the items that match, best first; all of them, in order, if the query is empty.
pub(crate) fn best<T>(query: &str, items: &[T], text: impl Fn(&T) -> &str) -> Vec<usize> {
    if query.trim().is_empty() {
        return (0..items.len()).collect();
    }
    struct SearchItem<'a>(usize, &'a str);
    impl AsRef<str> for SearchItem<'_> {
        fn as_ref(&self) -> &str {
            self.1
        }
    }
    let items = items
        .iter()
        .enumerate()
        .map(|(at, item)| SearchItem(at, text(item)));
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let found = pattern.match_list(items, &mut Matcher::new(Config::DEFAULT));
    found.into_iter().map(|(item, _)| item.0).collect()
}
