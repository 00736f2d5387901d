//! Tools that the user names, and the values of their fields.

use longhaul_sim::model::agent::AgentBehavior;
use longhaul_sim::model::{SimModel, SimModelOptions};
use longhaul_sim::request::ApiTool;
use serde_json::{Value, json};

use crate::model_folder::coding_tools;
use crate::model_talk::{Talk, asking, calls, described, fine, reply, tool, words};

const WEATHER: &str = "What is the weather in Paris? Use the get_weather tool.";

fn model(pace: AgentBehavior) -> SimModel {
    SimModel::new(SimModelOptions {
        pace,
        ..SimModelOptions::default()
    })
}

fn with_weather() -> Vec<ApiTool> {
    let mut tools = coding_tools();
    tools.push(tool(
        "get_weather",
        json!({ "type": "object", "required": ["city"], "additionalProperties": false,
            "properties": { "city": { "type": "string", "description": "The name of a city" } } }),
    ));
    tools
}

#[test]
fn a_tool_that_the_user_names_is_called_with_what_the_words_give() {
    for pace in [AgentBehavior::default(), AgentBehavior::obedient()] {
        for seed in 0..20 {
            let mut model = model(pace.clone());
            let mut talk = Talk::new(seed, with_weather());
            talk.user(WEATHER);
            let draft = talk.send(&mut model);
            let city = json!({ "city": "Paris" });
            assert_eq!(calls(&draft), [("get_weather", &city)]);
            talk.answer(|_, _| fine("Rain, 11 degrees."));
            let draft = talk.send(&mut model);
            assert!(calls(&draft).is_empty(), "{:?}", calls(&draft));
            assert!(words(&draft).contains("Rain, 11 degrees."));
        }
    }
}

#[test]
fn an_optional_field_is_filled_from_the_words_too_and_nothing_is_made_up() {
    let text = json!({ "type": "string" });
    let described = json!({ "type": "string", "description": "The city" });
    let units = json!({ "type": "string", "enum": ["metric", "imperial"] });
    let city = json!({ "city": "Paris" });
    for (properties, wanted) in [
        (json!({ "city": text }), city.clone()),
        (json!({ "city": described }), city.clone()),
        (
            json!({ "city": described, "units": units, "lang": text }),
            city.clone(),
        ),
        (
            json!({ "location": { "type": "object", "properties": { "city": text, "zip": text } } }),
            json!({ "location": city }),
        ),
        (
            json!({ "cities": { "type": "array", "items": text } }),
            json!({ "cities": ["Paris"] }),
        ),
    ] {
        let mut tools = coding_tools();
        let schema = json!({ "type": "object", "properties": properties });
        tools.push(tool("get_weather", schema));
        tools.push(tool(
            "get_time",
            json!({ "type": "object", "properties": { "place": text } }),
        ));
        for pace in [AgentBehavior::default(), AgentBehavior::obedient()] {
            for seed in 0..10 {
                let mut model = model(pace.clone());
                let mut talk = Talk::new(seed, tools.clone());
                talk.user(WEATHER);
                let draft = talk.send(&mut model);
                assert_eq!(calls(&draft), [("get_weather", &wanted)]);
            }
        }
    }
    // Two tools in one prompt are called one after the other.
    let mut tools = with_weather();
    tools.push(tool(
        "get_time",
        json!({ "type": "object", "properties": { "place": text } }),
    ));
    let mut model = model(AgentBehavior::obedient());
    let mut talk = Talk::new(1, tools);
    talk.user("Use get_weather and get_time for new york.");
    let draft = talk.send(&mut model);
    assert_eq!(
        calls(&draft),
        [("get_weather", &json!({ "city": "new york" }))]
    );
    talk.answer(|_, _| fine("Rain."));
    let draft = talk.send(&mut model);
    assert_eq!(
        calls(&draft),
        [("get_time", &json!({ "place": "new york" }))]
    );
}

#[test]
fn a_tool_that_the_user_forbids_by_name_is_not_called() {
    let forbidden = "What is the weather in Paris? Do not use the get_weather tool.";
    for pace in [AgentBehavior::default(), AgentBehavior::obedient()] {
        let draft = reply(&mut model(pace), &asking(forbidden, with_weather()), 1);
        let mut names = calls(&draft).into_iter().map(|(name, _)| name);
        assert!(names.all(|name| name != "get_weather"));
    }
}

#[test]
fn a_call_that_is_forced_takes_its_fields_from_the_words() {
    let mut request = asking("How warm is it in New York today?", with_weather());
    let choice = json!({ "type": "tool", "name": "get_weather" });
    request.fields.insert("tool_choice".to_owned(), choice);
    let draft = reply(&mut model(AgentBehavior::default()), &request, 1);
    let city = json!({ "city": "New York" });
    assert_eq!(calls(&draft), [("get_weather", &city)]);
}

#[test]
fn a_sub_agent_is_of_a_type_that_the_tool_lists() {
    let task = |description: &str, kind: Value| {
        let text = json!({ "type": "string" });
        let schema = json!({ "type": "object", "required": ["description", "prompt", "subagent_type"],
            "properties": { "description": text, "prompt": text, "subagent_type": kind } });
        described("Task", description, schema)
    };
    let listed = task(
        "Starts an agent.\nKinds:\n- scout: looks around\n- reviewer: reads a change",
        json!({ "type": "string" }),
    );
    let closed = task(
        "Starts an agent.",
        json!({ "type": "string", "enum": ["scout", "reviewer"] }),
    );
    for tool in [listed, closed] {
        for (prompt, kind) in [
            ("Ask a sub-agent about it.", "scout"),
            ("Have the reviewer sub-agent look at it.", "reviewer"),
        ] {
            let request = asking(prompt, vec![tool.clone()]);
            let draft = reply(&mut model(AgentBehavior::obedient()), &request, 1);
            let calls = calls(&draft);
            assert_eq!(calls.len(), 1, "{}", words(&draft));
            assert_eq!(calls[0].1["subagent_type"], kind, "{prompt}");
        }
    }
}
