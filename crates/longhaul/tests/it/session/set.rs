//! Users' settings at work in a session: tools, limits of clearing, the model of summaries, words for rules, who owns
//! the window.

use longhaul::session::CompactOutcome;
use longhaul_core::config::{Config, ConfigFileLayer, ConfigLayers};
use longhaul_core::engine::{CompactRequest, Summarizer};
use serde_json::{Value, json};

use super::scripted::{MODEL, Stage, answered, reads, words};

/// Settings as a file would set them, where thresholds alone decide.
pub(crate) fn set(text: &str) -> Config {
    // The results of these tests are identical.
    let quiet =
        "economy = \"off\"\nreduce = \"off\"\n[compaction]\nnotes = false\nbackground = false\n";
    let layers = ConfigLayers {
        file: Some(ConfigFileLayer {
            path: "config.toml".to_owned(),
            text: format!("{quiet}{text}"),
        }),
        ..ConfigLayers::default()
    };
    Config::load(&layers).unwrap()
}

fn cleared(lines: &[Value]) -> Vec<usize> {
    let ids = lines
        .iter()
        .filter_map(|line| line["microcompactMetadata"]["compactedToolIds"].as_array());
    ids.map(Vec::len).collect()
}

#[tokio::test]
async fn u1_u3_the_tools_the_idle_gap_and_what_stays_are_settings() {
    for (settings, wanted) in [
        ("", &[][..]),
        ("[micro]\nidle_minutes = 10\n", &[1][..]),
        ("[micro]\nidle_minutes = 10\nkeep_recent = 2\n", &[4][..]),
        // A tool that is not named is not cleared; one of a server is, if it is.
        (
            "[micro]\nidle_minutes = 10\nkeep_recent = 2\ntools = [\"Grep\"]\n",
            &[][..],
        ),
        (
            "[micro]\nidle_minutes = 10\nkeep_recent = 2\ntools = [\"Grep\"]\nmore_tools = [\"Re*\"]\n",
            &[4][..],
        ),
    ] {
        let mut turns: Vec<Value> = (0..6).map(|_| reads("Read")).collect();
        turns.push(json!({"text": "Done."}));
        turns.push(json!({"text": "Welcome back."}));
        let stage = Stage::new(200_000, &turns).await;
        let mut session = stage.session().config(set(settings)).open().unwrap();
        session.say("Read them.").await.unwrap();
        for _ in 0..6 {
            let reply = session.turn().await.unwrap();
            session
                .results(answered(&reply, &"some text ".repeat(200)))
                .await
                .unwrap();
        }
        session.turn().await.unwrap();
        stage.rest(11 * 60);
        session.say("Back.").await.unwrap();
        session.turn().await.unwrap();
        assert_eq!(cleared(&stage.lines()), wanted, "{settings}");
    }
}

#[tokio::test]
async fn u4_the_trigger_and_what_stays_are_settings() {
    let turns: Vec<Value> = (0..8).map(|_| reads("Read")).collect();
    let stage = Stage::new(200_000, &turns).await;
    let config = set("[micro]\ntrigger = 6\nkeep_recent = 3\n");
    let mut session = (stage.session().config(config).with_cache_edits())
        .open()
        .unwrap();
    session.say("Read them.").await.unwrap();
    for _ in 0..7 {
        stage.rest(7);
        let reply = session.turn().await.unwrap();
        session
            .results(answered(&reply, &"some text ".repeat(400)))
            .await
            .unwrap();
    }
    let sent = stage.sent.lock().unwrap();
    let asked: Vec<usize> = (sent.iter())
        .map(|body| body["cache_edits"].as_array().unwrap().len())
        .collect();
    assert_eq!(asked, [0, 0, 0, 0, 0, 0, 3]);
}

#[tokio::test]
async fn f7_another_model_is_asked_for_summaries_if_one_is_set() {
    for (settings, by, model) in [
        (
            "summary_model = \"claude-haiku-4-5\"\n",
            Summarizer::Plain,
            "claude-haiku-4-5",
        ),
        // The conversation's own model is asked by a fork, which reads the cache.
        (
            "summary_model = \"claude-sonnet-4-6\"\n",
            Summarizer::Fork,
            MODEL,
        ),
    ] {
        let stage = Stage::new(200_000, &[words(3_000)]).await;
        let mut session = stage.session().config(set(settings)).open().unwrap();
        session.say("Tell me all about it.").await.unwrap();
        session.turn().await.unwrap();
        let done = session.compact(CompactRequest::default()).await.unwrap();
        let CompactOutcome::Done(done) = done else {
            panic!("{done:?}");
        };
        assert_eq!(done.by, by);
        assert_eq!(stage.last_sent()["model"], model);
    }
}

