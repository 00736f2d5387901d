//! Short answers to a host's helper calls: a title for the conversation, or an answer in a demanded JSON format. A
//! helper call has no tools and is not part of the conversation's work.

use serde_json::json;

use super::chance::Chance;
use super::constraints::ReplyConstraints;
use super::conversation::{among, clip};
use super::schema::{ValuePalette, answer};
use super::{DraftBlock, ReplyDraft};
use crate::request::MessagesRequest;

/// Whether the request is a helper call: it has no tools and asks for a title, or for an answer in a format.
pub(super) fn is_asked(request: &MessagesRequest, ask: &ReplyConstraints<'_>) -> bool {
    request.tools.is_empty() && (ask.format.is_some() || asks_for_title(request, ask))
}

/// The reply to a helper call; `None` for any other request.
pub fn reply(request: &MessagesRequest) -> Option<ReplyDraft> {
    let ask = ReplyConstraints::of(request);
    if is_asked(request, &ask) {
        draft(request, &ask, &mut Chance::new(0))
    } else {
        None
    }
}

/// The draft for a helper call; `None` for any other request.
pub(super) fn draft(
    request: &MessagesRequest,
    ask: &ReplyConstraints<'_>,
    chance: &mut Chance,
) -> Option<ReplyDraft> {
    let title = title(&ask.words);
    if let Some(schema) = ask.format {
        let hints = json!({ "title": title, "name": title, "summary": title, "topic": title, "isNewTopic": true });
        let phrases = vec![title];
        let palette = ValuePalette {
            phrases: &phrases,
            ..ValuePalette::default()
        };
        return Some(text(answer(schema, hints, palette, chance).to_string()));
    }
    if !request.tools.is_empty() || !asks_for_title(request, ask) {
        return None;
    }
    let system = request.system.iter().filter_map(|block| block.text("text"));
    let all: String = system
        .chain([ask.words.as_str()])
        .collect::<Vec<_>>()
        .join("\n");
    let json = all.contains("JSON") || all.contains("json");
    Some(text(match (json, all.contains("isNewTopic")) {
        (true, true) => json!({ "isNewTopic": true, "title": title }).to_string(),
        (true, false) => json!({ "title": title }).to_string(),
        (false, _) => title,
    }))
}

fn text(text: String) -> ReplyDraft {
    ReplyDraft {
        content: vec![DraftBlock::Text(text)],
        ..ReplyDraft::default()
    }
}

fn asks_for_title(request: &MessagesRequest, ask: &ReplyConstraints<'_>) -> bool {
    const VERBS: &str =
        "write|generate|create|give|come up with|extract|suggest|respond with|return";
    const TITLES: &str = "a title|short title|title for|title that|\"title\"|word title|title generator|thread title|\
        conversation title";
    let asks = |text: &str| {
        let lower = clip(text, 4_000).to_lowercase();
        let has = |phrases: &str| phrases.split('|').any(|phrase| lower.contains(phrase));
        has(TITLES) && has(VERBS)
    };
    let brief = request.messages.len() <= 3;
    let by_system = request
        .system
        .iter()
        .filter_map(|block| block.text("text"))
        .any(asks);
    brief && (by_system || asks(&ask.words))
}

/// A title of a few words from the most important part of a text.
fn title(words: &str) -> String {
    const LIGHT: &str = "the a an and or of to in on for with is are be please can you i we it this that my me write \
        generate title conversation following message short";
    // The conversation is often given in tags or after a colon; the subject comes last.
    let inner = words
        .split_once('>')
        .and_then(|(_, after)| after.split_once("</"))
        .map_or(words, |(inner, _)| inner);
    let inner = inner.rsplit_once(":\n").map_or(inner, |(_, after)| after);
    let picked: Vec<String> = inner
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-')
        .filter(|word| word.len() > 1 && !among(&word.to_lowercase(), LIGHT))
        .take(6)
        .map(str::to_owned)
        .collect();
    let mut title = if picked.is_empty() {
        "New conversation".to_owned()
    } else {
        picked.join(" ")
    };
    if let Some(first) = title.get(..1).map(str::to_uppercase) {
        title.replace_range(..1, &first);
    }
    clip(&title, 60).to_owned()
}
