//! Long conversations whose model keeps looking things up: they stay within the window, and nothing is ever refused.

use std::sync::{Arc, Mutex};

use longhaul_gateway::front::UpstreamChoice;
use longhaul_gateway::recall::RecallMode;
use longhaul_sim::model::constraints::ReplyConstraints;
use longhaul_sim::model::{
    DraftBlock, ModelTurn, ReplyDraft, ReplyModel, SimModel, SimModelOptions, summarize,
};
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world::{World, WorldOptions};
use serde_json::json;

use crate::endless::{Endless, small_windows, world};

/// What the model was answered.
#[derive(Debug, Default)]
struct Answers {
    /// Old results that were found again.
    found: usize,
    asked: usize,
}

/// A model that looks something up every now and then: alone, or beside its other calls.
struct Searching {
    inner: SimModel,
    answers: Arc<Mutex<Answers>>,
}

impl ReplyModel for Searching {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let mut draft = self.inner.reply(turn);
        if summarize::is_asked(&ReplyConstraints::of(turn.request).words) {
            return draft;
        }
        let mut answers = self.answers.lock().unwrap();
        let last = turn.request.messages.last().map(|last| &last.content);
        let last = last.into_iter().flatten();
        let found = last.filter(|block| block.raw.contains("line of »result« »1«"));
        answers.found += found.count();
        if turn.index % 3 != 1 {
            return draft;
        }
        answers.asked += 1;
        let recall = DraftBlock::ToolUse {
            name: "recall".to_owned(),
            input: json!({"query": "\"result 1 with\""}),
        };
        if turn.index.is_multiple_of(2) {
            let is_thought = |block: &DraftBlock| matches!(block, DraftBlock::Thinking(_));
            draft.content.retain(is_thought);
            draft
                .content
                .push(DraftBlock::Text("Let me look.".to_owned()));
        }
        draft.content.push(recall);
        draft
    }

    fn misbehave(&mut self, more: longhaul_sim::model::misbehave::Misbehavior) {
        self.inner.misbehave(more);
    }
}

async fn goes_on(model: &'static str, turns: usize) {
    let answers = Arc::new(Mutex::new(Answers::default()));
    let searching = Searching {
        inner: SimModel::new(SimModelOptions::default()),
        answers: Arc::clone(&answers),
    };
    let options = WorldOptions {
        models: small_windows(),
        ..WorldOptions::new(5, Box::new(searching))
    };
    let address = "127.0.0.1:0".parse().unwrap();
    let behind = SimServer::start(address, World::new(options), SimServerOptions::default())
        .await
        .unwrap();
    let url = behind.url();
    let gateway = world(|options| {
        options.upstream = UpstreamChoice::Url(url.parse().unwrap());
        options.recall = RecallMode::On;
    })
    .await;
    let mut client = Endless::new(&gateway, model).await;
    client.go_on(&json!({"content": []}));
    for turn in 0..turns {
        let reply = client.turn().await;
        let shown = reply["content"].to_string();
        assert!(!shown.contains("\"recall\""), "turn {turn}: {shown}");
        client.go_on(&reply);
    }
    let refused: Vec<String> = behind.with_world(|world| {
        let recent = world.usage_log().recent.iter();
        recent.filter_map(|call| call.refusal.clone()).collect()
    });
    let answers = std::mem::take(&mut *answers.lock().unwrap());
    println!(
        "{model}: {turns} turns, asked {} times, an old result found {} times, largest prompt {}, summarized {}",
        answers.asked,
        answers.found,
        client.largest,
        client
            .actions
            .iter()
            .filter(|action| *action == "summarised")
            .count()
    );
    assert_eq!(refused, Vec::<String>::new());
    assert!(client.largest < 40_000);
    assert!(
        client.actions.iter().any(|action| action == "summarised"),
        "{:?}",
        client.actions
    );
    assert!(answers.found > 10, "what was summarized is found again");
    gateway.stop().await;
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x2_x8_a_model_that_keeps_looking_things_up_stays_within_the_window() {
    goes_on("claude-sonnet-4-6", 120).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_x2_x8_so_does_one_that_binds_its_thinking() {
    goes_on("claude-opus-5-5", 120).await;
}
