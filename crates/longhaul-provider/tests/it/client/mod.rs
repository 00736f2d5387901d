//! The client against a server that answers, fails and misbehaves.

mod failures;
mod replies;
mod streams;

use std::time::Duration;

use longhaul_provider::{Auth, Client, ClientConfig, Dialect, Error, Reply, Request, Secret};

use crate::server::{Script, Server};

pub(crate) const KEY: &str = "sk-ant-test-0123456789";

pub(crate) fn config(server: &Server, dialect: Dialect) -> ClientConfig {
    let mut config = ClientConfig::new(dialect);
    config.base_url = Secret::new(server.url());
    config.auth = Auth::ApiKey(Secret::new(KEY));
    config.seed = Some(1);
    config.retry.base = Duration::from_millis(1);
    config
}

fn client(server: &Server) -> Client {
    Client::new(config(server, Dialect::Anthropic)).unwrap()
}

fn request() -> Request {
    Request::new(br#"{"model":"m"}"#.to_vec())
}

async fn exchange(scripts: Vec<Script>) -> (Result<Reply, Error>, Server) {
    let server = Server::start(scripts);
    let result = match client(&server).send(request()).await {
        Ok(stream) => stream.into_reply().await,
        Err(error) => Err(error),
    };
    (result, server)
}

/// Waits until the client has hung up. The connection's own task has to run for that.
async fn left(server: Server) {
    let waiting = tokio::task::spawn_blocking(move || server.wait_until_left());
    waiting.await.unwrap();
}

async fn failure(scripts: Vec<Script>) -> Error {
    exchange(scripts).await.0.unwrap_err()
}
