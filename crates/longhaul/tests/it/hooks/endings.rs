//! Hooks that behave badly. Each runs beside one that behaves, whose answer must arrive.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use longhaul::hooks::{
    CancellationToken, CommandHooks, HookEventName, HookFailure, HookResponse, HookShell, Hooks,
};
use serde_json::{Value, json};

use super::support::{
    Project, all_gone, aside, command, ends, exists, first_line, post_compact, post_tool_use,
    pre_compact,
};

/// The effect of one bad hook on the event, after its good neighbor was heard.
async fn beside_a_good_one(project: &Project, bad: Value) -> HookResponse {
    let hooks = project.hooks(
        HookEventName::PostCompact,
        json!([bad, command("echo good", 60.0)]),
    );
    let mut outcome = ends(hooks.run(&project.call(post_compact()))).await;
    assert_eq!(outcome.context.pop().as_deref(), Some("good"));
    outcome
}

async fn failure_of(bad: Value) -> HookFailure {
    let mut outcome = beside_a_good_one(&Project::new(), bad).await;
    let failure = outcome.errors.pop().expect("this hook fails").failure;
    assert_eq!(outcome, HookResponse::default());
    failure
}

#[tokio::test]
async fn k2_a_hook_that_does_not_exist_is_an_error() {
    let failure = failure_of(command("./absent.sh", 60.0)).await;
    assert!(
        matches!(failure, HookFailure::Exit { code: 127, ref stderr } if stderr.contains("absent.sh"))
    );
    let program = json!({"type": "command", "command": "./absent.sh", "args": []});
    assert_eq!(
        failure_of(program).await,
        HookFailure::NotStarted(io::ErrorKind::NotFound)
    );
    let nul = command("echo \u{0}", 60.0);
    assert_eq!(
        failure_of(nul).await,
        HookFailure::NotStarted(io::ErrorKind::InvalidInput)
    );
}

#[tokio::test]
async fn k2_a_hook_that_is_not_executable_is_an_error() {
    let project = Project::new();
    let script = project.write("hook.sh", "#!/bin/sh\necho hi\n");
    std::fs::set_permissions(script, PermissionsExt::from_mode(0o644)).unwrap();
    let outcome = beside_a_good_one(&project, command("./hook.sh", 60.0)).await;
    assert!(matches!(
        outcome.errors[0].failure,
        HookFailure::Exit { code: 126, .. }
    ));
    let program = json!({"type": "command", "command": "./hook.sh", "args": []});
    let outcome = beside_a_good_one(&project, program).await;
    assert_eq!(
        outcome.errors[0].failure,
        HookFailure::NotStarted(io::ErrorKind::PermissionDenied)
    );
}

#[tokio::test]
async fn k2_without_a_shell_every_hook_is_an_error() {
    let project = Project::new();
    let shell = HookShell {
        program: "./no-shell".into(),
        args: Vec::new(),
    };
    let hooks = project
        .lines(HookEventName::PreCompact, &["exit 2", "echo x"])
        .with_shell(shell);
    let outcome = ends(hooks.run(&project.call(pre_compact()))).await;
    assert_eq!(outcome.errors.len(), 2);
    assert_eq!(outcome.blocked, None);
}

#[tokio::test]
async fn k2_a_hook_that_dies_by_a_signal_is_an_error() {
    assert_eq!(
        failure_of(command("kill -KILL $$", 60.0)).await,
        HookFailure::Signal(9)
    );
    assert_eq!(
        failure_of(command("kill -TERM $$", 60.0)).await,
        HookFailure::Signal(15)
    );
}

#[tokio::test]
async fn k2_a_hook_may_leave_its_input_unread() {
    let project = Project::new();
    let event = || post_tool_use(json!("x".repeat(4 << 20)));
    for line in [
        "exit 2",
        "exec <&-; exit 2",
        "head -c 10 > /dev/null; exit 2",
    ] {
        let line = format!("echo seen >&2; {line}");
        let outcome = project.answer(event(), &[&line]).await;
        assert_eq!(
            outcome,
            HookResponse {
                context: vec!["seen".into()],
                ..HookResponse::default()
            }
        );
    }
    let outcome = project.answer(event(), &["wc -c >&2; exit 2"]).await;
    let read: usize = outcome.context[0].trim().parse().unwrap();
    assert!(read > 4 << 20, "one that reads gets all of it");
}

