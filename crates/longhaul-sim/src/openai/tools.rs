//! Translates tool definitions and the tool choice from chat completions to the Messages format.

use serde_json::{Map, Value, json};

use super::error::{ChatError, wrong_type};

pub(super) fn translate(
    given: &Map<String, Value>,
    fields: &mut Map<String, Value>,
) -> Result<(), ChatError> {
    let tools = match given.get("tools") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(tools)) => tools,
        Some(other) => return Err(wrong_type("tools", "an array of objects", other)),
    };
    if tools.is_empty() {
        return Err(ChatError::invalid(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        )
        .about("tools")
        .with_code("empty_array"));
    }
    let tools: Vec<Value> = tools
        .iter()
        .enumerate()
        .map(|(index, tool)| definition(index, tool))
        .collect::<Result<_, _>>()?;
    fields.insert("tools".to_owned(), tools.into());
    if let Some(choice) = choice(given)? {
        fields.insert("tool_choice".to_owned(), choice);
    }
    Ok(())
}

fn definition(index: usize, tool: &Value) -> Result<Value, ChatError> {
    let function = &tool["function"];
    let Some(name) = function["name"].as_str() else {
        let param = format!("tools[{index}].function.name");
        return Err(
            ChatError::invalid(format!("Missing required parameter: '{param}'."))
                .about(param)
                .with_code("missing_required_parameter"),
        );
    };
    let mut definition = Map::new();
    definition.insert("name".to_owned(), json!(name));
    if let Some(description) = function["description"]
        .as_str()
        .filter(|text| !text.is_empty())
    {
        definition.insert("description".to_owned(), json!(description));
    }
    let schema = match &function["parameters"] {
        Value::Object(schema) => Value::Object(schema.clone()),
        _ => json!({ "type": "object", "properties": {} }),
    };
    definition.insert("input_schema".to_owned(), schema);
    Ok(definition.into())
}

fn choice(given: &Map<String, Value>) -> Result<Option<Value>, ChatError> {
    let single = given.get("parallel_tool_calls") == Some(&Value::Bool(false));
    let mut choice = match given.get("tool_choice") {
        None | Some(Value::Null) if !single => return Ok(None),
        None | Some(Value::Null) => json!({ "type": "auto" }),
        Some(Value::String(word)) => match word.as_str() {
            "none" => return Ok(Some(json!({ "type": "none" }))),
            "auto" => json!({ "type": "auto" }),
            "required" => json!({ "type": "any" }),
            other => {
                return Err(ChatError::invalid(format!(
                    "Invalid value: '{other}'. Supported values are: 'none', 'auto', and 'required'."
                ))
                .about("tool_choice")
                .with_code("invalid_value"));
            }
        },
        Some(object) => match object["function"]["name"].as_str() {
            Some(name) => json!({ "type": "tool", "name": name }),
            None => {
                return Err(wrong_type(
                    "tool_choice",
                    "a string or a named function",
                    object,
                ));
            }
        },
    };
    if single {
        choice["disable_parallel_tool_use"] = json!(true);
    }
    Ok(Some(choice))
}
