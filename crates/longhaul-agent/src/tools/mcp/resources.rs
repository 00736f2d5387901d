//! Resources that servers offer: a prompt that mentions `@server:uri` gets the content attached, as Claude Code writes it.

use longhaul_core::figures::{counted, grouped};
use rmcp::model::{ReadResourceRequestParams, Resource};
use serde_json::{Value, json};

use super::output::{self, McpOutputPart};
use super::prompts::{PATIENCE, bounded, cut_to};
use super::server::McpServerHandle;
use super::{names, one_line};

/// The maximum length of an address.
const LONGEST_URI: usize = 1_000;

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpResource {
    /// How it is mentioned, without the `@`: `server:uri`.
    pub mention: String,
    /// What it is.
    pub name: String,
}

/// The content of a resource, as it goes into the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct McpResourceText {
    /// The attachment with its texts, if there are any.
    pub attachment: Option<Value>,
    /// Its pictures, as blocks.
    pub pictures: Vec<Value>,
    /// How much there is of it, for people: `2 lines, 1 picture`.
    pub about: String,
}

impl McpResource {
    /// None if the address cannot be typed as one word.
    pub(super) fn new(server: &str, resource: &Resource) -> Option<Self> {
        let uri = &resource.uri;
        let is_word = !uri.is_empty()
            && uri.len() <= LONGEST_URI
            && !uri.contains(|c: char| c.is_whitespace() || c.is_control());
        let said = resource.title.as_deref().unwrap_or(&resource.name);
        is_word.then(|| Self {
            mention: format!("{}:{uri}", names::clean(server)),
            name: one_line(said, 100),
        })
    }
}

impl McpResourceText {
    /// Reads a resource. An error is half a sentence.
    pub(super) async fn read(server: &McpServerHandle, uri: &str) -> Result<Self, String> {
        let connection = server.connected().await?;
        let asked = connection
            .service
            .read_resource(ReadResourceRequestParams::new(uri));
        let answer = match tokio::time::timeout(PATIENCE, asked).await {
            Ok(answer) => answer.map_err(|error| one_line(&error.to_string(), 300))?,
            Err(_) => {
                return Err(format!(
                    "the server did not answer within {} seconds",
                    PATIENCE.as_secs()
                ));
            }
        };
        let mut room = server.limits().output;
        let mut contents = Vec::new();
        let mut pictures = Vec::new();
        let mut size = TextSize::default();
        for part in &answer.contents {
            let part = serde_json::to_value(part).unwrap_or_default();
            let text = match (part["text"].as_str(), output::resource(&part)) {
                (Some(text), _) => text.to_owned(),
                (None, McpOutputPart::Text(text)) => text,
                (None, McpOutputPart::Picture(picture)) => {
                    pictures.push(picture);
                    continue;
                }
            };
            size.add(&text, cut_to(&text, room));
            let text = bounded(&text, room);
            room = room.saturating_sub(McpOutputPart::Text(text.clone()).tokens());
            contents.push(json!({
                "uri": part["uri"].as_str().unwrap_or(uri),
                "mimeType": part["mimeType"].as_str().unwrap_or("text/plain"),
                "text": text,
            }));
        }
        if contents.is_empty() && pictures.is_empty() {
            return Err("it is empty".to_owned());
        }
        let texts = (!contents.is_empty()).then(|| size.told());
        let shown = (!pictures.is_empty()).then(|| counted(pictures.len() as u64, "picture"));
        let about: Vec<String> = texts.into_iter().chain(shown).collect();
        Ok(Self {
            about: about.join(", "),
            attachment: (!contents.is_empty()).then(|| {
                json!({
                    "type": "mcp_resource",
                    "server": server.name(),
                    "uri": uri,
                    "name": uri,
                    "content": { "contents": contents },
                })
            }),
            pictures,
        })
    }
}

/// How much of a resource's texts is attached.
#[derive(Default)]
struct TextSize {
    lines: usize,
    attached: usize,
    bytes: usize,
}

impl TextSize {
    /// Adds a text, of which only the beginning may be attached.
    fn add(&mut self, text: &str, cut: Option<&str>) {
        self.lines += text.lines().count();
        self.attached += cut.unwrap_or(text).len();
        self.bytes += text.len();
    }

    fn told(&self) -> String {
        if self.attached == self.bytes {
            return counted(self.lines as u64, "line");
        }
        let [attached, bytes] = [self.attached, self.bytes].map(|size| grouped(size as u64));
        format!("the first {attached} of {bytes} bytes")
    }
}
