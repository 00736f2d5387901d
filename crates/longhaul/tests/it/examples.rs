//! The examples of the crate, run on the simulator: what they print is checked.

use std::sync::{Arc, Mutex};

#[path = "../../examples/chat_loop.rs"]
#[allow(dead_code, reason = "its main function is for the example")]
mod chat_loop;
#[path = "../../examples/compaction_by_hand.rs"]
#[allow(dead_code, reason = "its main function is for the example")]
mod compaction_by_hand;
#[path = "../../examples/own_model.rs"]
#[allow(dead_code, reason = "its main function is for the example")]
mod own_model;
#[path = "../../examples/own_storage.rs"]
#[allow(dead_code, reason = "its main function is for the example")]
mod own_storage;
#[path = "../../examples/recall.rs"]
#[allow(dead_code, reason = "its main function is for the example")]
mod recall;
#[path = "../../examples/resume.rs"]
#[allow(dead_code, reason = "its main function is for the example")]
mod resume;
#[path = "../../examples/streaming.rs"]
#[allow(dead_code, reason = "its main function is for the example")]
mod streaming;
#[path = "../../examples/tools.rs"]
#[allow(dead_code, reason = "its main function is for the example")]
mod tools;

fn text(out: Vec<u8>) -> String {
    let text = String::from_utf8(out).unwrap();
    println!("{text}");
    text
}

#[tokio::test]
async fn the_chat_loop_answers_each_line_until_an_empty_one() {
    let mut out = Vec::new();
    let input = "Who are you?\nThank you.\n\nNot read.\n";
    chat_loop::run(input.as_bytes(), &mut out).await.unwrap();
    let out = text(out);
    let replies = out.lines().filter(|line| line.starts_with("model: "));
    assert_eq!(replies.count(), 2, "{out}");
    assert!(!out.contains("failed: "), "{out}");
    assert!(out.contains("of 1000000 tokens are in use"), "{out}");
}

#[tokio::test]
async fn the_tools_example_reads_the_file_that_the_model_asks_for() {
    let mut out = Vec::new();
    tools::run(&mut out).await.unwrap();
    let out = text(out);
    assert!(
        out.contains(r#"call: Read {"file_path":"answer.txt""#),
        "{out}"
    );
    assert!(out.contains("result: \"The answer is 42.\\n\""), "{out}");
    assert!(out.contains("model: "), "{out}");
}

#[tokio::test]
async fn the_streaming_example_shows_text_and_figures() {
    let out = Arc::new(Mutex::new(Vec::new()));
    streaming::run(out.clone()).await.unwrap();
    let out = text(out.lock().unwrap().clone());
    assert_eq!(out.matches("tokens in, ").count(), 2, "{out}");
    assert!(
        !out.starts_with('['),
        "text comes before its figures: {out}"
    );
}

#[tokio::test]
async fn y2_the_resume_example_continues_and_sends_a_changed_prompt() {
    let mut out = Vec::new();
    resume::run(&mut out).await.unwrap();
    let out = text(out);
    let visits: Vec<&str> = out
        .lines()
        .filter(|line| line.starts_with("found"))
        .collect();
    assert_eq!(
        visits,
        [
            "found 0 messages, leaving 2",
            "found 2 messages, leaving 4",
            "found 4 messages, leaving 6"
        ]
    );
    assert_eq!(out.matches("the prompt has changed").count(), 1, "{out}");
    assert!(out.trim_end().ends_with("NextRequest"), "{out}");
}

#[tokio::test]
async fn the_storage_example_continues_from_its_folder() {
    let mut out = Vec::new();
    own_storage::run(&mut out).await.unwrap();
    assert_eq!(text(out), "visit 1: 2 messages\nvisit 2: 4 messages\n");
}

#[tokio::test]
async fn the_model_example_calls_a_tool_and_uses_its_result() {
    let mut out = Vec::new();
    own_model::run(&mut out).await.unwrap();
    let expected = "model: I look it up.\nmodel: The forecast says: \"rain in Oslo\"\n";
    assert_eq!(text(out), expected);
}

#[tokio::test]
async fn y6_the_compaction_example_shows_a_summary_before_it_is_used() {
    let mut out = Vec::new();
    compaction_by_hand::run(&mut out).await.unwrap();
    let out = text(out);
    let (preview, done) = (out.find("preview: "), out.find("done: "));
    assert!(preview.is_some() && preview < done, "{out}");
    assert!(
        out.contains("1 of 1 messages are kept word for word"),
        "{out}"
    );
}

#[tokio::test]
async fn x2_the_recall_example_finds_what_a_compaction_replaced() {
    let mut out = Vec::new();
    recall::run(&mut out).await.unwrap();
    let out = text(out);
    assert!(out.starts_with("compactions: 1\n"), "{out}");
    assert!(out.contains("»Marigold«"), "{out}");
}