#[tokio::test]
async fn x1_words_that_make_a_sentence_a_rule_are_a_setting() {
    for (settings, rules) in [
        ("", 1),
        ("[rules]\nwords = [\"House rule:\"]\n", 2),
        (
            "[rules]\nwords = [\"House rule:\"]\nbuiltin_words = false\n",
            1,
        ),
    ] {
        let stage = Stage::new(200_000, &[words(3_000)]).await;
        let mut session = stage.session().config(set(settings)).open().unwrap();
        let said = "Look at the parser. House rule: tabs in every file. Never push to main.";
        session.say(said).await.unwrap();
        session.turn().await.unwrap();
        let local = CompactRequest {
            local: true,
            ..CompactRequest::default()
        };
        let CompactOutcome::Done(done) = session.compact(local).await.unwrap() else {
            panic!("no compaction");
        };
        assert_eq!(done.report.rules.total, rules, "{settings}");
        assert_eq!(done.report.rules.verbatim, rules, "{settings}");
    }
}

#[tokio::test]
async fn y4_words_that_call_work_off_are_a_setting() {
    for (settings, is_off) in [
        ("", [true, false]),
        ("[called_off]\nwords = [\"Abblasen\"]\n", [true, true]),
        (
            "[called_off]\nwords = [\"Abblasen\"]\nbuiltin_words = false\n",
            [false, true],
        ),
    ] {
        for (said, is_off) in ["Cancel that.", "Den Umzug abblasen!"].iter().zip(is_off) {
            let todos = json!({"todos": [{"content": "Move the tables", "status": "pending"}]});
            let plans = json!({"tools": [{"name": "TodoWrite", "input": todos}]});
            let stage = Stage::new(200_000, &[plans, words(3_000), words(3_000)]).await;
            let mut session = stage.session().config(set(settings)).open().unwrap();
            session.say("Move the tables, please.").await.unwrap();
            let reply = session.turn().await.unwrap();
            session.results(answered(&reply, "ok")).await.unwrap();
            session.turn().await.unwrap();
            session.say(*said).await.unwrap();
            session.turn().await.unwrap();
            let local = CompactRequest {
                local: true,
                ..CompactRequest::default()
            };
            session.compact(local).await.unwrap();
            let lines = stage.lines();
            let summary = lines.iter().find(|line| line["isCompactSummary"] == true);
            let text = summary.unwrap()["message"]["content"].to_string();
            assert!(text.contains("Move the tables"), "{text}");
            let quoted = text.contains(&format!("“{said}”"));
            assert_eq!(quoted, is_off, "{settings} {said}: {text}");
        }
    }
}

#[tokio::test]
async fn h6_in_reactive_mode_the_window_fills_until_the_provider_has_no_more_room() {
    let mut fullest = Vec::new();
    for settings in ["", "reactive_only = true\n"] {
        let turns: Vec<Value> = (0..12).map(|_| words(6_000)).collect();
        let stage = Stage::new(30_000, &turns).await;
        let mut session = stage.session().config(set(settings)).open().unwrap();
        let mut used = 0;
        while session.compactions() == 0 {
            used = used.max(session.status().used);
            session.say("Tell me more about it.").await.unwrap();
            session.turn().await.unwrap();
        }
        fullest.push(used);
    }
    // The threshold is 20,100 tokens, and a reply some 6,900.
    assert!(fullest[0] < 27_000, "{fullest:?}");
    assert!(fullest[1] > 27_000, "{fullest:?}");
}

#[tokio::test]
async fn o4_the_turn_the_threshold_and_the_source_are_on_the_boundary_and_a_resume_goes_on_with_them()
 {
    let stage = Stage::new(200_000, &[words(3_000), words(3_000), words(3_000)]).await;
    let mut session = stage.session().config(set("")).open().unwrap();
    let mut compactions = Vec::new();
    for round in 0..3 {
        if round == 2 {
            drop(session);
            session = stage.session().config(set("")).open().unwrap();
        }
        session.say("Tell me all about it.").await.unwrap();
        session.turn().await.unwrap();
        let local = CompactRequest {
            local: true,
            ..CompactRequest::default()
        };
        let CompactOutcome::Done(done) = session.compact(local).await.unwrap() else {
            panic!("no compaction");
        };
        compactions.push(done.recompaction);
    }
    let lines = stage.lines();
    let recorded: Vec<&Value> = (lines.iter())
        .map(|line| &line["compactMetadata"]["recompaction"])
        .filter(|value| !value.is_null())
        .collect();
    assert_eq!(recorded.len(), 3);
    for (line, event) in recorded.iter().zip(&compactions) {
        assert_eq!(line["turnId"], json!(event.turn));
        assert_eq!(line["previousTurnId"], json!(event.previous_turn));
        assert_eq!(line["threshold"], json!(event.threshold));
        assert_eq!(line["source"], "sdk");
        assert_eq!(line["turnsSince"], json!(event.turns_since));
    }
    let [first, second, third] = compactions.as_slice() else {
        panic!("{compactions:?}");
    };
    assert_eq!(
        (first.in_chain, first.previous_turn.as_ref()),
        (false, None)
    );
    assert_eq!(second.previous_turn.as_ref(), Some(&first.turn));
    assert_eq!(
        third.previous_turn.as_ref(),
        Some(&second.turn),
        "after a restart"
    );
    assert_eq!(third.turns_since, Some(1));
}
