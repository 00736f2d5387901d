//! A gateway with recall between a client and a simulator with scripted replies, and what it sent to the simulator.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::recall::RecallMode;
use longhaul_gateway::store::{GatewayStorage, InMemoryStore};
use longhaul_provider::{Client, ClientConfig, Dialect, Error, Reply, Request};
use longhaul_sim::model::script::ReplyScript;
use longhaul_sim::model::{SimModel, SimModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world::{World, WorldOptions};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the user said first: the only place where the answer is.
pub(crate) const FACT: &str = "The staging database is called quokka-7. Remember that.";

/// A scripted reply that looks the fact up.
pub(crate) fn look_up(text: &str) -> Value {
    let calls = json!([{"name": "recall", "input": {"query": "staging database"}}]);
    match text {
        "" => json!({"tools": calls}),
        text => json!({"text": text, "tools": calls}),
    }
}

/// A scripted reply of words alone.
pub(crate) fn say(text: &str) -> Value {
    json!({"text": text})
}

/// Everything between a client and the model.
pub(crate) struct House {
    pub(crate) sim: SimServer,
    pub(crate) gateway: Gateway,
    relay: Relay,
}

impl House {
    pub(crate) async fn new(script: &[Value]) -> Self {
        Self::with(script, |_| {}).await
    }

    pub(crate) async fn with(script: &[Value], change: impl FnOnce(&mut GatewayOptions)) -> Self {
        let header = json!({"script": 1, "by": "calls", "helpers": "built-in"}).to_string();
        let lines: Vec<String> = script.iter().map(Value::to_string).collect();
        let script = format!("{header}\n{}", lines.join("\n"));
        let model = SimModel::new(SimModelOptions {
            script: Some(ReplyScript::parse(&script).unwrap()),
            ..SimModelOptions::default()
        });
        let world = World::new(WorldOptions::new(3, Box::new(model)));
        let address = "127.0.0.1:0".parse().unwrap();
        let sim = SimServer::start(address, world, SimServerOptions::default())
            .await
            .unwrap();
        let relay = Relay::start(sim.url().trim_start_matches("http://").parse().unwrap()).await;
        let gateway = gateway(&relay, memory(), change).await;
        Self {
            sim,
            gateway,
            relay,
        }
    }

    /// Puts another gateway in place of the one that there is.
    pub(crate) async fn replace_gateway(
        &mut self,
        store: Arc<dyn GatewayStorage>,
        change: impl FnOnce(&mut GatewayOptions),
    ) {
        let new = gateway(&self.relay, store, change).await;
        std::mem::replace(&mut self.gateway, new).stop().await;
    }

    /// The bodies that reached the simulator.
    pub(crate) fn sent(&self) -> Vec<String> {
        self.relay.bodies.lock().unwrap().clone()
    }

    /// The heads of the requests that reached the simulator, in lower case.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.relay.heads.lock().unwrap().clone()
    }

    /// How many requests the simulator refused.
    pub(crate) fn refused(&self) -> u64 {
        self.sim.with_world(|world| world.usage_log().total.errors)
    }

    pub(crate) async fn stop(self) {
        self.gateway.stop().await;
        self.sim.stop().await;
    }
}

pub(crate) fn memory() -> Arc<dyn GatewayStorage> {
    Arc::new(InMemoryStore::new().unwrap())
}

async fn gateway(
    relay: &Relay,
    store: Arc<dyn GatewayStorage>,
    change: impl FnOnce(&mut GatewayOptions),
) -> Gateway {
    let url = format!("http://{}", relay.addr).parse().unwrap();
    let mut options = GatewayOptions::new(UpstreamChoice::Url(url), store, Tenants::passing());
    options.recall = RecallMode::On;
    change(&mut options);
    Gateway::start(options).await.unwrap()
}

/// The list of messages in a body, as it was sent, without its closing bracket.
pub(crate) fn messages_of(body: &str) -> &str {
    let outline = longhaul_gateway::body::read(body.as_bytes()).unwrap();
    &body[outline.list.start..outline.list.end - 1]
}

/// The tools in a body, as they were sent.
pub(crate) fn tools_of(body: &str) -> &str {
    let outline = longhaul_gateway::body::read(body.as_bytes()).unwrap();
    &body[outline.members.tools.unwrap()]
}

/// A client that keeps its history as it saw it.
pub(crate) struct Agent {
    pub(crate) client: Client,
    pub(crate) dialect: Dialect,
    pub(crate) model: &'static str,
    pub(crate) streams: bool,
    pub(crate) tools: Vec<&'static str>,
    pub(crate) messages: Vec<Value>,
}

impl Agent {
    pub(crate) fn new(house: &House, dialect: Dialect, streams: bool) -> Self {
        Self {
            client: client(&house.gateway, dialect),
            dialect,
            model: match dialect {
                Dialect::Anthropic => "claude-sonnet-4-6",
                Dialect::OpenAi => "gpt-5",
            },
            streams,
            tools: vec!["Read"],
            messages: Vec::new(),
        }
    }

    pub(crate) fn go_to(&mut self, house: &House) {
        self.client = client(&house.gateway, self.dialect);
    }

