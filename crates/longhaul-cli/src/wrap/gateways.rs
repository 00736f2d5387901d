//! The gateways between an agent and its APIs: one for each upstream, running already or started here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use longhaul_core::config::Config;
use longhaul_core::models::ModelTable;
use longhaul_gateway::calling_agent::{AgentRunId, CallingAgent};
use longhaul_gateway::front::{Gateway, GatewayOptions};
use longhaul_gateway::savings::{self, LossTotals, SavingsGrouping, SavingsReport};
use longhaul_gateway::store::{PrefixStore, SpendQuery, UsageLogStore};
use serde_json::Value;

use super::closing_line::RunFigures;
use super::plan::WrapPlan;
use crate::args::{ServeArgs, WrapArgs};
use crate::failure::CliError;
use crate::gateway_store::{self, GatewayStore, SharedStoreNotice};
use crate::running_gateways::{self, RunningGateway, local_json};
use crate::serve;
use crate::settings::{self, CommandSettings};

/// How long requests that the agent has left may take.
const DRAIN: Duration = Duration::from_secs(5);
/// How long a running gateway needs until a call that has ended is in its usage log.
const LOGGING: Duration = Duration::from_millis(300);

/// What gateways are made from.
pub(super) struct WrapGateways<'w> {
    pub(super) command: &'w WrapArgs,
    pub(super) given: &'w CommandSettings,
    pub(super) config: Arc<Config>,
    pub(super) caller: &'w CallingAgent,
}

/// A gateway that the agent is told about.
struct UsedGateway {
    upstream: String,
    url: String,
    kind: GatewayKind,
}

enum GatewayKind {
    /// It runs in this process.
    Own(Box<Gateway>),
    /// The user started it.
    Running(RunningGateway),
}

/// The gateways of one run.
pub(super) struct GatewaySet {
    used: Vec<UsedGateway>,
    /// The store of those that run in this process, with its lease.
    books: Option<GatewayStore>,
    models: ModelTable,
    path: String,
    policy: String,
    /// The addresses for the agent, by the name of the API.
    pub(super) addresses: BTreeMap<String, String>,
}

impl WrapGateways<'_> {
    /// Finds or starts a gateway for each upstream.
    pub(super) async fn start(&self, plan: &WrapPlan) -> Result<GatewaySet, CliError> {
        let mut set = GatewaySet {
            used: Vec::new(),
            books: None,
            models: settings::models(&self.config)?,
            path: self.caller.path(),
            policy: if self.command.policy.is_empty() {
                "manage".to_owned()
            } else {
                self.command.policy.join(", ")
            },
            addresses: BTreeMap::new(),
        };
        let running = self.running(plan).await;
        for (name, api) in &plan.apis {
            let known = set.used.iter().find(|used| used.upstream == api.upstream);
            let base = match known {
                Some(used) => used.base(&set.path),
                None => {
                    let used = match running.iter().find(|one| is_for(one, &api.upstream)) {
                        Some(found) => UsedGateway {
                            upstream: api.upstream.clone(),
                            url: found.url.clone(),
                            kind: GatewayKind::Running(found.clone()),
                        },
                        None => {
                            let books = match &mut set.books {
                                Some(books) => books,
                                none => none.insert(self.books().await?),
                            };
                            self.own(&api.upstream, books).await?
                        }
                    };
                    let base = used.base(&set.path);
                    set.used.push(used);
                    base
                }
            };
            set.addresses
                .insert(name.clone(), format!("{base}{}", api.end));
        }
        Ok(set)
    }

    /// The user's gateways that may be used: none if this run wants something of its own.
    async fn running(&self, plan: &WrapPlan) -> Vec<RunningGateway> {
        let command = self.command;
        let is_special = command.own_gateway
            || !command.policy.is_empty()
            || command.upstream_ca.is_some()
            || command.store.is_some()
            || command.window.is_some()
            || command.models.is_some()
            || command.economy.is_some()
            || command.reduce.is_some()
            || command.recall
            || self.given.has_settings();
        let is_plain = plan
            .profile
            .as_ref()
            .is_some_and(|agent| agent.plain_address);
        if is_special || is_plain {
            return Vec::new();
        }
        running_gateways::find(self.given).await
    }

    async fn books(&self) -> Result<GatewayStore, CliError> {
        let store = self.command.store.as_deref();
        // Two agents in two terminals hold different conversations, so there is nothing to say.
        gateway_store::open(store, self.given, SharedStoreNotice::Quiet).await
    }

    /// Starts a gateway in this process, on a free port.
    async fn own(&self, upstream: &str, books: &GatewayStore) -> Result<UsedGateway, CliError> {
        let command = ServeArgs {
            listen: "127.0.0.1:0".to_owned(),
            upstream: upstream.to_owned(),
            upstream_ca: self.command.upstream_ca.clone(),
            policy: self.command.policy.clone(),
            ..ServeArgs::usual()?
        };
        let mut options: GatewayOptions =
            serve::gateway_options(&command, self.given, Config::clone(&self.config), books)?;
        // Agents send no token of ours.
        options.client_token = None;
        options.timeouts.drain = DRAIN;
        options.caller = Some(self.caller.clone());
        let gateway = serve::start(options).await?;
        Ok(UsedGateway {
            upstream: upstream.to_owned(),
            url: gateway.url(),
            kind: GatewayKind::Own(Box::new(gateway)),
        })
    }
}

