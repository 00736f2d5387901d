//! Scripted turns, and the errors of bad scripts.

use longhaul_sim::model::script::ReplyScript;
use longhaul_sim::model::{
    DraftBlock, DraftStop, ModelTurn, ReplyDraft, ReplyModel, SimModel, SimModelOptions,
};
use serde_json::json;

use crate::model_folder::coding_tools;
use crate::model_talk::{asking, calls, words};

fn model(script: &str) -> SimModel {
    SimModel::new(SimModelOptions {
        script: Some(ReplyScript::parse(script).unwrap()),
        ..SimModelOptions::default()
    })
}

fn at(model: &mut SimModel, index: u64, prompt: &str) -> (ReplyDraft, Option<String>) {
    let request = asking(prompt, coding_tools());
    let turn = ModelTurn {
        request: &request,
        prompt_tokens: 0,
        tokenizer: longhaul_sim::tokens::TokenizerFamily::Old,
        index,
        seed: index,
    };
    let fault = model.fault(&turn);
    (model.reply(&turn), fault)
}

#[test]
fn the_example_reads_and_plays() {
    let text = include_str!("../../examples/script.jsonl");
    let script = ReplyScript::parse(text).unwrap();
    assert_eq!(
        script.faults().collect::<Vec<_>>(),
        [(5, "429(retry-after=2)")]
    );
    let mut model = model(text);
    let (first, _) = at(&mut model, 0, "go");
    assert!(matches!(&first.content[0], DraftBlock::Thinking(text) if text.contains("test names")));
    assert_eq!(
        calls(&first),
        [("Read", &json!({ "file_path": "/proj/src/lib.rs" }))]
    );
    let (second, _) = at(&mut model, 1, "go");
    assert_eq!(calls(&second).len(), 2);
    let (third, fault) = at(&mut model, 2, "go");
    assert!(third.content.is_empty());
    assert_eq!(fault.as_deref(), Some("429(retry-after=2)"));
    assert!(words(&at(&mut model, 3, "go").0).contains("the tests pass"));
    for index in [4, 5] {
        assert_eq!(at(&mut model, index, "go").0.stop, DraftStop::CutOff);
    }
    assert!(words(&at(&mut model, 6, "go").0).contains("no further turns"));
    assert_eq!(words(&at(&mut model, 1, "many thanks").0), "Gladly.");
}

#[test]
fn documents_are_scripts_too() {
    let mut list =
        model("[\n {\"text\": [\"one\", \"two\"]},\n {\"stop\": \"refusal\", \"text\": \"no\"}\n]");
    assert_eq!(at(&mut list, 0, "go").0.content.len(), 2);
    assert_eq!(at(&mut list, 1, "go").0.stop, DraftStop::Refusal);
    let mut object = model(
        "{\"script\": 1, \"end\": \"loop\",\n \"turns\": [{\"text\": \"a\"}, {\"text\": \"b\", \"repeat\": 2}]}",
    );
    let said: String = (0..7)
        .map(|index| words(&at(&mut object, index, "go").0))
        .collect();
    assert_eq!(said, "abbabba");
}

#[test]
fn after_the_end_comes_what_the_head_says() {
    let script =
        |end: &str| format!("{{\"script\": 1, \"end\": \"{end}\"}}\n{{\"text\": \"only\"}}");
    assert_eq!(words(&at(&mut model(&script("last")), 9, "go").0), "only");
    let (draft, _) = at(&mut model(&script("agent")), 9, "Fix the parser");
    assert!(!calls(&draft).is_empty(), "the agent goes on: {draft:?}");
}

#[test]
fn helpers_may_be_left_to_the_built_in_model() {
    let ask = "Summarise the conversation in <summary> tags";
    let mut with = model("{\"script\": 1, \"helpers\": \"built-in\"}\n{\"text\": \"only\"}");
    assert!(words(&at(&mut with, 0, ask).0).starts_with("<summary>"));
    let mut without = model("{\"text\": \"only\"}");
    assert_eq!(words(&at(&mut without, 0, ask).0), "only");
}

#[test]
fn turns_may_be_counted_by_replies() {
    let mut counted = model(
        "{\"script\": 1, \"by\": \"replies\"}\n{\"text\": \"first\"}\n{\"text\": \"second\"}",
    );
    assert_eq!(words(&at(&mut counted, 5, "go").0), "first");
}

#[test]
fn a_bad_script_is_told_with_its_line() {
    for (script, line, part) in [
        (
            "{\"text\": \"a\"}\n{\"txt\": \"b\"}",
            2,
            "unknown field `txt`",
        ),
        ("{\"text\": \"a\"}\n\n{\"text\": }", 3, "expected value"),
        ("{\"text\": 3}", 1, "a text or a list of texts"),
        ("{}", 1, "says nothing"),
        (
            "{\"text\": \"a\", \"stop\": \"pause\"}",
            1,
            "`stop` is `pause`",
        ),
        ("{\"stop\": \"tool_use\"}", 1, "needs `tools`"),
        ("{\"text\": \"a\", \"repeat\": 0}", 1, "1 or more"),
        (
            "{\"text\": \"a\", \"match\": \"x\", \"repeat\": 2}",
            1,
            "no meaning",
        ),
        ("// only a comment", 1, "no turns"),
        ("{\"script\": 2}\n{\"text\": \"a\"}", 1, "version 2"),
        (
            "{\"script\": 1, \"end\": \"never\"}\n{\"text\": \"a\"}",
            1,
            "stop, last, loop, agent",
        ),
        (
            "[\n  {\"text\": \"a\"},\n  {\"tools\": [{\"nam\": \"Read\"}]}\n]",
            3,
            "unknown field `nam`",
        ),
        (
            "[\n  {\"text\": \"a\"},\n  {\"text\": \"b\"\n]",
            4,
            "expected",
        ),
    ] {
        let error = ReplyScript::parse(script).unwrap_err();
        assert_eq!(error.line, line, "{script}: {error}");
        assert!(error.to_string().contains(part), "{script}: {error}");
    }
}
