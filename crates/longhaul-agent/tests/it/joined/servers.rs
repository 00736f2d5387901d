//! Servers while a conversation goes on: they start in the background, their tools come late, and prompts use what they
//! offer.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::{AgentEvent, ApprovalAnswer, PromptOutcome};
use longhaul_agent::host::AgentHost;
use longhaul_agent::project_setup::{ProjectSetup, SessionOverrides};
use longhaul_agent::screen::{HostRefusal, HostRequest, ReplySender, ScreenHost};
use longhaul_agent::tool::CALL_LATE_TOOL;
use longhaul_agent::tools::mcp::McpServerStatus;
use longhaul_core::engine::CompactRequest;
use longhaul_core::models::ModelTable;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{open, results};
use crate::agent::house::{House, calls, long, say, text, texts, work};
use crate::services::mcp_server::{GATE, config};

const ECHO: &str = "mcp__demo__echo";

/// A project with a server like this, which waits for the gate if it is a slow one.
async fn with_server(house: &House, like: &str) -> (Arc<ProjectSetup>, PathBuf) {
    let gate = house.folder.path().join("gate");
    let mut config = config("demo", like);
    config
        .env
        .push((GATE.to_owned(), gate.display().to_string()));
    let server = json!({
        "command": config.command,
        "args": config.args,
        "env": config.env.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    });
    let file = house.folder.path().join("servers.json");
    std::fs::write(&file, json!({"mcpServers": {"demo": server}}).to_string()).unwrap();
    let wishes = SessionOverrides {
        server_files: vec![file],
        ..SessionOverrides::default()
    };
    let place = ProjectSetup::open(&house.env(), &house.cwd(), wishes, None).await;
    (Arc::new(place.unwrap()), gate)
}

