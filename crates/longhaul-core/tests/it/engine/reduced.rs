//! Tests how the engine records results that are sent in a smaller form (V8): what is archived first, what is written, and
//! which results stay as they came.

use longhaul_core::config::ResultReduction;
use longhaul_core::engine::{CacheEditSupport, Effect, EngineInput, Event, NewEntry};
use longhaul_core::micro::PressureOwner;
use longhaul_core::prompt::ToolOutput;
use serde_json::{Value, json};

use super::desk::{Answer, Desk, Setting};

fn setting() -> Setting {
    Setting {
        reduce: ResultReduction::Exact,
        ..Setting::default()
    }
}

fn output() -> String {
    "one line of the output of a command\n".repeat(60)
}

fn result(id: &str, content: impl Into<Value>) -> ToolOutput {
    ToolOutput {
        tool_use_id: id.into(),
        content: content.into(),
        is_error: false,
    }
}

/// Lets the model make these calls, and adds their results in one entry.
fn works(
    desk: &mut Desk,
    calls: &'static [(&'static str, &'static str, &'static str)],
    results: Vec<ToolOutput>,
) {
    desk.answers.push_back(Answer::CallsOn(calls));
    desk.turn();
    desk.input(EngineInput::Add(vec![NewEntry::ToolResults(results)]));
}

/// The records of smaller results in the newest line.
fn recorded(desk: &Desk) -> Value {
    let line: Value = serde_json::from_slice(desk.transcript.last().unwrap()).unwrap();
    line["reducedResults"].clone()
}

/// A conversation with one result in view, of a call of `Bash`.
fn begun(setting: Setting, first: ToolOutput) -> Desk {
    let mut desk = Desk::with(setting);
    desk.say("Run it.");
    works(&mut desk, &[("Bash", "t1", "/p/a")], vec![first]);
    assert_eq!(recorded(&desk), Value::Null, "nothing is in view before");
    desk
}

/// The same with a second call, of a tool that gives this.
fn then(setting: Setting, first: ToolOutput, tool: &'static str, second: ToolOutput) -> Desk {
    let mut desk = begun(setting, first);
    let calls: &[_] = Box::leak(Box::new([(tool, "t2", "/p/b")]));
    works(&mut desk, calls, vec![second]);
    desk
}

#[test]
fn v8_what_is_made_smaller_is_archived_before_it_is_written_and_nothing_else_is() {
    let mut desk = begun(setting(), result("t1", output()));
    desk.hold = Some("archive");
    works(
        &mut desk,
        &[("Bash", "t2", "/p/b"), ("Bash", "t3", "/p/c")],
        vec![result("t2", output()), result("t3", output())],
    );
    let written = desk.transcript.len();
    let Some(Effect::Archive {
        entries, results, ..
    }) = &desk.held
    else {
        panic!("{:?}", desk.held);
    };
    assert_eq!(results.as_ref().unwrap(), &["t2", "t3"]);
    let lines: Vec<Value> = entries
        .iter()
        .map(|entry| serde_json::from_slice(entry.bytes()).unwrap())
        .collect();
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["assistant", "user"], "the calls and their results");
    for line in &lines {
        let line = line["message"].to_string();
        assert!(line.contains("t2") && line.contains("t3"), "{line}");
    }
    desk.release();
    assert_eq!(desk.transcript.len(), written + 1);
    let records = recorded(&desk);
    for (record, id) in records.as_array().unwrap().iter().zip(["t2", "t3"]) {
        assert_eq!(record["tool_use_id"], id);
        assert_eq!(
            (&record["kind"], &record["refers_to"]),
            (&json!("same"), &json!("t1"))
        );
    }
    let told = desk.events.iter().find_map(|event| match event {
        Event::ResultsReduced { calls, saved } => Some((calls.clone(), *saved)),
        _ => None,
    });
    let (calls, saved) = told.unwrap();
    assert_eq!(calls, ["t2", "t3"]);
    let pointer = records[0]["content"].as_str().unwrap();
    let less = (output().len() - pointer.len()) as u64 / 4;
    assert!(
        (2 * less - 2..=2 * less + 2).contains(&saved),
        "{saved} tokens"
    );
}

