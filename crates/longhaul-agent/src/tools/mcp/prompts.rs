//! Prompts that servers offer: the user calls them as `/mcp__server__prompt`, and the server's text goes to the model with
//! what the user typed. It is quoted as text from outside, and is none of the user's own words.

use std::time::Duration;

use longhaul_core::normalize::fragment::fill;
use longhaul_core::quoting::{inline, quoted};
use rmcp::model::{GetPromptRequestParams, JsonObject, Prompt, Role};
use serde_json::Value;

use super::output::{self, McpOutputPart};
use super::server::McpServerHandle;
use super::{beginning, names, one_line};
use crate::settings::words;

/// How long a server may take to send a text that the user waits for.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A prompt of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpPrompt {
    /// What the user types, without the slash.
    pub command: String,
    /// What it does, and which server it is from.
    pub description: String,
    /// The server's own name for it.
    its_name: String,
    /// The names of its arguments, and whether each is required.
    arguments: Vec<(String, bool)>,
}

/// The text of a prompt, as it goes into the conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct McpPromptText {
    /// The server's text, quoted.
    pub text: String,
    /// Its pictures, as blocks.
    pub pictures: Vec<Value>,
}

impl McpPrompt {
    pub(super) fn new(server: &str, prompt: &Prompt) -> Self {
        let said = prompt.description.as_deref().or(prompt.title.as_deref());
        let arguments = prompt.arguments.iter().flatten();
        let arguments: Vec<(String, bool)> = arguments
            .map(|argument| (argument.name.clone(), argument.required.unwrap_or_default()))
            .collect();
        Self {
            command: names::tool_name(server, &prompt.name),
            description: format!(
                "{} ({})",
                one_line(said.unwrap_or("a prompt"), 200),
                one_line(server, 64)
            ),
            its_name: prompt.name.clone(),
            arguments,
        }
    }

    /// How the command is typed: `<required> [optional]`.
    pub fn usage(&self) -> String {
        let shown = self.arguments.iter().map(|(name, required)| {
            let name = one_line(name, 40);
            if *required {
                format!("<{name}>")
            } else {
                format!("[{name}]")
            }
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// Asks the server for the text. The words of the line are its arguments, in their order; the last one gets the rest.
    /// An error is a sentence for people.
    pub(super) async fn text(
        &self,
        server: &McpServerHandle,
        line: &str,
    ) -> Result<McpPromptText, String> {
        let arguments = self.filled(line)?;
        let connection = server.connected().await?;
        let params = GetPromptRequestParams::new(&*self.its_name).with_arguments(arguments);
        let asked = connection.service.get_prompt(params);
        let answer = match tokio::time::timeout(PATIENCE, asked).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                let why = one_line(&error.to_string(), 300);
                return Err(format!("/{} failed: {why}", self.command));
            }
            Err(_) => {
                return Err(format!(
                    "/{} failed: the server did not answer within {} seconds",
                    self.command,
                    PATIENCE.as_secs()
                ));
            }
        };
        let mut texts = Vec::new();
        let mut pictures = Vec::new();
        for message in answer.messages {
            let block = serde_json::to_value(&message.content).unwrap_or_default();
            match (output::part(&block), message.role) {
                (McpOutputPart::Picture(picture), _) => pictures.push(picture),
                (McpOutputPart::Text(text), Role::User) => texts.push(text),
                (McpOutputPart::Text(text), _) => texts.push(format!("(assistant:) {text}")),
            }
        }
        let text = bounded(&texts.join("\n\n"), server.limits().output);
        let gaps = [
            ("prompt", &*inline(&self.its_name)),
            ("server", &*inline(server.name())),
            ("text", &*quoted(&text)),
        ];
        Ok(McpPromptText {
            text: fill(include_str!("fragments/prompt.md"), &gaps),
            pictures,
        })
    }

    fn filled(&self, line: &str) -> Result<JsonObject, String> {
        let mut words = words(line);
        let count = self.arguments.len();
        if count > 0 && words.len() > count {
            let rest = words.split_off(count - 1).join(" ");
            words.push(rest);
        }
        let missing = self.arguments.iter().skip(words.len());
        if missing.into_iter().any(|(_, required)| *required) {
            return Err(format!("usage: /{} {}", self.command, self.usage()));
        }
        let names = self.arguments.iter().map(|(name, _)| name.clone());
        Ok(names.zip(words.into_iter().map(Value::String)).collect())
    }
}

/// A text of at most this many tokens.
pub(super) fn bounded(text: &str, most: u64) -> String {
    match cut_to(text, most) {
        Some(short) => format!("{short}\n[cut here: the rest is too long]"),
        None => text.to_owned(),
    }
}

/// The beginning of a text, of this many tokens; `None` if all of it fits.
pub(super) fn cut_to(text: &str, most: u64) -> Option<&str> {
    // Four characters count as a token.
    let most = usize::try_from(most.saturating_mul(4)).unwrap_or(usize::MAX);
    beginning(text, most)
}
