//! Kinds of sub-agents: front matter that describes their purpose and tools, and a body that is their system prompt.

use std::path::PathBuf;

use super::admission::FileAdmission;
use super::front_matter::{self, FrontMatterFile};
use super::skills::{is_name, listed};
use crate::agent_kind::AgentKind;

/// The agents of these folders, sorted by name; of two with the same name, the first one counts.
pub(super) fn load(
    folders: &[PathBuf],
    admission: &mut FileAdmission,
    notices: &mut Vec<String>,
) -> Vec<AgentKind> {
    let mut agents: Vec<AgentKind> = Vec::new();
    for (path, owner) in listed(folders, admission) {
        if path.extension().is_none_or(|extension| extension != "md") || !path.is_file() {
            continue;
        }
        let Some(real) = admission.find_text(&path, owner, notices) else {
            continue;
        };
        let Some(headed) = front_matter::read(&path, &real, notices) else {
            continue;
        };
        match agent(path.clone(), headed) {
            Ok(agent) if agents.iter().any(|other| other.name == agent.name) => {}
            Ok(agent) => agents.push(agent),
            Err(why) => notices.push(format!(
                "{}:1: {why}; it is not used until it is corrected",
                path.display()
            )),
        }
    }
    agents.sort_by(|one, other| one.name.cmp(&other.name));
    agents
}

fn agent(path: PathBuf, headed: FrontMatterFile) -> Result<AgentKind, &'static str> {
    let file_name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let name = headed.text("name").unwrap_or(file_name);
    if !is_name(&name) {
        return Err("its `name` should have no blanks or slashes");
    }
    let description = headed
        .text("description")
        .ok_or("its front matter needs a `description` that says when to use it")?;
    let prompt = headed.body.trim().to_owned();
    if prompt.is_empty() {
        return Err("it has no body: write there what the agent is to do");
    }
    let all = |tools: &Vec<String>| tools.iter().any(|tool| tool == "*");
    let tools = headed.tools("tools").filter(|tools| !all(tools));
    let model = headed.text("model").filter(|model| model != "inherit");
    Ok(AgentKind {
        name,
        description,
        tools,
        model,
        prompt,
    })
}
