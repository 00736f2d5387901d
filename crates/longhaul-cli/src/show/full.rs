//! Items with their whole texts, one below the other.

use std::fmt::Write;

use anstyle::Style;
use longhaul_core::listing::{ListedItem, Listing};

use crate::terminal::width;
use crate::text::{clean, clean_lines, count, wrap_items};

const HEADING: Style = Style::new().bold();

pub(super) fn render(listing: &Listing<'_>, items: &[ListedItem]) -> String {
    let mut text = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        for line in wrap_items(facts(item).iter().map(String::as_str), " ·", width()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{HEADING}{line}{HEADING:#}");
        }
        let whole = clean_lines(&listing.text(item));
        let _ = writeln!(text, "{whole}");
    }
    text
}

/// The known facts about an item besides its text.
fn facts(item: &ListedItem) -> Vec<String> {
    let mut facts = vec![format!("#{}", item.number), item.zone.as_str().to_owned()];
    if let (Some(message), Some(role)) = (item.message, item.role) {
        facts.push(format!("message {message}, {}", role.as_str()));
    }
    facts.push(clean(&item.what()));
    facts.extend(item.remarks().into_iter().map(Into::into));
    facts.push(count(item.tokens, "token", "tokens"));
    facts.extend(
        item.cache
            .map(|ttl| format!("cache breakpoint {}", ttl.as_str())),
    );
    facts
}