    pub(crate) fn body(&self) -> Value {
        let schema = json!({"type": "object", "properties": {"file_path": {"type": "string"}}});
        let tools: Vec<Value> = (self.tools.iter())
            .map(|name| match self.dialect {
                Dialect::Anthropic => {
                    json!({"name": name, "description": "Does it.", "input_schema": schema})
                }
                Dialect::OpenAi => json!({"type": "function", "function":
                    {"name": name, "description": "Does it.", "parameters": schema}}),
            })
            .collect();
        let mut body =
            json!({"model": self.model, "stream": self.streams, "messages": self.messages});
        if !tools.is_empty() {
            body["tools"] = json!(tools);
        }
        match self.dialect {
            Dialect::Anthropic => {
                body["max_tokens"] = json!(4_000);
                // A client with a breakpoint of its own keeps it, and no other byte changes.
                body["system"] = json!([{"type": "text", "text": "You help.", "cache_control": {"type": "ephemeral"}}]);
            }
            Dialect::OpenAi if self.streams => {
                body["stream_options"] = json!({"include_usage": true});
            }
            Dialect::OpenAi => {}
        }
        if self.model == "claude-opus-5-5" {
            body["thinking"] = json!({"type": "adaptive"});
        }
        body
    }

    pub(crate) async fn send(&self) -> Result<Reply, Error> {
        let request = Request::new(self.body().to_string().into_bytes());
        self.client.send(request).await?.into_reply().await
    }

    /// Says something and takes the reply into the history.
    pub(crate) async fn say(&mut self, text: &str) -> Reply {
        self.messages.push(json!({"role": "user", "content": text}));
        self.go_on().await
    }

    /// Sends the history and takes the reply into it.
    pub(crate) async fn go_on(&mut self) -> Reply {
        let reply = self.send().await.unwrap();
        assert_eq!(reply.notices, [], "nothing about the reply is odd");
        self.take(&reply);
        reply
    }

    fn take(&mut self, reply: &Reply) {
        let message = match self.dialect {
            Dialect::Anthropic => {
                let said: Value = serde_json::from_slice(&reply.message_json()).unwrap();
                json!({"role": "assistant", "content": said["content"]})
            }
            Dialect::OpenAi => {
                let calls: Vec<Value> = reply
                    .tool_calls()
                    .map(|call| {
                        json!({"id": call.id, "type": "function", "function":
                        {"name": call.name, "arguments": call.input().to_string()}})
                    })
                    .collect();
                let mut message = json!({"role": "assistant", "content": reply.text()});
                if !calls.is_empty() {
                    message["tool_calls"] = json!(calls);
                }
                message
            }
        };
        self.messages.push(message);
    }

    /// Answers all calls of the last reply.
    pub(crate) fn answer(&mut self, reply: &Reply, text: &str) {
        let ids: Vec<String> = reply
            .tool_calls()
            .map(|call| call.id.into_owned())
            .collect();
        match self.dialect {
            Dialect::Anthropic => {
                let results: Vec<Value> = ids
                    .iter()
                    .map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": text}))
                    .collect();
                self.messages
                    .push(json!({"role": "user", "content": results}));
            }
            Dialect::OpenAi => self.messages.extend(
                ids.iter()
                    .map(|id| json!({"role": "tool", "tool_call_id": id, "content": text})),
            ),
        }
    }
}

fn client(gateway: &Gateway, dialect: Dialect) -> Client {
    let url = gateway.url();
    let config = ClientConfig::from_env(dialect, |name| match name {
        "ANTHROPIC_BASE_URL" => Some(url.clone()),
        "OPENAI_BASE_URL" => Some(format!("{url}/v1")),
        "ANTHROPIC_API_KEY" | "OPENAI_API_KEY" => Some("test-key".to_owned()),
        _ => None,
    });
    Client::new(config.unwrap()).unwrap()
}

/// Stands between the gateway and the simulator and keeps the requests, bodies byte for byte.
struct Relay {
    addr: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Relay {
    async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (heads, bodies) = (Arc::default(), Arc::default());
        let kept: (Arc<Mutex<Vec<String>>>, _) = (Arc::clone(&heads), Arc::clone(&bodies));
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let kept: (_, Arc<Mutex<Vec<String>>>) = kept.clone();
                tokio::spawn(async move {
                    let far = TcpStream::connect(to).await.unwrap();
                    let (mut from_gateway, mut to_gateway) = near.into_split();
                    let (mut from_sim, mut to_sim) = far.into_split();
                    tokio::spawn(async move {
                        let _ = tokio::io::copy(&mut from_sim, &mut to_gateway).await;
                    });
                    let (mut seen, mut piece) = (Vec::new(), vec![0; 64 << 10]);
                    while let Ok(read @ 1..) = from_gateway.read(&mut piece).await {
                        seen.extend_from_slice(&piece[..read]);
                        // Kept before it is passed on, so that the test finds it when the reply has come.
                        while let Some((head, body)) = take_request(&mut seen) {
                            kept.0.lock().unwrap().push(head);
                            kept.1.lock().unwrap().push(body);
                        }
                        if to_sim.write_all(&piece[..read]).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self {
            addr,
            heads,
            bodies,
        }
    }
}

/// Takes the first request out of what came, if all of it is there.
fn take_request(seen: &mut Vec<u8>) -> Option<(String, String)> {
    let end = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&seen[..end]).to_lowercase();
    let length = head.split("content-length: ").nth(1)?;
    let length: usize = length.split("\r\n").next()?.parse().ok()?;
    if seen.len() < end + length {
        return None;
    }
    let body = String::from_utf8(seen[end..end + length].to_vec()).unwrap();
    seen.drain(..end + length);
    Some((head, body))
}
