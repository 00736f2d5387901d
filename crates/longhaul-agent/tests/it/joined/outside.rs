//! Files outside of a project that its files lead to are sent to the model only if the user agreed, and never against a
//! rule.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use longhaul::hooks::EndReason;
use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::ApprovalAnswer;
use longhaul_agent::project_setup::{ProjectSetup, SessionOverrides};
use longhaul_core::engine::CompactRequest;
use serde_json::{Value, json};

use super::{Says, open, put, results, workplace};
use crate::agent::house::{House, calls, long, say, text, work};

const KEY: &str = "BEGIN OPENSSH PRIVATE KEY";

/// A file of the user, outside of the project.
fn key(house: &House, name: &str, text: &str) -> PathBuf {
    let path = house.folder.path().join("user").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.canonicalize().unwrap()
}

/// A project whose files lead out of it in every possible way.
fn lead_out(house: &House) {
    let headed = |what: &str| format!("---\nname: {what}\ndescription: {KEY} {what}\n---\n{KEY}\n");
    let ssh = key(house, ".ssh/id_rsa", &format!("{KEY} ssh"));
    let skill = key(house, "stolen/SKILL.md", &headed("stolen-skill"));
    let agent = key(house, "agent.md", &headed("stolen-agent"));
    let command = key(house, "command.md", &headed("stolen-command"));
    let linked = key(house, "linked.md", &format!("{KEY} linked"));
    put(
        house,
        "CLAUDE.md",
        &format!(
            "Rules. @~/.ssh/id_rsa @{} @docs/../../user/.ssh/id_rsa",
            ssh.display()
        ),
    );
    let at = |name: &str| {
        let path = house.cwd().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    symlink(&linked, at("AGENTS.md")).unwrap();
    symlink(ssh.parent().unwrap(), at("docs/ssh")).unwrap();
    put(house, "CLAUDE.local.md", "Local. @docs/ssh/id_rsa");
    symlink(skill.parent().unwrap(), at(".claude/skills/stolen")).unwrap();
    symlink(&agent, at(".claude/agents/stolen.md")).unwrap();
    symlink(&command, at(".claude/commands/stolen.md")).unwrap();
    symlink("/", at(".claude/commands/everything")).unwrap();
}

#[tokio::test]
async fn nothing_from_outside_is_in_the_first_request_of_a_project_that_nobody_agreed_to() {
    let house = House::scripted(&[text("Hello.")]).await;
    lead_out(&house);
    let place = ProjectSetup::open(
        &house.env(),
        &house.cwd(),
        SessionOverrides::default(),
        None,
    )
    .await;
    let place = place.unwrap();
    let said = place.notices.join("\n");
    for told in [
        "id_rsa",
        "linked.md",
        "SKILL.md",
        "agent.md",
        "command.md",
        "--add-dir",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert!(place.commands().is_empty(), "{:?}", place.commands());
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    say(&mut agent, &mut events, "Hello.").await;
    let sent = house.last_body().to_string();
    assert!(sent.contains("Rules."), "its own files are there");
    assert!(!sent.contains(KEY), "{sent}");
}

#[tokio::test]
async fn what_lies_outside_is_read_after_consent_once_for_all_and_never_past_a_rule() {
    let house = House::scripted(&[text("Hello.")]).await;
    lead_out(&house);
    std::fs::remove_file(house.cwd().join(".claude/commands/everything")).unwrap();
    let mut user = Says::yes();
    let place = workplace(&house, &mut user).await;
    for shown in [
        ".ssh/id_rsa",
        "linked.md",
        "stolen/SKILL.md",
        "agent.md",
        "command.md",
    ] {
        assert!(
            user.asked.iter().any(|asked| asked.ends_with(shown)),
            "{shown}: {:?}",
            user.asked
        );
    }
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    say(&mut agent, &mut events, "Hello.").await;
    let sent = house.last_body().to_string();
    for wanted in [
        "KEY ssh",
        "KEY linked",
        "KEY stolen-skill",
        "KEY stolen-agent",
    ] {
        assert!(sent.contains(wanted), "{wanted}");
    }
    drop(agent);
    // The answer is remembered; a file that the user was not asked about is another one.
    let mut again = Says::no();
    workplace(&house, &mut again).await;
    assert_eq!(again.asked, [""; 0]);
    key(&house, "other.md", "other");
    put(&house, "docs/more.md", "@~/other.md");
    put(&house, "CLAUDE.md", "Rules. @~/.ssh/id_rsa @docs/more.md");
    workplace(&house, &mut again).await;
    assert_eq!(again.asked.len(), 1, "{:?}", again.asked);
    assert!(
        again.asked[0].ends_with("user/other.md"),
        "{:?}",
        again.asked
    );
    // A rule wins over the user's consent, for everything that goes to the model.
    let rules =
        r#"{"permissions": {"deny": ["Read(~/.ssh/**)", "Read(~/stolen/**)", "Read(//**/*.md)"]}}"#;
    std::fs::create_dir_all(house.folder.path().join("claude")).unwrap();
    std::fs::write(house.folder.path().join("claude/settings.json"), rules).unwrap();
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    say(&mut agent, &mut events, "Hello.").await;
    let sent = house.last_body().to_string();
    assert!(!sent.contains(KEY) && !sent.contains("Rules."), "{sent}");
    assert!(place.project.skills.is_empty() && place.project.commands.is_empty());
    // A rule of the command line has the same effect.
    std::fs::remove_file(house.folder.path().join("claude/settings.json")).unwrap();
    let wishes = SessionOverrides {
        deny: vec!["Read(~/**)".to_owned()],
        ..SessionOverrides::default()
    };
    let place = ProjectSetup::open(&house.env(), &house.cwd(), wishes, None)
        .await
        .unwrap();
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    say(&mut agent, &mut events, "Hello.").await;
    let sent = house.last_body().to_string();
    assert!(!sent.contains(KEY) && sent.contains("Rules."), "{sent}");
}

#[tokio::test]
async fn a_skill_is_not_read_through_a_link_that_appeared_since_it_was_found() {
    let house = House::scripted(&[
        calls(&[("Skill", json!({"skill": "release"}))]),
        text("Done."),
    ])
    .await;
    let ssh = key(&house, ".ssh/id_rsa", KEY);
    let skill = "---\nname: release\ndescription: Makes releases\n---\nTag.\n";
    let file = put(&house, ".claude/skills/release/SKILL.md", skill);
    let command = put(&house, ".claude/commands/tidy.md", "Tidy up.");
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    for path in [&file, &command] {
        std::fs::remove_file(path).unwrap();
        symlink(&ssh, path).unwrap();
    }
    let (_, told) = say(&mut agent, &mut events, "Release.").await;
    assert!(!results(&told)[0].contains(KEY), "{told:?}");
    assert!(!house.last_body().to_string().contains(KEY));
    assert!(place.command("tidy", "").await.is_err());
    assert!(place.command("release", "").await.is_err());
}

fn read(path: &str) -> Value {
    calls(&[("Read", json!({"file_path": path}))])
}

fn local() -> CompactRequest {
    CompactRequest {
        local: true,
        ..CompactRequest::default()
    }
}

#[tokio::test]
async fn r1_a_file_is_not_restored_through_a_link_that_appeared_since_it_was_read() {
    let house = House::scripted(&[
        read("a.txt"),
        read("sub/id_rsa"),
        read("kept.txt"),
        long(),
        text("On."),
    ])
    .await;
    let ssh = key(&house, ".ssh/id_rsa", KEY);
    put(&house, "a.txt", "the first line of a\n");
    put(&house, "sub/id_rsa", "a harmless line\n");
    put(&house, "kept.txt", "the line that is kept\n");
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    say(&mut agent, &mut events, "Read them.").await;
    std::fs::remove_file(house.cwd().join("a.txt")).unwrap();
    symlink(&ssh, house.cwd().join("a.txt")).unwrap();
    std::fs::remove_dir_all(house.cwd().join("sub")).unwrap();
    symlink(ssh.parent().unwrap(), house.cwd().join("sub")).unwrap();
    agent.compact(local()).await.unwrap();
    say(&mut agent, &mut events, "Go on.").await;
    let sent = house.last_body()["messages"].to_string();
    assert!(sent.contains("the line that is kept"), "{sent}");
    assert!(!sent.contains(KEY), "{sent}");
}

#[tokio::test]
async fn r1_rules_are_asked_again_before_a_file_is_restored() {
    let house = House::scripted(&[
        read("secret/a.txt"),
        read("b.txt"),
        read("../outside.txt"),
        long(),
        text("On."),
    ])
    .await;
    put(&house, "secret/a.txt", "the word is sesame\n");
    put(&house, "b.txt", "the other word\n");
    let outside = house.folder.path().join("outside.txt");
    std::fs::write(outside, "a line from outside\n").unwrap();
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let yes = || Some(ApprovalAnswer::Once);
    work(&mut agent, &mut events, "Read them.", |_| {}, yes).await;
    agent.close(EndReason::Other).await;
    put(
        &house,
        ".claude/settings.json",
        r#"{"permissions": {"deny": ["Read(secret/**)"]}}"#,
    );
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::Continue).await;
    agent.compact(local()).await.unwrap();
    say(&mut agent, &mut events, "Go on.").await;
    let sent = house.last_body()["messages"].to_string();
    let restored = sent.matches("the other word").count();
    assert!(restored >= 1, "{sent}");
    assert_eq!(sent.matches("the word is sesame").count(), 0, "{sent}");
    assert!(
        !sent.contains("a line from outside"),
        "what was allowed once is not read again unasked: {sent}"
    );
}

#[tokio::test]
async fn settings_that_lead_out_of_the_project_wait_for_consent() {
    let house = House::scripted(&[text("Hello.")]).await;
    let text = r#"{"env": {"A": "1"}, "permissions": {"deny": ["Bash(x)"]}}"#;
    let shared = key(&house, "shared/settings.json", text);
    symlink(shared.parent().unwrap(), house.cwd().join(".claude")).unwrap();
    let place = ProjectSetup::open(
        &house.env(),
        &house.cwd(),
        SessionOverrides::default(),
        None,
    )
    .await;
    let said = place.unwrap().notices.join("\n");
    assert!(said.contains("NONE OF ITS RULES APPLY"), "{said}");
    let mut user = Says::yes();
    let place = workplace(&house, &mut user).await;
    assert!(
        user.asked
            .iter()
            .any(|it| it.ends_with("shared/settings.json"))
    );
    assert!(user.asked.iter().any(|it| it == "sets the variable A=1"));
    assert_eq!(place.project.rules.deny.len(), 1);
}
