//! Several gateways on one database, in front of one upstream: each gateway that gets a request knows the conversation.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use longhaul_core::models::ModelTable;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{GatewayStorage, PeerStore, PostgresStore};
use longhaul_sim::model::{SimModel, SimModelOptions as ModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions as SimOptions};
use longhaul_sim::world::{self, World};
use longhaul_testkit::postgres::{TestDatabase, database};
use url::Url;

use super::support::{header, sessions_when};
use super::world::Client;

/// What the gateways share. It is dropped last.
pub(crate) struct Shared {
    database: TestDatabase,
    world: SimServer,
}

impl Shared {
    /// `None` where there is no PostgreSQL.
    pub(crate) async fn new() -> Option<Self> {
        Self::with(ModelTable::builtin()).await
    }

    /// A shared setup with these models.
    pub(crate) async fn with(models: ModelTable) -> Option<Self> {
        let database = database()?;
        let options = SimOptions::default();
        let world = World::new(world::WorldOptions {
            models,
            pace: SimOptions::world_pace(options.pace),
            ..world::WorldOptions::new(0, Box::new(SimModel::new(ModelOptions::default())))
        });
        let addr = SocketAddr::from(([127, 0, 0, 1], 0));
        let world = SimServer::start(addr, world, options).await.unwrap();
        Some(Self { database, world })
    }

    /// Options for one more gateway.
    pub(crate) async fn options(&self) -> GatewayOptions {
        Self::options_on(self.database.url(), &self.world.url()).await
    }

    /// The URL of the database.
    pub(crate) fn database_url(&self) -> &str {
        self.database.url()
    }

    /// Options for a gateway on a database, in front of an upstream.
    pub(crate) async fn options_on(database: &str, upstream: &str) -> GatewayOptions {
        let store = Arc::new(PostgresStore::open(database).await.unwrap());
        let tenants = store.tenants();
        let upstream = UpstreamChoice::Url(Url::parse(upstream).unwrap());
        let storage = Arc::clone(&store) as Arc<dyn GatewayStorage>;
        let mut options = GatewayOptions::new(upstream, storage, tenants);
        options.peers = Some(store as Arc<dyn PeerStore>);
        options
    }

    /// One more gateway.
    pub(crate) async fn gateway(&self) -> Gateway {
        Gateway::start(self.options().await).await.unwrap()
    }

    /// The simulator that all of them use.
    pub(crate) fn world(&self) -> &SimServer {
        &self.world
    }
}

#[tokio::test]
async fn x8_a_conversation_whose_turns_alternate_between_gateways_is_one_line() {
    let Some(shared) = Shared::new().await else {
        return;
    };
    let gateways = [shared.gateway().await, shared.gateway().await];
    let mut client = Client::new(&gateways[0], "k").await;
    let mut lines = BTreeSet::new();
    for turn in 0..12 {
        client.go_to(&gateways[turn % 2]).await;
        let (answer, _) = client.turn(&format!("question {turn}")).await;
        lines.insert(header(&answer, "x-longhaul-line").unwrap());
        let note = header(&answer, "x-longhaul-note").unwrap();
        let expected = ["a new conversation", "2 messages more"][usize::from(turn > 0)];
        assert_eq!(note, expected, "turn {turn}");
    }
    assert_eq!(lines.len(), 1);
    for gateway in &gateways {
        let all = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 12).await;
        assert_eq!(all["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(all["sessions"][0]["lines"], 1);
        assert_eq!(all["sessions"][0]["messages"], 23);
        let books = shared.world().with_world(|world| world.usage_log().total);
        let cost = all["sessions"][0]["cost_usd"].as_f64().unwrap();
        assert!((cost - books.cost_usd.to_f64()).abs() < 1e-9);
    }
    for gateway in gateways {
        gateway.stop().await;
    }
}

#[tokio::test]
async fn x8_a_branch_is_seen_by_a_gateway_that_saw_neither_side() {
    let Some(shared) = Shared::new().await else {
        return;
    };
    let (one, two) = (shared.gateway().await, shared.gateway().await);
    let mut client = Client::new(&one, "k").await;
    let (first, _) = client.turn("one").await;
    client.turn("two").await;
    let common = client.messages.clone();
    client.turn("three").await;
    client.messages = common;
    client.go_to(&two).await;
    let (branch, _) = client.turn("three, said otherwise").await;
    let line = header(&first, "x-longhaul-line").unwrap();
    assert_eq!(
        header(&branch, "x-longhaul-note").unwrap(),
        format!("a branch of {line} after 3 messages")
    );
    assert_eq!(
        header(&branch, "x-longhaul-session"),
        header(&first, "x-longhaul-session")
    );
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_when_a_gateway_dies_in_a_request_another_goes_on() {
    let Some(shared) = Shared::new().await else {
        return;
    };
    // Everything on this separate runtime ends immediately with it, as with a process.
    let dying = tokio::runtime::Runtime::new().unwrap();
    let options = shared.options().await;
    let one = dying.spawn(Gateway::start(options)).await.unwrap().unwrap();
    let two = shared.gateway().await;
    let mut client = Client::new(&one, "k").await;
    let (first, _) = client.turn("one").await;
    client.go_to(&two).await;
    client.turn("two").await;
    client.go_to(&one).await;
    client.turn("three").await;
    client.ask("four").await;
    dying.shutdown_background();
    std::mem::forget(one);
    // The client sees a broken connection, and sends the same elsewhere.
    client.messages.pop();
    client.go_to(&two).await;
    let (again, _) = client.turn("four").await;
    let (five, _) = client.turn("five").await;
    for answer in [&again, &five] {
        assert_eq!(
            header(answer, "x-longhaul-line"),
            header(&first, "x-longhaul-line")
        );
    }
    let all = sessions_when(two.addr(), |all| {
        // Turns 2, 4 and 5 were recorded by the gateway that lives.
        all["sessions"][0]["calls"].as_u64() >= Some(3) && all["sessions"][0]["messages"] == 9
    })
    .await;
    assert_eq!(all["sessions"][0]["lines"], 1);
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_without_its_database_a_gateway_passes_requests_on() {
    let Some(database) = longhaul_testkit::postgres::private_database() else {
        return;
    };
    let Some(mut shared) = Shared::new().await else {
        return;
    };
    shared.database = database;
    let gateway = shared.gateway().await;
    let mut client = Client::new(&gateway, "k").await;
    let (first, _) = client.turn("one").await;
    shared.database.server().stop();
    let (second, _) = client.turn("two").await;
    assert_eq!(
        header(&first, "x-longhaul-line"),
        header(&second, "x-longhaul-line")
    );
    drop(gateway);
}
