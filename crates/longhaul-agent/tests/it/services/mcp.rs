//! MCP servers, as processes over stdio.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul_agent::tool::{CallContext, Tool, ToolAccess, ToolCallOutput};
use longhaul_agent::tools::mcp::{
    McpLimits, McpNews, McpServerConfig, McpServerStatus, McpServers,
};
use longhaul_core::rehydrate::{RestoreInput, restore};
use longhaul_core::window::WindowScale;
use serde_json::{Value, json};

use super::mcp_server::{GATE, config};
use super::{place, run, text};

/// Limits that are long enough for any machine.
fn patient() -> McpLimits {
    McpLimits {
        start: Duration::from_secs(120),
        call: Duration::from_secs(120),
        ..McpLimits::default()
    }
}

/// Servers, and the notices about them.
struct Started {
    servers: McpServers,
    told: Arc<Mutex<Vec<String>>>,
    folder: tempfile::TempDir,
}

async fn start(configs: Vec<McpServerConfig>, limits: McpLimits) -> Started {
    let folder = tempfile::tempdir().unwrap();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let hears = told.clone();
    let news = McpNews {
        notice: Arc::new(move |notice| hears.lock().unwrap().push(notice)),
        changed: Arc::new(|| {}),
    };
    let servers = McpServers::start(configs, &place(folder.path()), limits, &news);
    servers.settled().await;
    Started {
        servers,
        told,
        folder,
    }
}

