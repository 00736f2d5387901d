//! What MCP servers offer, as tools, texts and pictures.

use std::sync::Arc;
use std::time::Duration;

use longhaul_agent::tool::{CallContext, ToolAccess};
use longhaul_agent::tools::mcp::McpLimits;
use longhaul_core::rehydrate::{RestoreInput, restore};
use longhaul_core::window::WindowScale;
use serde_json::{Value, json};

use super::mcp_server::config;
use super::mcp_session::{demo, demo_like, patient, start};
use super::{run, text};

#[tokio::test]
async fn q1_tools_of_a_server_are_listed_by_name_and_called() {
    let demo = demo().await;
    let tools = demo.servers.tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    assert!(names.is_sorted() && names.len() == 16, "{names:?}");
    let echo = demo.tool("mcp__demo__echo");
    insta::assert_snapshot!(
        "echo",
        serde_json::to_string_pretty(&echo.definition()).unwrap()
    );
    assert_eq!(echo.access(&json!({})), ToolAccess::Other);
    let output = run(&*echo, json!({"text": "hello there"})).await;
    assert_eq!((text(&output), output.is_error), ("hello there", false));
    assert_eq!(output.line, "hello there");
    assert!(run(&*echo, json!([1])).await.is_error);
    assert!(!run(&*echo, Value::Null).await.is_error);
}

#[tokio::test]
async fn q1_names_and_schemas_are_made_such_that_requests_accept_them() {
    let demo = demo().await;
    let tools = demo.servers.tools();
    let odd: Vec<_> = tools
        .iter()
        .filter(|tool| tool.name().contains("odd"))
        .collect();
    assert_eq!(odd[0].name(), "mcp__demo__odd_name_here");
    assert!(odd[1].name().starts_with("mcp__demo__odd_name_here_"));
    let schema = &odd[0].definition()["input_schema"];
    assert_eq!(
        *schema,
        json!({"type": "object", "properties": {"a": {"type": "string"}}})
    );
    assert!(
        odd[1].definition().to_string().len() < 2_300,
        "a description is cut"
    );
    assert_eq!(
        text(&run(&**odd[0], json!({})).await),
        "called odd.name/here"
    );
    assert_eq!(
        text(&run(&**odd[1], json!({})).await),
        "called odd name here"
    );
}

#[tokio::test]
async fn q1_pictures_and_resources_become_blocks() {
    let demo = demo().await;
    let image = demo.call("image", json!({})).await;
    let blocks = image.content.as_array().unwrap();
    assert_eq!(blocks[0], json!({"type": "text", "text": "look"}));
    assert_eq!(
        blocks[1],
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}})
    );
    for left_out in &blocks[2..] {
        assert!(
            left_out["text"].as_str().unwrap().contains("left out"),
            "{left_out}"
        );
    }
    let resources = demo.call("resources", json!({})).await;
    insta::assert_snapshot!(
        "resources",
        serde_json::to_string_pretty(&resources.content).unwrap()
    );
    assert_eq!(
        text(&demo.call("structured", json!({})).await),
        r#"{"answer":42}"#
    );
    assert!(text(&demo.call("nothing", json!({})).await).contains("nothing"));
}

#[tokio::test]
async fn q1_failures_of_a_tool_are_errors_for_the_model() {
    let demo = demo().await;
    let fails = demo.call("fails", json!({})).await;
    assert_eq!((text(&fails), fails.is_error), ("no such thing", true));
    let refuses = demo.call("refuses", json!({})).await;
    assert!(
        refuses.is_error && text(&refuses).contains("wrong arguments"),
        "{}",
        text(&refuses)
    );
}

#[tokio::test]
async fn q1_a_long_answer_is_cut_and_kept_in_a_file() {
    let demo = demo().await;
    let huge = demo.call("huge", json!({})).await;
    let blocks = huge.content.as_array().unwrap();
    assert_eq!(blocks[0]["text"].as_str().unwrap().len(), 100_000);
    let note = blocks[1]["text"].as_str().unwrap();
    let path = demo
        .folder
        .path()
        .join("projects/demo/session/mcp/outputs/toolu_1.txt");
    assert!(note.contains(&path.display().to_string()), "{note}");
    assert_eq!(std::fs::metadata(path).unwrap().len(), 340_000);
}

#[tokio::test]
async fn b5_the_tools_stay_those_the_session_began_with() {
    let demo = demo().await;
    let definitions = || -> Vec<Value> {
        demo.servers
            .tools()
            .iter()
            .map(|tool| tool.definition())
            .collect()
    };
    let before = definitions();
    for _ in 0..3 {
        assert_eq!(text(&demo.call("change", json!({})).await), "changed");
    }
    // The notice was caused before the last answer, but another task delivers it.
    while demo.told().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(definitions(), before);
    let told = demo.told();
    assert!(
        told.len() == 1 && told[0].contains("other tools now"),
        "told once: {told:?}"
    );
}

