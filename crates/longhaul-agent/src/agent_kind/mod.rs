//! Kinds of sub-agents: their purpose, their prompt, and the tools they may use.

/// A kind of sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentKind {
    /// The name of the kind.
    pub name: String,
    /// When to use it, for the model that starts it.
    pub description: String,
    /// Its system prompt.
    pub prompt: String,
    /// The tools it may use; if none, all except those that start or watch agents.
    pub tools: Option<Vec<String>>,
    /// A model that differs from the main conversation's.
    pub model: Option<String>,
}

/// The kind that is used where none is named.
pub(crate) const GENERAL: &str = "general-purpose";

/// Tools that start or watch agents; sub-agents do not have them.
const NOT_NESTED: [&str; 2] = ["Task", "TaskOutput"];

impl AgentKind {
    /// The kinds that always exist.
    pub fn builtin() -> Vec<Self> {
        let looks = [
            "Read",
            "Grep",
            "Glob",
            "WebFetch",
            "WebSearch",
            "Recall",
            "recall",
        ];
        vec![
            Self {
                name: GENERAL.to_owned(),
                description: "for any task that takes several steps, changes included".to_owned(),
                prompt: include_str!("fragments/general.md").to_owned(),
                tools: None,
                model: None,
            },
            Self {
                name: "Explore".to_owned(),
                description: "finds things in a code base and changes nothing".to_owned(),
                prompt: include_str!("fragments/explore.md").to_owned(),
                tools: Some(looks.map(str::to_owned).to_vec()),
                model: None,
            },
        ]
    }

    /// Adds these kinds to the built-in ones; a kind with the name of a built-in one replaces it.
    pub(crate) fn with_builtin(own: Vec<Self>) -> Vec<Self> {
        let mut kinds = Self::builtin();
        for kind in own {
            kinds.retain(|there| there.name != kind.name);
            kinds.push(kind);
        }
        kinds
    }

    /// Whether this kind may use a tool.
    pub(crate) fn may_use(&self, tool: &str) -> bool {
        let listed = || match &self.tools {
            None => true,
            Some(tools) => tools.iter().any(|name| name == tool || name == "*"),
        };
        !NOT_NESTED.contains(&tool) && listed()
    }
}

/// The model that a short name stands for; any other name stands for itself, and `inherit` for the model in use.
pub(crate) fn model_named(name: &str, in_use: &str) -> String {
    match name.trim() {
        "" | "inherit" => in_use,
        "opus" => "claude-opus-5-5",
        "sonnet" => "claude-sonnet-5-5",
        "haiku" => "claude-haiku-5-5",
        other => other,
    }
    .to_owned()
}