#[tokio::test]
async fn k2_a_hook_that_writes_without_end_is_killed() {
    let limit = HookFailure::TimedOut(Duration::from_secs(1));
    assert_eq!(failure_of(command("exec yes", 1.0)).await, limit);
    assert_eq!(failure_of(command("yes >&2 & exec yes", 1.0)).await, limit);
}

#[tokio::test]
async fn k2_a_hook_that_writes_far_too_much_is_read_to_its_end() {
    let line = "yes | head -c 30000000; yes | head -c 30000000 >&2";
    let outcome = beside_a_good_one(&Project::new(), command(line, 60.0)).await;
    assert_eq!(outcome.errors, []);
    assert!(
        outcome.context[0].len() < 3_000,
        "and only its beginning is shown"
    );
}

#[tokio::test]
async fn k2_output_that_is_no_text_is_replaced() {
    let outcome = Project::new()
        .answer(post_compact(), &["printf '\\377ok\\000\\303'"])
        .await;
    assert_eq!(outcome.context, ["\u{FFFD}ok\u{0}\u{FFFD}"]);
}

#[tokio::test]
async fn k2_what_a_hook_leaves_running_is_not_waited_for_and_not_killed() {
    let project = Project::new();
    let pipe = project.pipe("pipe");
    // It keeps stdout and stderr open until somebody writes to the pipe.
    let outcome = project
        .answer(post_compact(), &["cat pipe & echo done"])
        .await;
    assert_eq!(
        outcome,
        HookResponse {
            context: vec!["done".into()],
            ..HookResponse::default()
        }
    );
    // Opening succeeds because there is still a reader; closing lets it end.
    aside(move || std::fs::OpenOptions::new().write(true).open(pipe).unwrap()).await;
}

/// Keeps running with a child that does too, ignores SIGTERM and, once it runs, prints the hook's process id.
const STAYS: &str = "exec 9> pipe; \
    sh -c 'trap \"\" TERM; echo $0 >&9; while :; do sleep 1000; done' $$ & sleep 1000";

#[tokio::test]
async fn k2_after_the_timeout_the_hook_and_all_it_started_are_gone() {
    let project = Project::new();
    let pipe = project.pipe("pipe");
    let reader = tokio::spawn(first_line(pipe));
    let outcome = beside_a_good_one(&project, command(STAYS, 2.0)).await;
    assert_eq!(
        outcome.errors[0].failure,
        HookFailure::TimedOut(Duration::from_secs(2))
    );
    let (leader, pipe) = ends(reader).await.unwrap();
    assert!(!exists(&leader), "it was waited for: no zombie");
    all_gone(pipe).await;
}

async fn staying(project: &Project) -> (CommandHooks, std::path::PathBuf) {
    (
        project.lines(HookEventName::PreCompact, &[STAYS, "echo done"]),
        project.pipe("pipe"),
    )
}

#[tokio::test]
async fn k2_f8_after_cancelling_the_hook_and_all_it_started_are_gone() {
    let project = Project::new();
    let (hooks, pipe) = staying(&project).await;
    let cancel = CancellationToken::new();
    let call = project.call(pre_compact()).with_cancel(cancel.clone());
    let run = tokio::spawn(async move { hooks.run(&call).await });
    let (leader, pipe) = first_line(pipe).await;
    cancel.cancel();
    let outcome = ends(run).await.unwrap();
    assert!(outcome.cancelled);
    assert_eq!(outcome.errors, []);
    assert!(!exists(&leader), "it was waited for: no zombie");
    all_gone(pipe).await;
}

#[tokio::test]
async fn k2_f8_what_is_cancelled_before_it_starts_does_not_start() {
    let project = Project::new();
    let hooks = project.lines(HookEventName::PreCompact, &["touch started"]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = ends(hooks.run(&project.call(pre_compact()).with_cancel(cancel))).await;
    assert_eq!(
        outcome,
        HookResponse {
            cancelled: true,
            ..HookResponse::default()
        }
    );
    assert!(!project.path("started").exists());
}

#[tokio::test]
async fn k2_a_call_that_is_dropped_leaves_nothing_running() {
    let project = Project::new();
    let (hooks, pipe) = staying(&project).await;
    let call = project.call(pre_compact());
    let run = tokio::spawn(async move { hooks.run(&call).await });
    let (_, pipe) = first_line(pipe).await;
    run.abort();
    all_gone(pipe).await;
}
