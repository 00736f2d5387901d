//! Renders results of client-side tools.

use std::borrow::Cow;

use super::call::{push_id, sendable_id};
use super::inner::{ResultContent, ResultContentKind, is, string, text_item};
use super::shape::{BlockFieldSpec, FieldShape, fit, nullable, optional, record};
use super::shape_mismatch::ShapeMismatch;
use super::source::BlockSource;
use super::{picture, text};
use crate::json::{JsonCursor, JsonKind, decode, items};
use crate::message::{BlockKind, EntryView, Id, SentForm};
use crate::normalize::BlockOrigin;
use crate::normalize::fragment::{fill, reminder};
use crate::normalize::images::ImageCounter;
use crate::normalize::options::{CacheReferences, RenderRules};
use crate::normalize::piece::{BlockPart, BlockPiece, ClientToolCall, push_string};
use crate::quoting::{inline, quoted as quoted_text};
use crate::tokens::RoughEstimator;

const CLEARED: &str = include_str!("../fragments/cleared.txt");
const UNANSWERED: &str = include_str!("../fragments/unanswered.txt");
const LATE: &str = include_str!("../fragments/late_result.txt");

const FIELDS: &[BlockFieldSpec] = &[
    optional("tool_use_id", &FieldShape::Text),
    optional("content", &FieldShape::Any),
    nullable("is_error", &FieldShape::Bool),
    nullable("toolset_name", &FieldShape::Text),
];

/// Returns the id of the call that a result answers.
pub(in crate::normalize) fn answers(view: EntryView<'_>, index: usize) -> Option<Id> {
    let block = view.facets.blocks.get(index)?;
    let source = BlockSource { view, index, block };
    source.object().string("tool_use_id").map(|id| Id::of(&id))
}

/// Renders a result as it is sent after its call.
pub(in crate::normalize) fn result(
    view: EntryView<'_>,
    index: usize,
    rules: &RenderRules,
    images: &mut ImageCounter,
) -> BlockPiece {
    let block = &view.facets.blocks[index];
    let source = BlockSource { view, index, block };
    let id = source
        .object()
        .get("tool_use_id")
        .and_then(crate::json::content);
    let id = id.unwrap_or_default();
    let call = Id::of(&decode(id));
    let is_cleared = rules.cleared.contains(&call);
    let recorded = view.reductions().into_iter().find(|one| one.call == call);
    let is_reduced = rules.reductions.form(call) == Some(SentForm::Reduced);
    let reduced = recorded.filter(|_| is_reduced).map(|one| one.literal);
    let sent = sendable_id(id);
    let mut shows = ResultContentKind::Text;
    let json = record(source.raw(), FIELDS, |field, value| match field.name {
        "tool_use_id" if *sent == *id => Ok(Cow::Borrowed(value)),
        "tool_use_id" => Ok(Cow::Owned(crate::json::enclose(&sent))),
        "content" if is_cleared => Ok(Cow::Owned(string(CLEARED.trim_end()))),
        "content" => {
            if let Some(literal) = reduced {
                return Ok(Cow::Owned(crate::json::enclose(literal)));
            }
            let content = ResultContent::of(value, rules, images)?;
            shows = content.shows;
            Ok(content.json)
        }
        _ => fit(value, field.shape),
    });
    // The id is there, so no required field is missing.
    let mut json = json.unwrap_or_default();
    if block.is_error && shows == ResultContentKind::More {
        // The API accepts only text from a tool that failed.
        json = record(&json, FIELDS, |field, value| match field.name {
            "is_error" => Err(ShapeMismatch),
            _ => Ok(Cow::Owned(value.to_vec())),
        })
        .map(|json| Cow::Owned(json.into_owned()))
        .unwrap_or_default();
    }
    let mut json = json.into_owned();
    refer(&mut json, &sent, rules);
    let mut piece = source.piece(json, BlockPart::Plain);
    if is_cleared {
        piece.weight = RoughEstimator::text(CLEARED.trim_end());
        piece.origin = BlockOrigin::Cleared;
    } else if recorded.is_some() && reduced.is_none() {
        piece.weight = RoughEstimator.original_result(view, index);
    } else if block.is_error && source.object().string("content").is_some_and(is_unanswered) {
        piece.origin = BlockOrigin::Synthetic;
    }
    piece
}

/// Renders the result of a call that was never answered. Its bytes depend on the call's id alone.
pub(in crate::normalize) fn unanswered(call: &ClientToolCall, rules: &RenderRules) -> BlockPiece {
    let text = UNANSWERED.trim_end();
    let mut json = br#"{"type":"tool_result","tool_use_id":"#.to_vec();
    push_id(&mut json, &call.sent);
    json.extend_from_slice(br#","content":"#);
    push_string(&mut json, text);
    json.extend_from_slice(br#","is_error":true}"#);
    refer(&mut json, &call.sent, rules);
    BlockPiece {
        json,
        kind: BlockKind::ToolResult,
        part: BlockPart::Plain,
        markable: true,
        entry: None,
        origin: BlockOrigin::Synthetic,
        weight: RoughEstimator::text(text),
    }
}

/// Whether a host wrote this result because there was no real one (M7).
fn is_unanswered(content: Cow<'_, str>) -> bool {
    content == UNANSWERED.trim_end()
}

/// Renders a result for a call that was already answered: a reminder, with its pictures after it.
pub(in crate::normalize) fn late_result(
    view: EntryView<'_>,
    index: usize,
    rules: &RenderRules,
    images: &mut ImageCounter,
) -> Vec<BlockPiece> {
    let block = &view.facets.blocks[index];
    let source = BlockSource { view, index, block };
    let id = source.object().string("tool_use_id").unwrap_or_default();
    let mut texts = Vec::new();
    let mut pictures = Vec::new();
    match source.object().get("content") {
        _ if rules.cleared.contains(&Id::of(&id)) => texts.push(CLEARED.trim_end().into()),
        Some(raw) => match JsonCursor::new(raw).peek() {
            Ok(JsonKind::String) => texts.push(super::shape::text(raw).into_owned()),
            Ok(JsonKind::Array) => {
                for item in items(raw).unwrap_or_default() {
                    match text_item(item) {
                        Some(text) => texts.push(text.into_owned()),
                        None if is(item, "image") => pictures.extend(picture::judged(item, images)),
                        None => texts.push(text::wrapped(item)),
                    }
                }
            }
            Ok(JsonKind::Null) | Err(_) => {}
            Ok(_) => texts.push(String::from_utf8_lossy(raw).into_owned()),
        },
        None => {}
    }
    texts.retain(|text| !text.trim().is_empty());
    let said = quoted_text(&texts.join("\n\n"));
    let text = fill(LATE, &[("id", &inline(&id)), ("content", &said)]);
    let mut pieces = vec![BlockPiece::text(
        &reminder(text.trim_end()),
        view.uuid(),
        BlockOrigin::Reminder,
    )];
    pieces.extend(pictures.into_iter().map(|json| picture::piece(json, view)));
    pieces
}

/// Adds the reference that cache edits use (B3).
fn refer(json: &mut Vec<u8>, sent: &[u8], rules: &RenderRules) {
    if rules.references == CacheReferences::Written && json.last() == Some(&b'}') {
        json.pop();
        json.extend_from_slice(br#","cache_reference":"#);
        push_id(json, sent);
        json.push(b'}');
    }
}
