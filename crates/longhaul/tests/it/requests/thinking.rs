//! Tests which thinking is sent again (N2).

use longhaul_core::message::Entry;
use longhaul_core::models::ThinkingBinding;
use longhaul_core::prompt::{PriorRendering, PushOutcome, RequestAssembly};
use serde_json::json;

use super::{MAIN, MODEL, begin, reply, talk, thought, user};
use crate::host::{head, raw, text};

#[test]
fn n2_foreign_thinking_is_stripped_where_it_may_be_bound() {
    for (binding, sent) in [
        (ThinkingBinding::None, 1),
        (ThinkingBinding::NewAccounts, 0),
        (ThinkingBinding::Always, 0),
    ] {
        let mut assembly = begin(
            PriorRendering::None,
            head(MODEL, None, "n2"),
            binding,
            &talk(),
        );
        let bytes = assembly.request(MAIN, None).unwrap().to_vec();
        let found = String::from_utf8(bytes)
            .unwrap()
            .matches("\"signature\"")
            .count();
        assert_eq!(found, sent, "{binding:?}");
        let stripped = assembly
            .prefix()
            .latched
            .thinking_stripped_through
            .as_deref();
        assert_eq!(stripped, (sent == 0).then_some("u3"));
    }
}

/// A rendering whose thinking is its own, on a model that binds it.
fn bound() -> (RequestAssembly, Vec<Entry>) {
    let mut assembly = begin(
        PriorRendering::None,
        head(MODEL, None, "n2"),
        ThinkingBinding::Always,
        &[],
    );
    for entry in talk() {
        assert_eq!(assembly.push(entry.view()), PushOutcome::Pushed);
        let _ = assembly.request(MAIN, None);
    }
    (assembly, talk())
}

#[test]
fn n2_thinking_that_stands_where_it_stood_is_kept_when_a_rendering_begins_anew() {
    let (old, entries) = bound();
    let new = begin(
        old.as_predecessor(),
        old.prefix().clone(),
        ThinkingBinding::Always,
        &entries[..4],
    );
    assert_eq!(new.prefix().latched.thinking_stripped_through, None);
}

#[test]
fn n2_thinking_is_stripped_when_anything_before_it_changed() {
    let (old, entries) = bound();
    let mut tools = old.prefix().clone();
    tools.tools = raw(&json!([]));
    let mut context = old.prefix().clone();
    context.user_context = None;
    for head in [tools, context] {
        let new = begin(
            old.as_predecessor(),
            head,
            ThinkingBinding::Always,
            &entries,
        );
        let stripped = new.prefix().latched.thinking_stripped_through.as_deref();
        assert_eq!(stripped, Some("u3"));
    }
    // An earlier message was removed.
    let new = begin(
        old.as_predecessor(),
        old.prefix().clone(),
        ThinkingBinding::Always,
        &entries[3..],
    );
    assert_eq!(
        new.prefix().latched.thinking_stripped_through.as_deref(),
        Some("u3")
    );
    // Where thinking is not bound, it stays.
    let mut tools = old.prefix().clone();
    tools.tools = raw(&json!([]));
    let new = begin(old.as_predecessor(), tools, ThinkingBinding::None, &entries);
    assert_eq!(new.prefix().latched.thinking_stripped_through, None);
    // Another model cannot be trusted to read it.
    let other = head("claude-sonnet-5", None, "n2");
    let new = begin(old.as_predecessor(), other, ThinkingBinding::None, &entries);
    assert_eq!(
        new.prefix().latched.thinking_stripped_through.as_deref(),
        Some("u3")
    );
}

#[test]
fn n2_what_was_stripped_once_stays_stripped_and_later_thinking_is_sent() {
    let entries = talk();
    let first = begin(
        PriorRendering::None,
        head(MODEL, None, "n2"),
        ThinkingBinding::Always,
        &entries,
    );
    let more = [
        reply("a3", json!([thought("new"), text("y is full.", None)])),
        user("u4", json!("Good.")),
    ];
    let mut first = first;
    for entry in &more {
        assert_eq!(first.push(entry.view()), PushOutcome::Pushed);
    }
    let thoughts = |assembly: &mut RequestAssembly| {
        let bytes = assembly.request(MAIN, None).unwrap().to_vec();
        String::from_utf8(bytes)
            .unwrap()
            .matches("\"signature\"")
            .count()
    };
    assert_eq!(thoughts(&mut first), 1);
    let all: Vec<Entry> = entries.into_iter().chain(more).collect();
    let mut settings = first.prefix().clone();
    settings.latched.thinking_stripped_through = None;
    let mut second = begin(
        first.as_predecessor(),
        settings,
        ThinkingBinding::Always,
        &all,
    );
    assert_eq!(
        second.prefix().latched.thinking_stripped_through.as_deref(),
        Some("u3")
    );
    assert_eq!(thoughts(&mut second), 1);
}
