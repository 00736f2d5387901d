//! All servers of a session: how they come up in the background, and what they offer so far.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use longhaul::Boxed;
use longhaul_core::figures::counted;
use longhaul_core::normalize::fragment::fill;
use longhaul_core::prompt::UserPresence;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::listing::McpOffer;
use super::prompts::{McpPrompt, McpPromptText};
use super::resources::{McpResource, McpResourceText};
use super::server::McpServerHandle;
use super::tool::McpTool;
use super::{McpLimits, McpNews, McpServerConfig, beginning, names, one_line};
use crate::session_paths::SessionPaths;
use crate::tool::{LateInstructions, LateTools, Tool};

/// The maximum length of a server's instructions, in characters.
const LONGEST_INSTRUCTIONS: usize = 2_048;
/// How long a server may take to start before people are told.
const SLOW: Duration = Duration::from_secs(5);
/// How long the first request of an attended session waits for servers.
const FIRST_REQUEST: Duration = Duration::from_secs(2);

/// What has become of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpServerStatus {
    /// It has not answered yet.
    Starting,
    /// It answered; this is the number of its tools, prompts and resources.
    Running {
        /// The number of its tools.
        tools: usize,
        /// The number of its prompts.
        prompts: usize,
        /// The number of its resources.
        resources: usize,
    },
    /// It could not be started.
    Failed {
        /// Why, in half a sentence.
        why: String,
        /// The log with what it wrote to stderr.
        log: PathBuf,
    },
}

/// The servers of a session. Dropping this ends their processes, even if someone still holds one of their tools.
pub struct McpServers {
    servers: Vec<Arc<BackgroundServer>>,
    starts: Vec<AbortHandle>,
}

/// A server and what it offers.
struct BackgroundServer {
    handle: Arc<McpServerHandle>,
    status: watch::Sender<McpServerStatus>,
    offer: OnceLock<ServerOffer>,
    news: McpNews,
    /// Whether people were told that it is slow.
    is_slow: AtomicBool,
}

/// What a server offers, in our terms. It stays the same for the whole session.
struct ServerOffer {
    tools: Vec<Arc<dyn Tool>>,
    instructions: Option<LateInstructions>,
    prompts: Vec<McpPrompt>,
    resources: Vec<McpResource>,
}

/// The names of tools and prompts that are taken.
type TakenNames = Mutex<HashSet<String>>;

impl McpServers {
    /// Begins to start all servers at the same time, and returns at once. People are told, in one line each, of servers
    /// that are slow or fail.
    pub fn start(
        configs: Vec<McpServerConfig>,
        place: &SessionPaths,
        limits: McpLimits,
        news: &McpNews,
    ) -> Self {
        let taken = Arc::new(TakenNames::default());
        let mut running = Self {
            servers: Vec::new(),
            starts: Vec::new(),
        };
        for config in configs {
            let notices = news.notice.clone();
            let server = Arc::new(BackgroundServer {
                handle: Arc::new(McpServerHandle::new(config, place, limits, notices)),
                status: watch::Sender::new(McpServerStatus::Starting),
                offer: OnceLock::new(),
                news: news.clone(),
                is_slow: AtomicBool::new(false),
            });
            let start = tokio::spawn(bring_up(server.clone(), taken.clone()));
            running.starts.push(start.abort_handle());
            running.servers.push(server);
        }
        running
    }

    /// Waits until every server runs or has failed.
    pub async fn settled(&self) {
        for server in &self.servers {
            let mut status = server.status.subscribe();
            // The sender lives as long as the server.
            let _ = status
                .wait_for(|now| *now != McpServerStatus::Starting)
                .await;
        }
    }

    /// The tools of the servers that run, sorted by name; one that is there stays the same for the whole session.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.offers().flat_map(|offer| &offer.tools);
        let mut tools: Vec<Arc<dyn Tool>> = tools.cloned().collect();
        // Sorted by name, whatever order they came in (B5).
        tools.sort_by(|one, other| one.name().cmp(other.name()));
        tools
    }

    /// The servers with what has become of them, in the order of the configuration.
    pub fn statuses(&self) -> Vec<(String, McpServerStatus)> {
        let servers = self.servers.iter();
        servers
            .map(|server| {
                let name = server.handle.name().to_owned();
                (name, server.status.borrow().clone())
            })
            .collect()
    }

    /// The instructions for a model that has not seen any yet (R5): after a compaction. `None` if there are none.
    pub fn announcement(&self) -> Option<Value> {
        let said: Vec<&LateInstructions> = (self.offers())
            .filter_map(|offer| offer.instructions.as_ref())
            .collect();
        let names: Vec<&str> = said.iter().map(|said| &*said.server).collect();
        let blocks: Vec<&str> = said.iter().map(|said| &*said.block).collect();
        (!names.is_empty()).then(|| {
            json!({
                "type": "mcp_instructions_delta",
                "addedNames": names,
                "addedBlocks": blocks,
                "removedNames": [],
            })
        })
    }

    /// The prompts of the servers that run.
    pub fn prompts(&self) -> Vec<McpPrompt> {
        let prompts = self.offers().flat_map(|offer| &offer.prompts);
        prompts.cloned().collect()
    }

    /// The text of a prompt; `None` if no server has it. An error is a sentence for people.
    pub async fn prompt(
        &self,
        command: &str,
        arguments: &str,
    ) -> Option<Result<McpPromptText, String>> {
        let found = self.servers.iter().find_map(|server| {
            let offer = server.offer.get()?;
            let mut prompts = offer.prompts.iter();
            Some((server, prompts.find(|prompt| prompt.command == command)?))
        });
        let (server, prompt) = found?;
        Some(prompt.text(&server.handle, arguments).await)
    }

    /// The resources of the servers that run.
    pub fn resources(&self) -> Vec<McpResource> {
        let resources = self.offers().flat_map(|offer| &offer.resources);
        resources.cloned().collect()
    }

    /// Reads the resource that a mention `server:uri` means; `None` if no running server has that name. An error is half
    /// a sentence.
    pub async fn resource(&self, mention: &str) -> Option<Result<McpResourceText, String>> {
        let (name, uri) = mention.split_once(':')?;
        let server = self.servers.iter().find(|server| {
            server.offer.get().is_some() && names::clean(server.handle.name()) == name
        })?;
        Some(McpResourceText::read(&server.handle, uri).await)
    }

    fn offers(&self) -> impl Iterator<Item = &ServerOffer> {
        self.servers.iter().filter_map(|server| server.offer.get())
    }

    fn starting(&self) -> impl Iterator<Item = &Arc<BackgroundServer>> {
        let servers = self.servers.iter();
        servers.filter(|server| *server.status.borrow() == McpServerStatus::Starting)
    }
}

