//! Elements of the Messages API. Their blocks are blocks of a transcript: they are taken as they are, known or not.

use bytes::Bytes;
use serde_json::Value;

use super::line::{Words, Writer};
use crate::body::Role;
use crate::manage::element::{Element, texts};

/// The entries of one element; none if it cannot be read.
pub(super) fn read(element: &[u8], writer: &mut Writer) -> Option<Vec<Bytes>> {
    let element = Element::read(element)?;
    let content = match element.content() {
        b"" => "[]",
        content => std::str::from_utf8(content).ok()?,
    };
    let line = match element.role {
        Role::Assistant => writer.reply(content)?,
        Role::User | Role::Other => writer.input(content, Words::Users)?,
        Role::System => {
            let text = Value::from(texts(content.as_bytes())).to_string();
            writer.input(&text, Words::Hosts)?
        }
    };
    Some(vec![line])
}
