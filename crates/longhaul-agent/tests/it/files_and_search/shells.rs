//! Commands in the background.

use longhaul_agent::tools::ShellStatus;
use serde_json::{Value, json};

use super::bash::{STUBBORN, last_breath};
use super::desk::{Desk, desk, holds};

async fn start(desk: &Desk, command: &str) {
    desk.ok(
        "Bash",
        json!({"command": command, "run_in_background": true}),
    )
    .await;
}

fn ask() -> Value {
    json!({"bash_id": "bash_1"})
}

/// The whole output of a command up to its end, in the order in which it arrives.
async fn to_its_end(desk: &Desk, input: Value) -> String {
    let mut all = String::new();
    loop {
        let text = desk.ok("BashOutput", input.clone()).await;
        let (status, news) = text.split_once('\n').unwrap();
        if !news.starts_with("(nothing") {
            all.push_str(news);
            all.push('\n');
        }
        if status != "Status: running" {
            return format!("{status}\n{all}");
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn q1_background_output_is_given_once() {
    let desk = desk();
    start(&desk, "echo one; echo two >&2; exit 4").await;
    assert_eq!(
        to_its_end(&desk, ask()).await,
        "Status: exited with code 4\none\ntwo\n"
    );
    assert_eq!(
        desk.ok("BashOutput", ask()).await,
        "Status: exited with code 4\n(nothing more)"
    );
    let glances = desk.shells.list();
    assert_eq!(glances.len(), 1);
    assert_eq!(
        (glances[0].id.as_str(), glances[0].status),
        ("bash_1", ShellStatus::Exited(Some(4)))
    );
}

#[tokio::test]
async fn q1_background_output_can_be_filtered() {
    let desk = desk();
    start(&desk, "printf 'a1\\nb2\\na3\\n'").await;
    let filtered = json!({"bash_id": "bash_1", "filter": "^a"});
    assert_eq!(
        to_its_end(&desk, filtered).await,
        "Status: exited with code 0\na1\na3\n"
    );
    let wrong = json!({"bash_id": "bash_1", "filter": "("});
    holds(
        &desk.refused("BashOutput", wrong).await,
        &["The filter does not work"],
    );
}

#[tokio::test]
async fn q1_background_output_is_bounded() {
    let desk = desk();
    start(&desk, "seq 1 100000").await;
    while desk.shells.list()[0].status == ShellStatus::Running {
        tokio::task::yield_now().await;
    }
    let text = desk.ok("BashOutput", ask()).await;
    assert!(text.chars().count() < 30_400);
    holds(&text, &["are left out here; all of it is in", "100000"]);
}

#[tokio::test]
async fn q1_kill_shell_ends_all_of_it() {
    let desk = desk();
    let (begun, thread) = last_breath(&desk);
    start(&desk, STUBBORN).await;
    begun.cancelled().await;
    assert_eq!(desk.shells.list()[0].status, ShellStatus::Running);
    holds(
        &desk.ok("KillShell", json!({"shell_id": "bash_1"})).await,
        &["Killed bash_1"],
    );
    thread.join().unwrap();
    assert_eq!(desk.shells.list()[0].status, ShellStatus::Killed);
    holds(
        &desk.ok("KillShell", json!({"shell_id": "bash_1"})).await,
        &["has ended already: killed"],
    );
    holds(&desk.ok("BashOutput", ask()).await, &["Status: killed"]);
}

#[tokio::test]
async fn q1_background_commands_end_with_the_session() {
    let desk = desk();
    let (begun, thread) = last_breath(&desk);
    start(&desk, STUBBORN).await;
    begun.cancelled().await;
    let Desk {
        tools,
        shells,
        _temporary,
        ..
    } = desk;
    drop(tools);
    drop(shells);
    // Nothing is awaited: they are dead already, or about to be.
    thread.join().unwrap();
}

#[test]
fn q1_background_commands_end_with_the_runtime() {
    let desk = desk();
    let (begun, thread) = last_breath(&desk);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        start(&desk, STUBBORN).await;
        begun.cancelled().await;
    });
    drop(runtime);
    thread.join().unwrap();
}

#[tokio::test]
async fn q1_background_commands_are_limited_and_unknown_ones_told() {
    let desk = desk();
    holds(
        &desk.refused("BashOutput", ask()).await,
        &["no background command bash_1. None was started."],
    );
    for _ in 0..32 {
        start(&desk, "sleep 1000").await;
    }
    let one_more = json!({"command": "sleep 1000", "run_in_background": true});
    holds(
        &desk.refused("Bash", one_more).await,
        &["32 background commands run already"],
    );
    holds(
        &desk.refused("KillShell", json!({"shell_id": "x"})).await,
        &["There are: bash_1, bash_2"],
    );
}

#[tokio::test]
async fn q1_background_commands_run_where_the_shell_is() {
    let desk = desk();
    desk.put("sub/x", "");
    desk.bash("cd sub").await;
    start(&desk, "pwd; cd /").await;
    let text = to_its_end(&desk, ask()).await;
    holds(&text, &[desk.folder.join("sub").to_str().unwrap()]);
    assert_eq!(
        desk.bash("pwd").await,
        desk.folder.join("sub").to_str().unwrap()
    );
}