impl LateTools for McpServers {
    fn settled(&self, presence: UserPresence) -> Boxed<'_, ()> {
        Box::pin(async move {
            match presence {
                // Nobody sends the tools' prompt again later.
                UserPresence::Unattended => McpServers::settled(self).await,
                UserPresence::Attended => {
                    let waited = tokio::time::timeout(FIRST_REQUEST, McpServers::settled(self));
                    if waited.await.is_err() {
                        self.starting().for_each(|server| server.tell_slow());
                    }
                }
            }
        })
    }

    fn is_complete(&self) -> bool {
        self.starting().next().is_none()
    }

    fn expects(&self, name: &str) -> bool {
        let mut servers = self.servers.iter();
        servers.any(|server| names::is_of(server.handle.name(), name))
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        McpServers::tools(self)
    }

    fn instructions(&self) -> Vec<LateInstructions> {
        let said = self.offers().filter_map(|offer| offer.instructions.clone());
        said.collect()
    }
}

impl Drop for McpServers {
    fn drop(&mut self) {
        for server in &self.servers {
            server.handle.stop();
        }
        for start in &self.starts {
            start.abort();
        }
    }
}

/// Starts a server and says what became of it.
async fn bring_up(server: Arc<BackgroundServer>, taken: Arc<TakenNames>) {
    let mut start = std::pin::pin!(server.handle.start());
    let started = match tokio::time::timeout(SLOW, &mut start).await {
        Ok(started) => started,
        Err(_) => {
            server.tell_slow();
            start.await
        }
    };
    let status = match started {
        Ok(offered) => server.offers(offered, &taken),
        Err(why) => {
            server.tell(&format!("{why}; see /mcp"));
            let log = server.handle.log().to_owned();
            McpServerStatus::Failed { why, log }
        }
    };
    server.status.send_replace(status);
    (server.news.changed)();
}

impl BackgroundServer {
    fn tell(&self, what: &str) {
        let name = one_line(self.handle.name(), 64);
        (self.news.notice)(format!("MCP server {name}: {what}"));
    }

    fn tell_slow(&self) {
        if !self.is_slow.swap(true, Ordering::Relaxed) {
            self.tell("still starting; its tools come when it answers");
        }
    }

    /// Takes what the server offers.
    fn offers(&self, offered: McpOffer, taken: &TakenNames) -> McpServerStatus {
        let server = self.handle.name();
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut name = |own: &str| {
            let name = names::free_name(server, own, |name| taken.contains(name));
            taken.insert(name.clone());
            name
        };
        let tools: Vec<Arc<dyn Tool>> = (offered.tools.tools.iter())
            .map(|tool| {
                let tool = McpTool::new(self.handle.clone(), name(&tool.name), tool);
                Arc::new(tool) as Arc<dyn Tool>
            })
            .collect();
        let prompts: Vec<McpPrompt> = (offered.prompts.iter())
            .map(|prompt| McpPrompt::new(server, prompt))
            .collect();
        let resources: Vec<McpResource> = (offered.resources.iter())
            .filter_map(|resource| McpResource::new(server, resource))
            .collect();
        let status = McpServerStatus::Running {
            tools: tools.len(),
            prompts: prompts.len(),
            resources: resources.len(),
        };
        if self.is_slow.load(Ordering::Relaxed) {
            self.tell(&format!(
                "runs now, {}",
                counted(tools.len() as u64, "tool")
            ));
        }
        if let Some(notice) = offered.tools.notice() {
            self.tell(&notice);
        }
        let offer = ServerOffer {
            instructions: instructions(server, &offered.instructions, &tools),
            tools,
            prompts,
            resources,
        };
        // A server is brought up only once.
        let _ = self.offer.set(offer);
        status
    }
}

fn instructions(server: &str, said: &str, tools: &[Arc<dyn Tool>]) -> Option<LateInstructions> {
    let said = said.trim();
    if said.is_empty() {
        return None;
    }
    let short = beginning(said, LONGEST_INSTRUCTIONS);
    let text = short.map_or_else(|| said.to_owned(), |short| format!("{short}…"));
    let server = one_line(server, 64);
    let gaps = [("server", &*server), ("instructions", &text)];
    Some(LateInstructions {
        block: fill(include_str!("fragments/block.md"), &gaps),
        tools: tools.iter().map(|tool| tool.name().to_owned()).collect(),
        server,
    })
}
