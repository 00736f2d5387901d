//! Kinds of sub-agents: front matter that describes their purpose and tools, and a body that is their system prompt.

use std::path::PathBuf;

use super::admission::FileAdmission;
use super::front_matter::FrontMatterFile;
use super::headed_files::HeadedFiles;
use super::skills::is_name;
use crate::agent_kind::AgentKind;

/// The agents of these folders, sorted by name; of two with the same name, the first one counts.
pub(super) fn load(
    folders: &[PathBuf],
    admission: &mut FileAdmission,
    notices: &mut Vec<String>,
) -> Vec<AgentKind> {
    let mut agents: Vec<AgentKind> = Vec::new();
    let mut files = HeadedFiles::of(folders, admission);
    while let Some((path, headed)) = files.read_next(admission, notices) {
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