#[tokio::test]
async fn b5_the_same_tools_in_another_order_are_no_news() {
    let demo = demo_like("reorders").await;
    assert_eq!(text(&demo.call("change", json!({})).await), "changed");
    // The list is asked for again before this call is answered.
    for _ in 0..20 {
        demo.call("echo", json!({"text": "hello"})).await;
    }
    assert_eq!(demo.told(), [""; 0]);
}

#[tokio::test]
async fn q1_a_malformed_tool_is_left_out_and_named() {
    let demo = start(vec![config("demo", "malformed")], patient()).await;
    let names = demo.servers.tools();
    let names: Vec<&str> = names.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["mcp__demo__fine", "mcp__demo__good"]);
    let told = demo.told();
    let begin = "MCP server demo: its list of tools cannot be read completely; left out: bad (";
    assert!(told.len() == 1 && told[0].starts_with(begin), "{told:?}");
}

#[tokio::test]
async fn q1_a_list_of_tools_that_is_none_is_said_in_words() {
    let demo = start(vec![config("demo", "listless")], patient()).await;
    let said = "MCP server demo: its list of tools cannot be read: the answer has no list in it";
    let told = demo.told();
    assert!(told.len() == 1 && told[0].starts_with(said), "{told:?}");
    assert!(told[0].ends_with("; see /mcp"), "{told:?}");
}

#[tokio::test]
async fn q1_a_tool_that_is_listed_twice_counts_once() {
    let demo = demo_like("twice").await;
    assert_eq!(demo.servers.tools().len(), 2);
}

#[tokio::test]
async fn q1_progress_is_shown() {
    let demo = demo().await;
    let (tell, mut shown) = tokio::sync::mpsc::unbounded_channel();
    let call = CallContext {
        progress: Arc::new(move |said| tell.send(said.to_owned()).unwrap()),
        ..CallContext::quiet("toolu_1")
    };
    demo.tool("mcp__demo__progress").run(json!({}), &call).await;
    assert_eq!(shown.recv().await.unwrap(), "half way");
}

#[tokio::test]
async fn r5_instructions_are_told_again_in_bounds() {
    let configs = vec![
        config("one", "good"),
        config("wordy", "wordy"),
        config("none", "quiet"),
    ];
    let started = start(configs, patient()).await;
    let statuses = started.servers.statuses();
    let names: Vec<&str> = statuses.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["one", "wordy", "none"]);
    let announcement = started.servers.announcement().unwrap();
    assert_eq!(announcement["type"], "mcp_instructions_delta");
    assert_eq!(announcement["addedNames"], json!(["one", "wordy"]));
    assert_eq!(
        announcement["addedBlocks"][0],
        "## one\nEcho before you leap."
    );
    let wordy = announcement["addedBlocks"][1].as_str().unwrap();
    assert!(wordy.len() < 2_100, "{}", wordy.len());
    let gathered = RestoreInput {
        announcements: vec![announcement.clone()],
        ..RestoreInput::default()
    };
    assert_eq!(
        restore(&gathered, WindowScale::of_window(200_000)).attachments[0].value,
        announcement
    );
}

#[tokio::test]
async fn q1_a_long_resource_is_cut_and_an_unknown_one_is_refused() {
    let demo = demo().await;
    let read = async |mention: &str| demo.servers.resource(mention).await;
    let long = read("demo:file:///long").await.unwrap().unwrap();
    assert!(
        long.about.starts_with("the first 100,000 of "),
        "{}",
        long.about
    );
    let text = long.attachment.unwrap()["content"]["contents"][0]["text"].to_string();
    assert!(text.len() < 110_000 && text.contains("cut here"));
    let why = read("demo:file:///x").await.unwrap().unwrap_err();
    assert!(why.contains("there is no such page"), "{why}");
    assert!(read("src/main.rs").await.is_none());
    assert!(read("other:file:///a.txt").await.is_none());
}

#[test]
fn q1_limits_come_from_the_environment() {
    let limits = McpLimits::from_env(|name| match name {
        "MCP_TIMEOUT" => Some("1500".to_owned()),
        "MCP_TOOL_TIMEOUT" => Some("0".to_owned()),
        "MAX_MCP_OUTPUT_TOKENS" => Some(" 7 ".to_owned()),
        _ => None,
    });
    assert_eq!(limits.start, Duration::from_millis(1_500));
    assert_eq!(limits.call, McpLimits::default().call);
    assert_eq!(limits.output, 7);
}
