//! Attachments for what the user writes or points at while the model is working.

use super::fields::{filled, first, items, objects};
use super::{AttachedPicture, AttachmentContent};
use crate::json::ObjectReader;
use crate::normalize::fragment::fill;
use crate::quoting::{fenced, inline, quoted};

/// Returns the text for what the user points at.
pub(super) fn tell(kind: &str, attachment: ObjectReader<'_>) -> Option<String> {
    let named = |fragment: &str, name: &str, fields: &[&str]| {
        let value = first(attachment, fields)?;
        Some(fill(fragment, &[(name, &inline(&value))]))
    };
    match kind {
        "agent_mention" => named(
            include_str!("fragments/agent.txt"),
            "name",
            &["agentType", "name"],
        ),
        "date_change" => named(
            include_str!("fragments/date.txt"),
            "date",
            &["newDate", "date"],
        ),
        "output_style" => named(
            include_str!("fragments/style.txt"),
            "name",
            &["style", "name"],
        ),
        "mcp_resource" => {
            let contents = objects(attachment.object("content")?, "contents")?;
            let texts: Option<Vec<String>> = contents
                .into_iter()
                .map(|part| filled(part, "text"))
                .collect();
            Some(fill(
                include_str!("fragments/resource.txt"),
                &[
                    ("uri", &inline(&filled(attachment, "uri")?)),
                    ("server", &inline(&filled(attachment, "server")?)),
                    ("content", &quoted(&texts?.join("\n\n"))),
                ],
            ))
        }
        _ => None,
    }
}

/// Returns the content of a message that the user wrote while the model was working: text, or blocks of text and
/// pictures.
pub(super) fn queued<'a>(
    kind: &str,
    attachment: ObjectReader<'a>,
) -> Option<AttachmentContent<'a>> {
    if kind != "queued_command" {
        return None;
    }
    let mut pictures = Vec::new();
    let text = match filled(attachment, "prompt") {
        Some(text) => text,
        None => {
            let mut texts = Vec::new();
            for item in items(attachment, "prompt")? {
                let block = ObjectReader::new(item);
                match &*block.string("type")? {
                    "text" => texts.push(block.string("text")?.into_owned()),
                    "image" => {
                        let source = block.object("source")?;
                        pictures.push(AttachedPicture {
                            media_type: source.get("media_type")?,
                            data: source.get("data")?,
                        });
                    }
                    _ => return None,
                }
            }
            texts.join("\n\n")
        }
    };
    if text.trim().is_empty() && pictures.is_empty() {
        return None;
    }
    // The user's own words stay as they are.
    let text = fenced("message", &text);
    let text = fill(include_str!("fragments/queued.txt"), &[("content", &text)]);
    Some(AttachmentContent { text, pictures })
}
