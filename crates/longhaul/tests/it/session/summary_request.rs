//! What the model is sent for a summary, and what is sent after it: by forks, which repeat the conversation's request,
//! and by plain requests.

use std::path::Path;

use longhaul::session::CompactOutcome;
use longhaul::{FileWorkspace, Session};
use longhaul_core::engine::{
    CompactRequest, CompactionSuccess, EntryAudience, NewEntry, Pivot, Summarizer, ToolOutput,
};
use longhaul_core::summary::PivotDirection;
use serde_json::{Value, json};

use super::scripted::{Stage, answered, texts};
use super::set::set;
use crate::normalize::hostile::png;

/// What the file says that is read.
const HARBOUR: &str = "The harbour opens at six.\n";

/// Summaries by a fork, and by a plain request to another model.
const WAYS: [(&str, Summarizer); 2] = [
    ("", Summarizer::Fork),
    ("summary_model = \"claude-haiku-4-5\"\n", Summarizer::Plain),
];

async fn compact(session: &mut Session, request: CompactRequest) -> CompactionSuccess {
    match session.compact(request).await.unwrap() {
        CompactOutcome::Done(done) => *done,
        CompactOutcome::Preview(preview) => panic!("{preview:?}"),
    }
}

/// A turn that says this word very often.
fn says(word: &str) -> Value {
    json!({"text": format!("{word} ").repeat(3_000)})
}

/// More of a reply than any summary quotes.
fn much(word: &str) -> String {
    format!("{word} ").repeat(1_000)
}

#[tokio::test]
async fn f2_the_last_summary_and_all_that_came_since_are_summarized_and_nothing_before() {
    for (settings, by) in WAYS {
        // The second turn is never said: there a summary is asked for.
        let turns = ["alpha", "", "omega", "kappa"].map(says);
        let stage = Stage::new(200_000, &turns).await;
        let mut session = stage.session().config(set(settings)).open().unwrap();
        session.say("The first question.").await.unwrap();
        session.turn().await.unwrap();
        compact(&mut session, CompactRequest::default()).await;
        assert!(stage.last_sent().to_string().contains(&much("alpha")));
        for said in ["The second question.", "The third question."] {
            session.say(said).await.unwrap();
            session.turn().await.unwrap();
        }
        assert_eq!(
            compact(&mut session, CompactRequest::default()).await.by,
            by
        );
        let lines = stage.lines();
        let summary = lines.iter().find(|line| line["isCompactSummary"] == true);
        let summary = summary.unwrap()["message"]["content"].as_str().unwrap();
        let asked = texts(&stage.last_sent());
        assert_eq!(asked[0], summary, "the earlier summary is the beginning");
        for (part, wanted) in [("alpha", false), ("omega", true), ("kappa", true)] {
            let there = asked.iter().any(|text| text.contains(&much(part)));
            assert_eq!(there, wanted, "{part} for {by:?}");
        }
    }
}

/// The kinds of a request's blocks, those inside results, too.
fn kinds(value: &Value) -> Vec<&str> {
    let mut kinds = Vec::new();
    match value {
        Value::Array(values) => values
            .iter()
            .for_each(|value| kinds.extend(self::kinds(value))),
        Value::Object(fields) => {
            kinds.extend(fields.get("type").and_then(Value::as_str));
            kinds.extend(fields.get("content").into_iter().flat_map(self::kinds));
        }
        _ => {}
    }
    kinds
}

#[tokio::test]
async fn f3_a_plain_request_leaves_out_pictures_documents_and_lists_of_skills_and_a_fork_does_not()
{
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(10)}});
    let document = json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "A page."}});
    let attached = [
        json!({"type": "skill_listing", "content": "- release: how to release"}),
        json!({"type": "skill_discovery", "skills": [{"name": "review", "description": "how to review"}]}),
        json!({"type": "file", "filename": "/srv/a.rs", "content": {"type": "text", "file": {"filePath": "/srv/a.rs", "content": "fn kept() {}\n"}}}),
        json!({"type": "todo", "content": [{"content": "Paint the shed", "status": "pending"}], "itemCount": 1, "context": "prompt"}),
    ];
    for (settings, by) in WAYS {
        let looks = json!({"tools": [{"name": "Read", "input": {"file_path": "a.png"}}]});
        let stage = Stage::new(200_000, &[looks, says("alpha")]).await;
        let mut session = stage.session().config(set(settings)).open().unwrap();
        let mut entries = vec![NewEntry::User {
            content: json!([picture, document, {"type": "text", "text": "Look at these."}]),
            shown: EntryAudience::ToUser,
        }];
        entries.extend(attached.iter().cloned().map(NewEntry::Attachment));
        session.add(entries).await.unwrap();
        let reply = session.turn().await.unwrap();
        let call = reply.tool_calls().next().unwrap();
        let result = ToolOutput {
            tool_use_id: call.id.to_string(),
            content: json!([{"type": "text", "text": "It shows:"}, picture]),
            is_error: false,
        };
        session.results(vec![result]).await.unwrap();
        session.turn().await.unwrap();
        let turn = stage.last_sent();
        assert_eq!(
            compact(&mut session, CompactRequest::default()).await.by,
            by
        );
        let asked = stage.last_sent();
        let media = |body: &Value| {
            let kinds = kinds(&body["messages"]);
            let is_media = |kind: &&str| ["image", "document"].contains(kind);
            kinds.into_iter().filter(is_media).count()
        };
        let (said, is_plain) = (texts(&asked).join("\n"), by == Summarizer::Plain);
        assert_eq!(media(&turn), 3);
        assert_eq!(media(&asked), if is_plain { 0 } else { 3 }, "{by:?}");
        for (part, wanted) in [
            ("It shows:\n[image]", is_plain),
            ("[image]\n[document]\nLook at these.", is_plain),
            ("how to release", !is_plain),
            ("how to review", !is_plain),
            ("fn kept() {}", true),
            ("Paint the shed", true),
        ] {
            assert_eq!(said.contains(part), wanted, "{part} for {by:?}: {said}");
        }
    }
}

