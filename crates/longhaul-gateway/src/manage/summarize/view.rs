//! Turns a new view into elements of `messages`: a summary and what was restored beside it, all of it as input to the
//! model.

use bytes::Bytes;
use longhaul_core::json::items;
use longhaul_core::message::EntryView;
use longhaul_core::normalize::{RenderOptions, Rendering};
use longhaul_provider::Dialect;
use serde_json::json;

use crate::manage::element::{ElementParts, texts};

/// The elements of the view.
pub(super) fn elements<'a>(
    dialect: Dialect,
    entries: impl Iterator<Item = EntryView<'a>>,
) -> Vec<Bytes> {
    let rendered = rendered(entries);
    match dialect {
        Dialect::Anthropic => rendered,
        Dialect::OpenAi => {
            let said: Vec<String> = rendered
                .iter()
                .filter_map(|element| Some(texts(ElementParts::read(element)?.content())))
                .collect();
            let element = json!({"role": "user", "content": said.join("\n")});
            vec![element.to_string().into()]
        }
    }
}

fn rendered<'a>(entries: impl Iterator<Item = EntryView<'a>>) -> Vec<Bytes> {
    let mut rendering = Rendering::begin(RenderOptions::default(), entries);
    rendering.seal();
    let buffer = rendering.buffer();
    let mut list = vec![b'['];
    list.extend(buffer.copy(0, buffer.len()));
    list.extend_from_slice(rendering.closing());
    list.push(b']');
    let list = Bytes::from(list);
    let found = items(&list).unwrap_or_default();
    found.into_iter().map(|one| list.slice_ref(one)).collect()
}
