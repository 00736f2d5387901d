//! Server-held threads.

use longhaul_sim::call::{ApiCall, ApiError};
use longhaul_sim::request::{ApiBlock, MessagesRequest};
use longhaul_sim::threads::{ThreadPolicy, ThreadTicket, Threads};
use longhaul_sim::validate::validate;
use serde_json::{Value, json};

use crate::support::{NEW, body, call, read, spec};

const MODEL: &str = "claude-opus-5-5";
const BETA: &str = "message-threads-2026-08-12";

fn caller() -> ApiCall {
    call(NEW, &[BETA, "context-management-2025-06-27"])
}

fn begin(
    threads: &mut Threads,
    more: Value,
    call: &ApiCall,
) -> Result<(MessagesRequest, ThreadTicket), ApiError> {
    let request = read(&body(MODEL, more).to_string(), call).unwrap();
    let (request, ticket) = threads.begin(request, call)?;
    validate(&request, &spec(MODEL), call).unwrap();
    Ok((request, ticket))
}

fn text(text: &str) -> Vec<ApiBlock> {
    vec![ApiBlock::made(json!({"type": "text", "text": text})).unwrap()]
}

fn said(request: &MessagesRequest) -> Vec<&str> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks
        .map(|block| {
            block
                .text("text")
                .or(block.text("name"))
                .unwrap_or("result")
        })
        .collect()
}

fn created(threads: &mut Threads, call: &ApiCall) {
    let tools = json!([{"name": "read", "input_schema": {"type": "object"}}]);
    let more = json!({"thread": {"type": "create"}, "system": "Be brief.", "tools": tools});
    let (request, ticket) = begin(threads, more, call).unwrap();
    threads.commit(ticket, &request, call, "msg_1", text("Hi."));
}

fn go_on(previous: &str, message: &str) -> Value {
    json!({
        "thread": {"type": "continue", "previous_message_id": previous},
        "messages": [{"role": "user", "content": message}],
    })
}

#[track_caller]
fn refused(
    result: Result<(MessagesRequest, ThreadTicket), ApiError>,
) -> (u16, &'static str, String) {
    let error = result.unwrap_err();
    (error.status, error.code.unwrap(), error.message)
}

#[test]
fn n8_a_thread_is_held_and_continued_with_only_what_is_new() {
    let (mut threads, call) = (Threads::new(ThreadPolicy::Hold), caller());
    created(&mut threads, &call);
    let (request, ticket) = begin(&mut threads, go_on("msg_1", "More"), &call).unwrap();
    assert_eq!(said(&request), ["Hello", "Hi.", "More"]);
    assert_eq!(request.system.len(), 1);
    assert_eq!(request.tools.len(), 1);
    threads.commit(ticket, &request, &call, "msg_2", text("Sure."));
    let (request, ticket) = begin(&mut threads, go_on("msg_2", "And more"), &call).unwrap();
    assert_eq!(
        said(&request),
        ["Hello", "Hi.", "More", "Sure.", "And more"]
    );
    threads.abandon(ticket);
}

#[test]
fn n8_the_result_of_a_call_in_the_held_reply_finds_its_call() {
    let (mut threads, call) = (Threads::new(ThreadPolicy::Hold), caller());
    let tools = json!([{"name": "read", "input_schema": {"type": "object"}}]);
    let more = json!({"thread": {"type": "create"}, "tools": tools});
    let (request, ticket) = begin(&mut threads, more, &call).unwrap();
    let reply = json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}});
    threads.commit(
        ticket,
        &request,
        &call,
        "msg_1",
        vec![ApiBlock::made(reply).unwrap()],
    );
    let more = json!({
        "thread": {"type": "continue", "previous_message_id": "msg_1"},
        "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]}],
    });
    let (request, ticket) = begin(&mut threads, more, &call).unwrap();
    assert_eq!(said(&request), ["Hello", "read", "result"]);
    threads.abandon(ticket);
}

#[test]
fn n8_markers_of_held_messages_do_not_pile_up() {
    let (mut threads, call) = (Threads::new(ThreadPolicy::Hold), caller());
    created(&mut threads, &call);
    for turn in 1..9 {
        let mut more = go_on(&format!("msg_{turn}"), "x");
        let content =
            json!([{"type": "text", "text": "More", "cache_control": {"type": "ephemeral"}}]);
        more["messages"][0]["content"] = content;
        let (request, ticket) = begin(&mut threads, more, &call).unwrap();
        threads.commit(
            ticket,
            &request,
            &call,
            &format!("msg_{}", turn + 1),
            text("Sure."),
        );
    }
}

