//! Replies that break off or are stopped: the provider bills what it had read and written by then. The session's model is
//! wrapped, so that no way to end a reply (an error, a cancellation, a future that is dropped) leaves its usage out.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::engine::ModelRequest;
use longhaul_core::message::Usage;
use longhaul_core::tokens::likely;
use longhaul_core::window::QuerySource;
use longhaul_provider::{CancellationToken, Error, Reply, StreamEvent};
use tokio::sync::Notify;

use crate::model::{Boxed, Model, OnStream};

/// A reply that was lost.
#[derive(Debug)]
pub(super) struct LostReply {
    /// What its request was for.
    pub(super) source: QuerySource,
    /// Its usage as far as it is known: the output is at least this.
    pub(super) usage: Usage,
}

/// Lost replies of which the engine does not know yet.
#[derive(Debug, Default)]
pub(super) struct LostReplies {
    unreported: Mutex<Vec<LostReply>>,
    came: Notify,
}

impl LostReplies {
    /// Takes what was lost since the last call.
    pub(super) fn take(&self) -> Vec<LostReply> {
        let mut unreported = self
            .unreported
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *unreported)
    }

    /// Waits until something was lost.
    pub(super) async fn came(&self) {
        self.came.notified().await;
    }

    fn push(&self, lost: LostReply) {
        let mut unreported = self
            .unreported
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        unreported.push(lost);
        drop(unreported);
        self.came.notify_one();
    }
}

/// A model whose lost replies are noted.
pub(super) struct AccountedModel {
    model: Arc<dyn Model>,
    lost: Arc<LostReplies>,
}

impl AccountedModel {
    pub(super) fn new(model: Arc<dyn Model>, lost: Arc<LostReplies>) -> Self {
        Self { model, lost }
    }

    async fn accounted(
        &self,
        request: ModelRequest,
        on_stream: OnStream<'_>,
        cancel: CancellationToken,
        tries: SendTries,
    ) -> Result<Reply, Error> {
        let mut arriving = ArrivingReply {
            lost: self.lost.clone(),
            source: request.source.clone(),
            usage: None,
            written: Vec::new(),
        };
        let mut noted = |event: &StreamEvent| {
            arriving.event(event);
            on_stream(event);
        };
        let sent = match tries {
            SendTries::AsConfigured => self.model.send(request, &mut noted, cancel).await,
            SendTries::Once => self.model.send_once(request, &mut noted, cancel).await,
        };
        arriving.ended(&sent);
        sent
    }
}

/// How often a request is sent.
#[derive(Clone, Copy)]
enum SendTries {
    AsConfigured,
    Once,
}

impl Model for AccountedModel {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(self.accounted(request, on_stream, cancel, SendTries::AsConfigured))
    }

    fn send_once<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(self.accounted(request, on_stream, cancel, SendTries::Once))
    }

    fn runs_web_searches(&self) -> bool {
        self.model.runs_web_searches()
    }
}

/// A reply that is arriving. It is lost if this is dropped before the reply has ended.
struct ArrivingReply {
    lost: Arc<LostReplies>,
    source: QuerySource,
    /// What the provider has reported so far; `None` if nothing.
    usage: Option<Usage>,
    /// What the model has written so far.
    written: Vec<u8>,
}

impl ArrivingReply {
    fn event(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Usage(usage) => self.usage = Some(usage.clone()),
            StreamEvent::Text { text, .. } | StreamEvent::Thinking { text, .. } => {
                self.written.extend_from_slice(text.as_bytes());
            }
            StreamEvent::ToolInput { json, .. } => self.written.extend_from_slice(json.as_bytes()),
            _ => {}
        }
    }

    fn ended(&mut self, sent: &Result<Reply, Error>) {
        match sent {
            Ok(_) => self.usage = None,
            Err(error) => {
                // Not every model reports its usage while it streams.
                let partial = error.partial.as_ref().map(|partial| &partial.usage);
                let partial = partial.filter(|usage| usage.total() > 0);
                self.usage = self.usage.take().or_else(|| partial.cloned());
            }
        }
    }
}

impl Drop for ArrivingReply {
    fn drop(&mut self) {
        let Some(mut usage) = self.usage.take() else {
            return;
        };
        usage.output = usage.output.max(likely(&self.written));
        self.lost.push(LostReply {
            source: self.source.clone(),
            usage,
        });
    }
}
