//! Elements of chat completions: calls become blocks of the message that makes them, tool answers become blocks of an
//! input, content parts become the corresponding blocks. Parts without a counterpart stay as they are.

use std::borrow::Cow;

use bytes::Bytes;
use longhaul_core::json::{self, ObjectReader, items};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::writer::{HistoryEntryWriter, UserEntryAuthor};
use crate::body::BodyRole;
use crate::manage::element::{ElementParts, texts};

/// The entries of one element; `None` if it cannot be read.
pub(super) fn read(element: &[u8], writer: &mut HistoryEntryWriter) -> Option<Vec<Bytes>> {
    let element = ElementParts::read(element)?;
    let line = match (element.role, &*element.role_name) {
        (BodyRole::Assistant, _) => {
            let said = said(&element, writer);
            writer.reply(&said)?
        }
        (BodyRole::System, _) => {
            let text = Value::from(texts(element.content())).to_string();
            writer.input(&text, UserEntryAuthor::Hosts)?
        }
        (_, "tool" | "function") => {
            let answer = answer(&element, writer);
            writer.input(&answer, UserEntryAuthor::Users)?
        }
        (BodyRole::User | BodyRole::Other, _) => {
            let blocks = blocks(element.content());
            writer.input(&list(&blocks), UserEntryAuthor::Users)?
        }
    };
    Some(vec![line])
}

fn list(blocks: &[String]) -> String {
    format!("[{}]", blocks.join(","))
}

/// Content as blocks.
fn blocks(content: &[u8]) -> Vec<String> {
    if let Some(text) = json::text(content) {
        return if text.is_empty() {
            Vec::new()
        } else {
            vec![json!({"type": "text", "text": text}).to_string()]
        };
    }
    let parts = items(content).unwrap_or_default();
    parts.into_iter().map(block).collect()
}

fn block(raw: &[u8]) -> String {
    let part = ObjectReader::new(raw);
    let known = match part.string("type").as_deref() {
        Some("image_url") => part.object("image_url").and_then(picture),
        Some("refusal") => part
            .string("refusal")
            .map(|text| json!({"type": "text", "text": text})),
        _ => None,
    };
    match known {
        Some(block) => block.to_string(),
        None => String::from_utf8_lossy(raw).into_owned(),
    }
}

/// An image: its bytes, if the URL contains them, otherwise the URL.
fn picture(image: ObjectReader<'_>) -> Option<Value> {
    let url = image.string("url")?;
    let inline = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    let source = match inline {
        Some((kind, data)) => json!({"type": "base64", "media_type": kind, "data": data}),
        None => json!({"type": "url", "url": url}),
    };
    Some(json!({"type": "image", "source": source}))
}

/// The model's text, and its tool calls.
fn said(element: &ElementParts<'_>, writer: &mut HistoryEntryWriter) -> String {
    let mut said = blocks(element.content());
    if let Some(refusal) = element.field("refusal").and_then(json::text) {
        said.push(json!({"type": "text", "text": refusal}).to_string());
    }
    let calls = element.field("tool_calls").and_then(items);
    said.extend(calls.unwrap_or_default().into_iter().map(call));
    if let Some(function) = element.field("function_call") {
        let id = writer.id("call");
        writer.function = Some(id.clone());
        said.push(tool_use(&id, ObjectReader::new(function), "arguments"));
    }
    list(&said)
}

fn call(raw: &[u8]) -> String {
    let call = ObjectReader::new(raw);
    let id = call.string("id").unwrap_or_default();
    match (call.object("function"), call.object("custom")) {
        (Some(function), _) => tool_use(&id, function, "arguments"),
        (None, Some(custom)) => tool_use(&id, custom, "input"),
        (None, None) => String::from_utf8_lossy(raw).into_owned(),
    }
}

/// A call as a block. The arguments are JSON in a string; if they are not valid JSON, the string is kept under its
/// field name.
fn tool_use(id: &str, function: ObjectReader<'_>, field: &str) -> String {
    let name = function.string("name").unwrap_or_default();
    let given = function.string(field).unwrap_or_default();
    let input: Option<&RawValue> = serde_json::from_str(&given).ok();
    let input = input.filter(|input| input.get().starts_with('{'));
    let input = match input {
        Some(input) => input.get().to_owned(),
        None if given.trim().is_empty() => "{}".to_owned(),
        None => json!({ field: given }).to_string(),
    };
    let (id, name) = (Value::from(id), Value::from(&*name));
    format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
}

/// A tool's answer. The API has no field for failures, so none are seen. Functions, the older form of tools, answer the
/// last call without naming it.
fn answer(element: &ElementParts<'_>, writer: &mut HistoryEntryWriter) -> String {
    let of = element.field("tool_call_id").and_then(json::text);
    let of = of.map(Cow::into_owned).or_else(|| writer.function.take());
    let of = of.unwrap_or_default();
    let content = match json::text(element.content()) {
        Some(text) => Value::from(text).to_string(),
        None => list(&blocks(element.content())),
    };
    let of = Value::from(of);
    format!(r#"[{{"type":"tool_result","tool_use_id":{of},"content":{content}}}]"#)
}