#[test]
fn n8_a_thread_that_is_not_there_or_anothers_is_not_found() {
    let (mut threads, call) = (Threads::new(ThreadPolicy::Hold), caller());
    created(&mut threads, &call);
    let (status, code, _) = refused(begin(&mut threads, go_on("msg_9", "More"), &call));
    assert_eq!((status, code), (404, "thread_not_found"));
    let mut other = caller();
    other.key = "other".into();
    let (status, code, _) = refused(begin(&mut threads, go_on("msg_1", "More"), &other));
    assert_eq!((status, code), (404, "thread_not_found"));
}

#[test]
fn n8_a_reply_is_continued_once() {
    let (mut threads, call) = (Threads::new(ThreadPolicy::Hold), caller());
    created(&mut threads, &call);
    let (request, ticket) = begin(&mut threads, go_on("msg_1", "More"), &call).unwrap();
    let (status, code, _) = refused(begin(&mut threads, go_on("msg_1", "Twice"), &call));
    assert_eq!((status, code), (400, "thread_continue_in_flight"));
    threads.commit(ticket, &request, &call, "msg_2", text("Sure."));
    let (status, code, message) = refused(begin(&mut threads, go_on("msg_1", "Twice"), &call));
    assert_eq!((status, code), (400, "thread_already_continued"));
    assert!(message.contains("already been continued"), "{message}");
}

#[test]
fn n8_a_turn_that_failed_can_be_tried_again() {
    let (mut threads, call) = (Threads::new(ThreadPolicy::Hold), caller());
    created(&mut threads, &call);
    let (_, ticket) = begin(&mut threads, go_on("msg_1", "More"), &call).unwrap();
    threads.abandon(ticket);
    let (_, ticket) = begin(&mut threads, go_on("msg_1", "More"), &call).unwrap();
    threads.abandon(ticket);
}

#[test]
fn n8_what_the_thread_was_made_with_must_stay_the_same() {
    let (mut threads, call) = (Threads::new(ThreadPolicy::Hold), caller());
    created(&mut threads, &call);
    let mut more = go_on("msg_1", "More");
    more["system"] = json!([{"type": "text", "text": "Be brief."}]);
    let (_, ticket) = begin(&mut threads, more, &call).unwrap();
    threads.abandon(ticket);
    for (field, value) in [
        ("system", json!("Be long.")),
        (
            "tools",
            json!([{"name": "write", "input_schema": {"type": "object"}}]),
        ),
        ("output_config", json!({"effort": "low"})),
    ] {
        let mut more = go_on("msg_1", "More");
        more[field] = value;
        let (status, code, message) = refused(begin(&mut threads, more, &call));
        assert_eq!((status, code), (400, "thread_fingerprint_mismatch"));
        assert!(
            message.contains(&format!("differing field(s): {field}")),
            "{message}"
        );
    }
}

#[test]
fn n8_a_world_without_threads_says_so_with_the_code_clients_know() {
    let (mut threads, call) = (Threads::new(ThreadPolicy::Refuse), caller());
    for more in [
        json!({"thread": {"type": "create"}}),
        go_on("msg_1", "More"),
    ] {
        let (status, code, _) = refused(begin(&mut threads, more, &call));
        assert_eq!((status, code), (400, "thread_unsupported_request"));
    }
    assert!(matches!(
        begin(&mut threads, json!({}), &call),
        Ok((_, ThreadTicket::None))
    ));
}

#[test]
fn n8_what_threads_cannot_do_is_refused_with_the_same_code() {
    let (mut threads, call) = (Threads::new(ThreadPolicy::Hold), caller());
    let edits = json!({"edits": [{"type": "clear_tool_uses_20250919"}]});
    for (field, value) in [
        ("context_management", edits),
        ("cache_control", json!({"type": "ephemeral"})),
    ] {
        let mut more = json!({"thread": {"type": "create"}});
        more[field] = value;
        let (status, code, message) = refused(begin(&mut threads, more, &call));
        assert_eq!((status, code), (400, "thread_unsupported_request"));
        assert!(message.contains(field), "{message}");
    }
}

#[test]
fn n8_without_the_beta_the_field_is_unknown() {
    let call = call(NEW, &[]);
    let error = read(
        &body(MODEL, json!({"thread": {"type": "create"}})).to_string(),
        &call,
    )
    .unwrap_err();
    assert_eq!(error.message, "thread: Extra inputs are not permitted");
}
