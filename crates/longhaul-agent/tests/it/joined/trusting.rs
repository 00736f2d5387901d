//! What a project may want, and what the user says to it.

use longhaul_agent::agent::Start;
use longhaul_agent::event::{Answer, Ended, Mode};
use longhaul_agent::workplace::{Wishes, Workplace};
use serde_json::json;

use super::{Says, open, put, results, workplace};
use crate::agent::house::{House, calls, say, text, work};

const SETTINGS: &str = r#"{
    "env": {"GREETING": "good morning"},
    "permissions": {"allow": ["Bash(printenv:*)"], "deny": ["Read(secret/**)"]},
    "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo rung > rung.txt"}]}]}
}"#;

fn printing() -> serde_json::Value {
    calls(&[("Bash", json!({"command": "printenv GREETING"}))])
}

#[tokio::test]
async fn k1_hooks_rules_and_variables_of_a_project_count_once_it_is_trusted() {
    let house = House::scripted(&[printing(), text("Done.")]).await;
    put(&house, ".claude/settings.json", SETTINGS);
    let mut user = Says::yes();
    let place = workplace(&house, &mut user).await;
    assert_eq!(user.asked, ["[Hooks, Variables, Permissions]"]);
    let (mut agent, mut events) = open(&house, &place, Start::New).await;
    let (ended, told) = say(&mut agent, &mut events, "Print it.").await;
    assert_eq!(ended, Ended::Done);
    assert_eq!(results(&told), ["good morning"]);
    assert!(house.cwd().join("rung.txt").exists());
    // Asked once.
    let mut again = Says::no();
    workplace(&house, &mut again).await;
    assert!(again.asked.is_empty());
}

#[tokio::test]
async fn k1_of_a_project_that_is_not_trusted_only_what_forbids_counts() {
    let house = House::scripted(&[
        printing(),
        calls(&[("Grep", json!({"pattern": "word", "output_mode": "content"}))]),
        calls(&[("Glob", json!({"pattern": "**/*.txt"}))]),
        calls(&[("Read", json!({"file_path": "secret/key.txt"}))]),
        text("Done."),
    ])
    .await;
    put(&house, ".claude/settings.json", SETTINGS);
    put(&house, "secret/key.txt", "the word is sesame\n");
    put(&house, "open.txt", "the word is out\n");
    let place = workplace(&house, &mut Says::no()).await;
    let said = place.notices.join("\n");
    assert!(
        said.contains("is not trusted") && said.contains("--trust"),
        "{said}"
    );
    let (mut agent, mut events) = open(&house, &place, Start::New).await;
    let (_, told) = work(
        &mut agent,
        &mut events,
        "Go.",
        |_| {},
        || Some(Answer::No(Some("go on without".to_owned()))),
    )
    .await;
    let results = results(&told);
    assert!(results[0].contains("go on without"), "{results:?}");
    assert!(results[1].contains("open.txt") && !results[1].contains("sesame"));
    assert!(!results[2].contains("key.txt"), "{results:?}");
    assert!(results[3].contains("secret/**"), "{results:?}");
    assert!(!house.cwd().join("rung.txt").exists());
    // Who says so on the command line need not be asked.
    let wishes = Wishes {
        trust: true,
        mode: Some(Mode::AcceptEdits),
        ..Wishes::default()
    };
    let place = Workplace::open(&house.env(), &house.cwd(), wishes, None).await;
    let place = place.unwrap();
    assert!(place.notices.is_empty(), "{:?}", place.notices);
    assert_eq!((place.hooks().len(), place.mode()), (1, Mode::AcceptEdits));
}

#[tokio::test]
async fn q1_a_rule_that_the_user_gives_the_project_holds_the_next_time_too() {
    let touch = |name: &str| calls(&[("Write", json!({"file_path": name, "content": "x"}))]);
    let house = {
        let turns = [touch("a.txt"), text("A."), touch("b.txt"), text("B.")];
        House::scripted_by("calls", &turns).await
    };
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, Start::New).await;
    let agree = || Some(Answer::Project);
    work(&mut agent, &mut events, "Write a.", |_| {}, agree).await;
    assert!(house.cwd().join("a.txt").exists());
    assert!(house.cwd().join(".claude/settings.local.json").exists());
    // His own rule makes nobody ask him whether he trusts it.
    let mut user = Says::no();
    let place = workplace(&house, &mut user).await;
    assert!(user.asked.is_empty(), "{:?}", user.asked);
    let (mut agent, mut events) = open(&house, &place, Start::New).await;
    say(&mut agent, &mut events, "Write b.").await;
    assert!(house.cwd().join("b.txt").exists());
}

#[tokio::test]
async fn q1_a_projects_server_is_asked_for_once_and_left_out_where_nobody_can_say_yes() {
    let house = House::scripted(&[text("Hello.")]).await;
    let servers = r#"{"mcpServers": {"local": {"command": "false"}}}"#;
    put(&house, ".mcp.json", servers);
    let mut user = Says::yes();
    workplace(&house, &mut user).await;
    assert_eq!(user.asked, ["[Servers]", "local"]);
    let mut again = Says::no();
    workplace(&house, &mut again).await;
    assert!(again.asked.is_empty());
    // Another command is another server.
    put(&house, ".mcp.json", &servers.replace("false", "true"));
    let place = Workplace::open(&house.env(), &house.cwd(), Wishes::default(), None).await;
    let said = place.unwrap().notices.join("\n");
    assert!(said.contains("`local` is not started"), "{said}");
}

#[tokio::test]
async fn q1_a_plan_is_agreed_to_whatever_else_runs_unasked() {
    let house = House::scripted(&[
        calls(&[("EnterPlanMode", json!({}))]),
        calls(&[("Bash", json!({"command": "touch done.txt"}))]),
        calls(&[("ExitPlanMode", json!({"plan": "Touch a file."}))]),
        calls(&[("Bash", json!({"command": "touch done.txt"}))]),
        text("Done."),
    ])
    .await;
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, Start::New).await;
    agent.set_mode(Mode::BypassPermissions);
    let (ended, told) = work(
        &mut agent,
        &mut events,
        "Go.",
        |_| {},
        || Some(Answer::Once),
    )
    .await;
    assert_eq!(ended, Ended::Done);
    let results = results(&told);
    assert!(results[1].contains("plan"), "{results:?}");
    assert!(house.cwd().join("done.txt").exists(), "{results:?}");
    assert_eq!(agent.mode(), Mode::BypassPermissions);
    // A no ends it, and plan mode goes on.
    let house = House::scripted(&[
        calls(&[("ExitPlanMode", json!({"plan": "Touch a file."}))]),
        text("Never said."),
    ])
    .await;
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, Start::New).await;
    agent.set_mode(Mode::Plan);
    let no = || Some(Answer::No(None));
    let (ended, _) = work(&mut agent, &mut events, "Go.", |_| {}, no).await;
    assert_eq!((ended, agent.mode()), (Ended::Cancelled, Mode::Plan));
    let sent = house.last_body().to_string();
    assert!(sent.contains("lan mode"), "the model is reminded: {sent}");
}
