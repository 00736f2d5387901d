//! An agent with a screen as its client: the requests it gets, and the queries that are answered while it works.

use std::sync::Arc;

use longhaul::EconomyPolicy;
use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::{AgentEvent, ApprovalAnswer};
use longhaul_agent::files::ConflictPolicy;
use longhaul_agent::host::AgentHost;
use longhaul_agent::screen::{
    CompactionReply, CompactionRequest, CompactionStep, HostRefusal, HostRequest, ReplySender,
    RewindRequest, RewindScope, ScreenHost, SessionPage, TranscriptKind,
};
use longhaul_core::models::ModelTable;
use serde_json::json;
use tokio::sync::oneshot;

use super::{Says, open, put, workplace};
use crate::agent::house::{House, calls, long, text};

async fn ask<T>(
    host: &AgentHost,
    ask: impl FnOnce(ReplySender<T>) -> HostRequest,
) -> Result<T, HostRefusal> {
    let (reply, answer) = oneshot::channel();
    host.ask(ask(reply));
    answer.await.unwrap()
}

async fn host(house: &House) -> AgentHost {
    let place = workplace(house, &mut Says::yes()).await;
    let (agent, mut events) = open(house, &place, SessionChoice::New).await;
    tokio::spawn(async move { while events.recv().await.is_some() {} });
    AgentHost::start(
        agent,
        Arc::clone(&place),
        house.env(),
        ModelTable::builtin(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn q3_all_that_a_screen_asks_for_is_answered() {
    let house = House::scripted(&[
        calls(&[("Read", json!({"file_path": "a.txt"}))]),
        long(),
        text("Reviewed."),
        text("On."),
    ])
    .await;
    put(&house, "a.txt", "the only line\n");
    put(&house, ".claude/commands/review.md", "Review $ARGUMENTS.\n");
    put(
        &house,
        ".claude/settings.json",
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
    );
    let host = host(&house).await;
    // There are no messages yet, but the request prefix is there already.
    let empty = ask(&host, HostRequest::Context).await.unwrap();
    assert!(empty.categories.system_prompt > 0 && empty.categories.tools > 0);
    let none = ask(&host, HostRequest::Messages).await.unwrap();
    assert!(none.messages.is_empty() && !none.can_undo);
    let none = ask(&host, |reply| HostRequest::Report(None, reply)).await;
    assert!(none.unwrap_err().0.contains("/compact"));

    ask(&host, |reply| {
        HostRequest::Prompt("Read a.txt".to_owned(), reply)
    })
    .await
    .unwrap();
    ask(&host, |reply| HostRequest::Command {
        name: "review".to_owned(),
        arguments: "it all".to_owned(),
        reply,
    })
    .await
    .unwrap();
    let messages = ask(&host, HostRequest::Messages).await.unwrap().messages;
    let lines: Vec<&str> = messages.iter().map(|it| it.line.as_str()).collect();
    assert_eq!(lines, ["Read a.txt", "/review it all"]);
    let full = ask(&host, HostRequest::Context).await.unwrap();
    assert!(full.categories.tool_results > 0 && full.categories.assistant_messages > 0);
    assert_eq!(
        ask(&host, HostRequest::Hooks).await.unwrap()[0].event,
        "Stop"
    );
    assert_eq!(
        ask(&host, HostRequest::Commands).await.unwrap()[0].name,
        "review"
    );
    assert!(
        ask(&host, HostRequest::Models)
            .await
            .unwrap()
            .iter()
            .any(|it| it.current)
    );
    assert_eq!(ask(&host, HostRequest::Sessions).await.unwrap().len(), 1);
    let cost = ask(&host, HostRequest::Cost).await.unwrap();
    assert_eq!(cost.lines[0].name, "replies");
    assert!(cost.total.unwrap().pico() > 0);
    assert_eq!(cost.economy, EconomyPolicy::Clear, "the default (V5)");
    let full = |reply| HostRequest::SetEconomy(EconomyPolicy::Full, reply);
    ask(&host, full).await.unwrap();
    let cost = ask(&host, HostRequest::Cost).await.unwrap();
    assert_eq!(cost.economy, EconomyPolicy::Full);

    let shown = ask(&host, |reply| {
        HostRequest::Compact(CompactionRequest::default(), reply)
    })
    .await;
    let CompactionReply::Preview(preview) = shown.unwrap() else {
        panic!("no preview");
    };
    let approved = CompactionRequest {
        step: CompactionStep::Approved(preview.summary),
        ..CompactionRequest::default()
    };
    ask(&host, |reply| HostRequest::Compact(approved, reply))
        .await
        .unwrap();
    let report = ask(&host, |reply| HostRequest::Report(None, reply))
        .await
        .unwrap();
    assert!(report.contains("Tokens"), "{report}");
    let items = ask(&host, HostRequest::Transcript).await.unwrap();
    let has = |kind: TranscriptKind| items.iter().any(|item| item.kind == kind);
    assert!(has(TranscriptKind::Boundary) && has(TranscriptKind::Summary));
    assert!(has(TranscriptKind::Result { is_error: false }));
    let undone = ask(&host, HostRequest::UndoCompaction).await.unwrap();
    assert!(undone.contains("undone"), "{undone}");
    let back = RewindRequest {
        uuid: messages[1].uuid.clone(),
        scope: RewindScope::Conversation,
        conflicts: ConflictPolicy::Leave,
    };
    let said = ask(&host, |reply| HostRequest::Rewind(back, reply))
        .await
        .unwrap();
    assert_eq!(said.text.as_deref(), Some("/review it all"));
    ask(&host, |reply| {
        HostRequest::Prompt("Another way".to_owned(), reply)
    })
    .await
    .unwrap();
    let first = ask(&host, HostRequest::Sessions).await.unwrap()[0]
        .id
        .clone();
    ask(&host, HostRequest::Clear).await.unwrap();
    ask(&host, |reply| HostRequest::Resume(first, reply))
        .await
        .unwrap();
    let gone = ask(&host, |reply| {
        HostRequest::Resume("nobody".to_owned(), reply)
    })
    .await;
    assert!(gone.unwrap_err().0.contains("nobody"));
    host.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn q3_who_looks_is_answered_while_a_call_runs_and_a_stop_ends_it() {
    let house = House::scripted(&[
        calls(&[("Bash", json!({"command": "touch begun; sleep 600"}))]),
        text("Never said."),
    ])
    .await;
    put(
        &house,
        ".claude/settings.local.json",
        r#"{"permissions": {"allow": ["Bash"]}}"#,
    );
    let host = host(&house).await;
    let (reply, answer) = oneshot::channel();
    host.ask(HostRequest::Prompt("Sleep.".to_owned(), reply));
    while !house.cwd().join("begun").exists() {
        tokio::task::yield_now().await;
    }
    let items = ask(&host, HostRequest::Transcript).await.unwrap();
    assert!(
        items
            .iter()
            .any(|item| matches!(item.kind, TranscriptKind::Call { .. }))
    );
    assert!(ask(&host, HostRequest::Context).await.is_ok());
    host.cancel();
    answer.await.unwrap().unwrap();
    let items = ask(&host, HostRequest::Transcript).await.unwrap();
    assert!(
        items
            .iter()
            .any(|item| item.kind == TranscriptKind::Notice && item.text == "stopped"),
        "{items:?}"
    );
    host.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn q3_what_the_user_runs_and_types_is_kept_and_shown_as_it_was_typed() {
    let house = House::scripted(&[text("Five."), text("Tidied.")]).await;
    put(&house, ".claude/commands/tidy.md", "Tidy up $ARGUMENTS.\n");
    put(&house, "notes.txt", "one\ntwo\n");
    let screen = host(&house).await;
    let ran = ask(&screen, |reply| {
        HostRequest::Shell("seq 100000; exit 3".to_owned(), reply)
    });
    let ran = ran.await.unwrap();
    assert_eq!((ran.lines, ran.line.as_str()), (100_000, "exit code 3"));
    assert!(!ran.output.contains("Exit code"), "it is said once");
    // The user leaves before the next prompt.
    screen.finish().await;
    let place = workplace(&house, &mut Says::yes()).await;
    let (agent, mut events) = open(&house, &place, SessionChoice::Continue).await;
    tokio::spawn(async move { while events.recv().await.is_some() {} });
    let screen = AgentHost::start(agent, place, house.env(), ModelTable::builtin());
    let words = "How many, and what is in @notes.txt and @src?".to_owned();
    std::fs::create_dir(house.cwd().join("src")).unwrap();
    put(&house, "src/a.rs", "");
    ask(&screen, |reply| HostRequest::Prompt(words, reply))
        .await
        .unwrap();
    let sent = house.last_body()["messages"].to_string();
    assert!(
        sent.contains("<bash-input>seq 100000; exit 3</bash-input>"),
        "{sent}"
    );
    assert!(sent.contains("a.rs"), "the folder's listing: {sent}");
    ask(&screen, |reply| HostRequest::Command {
        name: "tidy".to_owned(),
        arguments: "now".to_owned(),
        reply,
    })
    .await
    .unwrap();
    assert!(
        house.last_body()["messages"]
            .to_string()
            .contains("Tidy up now.")
    );
    let items = ask(&screen, HostRequest::Transcript).await.unwrap();
    let kinds: Vec<(&TranscriptKind, &str)> = items
        .iter()
        .map(|item| (&item.kind, item.text.as_str()))
        .collect();
    assert_eq!(kinds[0], (&TranscriptKind::Shell, "seq 100000; exit 3"));
    assert!(matches!(kinds[1].0, TranscriptKind::Output));
    assert!(
        kinds.contains(&(&TranscriptKind::User, "/tidy now")),
        "{kinds:?}"
    );
    let file = TranscriptKind::Attachment("file notes.txt, 2 lines".to_owned());
    assert!(kinds.contains(&(&file, "")), "{kinds:?}");
    let folder = TranscriptKind::Attachment("folder src".to_owned());
    assert!(kinds.contains(&(&folder, "")), "{kinds:?}");
    let sessions = ask(&screen, HostRequest::Sessions).await.unwrap();
    assert!(sessions[0].title.starts_with("How many"), "{sessions:?}");
    screen.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn q3_the_rules_that_hold_now_are_listed() {
    let turns = [
        calls(&[("Bash", json!({"command": "npm ci && npm test"}))]),
        text("Done."),
    ];
    let house = House::scripted(&turns).await;
    let place = workplace(&house, &mut Says::yes()).await;
    let (agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let told = tokio::spawn(async move {
        let mut told = Vec::new();
        while let Some(event) = events.recv().await {
            match event {
                AgentEvent::Asks(question) => {
                    told.push(question.reason.clone());
                    question.answer.send(ApprovalAnswer::Project).unwrap();
                }
                AgentEvent::Notice(text) => told.push(text),
                _ => {}
            }
        }
        told
    });
    let screen = AgentHost::start(agent, place, house.env(), ModelTable::builtin());
    ask(&screen, |reply| {
        HostRequest::Prompt("Go.".to_owned(), reply)
    })
    .await
    .unwrap();
    let page = |reply| HostRequest::Page(SessionPage::Permissions, reply);
    let page = ask(&screen, page).await.unwrap();
    assert!(page.contains("  Bash(npm ci && npm test)\n"), "{page}");
    assert!(
        page.contains("“yes, and for this project” writes to "),
        "{page}"
    );
    screen.finish().await;
    drop(screen);
    let told = told.await.unwrap().join("\n");
    assert!(
        told.contains("No rule allows these parts of it: npm ci; npm test"),
        "{told}"
    );
    assert!(
        told.contains("allowed for this project: Bash(npm ci && npm test)"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn y6_a_resumed_session_knows_what_the_preview_of_its_summary_has_cost() {
    let house = House::scripted(&[long(), long()]).await;
    let screen = host(&house).await;
    for words in ["Tell me something.", "And more."] {
        let words = words.to_owned();
        ask(&screen, |reply| HostRequest::Prompt(words, reply))
            .await
            .unwrap();
    }
    let request = CompactionRequest::default();
    let shown = ask(&screen, |reply| HostRequest::Compact(request, reply)).await;
    let CompactionReply::Preview(preview) = shown.unwrap() else {
        panic!("no preview");
    };
    let approved = CompactionRequest {
        step: CompactionStep::Approved(preview.summary),
        ..CompactionRequest::default()
    };
    ask(&screen, |reply| HostRequest::Compact(approved, reply))
        .await
        .unwrap();
    let spent = ask(&screen, HostRequest::Cost).await.unwrap();
    screen.finish().await;
    let place = workplace(&house, &mut Says::yes()).await;
    let (agent, _events) = open(&house, &place, SessionChoice::Continue).await;
    // The file is read beside everything else.
    while agent.handle().spent().1.unwrap().usage.output == 0 {
        tokio::task::yield_now().await;
    }
    let after = agent.handle().spent().1.unwrap().cost.unwrap().to_f64();
    let before = spent.total.unwrap().to_f64();
    assert!((after - before).abs() < 1e-6, "{after} and {before}");
    agent.close(longhaul::hooks::EndReason::Other).await;
}
