//! A slow compaction in print mode: readers of the stream are told that it is still in progress (F8, Q4).

use std::io::{self, Write};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use longhaul::{Boxed, Clock, Model, OnStream};
use longhaul_agent::agent::{AgentBuilder, SessionChoice, UserPrompt};
use longhaul_agent::print::{PrintExit, PrintFormat, PrintOptions, print};
use longhaul_core::engine::ModelRequest;
use longhaul_provider::{CancellationToken, Client, Error, Reply};
use longhaul_store::Durability;
use serde_json::Value;
use tokio::sync::Notify;

use crate::agent::house::{House, client, long};

/// How often the stream reports a compaction in progress before the summary arrives: more often than it has phases.
const PATIENCE: usize = 8;

/// A clock that advances by half a minute each time it is read.
#[derive(Clone, Default)]
struct Hasty(Arc<AtomicI64>);

impl Clock for Hasty {
    fn now(&self) -> Timestamp {
        let looks = self.0.fetch_add(1, Ordering::SeqCst);
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_800_000_000 + looks * 31)
    }
}

/// Answers at once, but sends a summary only after it is told to.
struct Slow(Client, Arc<Notify>);

impl Model for Slow {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let body = String::from_utf8_lossy(&request.body.concat()).into_owned();
        let is_summary = body.contains("with these nine numbered headings");
        Box::pin(async move {
            if is_summary {
                self.1.notified().await;
            }
            Model::send(&self.0, request, on_stream, cancel).await
        })
    }
}

/// Collects the output; notifies once a compaction was reported in progress often enough.
#[derive(Clone, Default)]
struct Page {
    text: Arc<Mutex<String>>,
    enough: Arc<Notify>,
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = self.text.lock().unwrap();
        text.push_str(&String::from_utf8_lossy(bytes));
        if text.matches(r#""status":"compacting""#).count() >= PATIENCE {
            self.enough.notify_one();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn f8_q4_a_stream_repeats_every_half_minute_that_a_compaction_goes_on() {
    let turns: Vec<Value> = (0..9).map(|_| long()).collect();
    let mut house = House::scripted(&turns).await;
    house.config.switches.notes = false;
    house.config.background = false;
    house.config.window_cap = Some(24_000);
    let page = Page::default();
    let model = Slow(client(&house.server), page.enough.clone());
    let builder = AgentBuilder::new(Arc::new(model), &house.model, house.cwd(), house.env())
        .session(|session| {
            let session = session.config(house.config.clone());
            let session = session.durability(Durability::OnClose);
            session.clock(Hasty::default())
        })
        .unattended();
    let (mut agent, mut events) = builder.open(SessionChoice::New).await.unwrap();
    let options = PrintOptions {
        format: PrintFormat::StreamJson,
        ..PrintOptions::default()
    };
    let said: Vec<UserPrompt> = (1..=4).map(|part| format!("Part {part}.").into()).collect();
    let (mut out, mut talk) = (page.clone(), |_: &str| {});
    let exit = print(&mut agent, &mut events, said, &options, &mut out, &mut talk).await;
    assert_eq!(exit.unwrap(), PrintExit::Done);
    let text = page.text.lock().unwrap().clone();
    let told: Vec<Value> = (text.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["type"] == "system")
        .collect();
    let at = |subtype: &str| told.iter().position(|line| line["subtype"] == subtype);
    let boundary = at("compact_boundary").unwrap_or_else(|| panic!("{text}"));
    let alive = told[..boundary]
        .iter()
        .filter(|line| line["status"] == "compacting");
    assert!(alive.count() >= PATIENCE, "{text}");
    let last = told.iter().rfind(|line| line["subtype"] == "status");
    assert!(last.unwrap()["status"].is_null(), "always cleared: {text}");
}
