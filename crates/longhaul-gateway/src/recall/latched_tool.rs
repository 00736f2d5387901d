//! The tool as one conversation is offered it: its name, and its definition byte for byte. Both are fixed with the first
//! request, because the definition is part of every later request's cached prefix.

use longhaul_core::json::{self, ObjectReader};
use longhaul_provider::Dialect;
use longhaul_store::archive::tool::{NAME, recall_tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The name where a tool of the client has the usual one; further ones get a number.
const OTHER_NAME: &str = "longhaul_recall";

/// The tool of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LatchedTool {
    /// The name by which the model calls it.
    pub(crate) name: String,
    /// The definition, as it is appended to the client's tools.
    pub(crate) definition: String,
}

impl LatchedTool {
    /// The tool under a name that no tool of the client has.
    pub(crate) fn beside(dialect: Dialect, taken: &[String]) -> Self {
        let usual = [NAME, OTHER_NAME].map(str::to_owned).into_iter();
        let numbered = (2_u64..).map(|number| format!("{OTHER_NAME}_{number}"));
        let free = usual.chain(numbered).find(|name| !taken.contains(name));
        // There is always a free number.
        let name = free.unwrap_or_default();
        let mut tool = recall_tool();
        let definition = match dialect {
            Dialect::Anthropic => {
                tool["name"] = Value::from(name.as_str());
                tool
            }
            Dialect::OpenAi => json!({"type": "function", "function": {
                "name": name, "description": tool["description"], "parameters": tool["input_schema"]}}),
        };
        Self {
            name,
            definition: definition.to_string(),
        }
    }

    /// The same tool, unless the client has a tool of that name by now.
    pub(crate) fn unless_taken(self, dialect: Dialect, taken: &[String]) -> Self {
        if taken.contains(&self.name) {
            Self::beside(dialect, taken)
        } else {
            self
        }
    }
}

/// The names of a client's tools; `None` if there is no tool in the list.
pub(super) fn tool_names(dialect: Dialect, tools: &[u8]) -> Option<Vec<String>> {
    let tools = json::items(tools).filter(|tools| !tools.is_empty())?;
    let names = tools.into_iter().filter_map(|tool| {
        let tool = ObjectReader::new(tool);
        let inner = match dialect {
            Dialect::Anthropic => None,
            Dialect::OpenAi => tool.object("function").or_else(|| tool.object("custom")),
        };
        inner.unwrap_or(tool).string("name").map(Into::into)
    });
    Some(names.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_the_client_uses_is_left_to_the_client() {
        let named = |taken: &[&str]| {
            let taken: Vec<String> = taken.iter().map(|name| (*name).to_owned()).collect();
            LatchedTool::beside(Dialect::Anthropic, &taken).name
        };
        assert_eq!(named(&["Read"]), "recall");
        assert_eq!(named(&["recall"]), "longhaul_recall");
        assert_eq!(named(&["recall", "longhaul_recall"]), "longhaul_recall_2");
    }

    #[test]
    fn names_are_read_in_both_dialects() {
        let messages =
            br#"[{"name": "Read", "input_schema": {}}, {"type": "bash_20250124", "name": "bash"}]"#;
        let names = tool_names(Dialect::Anthropic, messages).unwrap();
        assert_eq!(names, ["Read", "bash"]);
        let chat = br#"[{"type": "function", "function": {"name": "look"}}, {"type": "custom", "custom": {"name": "x"}}]"#;
        assert_eq!(tool_names(Dialect::OpenAi, chat).unwrap(), ["look", "x"]);
        assert_eq!(tool_names(Dialect::OpenAi, b"[]"), None);
        assert_eq!(tool_names(Dialect::OpenAi, b"null"), None);
    }
}
