//! The DevTools protocol: JSON over a WebSocket. Answers go to their callers, events are kept.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::PATIENCE;

/// A connection to a browser.
#[derive(Debug, Clone)]
pub(super) struct DevToolsConnection {
    out: mpsc::UnboundedSender<String>,
    shared: Arc<DevToolsState>,
}

#[derive(Debug, Default)]
struct DevToolsState {
    number: AtomicU64,
    asked: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
    events: Mutex<Vec<Value>>,
}

impl DevToolsConnection {
    pub(super) async fn connect(url: &str) -> Self {
        // Screenshots of pages are large.
        let config = WebSocketConfig::default()
            .max_message_size(Some(256 << 20))
            .max_frame_size(Some(256 << 20));
        let (stream, _) = connect_async_with_config(url, Some(config), true)
            .await
            .unwrap();
        let (mut sink, mut stream) = stream.split();
        let (out, mut to_send) = mpsc::unbounded_channel::<String>();
        tokio::spawn(async move {
            while let Some(text) = to_send.recv().await {
                if sink.send(Message::text(text)).await.is_err() {
                    return;
                }
            }
        });
        let shared = Arc::new(DevToolsState::default());
        let keeps = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Some(Ok(message)) = stream.next().await {
                let Ok(text) = message.to_text() else {
                    continue;
                };
                if let Ok(value) = serde_json::from_str(text) {
                    keeps.take(value);
                }
            }
            // Nobody should wait for answers that cannot come.
            keeps.asked.lock().unwrap().clear();
        });
        Self { out, shared }
    }

    /// Sends a command and waits for the answer, which may be an error.
    pub(super) async fn try_ask(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, String> {
        let number = self.shared.number.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.shared.asked.lock().unwrap().insert(number, answer);
        let mut message = json!({"id": number, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        self.out.send(message.to_string()).unwrap();
        let answer = tokio::time::timeout(PATIENCE * 2, answered).await;
        let Ok(Ok(mut answer)) = answer else {
            panic!("the browser does not answer {method}");
        };
        match answer.get("error") {
            Some(error) => Err(error.to_string()),
            None => Ok(answer["result"].take()),
        }
    }

    pub(super) async fn ask(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        let answer = self.try_ask(session, method, params).await;
        answer.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The events of these kinds on a page so far.
    pub(super) fn events(&self, session: &str, methods: &[&str]) -> Vec<Value> {
        let events = self.shared.events.lock().unwrap();
        let of_page = events.iter().filter(|event| {
            event["sessionId"] == session
                && methods
                    .iter()
                    .any(|method| event["method"].as_str() == Some(*method))
        });
        of_page.map(|event| event["params"].clone()).collect()
    }
}

impl DevToolsState {
    fn take(&self, value: Value) {
        let Some(number) = value["id"].as_u64() else {
            self.events.lock().unwrap().push(value);
            return;
        };
        if let Some(answer) = self.asked.lock().unwrap().remove(&number) {
            // The caller may be gone.
            let _ = answer.send(value);
        }
    }
}
