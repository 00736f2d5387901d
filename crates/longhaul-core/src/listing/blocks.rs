//! Lists the blocks of all messages of a rendering.

use std::borrow::Cow;

use super::content;
use super::excerpt::excerpt;
use super::item::{ItemNote, ListedItem, ListedItemSource, ListingZone};
use crate::hash::Map;
use crate::json::ObjectReader;
use crate::message::{BlockKind, Id, SentForm};
use crate::normalize::{BlockOrigin, MessageRole, RenderedBlock, Rendering};
use crate::prompt::{MessageBreakpoints, RequestPrefix};

/// How the text of a reminder begins.
const REMINDER: &str = "<system-reminder>";

/// Adds the blocks of all messages.
pub(super) fn add(
    head: Option<&RequestPrefix>,
    rendering: &Rendering,
    marks: &MessageBreakpoints,
    list: &mut Vec<ListedItem>,
) {
    let messages = rendering.messages();
    let replied = messages
        .iter()
        .rposition(|message| message.role == MessageRole::Assistant);
    let ttl = head.and_then(RequestPrefix::ttl_of_messages);
    let mut tools: Map<String, String> = Map::default();
    for (at, block) in rendering.blocks().iter().enumerate() {
        let json = json(rendering, block);
        let object = ObjectReader::new(&json);
        let message = block.message as usize;
        let zone = match block.origin {
            BlockOrigin::Context => ListingZone::Context,
            _ if replied.is_some_and(|replied| message <= replied) => ListingZone::Messages,
            _ => ListingZone::Tail,
        };
        let mut item = ListedItem::new(
            zone,
            kind(block, object),
            block.weight,
            ListedItemSource::Block(at),
        );
        item.message = Some(message + 1);
        item.role = messages.get(message).map(|message| message.role);
        item.name = tool(object, &mut tools);
        item.cache = ttl.filter(|_| marks.blocks().contains(&(at as u32)));
        let text = content::of(&json);
        item.excerpt = excerpt(match block.origin {
            // Every reminder is wrapped in these tags, so they would tell the reader nothing.
            BlockOrigin::Reminder | BlockOrigin::Context => {
                text.trim_start().trim_start_matches(REMINDER)
            }
            _ => &text,
        });
        item.notes.extend(note(block.origin));
        if is_reduced(rendering, block, object) {
            item.notes.push(ItemNote::Reduced);
        }
        if block.kind == BlockKind::ToolResult
            && block.origin != BlockOrigin::Synthetic
            && object.get("is_error") == Some(b"true")
        {
            item.notes.push(ItemNote::Error);
        }
        let begins = messages
            .get(message)
            .is_some_and(|message| message.first_block as usize == at && message.stripped > 0);
        if begins {
            item.notes.push(ItemNote::Stripped);
        }
        list.push(item);
    }
}

/// Returns the whole text of a block.
pub(super) fn text(rendering: &Rendering, at: usize) -> String {
    let block = rendering.blocks().get(at);
    block
        .map(|block| content::of(&json(rendering, block)))
        .unwrap_or_default()
}

fn json(rendering: &Rendering, block: &RenderedBlock) -> Vec<u8> {
    rendering.buffer().copy(block.start, block.end)
}

/// Whether a result is sent in a smaller form than it came in.
fn is_reduced(rendering: &Rendering, block: &RenderedBlock, object: ObjectReader<'_>) -> bool {
    let call = object.string("tool_use_id");
    let form = call.and_then(|call| rendering.sent_form(Id::of(&call)));
    block.kind == BlockKind::ToolResult && form == Some(SentForm::Reduced)
}

fn note(origin: BlockOrigin) -> Option<ItemNote> {
    match origin {
        BlockOrigin::Said | BlockOrigin::Context => None,
        BlockOrigin::Summary => Some(ItemNote::Summary),
        BlockOrigin::Reminder => Some(ItemNote::Reminder),
        BlockOrigin::Cleared => Some(ItemNote::Cleared),
        BlockOrigin::LeftOut => Some(ItemNote::LeftOut),
        BlockOrigin::Synthetic => Some(ItemNote::Synthetic),
        BlockOrigin::Wrapped => Some(ItemNote::Wrapped),
    }
}

/// Returns the type of a block as it is sent.
fn kind(block: &RenderedBlock, object: ObjectReader<'_>) -> Cow<'static, str> {
    match block.kind {
        BlockKind::Text => "text".into(),
        BlockKind::Image => "image".into(),
        BlockKind::Document => "document".into(),
        BlockKind::Thinking => "thinking".into(),
        BlockKind::RedactedThinking => "redacted_thinking".into(),
        BlockKind::ToolUse => "tool_use".into(),
        BlockKind::ToolResult => "tool_result".into(),
        BlockKind::Other => {
            let kind = object.string("type").unwrap_or_default();
            excerpt(&kind).into()
        }
    }
}

/// Returns the name of the tool that a block calls or whose result it holds.
fn tool(object: ObjectReader<'_>, tools: &mut Map<String, String>) -> Option<String> {
    if let Some(called) = object.string("tool_use_id") {
        return tools.get(&*called).cloned();
    }
    let (id, name) = object.string("id").zip(object.string("name"))?;
    let name = excerpt(&name);
    tools.insert(id.into_owned(), name.clone());
    Some(name)
}