/// Three exchanges, of which the last reads a file; the session, and the uuid of the last question.
async fn three_exchanges(stage: &Stage) -> (Session, String) {
    let file = stage.folder.path().join("notes.txt");
    std::fs::write(file, HARBOUR).unwrap();
    let mut session = (stage.session().config(set("")))
        .workspace(FileWorkspace)
        .open()
        .unwrap();
    let mut pivot = String::new();
    for said in [
        "The first question.",
        "The second question.",
        "The third question.",
    ] {
        stage.rest(7);
        session.say(said).await.unwrap();
        if said.contains("third") {
            pivot = session.engine().live().newest().unwrap().to_owned();
        }
        let reply = session.turn().await.unwrap();
        if reply.tool_calls().next().is_some() {
            let shown = answered(&reply, HARBOUR);
            session.results(shown).await.unwrap();
            session.turn().await.unwrap();
        }
    }
    (session, pivot)
}

fn turns(folder: &Path) -> Vec<Value> {
    let input = json!({"file_path": folder.join("notes.txt")});
    let reads = json!({"tools": [{"name": "Read", "input": input}]});
    let [alpha, omega, kappa, end] = ["alpha", "omega", "kappa", "end"].map(says);
    vec![alpha, omega, reads, kappa, end]
}

/// Compacts one side of a message by a fork, and asks for the next turn. Returns the texts of both requests, and what
/// either read from the cache.
async fn compacted_at(stage: &Stage, direction: PivotDirection) -> ([Vec<String>; 2], [u64; 2]) {
    let (mut session, uuid) = three_exchanges(stage).await;
    let before = stage.last_sent();
    let request = CompactRequest {
        pivot: Some(Pivot { uuid, direction }),
        ..CompactRequest::default()
    };
    let done = compact(&mut session, request).await;
    assert_eq!(done.by, Summarizer::Fork);
    let asked = texts(&stage.last_sent());
    session.say("And now?").await.unwrap();
    let reply = session.turn().await.unwrap();
    let after = stage.last_sent();
    assert_eq!(
        (&after["system"], &after["tools"]),
        (&before["system"], &before["tools"])
    );
    let read = [done.usage.unwrap().cache_read, reply.usage.cache_read];
    ([asked, texts(&after)], read)
}

/// Which of these are in a request.
fn among(texts: &[String], parts: &[&str]) -> Vec<bool> {
    let within = |part: &&str| texts.iter().any(|text| text.contains(*part));
    parts.iter().map(within).collect()
}

#[tokio::test]
async fn p2_up_to_a_message_only_what_lies_before_it_is_sent_and_the_next_turn_misses_the_cache() {
    let stage = Stage::for_folder(turns).await;
    let ([asked, after], [read, read_after]) = compacted_at(&stage, PivotDirection::UpTo).await;
    let (alpha, omega, kappa) = (&*much("alpha"), &*much("omega"), &*much("kappa"));
    let before = ["The first question.", alpha, "The second question.", omega];
    let later = ["The third question.", HARBOUR, kappa];
    assert_eq!(among(&asked, &before), [true; 4]);
    assert_eq!(among(&asked, &later), [false; 3]);
    assert_eq!(among(&after, &[alpha, omega]), [false; 2]);
    assert_eq!(among(&after, &later), [true; 3], "word for word");
    assert!(read > 2_000, "the request repeats what was sent: {read}");
    assert_eq!(read_after, 0, "another beginning");
}

#[tokio::test]
async fn p2_from_a_message_on_everything_is_sent_and_the_kept_beginning_stays_in_the_cache() {
    let stage = Stage::for_folder(turns).await;
    let ([asked, after], [read, read_after]) = compacted_at(&stage, PivotDirection::From).await;
    let (alpha, omega, kappa) = (&*much("alpha"), &*much("omega"), &*much("kappa"));
    let all = [alpha, omega, "The third question.", HARBOUR, kappa];
    assert_eq!(among(&asked, &all), [true; 5]);
    assert_eq!(among(&after, &[kappa]), [false]);
    assert!(read > 2_000 && read_after > 2_000, "{read}, {read_after}");
    let lines = stage.lines();
    let summary = lines.iter().find(|line| line["isCompactSummary"] == true);
    let summary = summary.unwrap()["message"]["content"].as_str().unwrap();
    let at = |part: &str| {
        let at = after.iter().position(|text| text.contains(part));
        at.unwrap_or_else(|| panic!("{part} is not in {after:?}"))
    };
    let order = [alpha, omega, summary, HARBOUR, "And now?"].map(at);
    assert!(order.is_sorted(), "kept, summary, attachments: {order:?}");
}
