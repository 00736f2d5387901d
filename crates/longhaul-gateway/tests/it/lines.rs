//! Which branch a request continues, case by case.

use longhaul_gateway::branch::{
    BranchIds, BranchIndex, BranchPlacement, BranchRecognizer, BranchRelation, GatewaySessionId,
    HistoryKey, RecognitionRequest, Tenant,
};
use longhaul_provider::Dialect;
use serde_json::{Value, json};

/// The key that histories are hashed with.
pub(crate) fn key() -> HistoryKey {
    HistoryKey::new([7; 32])
}

pub(crate) struct Bench {
    pub(crate) recognizer: BranchRecognizer,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            recognizer: BranchRecognizer::new(BranchIndex::new(BranchIds::new(1), 1_000), key()),
        }
    }

    pub(crate) fn place_raw(&self, tenant: u64, dialect: Dialect, body: &str) -> BranchPlacement {
        let request = RecognitionRequest {
            tenant: Tenant(tenant),
            dialect,
            body: body.as_bytes(),
        };
        let recognized = self.recognizer.read(request).unwrap();
        self.recognizer.place(request, &recognized, None)
    }

    pub(crate) fn place(&self, messages: &Value) -> BranchPlacement {
        self.place_raw(1, Dialect::Anthropic, &super::support::body(messages))
    }
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn model(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

#[test]
fn x8_a_conversation_that_goes_on_is_one_line() {
    let bench = Bench::new();
    let first = bench.place(&json!([user("a")]));
    assert_eq!(first.relation, BranchRelation::New);
    let second = bench.place(&json!([user("a"), model("b"), user("c")]));
    assert_eq!(second.relation, BranchRelation::Extends(1));
    assert_eq!(second.line, first.line);
    let again = bench.place(&json!([user("a"), model("b"), user("c")]));
    assert_eq!(
        (again.line, again.relation),
        (first.line, BranchRelation::Again)
    );
    let third = bench.place(&json!([
        user("a"),
        model("b"),
        user("c"),
        model("d"),
        user("e")
    ]));
    assert_eq!(
        (third.line, third.relation),
        (first.line, BranchRelation::Extends(3))
    );
}

#[test]
fn x8_a_branch_is_its_own_line_of_the_same_session() {
    let bench = Bench::new();
    let trunk = bench.place(&json!([user("a"), model("b"), user("c")]));
    bench.place(&json!([
        user("a"),
        model("b"),
        user("c"),
        model("d"),
        user("e")
    ]));
    let branch = bench.place(&json!([
        user("a"),
        model("b"),
        user("c"),
        model("other"),
        user("f")
    ]));
    assert_eq!(branch.relation, BranchRelation::Branches(trunk.line, 3));
    assert_ne!(branch.line, trunk.line);
    assert_eq!(branch.session, trunk.session);
    // Both continue separately.
    let trunk_on = bench.place(&json!([
        user("a"),
        model("b"),
        user("c"),
        model("d"),
        user("e"),
        model("g"),
        user("h")
    ]));
    assert_eq!(
        (trunk_on.line, trunk_on.relation),
        (trunk.line, BranchRelation::Extends(5))
    );
    let branch_on = bench.place(&json!([
        user("a"),
        model("b"),
        user("c"),
        model("other"),
        user("f"),
        model("g"),
        user("h")
    ]));
    assert_eq!(
        (branch_on.line, branch_on.relation),
        (branch.line, BranchRelation::Extends(5))
    );
}

#[test]
fn x8_going_back_is_the_same_line_until_something_else_is_said() {
    let bench = Bench::new();
    let trunk = bench.place(&json!([user("a"), model("b"), user("c")]));
    bench.place(&json!([
        user("a"),
        model("b"),
        user("c"),
        model("d"),
        user("e")
    ]));
    let retry = bench.place(&json!([user("a"), model("b"), user("c")]));
    assert_eq!(
        (retry.line, retry.relation),
        (trunk.line, BranchRelation::Again)
    );
    assert_eq!(retry.stands.messages, 5, "the line stands where it stood");
    let on = bench.place(&json!([
        user("a"),
        model("b"),
        user("c"),
        model("x"),
        user("y")
    ]));
    assert_eq!(on.relation, BranchRelation::Branches(trunk.line, 3));
}

#[test]
fn x8_a_trimmed_or_edited_history_is_a_new_line() {
    let bench = Bench::new();
    let long = json!([user("a"), model("b"), user("c"), model("d"), user("e")]);
    let line = bench.place(&long);
    let trimmed = bench.place(&json!([user("c"), model("d"), user("e")]));
    assert_eq!(trimmed.relation, BranchRelation::New);
    let edited = bench.place(&json!([
        user("A"),
        model("b"),
        user("c"),
        model("d"),
        user("e"),
        model("f"),
        user("g")
    ]));
    assert_eq!(edited.relation, BranchRelation::New);
    assert!(trimmed.line != line.line && edited.line != line.line && trimmed.line != edited.line);
}

#[test]
fn x8_a_common_opening_is_no_common_history() {
    let bench = Bench::new();
    let one = bench.place(&json!([user("hi")]));
    bench.place(&json!([user("hi"), model("hello"), user("fix it")]));
    let other = bench.place(&json!([user("hi"), model("hey"), user("write it")]));
    assert_eq!(other.relation, BranchRelation::New);
    assert_ne!(other.session, one.session);
}

#[test]
fn x8_nothing_of_one_tenant_is_known_to_another() {
    let bench = Bench::new();
    let body = super::support::body(&json!([user("a"), model("b"), user("c")]));
    let mine = bench.place_raw(1, Dialect::Anthropic, &body);
    let theirs = bench.place_raw(2, Dialect::Anthropic, &body);
    assert_eq!(theirs.relation, BranchRelation::New);
    assert_ne!((mine.line, mine.session), (theirs.line, theirs.session));
}

#[test]
fn x8_a_long_history_is_known_by_its_bytes_and_only_the_rest_is_read() {
    let bench = Bench::new();
    let mut messages = Vec::new();
    for turn in 0..40 {
        messages.push(user(&format!("question {turn} {}", "x".repeat(400))));
        messages.push(model(&format!("answer {turn}")));
    }
    messages.push(user("last"));
    let body = super::support::body(&json!(messages));
    let line = bench.place_raw(1, Dialect::Anthropic, &body).line;
    // The breakpoint moves: the block that had it has different bytes now, but is the same message.
    let bytes = messages.len();
    messages[bytes - 1] = json!({"role": "user", "content": [{"type": "text", "text": "last"}]});
    messages.push(model("yes"));
    messages.push(json!({"role": "user", "content": [{"type": "text", "text": "more", "cache_control": {"type": "ephemeral"}}]}));
    let body = super::support::body(&json!(messages));
    let request = RecognitionRequest {
        tenant: Tenant(1),
        dialect: Dialect::Anthropic,
        body: body.as_bytes(),
    };
    let recognized = bench.recognizer.read(request).unwrap();
    assert!(
        recognized.known_bytes > body.len() * 9 / 10,
        "{} of {}",
        recognized.known_bytes,
        body.len()
    );
    assert_eq!(recognized.outline.elements.len(), 3);
    let placed = bench.recognizer.place(request, &recognized, None);
    assert_eq!(
        (placed.line, placed.relation),
        (line, BranchRelation::Extends(81))
    );
}

#[test]
fn x8_messages_of_chat_completions_are_told_apart_by_what_stands_beside_the_content() {
    let bench = Bench::new();
    let call = |id: &str| json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let place =
        |messages: Value| bench.place_raw(1, Dialect::OpenAi, &super::support::body(&messages));
    let system = json!({"role": "system", "content": "be brief"});
    let first = place(
        json!([system, user("a"), call("1"), {"role": "tool", "tool_call_id": "1", "content": "r"}]),
    );
    let other = place(
        json!([system, user("a"), call("2"), {"role": "tool", "tool_call_id": "2", "content": "r"}]),
    );
    assert_ne!(first.line, other.line);
    let developer = json!({"role": "developer", "content": "be long"});
    let mut known = call("1");
    known["refusal"] = Value::Null;
    let on = place(
        json!([developer, user("a"), known, {"role": "tool", "tool_call_id": "1", "content": "r"}, model("b"), user("c")]),
    );
    assert_eq!(on.line, first.line);
}

#[test]
fn x8_lines_from_the_store_go_on() {
    let bench = Bench::new();
    let messages = json!([user("a"), model("b"), user("c")]);
    let body = super::support::body(&messages);
    let request = RecognitionRequest {
        tenant: Tenant(1),
        dialect: Dialect::Anthropic,
        body: body.as_bytes(),
    };
    let chain = bench.recognizer.read(request).unwrap().chain;
    let before = bench.place(&messages);
    let later = Bench::new();
    later.recognizer.with_branches(|lines| {
        lines.restore(&longhaul_gateway::branch::RestoredBranch {
            tenant: Tenant(1),
            line: before.line,
            session: GatewaySessionId(7),
            chain,
            last_used: None,
        });
    });
    let on = later.place(&json!([
        user("a"),
        model("b"),
        user("c"),
        model("d"),
        user("e")
    ]));
    assert_eq!(
        (on.line, on.session, on.relation),
        (before.line, GatewaySessionId(7), BranchRelation::Extends(3))
    );
}

#[test]
fn x8_lines_that_go_over_to_an_organization_go_on_there() {
    let bench = Bench::new();
    let before = bench.place(&json!([user("a"), model("b"), user("c")]));
    bench
        .recognizer
        .with_branches(|lines| lines.adopt(Tenant(1), Tenant(9)));
    let body = super::support::body(&json!([
        user("a"),
        model("b"),
        user("c"),
        model("d"),
        user("e")
    ]));
    let on = bench.place_raw(9, Dialect::Anthropic, &body);
    assert_eq!(
        (on.line, on.relation),
        (before.line, BranchRelation::Extends(3))
    );
    assert_eq!(
        bench.place_raw(1, Dialect::Anthropic, &body).relation,
        BranchRelation::New
    );
}

#[test]
fn x8_the_oldest_line_is_forgotten_when_there_is_no_room() {
    let recognizer = BranchRecognizer::new(BranchIndex::new(BranchIds::new(1), 3), key());
    let bench = Bench { recognizer };
    for number in 0..10 {
        bench.place(&json!([user(&format!("conversation {number}"))]));
    }
    assert_eq!(bench.recognizer.with_branches(|lines| lines.len()), 3);
    assert_eq!(
        bench.place(&json!([user("conversation 9")])).relation,
        BranchRelation::Again
    );
    assert_eq!(
        bench.place(&json!([user("conversation 0")])).relation,
        BranchRelation::New
    );
}
