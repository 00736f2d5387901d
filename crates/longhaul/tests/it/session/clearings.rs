//! When old results are cleared and when they are not: by price, only with a safe copy, and on requests whose cache is
//! already cold.

use std::path::Path;

use longhaul::session::SessionBuilder;
use longhaul::{EconomyPolicy, Session};
use longhaul_core::config::{Config, ResultReduction};
use longhaul_core::economy::EconomyRecord;
use longhaul_core::window::WindowLevel;
use longhaul_store::archive::{Archive, tool};
use serde_json::{Value, json};

use super::scripted::{MODEL, Stage, answered, reads, texts};
use super::set::set;

/// A file of models in which only the prices differ, in dollars for a million tokens.
fn prices(read: f64, write: f64) -> String {
    format!(
        "[models.{MODEL}]\nprices = {{ input = 3, cache_write_5m = {write}, cache_write_1h = 6, cache_read = {read}, output = 15 }}\n"
    )
}

/// Reads one file after the other until results are cleared. Returns the number of requests until then, and the record.
async fn cleared_after(table: &str) -> Option<(usize, EconomyRecord)> {
    let turns: Vec<Value> = (0..25).map(|_| reads("Read")).collect();
    let stage = Stage::with_models(table, &turns).await;
    let mut config = Config::default();
    config.switches.notes = false;
    config.background = false;
    config.reduce = ResultReduction::Off;
    let mut session = stage.session().config(config).open().unwrap();
    session.say("Read them all.").await.unwrap();
    for requests in 0..24 {
        stage.rest(7);
        let reply = session.turn().await.unwrap();
        let lines = stage.lines();
        let mut records = lines.iter().filter_map(|line| {
            let record = line["microcompactMetadata"].get("economy")?;
            Some(serde_json::from_value(record.clone()).unwrap())
        });
        if let Some(record) = records.next() {
            return Some((requests, record));
        }
        let text = format!("part {requests} of it\n").repeat(800);
        session.results(answered(&reply, &text)).await.unwrap();
    }
    None
}

#[tokio::test]
async fn x3_results_are_cleared_when_their_price_is_earned_and_prices_alone_decide_when() {
    let usual = cleared_after(&prices(0.3, 3.75)).await;
    let dearer = cleared_after(&prices(0.3, 7.5)).await;
    let as_cheap_to_write = cleared_after(&prices(0.3, 0.3)).await;
    let free_to_read = cleared_after(&prices(0.0, 3.75)).await;
    assert_eq!(free_to_read, None, "nothing is ever saved");
    let (soonest, record) = as_cheap_to_write.unwrap();
    // The three newest results and those of the last round always stay.
    assert_eq!(
        (soonest, record.price_usd),
        (4, 0.0),
        "clearing costs nothing"
    );
    let (requests, record) = usual.unwrap();
    assert!(requests > soonest, "{requests}");
    assert!(dearer.is_none_or(|(later, _)| later > requests));
    assert_eq!(record.policy, EconomyPolicy::Clear);
    assert!(record.tokens_freed > 2_000, "{record:?}");
    assert!(
        record.price_usd > 0.0 && record.rent_usd > 0.0,
        "{record:?}"
    );
    // What later requests save is what is freed, at the price of reading; and that earns the price.
    let saved = record.tokens_freed as f64 * 0.3 / 1e6;
    assert!(
        (record.saved_per_request_usd - saved).abs() < 1e-9,
        "{record:?}"
    );
    let pays_back = (record.price_usd / saved).ceil();
    assert_eq!(
        record.pay_back_requests,
        Some(pays_back as u64),
        "{record:?}"
    );
}

fn clearings(lines: &[Value]) -> Vec<usize> {
    let ids = lines
        .iter()
        .filter_map(|line| line["microcompactMetadata"]["compactedToolIds"].as_array());
    ids.map(Vec::len).collect()
}

/// Results that one can tell apart.
fn result(number: usize) -> String {
    format!("line of result {number}\n").repeat(100)
}

