//! The client for model APIs as the model of a session.

use longhaul_core::engine::ModelRequest;
use longhaul_provider::{
    CancellationToken, Client, Error, ErrorClass, Reply, Request, StreamEvent,
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
            let mut sent = Request::new(request.body).cancelled_by(cancel);
            for beta in request.betas {
                sent = sent.beta(beta);
            }
            let mut stream = Client::send(self, sent).await?;
            while let Some(event) = stream.next().await {
                let event = event?;
                on_stream(&event);
                if let StreamEvent::Finished(reply) = event {
                    return Ok(*reply);
                }
            }
            Err(Error::new(ErrorClass::Cut, "the reply broke off"))
        })
    }
}
