//! Recorded transcripts: every one makes a list that adds up and requests that the API would take.

use longhaul_core::models::ModelTable;
use longhaul_sim::call::ApiCall;
use longhaul_sim::request::{Endpoint, MessagesRequest};
use longhaul_sim::thinking::{AccountAge, SigningSecret, check};
use longhaul_sim::validate::validate;
use longhaul_testkit::corpora;
use longhaul_testkit::{SessionSpec, session::Feature};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::{adds_up, json};
use crate::support::{Finish, World};

/// The API's answer to a body, without checking its thinking.
fn refusal(body: &str) -> Option<String> {
    let call = call();
    let model = serde_json::from_str::<Value>(body).unwrap()["model"]
        .as_str()
        .unwrap()
        .to_owned();
    let spec = ModelTable::builtin().resolve(&model).spec;
    let read = MessagesRequest::read(
        body.as_bytes(),
        Endpoint::Messages,
        &call.betas,
        &call.version,
    );
    let judged = read.and_then(|request| validate(&request, &spec, &call));
    judged.err().map(|error| error.message.to_string())
}

fn call() -> ApiCall {
    ApiCall {
        key: "key".into(),
        version: "2026-10-21".into(),
        ..ApiCall::default()
    }
}

#[test]
fn z3_every_recorded_transcript_makes_a_list_and_requests_that_are_accepted() {
    let Some(files) = corpora::claude_code_transcripts() else {
        return;
    };
    let world = World::new();
    for file in files {
        let name = file.display();
        let show = |args: &[&str]| world.longhaul(["show"]).args(args).arg(&file).finish();
        let run = show(&["--json"]);
        let list = run.json();
        adds_up(&list);
        assert!(
            run.code < 2
                && list["items"]
                    .as_array()
                    .is_some_and(|items| !items.is_empty()),
            "{name}"
        );
        let page = world
            .longhaul(["show"])
            .arg(&file)
            .env("COLUMNS", "60")
            .finish()
            .ends(run.code)
            .out;
        assert!(page.lines().all(|line| line.width() <= 60), "{page}");
        for args in [
            &["--request", "--say", "Go on."][..],
            &["--request", "--turn", "1"],
            &["--request", "--turn", "-1"],
        ] {
            let run = show(args);
            // A transcript may lack what a response answered.
            if run.code == 2 && args.contains(&"--turn") {
                let run = run.says("no request can be made");
                println!("{name} {args:?}: {}", run.err.trim());
                continue;
            }
            assert!(run.code < 2, "{name}: {}", run.err);
            assert_eq!(refusal(&run.out), None, "{name} {args:?}");
        }
        // The whole file through a pipe, as a program without prefix entries would write it.
        let bytes = std::fs::read(&file).unwrap();
        let piped = world
            .longhaul(["show", "-", "--json"])
            .finish_with(&bytes)
            .json();
        assert_eq!(piped["items"], list["items"], "{name}");
        assert_eq!(json(&world, &file, &[], run.code)["file"], name.to_string());
    }
}

/// Every how many requests of a recorded transcript one is tried. `LONGHAUL_SHOW_EVERY=1` tries all of them.
fn every() -> usize {
    let set = std::env::var("LONGHAUL_SHOW_EVERY").ok();
    set.and_then(|set| set.parse().ok()).unwrap_or(23).max(1)
}

#[test]
fn z2_z3_requests_of_recorded_turns_are_accepted_by_a_strict_provider() {
    let Some(files) = corpora::claude_code_transcripts() else {
        return;
    };
    let world = World::new();
    let (mut made, mut unmade, mut refused) = (0, Vec::new(), Vec::new());
    for file in files {
        let inspected = world.longhaul(["inspect", "--json"]).arg(&file).finish();
        let rounds = inspected.json()["rounds"].as_u64().unwrap();
        for turn in (1..=rounds).step_by(every()) {
            let turn = turn.to_string();
            let mut show = world.longhaul(["show", "--request", "--turn", &turn]);
            let run = show.arg(&file).finish();
            let name = format!("{} turn {turn}", file.display());
            // A transcript may lack what a response answered.
            if run.code == 2 {
                unmade.push(format!("{name}: {}", run.err.trim()));
                continue;
            }
            assert!(run.code < 2, "{name}: {}", run.err);
            made += 1;
            refused.extend(refusal(&run.out).map(|why| format!("{name}: {why}")));
        }
    }
    println!(
        "{made} requests, {} could not be made: {unmade:#?}",
        unmade.len()
    );
    assert!(
        refused.is_empty(),
        "{} of {made}: {refused:#?}",
        refused.len()
    );
    assert!(made >= 40 && unmade.len() * 20 <= made, "{unmade:#?}");
}

#[test]
fn n2_foreign_thinking_is_stripped_for_a_model_that_binds_it() {
    let session = SessionSpec::new(4, 20).with(Feature::Thinking).generate();
    let text = String::from_utf8(session.bytes).unwrap();
    let world = World::new();
    let named = world.inspect(text.as_bytes()).json()["window"]["model"].clone();
    let bound = text.replace(named.as_str().unwrap(), "claude-fable-5-2");
    for (bytes, stripped) in [(text, false), (bound, true)] {
        let file = world.write("s.jsonl", bytes);
        let list = json(&world, &file, &["--say", "Go on."], 0);
        assert_eq!(list["items"].to_string().contains("stripped"), stripped);
        assert_eq!(
            list["items"].to_string().contains("\"thinking\""),
            !stripped
        );
        let run = world
            .run(["show", "s.jsonl", "--say", "Go on.", "--request"])
            .ends(0);
        assert_eq!(refusal(&run.out), None);
        if stripped {
            let call = call();
            let spec = ModelTable::builtin().resolve("claude-fable-5-2").spec;
            let request = MessagesRequest::read(
                run.out.as_bytes(),
                Endpoint::Messages,
                &call.betas,
                &call.version,
            )
            .unwrap();
            let admitted = check(
                &request,
                &spec,
                &call,
                &SigningSecret::from_seed(1),
                AccountAge::New,
            );
            assert!(admitted.is_ok_and(|admitted| admitted.transformations.is_empty()));
        }
    }
}