/// The results that the newest request shows.
fn shown(stage: &Stage) -> Vec<usize> {
    let seen = texts(&stage.last_sent());
    (0..6)
        .filter(|number| seen.contains(&result(*number)))
        .collect()
}

async fn rested(stage: &Stage, session: &mut Session, said: &str) {
    stage.rest(61 * 60);
    session.say(said).await.unwrap();
    session.turn().await.unwrap();
}

#[tokio::test]
async fn o7_what_cannot_be_archived_is_sent_in_full_however_old_it_is() {
    let mut turns: Vec<Value> = (0..6).map(|_| reads("Read")).collect();
    turns.extend((0..3).map(|_| json!({"text": "Yes."})));
    let stage = Stage::new(200_000, &turns).await;
    // A file lies where the archive's folder would be.
    let blocked = stage.folder.path().join("archive");
    std::fs::write(&blocked, "in the way").unwrap();
    let archive = blocked.join("archive.db");
    let open = |builder: SessionBuilder, archive: &Path| {
        let session = builder.config(set("")).archive(archive);
        session.open().unwrap()
    };
    let mut session = open(stage.session(), &archive);
    session.say("Read them.").await.unwrap();
    for number in 0..6 {
        let reply = session.turn().await.unwrap();
        let results = answered(&reply, &result(number));
        session.results(results).await.unwrap();
    }
    session.turn().await.unwrap();
    rested(&stage, &mut session, "Back again.").await;
    assert_eq!(clearings(&stage.lines()), Vec::<usize>::new());
    assert_eq!(shown(&stage), [0, 1, 2, 3, 4, 5]);

    std::fs::remove_file(&blocked).unwrap();
    rested(&stage, &mut session, "And once more.").await;
    assert_eq!(clearings(&stage.lines()), [1]);
    assert_eq!(shown(&stage), [1, 2, 3, 4, 5]);
    let cleared = stage.lines();
    let ids = cleared
        .iter()
        .find_map(|line| line["microcompactMetadata"]["compactedToolIds"].as_array());
    let id = ids.unwrap()[0].clone();
    drop(session);
    let archive = Archive::open(&archive).unwrap();
    let recalled = tool::answer(&archive, &json!({"id": id}).to_string());
    assert!(recalled.contains(result(0).trim_end()), "{recalled}");
}

#[tokio::test]
async fn y5_clearing_that_can_wait_waits_until_the_cache_is_cold_anyway() {
    let turns: Vec<Value> = (0..40).map(|_| reads("Read")).collect();
    let stage = Stage::new(200_000, &turns).await;
    let mut session = stage.session().config(set("")).open().unwrap();
    session.say("Read them all.").await.unwrap();
    // The window fills up to the warning, and goes on from there, on a warm cache.
    let mut warned = 0;
    while warned < 2 {
        stage.rest(7);
        let reply = session.turn().await.unwrap();
        let results = answered(&reply, &"some text of a long result ".repeat(800));
        session.results(results).await.unwrap();
        assert_eq!(clearings(&stage.lines()), Vec::<usize>::new(), "it waits");
        warned += usize::from(session.status().level == WindowLevel::Warning);
    }
    stage.rest(7);
    let reply = session.turn().await.unwrap();
    assert!(reply.usage.cache_read > 100_000, "{:?}", reply.usage);
    assert_eq!(session.status().level, WindowLevel::Warning);
    assert_eq!(clearings(&stage.lines()), Vec::<usize>::new(), "it waits");
    let before = session.status().used;
    let results = answered(&reply, "ok");
    session.results(results).await.unwrap();
    // Long enough for the cache, and far too short for results to be cleared for their age.
    stage.rest(6 * 60);
    session.turn().await.unwrap();
    let [cleared] = clearings(&stage.lines())[..] else {
        panic!("{:?}", clearings(&stage.lines()));
    };
    assert!(cleared > 10, "in one go: {cleared}");
    assert!(session.status().used + 20_000 < before);
}
