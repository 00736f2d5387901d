//! Typed tools: the model's calls become Rust values, and whatever goes wrong is told to the model.

use longhaul::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// This comment is for readers of the code.
#[derive(Deserialize, JsonSchema)]
struct WeatherInput {
    /// The city to look up.
    city: String,
    unit: Option<Unit>,
}

struct Weather;

impl Tool for Weather {
    const NAME: &'static str = "Weather";
    const DESCRIPTION: &'static str = "Tells the weather.";
    type Input = WeatherInput;

    async fn call(&self, input: WeatherInput) -> Result<ToolContent, ToolError> {
        if input.city == "Atlantis" {
            let source = std::io::Error::other("it sank");
            return Err(std::io::Error::new(std::io::ErrorKind::NotFound, source).into());
        }
        let unit = match input.unit {
            Some(Unit::Fahrenheit) => "°F",
            Some(Unit::Celsius) | None => "°C",
        };
        Ok(format!("{}: 20 {unit}", input.city).into())
    }
}

async fn called(tools: &Toolbox, name: &str, input: Value) -> ToolOutput {
    let reply = Reply::builder().tool_call("call-1", name, input).build();
    let mut results = tools.run(&reply).await;
    assert_eq!(results.len(), 1);
    results.remove(0)
}

#[test]
fn the_schema_of_a_tool_is_made_from_its_input_type() {
    let tools = Toolbox::new().with(Weather);
    assert_eq!(
        tools.definitions(),
        [json!({
            "name": "Weather",
            "description": "Tells the weather.",
            "input_schema": {
                "type": "object",
                "properties": {
                    "city": {"description": "The city to look up.", "type": "string"},
                    "unit": {
                        "type": ["string", "null"],
                        "enum": ["celsius", "fahrenheit", null],
                    },
                },
                "required": ["city"],
            },
        })]
    );
}

#[tokio::test]
async fn a_call_reaches_its_tool_as_a_value_of_the_input_type() {
    let tools = Toolbox::new().with(Weather);
    let input = json!({"city": "Oslo", "unit": "fahrenheit"});
    let output = called(&tools, "Weather", input).await;
    assert_eq!(output, ToolOutput::text("call-1", "Oslo: 20 °F"));
}

#[tokio::test]
async fn the_model_is_told_what_is_wrong_with_its_call() {
    let tools = Toolbox::new().with(Weather);
    let unknown = called(&tools, "Wether", json!({})).await;
    assert_eq!(
        unknown,
        ToolOutput::error("call-1", "there is no tool Wether: the tools are Weather")
    );
    let incomplete = called(&tools, "Weather", json!({"town": "Oslo"})).await;
    assert!(incomplete.is_error);
    let told = incomplete.content.to_string();
    assert!(told.contains("missing field `city`"), "{told}");
    let unreadable = called(&tools, "Weather", json!({"INVALID_JSON": "{"})).await;
    let told = unreadable.content.to_string();
    assert!(told.contains("it is not a JSON object"), "{told}");
    let failed = called(&tools, "Weather", json!({"city": "Atlantis"})).await;
    assert_eq!(failed, ToolOutput::error("call-1", "it sank"));
}

#[tokio::test]
async fn a_function_is_a_tool_and_replaces_one_with_the_same_name() {
    #[derive(Deserialize, JsonSchema)]
    struct NoInput {}
    let tools =
        Toolbox::new()
            .with(Weather)
            .with_fn("Weather", "Always the same.", |_: NoInput| async {
                ToolContent::json(&json!({"sun": true}))
            });
    let definitions = tools.definitions();
    assert_eq!(definitions.len(), 1);
    let schema = &definitions[0]["input_schema"];
    assert_eq!(*schema, json!({"type": "object", "properties": {}}));
    let output = called(&tools, "Weather", json!({})).await;
    assert_eq!(output.content, json!(r#"{"sun":true}"#));
}