async fn runs(place: &ProjectSetup) {
    while !matches!(place.servers()[0].1, McpServerStatus::Running { .. }) {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

fn tool_names(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn notices(told: &[AgentEvent]) -> Vec<&str> {
    let notices = told.iter().filter_map(|event| match event {
        AgentEvent::Notice(text) => Some(text.as_str()),
        _ => None,
    });
    notices.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn r5_b5_tools_of_a_slow_server_are_announced_and_the_prefix_stays_as_it_was() {
    let late = json!({"name": ECHO, "arguments": {"text": "late"}});
    let turns = [
        text("One."),
        calls(&[(CALL_LATE_TOOL, late)]),
        long(),
        // The summary uses one up.
        text("unused"),
        calls(&[(ECHO, json!({"text": "direct"}))]),
        text("Four."),
    ];
    let house = House::scripted_by("calls", &turns).await;
    let (place, gate) = with_server(&house, "slow").await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (ended, told) = say(&mut agent, &mut events, "Hello.").await;
    assert_eq!(ended, PromptOutcome::Done);
    assert_eq!(
        notices(&told),
        ["MCP server demo: still starting; its tools come when it answers"]
    );

    std::fs::write(gate, "").unwrap();
    runs(&place).await;
    let mut asked = Vec::new();
    let (_, told) = work(
        &mut agent,
        &mut events,
        "Say late.",
        |event| {
            if let AgentEvent::ToolStarted { name, .. } = event {
                asked.push(name.clone());
            }
        },
        || Some(ApprovalAnswer::Once),
    )
    .await;
    assert_eq!(asked, [ECHO], "hooks, rules and people see the tool itself");
    assert_eq!(results(&told), ["late"]);
    assert!(notices(&told).contains(&"MCP server demo: runs now, 16 tools"));
    let bodies = house.bodies();
    assert!(!tool_names(&bodies[0]).contains(&ECHO));
    for body in &bodies[1..] {
        assert!(body["tools"] == bodies[0]["tools"], "the cache still hits");
        assert_eq!(body["system"], bodies[0]["system"]);
        let said = texts(body).join("\n");
        assert_eq!(said.matches("Says it again.").count(), 1);
        assert_eq!(said.matches("Echo before you leap.").count(), 1);
    }

    // After a compaction, the prefix is built again anyway.
    agent.compact(CompactRequest::default()).await.unwrap();
    let (_, told) = work(
        &mut agent,
        &mut events,
        "Say direct.",
        |_| {},
        || Some(ApprovalAnswer::Once),
    )
    .await;
    assert_eq!(results(&told), ["direct"]);
    let last = house.last_body();
    assert!(tool_names(&last).contains(&ECHO));
    let said = texts(&last).join("\n");
    assert!(!said.contains("Says it again."), "it is in the list now");
    assert_eq!(said.matches("Echo before you leap.").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn r5_tools_whose_announcement_was_taken_back_are_announced_again() {
    let house = House::scripted(&[text("One."), text("Two."), text("Three.")]).await;
    let (place, gate) = with_server(&house, "slow").await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    say(&mut agent, &mut events, "First.").await;
    std::fs::write(gate, "").unwrap();
    runs(&place).await;
    say(&mut agent, &mut events, "Second.").await;
    let points = agent.rewind_points().unwrap();
    let second = points.iter().find(|point| point.text == "Second.");
    agent.rewind(&second.unwrap().uuid).await.unwrap();
    say(&mut agent, &mut events, "Third.").await;
    let bodies = house.bodies();
    let said = texts(&bodies[2]).join("\n");
    assert!(!said.contains("Second."));
    assert_eq!(said.matches("Says it again.").count(), 1, "{said}");
    assert!(bodies[2]["tools"] == bodies[0]["tools"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn b5_tools_of_a_server_that_answers_are_in_the_first_request() {
    let house = House::scripted(&[text("One."), text("Two.")]).await;
    let (place, _) = with_server(&house, "good").await;
    runs(&place).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (_, told) = say(&mut agent, &mut events, "Hello.").await;
    assert_eq!(notices(&told), [""; 0], "nothing was slow");
    say(&mut agent, &mut events, "Again.").await;
    let bodies = house.bodies();
    let names = tool_names(&bodies[0]);
    let first = names.iter().position(|name| name.starts_with("mcp__"));
    assert!(names[first.unwrap()..].is_sorted(), "{names:?}");
    assert!(names.contains(&ECHO));
    assert!(bodies[1]["tools"] == bodies[0]["tools"]);
    assert!(!texts(&bodies[1]).join("\n").contains("Says it again."));
}

#[tokio::test(flavor = "multi_thread")]
async fn y2_a_resumed_session_calls_a_server_that_is_still_starting() {
    let house = House::scripted(&[
        text("One."),
        calls(&[(ECHO, json!({"text": "again"}))]),
        text("Two."),
    ])
    .await;
    let (place, _) = with_server(&house, "good").await;
    runs(&place).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    say(&mut agent, &mut events, "Hello.").await;
    agent.close(longhaul::hooks::EndReason::Other).await;

    let (place, gate) = with_server(&house, "slow").await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::Continue).await;
    let (_, told) = work(
        &mut agent,
        &mut events,
        "Say again.",
        // The reply calls the tool; only then does the server answer.
        |event| {
            if let AgentEvent::Replied(_) = event {
                std::fs::write(&gate, "").unwrap();
            }
        },
        || Some(ApprovalAnswer::Once),
    )
    .await;
    assert_eq!(results(&told), ["again"]);
    let bodies = house.bodies();
    assert!(bodies[1]["tools"] == bodies[0]["tools"]);
    assert!(
        !texts(&house.last_body())
            .join("\n")
            .contains("Says it again.")
    );
}

async fn ask<T>(
    host: &AgentHost,
    ask: impl FnOnce(ReplySender<T>) -> HostRequest,
) -> Result<T, HostRefusal> {
    let (reply, answer) = oneshot::channel();
    host.ask(ask(reply));
    answer.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn q1_prompts_of_a_server_are_commands_and_its_resources_are_attached() {
    let house = House::scripted(&[text("Greeted."), text("Seen.")]).await;
    let (place, _) = with_server(&house, "good").await;
    runs(&place).await;
    let (agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            if let AgentEvent::Notice(text) = event {
                let _ = tell.send(text);
            }
        }
    });
    let host = AgentHost::start(agent, place.clone(), house.env(), ModelTable::builtin());
    let commands = ask(&host, HostRequest::Commands).await.unwrap();
    let greet = commands.iter().find(|it| it.name == "mcp__demo__greet");
    assert_eq!(
        greet.unwrap().description,
        "<who> [how] Greets someone. (demo)"
    );
    let resources = ask(&host, HostRequest::Resources).await.unwrap();
    let mentions: Vec<&str> = resources.iter().map(|it| &*it.mention).collect();
    assert_eq!(mentions, ["demo:file:///a.txt"], "what can be typed");

    let greet = |arguments: &str| {
        let arguments = arguments.to_owned();
        |reply| HostRequest::Command {
            name: "mcp__demo__greet".to_owned(),
            arguments,
            reply,
        }
    };
    let why = ask(&host, greet("")).await.unwrap_err().0;
    assert_eq!(why, "usage: /mcp__demo__greet <who> [how]");
    ask(&host, greet("Ann very warmly")).await.unwrap();
    let body = house.last_body();
    let said = texts(&body).join("\n");
    assert!(said.contains("/mcp__demo__greet Ann very warmly"), "{said}");
    assert!(said.contains("> Greet Ann very warmly."), "{said}");
    assert!(said.contains("> (assistant:) Hello!"), "{said}");
    assert!(body.to_string().contains(r#""media_type":"image/png""#));

    let prompt = |reply| HostRequest::Prompt("See @demo:file:///a.txt.".to_owned(), reply);
    ask(&host, prompt).await.unwrap();
    let said = texts(&house.last_body()).join("\n");
    assert!(said.contains("> inside a"), "{said}");
    assert!(!said.contains("> </system-reminder>"), "{said}");
    let notice = told.recv().await.unwrap();
    assert_eq!(notice, "attached demo:file:///a.txt (2 lines)");
    // What a server wrote is none of the user's messages.
    let messages = ask(&host, HostRequest::Messages).await.unwrap().messages;
    let lines: Vec<&str> = messages.iter().map(|it| &*it.line).collect();
    assert_eq!(
        lines,
        [
            "/mcp__demo__greet Ann very warmly",
            "See @demo:file:///a.txt."
        ]
    );
    host.finish().await;
}
