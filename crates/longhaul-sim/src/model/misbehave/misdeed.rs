//! The misdeeds: each takes what the model would have said and spoils it.

use serde_json::{Value, json};

use super::{Misdeed, fold_misdeed};
use crate::model::chance::Chance;
use crate::model::conversation::clip;
use crate::model::schema::ValuePalette;
use crate::model::toolbox::{PATH_FIELDS, RequestTools, ToolPurpose};
use crate::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft};

const ERROR_TEXT: &str = "API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}";
const REFUSAL_TEXT: &str = "I can not help with that.";

pub(super) fn spoil(deed: Misdeed, honest: ReplyDraft, turn: &ModelTurn<'_>) -> ReplyDraft {
    let thought = honest.content.first().cloned();
    let mut spoilt = match fold_misdeed::spoilt(deed, &words(&honest), size(turn)) {
        Some(folds) => text(&folds),
        None => spoilt(deed, honest, turn),
    };
    // The model thinks before a wrong call as it does before a right one.
    let calls = matches!(spoilt.content.first(), Some(DraftBlock::ToolUse { .. }));
    if let (Some(thought @ DraftBlock::Thinking(_)), true) = (thought, calls) {
        spoilt.content.insert(0, thought);
    }
    spoilt
}

fn spoilt(deed: Misdeed, honest: ReplyDraft, turn: &ModelTurn<'_>) -> ReplyDraft {
    match deed {
        Misdeed::Silent => ReplyDraft::default(),
        Misdeed::Refuse => ReplyDraft {
            stop: DraftStop::Refusal,
            ..text(REFUSAL_TEXT)
        },
        Misdeed::Cut => cut(honest),
        Misdeed::Error => text(ERROR_TEXT),
        Misdeed::Untagged => text(&without_tags(&words(&honest))),
        Misdeed::Empty => {
            text("<analysis>\nThere is nothing to say.\n</analysis>\n\n<summary>\n\n</summary>")
        }
        // For a single summary, the whole summary is missing.
        Misdeed::Missing => text("There is nothing to say."),
        Misdeed::Long => long(&words(&honest), turn),
        Misdeed::Call => forbidden_call(turn),
        Misdeed::Unknown => calling("NoSuchTool", json!({ "why": "it was not offered" })),
        Misdeed::Invalid => {
            let name = turn
                .request
                .tools
                .first()
                .map_or("Read", |tool| tool.name.as_str());
            calling(name, json!({ "unexpected_field": [1, 2, 3] }))
        }
        Misdeed::Elsewhere => elsewhere(honest),
    }
}

fn text(text: &str) -> ReplyDraft {
    ReplyDraft {
        content: vec![DraftBlock::Text(text.to_owned())],
        ..ReplyDraft::default()
    }
}

fn calling(name: &str, input: Value) -> ReplyDraft {
    ReplyDraft {
        content: vec![DraftBlock::ToolUse {
            name: name.to_owned(),
            input,
        }],
        ..ReplyDraft::default()
    }
}

fn words(draft: &ReplyDraft) -> String {
    let texts = draft.content.iter().filter_map(|block| match block {
        DraftBlock::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Half of the honest text, without the calls.
fn cut(honest: ReplyDraft) -> ReplyDraft {
    let words = words(&honest);
    let words = if words.is_empty() {
        "I will now"
    } else {
        words.as_str()
    };
    ReplyDraft {
        stop: DraftStop::CutOff,
        ..text(clip(words, (words.len() / 2).max(6)).trim_end())
    }
}

fn without_tags(text: &str) -> String {
    let body = text.split_once("<summary>").map_or(text, |(_, body)| body);
    body.replace("</summary>", "")
        .replace("<summary>", "")
        .trim()
        .to_owned()
}

/// A summary that is longer than everything it summarizes.
fn long(honest: &str, turn: &ModelTurn<'_>) -> ReplyDraft {
    let body = without_tags(honest);
    let body = if body.is_empty() {
        "There is nothing to say.".to_owned()
    } else {
        body
    };
    let times = size(turn) / body.len() + 2;
    let mut all = String::from("<summary>\n");
    for _ in 0..times {
        all.push_str(&body);
        all.push('\n');
    }
    all.push_str("</summary>");
    text(&all)
}

/// The number of bytes in the whole conversation.
fn size(turn: &ModelTurn<'_>) -> usize {
    let messages = turn.request.messages.iter();
    let blocks = messages.flat_map(|message| &message.content);
    blocks.map(|block| block.raw.len().max(16)).sum()
}

fn forbidden_call(turn: &ModelTurn<'_>) -> ReplyDraft {
    let tools = RequestTools::of(turn.request);
    let wanted = [
        ToolPurpose::Read,
        ToolPurpose::Bash,
        ToolPurpose::Grep,
        ToolPurpose::Glob,
    ];
    let offer = wanted
        .into_iter()
        .find_map(|kind| tools.of_kind(kind))
        .or(tools.all().first().copied());
    match offer {
        Some(offer) => {
            let paths = ["README.md".to_owned()];
            let palette = ValuePalette {
                paths: &paths,
                ..ValuePalette::default()
            };
            let input = offer.input(json!({}), palette, &mut Chance::new(turn.seed));
            calling(offer.name(), input)
        }
        None => calling("Bash", json!({ "command": "ls" })),
    }
}

/// The same edits in another file.
fn elsewhere(mut honest: ReplyDraft) -> ReplyDraft {
    let mut any = false;
    for block in &mut honest.content {
        if let DraftBlock::ToolUse { input, .. } = block {
            for field in PATH_FIELDS {
                if let Some(path) = input.get_mut(field) {
                    *path = json!("/tmp/elsewhere.md");
                    any = true;
                }
            }
        }
    }
    if any {
        honest
    } else {
        calling(
            "Edit",
            json!({ "file_path": "/tmp/elsewhere.md", "old_string": "a", "new_string": "b" }),
        )
    }
}
