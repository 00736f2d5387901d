//! Results that are made smaller before they are first sent (V8), through a session over HTTP: what the model is sent,
//! what is on disk, and what can be recalled.

use longhaul::Session;
use longhaul_core::config::{Config, ResultReduction};
use longhaul_core::engine::{CompactRequest, Event, Pivot, ToolOutput};
use longhaul_core::summary::PivotDirection;
use longhaul_store::archive::{Archive, tool};
use serde_json::{Value, json};

use super::scripted::{Heard, Stage, answered};

fn calls(tool: &str, path: &str) -> Value {
    json!({"tools": [{"name": tool, "input": {"file_path": path}}]})
}

fn set(reduce: ResultReduction) -> Config {
    let mut config = Config::default();
    config.reduce = reduce;
    config.background = false;
    config.switches.notes = false;
    config
}

/// A file with a number before each line, as tools show it.
fn shown(lines: usize, changed: Option<usize>) -> String {
    (1..=lines)
        .map(|line| match changed == Some(line) {
            true => format!("{line:>6}→a changed line\n"),
            false => format!("{line:>6}→line {line} of a file with several words in it\n"),
        })
        .collect()
}

/// Answers the calls of the next replies, one after the other; the last reply makes none.
async fn work(session: &mut Session, results: &[&str]) -> Vec<String> {
    let mut ids = Vec::new();
    for result in results {
        let reply = session.turn().await.unwrap();
        ids.extend(reply.tool_calls().map(|call| call.id.to_string()));
        session.results(answered(&reply, result)).await.unwrap();
    }
    session.turn().await.unwrap();
    ids
}

/// The content of a call's result in a request.
fn content<'a>(request: &'a Value, id: &str) -> &'a str {
    let messages = request["messages"].as_array().unwrap().iter();
    let mut blocks = messages.flat_map(|message| message["content"].as_array().unwrap());
    let block = blocks.find(|block| block["tool_use_id"] == id).unwrap();
    block["content"].as_str().unwrap()
}

#[tokio::test]
async fn v8_an_identical_result_is_sent_as_a_pointer_and_its_original_can_be_recalled() {
    let output = "one line of the output of a command\n".repeat(60);
    let turns = [
        calls("Bash", "a"),
        calls("Bash", "b"),
        json!({"text": "Done."}),
    ];
    let stage = Stage::new(200_000, &turns).await;
    let heard = Heard::default();
    let archive = stage.folder.path().join("archive.db");
    let builder = stage.session().config(set(ResultReduction::default()));
    let mut session = builder
        .archive(&archive)
        .observer(heard.clone())
        .open()
        .unwrap();
    session.say("Run it twice.").await.unwrap();
    let ids = work(&mut session, &[&output, &output]).await;
    let request = stage.last_sent();
    assert_eq!(content(&request, &ids[0]), output);
    let pointer = content(&request, &ids[1]);
    assert!(
        pointer.contains(&ids[0]) && pointer.len() < 200,
        "{pointer}"
    );
    // The line keeps the result as it came, for every other reader.
    let lines = stage.lines();
    let line = lines
        .iter()
        .find(|line| line["reducedResults"].is_array())
        .unwrap();
    assert_eq!(line["message"]["content"][0]["content"], output);
    assert_eq!(line["reducedResults"][0]["refers_to"], ids[0]);
    let told = heard.0.lock().unwrap();
    let told = told.iter().find_map(|event| match event {
        Event::ResultsReduced { calls, saved } => Some((calls.clone(), *saved)),
        _ => None,
    });
    assert!(matches!(told, Some((calls, saved)) if calls == [ids[1].clone()] && saved > 400));
    drop(session);
    let archive = Archive::open(&archive).unwrap();
    let recalled = tool::answer(&archive, &json!({"id": ids[1]}).to_string());
    assert!(recalled.contains(output.trim_end()), "{recalled}");
}

