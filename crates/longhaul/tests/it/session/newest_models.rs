//! Requests to every model that is served: nothing in them that newer models refuse (N6). The provider refuses it, too.

use longhaul::Prompt;
use longhaul::session::CompactOutcome;
use longhaul_core::engine::{CompactRequest, Summarizer};
use longhaul_core::models::ModelTable;
use serde_json::{Value, json};

use super::house::prompt;
use super::scripted::{MODEL, Stage, answered, reads};
use super::set::set;

/// A prompt for a model, of a host that would have it sample in its own way.
fn wanting(model: &str) -> Prompt {
    let mut prompt = prompt(model);
    for (name, value) in [
        ("temperature", json!(0.3)),
        ("top_p", json!(0.9)),
        ("top_k", json!(40)),
        ("metadata", json!({"user_id": "u"})),
    ] {
        prompt.more.insert(name.to_owned(), value);
    }
    prompt
}

#[track_caller]
fn leans_on_nothing(request: &Value) {
    let model = &request["model"];
    for field in ["temperature", "top_p", "top_k"] {
        assert_eq!(request[field], Value::Null, "{field} for {model}");
    }
    let choice = &request["tool_choice"];
    assert!(
        choice.is_null() || choice["type"] == "auto",
        "{model}: {choice}"
    );
    let last = request["messages"].as_array().unwrap().last().unwrap();
    assert_ne!(last["role"], "assistant", "a prefill for {model}");
}

#[tokio::test]
async fn n6_no_request_to_any_model_has_a_prefill_a_forced_tool_or_sampling_parameters() {
    let table = ModelTable::builtin();
    let served = table.models().filter(|model| !model.retired);
    let models: Vec<&str> = served.map(|model| model.id.as_str()).collect();
    assert!(models.contains(&"claude-opus-5-5") && models.len() > 10);
    for model in models {
        // The conversation and its summary by one model, then a summary for the conversation of another.
        for own in [true, false] {
            let settings = format!("summary_model = \"{model}\"\n");
            let answers = json!({"text": "word ".repeat(4_000)});
            let stage = Stage::new(200_000, &[reads("Read"), answers]).await;
            let mut session = stage
                .session()
                .prompt(wanting(if own { model } else { MODEL }))
                .config(set(if own { "" } else { &settings }))
                .open()
                .unwrap();
            session.say("Read it and tell me about it.").await.unwrap();
            let reply = session.turn().await.unwrap();
            session.results(answered(&reply, "a line")).await.unwrap();
            session.turn().await.unwrap();
            let done = session.compact(CompactRequest::default()).await.unwrap();
            let CompactOutcome::Done(done) = done else {
                panic!("{model}: {done:?}");
            };
            let by = match own || model == MODEL {
                true => Summarizer::Fork,
                false => Summarizer::Plain,
            };
            assert_eq!(done.by, by, "{model}");
            let sent = stage.sent.lock().unwrap();
            assert_eq!(sent.len(), 3, "{model}: nothing was refused");
            assert_eq!(sent[2]["model"], model);
            sent.iter().for_each(leans_on_nothing);
            assert_eq!(sent[0]["metadata"]["user_id"], "u", "other fields go along");
        }
    }
}
