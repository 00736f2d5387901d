//! The listing as plain text, which is the form that snapshots use. It holds no ids or times, so it does not depend on
//! when and by which program the session was made.

use std::fmt;

use super::redact::redacted;
use super::{ListedItem, Listing};
use crate::prompt::Ttl;

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut items = self.items.iter();
        if let Some(tools) = self.folded_tools() {
            let tokens: u64 = tools.iter().map(|tool| tool.tokens).sum();
            let numbers = format!("1-{}", tools.len());
            writeln!(f, "{numbers:>4} tools    {tokens:>40} tokens")?;
            items = self.items[tools.len()..].iter();
        }
        for item in items {
            writeln!(f, "{}", line(item).trim_end())?;
        }
        for sum in self.zones.iter().filter(|sum| sum.tokens != Some(0)) {
            match sum.tokens {
                Some(tokens) => write!(f, "{} {tokens}, ", sum.zone.as_str())?,
                None => write!(f, "{} unknown, ", sum.zone.as_str())?,
            }
        }
        write!(f, "sum {}, ", self.tokens)?;
        match self.tokens_before_last_breakpoint() {
            Some(tokens) => write!(f, "{tokens} up to the last mark"),
            None => write!(f, "no marks"),
        }
    }
}

fn line(item: &ListedItem) -> String {
    let message = match (item.message, item.role) {
        (Some(message), Some(role)) => format!("{message} {}", role.as_str()),
        _ => String::new(),
    };
    let ttl = item.cache.map_or("", Ttl::as_str);
    let notes = item.remarks();
    let notes = if notes.is_empty() {
        String::new()
    } else {
        format!("({}) ", notes.join(", "))
    };
    format!(
        "{:>4} {:<8} {message:<12} {:<20} {:>6} {ttl:<2}  {notes}{}",
        item.number,
        item.zone.as_str(),
        item.what(),
        item.tokens,
        redacted(&item.excerpt)
    )
}
