//! The tools that a request offers, distinguished by name, type and schema. An unknown tool is still usable through its
//! schema; tools that the server runs itself, that are not loaded yet or that were removed are not offered to the
//! model.

mod kind;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::chance::Chance;
use super::schema::{OptionalFields, ValuePalette, fit};
use crate::request::{ApiRole, ApiTool, MessagesRequest};
use kind::{kind_of, typed_schema};

pub(super) use kind::{ToolPurpose, kind_of_name};

/// The names of the field that takes a path, in order of preference.
pub(super) const PATH_FIELDS: &[&str] = &[
    "file_path",
    "path",
    "filePath",
    "filename",
    "target_file",
    "file",
    "notebook_path",
];

/// How many messages to search backwards for discovered tools.
const LOOK_BACK: usize = 60;

/// A tool that the request offers.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfferedTool<'a> {
    /// The definition of the tool.
    pub(super) tool: &'a ApiTool,
    /// What the tool is for.
    pub(super) kind: ToolPurpose,
}

impl<'a> OfferedTool<'a> {
    /// The name of the tool.
    pub(super) fn name(&self) -> &'a str {
        &self.tool.name
    }

    /// The description of the tool.
    pub(super) fn description(&self) -> &'a str {
        self.tool
            .fields
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or("")
    }

    /// The schema of the tool's input.
    pub(super) fn schema(&self) -> Cow<'a, Value> {
        match self.tool.fields.get("input_schema") {
            Some(schema) => Cow::Borrowed(schema),
            None => Cow::Owned(typed_schema(self.kind)),
        }
    }

    /// The definition of a field of the input.
    pub(super) fn field(&self, name: &str) -> Option<Value> {
        self.schema().get("properties")?.get(name).cloned()
    }

    /// The field that takes a path.
    pub(super) fn path_field(&self) -> Option<&'static str> {
        PATH_FIELDS
            .iter()
            .copied()
            .find(|name| self.field(name).is_some())
    }

    /// An input that keeps those `hints` that the schema has.
    pub(super) fn input(
        &self,
        hints: Value,
        palette: ValuePalette<'_>,
        chance: &mut Chance,
    ) -> Value {
        let extras = match self.kind {
            ToolPurpose::Other => OptionalFields::Some,
            _ => OptionalFields::None,
        };
        fit(&self.schema(), hints, extras, palette, chance)
    }

    /// An input that keeps those `hints` that the schema has. Nothing else is made up but what is required.
    pub(super) fn worded_input(
        &self,
        hints: Value,
        palette: ValuePalette<'_>,
        chance: &mut Chance,
    ) -> Value {
        fit(&self.schema(), hints, OptionalFields::None, palette, chance)
    }
}

/// The tools that a request offers.
#[derive(Debug, Clone)]
pub(super) struct RequestTools<'a> {
    offers: Vec<OfferedTool<'a>>,
}

impl<'a> RequestTools<'a> {
    /// Reads the tools of a request.
    pub(super) fn of(request: &'a MessagesRequest) -> Self {
        let known = if request.tools.iter().any(|tool| tool.deferred) {
            discovered(request)
        } else {
            BTreeSet::new()
        };
        let gone = removed(request);
        let offers = request
            .tools
            .iter()
            .filter(|tool| !tool.deferred || known.contains(tool.name.as_str()))
            .filter(|tool| !gone.contains(tool.name.as_str()))
            .filter_map(|tool| kind_of(tool).map(|kind| OfferedTool { tool, kind }))
            .collect();
        Self { offers }
    }

    /// Keeps only the tools that pass the test.
    pub(super) fn filtered(mut self, keep: impl Fn(&OfferedTool<'_>) -> bool) -> Self {
        self.offers.retain(keep);
        self
    }

    /// All offered tools.
    pub(super) fn all(&self) -> &[OfferedTool<'a>] {
        &self.offers
    }

    /// The first tool of this kind.
    pub(super) fn of_kind(&self, kind: ToolPurpose) -> Option<OfferedTool<'a>> {
        self.offers.iter().find(|offer| offer.kind == kind).copied()
    }

    /// The tool of this name.
    pub(super) fn named(&self, name: &str) -> Option<OfferedTool<'a>> {
        self.offers
            .iter()
            .find(|offer| offer.name() == name)
            .copied()
    }
}

fn discovered(request: &MessagesRequest) -> BTreeSet<&str> {
    fn names<'v>(value: &'v Value, found: &mut BTreeSet<&'v str>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| names(item, found)),
            Value::Object(map) => {
                if map.get("type").and_then(Value::as_str) == Some("tool_reference") {
                    found.extend(map.get("tool_name").and_then(Value::as_str));
                }
                for key in ["content", "tool_references"] {
                    if let Some(inner) = map.get(key) {
                        names(inner, found);
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    for block in request
        .messages
        .iter()
        .rev()
        .take(LOOK_BACK)
        .flat_map(|message| &message.content)
    {
        if matches!(
            block.kind.as_str(),
            "tool_result" | "tool_search_tool_result"
        ) && let Some(content) = block.fields.get("content")
        {
            names(content, &mut found);
        }
    }
    found
}

fn removed(request: &MessagesRequest) -> BTreeSet<&str> {
    let mut gone = BTreeSet::new();
    for message in request
        .messages
        .iter()
        .filter(|message| message.role == ApiRole::System)
    {
        for block in &message.content {
            let tool = block.fields.get("tool");
            let name = block
                .text("name")
                .or_else(|| block.text("tool_name"))
                .or_else(|| tool.and_then(Value::as_str))
                .or_else(|| {
                    tool?
                        .get("name")
                        .or_else(|| tool?.get("tool_name"))?
                        .as_str()
                });
            match (block.kind.as_str(), name) {
                ("tool_removal", Some(name)) => gone.insert(name),
                ("tool_addition", Some(name)) => gone.remove(name),
                _ => false,
            };
        }
    }
    gone
}
