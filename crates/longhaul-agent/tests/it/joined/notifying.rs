//! Hooks that tell the user that something waits for them.

use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::ApprovalAnswer;
use longhaul_agent::host::AgentHost;
use longhaul_agent::screen::{HostRequest, ScreenHost};
use longhaul_core::models::ModelTable;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{Says, open, put, workplace};
use crate::agent::house::{House, calls, say, text, work};

/// Writes what each notification says into a file of its own.
const SETTINGS: &str = r#"{
    "messageIdleNotifThresholdMs": 30,
    "hooks": {"Notification": [{"hooks": [
        {"type": "command", "command": "cat > told-$$.tmp && mv told-$$.tmp told-$$.json"}]}]}
}"#;

/// What hooks were told, as soon as they were told something of this type.
async fn told(house: &House, wanted: &str) -> Vec<Value> {
    loop {
        let files = std::fs::read_dir(house.cwd()).unwrap().flatten();
        let told: Vec<Value> = files
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|it| it == "json"))
            .filter_map(|path| serde_json::from_slice(&std::fs::read(path).ok()?).ok())
            .collect();
        if told.iter().any(|it| it["notification_type"] == wanted) {
            return told;
        }
        tokio::task::yield_now().await;
    }
}

fn touching() -> Value {
    calls(&[("Bash", json!({"command": "touch made"}))])
}

#[tokio::test(flavor = "multi_thread")]
async fn k1_hooks_are_told_that_the_user_is_asked_and_that_the_user_is_idle() {
    let house = House::scripted(&[touching(), text("Done.")]).await;
    put(&house, ".claude/settings.json", SETTINGS);
    let place = workplace(&house, &mut Says::yes()).await;
    let (agent, mut events) = open(&house, &place, SessionChoice::New).await;
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            if let longhaul_agent::event::AgentEvent::Asks(question) = event {
                question.answer.send(ApprovalAnswer::Once).unwrap();
            }
        }
    });
    let host = AgentHost::start(agent, place, house.env(), ModelTable::builtin());
    let (reply, answer) = oneshot::channel();
    host.ask(HostRequest::Prompt("Go.".to_owned(), reply));
    answer.await.unwrap().unwrap();
    let asked = told(&house, "permission_prompt").await;
    let asked = asked
        .iter()
        .find(|it| it["notification_type"] == "permission_prompt");
    let asked = asked.unwrap();
    assert_eq!(asked["hook_event_name"], "Notification");
    assert_eq!(asked["title"], "Permission needed");
    let message = asked["message"].as_str().unwrap();
    assert!(message.ends_with("permission to use Bash"), "{message}");
    told(&house, "idle_prompt").await;
    host.finish().await;
}

#[tokio::test]
async fn k1_where_nobody_is_no_hook_is_told_of_a_question() {
    let house = House::scripted(&[touching(), text("Done.")]).await;
    put(&house, ".claude/settings.json", SETTINGS);
    let place = workplace(&house, &mut Says::yes()).await;
    let builder = place.equip(house.builder().unattended());
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    say(&mut agent, &mut events, "Go.").await;
    assert!(!house.cwd().join("made").exists());
    let without_user = house;
    // With a user, the same call notifies.
    let house = House::scripted(&[touching(), text("Done.")]).await;
    put(&house, ".claude/settings.json", SETTINGS);
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let once = || Some(ApprovalAnswer::Once);
    work(&mut agent, &mut events, "Go.", |_| {}, once).await;
    told(&house, "permission_prompt").await;
    let files = std::fs::read_dir(without_user.cwd()).unwrap().flatten();
    let told = files.filter(|it| it.file_name().to_string_lossy().starts_with("told-"));
    assert_eq!(told.count(), 0);
}
