//! The definition of a tool, as it appears in a request's `tools`.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The definition of a tool whose input is of this type.
pub(super) fn definition<Input: JsonSchema>(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "input_schema": input_schema::<Input>(name),
    })
}

fn input_schema<Input: JsonSchema>(name: &str) -> Value {
    // Whatever is in the schema is sent with every request, so it is kept short: no dialect, no title.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let schema = settings.into_generator().into_root_schema_for::<Input>();
    let mut schema = schema.to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("title");
        // The tool has a description of its own; that of the type is for readers of the code.
        fields.remove("description");
        if fields.get("type") != Some(&json!("object")) {
            tracing::warn!(
                tool = name,
                "the input of the tool is not a struct, and providers will refuse it"
            );
        } else if !fields.contains_key("properties") {
            fields.insert("properties".to_owned(), json!({}));
        }
    }
    schema
}
