//! A model that remembers its newest reply: a summary that was paid for is used again where the first draft that was made
//! with it is too large.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul::session::summary_reply;
use longhaul::{Boxed, Model, OnStream};
use longhaul_core::engine::{ModelRequest, SummaryReply};
use longhaul_provider::{CancellationToken, Error, Reply};

pub(super) struct RememberingModel {
    model: Arc<dyn Model>,
    newest: Mutex<Option<SummaryReply>>,
}

impl RememberingModel {
    pub(super) fn of(model: Arc<dyn Model>) -> Arc<Self> {
        Arc::new(Self {
            model,
            newest: Mutex::default(),
        })
    }

    /// Takes the newest reply.
    pub(super) fn take(&self) -> Option<SummaryReply> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.take()
    }
}

impl Model for RememberingModel {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let reply = self.model.send(request, on_stream, cancel).await?;
            let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            *newest = Some(summary_reply(reply.clone()));
            Ok(reply)
        })
    }
}
