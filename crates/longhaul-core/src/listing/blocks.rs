//! The messages, block by block, from a rendering.

use std::borrow::Cow;

use super::content;
use super::excerpt::excerpt;
use super::item::{Item, Note, Place, Zone};
use crate::hash::Map;
use crate::json::Object;
use crate::message::BlockKind;
use crate::normalize::{Origin, RenderedBlock, Rendering, Role};
use crate::prompt::{Marks, RequestHead};

/// How the text of a reminder begins.
const REMINDER: &str = "<system-reminder>";

/// Adds the blocks of all messages.
pub(super) fn add(
    head: Option<&RequestHead>,
    rendering: &Rendering,
    marks: &Marks,
    list: &mut Vec<Item>,
) {
    let messages = rendering.messages();
    let replied = messages
        .iter()
        .rposition(|message| message.role == Role::Assistant);
    let ttl = head.and_then(RequestHead::ttl_of_messages);
    let mut tools: Map<String, String> = Map::default();
    for (at, block) in rendering.blocks().iter().enumerate() {
        let json = json(rendering, block);
        let object = Object::new(&json);
        let message = block.message as usize;
        let zone = match block.origin {
            Origin::Context => Zone::Context,
            _ if replied.is_some_and(|replied| message <= replied) => Zone::Messages,
            _ => Zone::Tail,
        };
        let mut item = Item::new(zone, kind(block, object), block.weight, Place::Block(at));
        item.message = Some(message + 1);
        item.role = messages.get(message).map(|message| message.role);
        item.name = tool(object, &mut tools);
        item.cache = ttl.filter(|_| marks.blocks().contains(&(at as u32)));
        let text = content::of(&json);
        item.excerpt = excerpt(match block.origin {
            // Its tags are around every reminder and tell nothing.
            Origin::Reminder | Origin::Context => text.trim_start().trim_start_matches(REMINDER),
            _ => &text,
        });
        item.notes.extend(note(block.origin));
        if block.kind == BlockKind::ToolResult
            && block.origin != Origin::Synthetic
            && object.get("is_error") == Some(b"true")
        {
            item.notes.push(Note::Error);
        }
        let begins = messages
            .get(message)
            .is_some_and(|message| message.first_block as usize == at && message.stripped > 0);
        if begins {
            item.notes.push(Note::Stripped);
        }
        list.push(item);
    }
}

/// The whole text of a block.
pub(super) fn text(rendering: &Rendering, at: usize) -> String {
    let block = rendering.blocks().get(at);
    block
        .map(|block| content::of(&json(rendering, block)))
        .unwrap_or_default()
}

fn json(rendering: &Rendering, block: &RenderedBlock) -> Vec<u8> {
    rendering.buffer().copy(block.start, block.end)
}

fn note(origin: Origin) -> Option<Note> {
    match origin {
        Origin::Said | Origin::Context => None,
        Origin::Summary => Some(Note::Summary),
        Origin::Reminder => Some(Note::Reminder),
        Origin::Cleared => Some(Note::Cleared),
        Origin::LeftOut => Some(Note::LeftOut),
        Origin::Synthetic => Some(Note::Synthetic),
        Origin::Wrapped => Some(Note::Wrapped),
    }
}

/// The type of a block, as it is sent.
fn kind(block: &RenderedBlock, object: Object<'_>) -> Cow<'static, str> {
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

/// The tool that a block calls, or that answers with it.
fn tool(object: Object<'_>, tools: &mut Map<String, String>) -> Option<String> {
    if let Some(called) = object.string("tool_use_id") {
        return tools.get(&*called).cloned();
    }
    let (id, name) = object.string("id").zip(object.string("name"))?;
    let name = excerpt(&name);
    tools.insert(id.into_owned(), name.clone());
    Some(name)
}