#[tokio::test]
async fn v8_a_file_that_is_read_again_is_sent_as_what_changed() {
    let turns = [
        calls("Read", "a.rs"),
        calls("Read", "a.rs"),
        calls("Read", "b.rs"),
        json!({"text": "Done."}),
    ];
    let stage = Stage::new(200_000, &turns).await;
    let mut session = stage
        .session()
        .config(set(ResultReduction::Exact))
        .open()
        .unwrap();
    session.say("Read it.").await.unwrap();
    let (before, now) = (shown(100, None), shown(100, Some(40)));
    let ids = work(&mut session, &[&before, &now, &now]).await;
    let request = stage.last_sent();
    assert_eq!(content(&request, &ids[0]), before);
    let changed = content(&request, &ids[1]);
    assert!(changed.contains(&ids[0]), "{changed}");
    assert!(
        changed.ends_with("\n= 1-39\n+    40→a changed line\n= 41-100\n+"),
        "{changed}"
    );
    assert_eq!(
        content(&request, &ids[2]),
        now,
        "another file, whose text is not in view as it came"
    );
}

#[tokio::test]
async fn v8_errors_small_results_and_other_settings_stay_as_they_are() {
    let output = "one line of the output of a command\n".repeat(600);
    for (setting, reduced) in [
        (ResultReduction::Off, [false, false, false]),
        (ResultReduction::Exact, [false, true, false]),
        (ResultReduction::Recallable, [true, true, false]),
    ] {
        let turns = [
            calls("Bash", "a"),
            calls("Bash", "b"),
            calls("Bash", "c"),
            json!({"text": "Done."}),
        ];
        let stage = Stage::new(200_000, &turns).await;
        let mut session = stage.session().config(set(setting)).open().unwrap();
        session.say("Run it.").await.unwrap();
        let mut ids = Vec::new();
        for turn in 0..3 {
            let reply = session.turn().await.unwrap();
            ids.extend(reply.tool_calls().map(|call| call.id.to_string()));
            let results: Vec<ToolOutput> = answered(&reply, &output)
                .into_iter()
                .map(|result| ToolOutput {
                    is_error: turn == 2,
                    ..result
                })
                .collect();
            session.results(results).await.unwrap();
        }
        session.turn().await.unwrap();
        let request = stage.last_sent();
        let sent = [0, 1, 2].map(|at: usize| content(&request, &ids[at]) != output);
        assert_eq!(sent, reduced, "{setting:?}");
        if setting == ResultReduction::Recallable {
            let excerpt = content(&request, &ids[0]);
            assert!(
                excerpt.contains(&ids[0]) && excerpt.len() < 12_000,
                "{excerpt}"
            );
            assert!(
                output.starts_with(&excerpt[..1_000])
                    && output.ends_with(&excerpt[excerpt.len() - 1_000..])
            );
        }
    }
}

