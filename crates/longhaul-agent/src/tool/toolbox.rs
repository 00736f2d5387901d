//! The tools of a session, by name.

use std::sync::Arc;

use serde_json::Value;

use super::Tool;

/// The tools that a model may call.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
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
        self.tools.retain(|there| there.name() != tool.name());
        self.tools.push(tool);
    }

    /// The tool with this name.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// A toolbox with only the tools whose names are kept, for sub-agents.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let tools = self.tools.iter().filter(|tool| keep(tool.name()));
        Self {
            tools: tools.cloned().collect(),
        }
    }

    /// The definitions, as they appear in requests.
    pub fn definitions(&self) -> Vec<Value> {
        self.tools.iter().map(|tool| tool.definition()).collect()
    }

    /// The names of the tools.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name())
    }
}
