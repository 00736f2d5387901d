//! WebFetch: fetches a web page as Markdown (Q1).
//!
//! `address` decides what may be reached, `request` fetches it, `page` converts it to text, `cache` keeps it for a
//! while.

mod address;
mod cache;
mod html;
mod page;
mod request;
mod tags;

use std::sync::Arc;
use std::time::Duration;

use longhaul::{Clock, SystemClock};
use longhaul_core::figures::counted;
use longhaul_core::normalize::fragment::fill;
use longhaul_provider::Proxy;
use serde_json::Value;
use url::Url;

use super::definition::{one_line, stopped, text_field};
use super::typed::TypedTool;
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};
use cache::PageCache;
use request::{FetchOutcome, PageFetcher};

pub use address::AllowedAddresses;

/// The tool's name.
pub const NAME: &str = "WebFetch";

/// How pages are fetched.
#[derive(Clone)]
pub struct WebFetchOptions {
    /// Which addresses may be reached.
    pub addresses: AllowedAddresses,
    /// The proxy, if one must be used. The proxy then looks names up, and nobody here can see where they lead.
    pub proxy: Option<Proxy>,
    /// The maximum total time for a page.
    pub timeout: Duration,
    /// The clock of the cache.
    pub clock: Arc<dyn Clock>,
}

impl Default for WebFetchOptions {
    fn default() -> Self {
        Self {
            addresses: AllowedAddresses::Public,
            proxy: None,
            timeout: Duration::from_secs(30),
            clock: Arc::new(SystemClock),
        }
    }
}

/// The web fetch tool.
pub struct WebFetchTool {
    fetcher: PageFetcher,
    cache: PageCache,
}

impl WebFetchTool {
    /// Creates the tool with these options. No connection is opened yet.
    pub fn new(options: WebFetchOptions) -> Self {
        Self {
            fetcher: PageFetcher::new(options.addresses, options.proxy, options.timeout),
            cache: PageCache::new(options.clock),
        }
    }

    /// The page as the model should see it, from the cache or from the web.
    async fn page(&self, url: &Url) -> Result<Arc<str>, ToolCallOutput> {
        if let Some(text) = self.cache.get(url) {
            return Ok(text);
        }
        match self.fetcher.fetch(url).await {
            Ok(FetchOutcome::Page(text)) => {
                let text: Arc<str> = text.into();
                self.cache.put(url, &text);
                Ok(text)
            }
            Ok(FetchOutcome::Elsewhere { status, to }) => {
                let gaps = [("url", url.as_str()), ("status", &status), ("to", &to)];
                let text = fill(include_str!("fragments/elsewhere.md"), &gaps);
                Err(ToolCallOutput::text(text, format!("leads to {to}")))
            }
            Err(why) => Err(ToolCallOutput::error(why)),
        }
    }

    async fn answer(&self, url: &Url) -> ToolCallOutput {
        let text = match self.page(url).await {
            Ok(text) => text,
            Err(output) => return output,
        };
        let line = counted(text.chars().count() as u64, "character");
        let gaps = [("url", url.as_str()), ("text", &text)];
        ToolCallOutput::text(fill(include_str!("fragments/page.md"), &gaps), line)
    }
}

impl TypedTool for WebFetchTool {
    const NAME: &'static str = NAME;
    const DESCRIPTION: &'static str = include_str!("fragments/description.md");
    const SCHEMA: &'static str = include_str!("fragments/schema.json");
    type Input = Value;

    fn access(&self, input: &Value) -> ToolAccess {
        match self.fetcher.addresses().read(text_field(input, "url")) {
            Ok(url) => ToolAccess::Fetches(url.host_str().unwrap_or_default().to_owned()),
            // Nothing is fetched, so nobody needs to be asked.
            Err(_) => ToolAccess::Nothing,
        }
    }

    fn line(&self, input: &Value) -> String {
        one_line(text_field(input, "url"), 120)
    }

    async fn run(&self, input: Value, call: &CallContext) -> Result<ToolCallOutput, String> {
        let url = self.fetcher.addresses().read(text_field(&input, "url"))?;
        let answered = call.cancel.run_until_cancelled(self.answer(&url)).await;
        Ok(answered.unwrap_or_else(stopped))
    }
}