#[tokio::test]
async fn v8_y2_a_resumed_session_repeats_what_was_sent_whatever_is_set_now() {
    let output = "one line of the output of a command\n".repeat(60);
    let turns = [
        calls("Bash", "a"),
        calls("Bash", "b"),
        json!({"text": "Done."}),
        json!({"text": "Again."}),
        calls("Bash", "c"),
        json!({"text": "Done."}),
    ];
    let stage = Stage::new(200_000, &turns).await;
    let mut session = stage
        .session()
        .config(set(ResultReduction::Exact))
        .open()
        .unwrap();
    session.say("Run it twice.").await.unwrap();
    let ids = work(&mut session, &[&output, &output]).await;
    let before = stage.last_sent();
    drop(session);
    let mut session = stage
        .session()
        .config(set(ResultReduction::Off))
        .seed(2)
        .open()
        .unwrap();
    session.say("Go on.").await.unwrap();
    session.turn().await.unwrap();
    let after = stage.last_sent();
    let (before, after) = (
        before["messages"].as_array().unwrap(),
        after["messages"].as_array().unwrap(),
    );
    let bare = |message: &Value| {
        message
            .to_string()
            .replace(r#""cache_control":{"type":"ephemeral"},"#, "")
            .replace(r#","cache_control":{"type":"ephemeral"}"#, "")
    };
    for (before, after) in before.iter().zip(after) {
        assert_eq!(bare(before), bare(after));
    }
    session.say("Once more.").await.unwrap();
    let more = work(&mut session, &[&output]).await;
    let request = stage.last_sent();
    assert_eq!(
        content(&request, &more[0]),
        output,
        "nothing is made smaller any more"
    );
    assert_ne!(content(&request, &ids[1]), output);
}

#[tokio::test]
async fn v8_if_the_referred_result_is_cleared_the_newest_that_refers_to_it_is_sent_as_it_came() {
    let output = "one line of the output of a command\n".repeat(60);
    let turns = [
        calls("Bash", "a"),
        calls("Bash", "b"),
        calls("Bash", "c"),
        calls("Bash", "d"),
        json!({"text": "Done."}),
        json!({"text": "Welcome back."}),
        json!({"text": "Again."}),
    ];
    let stage = Stage::new(200_000, &turns).await;
    let mut config = set(ResultReduction::Exact);
    // The idle time decides where thresholds alone do.
    config.economy = longhaul::EconomyPolicy::Off;
    config.micro.idle_minutes = 10;
    config.micro.keep_recent = 2;
    let mut session = stage.session().config(config.clone()).open().unwrap();
    session.say("Run it.").await.unwrap();
    let ids = work(&mut session, &[&output, &output, &output, "ok"]).await;
    let request = stage.last_sent();
    assert_eq!(
        ids.iter()
            .filter(|id| content(&request, id) == output)
            .count(),
        1
    );
    stage.rest(3_600 * 2);
    session.say("I am back.").await.unwrap();
    session.turn().await.unwrap();
    let request = stage.last_sent();
    assert!(content(&request, &ids[0]).contains("cleared"));
    assert!(content(&request, &ids[1]).contains("cleared"));
    assert_eq!(content(&request, &ids[2]), output);
    // The count knows it, and so does a process that reads the file.
    let used = session.status().used;
    drop(session);
    let builder = stage.session().config(config).seed(2);
    let mut session = builder.open().unwrap();
    assert_eq!(session.status().used, used);
    session.say("Go on.").await.unwrap();
    session.turn().await.unwrap();
    assert_eq!(content(&stage.last_sent(), &ids[2]), output);
}

#[tokio::test]
async fn v8_if_a_compaction_keeps_only_what_refers_it_is_sent_as_it_came() {
    let output = "one line of the output of a command\n".repeat(60);
    let turns = [
        calls("Bash", "a"),
        json!({"text": "word ".repeat(4_000)}),
        calls("Bash", "b"),
        json!({"text": "Done."}),
        json!({"text": "Welcome back."}),
    ];
    let stage = Stage::new(200_000, &turns).await;
    let mut session = stage
        .session()
        .config(set(ResultReduction::Exact))
        .open()
        .unwrap();
    session.say("Run it.").await.unwrap();
    work(&mut session, &[&output]).await;
    session.say("And again.").await.unwrap();
    let ids = work(&mut session, &[&output]).await;
    assert_ne!(content(&stage.last_sent(), &ids[0]), output);
    let lines = stage.lines();
    let again = lines
        .iter()
        .find(|line| line.to_string().contains("And again."))
        .unwrap();
    let request = CompactRequest {
        local: true,
        pivot: Some(Pivot {
            uuid: again["uuid"].as_str().unwrap().to_owned(),
            direction: PivotDirection::UpTo,
        }),
        ..CompactRequest::default()
    };
    session.compact(request).await.unwrap();
    session.say("Go on.").await.unwrap();
    session.turn().await.unwrap();
    assert_eq!(content(&stage.last_sent(), &ids[0]), output);
}
