//! The offline world as a model without a network, in virtual time: a request takes as long as the world says, and its
//! clock, the session's and the runtime's are one.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use longhaul::{Boxed, Clock, Model, OnStream};
use longhaul_core::engine::ModelRequest;
use longhaul_core::models::ModelTable;
use longhaul_core::window::QuerySource;
use longhaul_provider::decode::decode_json;
use longhaul_provider::error::ErrorResponse;
use longhaul_provider::{CancellationToken, Dialect, Error, ErrorClass, Reply};
use longhaul_sim::call::ApiCall;
use longhaul_sim::model::constraints::{ReplyConstraints, RequestedThinking};
use longhaul_sim::model::{self, DraftBlock, ReplyDraft, SimModel};
use longhaul_sim::world::{self, ReplySpeed, World};
use tokio::time::Instant;

use super::plan::Step;

/// Chosen so that a summary of 1,800 tokens takes half a minute.
const PACE: ReplySpeed = ReplySpeed {
    first_byte_ms: 1_500,
    prompt_per_second: 10_000,
    output_per_second: 60,
};

const EPOCH: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// Cheap to clone.
#[derive(Clone)]
pub(super) struct Provider(Arc<Inner>);

struct Inner {
    world: Mutex<World>,
    began: Instant,
    asked: Asked,
    transcript: PathBuf,
    /// How long the conversation's own requests took, together.
    answering: Mutex<Duration>,
    /// The newest request of the conversation itself.
    sent: Mutex<Option<Sent>>,
    rejected: Mutex<Vec<String>>,
    /// By how much the session's clock was set back.
    set_back: Mutex<Duration>,
}

/// A request, and how much of the transcript was on disk when it went out.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) body: String,
    pub(super) on_disk: usize,
}

/// The turn that is requested; none if the request is not for a turn.
#[derive(Clone, Default)]
struct Asked {
    turn: Arc<Mutex<usize>>,
    is_turn: Arc<Mutex<bool>>,
}

/// The built-in model fills the room it is given. Models write summaries of this many tokens.
const SUMMARY: u64 = 3_000;

/// Answers turns as planned, and everything else as the built-in model does.
struct Planned {
    steps: Arc<Vec<Step>>,
    asked: Asked,
    other: SimModel,
}

impl model::ReplyModel for Planned {
    fn reply(&mut self, turn: &model::ModelTurn<'_>) -> ReplyDraft {
        if !*self.asked.is_turn.lock().unwrap() {
            let mut request = turn.request.clone();
            request.max_tokens = request.max_tokens.map(|most| most.min(SUMMARY));
            return self.other.reply(&model::ModelTurn {
                request: &request,
                ..*turn
            });
        }
        let step = &self.steps[*self.asked.turn.lock().unwrap()];
        let mut content = step.reply.clone();
        if ReplyConstraints::of(turn.request).thinking != RequestedThinking::Off {
            content.insert(0, DraftBlock::Thinking(step.thought.clone()));
        }
        ReplyDraft {
            content,
            ..ReplyDraft::default()
        }
    }
}

impl Provider {
    /// A world that begins now and enforces this window.
    pub(super) fn new(
        steps: Arc<Vec<Step>>,
        model: &str,
        window: u64,
        transcript: PathBuf,
    ) -> Self {
        let asked = Asked::default();
        let planned = Planned {
            steps,
            asked: asked.clone(),
            other: SimModel::new(model::SimModelOptions::default()),
        };
        let mut options = world::WorldOptions::new(5, Box::new(planned));
        options.pace = PACE;
        options.kept_calls = usize::MAX;
        let file = format!("[models.{model}]\nwindow = {window}\n");
        options.models = ModelTable::builtin().extended_with(&file).unwrap();
        Self(Arc::new(Inner {
            world: Mutex::new(World::new(options)),
            began: Instant::now(),
            asked,
            transcript,
            answering: Mutex::default(),
            sent: Mutex::default(),
            rejected: Mutex::default(),
            set_back: Mutex::default(),
        }))
    }

    /// From now on the model answers this turn.
    pub(super) fn turn(&self, at: usize) {
        *self.0.asked.turn.lock().unwrap() = at;
    }

    /// Sets the session's clock back.
    pub(super) fn set_back(&self, by: Duration) {
        *self.0.set_back.lock().unwrap() += by;
    }

    pub(super) fn answering(&self) -> Duration {
        *self.0.answering.lock().unwrap()
    }

    /// The newest request of the conversation.
    pub(super) fn sent(&self) -> Option<Sent> {
        self.0.sent.lock().unwrap().clone()
    }

    pub(super) fn rejected(&self) -> Vec<String> {
        self.0.rejected.lock().unwrap().clone()
    }

    pub(super) fn with_world<T>(&self, ask: impl FnOnce(&mut World) -> T) -> T {
        let mut world = self.0.world.lock().unwrap();
        let now = u64::try_from(self.0.began.elapsed().as_millis()).unwrap();
        let behind = now - world.now().0;
        world.advance(behind);
        ask(&mut world)
    }

    async fn answer(
        &self,
        request: ModelRequest,
        on_stream: OnStream<'_>,
        cancel: CancellationToken,
    ) -> Result<Reply, Error> {
        let _ = on_stream;
        let began = Instant::now();
        let is_turn = request.source == QuerySource::SDK;
        let body = Bytes::from(request.body.concat());
        if is_turn {
            *self.0.sent.lock().unwrap() = Some(Sent {
                body: String::from_utf8(body.to_vec()).unwrap(),
                on_disk: std::fs::metadata(&self.0.transcript).unwrap().len() as usize,
            });
        }
        let call = ApiCall {
            key: "k".into(),
            version: "2023-06-01".into(),
            betas: request.betas.iter().cloned().collect::<BTreeSet<_>>(),
            session: Some(request.source.as_str().to_owned()),
            body,
        };
        let answered = self.with_world(|world| {
            *self.0.asked.is_turn.lock().unwrap() = is_turn;
            world.messages(&call)
        });
        let ended = match &answered {
            Ok(reply) => reply.ended.0,
            Err(_) => self.with_world(|world| world.now().0 + PACE.first_byte_ms),
        };
        let ended = self.0.began + Duration::from_millis(ended);
        tokio::select! {
            () = tokio::time::sleep_until(ended) => {}
            () = cancel.cancelled() => {
                return Err(Error::new(ErrorClass::Cancelled, "cancelled"));
            }
        }
        if is_turn {
            *self.0.answering.lock().unwrap() += began.elapsed();
        }
        match answered {
            Ok(reply) => {
                let message = Bytes::from(reply.message.to_string());
                Ok(decode_json(Dialect::Anthropic, &message).unwrap())
            }
            Err(error) => {
                let source = request.source.as_str();
                let told = format!("{source}: {}", error.message);
                self.0.rejected.lock().unwrap().push(told);
                let body = error.envelope("req_1").to_string();
                let mut answer = ErrorResponse::from_body(body.as_bytes());
                answer.status = Some(error.status);
                Err(answer.into_error())
            }
        }
    }
}

impl Model for Provider {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(self.answer(request, on_stream, cancel))
    }
}

impl Clock for Provider {
    fn now(&self) -> Timestamp {
        let back = *self.0.set_back.lock().unwrap();
        EPOCH + SignedDuration::try_from(self.0.began.elapsed()).unwrap()
            - SignedDuration::try_from(back).unwrap()
    }
}
