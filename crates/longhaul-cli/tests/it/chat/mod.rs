//! `longhaul chat` from outside, with a provider that answers as it is told.

mod print_mode;
mod without_key;

use std::process::Command;

use longhaul_sim::model::script::ReplyScript;
use longhaul_sim::model::{SimModel, SimModelOptions as ModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world::{self, ReplySpeed, World as SimWorld};

use crate::support::World;

/// A provider with these turns.
pub(crate) struct Provider {
    server: SimServer,
    _runtime: tokio::runtime::Runtime,
}

impl Provider {
    pub(crate) fn scripted(turns: &[&str]) -> Self {
        Self::at(ReplySpeed::default(), turns)
    }

    /// One whose world knows that replies are sent at once, so that the next request reads what they cached.
    pub(crate) fn scripted_at_once(turns: &[&str]) -> Self {
        let at_once = SimServerOptions::world_pace(SimServerOptions::default().pace);
        Self::at(at_once, turns)
    }

    fn at(pace: ReplySpeed, turns: &[&str]) -> Self {
        let mut script = r#"{"script":1,"by":"replies","helpers":"built-in"}"#.to_owned();
        for turn in turns {
            script = format!("{script}\n{turn}");
        }
        let model = SimModel::new(ModelOptions {
            script: Some(ReplyScript::parse(&script).unwrap()),
            ..ModelOptions::default()
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let sim = SimWorld::new(world::WorldOptions {
            pace,
            ..world::WorldOptions::new(1, Box::new(model))
        });
        let address = "127.0.0.1:0".parse().unwrap();
        let server = runtime.block_on(SimServer::start(address, sim, SimServerOptions::default()));
        Self {
            server: server.unwrap(),
            _runtime: runtime,
        }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    pub(crate) fn chat(&self, world: &World, args: &[&str]) -> Command {
        let mut command = world.longhaul(std::iter::once(&"chat").chain(args));
        command
            .env("ANTHROPIC_BASE_URL", self.server.url())
            .env("ANTHROPIC_API_KEY", "any");
        command
    }
}
