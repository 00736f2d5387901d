//! The element in which the host speaks. Its tags would end it anywhere, so a backslash is inserted into those of
//! foreign text.

use std::borrow::Cow;

/// The element's name.
pub(super) const ELEMENT: &str = "system-reminder";

/// Returns the text with a backslash after the bracket of each tag of the element.
pub(super) fn defused(text: &str) -> Cow<'_, str> {
    let mut safe = String::new();
    let mut done = 0;
    for at in memchr::memchr_iter(b'<', text.as_bytes()) {
        let inside = text[at + 1..].trim_start();
        let name = inside.strip_prefix('/').unwrap_or(inside).trim_start();
        let names = name.get(..ELEMENT.len());
        if names.is_some_and(|name| name.eq_ignore_ascii_case(ELEMENT)) {
            safe.push_str(&text[done..=at]);
            safe.push('\\');
            done = at + 1;
        }
    }
    match done {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(safe + &text[done..]),
    }
}

/// Returns a host's own words for use inside the element.
pub(crate) fn hosts_words(text: &str) -> String {
    defused(text).into_owned()
}
