//! Elements without what may not be sent again, or not at that position: thinking (N2), and the client's cache
//! breakpoints.

use std::ops::Range;

use bytes::Bytes;
use longhaul_core::json::ObjectReader;
use serde_json::json;

use super::element::ElementParts;
use super::splice::{Splices, items, members, value, without};
use crate::body::BodyRole;

/// The text for a message that had only thinking: a message may not be empty.
const LEFT_OUT: &str = include_str!("fragments/thinking_left_out.txt");

/// How deep in an element breakpoints are searched: the API accepts none deeper.
const DEEPEST: u8 = 4;

fn is_thinking(block: ObjectReader<'_>) -> bool {
    let kind = block.string("type");
    matches!(kind.as_deref(), Some("thinking" | "redacted_thinking"))
}

/// Whether an element of `messages` contains thinking.
pub fn has_thinking(element: &[u8]) -> bool {
    // Most elements can be ruled out without parsing them.
    memchr::memmem::find(element, b"thinking").is_some()
        && ElementParts::read(element).is_some_and(|element| {
            let blocks = element.blocks();
            blocks.iter().any(|place| is_thinking(element.block(place)))
        })
}

/// The element without its thinking; all other bytes stay as they are. If nothing would be left, a short text says so.
pub fn without_thinking(element: &Bytes) -> Bytes {
    if !has_thinking(element) {
        return element.clone();
    }
    let Some(read) = ElementParts::read(element).filter(|read| read.role == BodyRole::Assistant)
    else {
        return element.clone();
    };
    let blocks = read.blocks();
    let thinks: Vec<bool> = blocks
        .iter()
        .map(|place| is_thinking(read.block(place)))
        .collect();
    let mut splices = Splices::default();
    match (thinks.iter().all(|thinks| *thinks), read.content.clone()) {
        (true, Some(content)) => {
            let text = json!([{"type": "text", "text": LEFT_OUT.trim_end()}]);
            splices.replace(content, text.to_string());
        }
        _ => splices.cut(without(&blocks, |at| {
            thinks.get(at).copied().unwrap_or_default()
        })),
    }
    splices.apply(element)
}

/// The element without cache breakpoints; all other bytes stay as they are.
pub fn without_breakpoints(element: &Bytes) -> Bytes {
    if memchr::memmem::find(element, b"cache_control").is_none() {
        return element.clone();
    }
    let mut splices = Splices::default();
    remove_breakpoints(element, 0..element.len(), DEEPEST, &mut splices);
    splices.apply(element)
}

/// Breakpoints are on the element, its blocks, and the blocks inside results: wherever there is `content`.
fn remove_breakpoints(text: &[u8], object: Range<usize>, deeper: u8, splices: &mut Splices) {
    let Some(members) = members(text, object.clone()) else {
        return;
    };
    let parts: Vec<Range<usize>> = members.iter().map(|(_, one)| one.whole.clone()).collect();
    let is_mark = |at: usize| {
        members
            .get(at)
            .is_some_and(|(key, _)| key == b"cache_control")
    };
    splices.cut(without(&parts, is_mark));
    let Some(deeper) = deeper.checked_sub(1) else {
        return;
    };
    let content = value(text, object, "content");
    let blocks = content.and_then(|content| items(text, content));
    for block in blocks.unwrap_or_default() {
        remove_breakpoints(text, block, deeper, splices);
    }
}
