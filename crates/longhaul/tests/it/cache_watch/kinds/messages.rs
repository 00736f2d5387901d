//! Changes of messages.

use longhaul_core::cache::{PresenceChange, RequestChange};
use serde_json::{Value, json};

use super::{BUDGETED, Kind, MESSAGES, SYSTEM_ROLE, is, kind};
use crate::cache_watch::session::{Session, as_blocks};

fn picture() -> Value {
    json!({ "type": "image", "source": { "type": "url", "url": "https://example.com/a.png" } })
}

pub(super) fn kinds() -> Vec<Kind> {
    vec![
        kind("old user message edited", MESSAGES, |s| {
            let at = s.early("user");
            let text = format!("{}!", as_blocks(&mut s.messages[at])[0]["text"].as_str().unwrap());
            as_blocks(&mut s.messages[at])[0]["text"] = json!(text);
        }, |_, words| words.contains(": message ") && words.contains("(user) edited")),
        kind("old reply edited", MESSAGES, |s| {
            let at = s.early("assistant");
            as_blocks(&mut s.messages[at])[0]["text"] = json!("Done.");
        }, |_, words| words.contains(": message ") && words.contains("(assistant) edited")),
        kind("the date in the first message", MESSAGES, |s| as_blocks(&mut s.messages[0])[0]["text"] = json!("Today is 2026-11-15."),
            |_, words| words.contains("message 0 (user) edited"))
            .prepared(|s| s.messages.push(json!({ "role": "user", "content": [{ "type": "text", "text": "Today is 2026-11-14." }] }))),
        kind("input of an old call in another order", MESSAGES, |s| {
            let call = s.messages[1]["content"].as_array().unwrap().iter().find(|block| block["type"] == "tool_use").unwrap();
            let (path, query) = (&call["input"]["path"], &call["input"]["query"]);
            s.replaced.push((format!("{{\"path\":{path},\"query\":{query}}}"), format!("{{\"query\":{query},\"path\":{path}}}")));
        }, |_, words| words.contains("message 1 (assistant) edited"))
            .prepared(|s| s.calls = Some(1)),
        kind("old result cleared", MESSAGES, |s| {
            let result = as_blocks(&mut s.messages[2]).iter_mut().find(|block| block["type"] == "tool_result").unwrap();
            result["content"] = json!("[cleared]");
        }, |_, words| words.contains("message 2 (user) edited"))
            .prepared(|s| s.calls = Some(1)),
        kind("two messages removed", MESSAGES, |s| { s.messages.drain(2..4); s.written = None; },
            |_, words| words.contains("message 2 (user) removed") && words.contains("message 3 (assistant) removed"))
            .prepared(|s| s.calls = Some(0)),
        kind("two messages inserted", MESSAGES, |s| {
            s.messages.insert(2, json!({ "role": "user", "content": "And?" }));
            s.messages.insert(3, json!({ "role": "assistant", "content": "Nothing." }));
            s.written = None;
        }, |_, words| words.contains("message 2 (user) inserted"))
            .prepared(|s| s.calls = Some(0)),
        kind("a system message inserted", MESSAGES, |s| {
            s.messages.insert(1, json!({ "role": "system", "content": "Mind the style guide." }));
            s.written = None;
        }, |_, words| words.contains("message 1 (system) inserted")).on(&SYSTEM_ROLE),
        kind("first image", MESSAGES, |s| {
            s.calls = Some(0);
            s.listen();
            as_blocks(s.messages.last_mut().unwrap()).push(picture());
            s.messages.push(json!({ "role": "assistant", "content": "I see." }));
        }, |cause, _| is(cause, |c| *c == RequestChange::Images(PresenceChange::On)))
            .prepared(|s| s.calls = Some(0)),
        kind("image removed", MESSAGES, |s| { as_blocks(&mut s.messages[0]).pop(); s.written = None; },
            |_, words| words.contains("image removed from message 0 (user)"))
            .prepared(first_with_picture),
        kind("image replaced by a text", MESSAGES, |s| {
            let block = as_blocks(&mut s.messages[0]).last_mut().unwrap();
            *block = json!({ "type": "text", "text": "[image]" });
        }, |_, words| words.contains("image removed from message 0 (user)"))
            .prepared(first_with_picture),
        kind("citations on", MESSAGES, |s| {
            s.calls = Some(0);
            s.listen();
            as_blocks(s.messages.last_mut().unwrap()).push(json!({
                "type": "document", "citations": { "enabled": true },
                "source": { "type": "text", "media_type": "text/plain", "data": "x" },
            }));
            s.messages.push(json!({ "role": "assistant", "content": "I read it." }));
        }, |cause, _| is(cause, |c| *c == RequestChange::Citations(PresenceChange::On)))
            .prepared(|s| s.calls = Some(0)),
        kind("a new turn drops earlier thinking", MESSAGES, |s| {
            s.calls = Some(0);
            let last = s.step();
            assert!(last.verdict.finding().is_none(), "{:?}", last.verdict);
        }, |cause, _| is(cause, |c| matches!(c, RequestChange::ThinkingDropped { message: 1 }))).on(&BUDGETED)
            .prepared(|s| {
                s.settings["thinking"] = json!({ "type": "enabled", "budget_tokens": 2_000 });
                s.calls = Some(1);
            }),
    ]
}

fn first_with_picture(session: &mut Session) {
    session.calls = Some(0);
    session.listen();
    as_blocks(&mut session.messages[0]).push(picture());
    session
        .messages
        .push(json!({ "role": "assistant", "content": "A picture." }));
}
