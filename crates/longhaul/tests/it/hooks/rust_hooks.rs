//! Hooks written in Rust, alone and beside commands.

use std::sync::Arc;
use std::time::Duration;

use longhaul::hooks::fake::FakeHooks;
use longhaul::hooks::{
    CancellationToken, HookEventName, HookFailure, HookFuture, HookInvocation, HookReason,
    HookResponse, HookSet, Hooks,
};

use super::support::{Project, ends, post_compact, pre_compact};

struct Panics;

impl Hooks for Panics {
    fn run<'a>(&'a self, _: &'a HookInvocation) -> HookFuture<'a> {
        panic!("before there is a future")
    }
}

struct PanicsLater;

impl Hooks for PanicsLater {
    fn run<'a>(&'a self, _: &'a HookInvocation) -> HookFuture<'a> {
        Box::pin(async { panic!("within the future") })
    }
}

struct Hangs;

impl Hooks for Hangs {
    fn run<'a>(&'a self, _: &'a HookInvocation) -> HookFuture<'a> {
        Box::pin(std::future::pending())
    }
}

fn instructions(text: &str) -> HookResponse {
    HookResponse {
        instructions: vec![text.into()],
        ..HookResponse::default()
    }
}

#[tokio::test]
async fn k1_rust_hooks_and_commands_answer_together_in_their_order() {
    let project = Project::new();
    let fake =
        Arc::new(FakeHooks::default().answering(HookEventName::PreCompact, instructions("one")));
    let hooks = HookSet::new()
        .with("first", fake.clone())
        .with_commands(project.lines(HookEventName::PreCompact, &["echo two"]))
        .with(
            "third",
            Arc::new(
                FakeHooks::default().answering(HookEventName::PreCompact, instructions("three")),
            ),
        );
    let call = project.call(pre_compact());
    let outcome = ends(hooks.run(&call)).await;
    assert_eq!(outcome.instructions, ["one", "two", "three"]);
    assert_eq!(fake.calls(), [call.input]);
    assert_eq!(
        ends(hooks.run(&project.call(post_compact()))).await,
        HookResponse::default()
    );
    assert_eq!(
        fake.events(),
        [HookEventName::PreCompact, HookEventName::PostCompact]
    );
}

#[tokio::test]
async fn k2_a_rust_hook_that_panics_or_hangs_is_an_error_of_that_hook() {
    let project = Project::new();
    let limit = Duration::from_millis(50);
    let hooks = HookSet::new()
        .with("panics", Arc::new(Panics))
        .with("panics later", Arc::new(PanicsLater))
        .with_timeout("hangs", Arc::new(Hangs), limit)
        .with_commands(project.lines(HookEventName::PreCompact, &["echo heard"]));
    let outcome = ends(hooks.run(&project.call(pre_compact()))).await;
    assert_eq!(outcome.instructions, ["heard"]);
    let failures: Vec<_> = outcome
        .errors
        .iter()
        .map(|e| (e.hook.as_str(), &e.failure))
        .collect();
    assert_eq!(
        failures,
        [
            ("panics", &HookFailure::Panicked),
            ("panics later", &HookFailure::Panicked),
            ("hangs", &HookFailure::TimedOut(limit)),
        ]
    );
}

#[tokio::test]
async fn k2_f8_a_rust_hook_that_hangs_is_left_when_the_call_is_cancelled() {
    let project = Project::new();
    let cancel = CancellationToken::new();
    let hooks = HookSet::new().with("hangs", Arc::new(Hangs));
    let call = project.call(pre_compact()).with_cancel(cancel.clone());
    let run = tokio::spawn(async move { hooks.run(&call).await });
    cancel.cancel();
    assert!(ends(run).await.unwrap().cancelled);
}

#[tokio::test]
async fn k2_a_rust_hook_cannot_do_what_the_event_cannot() {
    let project = Project::new();
    let reason = HookReason {
        hook: "rust".into(),
        text: "no".into(),
    };
    let all = HookResponse {
        blocked: Some(reason.clone()),
        stop: Some(reason.clone()),
        context: vec!["c".repeat(10_001)],
        instructions: vec!["i".into()],
        ..HookResponse::default()
    };
    let fake = FakeHooks::default()
        .answering(HookEventName::PreCompact, all.clone())
        .answering(HookEventName::PostCompact, all);
    let hooks = HookSet::new().with("rust", Arc::new(fake));
    let outcome = ends(hooks.run(&project.call(pre_compact()))).await;
    assert_eq!(
        outcome,
        HookResponse {
            blocked: Some(reason),
            instructions: vec!["i".into()],
            ..HookResponse::default()
        }
    );
    let outcome = ends(hooks.run(&project.call(post_compact()))).await;
    assert_eq!((outcome.blocked, outcome.stop), (None, None));
    assert_eq!(outcome.messages, ["no"]);
    assert!(outcome.context[0].len() < 3_000 && outcome.instructions.is_empty());
}
