//! What stands between the client and the model, and the way of its requests.
use std::sync::Arc;

use longhaul::Clock;
use longhaul_core::config::ResultReduction;
use longhaul_core::economy::EconomyPolicy;
use longhaul_core::models::ModelTable;
use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::InMemoryStore;
use url::Url;

use crate::peers::Peer;
use crate::provider::Provider;
use crate::recorded_time::RecordedTime;
use crate::{peers, recorded_time};

/// What stands between the client and the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Between {
    Nothing,
    ProviderClears,
    ProviderCompacts,
    Gateway(EconomyPolicy, ResultReduction),
    Peer(Peer),
}

impl Between {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Nothing => "direct",
            Self::ProviderClears => "p-clear",
            Self::ProviderCompacts => "p-compact",
            Self::Gateway(policy, ResultReduction::Recallable) => match policy {
                EconomyPolicy::Off => "off-r",
                EconomyPolicy::Clear => "clear-r",
                EconomyPolicy::Full => "full-r",
            },
            Self::Gateway(policy, _) => policy.as_str(),
            Self::Peer(peer) => &peer.name,
        }
    }
}

/// The way of a session's requests: where the client sends them, and where they end.
pub(crate) struct Route {
    pub url: Url,
    pub gateway: Option<Gateway>,
    pub provider: Provider,
    pub clock: Arc<RecordedTime>,
}

impl Route {
    pub(crate) async fn open(models: ModelTable, between: &Between) -> Self {
        let clock = Arc::new(RecordedTime::default());
        let port = match between {
            Between::Peer(_) => peers::upstream_port(),
            _ => None,
        };
        let provider = Provider::start(&models, port).await;
        let upstream = Url::parse(&provider.server.url()).unwrap();
        let Between::Peer(peer) = between else {
            let store = Arc::new(InMemoryStore::new().unwrap());
            let choice = UpstreamChoice::Url(upstream);
            let mut options = GatewayOptions::new(choice, store, Tenants::passing());
            options.models = models;
            options.clock = Arc::clone(&clock) as Arc<dyn Clock>;
            match between {
                Between::Gateway(policy, reduction) => {
                    options.config.economy = *policy;
                    options.config.reduce = *reduction;
                }
                _ => options.policies.rules = vec!["off".parse().unwrap()],
            }
            let gateway = Gateway::start(options).await.unwrap();
            return Self {
                url: Url::parse(&format!("http://{}", gateway.addr())).unwrap(),
                gateway: Some(gateway),
                provider,
                clock,
            };
        };
        // Long enough after the session before it that nothing of that one is still in a cache.
        recorded_time::advance_peers(2 * 60 * 60 * 1_000);
        Self {
            url: peer.url.clone(),
            gateway: None,
            provider,
            clock,
        }
    }

    /// Lets time pass for everyone.
    pub(crate) fn advance(&self, millis: i64) {
        self.clock.advance(millis);
        let server = &self.provider.server;
        server.with_world(|world| world.advance(millis.unsigned_abs()));
        if self.gateway.is_none() {
            recorded_time::advance_peers(millis.unsigned_abs());
        }
    }
}