impl Started {
    fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let all = self.servers.tools();
        let found = all.iter().find(|tool| tool.name() == name);
        found
            .unwrap_or_else(|| panic!("{name}: {:?}", self.told()))
            .clone()
    }

    async fn call(&self, name: &str, input: Value) -> ToolCallOutput {
        run(&*self.tool(&format!("mcp__demo__{name}")), input).await
    }

    /// Waits until the server has written this to stderr.
    async fn logged(&self, said: &str) {
        let log = self
            .folder
            .path()
            .join("projects/demo/session/mcp/demo.log");
        let written = || std::fs::read_to_string(&log).unwrap_or_default();
        while !written().contains(said) {
            tokio::task::yield_now().await;
        }
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

async fn demo() -> Started {
    demo_like("good").await
}

async fn demo_like(like: &str) -> Started {
    let started = start(vec![config("demo", like)], patient()).await;
    assert_eq!(started.told(), [""; 0]);
    started
}

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
async fn q1_a_call_that_hangs_ends_by_time_or_by_the_user() {
    let limits = McpLimits {
        call: Duration::from_millis(50),
        ..patient()
    };
    let impatient = start(vec![config("demo", "good")], limits).await;
    let output = impatient.call("hang", json!({})).await;
    assert!(
        output.is_error && text(&output).contains("did not answer"),
        "{}",
        text(&output)
    );
    let demo = demo().await;
    let mut call = CallContext::quiet("toolu_1");
    // The call is stopped once the server works on it.
    let cancel = call.cancel.clone();
    call.progress = Arc::new(move |_| cancel.cancel());
    let output = demo.tool("mcp__demo__hang").run(json!({}), &call).await;
    assert!(output.is_error && text(&output).contains("stopped"));
    demo.logged("nobody waits any more").await;
    assert_eq!(
        text(&demo.call("echo", json!({"text": "still here"})).await),
        "still here"
    );
}

#[tokio::test]
async fn q1_a_server_that_dies_is_started_again_once() {
    let demo = demo().await;
    let first = text(&demo.call("where", json!({})).await).to_owned();
    let died = demo.call("die", json!({})).await;
    assert!(
        died.is_error && text(&died).contains("exit status: 7"),
        "{}",
        text(&died)
    );
    let second = text(&demo.call("where", json!({})).await).to_owned();
    assert_ne!(first, second, "another process");
    assert!(demo.told()[0].contains("started again"));
    // It has answered, so it may die once more; but not twice without an answer in between.
    assert!(demo.call("die", json!({})).await.is_error);
    assert!(demo.call("die", json!({})).await.is_error);
    let gone = demo.call("echo", json!({"text": "?"})).await;
    assert!(
        gone.is_error && text(&gone).contains("is gone"),
        "{}",
        text(&gone)
    );
}

#[tokio::test]
async fn q1_broken_servers_are_notices_and_the_others_run() {
    let limits = McpLimits {
        start: Duration::from_secs(3),
        ..patient()
    };
    let missing = McpServerConfig {
        name: "missing".to_owned(),
        command: "/nonexistent/server".to_owned(),
        ..McpServerConfig::default()
    };
    let configs = vec![
        missing,
        config("dead", "dies at once"),
        config("mute", "silent"),
    ];
    let started = start(configs, limits).await;
    assert!(started.servers.tools().is_empty());
    assert_eq!(started.servers.announcement(), None);
    let told = started.told();
    assert_eq!(told.len(), 3, "one line each: {told:?}");
    for (name, why) in [
        ("missing", "cannot be started"),
        ("dead", ""),
        ("mute", "did not say hello"),
    ] {
        let line = format!("MCP server {name}: ");
        let line = told.iter().find(|told| told.starts_with(&line)).unwrap();
        assert!(line.contains(why) && line.ends_with("; see /mcp"), "{line}");
    }
    for (name, status) in started.servers.statuses() {
        let McpServerStatus::Failed { log, .. } = status else {
            panic!("{name}: {status:?}")
        };
        assert!(log.ends_with(format!("{name}.log")));
    }
}

#[tokio::test]
async fn q1_garbage_between_messages_is_passed_over() {
    let started = start(vec![config("demo", "garbage")], patient()).await;
    for said in ["one", "two"] {
        assert_eq!(
            text(&started.call("echo", json!({"text": said})).await),
            said
        );
    }
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
async fn q1_a_server_has_its_folder_its_variables_and_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let real = std::fs::canonicalize(folder.path()).unwrap();
    let mut config = config("demo", "good");
    config.cwd = Some(real.clone());
    config.env.push(("EXTRA".to_owned(), "extra".to_owned()));
    let started = start(vec![config], patient()).await;
    let said = started.call("where", json!({})).await;
    assert!(
        text(&said).ends_with(&format!("{} extra", real.display())),
        "{}",
        text(&said)
    );
    started.logged("a server like good").await;
}

/// Whether a process runs; a zombie does not.
#[cfg(target_os = "linux")]
fn runs(id: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = status
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .trim()
        .chars()
        .next();
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn q1_servers_and_their_children_end_with_the_session() {
    let demo = demo().await;
    let said = text(&demo.call("where", json!({})).await).to_owned();
    let server = said.split(' ').next().unwrap().to_owned();
    let child = text(&demo.call("child", json!({})).await).to_owned();
    assert!(runs(&server) && runs(&child));
    let echo = demo.tool("mcp__demo__echo");
    drop(demo);
    let ended = async {
        while runs(&server) || runs(&child) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), ended)
        .await
        .expect("all have ended");
    let output = run(&*echo, json!({"text": "?"})).await;
    assert!(output.is_error && text(&output).contains("were stopped"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn q1_a_start_that_is_given_up_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let news = McpNews {
        notice: Arc::new(|_| {}),
        changed: Arc::new(|| {}),
    };
    let mut config = config("demo", "slow");
    let gate = folder.path().join("never").display().to_string();
    config.env.push((GATE.to_owned(), gate));
    let servers = McpServers::start(vec![config], &place(folder.path()), patient(), &news);
    let log = folder.path().join("projects/demo/session/mcp/demo.log");
    let process = loop {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        if let Some((_, rest)) = said.split_once("process ")
            && let Some((id, _)) = rest.split_once('.')
        {
            break id.to_owned();
        }
        tokio::task::yield_now().await;
    };
    assert!(runs(&process));
    assert_eq!(servers.statuses()[0].1, McpServerStatus::Starting);
    drop(servers);
    let ended = async {
        while runs(&process) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), ended)
        .await
        .expect("it has ended");
}

#[tokio::test]
async fn q1_a_long_resource_is_cut_and_an_unknown_one_is_refused() {
    let demo = demo().await;
    let read = async |mention: &str| demo.servers.resource(mention).await;
    let long = read("demo:file:///long").await.unwrap().unwrap();
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
