//! Elements of the Messages API. Their blocks are transcript blocks: they are taken as they are, known or not.

use bytes::Bytes;
use serde_json::Value;

use super::writer::{HistoryEntryWriter, UserEntryAuthor};
use crate::body::BodyRole;
use crate::manage::element::{ElementParts, texts};

/// The entries of one element; `None` if it cannot be read.
pub(super) fn read(element: &[u8], writer: &mut HistoryEntryWriter) -> Option<Vec<Bytes>> {
    let element = ElementParts::read(element)?;
    let content = match element.content() {
        b"" => "[]",
        content => std::str::from_utf8(content).ok()?,
    };
    let line = match element.role {
        BodyRole::Assistant => writer.reply(content)?,
        BodyRole::User | BodyRole::Other => writer.input(content, UserEntryAuthor::Users)?,
        BodyRole::System => {
            let text = Value::from(texts(content.as_bytes())).to_string();
            writer.input(&text, UserEntryAuthor::Hosts)?
        }
    };
    Some(vec![line])
}
