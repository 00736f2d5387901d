//! The whole agent: settings, permissions, real tools and a scripted model together, in its own folder.

mod asking;
mod behind_a_screen;
mod forgetting;
mod git;
mod memory;
mod mentioning;
mod notifying;
mod outside;
mod own_commands;
mod servers;
mod thinking;
mod trusting;
mod web_search;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_agent::agent::{Agent, SessionChoice};
use longhaul_agent::event::AgentEvent;
use longhaul_agent::project_setup::{Consent, ProjectSetup, SessionOverrides};
use longhaul_agent::settings::{McpServer, OutsideFile, TrustRequirement};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::agent::house::House;

/// Gives the same answer to every question, and remembers the questions.
pub(crate) struct Says {
    pub(crate) yes: bool,
    pub(crate) asked: Vec<String>,
}

impl Says {
    pub(crate) fn yes() -> Self {
        Self {
            yes: true,
            asked: Vec::new(),
        }
    }

    pub(crate) fn no() -> Self {
        Self {
            yes: false,
            ..Self::yes()
        }
    }
}

impl Consent for Says {
    fn trusts(&mut self, _: &Path, wants: &[TrustRequirement]) -> bool {
        self.asked.extend(wants.iter().map(ToString::to_string));
        self.yes
    }

    fn reads(&mut self, _: &Path, files: &[OutsideFile]) -> bool {
        let files = files.iter().map(|file| file.real.display().to_string());
        self.asked.extend(files);
        self.yes
    }

    fn starts(&mut self, server: &McpServer) -> bool {
        self.asked.push(server.name.clone());
        self.yes
    }
}

/// Writes a file into the project.
pub(crate) fn put(house: &House, name: &str, text: &str) -> PathBuf {
    let path = house.cwd().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

pub(crate) async fn workplace(house: &House, consent: &mut Says) -> Arc<ProjectSetup> {
    let (env, cwd) = (house.env(), house.cwd());
    let opened = ProjectSetup::open(&env, &cwd, SessionOverrides::default(), Some(consent));
    Arc::new(opened.await.unwrap())
}

pub(crate) async fn open(
    house: &House,
    workplace: &ProjectSetup,
    start: SessionChoice,
) -> (Agent, UnboundedReceiver<AgentEvent>) {
    let builder = workplace.equip(house.builder());
    builder.open(start).await.unwrap()
}

/// The results of tools, in order.
pub(crate) fn results(told: &[AgentEvent]) -> Vec<String> {
    let results = told.iter().filter_map(|event| match event {
        AgentEvent::ToolEnded { output, .. } => Some(match &output.content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }),
        _ => None,
    });
    results.collect()
}
