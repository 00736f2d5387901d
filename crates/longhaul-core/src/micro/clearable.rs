//! Defines which tools' results may be cleared (U1): those that running the tool again can bring back.

/// Tools whose results can be brought back. Agents use several names for shells.
const STANDARD: [&str; 12] = [
    "Read",
    "Bash",
    "BashOutput",
    "PowerShell",
    "shell",
    "Grep",
    "Glob",
    "WebFetch",
    "WebSearch",
    "Edit",
    "MultiEdit",
    "Write",
];

/// Tools whose results are answers of people or states that exist nowhere else. These results stay whatever is
/// configured.
const NEVER: [&str; 9] = [
    "AskUserQuestion",
    "ExitPlanMode",
    "NotebookRead",
    "NotebookEdit",
    "Task",
    "Agent",
    "TodoRead",
    "TodoWrite",
    "recall",
];

/// The set of tools whose results may be cleared. A name may end in `*`, as in `mcp__docs__*`.
///
/// ```
/// use longhaul_core::micro::ClearableTools;
///
/// let tools = ClearableTools::default().and(["Lookup".to_owned()]).except(["Read".to_owned()]);
/// assert!(tools.contains("Lookup") && !tools.contains("Read"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearableTools {
    names: Vec<String>,
    /// Tools whose results stay even if the tools are named.
    kept: Vec<String>,
}

impl Default for ClearableTools {
    fn default() -> Self {
        Self {
            names: STANDARD.map(str::to_owned).into(),
            kept: Vec::new(),
        }
    }
}

impl ClearableTools {
    /// Creates a set of exactly these tools.
    pub fn only(names: impl IntoIterator<Item = String>) -> Self {
        Self {
            names: names.into_iter().collect(),
            kept: Vec::new(),
        }
    }

    /// Adds these tools.
    #[must_use]
    pub fn and(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.names.extend(names);
        self
    }

    /// Excludes these tools, even if they are also added.
    #[must_use]
    pub fn except(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.kept.extend(names);
        self
    }

    /// Whether results of a tool exist nowhere else, so that they stay as they are whatever is configured.
    pub fn never_contains(tool: &str) -> bool {
        NEVER.contains(&tool) || tool.starts_with("Task")
    }

    /// Whether results of a tool may be cleared. Results of unnamed tools may not.
    pub fn contains(&self, tool: &str) -> bool {
        let is_one_of = |names: &[String]| {
            names.iter().any(|name| match name.strip_suffix('*') {
                Some(start) => tool.starts_with(start),
                None => tool == name,
            })
        };
        let is_kept = Self::never_contains(tool) || is_one_of(&self.kept);
        !is_kept && is_one_of(&self.names)
    }

    /// The names of the tools, for the provider's own clearing, which excludes all others.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}
