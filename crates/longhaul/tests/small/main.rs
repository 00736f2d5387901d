//! The library without features: a session with a model of its own needs neither a network nor a C compiler, and loses
//! nothing. `cargo xtask features` runs it so; with features it passes as well.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may fail loudly")]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use longhaul::{
    Config, ModelError, ModelErrorClass, ModelRequest, NoWorkspace, Prompt, Reply, Session,
    SessionBuilder, ToolOutput, Usage, model_fn,
};
use serde_json::{Value, json};

/// A model that reads one file for each question and then answers. It bills what it was sent.
#[derive(Default)]
struct OwnModel {
    replies: AtomicU64,
}

impl OwnModel {
    fn answer(&self, request: &ModelRequest) -> Result<Reply, ModelError> {
        let number = self.replies.fetch_add(1, Ordering::Relaxed);
        let asked = request
            .body_value()
            .map_err(|error| ModelError::new(ModelErrorClass::Invalid, error.to_string()))?;
        let last = asked["messages"].as_array().and_then(|all| all.last());
        let last = last.map(Value::to_string).unwrap_or_default();
        let usage = Usage {
            input: asked.to_string().len() as u64 / 3,
            output: 20,
            ..Usage::default()
        };
        let reply = Reply::builder().usage(usage);
        let reply = if request.source.as_str() != "sdk" {
            reply.text("<summary>The user asks what files do; the model reads them.</summary>")
        } else if last.contains("tool_result") {
            reply.text("It counts.")
        } else {
            let input = json!({"file_path": format!("src/part{number}.rs")});
            reply.tool_call(format!("toolu_{number}"), "Read", input)
        };
        Ok(reply.build())
    }
}

fn builder(transcript: &Path) -> SessionBuilder {
    let read = json!({"name": "Read", "description": "Reads a file.", "input_schema": {
        "type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}});
    let model = OwnModel::default();
    let mut settings = Config::default();
    settings.window_cap = Some(12_000);
    Session::builder()
        .model(model_fn(move |request| {
            let reply = model.answer(&request);
            async move { reply }
        }))
        .prompt(Prompt::new("claude-sonnet-4-6", "You read code.").with_tools(vec![read]))
        .config(settings)
        .workspace(NoWorkspace)
        .transcript(transcript)
}

/// Asks questions; each is answered after one tool call, whose result is marked with the question's number.
async fn converse(session: &mut Session, questions: std::ops::Range<usize>) {
    for question in questions {
        let text = format!("What does part {question} do?");
        session.say(text).await.unwrap();
        loop {
            let reply = session.turn().await.unwrap();
            let results: Vec<ToolOutput> = (reply.tool_calls())
                .map(|call| {
                    let line = format!("fn part{question}() -> u32 {{ 42 }}\n");
                    ToolOutput::text(call.id, line.repeat(150))
                })
                .collect();
            if results.is_empty() {
                break;
            }
            session.results(results).await.unwrap();
        }
    }
}

#[tokio::test]
async fn x2_without_an_archive_what_left_the_window_stays_in_the_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder
        .path()
        .join("6f9619ff-8b86-4011-b42d-00cf4fc964ff.jsonl");
    let mut session = builder(&transcript).open().unwrap();
    converse(&mut session, 0..12).await;
    assert!(session.compactions() >= 1, "{}", session.compactions());
    drop(session);

    let mut resumed = builder(&transcript).open().unwrap();
    converse(&mut resumed, 12..14).await;
    drop(resumed);
    let kept = std::fs::read_to_string(&transcript).unwrap();
    for question in 0..14 {
        let result = format!("fn part{question}() -> u32");
        let times = kept.matches(&result).count();
        assert!(times >= 150, "result {question} is there {times} times");
    }
}

#[cfg(not(feature = "sqlite"))]
#[tokio::test]
async fn x2_a_session_with_an_archive_says_which_feature_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive.db");
    let refused = builder(&folder.path().join("session.jsonl"))
        .archive(&archive)
        .open();
    let Err(refused) = refused else {
        panic!("it opened a session with an archive that it cannot write");
    };
    let said = refused.to_string();
    assert!(
        said.contains("the feature `sqlite` of the crate `longhaul`"),
        "{said}"
    );
    assert!(!archive.exists());
}
