//! The element in which the host speaks. Its tags end it wherever they stand, so text of others gets a backslash into them.

use std::borrow::Cow;

/// The element's name.
pub(super) const ELEMENT: &str = "system-reminder";

/// The text with a backslash behind the bracket of each tag of the element.
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

/// What a host says in words of its own, inside the element.
pub(crate) fn hosts_words(text: &str) -> String {
    defused(text).into_owned()
}
