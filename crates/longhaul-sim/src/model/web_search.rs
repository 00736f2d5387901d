//! A turn that searches the web with the API's own tool: a call for each thing to search for, one after the other, and
//! then an answer that cites what was found. Only where the user's words or `tool_choice` ask for a search.

use serde_json::{Value, json};

use super::constraints::{AllowedCalls, ReplyConstraints};
use super::{DraftBlock, ModelTurn, ReplyDraft};
use crate::request::{ApiBlock, ApiRole, MessagesRequest};
use crate::server_tools::{cited_text, is_web_search};

/// The name of the tool, which the API fixes.
const NAME: &str = "web_search";
/// The most results that an answer cites.
const MOST_CITED: usize = 3;
/// Words that ask for a search of the web.
const ASKING: &str =
    "search the web|search the internet|web search|search online|look online|web_search|google";

/// The draft of a turn that searches, or that answers from a search; `None` for any other turn.
pub(super) fn draft(turn: &ModelTurn<'_>, ask: &ReplyConstraints<'_>) -> Option<ReplyDraft> {
    turn.request.tools.iter().find(|tool| is_web_search(tool))?;
    let is_forced = match &ask.calls {
        AllowedCalls::ForcedTo(name) => name == NAME,
        AllowedCalls::Forbidden => return None,
        _ => false,
    };
    let done = done(turn.request);
    if done.is_empty() && !is_forced && !asks(&ask.words) {
        return None;
    }
    let content = match queries(&ask.words).into_iter().nth(done.len()) {
        Some(query) => vec![DraftBlock::ToolUse {
            name: NAME.to_owned(),
            input: json!({ "query": query }),
        }],
        None => answer(&done),
    };
    Some(ReplyDraft {
        content,
        ..ReplyDraft::default()
    })
}

/// Whether the words ask for a search of the web.
pub(super) fn asks(words: &str) -> bool {
    let lower = words.to_lowercase();
    ASKING.split('|').any(|phrase| lower.contains(phrase))
}

/// Whether the request is one of a host's own that offers nothing but the search.
pub(super) fn is_helper(request: &MessagesRequest) -> bool {
    matches!(request.tools.as_slice(), [only] if is_web_search(only))
}

/// What to search for: the line after "query:", or whatever is in quotes, or the words after "for", or all of them.
pub(super) fn queries(words: &str) -> Vec<String> {
    if let Some((_, query)) = words.split_once("query: ") {
        let query = query.lines().next().unwrap_or_default();
        return vec![query.trim().to_owned()];
    }
    let quoted: Vec<String> = words
        .split(['"', '“', '”'])
        .skip(1)
        .step_by(2)
        .map(|query| query.trim().to_owned())
        .filter(|query| !query.is_empty())
        .collect();
    if !quoted.is_empty() {
        return quoted;
    }
    let line = words.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim();
    let after = line.split_once(" for ").map_or(line, |(_, after)| after);
    let query = after.trim().trim_end_matches(['.', '?', '!']);
    vec![query.to_owned()]
}

/// Whether the model is in the middle of a reply in which it has searched.
pub(super) fn goes_on(request: &MessagesRequest) -> bool {
    !done(request).is_empty()
}

/// The results of the searches in the reply that is being written.
fn done(request: &MessagesRequest) -> Vec<&ApiBlock> {
    let last = request.messages.last();
    let last = last.filter(|message| message.role == ApiRole::Assistant);
    let blocks = last.into_iter().flat_map(|message| &message.content);
    blocks
        .filter(|block| block.kind == "web_search_tool_result")
        .collect()
}

fn answer(done: &[&ApiBlock]) -> Vec<DraftBlock> {
    let contents = done.iter().filter_map(|block| block.fields.get("content"));
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for content in contents {
        match content {
            Value::Array(results) => found.extend(results),
            other => failed.extend(other.get("error_code").and_then(Value::as_str)),
        }
    }
    let mut said = Vec::new();
    for code in failed {
        said.push(DraftBlock::Text(format!("A search failed: {code}.\n")));
    }
    if found.is_empty() {
        said.push(DraftBlock::Text("The search found nothing.".to_owned()));
        return said;
    }
    said.push(DraftBlock::Text(
        "This is a simulated search; nothing was looked up. It says:\n".to_owned(),
    ));
    for result in found.into_iter().take(MOST_CITED) {
        let text = |field: &str| {
            result
                .get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let cited = cited_text(text("title"));
        said.push(DraftBlock::Text("- ".to_owned()));
        said.push(DraftBlock::Cited {
            text: cited.clone(),
            citations: vec![json!({
                "type": "web_search_result_location",
                "cited_text": cited,
                "url": text("url"),
                "title": text("title"),
                "encrypted_index": "c2ltdWxhdGVk",
            })],
        });
        said.push(DraftBlock::Text("\n".to_owned()));
    }
    said
}
