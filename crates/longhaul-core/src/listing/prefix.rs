//! The items of the request prefix (tools and system prompt), read from its bytes.

use std::borrow::Cow;

use super::content;
use super::excerpt::excerpt;
use super::item::{ListedItem, ListedItemSource, ListingZone};
use crate::json::{self, JsonCursor, JsonKind, ObjectReader};
use crate::prompt::{AGENT_PREFIX, BlockRole, RequestPrefix, Ttl};
use crate::tokens::{ContentClass, Estimate, RoughEstimator};

/// Returns the items of a raw JSON array. Any other value has no items.
fn items(raw: &str) -> Vec<&[u8]> {
    let mut items = Vec::new();
    if raw.starts_with('[') {
        // Raw JSON is valid, so the walk ends with the array.
        let _ = JsonCursor::new(raw.as_bytes()).array(|cursor| {
            items.push(cursor.raw()?);
            Ok(())
        });
    }
    items
}

fn object(raw: &[u8]) -> Option<ObjectReader<'_>> {
    (raw.first() == Some(&b'{')).then(|| ObjectReader::new(raw))
}

fn serialized(raw: &[u8]) -> Estimate {
    let mut value = JsonCursor::new(raw);
    let _ = value.skip();
    RoughEstimator.tokens(ContentClass::Serialized, value.canonical() as u64)
}

/// Adds the tools.
pub(super) fn tools(head: &RequestPrefix, list: &mut Vec<ListedItem>) {
    for (at, raw) in items(head.tools.get()).into_iter().enumerate() {
        let mut item = ListedItem::new(
            ListingZone::Tools,
            "tool",
            serialized(raw),
            ListedItemSource::Tool(at),
        );
        if let Some(tool) = object(raw) {
            item.name = tool.string("name").map(|name| excerpt(&name));
            item.cache = Ttl::of_block(tool);
            let about = tool.string("description").or_else(|| tool.string("type"));
            item.excerpt = about.map(|about| excerpt(&about)).unwrap_or_default();
        }
        list.push(item);
    }
}

/// Returns the definition of a tool.
pub(super) fn tool_text(head: &RequestPrefix, at: usize) -> String {
    let raw = items(head.tools.get()).get(at).copied();
    String::from_utf8_lossy(raw.unwrap_or_default()).into_owned()
}

/// A block of the system prompt.
struct ListedSystemBlock<'a> {
    text: Cow<'a, str>,
    mark: Option<Ttl>,
}

fn blocks(head: &RequestPrefix) -> Vec<ListedSystemBlock<'_>> {
    let raw = head.system.get();
    if let Ok(JsonKind::String) = JsonCursor::new(raw.as_bytes()).peek() {
        let text = json::text(raw.as_bytes()).unwrap_or_default();
        let mark = None;
        return vec![ListedSystemBlock { text, mark }];
    }
    items(raw)
        .into_iter()
        .map(|raw| ListedSystemBlock {
            text: content::of(raw).into(),
            mark: object(raw).and_then(Ttl::of_block),
        })
        .collect()
}

/// Adds the system prompt.
pub(super) fn system(head: &RequestPrefix, list: &mut Vec<ListedItem>) {
    let blocks = blocks(head);
    let roles = roles(&blocks);
    for (at, (block, role)) in blocks.iter().zip(roles).enumerate() {
        let kind = role.map_or("text", name);
        let weight = RoughEstimator::text(&block.text);
        let mut item = ListedItem::new(
            ListingZone::System,
            kind,
            weight,
            ListedItemSource::System(at),
        );
        item.cache = block.mark;
        item.excerpt = excerpt(&block.text);
        list.push(item);
    }
}

/// Returns the text of a block of the system prompt.
pub(super) fn system_text(head: &RequestPrefix, at: usize) -> String {
    let block = blocks(head).into_iter().nth(at);
    block
        .map(|block| block.text.into_owned())
        .unwrap_or_default()
}

fn name(role: BlockRole) -> &'static str {
    match role {
        BlockRole::Attribution => "attribution",
        BlockRole::Prefix => "prefix",
        BlockRole::Static => "static",
        BlockRole::Dynamic => "dynamic",
        BlockRole::Custom => "custom",
    }
}

/// Returns the role of each block, as far as its position and the cache breakpoints show it. Blocks without a
/// breakpoint come first, attribution before prefix; then those with one, static before dynamic. A host's custom prompt
/// is one block with a breakpoint.
fn roles(blocks: &[ListedSystemBlock<'_>]) -> Vec<Option<BlockRole>> {
    use BlockRole::{Attribution, Custom, Dynamic, Prefix, Static};
    let unmarked = blocks.iter().take_while(|block| block.mark.is_none());
    let (before, behind) = blocks.split_at(unmarked.count());
    let mut roles = match before {
        [_, _] => vec![Some(Attribution), Some(Prefix)],
        [only] if only.text.trim() == AGENT_PREFIX.trim() => vec![Some(Prefix)],
        _ => vec![None; before.len()],
    };
    roles.extend(match behind {
        [_] if before.is_empty() => vec![Some(Custom)],
        [first, second] if first.mark.is_some() && second.mark.is_some() => {
            vec![Some(Static), Some(Dynamic)]
        }
        _ => vec![None; behind.len()],
    });
    roles
}
