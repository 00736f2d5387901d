//! Single content blocks.

use genai::chat::ContentPart;
use longhaul::ModelError;
use serde_json::Value;

use crate::failure::invalid;

/// A text, an image or a file that the user or a tool gives to the model.
pub(crate) fn user_part(block: &Value) -> Result<ContentPart, ModelError> {
    let source = &block["source"];
    let data = |field: &str| source[field].as_str().unwrap_or_default().to_owned();
    let name = block["title"].as_str().map(str::to_owned);
    match (kind(block), source["type"].as_str()) {
        ("text", _) => Ok(text_part(block)),
        ("image" | "document", Some("base64")) => Ok(ContentPart::from_binary_base64(
            data("media_type"),
            data("data"),
            name,
        )),
        // Not every adapter of genai passes on what is given by its address: some leave it out and only log that.
        ("image" | "document", Some("url")) => Err(invalid(format!(
            "the {} at {} is given by its address, which genai does not send to every provider: put its bytes into the \
             message",
            kind(block),
            data("url")
        ))),
        ("document", Some("text")) => Ok(ContentPart::Text(data("data"))),
        (other, _) => Err(untranslatable(other)),
    }
}

pub(crate) fn text_part(block: &Value) -> ContentPart {
    ContentPart::from_text(block["text"].as_str().unwrap_or_default())
}

/// The type of a block.
pub(crate) fn kind(block: &Value) -> &str {
    block["type"].as_str().unwrap_or_default()
}

/// The error for a block that genai has no form for.
pub(crate) fn untranslatable(kind: &str) -> ModelError {
    invalid(format!(
        "a content block of type `{kind}` cannot be sent through genai: continue this conversation with the provider that \
         it was begun with"
    ))
}
