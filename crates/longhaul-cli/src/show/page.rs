//! The list for a person: a table in the order of the prompt, and totals.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use longhaul_core::listing::{ListedItem, ListingZone, ListingZoneTotal};
use longhaul_core::prompt::{RequestNotReady, Ttl};

use super::ShowContent;
use super::request::PrefixState;
use crate::table::{Cell, Column, TextTable};
use crate::terminal::{grouped, share, width};
use crate::text::{clean, columns, count, keep_end, wrap, wrap_items};

const HEADING: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const MARK: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green)));

pub(super) fn render(showing: &ShowContent<'_>) -> String {
    let page = ShowPage {
        showing,
        width: width(),
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = page.write(&mut text);
    text
}

struct ShowPage<'a> {
    showing: &'a ShowContent<'a>,
    width: usize,
}

impl ShowPage<'_> {
    fn write(&self, out: &mut String) -> fmt::Result {
        self.page_header(out)?;
        if !self.showing.listing.items.is_empty() {
            out.push('\n');
            out.push_str(&self.table());
            self.sums(out)?;
            self.cache(out)?;
        }
        self.remarks(out)
    }

    fn page_header(&self, out: &mut String) -> fmt::Result {
        let ShowContent { seen, prepared, .. } = self.showing;
        let name = clean(&seen.name);
        let lines = if columns(&name) <= self.width {
            vec![name]
        } else {
            wrap(&name, self.width)
        };
        for line in lines {
            writeln!(out, "{HEADING}{line}{HEADING:#}")?;
        }
        let which = match seen.turn {
            Some(turn) => format!("request of response {} of {}", turn.number, turn.count),
            None => "next request".to_owned(),
        };
        let mut facts = vec![which];
        facts.extend(prepared.model.as_deref().map(clean));
        facts.push(count(prepared.messages() as u64, "message", "messages"));
        let items = self.showing.listing.items.len() as u64;
        facts.push(count(items, "item", "items"));
        self.facts(out, "", &facts)
    }

    /// Short facts side by side, in as many lines as they need.
    fn facts(&self, out: &mut String, indent: &str, facts: &[String]) -> fmt::Result {
        let facts = facts.iter().map(String::as_str);
        for line in wrap_items(facts, " ·", self.width - indent.len()) {
            writeln!(out, "{indent}{line}")?;
        }
        Ok(())
    }

    fn table(&self) -> String {
        let listing = self.showing.listing;
        let mut table = TextTable::new([
            Column::right("#"),
            Column::left("message").optional(2),
            Column::left("what").down_to(11),
            Column::right("tokens"),
            // Without breakpoints the column needs no title.
            Column::left(if listing.marks.is_empty() {
                ""
            } else {
                "cache"
            })
            .optional(1),
            Column::left("text").down_to(10),
        ]);
        let folded = listing.folded_tools().unwrap_or_default();
        let mut zone = None;
        let mut message = None;
        if !folded.is_empty() {
            zone = Some(ListingZone::Tools);
            table.section(title(ListingZone::Tools));
            table.row(fold(folded));
        }
        for item in &listing.items[folded.len()..] {
            if zone != Some(item.zone) {
                zone = Some(item.zone);
                table.section(title(item.zone));
            }
            let begins = item.message != message;
            message = item.message;
            table.row(self.row(item, begins));
        }
        table.render(0, self.width)
    }

    fn row(&self, item: &ListedItem, begins: bool) -> [Cell; 6] {
        let message = match (item.message, item.role) {
            (Some(message), Some(role)) if begins => format!("{message} {}", role.as_str()),
            _ => String::new(),
        };
        // The end of a long name says more: its beginning is the tool's server.
        let name = item.name.as_deref().map(clean);
        let name = name.map(|name| keep_end(&name, self.width / 4));
        let what = match (item.zone, name) {
            (ListingZone::Tools, Some(name)) => name,
            (_, Some(name)) => format!("{} {name}", item.kind),
            (_, None) => item.kind.to_string(),
        };
        let notes = item.remarks();
        let text = if notes.is_empty() {
            item.excerpt.clone()
        } else {
            format!("({}) {}", notes.join(", "), item.excerpt)
        };
        let text = Cell::new(text);
        [
            Cell::new(item.number.to_string()).dim(),
            Cell::new(message),
            Cell::new(what),
            Cell::new(grouped(item.tokens)),
            cache(item.cache),
            match item.zone {
                ListingZone::Tools | ListingZone::System => text.dim(),
                _ => text,
            },
        ]
    }

    fn sums(&self, out: &mut String) -> fmt::Result {
        let listing = self.showing.listing;
        let sum = format!(
            "{} estimated, {} with a third on top",
            count(listing.tokens, "token", "tokens"),
            grouped(listing.padded_tokens)
        );
        self.section(out, "Sum", &sum)?;
        let part = |sum: &ListingZoneTotal| {
            let name = sum.zone.as_str();
            match sum.tokens {
                Some(0) => None,
                Some(tokens) => Some(format!(
                    "{name} {} ({})",
                    grouped(tokens),
                    share(tokens, listing.tokens)
                )),
                None => Some(format!("{name} ?")),
            }
        };
        let parts: Vec<String> = listing.zones.iter().filter_map(part).collect();
        self.facts(out, "  ", &parts)
    }

    fn cache(&self, out: &mut String) -> fmt::Result {
        let listing = self.showing.listing;
        let Some(before) = listing.tokens_before_last_breakpoint() else {
            return Ok(());
        };
        let marks = listing.marks.iter();
        let marks: Vec<String> = marks
            .map(|mark| format!("{} ({})", mark.item, mark.ttl.as_str()))
            .collect();
        let sum = format!(
            "{} at {}",
            count(marks.len() as u64, "breakpoint", "breakpoints"),
            marks.join(", ")
        );
        self.section(out, "Cache", &sum)?;
        let last = format!(
            "{} of the prompt, {}, is before the last breakpoint",
            share(before, listing.tokens),
            count(before, "token", "tokens")
        );
        self.facts(out, "  ", &[last])
    }

    /// A heading and the text after it, or below it where there is no room.
    fn section(&self, out: &mut String, heading: &str, about: &str) -> fmt::Result {
        write!(out, "\n{HEADING}{heading}{HEADING:#}")?;
        if columns(heading) + 2 + columns(about) <= self.width {
            return writeln!(out, "  {about}");
        }
        writeln!(out)?;
        for line in wrap(about, self.width - 2) {
            writeln!(out, "  {line}")?;
        }
        Ok(())
    }

    /// Notes about the list as a whole.
    fn remarks(&self, out: &mut String) -> fmt::Result {
        let prepared = self.showing.prepared;
        let head = match prepared.prefix {
            PrefixState::Recorded => None,
            PrefixState::Outdated => Some(
                "The conversation was changed after its request prefix was recorded: the next request begins with a new one.",
            ),
            PrefixState::Unreadable => Some(
                "The recorded request prefix cannot be read: tools, system prompt and cache breakpoints are not known.",
            ),
            PrefixState::None => Some(
                "The file records no request prefix: tools, system prompt and cache breakpoints are not known.",
            ),
        };
        let asked = match prepared.body {
            Err(RequestNotReady::NothingAsked) => {
                Some("The conversation ends with a reply: what the user says next comes after it.")
            }
            Err(_) => Some("There is no message to send yet."),
            Ok(_) => None,
        };
        let remarks: Vec<&str> = head.into_iter().chain(asked).collect();
        if !remarks.is_empty() {
            writeln!(out)?;
        }
        for line in remarks.iter().flat_map(|remark| wrap(remark, self.width)) {
            writeln!(out, "{DIM}{line}{DIM:#}")?;
        }
        Ok(())
    }
}

fn title(zone: ListingZone) -> &'static str {
    match zone {
        ListingZone::Tools => "Tools",
        ListingZone::System => "System prompt",
        ListingZone::Context => "User context",
        ListingZone::Messages => "Messages",
        ListingZone::Tail => "New in this request",
    }
}

/// One row for many tools.
fn fold(tools: &[ListedItem]) -> [Cell; 6] {
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool.name.as_deref())
        .collect();
    let tokens: u64 = tools.iter().map(|tool| tool.tokens).sum();
    let mark = tools.iter().rev().find_map(|tool| tool.cache);
    [
        Cell::new(format!("1-{}", tools.len())),
        Cell::new(""),
        Cell::new("tools"),
        Cell::new(grouped(tokens)),
        cache(mark),
        Cell::new(names.join(", ")).dim(),
    ]
}

fn cache(ttl: Option<Ttl>) -> Cell {
    Cell::new(ttl.map_or("", Ttl::as_str)).styled(MARK)
}
