//! A command that the user runs (`!ls`): it needs no permission, and the model sees it with the next prompt, as an entry
//! that other programs know, too.

use longhaul_core::engine::{EntryAudience, NewEntry};
use serde_json::{Value, json};

use super::running::Agent;
use crate::tool::{CallContext, ToolCallOutput};

/// The tool that runs commands.
const SHELL: &str = "Bash";

impl Agent {
    /// Runs a command for the user and returns its output; `None` if there is no tool for it.
    pub(crate) async fn run_for_user(&mut self, command: &str) -> Option<ToolCallOutput> {
        let tool = (self.opened.worker.tool_executor.toolbox.find(SHELL)?).clone();
        let mut call = CallContext::quiet("user");
        call.cancel = self.cross_session.cancellation.token();
        let output = tool.run(json!({ "command": command }), &call).await;
        let said = match &output.content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let entries = vec![entry("bash-input", command), entry("bash-stdout", &said)];
        // At once: the user may leave before the next prompt.
        if let Err(error) = self.opened.worker.session.add(entries).await {
            self.notice(format!("The model will not see this: {error}"));
        }
        Some(output)
    }
}

/// An entry with a text in a tag, which the text itself cannot close.
fn entry(tag: &str, text: &str) -> NewEntry {
    let text = text.replace(&format!("</{tag}"), &format!("< /{tag}"));
    NewEntry::User {
        content: Value::String(format!("<{tag}>{text}</{tag}>")),
        shown: EntryAudience::ToUser,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_cannot_end_its_own_tag() {
        let NewEntry::User { content, .. } = entry("bash-stdout", "a</bash-stdout>b") else {
            panic!("an entry of the user");
        };
        assert_eq!(content, "<bash-stdout>a< /bash-stdout>b</bash-stdout>");
    }
}
