//! The rules that the agent obeys: which tools it may call and how, plan mode, unknown schemas, formats.

use longhaul_sim::model::agent::{AgentBehavior, SimAgent, WriteAccess};
use longhaul_sim::model::{ReplyModel, SimModel, SimModelOptions};
use longhaul_sim::request::ApiRole;
use serde_json::{Value, json};

use crate::model_folder::{Folder, coding_tools};
use crate::model_talk::{
    Talk, asking, block, calls, fine, message, reply, text, thinks, tool, typed, words,
};

fn model() -> SimModel {
    SimModel::new(SimModelOptions::default())
}

#[test]
fn no_tool_is_called_where_none_is_wanted() {
    for seed in 0..40 {
        let mut request = asking("Please fix the parser", coding_tools());
        request
            .fields
            .insert("tool_choice".to_owned(), json!({ "type": "none" }));
        let draft = reply(&mut model(), &request, seed);
        assert!(calls(&draft).is_empty() && !words(&draft).is_empty());
        for told in [
            "Please fix the parser. Do not use any tools.",
            "Respond with TEXT ONLY: which files would you change to fix the parser?",
            "Tell me without calling tools what you would change in the parser, then update me.",
        ] {
            let draft = reply(&mut model(), &asking(told, coding_tools()), seed);
            assert!(
                calls(&draft).is_empty() && !words(&draft).is_empty(),
                "{told}"
            );
        }
        let draft = reply(
            &mut model(),
            &asking("Please fix the parser", Vec::new()),
            seed,
        );
        assert!(calls(&draft).is_empty() && !words(&draft).is_empty());
    }
}

#[test]
fn a_tool_the_user_does_not_want_is_not_called() {
    for seed in 0..60 {
        let request = asking(
            "Fix the parser, but do not use Bash or Glob.",
            coding_tools(),
        );
        let draft = reply(&mut model(), &request, seed);
        assert!(
            calls(&draft)
                .iter()
                .all(|(name, _)| *name != "Bash" && *name != "Glob")
        );
    }
}

#[test]
fn a_plain_question_is_answered_in_prose() {
    for question in [
        "What is a prompt cache?",
        "Why does the window matter so much?",
        "Thanks, that was clear!",
    ] {
        let draft = reply(&mut model(), &asking(question, coding_tools()), 3);
        assert!(
            calls(&draft).is_empty() && words(&draft).len() > 40,
            "{question}"
        );
    }
    let draft = reply(
        &mut model(),
        &asking("Can you fix the parser?", coding_tools()),
        3,
    );
    assert!(!calls(&draft).is_empty());
}

#[test]
fn one_call_at_a_time_where_parallel_calls_are_off() {
    for seed in 0..200 {
        let mut request = asking("Fix the parser", coding_tools());
        let choice = json!({ "type": "auto", "disable_parallel_tool_use": true });
        request.fields.insert("tool_choice".to_owned(), choice);
        assert!(calls(&reply(&mut model(), &request, seed)).len() <= 1);
    }
}

#[test]
fn a_forced_call_is_made() {
    for seed in 0..30 {
        let mut request = asking("What is this?", coding_tools());
        request
            .fields
            .insert("tool_choice".to_owned(), json!({ "type": "any" }));
        assert_eq!(calls(&reply(&mut model(), &request, seed)).len(), 1);
        request.fields.insert(
            "tool_choice".to_owned(),
            json!({ "type": "tool", "name": "Grep" }),
        );
        assert_eq!(calls(&reply(&mut model(), &request, seed))[0].0, "Grep");
    }
}

#[test]
fn thinking_needs_to_be_on() {
    let mut request = asking("Fix the parser", coding_tools());
    assert!((0..50).all(|seed| !thinks(&reply(&mut model(), &request, seed))));
    request
        .fields
        .insert("thinking".to_owned(), json!({ "type": "adaptive" }));
    let thinking = (0..50)
        .filter(|seed| thinks(&reply(&mut model(), &request, *seed)))
        .count();
    assert!((15..50).contains(&thinking), "{thinking}");
    request.fields.insert(
        "thinking".to_owned(),
        json!({ "type": "enabled", "budget_tokens": 2000 }),
    );
    // The API does not accept a reply back that does not begin with thinking.
    assert!((0..50).all(|seed| thinks(&reply(&mut model(), &request, seed))));
}

