//! Session notes on request: a prompt that names a markdown file, shows its sections and asks to bring them up to date
//! is answered with edits of that file, one per section, each on the exact text shown; or with the changed sections as
//! text if no edit tool is offered or the prompt asks for an answer between tags.
//!
//! A request is recognized by its content: a path ending in `.md`, words that ask to edit or update notes, and at least
//! three sections with a heading and an italic line under it. `shown_notes` reads that, `write` finds the content for a
//! section.

mod shown_notes;
mod write;

use serde_json::json;

use super::chance::Chance;
use super::constraints::{AllowedCalls, ReplyConstraints};
use super::conversation::exchanges;
use super::digest::{ConversationDigest, LastMessageUse};
use super::schema::ValuePalette;
use super::toolbox::{OfferedTool, RequestTools, ToolPurpose};
use super::{DraftBlock, ReplyDraft};
use crate::request::MessagesRequest;
use shown_notes::{ShownNotes, ShownNotesSection};

/// The tags around an answer in text, if the prompt shows them. Such a prompt wants no calls.
const TAGS: (&str, &str) = ("<notes>", "</notes>");
/// The maximum number of edits in one reply.
const MOST_AT_ONCE: usize = 12;

/// Whether a user's words ask to keep session notes.
pub fn is_asked(words: &str) -> bool {
    ShownNotes::read(words).is_some()
}

/// The reply to a request to keep notes; `None` for any other request.
pub fn reply(request: &MessagesRequest) -> Option<ReplyDraft> {
    let ask = ReplyConstraints::of(request);
    is_asked(&ask.words).then(|| draft(request, &ask))
}

pub(super) fn draft(request: &MessagesRequest, ask: &ReplyConstraints<'_>) -> ReplyDraft {
    let text = |text: String| ReplyDraft {
        content: vec![DraftBlock::Text(text)],
        ..ReplyDraft::default()
    };
    let Some(page) = ShownNotes::read(&ask.words) else {
        return text("There are no notes to edit in what I was given.".to_owned());
    };
    let end = (ask.prompt_at + 1).min(request.messages.len());
    let digest = ConversationDigest::of(&request.messages[..end], LastMessageUse::Asks);
    let changes = write::changes(&page, &digest, ask.room);
    let since = exchanges(&request.messages[end..]);
    let open: Vec<&(&ShownNotesSection<'_>, String)> = changes
        .iter()
        .filter(|(section, _)| {
            !since.iter().any(|exchange| {
                exchange.input_any(&["old_string", "old_str"]) == Some(section.shown)
            })
        })
        .collect();
    let tagged = ask.words.contains(TAGS.0) && ask.words.contains(TAGS.1);
    let offer = editor(request, ask).filter(|_| !tagged);
    let Some(offer) = offer else {
        let sections: Vec<&str> = changes.iter().map(|(_, new)| new.as_str()).collect();
        let sections = sections.join("\n\n");
        return text(match (tagged, sections.is_empty()) {
            (true, _) => format!("{}\n{sections}\n{}", TAGS.0, TAGS.1),
            (false, true) => "The notes are up to date.".to_owned(),
            (false, false) => sections,
        });
    };
    let batched = offer.kind == ToolPurpose::MultiEdit && !since.is_empty();
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
    let most = if ask.calls == AllowedCalls::One {
        1
    } else {
        MOST_AT_ONCE
    };
    let content = match offer.kind {
        ToolPurpose::MultiEdit => vec![all_at_once(offer, page.path, &open)],
        _ => open
            .iter()
            .take(most)
            .map(|(section, new)| edit(offer, page.path, section, new))
            .collect(),
    };
    ReplyDraft {
        content,
        ..ReplyDraft::default()
    }
}

/// The tool that edits the file. The prompt may forbid every other tool, so only `tool_choice` is checked here.
fn editor<'a>(request: &'a MessagesRequest, ask: &ReplyConstraints<'_>) -> Option<OfferedTool<'a>> {
    let choice = request
        .fields
        .get("tool_choice")
        .and_then(|choice| choice.get("type"));
    if ask.calls == AllowedCalls::Forbidden && choice.and_then(|kind| kind.as_str()) == Some("none")
    {
        return None;
    }
    let tools = RequestTools::of(request);
    [
        ToolPurpose::Edit,
        ToolPurpose::Editor,
        ToolPurpose::MultiEdit,
    ]
    .into_iter()
    .find_map(|kind| tools.of_kind(kind))
}

fn edit(
    offer: OfferedTool<'_>,
    path: &str,
    section: &ShownNotesSection<'_>,
    new: &str,
) -> DraftBlock {
    let field = offer.path_field().unwrap_or("file_path");
    let hints = json!({
        field: path, "old_string": section.shown, "new_string": new, "old_str": section.shown, "new_str": new,
        "command": "str_replace",
    });
    call(offer, hints)
}

fn all_at_once(
    offer: OfferedTool<'_>,
    path: &str,
    open: &[&(&ShownNotesSection<'_>, String)],
) -> DraftBlock {
    let field = offer.path_field().unwrap_or("file_path");
    let edits: Vec<_> = open
        .iter()
        .map(|(section, new)| json!({ "old_string": section.shown, "new_string": new }))
        .collect();
    call(offer, json!({ field: path, "edits": edits }))
}

fn call(offer: OfferedTool<'_>, hints: serde_json::Value) -> DraftBlock {
    // Nothing is random here: every required field is given.
    let input = offer.input(hints, ValuePalette::default(), &mut Chance::new(0));
    DraftBlock::ToolUse {
        name: offer.name().to_owned(),
        input,
    }
}
