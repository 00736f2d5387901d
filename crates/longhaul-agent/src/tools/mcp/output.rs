//! A server's answer as blocks of limited size that a model can be shown.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longhaul_core::figures::counted;
use longhaul_core::normalize::fragment::fill;
use longhaul_core::tokens::RoughEstimator;
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::names;
use crate::tool::ToolCallOutput;
use crate::tools::definition::{beginning, one_line};

/// The tokens of a picture, whatever its size.
const PICTURE: u64 = 2_000;
/// The largest picture that requests accept, in bytes of base64.
const LARGEST_PICTURE: usize = 5 << 20;
/// The types of pictures that requests accept.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A part of an answer.
pub(super) enum McpOutputPart {
    Text(String),
    Picture(Value),
}

/// The answer as an output of at most this many tokens. A text that is too long is saved completely in a file.
pub(super) async fn shown(
    answer: CallToolResult,
    most: u64,
    folder: &Path,
    id: &str,
) -> ToolCallOutput {
    let parts = parts(&answer);
    let tokens: u64 = parts.iter().map(McpOutputPart::tokens).sum();
    let is_error = answer.is_error.unwrap_or_default();
    let mut blocks = Vec::new();
    let mut room = most;
    for part in &parts {
        let size = part.tokens();
        match part {
            McpOutputPart::Text(text) if size > room => {
                // Four characters count as a token.
                let characters = usize::try_from(room.saturating_mul(4)).unwrap_or(usize::MAX);
                let short = beginning(text, characters).unwrap_or(text);
                blocks.extend((!short.is_empty()).then(|| text_block(short)));
                break;
            }
            McpOutputPart::Picture(_) if size > room => break,
            McpOutputPart::Text(text) => blocks.push(text_block(text)),
            McpOutputPart::Picture(picture) => blocks.push(picture.clone()),
        }
        room -= size;
    }
    if tokens > most {
        let note = note(&parts, tokens, most, folder, id).await;
        blocks.push(text_block(&note));
    }
    let line = match parts.as_slice() {
        [McpOutputPart::Text(text)] if text.lines().count() == 1 => one_line(text, 120),
        _ => format!("about {}", counted(tokens, "token")),
    };
    let only_text = match blocks.as_slice() {
        [] => Some(json!(include_str!("fragments/nothing.md").trim_end())),
        [only] => only.get("text").cloned(),
        _ => None,
    };
    ToolCallOutput {
        content: only_text.unwrap_or(Value::Array(blocks)),
        is_error,
        line,
        detail: String::new(),
        lines: None,
    }
}

impl McpOutputPart {
    pub(super) fn tokens(&self) -> u64 {
        match self {
            Self::Text(text) => RoughEstimator::text(text).unpadded(),
            Self::Picture(_) => PICTURE,
        }
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A note that something was cut, and where all of it is.
async fn note(parts: &[McpOutputPart], tokens: u64, most: u64, folder: &Path, id: &str) -> String {
    let [tokens, most] = [tokens, most].map(|number| number.to_string());
    let texts = parts.iter().filter_map(|part| match part {
        McpOutputPart::Text(text) => Some(&**text),
        McpOutputPart::Picture(_) => None,
    });
    let whole = texts.collect::<Vec<_>>().join("\n");
    let path = folder.join(format!("{}.txt", names::clean(id)));
    let kept = keep(&path, &whole).await;
    let path = path.display().to_string();
    let fragment = match kept {
        Ok(()) => include_str!("fragments/cut.md"),
        Err(_) => include_str!("fragments/cut_unkept.md"),
    };
    fill(
        fragment,
        &[("tokens", &tokens), ("most", &most), ("path", &path)],
    )
}

async fn keep(path: &PathBuf, text: &str) -> std::io::Result<()> {
    longhaul_store::create_private_file(path)?;
    tokio::fs::write(path, text).await
}

fn parts(answer: &CallToolResult) -> Vec<McpOutputPart> {
    let blocks = answer
        .content
        .iter()
        .filter_map(|block| serde_json::to_value(block).ok());
    let parts: Vec<McpOutputPart> = blocks.map(|block| part(&block)).collect();
    match (&answer.structured_content, parts.is_empty()) {
        // Servers usually send the same content in both forms; where only the structured form exists, it is the answer.
        (Some(structured), true) => vec![McpOutputPart::Text(structured.to_string())],
        _ => parts,
    }
}

/// Converts a block of the protocol into one of our parts.
pub(super) fn part(block: &Value) -> McpOutputPart {
    let field = |name: &str| block[name].as_str().unwrap_or_default();
    match field("type") {
        "text" => McpOutputPart::Text(field("text").to_owned()),
        "image" => picture(field("mimeType"), field("data")),
        "resource" => resource(&block["resource"]),
        "resource_link" => {
            let name =
                ["name", "uri", "description"].map(|name| (name, one_line(field(name), 500)));
            let gaps = name.each_ref().map(|(name, value)| (*name, &**value));
            McpOutputPart::Text(fill(include_str!("fragments/link.md"), &gaps))
        }
        kind => left_out(&format!("{kind} {}", field("mimeType"))),
    }
}

/// Converts the content of a resource.
pub(super) fn resource(resource: &Value) -> McpOutputPart {
    let field = |name: &str| resource[name].as_str().unwrap_or_default();
    let uri = one_line(field("uri"), 500);
    match (&resource["text"], &resource["blob"], field("mimeType")) {
        (Value::String(text), ..) => {
            let gaps = [("uri", &*uri), ("text", text)];
            McpOutputPart::Text(fill(include_str!("fragments/resource.md"), &gaps))
        }
        (_, Value::String(blob), kind) if kind.starts_with("image/") => picture(kind, blob),
        (.., kind) => left_out(&format!("resource {uri} {kind}")),
    }
}

/// A picture, if requests accept it: a picture that they reject would make every request fail.
fn picture(kind: &str, data: &str) -> McpOutputPart {
    let is_accepted = PICTURES.contains(&kind)
        && !data.is_empty()
        && data.len() <= LARGEST_PICTURE
        && STANDARD.decode(data).is_ok();
    if is_accepted {
        McpOutputPart::Picture(json!({
            "type": "image",
            "source": {"type": "base64", "media_type": kind, "data": data},
        }))
    } else {
        left_out(&format!("picture {kind} of {} bytes", data.len() / 4 * 3))
    }
}

fn left_out(what: &str) -> McpOutputPart {
    let what = one_line(what, 500);
    McpOutputPart::Text(fill(
        include_str!("fragments/left_out.md"),
        &[("what", &what)],
    ))
}