#[test]
fn inputs_for_unknown_tools_follow_their_schemas() {
    let schemas = [
        json!({
            "type": "object", "required": ["place", "when", "who", "depth"], "additionalProperties": false,
            "properties": {
                "place": { "$ref": "#/$defs/place" },
                "when": { "type": "string", "format": "date-time" },
                "who": { "type": "array", "minItems": 2, "maxItems": 4, "uniqueItems": true, "items": { "type": "string", "pattern": "^[a-z]{3,8}-[0-9]{2}$" } },
                "depth": { "type": "integer", "minimum": 10, "maximum": 40, "multipleOf": 5 },
                "note": { "type": ["string", "null"], "maxLength": 5 },
                "ratio": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
                "nested": { "type": "object", "required": ["inner"], "properties": { "inner": { "type": "array", "items": { "type": "object", "required": ["flag"], "properties": { "flag": { "type": "boolean" } } } } } },
            },
            "$defs": { "place": { "type": "object", "required": ["kind", "path"], "properties": { "kind": { "enum": ["file", "folder"] }, "path": { "type": "string", "minLength": 3 } } } },
        }),
        json!({
            "type": "object", "required": ["target"],
            "properties": { "target": { "anyOf": [{ "type": "null" }, { "type": "object", "required": ["id"], "properties": { "id": { "type": "string" }, "mode": { "const": "fast" } } }] } },
        }),
        json!({
            "allOf": [
                { "type": "object", "required": ["a"], "properties": { "a": { "type": "integer" } } },
                { "properties": { "b": { "type": "string" } }, "required": ["b"] },
            ],
        }),
        json!({ "type": "object", "properties": {} }),
        json!({ "type": "object", "required": ["tree"], "properties": { "tree": { "$ref": "#/$defs/tree" } }, "$defs": { "tree": { "type": "object", "required": ["label"], "properties": { "label": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#/$defs/tree" } } } } } }),
    ];
    for (index, schema) in schemas.into_iter().enumerate() {
        let check = jsonschema::options()
            .should_validate_formats(true)
            .build(&schema)
            .unwrap();
        let name = format!("mcp__thing__look_{index}");
        let mut request = asking("Fix the parser", vec![tool(&name, schema)]);
        request.fields.insert(
            "tool_choice".to_owned(),
            json!({ "type": "tool", "name": name }),
        );
        for seed in 0..100 {
            let draft = reply(&mut model(), &request, seed);
            let made = calls(&draft);
            assert!(
                made.len() == 1 && check.is_valid(made[0].1),
                "{:?}: {:?}",
                made[0].1,
                check.validate(made[0].1).err()
            );
        }
    }
}

#[test]
fn tools_of_the_server_and_tools_not_loaded_are_not_called() {
    let mut hidden = tool(
        "mcp__x__search",
        json!({ "type": "object", "properties": {} }),
    );
    hidden.deferred = true;
    let search = typed(
        "web_search",
        Some("web_search_20250305"),
        json!({ "type": "web_search_20250305", "name": "web_search" }),
    );
    let request = asking("Fix the parser", vec![hidden, search]);
    assert!((0..30).all(|seed| calls(&reply(&mut model(), &request, seed)).is_empty()));
}

#[test]
fn tools_the_api_defines_by_type_are_called_as_it_defines_them() {
    let tools = vec![
        typed(
            "bash",
            Some("bash_20250124"),
            json!({ "type": "bash_20250124", "name": "bash" }),
        ),
        typed(
            "memory",
            Some("memory_20250818"),
            json!({ "type": "memory_20250818", "name": "memory" }),
        ),
        typed(
            "str_replace_based_edit_tool",
            Some("text_editor_20250728"),
            json!({ "type": "text_editor_20250728", "name": "str_replace_based_edit_tool" }),
        ),
    ];
    let mut talk = Talk::new(1, tools);
    let mut agent = SimAgent::new(1, AgentBehavior::default());
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..6 {
        talk.user("Please fix src/parser/part_1.rs");
        for _ in 0..40 {
            let draft = talk.send(&mut agent);
            let made = calls(&draft);
            if made.is_empty() {
                break;
            }
            for (name, input) in made {
                assert!(
                    input.get("command").is_some_and(Value::is_string),
                    "{name} {input}"
                );
                if name == "memory" {
                    assert!(input["path"].as_str().unwrap().starts_with("/memories"));
                }
                seen.insert(format!(
                    "{name} {}",
                    if name == "bash" {
                        ""
                    } else {
                        input["command"].as_str().unwrap()
                    }
                ));
            }
            talk.answer(|_, input| match input["command"].as_str() {
                Some("view") => {
                    fine("     1\tpub fn first_thing() {\n     2\t    run();\n     3\t}")
                }
                Some("git ls-files") => fine("src/parser/part_1.rs\nsrc/lib.rs"),
                Some("ls -1p") => fine("Cargo.toml\nsrc/\nREADME.md"),
                _ => fine("ok"),
            });
        }
    }
    for call in [
        "bash ",
        "memory view",
        "str_replace_based_edit_tool view",
        "str_replace_based_edit_tool str_replace",
    ] {
        assert!(seen.contains(call), "{call} is not among {seen:?}");
    }
}

#[test]
fn a_plan_is_presented_and_nothing_changed_in_plan_mode() {
    let mut tools = coding_tools();
    tools.push(tool("ExitPlanMode", json!({ "type": "object", "properties": { "plan": { "type": "string" } }, "required": ["plan"] })));
    let mut folder = Folder::new();
    let mut talk = Talk::new(3, tools);
    let mut agent = SimAgent::new(3, AgentBehavior::default());
    talk.request.messages.push(message(
        ApiRole::User,
        vec![
            text("<system-reminder>Plan mode is active: change nothing.</system-reminder>"),
            text("Fix the parser"),
        ],
    ));
    for _ in 0..40 {
        let draft = talk.send(&mut agent);
        let made = calls(&draft);
        assert!(
            made.iter()
                .all(|(name, _)| *name != "Edit" && *name != "Write"),
            "{made:?}"
        );
        if made[0].0 == "ExitPlanMode" {
            assert!(made[0].1["plan"].as_str().unwrap().contains("parser"));
            return;
        }
        let reminder = || {
            block(
                json!({ "type": "text", "text": "<system-reminder>Plan mode is active.</system-reminder>" }),
            )
        };
        talk.answer(|name, input| folder.run(name, input));
        talk.request
            .messages
            .last_mut()
            .unwrap()
            .content
            .push(reminder());
    }
    panic!("no plan was presented");
}

#[test]
fn read_only_hands_change_nothing() {
    let mut folder = Folder::new();
    let mut talk = Talk::new(8, coding_tools());
    let mut agent = SimAgent::new(
        8,
        AgentBehavior {
            write_access: WriteAccess::ReadOnly,
            ..AgentBehavior::default()
        },
    );
    for _ in 0..5 {
        talk.user("Fix the parser and the store");
        loop {
            let draft = talk.send(&mut agent);
            let made = calls(&draft);
            for (name, input) in &made {
                assert!(*name != "Edit" && *name != "Write", "{name}");
                let command = input
                    .get("command")
                    .and_then(Value::as_str)
                    .unwrap_or("git");
                assert!(
                    ["git", "ls", "wc"]
                        .iter()
                        .any(|start| command.starts_with(start)),
                    "{command}"
                );
            }
            if made.is_empty() {
                break;
            }
            talk.answer(|name, input| folder.run(name, input));
        }
    }
}

#[test]
fn a_title_is_short_and_in_the_format_asked_for() {
    let mut request = asking(
        "The message:\nPlease fix the cache of the parser, it leaks",
        Vec::new(),
    );
    request.system = vec![text(
        "Write a short title for the conversation. Answer with the title only.",
    )];
    let title = words(&reply(&mut model(), &request, 1));
    assert!(
        title.len() <= 60 && title.to_lowercase().contains("cache") && !title.contains('\n'),
        "{title}"
    );
    request.system = vec![text(
        "Generate a title that names the topic. Return JSON with isNewTopic and title.",
    )];
    let answer: Value = serde_json::from_str(&words(&reply(&mut model(), &request, 1))).unwrap();
    assert!(
        answer["title"]
            .as_str()
            .unwrap()
            .to_lowercase()
            .contains("cache")
    );
    let schema = json!({ "type": "object", "required": ["title", "tags"], "additionalProperties": false, "properties": {
        "title": { "type": "string", "maxLength": 50 }, "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1 } } });
    request.fields.insert(
        "output_config".to_owned(),
        json!({ "format": { "type": "json_schema", "schema": schema } }),
    );
    let answer: Value = serde_json::from_str(&words(&reply(&mut model(), &request, 1))).unwrap();
    assert!(jsonschema::is_valid(&schema, &answer), "{answer}");
}

#[test]
fn a_request_that_only_warms_the_cache_gets_nothing() {
    let mut request = asking("Fix the parser", coding_tools());
    request.max_tokens = Some(0);
    assert!(
        model()
            .reply(&longhaul_sim::model::ModelTurn {
                request: &request,
                prompt_tokens: 0,
                tokenizer: longhaul_sim::tokens::TokenizerFamily::Old,
                index: 0,
                seed: 1
            })
            .content
            .is_empty()
    );
}
