//! The processes of MCP servers: they hang, die, fail to start, and end with the session.
use std::sync::Arc;
use std::time::Duration;

use longhaul_agent::tool::CallContext;
use longhaul_agent::tools::mcp::{
    McpLimits, McpNews, McpServerConfig, McpServerStatus, McpServers,
};
use serde_json::json;

use super::mcp_server::{GATE, config};
use super::mcp_session::{demo, patient, start};
use super::{place, run, text};

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
