//! Misbehavior: what was requested happens, as often as requested, and nothing else does.

use longhaul_sim::model::misbehave::Misbehavior;
use longhaul_sim::model::{DraftStop, ReplyDraft, ReplyModel, SimModel, SimModelOptions};
use longhaul_sim::request::MessagesRequest;
use serde_json::json;

use crate::model_folder::coding_tools;
use crate::model_talk::{Talk, asking, calls, fine, reply, words};

const ASK: &str = "Respond with text only, do not call any tools. Summarise the conversation: <analysis> first, then <summary>.";

fn model(spec: &str) -> SimModel {
    SimModel::new(SimModelOptions {
        misbehavior: spec.parse().unwrap(),
        ..SimModelOptions::default()
    })
}

fn summary_request() -> MessagesRequest {
    let mut talk = Talk::new(1, coding_tools());
    talk.user("Fix the store");
    talk.history(
        "I look.",
        "Read",
        json!({ "file_path": "/proj/src/store.rs" }),
        fine("     1→fn store() {}"),
    );
    talk.user(ASK);
    talk.request
}

fn on_summary(spec: &str) -> ReplyDraft {
    reply(&mut model(spec), &summary_request(), 1)
}

#[test]
fn f6_a_summary_goes_wrong_in_every_way_it_can() {
    assert!(words(&on_summary("summary:empty")).contains("<summary>\n\n</summary>"));
    let untagged = words(&on_summary("summary:untagged"));
    assert!(
        untagged.contains("Fix the store")
            && !untagged.contains("summary>")
            && !untagged.contains("analysis>")
    );
    assert!(words(&on_summary("summary:error")).starts_with("API Error: 529"));
    let request = summary_request();
    let input: usize = request
        .messages
        .iter()
        .flat_map(|message| &message.content)
        .map(|block| block.raw.len())
        .sum();
    let long = words(&on_summary("summary:long"));
    assert!(long.len() > input && long.starts_with("<summary>") && long.ends_with("</summary>"));
    assert_eq!(calls(&on_summary("summary:tool")).len(), 1);
    assert_eq!(calls(&on_summary("tool:forbidden")).len(), 1);
    assert!(on_summary("summary:silent").content.is_empty());
    assert_eq!(on_summary("summary:refuse").stop, DraftStop::Refusal);
    let cut = on_summary("summary:cut");
    assert!(cut.stop == DraftStop::CutOff && !words(&cut).contains("</summary>"));
}

#[test]
fn a_turn_goes_wrong_too() {
    let request = asking("Fix the parser", coding_tools());
    let on_turn = |spec: &str| reply(&mut model(spec), &request, 1);
    assert!(on_turn("turn:silent").content.is_empty());
    assert_eq!(on_turn("any:refuse").stop, DraftStop::Refusal);
    assert_eq!(on_turn("turn:cut").stop, DraftStop::CutOff);
    assert_eq!(calls(&on_turn("tool:unknown"))[0].0, "NoSuchTool");
    let invalid = on_turn("tool:invalid");
    let (name, input) = calls(&invalid)[0];
    let tool = request.tools.iter().find(|tool| tool.name == name).unwrap();
    assert!(!jsonschema::is_valid(&tool.fields["input_schema"], input));
    assert_eq!(
        on_turn("summary:empty*all"),
        on_turn(""),
        "what is not due changes nothing"
    );
}

#[test]
fn notes_are_kept_elsewhere_when_told_so() {
    let prompt = "Update the notes in /s/notes.md with the Edit tool.\n# A title\n_t_\n\n# Current state\n_s_\n\n# Worklog\n_w_\n";
    let mut talk = Talk::new(1, coding_tools());
    talk.user("Fix the store");
    talk.user(prompt);
    let draft = talk.send(&mut model("notes:elsewhere"));
    assert!(!calls(&draft).is_empty());
    assert!(
        calls(&draft)
            .iter()
            .all(|(_, input)| input["file_path"] == "/tmp/elsewhere.md")
    );
}

#[test]
fn it_happens_as_often_as_it_was_told() {
    let request = summary_request();
    let count = |spec: &str| {
        let mut model = model(spec);
        (0..100)
            .filter(|seed| words(&reply(&mut model, &request, *seed)).starts_with("API Error"))
            .count()
    };
    assert_eq!(count("summary:error"), 1);
    assert_eq!(count("summary:error*3"), 3);
    assert_eq!(count("summary:error*all"), 100);
    assert!(
        (5..35).contains(&count("summary:error@0.2")),
        "{}",
        count("summary:error@0.2")
    );
    assert_eq!(count("summary:error*4@0.2"), 4);
    assert_eq!(count("turn:error*all"), 0);
}

#[test]
fn it_can_be_told_while_it_runs() {
    let mut model = model("");
    let request = summary_request();
    assert!(words(&reply(&mut model, &request, 1)).contains("</summary>"));
    model.misbehave("summary:silent".parse().unwrap());
    assert!(reply(&mut model, &request, 1).content.is_empty());
    assert!(words(&reply(&mut model, &request, 1)).contains("</summary>"));
}

#[test]
fn bad_specs_are_told_with_what_would_be_right() {
    for (spec, part) in [
        ("summary", "a rule is WHEN:WHAT"),
        ("sumary:empty", "did you mean `summary`?"),
        ("summary:emty", "did you mean `empty`?"),
        (
            "turn:elsewhere",
            "the known ones are `silent`, `refuse`, `cut`, `error`",
        ),
        ("summary:empty*x", "`*x` is not a valid count"),
        ("summary:empty*0", "`*0` is not a valid count"),
        ("summary:empty@2", "`@2` is not a valid rate"),
    ] {
        let error = spec.parse::<Misbehavior>().unwrap_err().to_string();
        assert!(error.contains(part), "{spec}: {error}");
    }
    assert!("".parse::<Misbehavior>().unwrap().is_empty());
    assert!(
        !"summary:empty*2, tool:forbidden@0.1"
            .parse::<Misbehavior>()
            .unwrap()
            .is_empty()
    );
}
