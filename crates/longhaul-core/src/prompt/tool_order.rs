//! The order of tools (B5): sorted at first, then kept. Tools are at the very start of the prompt, so any change of
//! order breaks the whole cache.
//!
//! A tool that is still offered keeps its place and its bytes, whatever order and key order the host lists it in. New
//! tools go to the end, sorted. If a tool was removed or redefined, the cache break is planned and reported.

use serde_json::Value;
use serde_json::value::RawValue;

/// The tools as they are sent, and the changes.
#[derive(Debug, Clone)]
pub struct OrderedTools {
    /// The request's `tools`.
    pub json: Box<RawValue>,
    /// The names of new tools.
    pub added: Vec<String>,
    /// The names of removed tools.
    pub removed: Vec<String>,
    /// The names of tools whose definition changed.
    pub redefined: Vec<String>,
}

impl OrderedTools {
    /// Whether the bytes are the same as before.
    pub fn unchanged(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.redefined.is_empty()
    }
}

struct SortedTool {
    name: String,
    definition: Value,
    bytes: Box<RawValue>,
}

/// Orders the tools that a host offers: those that were sent before come first.
///
/// Both are JSON arrays of tool definitions. If two tools have the same name, the first is taken: a request with both
/// would be refused.
///
/// # Errors
/// Fails if either is not a JSON array of objects with a name.
pub fn order_tools(
    before: Option<&RawValue>,
    offered: &RawValue,
) -> Result<OrderedTools, serde_json::Error> {
    let before = before.map(read).transpose()?.unwrap_or_default();
    let mut offered = read(offered)?;
    offered.sort_by(|a, b| a.name.cmp(&b.name));
    offered.dedup_by(|later, first| later.name == first.name);

    let mut sent: Vec<Box<RawValue>> = Vec::with_capacity(offered.len());
    let (mut removed, mut redefined) = (Vec::new(), Vec::new());
    for tool in before {
        let found = offered.iter().position(|other| other.name == tool.name);
        match found.map(|at| offered.remove(at)) {
            Some(same) if same.definition == tool.definition => sent.push(tool.bytes),
            Some(other) => {
                redefined.push(other.name);
                sent.push(other.bytes);
            }
            None => removed.push(tool.name),
        }
    }
    let added = offered.iter().map(|tool| tool.name.clone()).collect();
    sent.extend(offered.into_iter().map(|tool| tool.bytes));
    Ok(OrderedTools {
        json: serde_json::value::to_raw_value(&sent)?,
        added,
        removed,
        redefined,
    })
}

fn read(tools: &RawValue) -> Result<Vec<SortedTool>, serde_json::Error> {
    let list: Vec<Box<RawValue>> = serde_json::from_str(tools.get())?;
    list.into_iter()
        .map(|bytes| {
            let definition: Value = serde_json::from_str(bytes.get())?;
            Ok(SortedTool {
                name: name(&definition),
                definition,
                bytes,
            })
        })
        .collect()
}

/// Returns the key that distinguishes tools: the name, or else the MCP server's name or the type.
fn name(definition: &Value) -> String {
    let text = |field: &str| definition.get(field).and_then(Value::as_str);
    let named = text("name").or_else(|| text("mcp_server_name"));
    named
        .or_else(|| text("type"))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn b5_tools_are_sorted_at_first() {
        let tools = raw(r#"[{"name":"b","x":1}, {"name":"a" } ,{"name":"b","x":2}]"#);
        let ordered = order_tools(None, &tools).unwrap();
        assert_eq!(ordered.json.get(), r#"[{"name":"a" },{"name":"b","x":1}]"#);
        assert_eq!(ordered.added, ["a", "b"]);
    }

    #[test]
    fn b5_tools_listed_in_another_order_are_sent_as_before() {
        let first = order_tools(None, &raw(r#"[{"name":"b","x":1,"y":2},{"name":"a"}]"#)).unwrap();
        let again = raw(r#"[ {"y":2,"x":1,"name":"b"},{"name":"a"}]"#);
        let second = order_tools(Some(&first.json), &again).unwrap();
        assert!(second.unchanged());
        assert_eq!(second.json.get(), first.json.get());
    }

    #[test]
    fn b5_new_tools_go_behind_the_latched_ones_sorted() {
        let first = order_tools(None, &raw(r#"[{"name":"m"},{"name":"z"}]"#)).unwrap();
        let more = raw(r#"[{"name":"q"},{"name":"z"},{"name":"a"},{"name":"m"}]"#);
        let second = order_tools(Some(&first.json), &more).unwrap();
        assert_eq!(
            second.json.get(),
            r#"[{"name":"m"},{"name":"z"},{"name":"a"},{"name":"q"}]"#
        );
        assert_eq!(second.added, ["a", "q"]);
    }

    #[test]
    fn b5_a_tool_that_went_or_changed_is_named() {
        let first = order_tools(None, &raw(r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#)).unwrap();
        let fewer = raw(r#"[{"name":"c","n":1},{"name":"a"}]"#);
        let second = order_tools(Some(&first.json), &fewer).unwrap();
        assert_eq!(second.json.get(), r#"[{"name":"a"},{"name":"c","n":1}]"#);
        assert_eq!(
            (second.removed, second.redefined),
            (vec!["b".into()], vec!["c".into()])
        );
    }
}
