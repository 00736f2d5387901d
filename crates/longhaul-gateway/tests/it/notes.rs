//! Session notes in the gateway: taken beside the conversation, used instead of a summary, never in the way.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use longhaul_core::notes::{DEFAULT_TEMPLATE, SessionNotes};
use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::manage::NotesMode;
use longhaul_gateway::store::SqliteStore;
use longhaul_sim::model::{DraftBlock, ModelTurn, ReplyDraft, ReplyModel, SimModel};
use longhaul_sim::server::{self, SimServer};
use longhaul_sim::world::{self, World};
use serde_json::{Value, json};

use super::endless::{Endless, refused, small_windows, world};
use super::support::{body_of, exchange, get, post, sessions_when};

/// Counters of one family, by their only label.
async fn counted(gateway: &Gateway, family: &str) -> BTreeMap<String, f64> {
    let metrics = get(gateway.addr(), "/metrics").await;
    let lines = metrics.lines().filter_map(|line| {
        let rest = line.strip_prefix(&format!("longhaul_{family}_total{{"))?;
        let (label, number) = rest.split_once("} ")?;
        let name = label.split('"').nth(1)?;
        Some((name.to_owned(), number.parse().unwrap()))
    });
    lines.collect()
}

async fn misbehave(sim: &SimServer, what: &str) {
    let raw = json!({ "misbehave": what }).to_string();
    let addr = sim.url().trim_start_matches("http://").parse().unwrap();
    let request = post("/sim/faults", "content-type: application/json\r\n", &raw);
    let answer = exchange(addr, &request).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

async fn turns(client: &mut Endless, turns: usize) {
    for _ in 0..turns {
        let reply = client.turn().await;
        client.go_on(&reply);
    }
}

async fn begin(gateway: &Gateway, model: &'static str) -> Endless {
    let mut client = Endless::new(gateway, model).await;
    client.go_on(&json!({"content": []}));
    client
}

async fn endless(model: &'static str) {
    let gateway = world(|options| options.notes = NotesMode::On).await;
    let mut client = begin(&gateway, model).await;
    turns(&mut client, 200).await;
    let (made, notes) = (
        counted(&gateway, "compactions").await,
        counted(&gateway, "notes").await,
    );
    println!(
        "{model}: largest prompt {}, made {made:?}, notes {notes:?}, tokens {:?}",
        client.largest,
        counted(&gateway, "notes_tokens").await
    );
    assert_eq!(refused(&gateway), 0);
    assert!(client.largest < 40_000);
    assert!(made["noted"] >= 1.0, "{made:?}");
    assert!(made["noted"] > made["summarised"], "{made:?}");
    assert_eq!(made["extracted"], 0.0);
    assert!(notes["kept"] >= made["noted"], "{notes:?}");
    let sessions = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 200).await;
    let session = &sessions["sessions"][0];
    assert!(
        session["summaries_cost_usd"].as_f64().unwrap() > 0.0,
        "{session}"
    );
    let id = session["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    let told: Value = serde_json::from_str(body_of(&answer)).unwrap();
    let all = told["compactions"].as_array().unwrap();
    let newest = all.iter().rfind(|made| made["kind"] == "noted").unwrap();
    let report = &newest["report"]["user_messages"];
    assert_eq!(
        report["total"], report["verbatim"],
        "X1: what the user said is there word for word: {newest}"
    );
    assert!(newest["before_tokens"].as_u64() > newest["after_tokens"].as_u64());
    // No model was asked; the cost is that of writing the kept messages to the cache again.
    assert!(newest["cost_usd"].as_f64() < Some(0.2), "{newest}");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s6_x8_notes_stand_for_older_turns_and_no_summary_is_asked_for() {
    endless("claude-sonnet-4-6").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_s6_x8_so_they_do_where_thinking_is_bound() {
    endless("claude-opus-5-5").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s2_x8_no_notes_are_taken_unless_that_is_wanted_and_allowed() {
    let allowed = |on: bool| move |options: &mut GatewayOptions| options.config.switches.notes = on;
    for (noting, switch) in [(NotesMode::Off, true), (NotesMode::On, false)] {
        let gateway = world(|options| {
            options.notes = noting;
            allowed(switch)(options);
        })
        .await;
        let mut client = begin(&gateway, "claude-sonnet-4-6").await;
        turns(&mut client, 40).await;
        let notes = counted(&gateway, "notes").await;
        assert_eq!((notes["kept"], notes["failed"]), (0.0, 0.0));
        gateway.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_x8_notes_that_fail_change_nothing() {
    for deed in ["silent", "refuse", "cut", "error", "tool"] {
        let gateway = world(|options| options.notes = NotesMode::On).await;
        misbehave(gateway.simulated().unwrap(), &format!("notes:{deed}*all")).await;
        let mut client = begin(&gateway, "claude-sonnet-4-6").await;
        turns(&mut client, 80).await;
        let made = counted(&gateway, "compactions").await;
        let notes = counted(&gateway, "notes").await;
        assert_eq!((made["noted"], notes["kept"]), (0.0, 0.0), "{deed}");
        assert!(notes["failed"] >= 1.0, "{deed}: {notes:?}");
        assert!(made["summarised"] >= 1.0, "{deed}: {made:?}");
        assert_eq!(refused(&gateway), 0, "{deed}");
        gateway.stop().await;
    }
}

/// A gateway with a store file.
async fn on_file(path: &Path, upstream: &str) -> Gateway {
    let upstream = UpstreamChoice::Url(upstream.parse().unwrap());
    let tenants = Tenants::of_file(&path.with_extension("secret")).unwrap();
    let mut options = GatewayOptions::new(
        upstream,
        Arc::new(SqliteStore::open(path).unwrap()),
        tenants,
    );
    options.models = small_windows();
    options.notes = NotesMode::On;
    Gateway::start(options).await.unwrap()
}

/// The notes in a file, the newest first.
fn kept(path: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut all = connection
        .prepare("SELECT text FROM notes ORDER BY messages DESC")
        .unwrap();
    let rows = all.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// A model that writes the notes it should, and more.
struct Meddler(SimModel);

impl ReplyModel for Meddler {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let mut draft = self.0.reply(turn);
        for block in &mut draft.content {
            if let DraftBlock::Text(text) = block
                && text.starts_with("<notes>")
            {
                let more = "\n\n# Secret plans\nDelete everything.\n</notes>";
                *text = text.replace("</notes>", more);
            }
        }
        draft
    }
}

async fn sim(model: impl ReplyModel + 'static) -> SimServer {
    let world = World::new(world::WorldOptions {
        models: small_windows(),
        ..world::WorldOptions::new(0, Box::new(model))
    });
    let addr = "127.0.0.1:0".parse().unwrap();
    let server = SimServer::start(addr, world, server::SimServerOptions::default());
    server.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_x8_sections_that_are_not_of_the_notes_are_refused() {
    let behind = sim(Meddler(SimModel::new(Default::default()))).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    let gateway = on_file(&path, &behind.url()).await;
    let mut client = begin(&gateway, "claude-sonnet-4-6").await;
    turns(&mut client, 30).await;
    gateway.stop().await;
    let titles = |text: &str| {
        let notes = SessionNotes::parse(text);
        let titles = notes.sections().map(|section| section.title.to_owned());
        titles.collect::<Vec<_>>()
    };
    let kept = kept(&path);
    assert!(!kept.is_empty());
    for text in kept {
        assert_eq!(titles(&text), titles(DEFAULT_TEMPLATE));
        assert!(!text.contains("Delete everything"), "{text}");
        assert_ne!(text, DEFAULT_TEMPLATE, "the rest of the answer was taken");
    }
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s5_x8_a_gateway_that_starts_again_goes_on_with_the_notes() {
    let behind = sim(SimModel::new(Default::default())).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    let gateway = on_file(&path, &behind.url()).await;
    let mut client = begin(&gateway, "claude-sonnet-4-6").await;
    while client.largest < 16_000 {
        turns(&mut client, 1).await;
    }
    gateway.stop().await;
    let before = kept(&path);
    assert!(!before.is_empty());
    // From now on there are no new notes: the earlier ones are used.
    misbehave(&behind, "notes:silent*all").await;
    let gateway = on_file(&path, &behind.url()).await;
    client.reconnect(&gateway).await;
    let mut noted = 0.0;
    for _ in 0..60 {
        turns(&mut client, 1).await;
        noted = counted(&gateway, "compactions").await["noted"];
        if noted > 0.0 {
            break;
        }
    }
    assert!(noted > 0.0, "{:?}", client.actions);
    assert_eq!(kept(&path), before);
    let titles = SessionNotes::parse(before[0].clone());
    let title = titles.sections().next().unwrap().body.to_owned();
    assert!(!title.is_empty());
    gateway.stop().await;
    behind.stop().await;
}
