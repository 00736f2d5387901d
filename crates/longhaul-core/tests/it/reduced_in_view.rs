//! Tests which form of a reduced result is in view (V8): the smaller one as long as the result that it refers to is there,
//! else the original.

use longhaul_core::message::{Entry, Id, ReductionChange, ReductionStanding, SentForm};
use longhaul_core::tokens::{EntryStanding, TokenLedger};
use serde_json::{Value, json};

fn entry(line: &Value) -> Entry {
    Entry::read(line.to_string().into()).unwrap()
}

fn call(ids: &[&str]) -> Entry {
    let calls: Vec<Value> = (ids.iter())
        .map(|id| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}}))
        .collect();
    entry(
        &json!({"type": "assistant", "uuid": format!("a-{}", ids[0]), "message": {"id": format!("m-{}", ids[0]),
        "role": "assistant", "model": "m", "content": calls}}),
    )
}

/// An entry with these results, the calls among them that failed, and records of smaller forms: the call, what it refers
/// to, and its text.
fn results(ids: &[&str], failed: &[&str], records: &[(&str, Option<&str>, &str)]) -> Entry {
    let blocks: Vec<Value> = (ids.iter())
        .map(|id| {
            json!({"type": "tool_result", "tool_use_id": id, "content": "a long output ".repeat(100),
                "is_error": failed.contains(id)})
        })
        .collect();
    let records: Vec<Value> = (records.iter())
        .map(|(id, base, text)| {
            json!({"tool_use_id": id, "kind": "same", "refers_to": base, "content": text})
        })
        .collect();
    entry(
        &json!({"type": "user", "uuid": format!("u-{}", ids[0]), "reducedResults": records,
        "message": {"role": "user", "content": blocks}}),
    )
}

fn cleared(ids: &[&str]) -> Entry {
    entry(
        &json!({"type": "system", "subtype": "microcompact_boundary", "uuid": format!("c-{}", ids[0]),
        "microcompactMetadata": {"compactedToolIds": ids, "clearedAttachmentUUIDs": []}}),
    )
}

fn standing(entries: &[Entry]) -> ReductionStanding {
    let mut standing = ReductionStanding::default();
    for entry in entries {
        standing.entry(entry.view());
    }
    standing
}

/// A result, and a second one that refers to it.
fn pair() -> Vec<Entry> {
    vec![
        call(&["t1"]),
        results(&["t1"], &[], &[]),
        call(&["t2"]),
        results(&["t2"], &[], &[("t2", Some("t1"), "as before")]),
    ]
}

fn form(standing: &ReductionStanding, id: &str) -> Option<SentForm> {
    standing.form(Id::of(id))
}

#[test]
fn v8_a_reduced_result_is_sent_in_its_smaller_form_and_counts_as_that() {
    let standing = standing(&pair());
    assert_eq!(form(&standing, "t1"), Some(SentForm::Original));
    assert_eq!(form(&standing, "t2"), Some(SentForm::Reduced));
    assert!(standing.is_whole(Id::of("t1")) && !standing.is_whole(Id::of("t2")));
    assert!(standing.is_referred_to(Id::of("t1")));
    assert!(!standing.is_referred_to(Id::of("t2")));
    let size = |entries: &[Entry]| {
        let mut ledger = TokenLedger::new();
        for entry in entries {
            ledger.entry(entry.view(), EntryStanding::Live);
        }
        ledger.whole().unpadded()
    };
    let mut whole = pair();
    whole[3] = results(&["t2"], &[], &[]);
    assert!(size(&pair()) + 300 < size(&whole));
}

#[test]
fn v8_a_record_belongs_to_the_result_of_its_own_call() {
    let entry = results(
        &["t2", "t3"],
        &["t2"],
        &[("t3", Some("t1"), "as before"), ("t2", Some("t1"), "no")],
    );
    let reduced = entry.view().reductions();
    let calls: Vec<Id> = reduced.iter().map(|one| one.call).collect();
    assert_eq!(
        calls,
        [Id::of("t3")],
        "a result that failed is never made smaller"
    );
    assert_eq!(reduced[0].literal, b"as before");
}

#[test]
fn v8_without_the_result_that_it_refers_to_a_result_is_sent_as_it_came() {
    let mut standing = standing(&pair());
    let changes = standing.entry(cleared(&["t1"]).view());
    let original = ReductionChange {
        call: Id::of("t2"),
        sent: SentForm::Original,
    };
    assert_eq!(changes, [original]);
    assert_eq!(form(&standing, "t1"), None);
    assert_eq!(form(&standing, "t2"), Some(SentForm::Original));
    assert!(standing.is_whole(Id::of("t2")), "it stands for both");
    assert!(!standing.is_referred_to(Id::of("t1")));
}

#[test]
fn v8_of_several_results_that_lost_what_they_refer_to_the_newest_stands_for_all() {
    let mut entries = pair();
    entries.push(call(&["t3"]));
    entries.push(results(&["t3"], &[], &[("t3", Some("t1"), "as before")]));
    entries.push(cleared(&["t1"]));
    let mut standing = standing(&entries);
    assert_eq!(form(&standing, "t2"), Some(SentForm::Reduced));
    assert_eq!(form(&standing, "t3"), Some(SentForm::Original));
    standing.entry(cleared(&["t3"]).view());
    assert_eq!(form(&standing, "t2"), Some(SentForm::Original));
}

#[test]
fn v8_a_result_is_in_view_if_its_call_is_and_if_it_was_not_cleared() {
    let [_, result, ..] = &pair()[..] else {
        unreachable!("four entries");
    };
    let alone = standing(std::slice::from_ref(result));
    assert_eq!(form(&alone, "t1"), None, "its call is not in view");
    assert!(!alone.is_whole(Id::of("t1")));
    let gone = standing(&[call(&["t1"]), cleared(&["t1"]), result.clone()]);
    assert_eq!(form(&gone, "t1"), None, "it was cleared before it came");
    let mut second = pair();
    second.push(cleared(&["t2"]));
    let second = standing(&second);
    assert_eq!(form(&second, "t2"), None);
    assert!(
        !second.is_referred_to(Id::of("t1")),
        "nothing in view refers to it"
    );
}

#[test]
fn v8_an_excerpt_stands_for_itself_and_nothing_refers_to_it() {
    let entries = [
        call(&["t1"]),
        results(&["t1"], &[], &[("t1", None, "the beginning")]),
    ];
    let standing = standing(&entries);
    assert_eq!(form(&standing, "t1"), Some(SentForm::Reduced));
    assert!(!standing.is_whole(Id::of("t1")));
    assert!(!standing.is_empty() && ReductionStanding::default().is_empty());
}
