//! The tools of a session, by name.

use std::sync::Arc;

use serde_json::Value;

use super::Tool;

/// The tools that a model may call: those of the program, then those of servers in the order of their names, whatever
/// order they came in (B5).
#[derive(Clone, Default)]
pub struct Toolbox {
    own: Vec<Arc<dyn Tool>>,
    of_servers: Vec<Arc<dyn Tool>>,
}

impl Toolbox {
    /// Adds a tool. A tool of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        self.add(Arc::new(tool));
        self
    }

    /// Adds a shared tool. A tool of the same name is replaced.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        self.own.retain(|there| there.name() != tool.name());
        self.own.push(tool);
    }

    /// Adds tools of servers, except those whose names are taken. Returns how many were added.
    pub fn join(&mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> usize {
        let before = self.of_servers.len();
        for tool in tools {
            if self.find(tool.name()).is_none() {
                self.of_servers.push(tool);
            }
        }
        self.of_servers
            .sort_by(|one, other| one.name().cmp(other.name()));
        self.of_servers.len() - before
    }

    /// The tool with this name.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.all().find(|tool| tool.name() == name)
    }

    /// A toolbox with only the tools whose names are kept, for sub-agents.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = |tools: &[Arc<dyn Tool>]| {
            let tools = tools.iter().filter(|tool| keep(tool.name()));
            tools.cloned().collect()
        };
        Self {
            own: kept(&self.own),
            of_servers: kept(&self.of_servers),
        }
    }

    /// The definitions, as they appear in requests.
    pub fn definitions(&self) -> Vec<Value> {
        self.all().map(|tool| tool.definition()).collect()
    }

    /// The names of the tools.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all().map(|tool| tool.name())
    }

    fn all(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.own.iter().chain(&self.of_servers)
    }
}