/// Whether a running gateway is in front of this upstream, or is itself what the agent is pointed at.
fn is_for(running: &RunningGateway, upstream: &str) -> bool {
    running.upstream == upstream || running.url == upstream
}

impl UsedGateway {
    /// The address for the agent. A gateway with other clients is told who calls.
    fn base(&self, path: &str) -> String {
        match &self.kind {
            GatewayKind::Own(_) => self.url.clone(),
            GatewayKind::Running(_) => format!("{}{path}", self.url),
        }
    }
}

impl GatewaySet {
    /// Whether every upstream is the simulated one.
    pub(super) fn is_simulated(&self) -> bool {
        self.used
            .iter()
            .all(|used| used.upstream == super::address::SIMULATED)
    }

    /// What is between the agent and its APIs, in words.
    pub(super) fn in_words(&self, name: &str) -> String {
        let each = self.used.iter().map(|used| {
            let upstream = match used.upstream.as_str() {
                super::address::SIMULATED => "a simulated model",
                url => url,
            };
            match &used.kind {
                GatewayKind::Own(_) => format!(
                    "{} in front of {upstream} (policy: {})",
                    used.url, self.policy
                ),
                GatewayKind::Running(running) => format!(
                    "{} in front of {upstream} (your `longhaul serve`, process {})",
                    used.url, running.pid
                ),
            }
        });
        let each: Vec<String> = each.collect();
        format!("{name} goes through {}", each.join(" and "))
    }

    /// Cuts off the requests that [`GatewaySet::end`] still waits for.
    pub(super) fn cut_off(&self) -> impl FnOnce() + use<> {
        let own = self.used.iter().filter_map(|used| match &used.kind {
            GatewayKind::Own(gateway) => Some(gateway.cut_off()),
            GatewayKind::Running(_) => None,
        });
        let tokens: Vec<_> = own.collect();
        move || tokens.iter().for_each(|token| token.cancel())
    }

    /// Ends the gateways of this process, and says what was used, saved and lost since then in this run.
    pub(super) async fn end(self, since: Timestamp, run: AgentRunId) -> RunFigures {
        let mut figures = RunFigures::default();
        let query = SpendQuery {
            since: Some(since),
            run: Some(run),
            ..SpendQuery::default()
        };
        for used in self.used {
            match used.kind {
                GatewayKind::Own(gateway) => gateway.stop().await,
                GatewayKind::Running(_) => match asked(&used.url, query).await {
                    Ok((report, lost)) => figures.add(&report, lost),
                    Err(why) => figures.missing.push(format!("{}: {why}", used.url)),
                },
            }
        }
        if let Some(GatewayStore { store, lease, .. }) = self.books {
            let (log, prefixes): (&dyn UsageLogStore, &dyn PrefixStore) = (&*store, &*store);
            let found = savings::look_up(log, prefixes, query, SavingsGrouping::Day, &self.models);
            match found.await {
                Ok((report, lost)) => figures.add(&report, lost),
                Err(error) => figures.missing.push(error.to_string()),
            }
            drop(lease);
        }
        figures
    }
}

/// The figures of a run from a gateway that the user started.
async fn asked(url: &str, query: SpendQuery) -> Result<(SavingsReport, LossTotals), String> {
    tokio::time::sleep(LOGGING).await;
    let since = query.since.map_or(0, Timestamp::as_millisecond);
    let run = query.run.map(|run| run.to_string()).unwrap_or_default();
    let url = format!("{url}/longhaul/api/savings?since={since}&run={run}");
    let token = std::env::var(serve::TOKEN).ok();
    let mut answer = local_json(&url, token.as_deref()).await?;
    let lost = answer.get_mut("lost").map(Value::take).unwrap_or_default();
    let lost = serde_json::from_value(lost).unwrap_or_default();
    let report = serde_json::from_value(answer).map_err(|error| error.to_string())?;
    Ok((report, lost))
}
