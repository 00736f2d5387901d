//! What the model reads about the tools.

use super::desk::desk;

#[test]
fn q1_definitions_are_as_they_were() {
    let desk = desk();
    let definitions = desk.tools.definitions();
    let told: Vec<String> = (definitions.iter())
        .map(|it| {
            let schema = serde_json::to_string_pretty(&it["input_schema"]).unwrap();
            let (name, description) = (
                it["name"].as_str().unwrap(),
                it["description"].as_str().unwrap(),
            );
            format!("# {name}\n{description}\n\n{schema}\n")
        })
        .collect();
    insta::assert_snapshot!("definitions", told.join("\n"));
}

#[test]
fn q1_definitions_are_small_and_name_what_they_require() {
    for definition in desk().tools.definitions() {
        let schema = &definition["input_schema"];
        assert!(definition["description"].as_str().unwrap().len() < 2_000);
        for required in schema["required"].as_array().unwrap() {
            assert!(
                schema["properties"]
                    .get(required.as_str().unwrap())
                    .is_some()
            );
        }
    }
}

#[test]
fn q1_tools_have_the_names_that_hooks_and_clearing_rely_on() {
    let desk = desk();
    let names: Vec<&str> = desk.tools.names().collect();
    assert_eq!(
        names,
        [
            "Read",
            "Write",
            "Edit",
            "Grep",
            "Glob",
            "Bash",
            "BashOutput",
            "KillShell"
        ]
    );
}

#[tokio::test]
async fn q1_no_input_makes_a_tool_panic() {
    let desk = desk();
    let odd = [
        serde_json::json!(null),
        serde_json::json!([]),
        serde_json::json!("x"),
        serde_json::json!({}),
        serde_json::json!({"file_path": 1, "pattern": 2, "command": [], "bash_id": {}, "shell_id": null}),
        serde_json::json!({"file_path": "\0", "pattern": "\0", "command": "\0", "bash_id": "\0", "shell_id": "\0"}),
        serde_json::json!({"file_path": "", "pattern": "[", "command": "", "bash_id": "", "shell_id": ""}),
        serde_json::json!({"file_path": "x", "offset": -1, "pattern": "x", "-A": -1, "command": "true", "timeout": -5}),
        serde_json::json!({"file_path": "x", "offset": 1e300, "limit": "many", "pattern": "x", "path": "\0"}),
    ];
    let names: Vec<String> = desk.tools.names().map(str::to_owned).collect();
    for name in names {
        for input in &odd {
            let tool = desk.tool(&name);
            tool.access(input);
            tool.line(input);
            let output = desk.call(&name, input.clone()).await;
            let text = output.content.as_str().unwrap();
            assert!(
                output.is_error || (name == "Grep" || name == "Glob"),
                "{name} {input}: {text}"
            );
        }
    }
}
