//! The misdeeds: each takes what the model would have said and spoils it.

use serde_json::{Value, json};

use super::{Deed, fold_deed};
use crate::model::chance::Chance;
use crate::model::conversation::clip;
use crate::model::schema::Palette;
use crate::model::toolbox::{Kind, PATH_FIELDS, Toolbox};
use crate::model::{Draft, DraftBlock, Stop, Turn};

const ERROR_TEXT: &str = "API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}";
const REFUSAL_TEXT: &str = "I can not help with that.";

pub(super) fn spoil(deed: Deed, honest: Draft, turn: &Turn<'_>) -> Draft {
    let thought = honest.content.first().cloned();
    let mut spoilt = match fold_deed::spoilt(deed, &words(&honest), size(turn)) {
        Some(folds) => text(&folds),
        None => spoilt(deed, honest, turn),
    };
    // A wrong call was thought about as well as a right one.
    let calls = matches!(spoilt.content.first(), Some(DraftBlock::ToolUse { .. }));
    if let (Some(thought @ DraftBlock::Thinking(_)), true) = (thought, calls) {
        spoilt.content.insert(0, thought);
    }
    spoilt
}

fn spoilt(deed: Deed, honest: Draft, turn: &Turn<'_>) -> Draft {
    match deed {
        Deed::Silent => Draft::default(),
        Deed::Refuse => Draft {
            stop: Stop::Refusal,
            ..text(REFUSAL_TEXT)
        },
        Deed::Cut => cut(honest),
        Deed::Error => text(ERROR_TEXT),
        Deed::Untagged => text(&without_tags(&words(&honest))),
        Deed::Empty => {
            text("<analysis>\nThere is nothing to say.\n</analysis>\n\n<summary>\n\n</summary>")
        }
        // Of a single summary, all there is.
        Deed::Missing => text("There is nothing to say."),
        Deed::Long => long(&words(&honest), turn),
        Deed::Call => forbidden_call(turn),
        Deed::Unknown => calling("NoSuchTool", json!({ "why": "it was not offered" })),
        Deed::Invalid => {
            let name = turn
                .request
                .tools
                .first()
                .map_or("Read", |tool| tool.name.as_str());
            calling(name, json!({ "unexpected_field": [1, 2, 3] }))
        }
        Deed::Elsewhere => elsewhere(honest),
    }
}

fn text(text: &str) -> Draft {
    Draft {
        content: vec![DraftBlock::Text(text.to_owned())],
        ..Draft::default()
    }
}

fn calling(name: &str, input: Value) -> Draft {
    Draft {
        content: vec![DraftBlock::ToolUse {
            name: name.to_owned(),
            input,
        }],
        ..Draft::default()
    }
}

fn words(draft: &Draft) -> String {
    let texts = draft.content.iter().filter_map(|block| match block {
        DraftBlock::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Half of what it would have said, without its calls.
fn cut(honest: Draft) -> Draft {
    let words = words(&honest);
    let words = if words.is_empty() {
        "I will now"
    } else {
        words.as_str()
    };
    Draft {
        stop: Stop::CutOff,
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

/// A summary that is longer than everything it sums up.
fn long(honest: &str, turn: &Turn<'_>) -> Draft {
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

/// The bytes of everything that was said.
fn size(turn: &Turn<'_>) -> usize {
    let messages = turn.request.messages.iter();
    let blocks = messages.flat_map(|message| &message.content);
    blocks.map(|block| block.raw.len().max(16)).sum()
}

fn forbidden_call(turn: &Turn<'_>) -> Draft {
    let tools = Toolbox::of(turn.request);
    let wanted = [Kind::Read, Kind::Bash, Kind::Grep, Kind::Glob];
    let offer = wanted
        .into_iter()
        .find_map(|kind| tools.of_kind(kind))
        .or(tools.all().first().copied());
    match offer {
        Some(offer) => {
            let paths = ["README.md".to_owned()];
            let palette = Palette {
                paths: &paths,
                ..Palette::default()
            };
            let input = offer.input(json!({}), palette, &mut Chance::new(turn.seed));
            calling(offer.name(), input)
        }
        None => calling("Bash", json!({ "command": "ls" })),
    }
}

/// The same edits, of another file.
fn elsewhere(mut honest: Draft) -> Draft {
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
    match any {
        true => honest,
        false => calling(
            "Edit",
            json!({ "file_path": "/tmp/elsewhere.md", "old_string": "a", "new_string": "b" }),
        ),
    }
}
