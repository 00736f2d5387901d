//! Automatic compactions that fail, and what ends a run of failures (O2, O4).

use longhaul::session::CompactOutcome;
use longhaul::{Boxed, Model, OnStream, Session};
use longhaul_core::config::Config;
use longhaul_core::engine::{CompactRequest, Event, ModelRequest};
use longhaul_provider::{CancellationToken, Client, Error, ErrorClass, Reply};
use serde_json::Value;

use super::house::client;
use super::scripted::{Heard, Stage, words};

/// Answers everything but requests for summaries.
struct NoSummaries(Client);

impl Model for NoSummaries {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let body = String::from_utf8_lossy(&request.body.concat()).into_owned();
        if body.contains("with these nine numbered headings") {
            return Box::pin(async {
                Err(Error::new(
                    ErrorClass::Invalid,
                    "no summaries are written here",
                ))
            });
        }
        Model::send(&self.0, request, on_stream, cancel)
    }
}

struct Failing {
    session: Session,
    heard: Heard,
}

impl Failing {
    fn count(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        let events = self.heard.0.lock().unwrap();
        events.iter().filter(|event| wanted(event)).count()
    }

    fn failures(&self) -> usize {
        self.count(|event| matches!(event, Event::CompactFailed { .. }))
    }

    fn is_tripped(&self) -> bool {
        self.count(|event| matches!(event, Event::BreakerTripped)) > 0
    }

    /// Talks until this many automatic compactions have failed in total.
    async fn until(&mut self, failures: usize) {
        for _ in 0..80 {
            if self.failures() >= failures {
                return;
            }
            self.session.say("And then?").await.unwrap();
            self.session.turn().await.unwrap();
        }
        panic!("{} failures", self.failures());
    }
}

#[tokio::test]
async fn o4_any_compaction_ends_a_run_of_failures() {
    for by_hand in [false, true] {
        // The threshold is 67,000 tokens, and at most 77,000 fit.
        let turns: Vec<Value> = (0..140).map(|_| words(1_500)).collect();
        let stage = Stage::new(100_000, &turns).await;
        let heard = Heard::default();
        let mut config = Config::default();
        config.switches.notes = false;
        config.background = false;
        let session = (stage.session().config(config))
            .model(NoSummaries(client(&stage.server)))
            .observer(heard.clone())
            .open()
            .unwrap();
        let mut failing = Failing { session, heard };
        failing.until(2).await;
        assert!(!failing.is_tripped());
        if by_hand {
            let local = CompactRequest {
                local: true,
                ..CompactRequest::default()
            };
            let done = failing.session.compact(local).await.unwrap();
            assert!(matches!(done, CompactOutcome::Done(_)));
            failing.until(4).await;
            assert!(
                !failing.is_tripped(),
                "two before it and two after it are no run of three"
            );
            failing.until(5).await;
        } else {
            failing.until(3).await;
        }
        assert!(failing.is_tripped());
    }
}
