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
    /// Adds a tool. One of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        self.add(Arc::new(tool));
        self
    }

    /// The same for a shared tool.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        self.tools.retain(|there| there.name() != tool.name());
        self.tools.push(tool);
    }

    /// The tool of this name.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Only these: for sub-agents.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let tools = self.tools.iter().filter(|tool| keep(tool.name()));
        Self {
            tools: tools.cloned().collect(),
        }
    }

    /// The definitions, as requests carry them.
    pub fn definitions(&self) -> Vec<Value> {
        self.tools.iter().map(|tool| tool.definition()).collect()
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name())
    }
}
