//! The client for model APIs as the model of a session.

use longhaul_core::engine::ModelRequest;
use longhaul_provider::{
    CancellationToken, Client, Dialect, Error, ErrorClass, Reply, ReplyStream, Request, StreamEvent,
};

use crate::model::{Boxed, Model, OnStream};

impl Model for Client {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let stream = Client::send(self, client_request(request, cancel)).await?;
            whole_reply(stream, on_stream).await
        })
    }

    fn send_once<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let stream = Client::send_once(self, client_request(request, cancel)).await?;
            whole_reply(stream, on_stream).await
        })
    }

    /// The Messages API has it; where a model does not, the table of models says so.
    fn runs_web_searches(&self) -> bool {
        self.dialect() == Dialect::Anthropic
    }
}

fn client_request(request: ModelRequest, cancel: CancellationToken) -> Request {
    let sent = Request::new(request.body).cancelled_by(cancel);
    request.betas.into_iter().fold(sent, Request::beta)
}

async fn whole_reply(mut stream: ReplyStream, on_stream: OnStream<'_>) -> Result<Reply, Error> {
    while let Some(event) = stream.next().await {
        let event = event?;
        on_stream(&event);
        if let StreamEvent::Finished(reply) = event {
            return Ok(*reply);
        }
    }
    Err(Error::new(ErrorClass::Cut, "the reply broke off"))
}
