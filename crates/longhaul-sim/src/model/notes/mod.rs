//! Session notes on request: a prompt that names a markdown file, shows its sections and asks to bring them up to date is
//! answered with edits of that file, one a section, each on the exact text shown; or with the changed sections as text
//! where no edit tool is on offer.
//!
//! A request is known by what it holds: a path ending in `.md`, words that ask to edit or update notes, and at least
//! three headed sections with an italic line under them. `page` reads that, `write` finds what belongs into a section.

mod page;
mod write;

use serde_json::json;

use super::ask::{Ask, Calls};
use super::chance::Chance;
use super::conversation::exchanges;
use super::digest::{Digest, Last};
use super::schema::Palette;
use super::toolbox::{Kind, Offer, Toolbox};
use super::{Draft, DraftBlock};
use crate::request::Request;
use page::{Page, Section};

/// What a prompt may want an answer in text to stand between.
const OPENING: &str = "<notes>";
const CLOSING: &str = "</notes>";

/// Edits in one reply.
const MOST_AT_ONCE: usize = 12;

/// A user's words ask to keep session notes.
pub fn is_asked(words: &str) -> bool {
    Page::read(words).is_some()
}

/// The reply to a request to keep notes; none where the request asks for something else.
pub fn reply(request: &Request) -> Option<Draft> {
    let ask = Ask::of(request);
    is_asked(&ask.words).then(|| draft(request, &ask))
}

pub(super) fn draft(request: &Request, ask: &Ask<'_>) -> Draft {
    let text = |text: String| Draft {
        content: vec![DraftBlock::Text(text)],
        ..Draft::default()
    };
    let Some(page) = Page::read(&ask.words) else {
        return text("There are no notes to edit in what I was given.".to_owned());
    };
    let end = (ask.prompt_at + 1).min(request.messages.len());
    let digest = Digest::of(&request.messages[..end], Last::Asks);
    let changes = write::changes(&page, &digest, ask.room);
    let since = exchanges(&request.messages[end..]);
    let open: Vec<&(&Section<'_>, String)> = changes
        .iter()
        .filter(|(section, _)| {
            !since.iter().any(|exchange| {
                exchange.input_any(&["old_string", "old_str"]) == Some(section.shown)
            })
        })
        .collect();
    let offer = editor(request, ask);
    let Some(offer) = offer else {
        let sections: Vec<&str> = changes.iter().map(|(_, new)| new.as_str()).collect();
        let sections = sections.join("\n\n");
        return text(match (ask.words.contains(OPENING), sections.is_empty()) {
            (true, _) => format!("{OPENING}\n{sections}\n{CLOSING}"),
            (false, true) => "The notes are up to date.".to_owned(),
            (false, false) => sections,
        });
    };
    let batched = offer.kind == Kind::MultiEdit && !since.is_empty();
    if open.is_empty() || batched {
        let failed = since.iter().filter(|exchange| exchange.failed()).count();
        return text(match failed {
            0 => format!("The notes in {} are up to date.", page.path),
            _ => format!(
                "{failed} of the edits of {} did not apply; the rest is up to date.",
                page.path
            ),
        });
    }
    let most = if ask.calls == Calls::One {
        1
    } else {
        MOST_AT_ONCE
    };
    let content = match offer.kind {
        Kind::MultiEdit => vec![all_at_once(offer, page.path, &open)],
        _ => open
            .iter()
            .take(most)
            .map(|(section, new)| edit(offer, page.path, section, new))
            .collect(),
    };
    Draft {
        content,
        ..Draft::default()
    }
}

/// The tool that edits the file. The prompt may forbid every other tool, so only `tool_choice` is minded here.
fn editor<'a>(request: &'a Request, ask: &Ask<'_>) -> Option<Offer<'a>> {
    let choice = request
        .fields
        .get("tool_choice")
        .and_then(|choice| choice.get("type"));
    if ask.calls == Calls::Forbidden && choice.and_then(|kind| kind.as_str()) == Some("none") {
        return None;
    }
    let tools = Toolbox::of(request);
    [Kind::Edit, Kind::Editor, Kind::MultiEdit]
        .into_iter()
        .find_map(|kind| tools.of_kind(kind))
}

fn edit(offer: Offer<'_>, path: &str, section: &Section<'_>, new: &str) -> DraftBlock {
    let field = offer.path_field().unwrap_or("file_path");
    let hints = json!({
        field: path, "old_string": section.shown, "new_string": new, "old_str": section.shown, "new_str": new,
        "command": "str_replace",
    });
    call(offer, hints)
}

fn all_at_once(offer: Offer<'_>, path: &str, open: &[&(&Section<'_>, String)]) -> DraftBlock {
    let field = offer.path_field().unwrap_or("file_path");
    let edits: Vec<_> = open
        .iter()
        .map(|(section, new)| json!({ "old_string": section.shown, "new_string": new }))
        .collect();
    call(offer, json!({ field: path, "edits": edits }))
}

fn call(offer: Offer<'_>, hints: serde_json::Value) -> DraftBlock {
    // Nothing is left to chance: every required field is given.
    let input = offer.input(hints, Palette::default(), &mut Chance::new(0));
    DraftBlock::ToolUse {
        name: offer.name().to_owned(),
        input,
    }
}
