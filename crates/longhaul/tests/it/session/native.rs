//! What the provider does by itself, over HTTP in the offline world: summaries, clearing, dropping results from its cache.

use std::path::Path;
use std::sync::{Arc, Mutex};

use longhaul::session::Observer;
use longhaul::{Boxed, Model, NoWorkspace, OnStream, Prompt, Session};
use longhaul_core::config::Config;
use longhaul_core::engine::{
    CompactRequest, Event, ModelRequest, Pivot, Summarizer, SummarizerSetting,
};
use longhaul_core::prompt::ThinkingChoice;
use longhaul_core::summary::PivotDirection;
use longhaul_provider::{CancellationToken, Client, Error, Reply};
use longhaul_sim::model::{self, SimModel};
use longhaul_sim::server::{SimServer, SimServerOptions, TimeSource};
use longhaul_sim::world::{self, World};
use longhaul_store::Durability;
use serde_json::{Value, json};

use super::house::{Talk, VirtualClock, client, prompt, settings};

/// A client that records what it sends.
struct Recording(Client, Arc<Mutex<Vec<ModelRequest>>>);

impl Model for Recording {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        self.1.lock().unwrap().push(request.clone());
        Model::send(&self.0, request, on_stream, cancel)
    }
}

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<Event>>>);

impl Observer for Heard {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// How a session is set up.
#[derive(Clone)]
struct Setting {
    prompt: Prompt,
    config: Config,
    cache_edits: bool,
}

impl Setting {
    fn new(model: &str, window: u64) -> Self {
        Self {
            prompt: prompt(model),
            config: settings(window),
            cache_edits: false,
        }
    }

    fn provider(model: &str, window: u64) -> Self {
        let mut setting = Self::new(model, window);
        setting.config.summarizer = SummarizerSetting::Provider;
        setting.prompt.think = ThinkingChoice::On { budget: 2_000 };
        setting
    }
}

struct House {
    server: Arc<SimServer>,
    setting: Setting,
    session: Session,
    sent: Arc<Mutex<Vec<ModelRequest>>>,
    heard: Heard,
    folder: tempfile::TempDir,
    failures: Vec<String>,
}

impl House {
    async fn new(setting: Setting) -> Self {
        let sim = SimModel::new(model::SimModelOptions::default());
        let world = World::new(world::WorldOptions::new(5, Box::new(sim)));
        let options = SimServerOptions {
            time: TimeSource::Virtual,
            ..SimServerOptions::default()
        };
        let address = "127.0.0.1:0".parse().unwrap();
        let server = Arc::new(SimServer::start(address, world, options).await.unwrap());
        let folder = tempfile::tempdir().unwrap();
        Self::open(server, setting, folder)
    }

    fn open(server: Arc<SimServer>, setting: Setting, folder: tempfile::TempDir) -> Self {
        let sent = Arc::default();
        let heard = Heard::default();
        let mut builder = Session::builder()
            .model(Recording(client(&server), Arc::clone(&sent)))
            .prompt(setting.prompt.clone())
            .transcript(folder.path().join("session.jsonl"))
            .archive(folder.path().join("archive.db"))
            .durability(Durability::OnClose)
            .config(setting.config.clone())
            .workspace(NoWorkspace)
            .clock(VirtualClock(server.clone()))
            .observer(heard.clone())
            .seed(1);
        if setting.cache_edits {
            // U4 deletes at its own trigger where thresholds alone decide.
            builder = builder.economy(longhaul::EconomyPolicy::Off);
            builder = builder.with_cache_edits();
        }
        Self {
            session: builder.open().unwrap(),
            server,
            setting,
            sent,
            heard,
            folder,
            failures: Vec::new(),
        }
    }

    /// Another process that resumes a copy of the transcript as it is now.
    fn resumed(&self) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = Path::new("session.jsonl");
        std::fs::copy(self.folder.path().join(name), folder.path().join(name)).unwrap();
        Self::open(self.server.clone(), self.setting.clone(), folder)
    }