#[test]
fn v8_where_the_archive_cannot_be_written_results_are_sent_as_they_came() {
    let mut desk = begun(setting(), result("t1", output()));
    desk.archive_broken = true;
    works(
        &mut desk,
        &[("Bash", "t2", "/p/b")],
        vec![result("t2", output())],
    );
    assert_eq!(recorded(&desk), Value::Null);
    desk.turn();
    let sent = Desk::body(desk.sent.last().unwrap()).to_string();
    assert_eq!(sent.matches(&json!(output()).to_string()).count(), 2);
}

#[test]
fn v8_a_result_of_one_text_block_is_the_same_as_another_one() {
    let block = || json!([{"type": "text", "text": output()}]);
    let desk = then(
        setting(),
        result("t1", block()),
        "Bash",
        result("t2", block()),
    );
    assert_eq!(recorded(&desk)[0]["refers_to"], "t1");
}

#[test]
fn v8_results_of_which_nothing_may_be_left_out_stay_as_they_came() {
    let failed = ToolOutput {
        is_error: true,
        ..result("t2", output())
    };
    let off = Setting::default();
    let recalling = Setting {
        recall_tool: Some("Recall"),
        ..setting()
    };
    let same = |setting, tool, second| then(setting, result("t1", output()), tool, second);
    let desks = [
        same(setting(), "Bash", failed),
        same(off, "Bash", result("t2", output())),
        same(recalling, "Recall", result("t2", output())),
        same(setting(), "TaskOutput", result("t2", output())),
    ];
    for desk in &desks {
        assert_eq!(recorded(desk), Value::Null);
        assert!(!desk.asked.contains(&"archive".to_owned()));
    }
}

#[test]
fn v8_nothing_refers_to_a_result_that_is_an_error() {
    let failed = ToolOutput {
        is_error: true,
        ..result("t1", output())
    };
    let desk = then(setting(), failed, "Bash", result("t2", output()));
    assert_eq!(recorded(&desk), Value::Null);
}

#[test]
fn v8_nothing_refers_to_what_the_provider_may_clear_or_drops_by_reference() {
    let theirs = Setting {
        pressure: PressureOwner::Providers,
        ..setting()
    };
    let desk = then(
        theirs,
        result("t1", output()),
        "Bash",
        result("t2", output()),
    );
    assert_eq!(recorded(&desk), Value::Null);

    let mut desk = Desk::with(Setting {
        cache_edits: CacheEditSupport::Supported,
        window: 200_000,
        ..setting()
    });
    desk.say("Read them.");
    let outputs: Vec<String> = (0..12)
        .map(|file| output().replace("one", &format!("file {file}")))
        .collect();
    let reads = |desk: &mut Desk, id: String, content: &str| {
        let id: &'static str = Box::leak(id.into_boxed_str());
        let calls: &[_] = Box::leak(Box::new([("Read", id, id)]));
        works(desk, calls, vec![result(id, content)]);
    };
    for (file, output) in outputs.iter().enumerate() {
        reads(&mut desk, format!("t{file}"), output);
    }
    desk.turn();
    desk.say("Once more.");
    let edits = &Desk::body(desk.sent.last().unwrap())["cache_edits"];
    assert_eq!(edits[0]["tool_use_id"], "t0", "{edits}");
    reads(&mut desk, "t12".to_owned(), &outputs[11]);
    assert_eq!(recorded(&desk)[0]["refers_to"], "t11");
    reads(&mut desk, "t13".to_owned(), &outputs[0]);
    assert_eq!(
        recorded(&desk),
        Value::Null,
        "the first result is dropped by reference"
    );
}

#[test]
fn v8_a_file_that_is_read_again_is_compared_with_the_result_that_is_in_view() {
    let mut desk = Desk::with(setting());
    desk.say("Read it.");
    let file = |word: &str| -> String {
        let lines = (1..=80).map(|line| format!("{line:>6}→line {line} of a file, {word}\n"));
        lines.collect::<String>().replacen(word, "first", 79)
    };
    works(
        &mut desk,
        &[("Read", "t1", "/p/a.rs")],
        vec![result("t1", file("old"))],
    );
    works(
        &mut desk,
        &[("Read", "t2", "/p/b.rs")],
        vec![result("t2", file("new"))],
    );
    assert_eq!(recorded(&desk), Value::Null, "another file");
    works(
        &mut desk,
        &[("Read", "t3", "/p/a.rs")],
        vec![result("t3", file("newer"))],
    );
    let record = &recorded(&desk)[0];
    assert_eq!(
        (&record["kind"], &record["refers_to"]),
        (&json!("changed"), &json!("t1"))
    );
}