    async fn turn(&mut self) -> Option<Reply> {
        self.server.with_world(|world| world.advance(7_000));
        match self.session.turn().await {
            Ok(reply) => Some(reply),
            Err(error) => {
                self.failures.push(error.to_string());
                None
            }
        }
    }

    /// The user speaks, the model works with tools until it has said what it has to say.
    async fn exchange(&mut self, talk: &mut Talk, turn: usize) {
        self.session.say(talk.says(turn)).await.unwrap();
        for _ in 0..5 {
            let Some(reply) = self.turn().await else {
                return;
            };
            let calls: Vec<String> = reply.tool_calls().map(|call| call.id.to_string()).collect();
            if calls.is_empty() {
                return;
            }
            let outputs = calls.into_iter().map(|id| talk.result(id)).collect();
            self.session.results(outputs).await.unwrap();
        }
    }

    fn events(&self) -> Vec<Event> {
        self.heard.0.lock().unwrap().clone()
    }

    fn summarizers(&self) -> Vec<Summarizer> {
        let events = self.events();
        let done = events.iter().filter_map(|event| match event {
            Event::Compacted(done) => Some(done.by),
            _ => None,
        });
        done.collect()
    }

    fn bodies(&self) -> Vec<Value> {
        let sent = self.sent.lock().unwrap();
        let bodies = sent.iter();
        bodies
            .map(|request| serde_json::from_slice(&request.body.concat()).unwrap())
            .collect()
    }

    fn request(&self, at: usize) -> (Vec<u8>, Vec<String>) {
        let sent = self.sent.lock().unwrap();
        (sent[at].body.concat(), sent[at].betas.clone())
    }

    fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("session.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// With the same message, the next request of a resumed session has the bytes of this one's.
async fn goes_on_to_the_byte(house: &mut House) {
    let read = longhaul_store::resume(&house.folder.path().join("session.jsonl")).unwrap();
    let live = house.session.engine().live();
    let counts = (read.ledger.context(), live.ledger().context());
    assert_eq!(counts.0, counts.1, "the file is counted as the session is");
    let mut other = house.resumed();
    let before = house.sent.lock().unwrap().len();
    for house in [&mut *house, &mut other] {
        house.session.say("Is that all?").await.unwrap();
        house.turn().await;
        assert!(house.failures.is_empty(), "{:?}", house.failures);
    }
    // Only the first request is compared: where the window is full it asks for a summary, and no two summaries are the
    // same.
    let (one, two) = (house.request(before), other.request(0));
    assert_eq!(one.1, two.1);
    assert_eq!(String::from_utf8(one.0), String::from_utf8(two.0));
}

fn thoughts(body: &Value) -> usize {
    body.to_string().matches(r#""type":"thinking""#).count()
}

#[tokio::test]
async fn n3_y2_the_provider_sums_up_again_and_again_on_a_model_that_binds_thinking() {
    let mut house = House::new(Setting::provider("claude-fable-5-2", 30_000)).await;
    let mut talk = Talk::new(7);
    for turn in 0..50 {
        house.exchange(&mut talk, turn).await;
    }
    let by = house.summarizers();
    println!("{by:?}, failures {:?}", house.failures);
    assert!(house.failures.is_empty(), "{:?}", house.failures);
    let providers = by.iter().filter(|by| **by == Summarizer::Provider).count();
    assert!(providers >= 3, "{by:?}");
    let bodies = house.bodies();
    let thinking = bodies.iter().map(thoughts).max();
    println!(
        "{} requests, at most {thinking:?} thoughts in one",
        bodies.len()
    );
    assert!(thinking > Some(3), "thinking is returned: {thinking:?}");
    for body in &bodies {
        let blocks = body.to_string().matches(r#""type":"compaction""#).count();
        let first = &body["messages"][0]["content"][0]["type"];
        assert_eq!(blocks, usize::from(first == "compaction"));
    }
    let last = bodies.last().unwrap();
    assert_eq!(last["messages"][0]["role"], "assistant");
    let last = last.to_string();
    let missing = talk.said.iter().filter(|said| !last.contains(*said));
    assert_eq!(
        missing.count(),
        0,
        "what the user said is word for word in the request"
    );
    goes_on_to_the_byte(&mut house).await;
}

#[tokio::test]
async fn n3_n2_turns_that_are_kept_behind_the_block_are_never_rejected() {
    let mut house = House::new(Setting::provider("claude-fable-5-2", 200_000)).await;
    let mut talk = Talk::new(9);
    for round in 0..3 {
        for turn in 0..4 {
            house.exchange(&mut talk, round * 10 + turn).await;
        }
        let said = talk.said[talk.said.len() - 2].clone();
        let lines = house.lines();
        let line = lines
            .iter()
            .find(|line| line["message"]["content"] == said.as_str());
        let uuid = line.unwrap()["uuid"].as_str().unwrap().to_owned();
        let direction = [
            PivotDirection::UpTo,
            PivotDirection::From,
            PivotDirection::UpTo,
        ][round];
        let request = CompactRequest {
            pivot: Some(Pivot { uuid, direction }),
            ..CompactRequest::default()
        };
        house.session.compact(request).await.unwrap();
        house.exchange(&mut talk, round * 10 + 8).await;
        assert!(house.failures.is_empty(), "{:?}", house.failures);
    }
    let by = house.summarizers();
    assert_eq!(
        by,
        [Summarizer::Provider, Summarizer::Fork, Summarizer::Provider]
    );
    goes_on_to_the_byte(&mut house).await;
}

#[tokio::test]
async fn n3_compaction_by_threshold_is_stored_as_it_came_and_counted_by_its_steps() {
    let mut setting = Setting::new("claude-sonnet-4-6", 200_000);
    setting.prompt.betas = vec!["compact-2026-01-12".to_owned()];
    let trigger = json!({"type": "input_tokens", "value": 50_000});
    setting.prompt.more.insert(
        "context_management".into(),
        json!({"edits": [{"type": "compact_20260112", "trigger": trigger}]}),
    );
    // Even where it is wanted: the provider refuses both at once.
    setting.config.summarizer = SummarizerSetting::Provider;
    let mut house = House::new(setting).await;
    let mut talk = Talk::new(3);
    let (mut most, mut fell) = (0, false);
    for turn in 0..60 {
        house.exchange(&mut talk, turn).await;
        let used = house.session.status().used;
        fell |= used < most / 2;
        most = most.max(used);
    }
    assert!(house.failures.is_empty(), "{:?}", house.failures);
    let lines = house.lines();
    let compacted = lines
        .iter()
        .filter(|line| line["message"]["content"][0]["type"] == "compaction");
    let compacted = compacted.count();
    println!("{compacted} replies begin with a summary, at most {most} tokens");
    assert!(compacted >= 1 && fell, "{compacted}, {fell}");
    let request = CompactRequest::default();
    house.session.compact(request).await.unwrap();
    assert_eq!(house.summarizers(), [Summarizer::Fork]);
    house.exchange(&mut talk, 100).await;
    assert!(house.failures.is_empty(), "{:?}", house.failures);
    goes_on_to_the_byte(&mut house).await;
}

#[tokio::test]
async fn u7_the_provider_clears_what_is_stale_and_the_count_follows() {
    let mut setting = Setting::new("claude-fable-5-2", 60_000);
    setting.prompt.think = ThinkingChoice::On { budget: 2_000 };
    setting.config.native_clearing = true;
    let mut house = House::new(setting).await;
    let mut talk = Talk::new(11);
    for turn in 0..40 {
        house.exchange(&mut talk, turn).await;
    }
    assert!(house.failures.is_empty(), "{:?}", house.failures);
    let events = house.events();
    let cleared = |event: &&Event| matches!(event, Event::NativeCleared { .. });
    let cleared = events.iter().filter(cleared).count();
    let micro = |event: &&Event| matches!(event, Event::MicroCompacted { .. });
    let broke = |event: &&Event| matches!(event, Event::CacheBreak(_));
    println!(
        "{cleared} clearings, {} breaks, {:?}",
        events.iter().filter(broke).count(),
        house.summarizers()
    );
    assert!(cleared > 0);
    assert_eq!(events.iter().filter(micro).count(), 0);
    goes_on_to_the_byte(&mut house).await;
}

#[tokio::test]
async fn u4_m7_y2_deletions_by_reference_are_on_disk_and_a_resume_asks_for_them_again() {
    let mut setting = Setting::new("claude-sonnet-4-6", 200_000);
    setting.cache_edits = true;
    let mut house = House::new(setting).await;
    let mut talk = Talk::new(13);
    let mut turn = 0;
    while house.session.engine().live().cache_edits().is_empty() {
        house.exchange(&mut talk, turn).await;
        turn += 1;
        assert!(turn < 60, "never deleted");
    }
    assert!(house.failures.is_empty(), "{:?}", house.failures);
    let bodies = house.bodies();
    let pinned = bodies.last().unwrap()["cache_edits"]
        .as_array()
        .unwrap()
        .len();
    assert!(pinned >= 7, "{pinned}");
    assert!(
        bodies
            .last()
            .unwrap()
            .to_string()
            .contains("cache_reference")
    );
    let recorded = |house: &House| -> Vec<usize> {
        let lines = house.lines();
        let edits = lines.iter().filter_map(|line| {
            line["microcompactMetadata"]["cacheEdits"]
                .as_array()
                .cloned()
        });
        edits.map(|edits| edits.len()).collect()
    };
    assert_eq!(recorded(&house), [pinned]);
    goes_on_to_the_byte(&mut house).await;
    let broke = |event: &Event| matches!(event, Event::CacheBreak(_));
    assert!(!house.events().iter().any(broke), "deleting breaks nothing");
    // The cache expires: the deletions go with it.
    house.server.with_world(|world| world.advance(600_000));
    let before = house.session.status().used;
    house.session.say("Still there?").await.unwrap();
    house.turn().await;
    let after = house.session.status().used;
    assert_eq!(recorded(&house), [pinned, 0]);
    assert!(after > before, "they count again: {before}, {after}");
    goes_on_to_the_byte(&mut house).await;
    // A compaction leaves out what the conversation's requests leave out, and ends it.
    for _ in 0..3 {
        house.exchange(&mut talk, turn).await;
        turn += 1;
    }
    let pinned = house.session.engine().live().cache_edits().len();
    assert!(pinned > 0);
    house
        .session
        .compact(CompactRequest::default())
        .await
        .unwrap();
    assert_eq!(house.summarizers(), [Summarizer::Fork]);
    let fork = house.bodies().pop().unwrap();
    assert_eq!(fork["cache_edits"].as_array().unwrap().len(), pinned);
    assert!(house.session.engine().live().cache_edits().is_empty());
    house.exchange(&mut talk, turn).await;
    assert!(house.failures.is_empty(), "{:?}", house.failures);
    goes_on_to_the_byte(&mut house).await;
}

#[tokio::test]
async fn n3_n4_u7_all_that_the_provider_can_do_goes_together() {
    let mut setting = Setting::provider("claude-fable-5-2", 30_000);
    setting.config.native_clearing = true;
    setting.cache_edits = true;
    let mut house = House::new(setting).await;
    let mut talk = Talk::new(17);
    for turn in 0..40 {
        house.exchange(&mut talk, turn).await;
        // Sometimes the user is away long enough for the cache to expire or for the idle clearing.
        let away = [0, 0, 0, 400_000, 0, 0, 4_000_000][turn % 7];
        house.server.with_world(|world| world.advance(away));
    }
    assert!(house.failures.is_empty(), "{:?}", house.failures);
    let by = house.summarizers();
    println!("{by:?}");
    assert!(by.contains(&Summarizer::Provider), "{by:?}");
    goes_on_to_the_byte(&mut house).await;
}
