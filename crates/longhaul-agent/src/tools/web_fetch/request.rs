//! Fetches an address: follows redirects on the same host, limits bytes and time, and describes failures in a sentence.

use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use longhaul_core::normalize::fragment::fill;
use longhaul_provider::{Certificates, Proxy, chain, http_client};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Client, Response};
use url::Url;

use super::address::{AddressLookup, AllowedAddresses, NotPublicAddress, refused};
use super::page;
use crate::tools::definition::{beginning, one_line};

/// The maximum number of bytes that are read of a page.
const MOST_BYTES: usize = 10 << 20;
/// The maximum number of characters of a page that a model sees.
const MOST_CHARACTERS: usize = 100_000;
/// The maximum number of characters of a page that came with an error.
const MOST_OF_AN_ERROR: usize = 2_000;
/// The maximum number of redirects.
const MOST_HOPS: usize = 10;
/// Markdown comes first: some servers provide it.
const WANTED: &str = "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.1";

/// The result of fetching an address.
pub(super) enum FetchOutcome {
    /// A page, as text of limited length.
    Page(String),
    /// A redirect to another host.
    Elsewhere {
        /// The status of the response.
        status: String,
        /// The address that it leads to.
        to: String,
    },
}

/// Fetches pages.
pub(super) struct PageFetcher {
    addresses: AllowedAddresses,
    proxy: Option<Proxy>,
    timeout: Duration,
    /// Certificates are loaded when the first page is fetched.
    client: OnceLock<Result<Client, String>>,
}

impl PageFetcher {
    pub(super) fn new(
        addresses: AllowedAddresses,
        proxy: Option<Proxy>,
        timeout: Duration,
    ) -> Self {
        Self {
            addresses,
            proxy,
            timeout,
            client: OnceLock::new(),
        }
    }

    pub(super) fn addresses(&self) -> AllowedAddresses {
        self.addresses
    }

    /// Fetches a page; an error is a sentence for the model.
    pub(super) async fn fetch(&self, url: &Url) -> Result<FetchOutcome, String> {
        let fetched = tokio::time::timeout(self.timeout, self.follow(url)).await;
        fetched.unwrap_or_else(|_| {
            let seconds = self.timeout.as_secs().max(1).to_string();
            let gaps = [("url", url.as_str()), ("seconds", &seconds)];
            Err(fill(include_str!("fragments/late.md"), &gaps))
        })
    }

    async fn follow(&self, first: &Url) -> Result<FetchOutcome, String> {
        let mut url = first.clone();
        for _ in 0..MOST_HOPS {
            let client = self.client(&url)?;
            let sent = client.get(url.clone()).header(ACCEPT, WANTED).send().await;
            let response = sent.map_err(|error| failed(&url, &error))?;
            let Some(to) = redirect(&response, &url) else {
                return page(&url, response).await.map(FetchOutcome::Page);
            };
            let status = response.status().to_string();
            // A redirect with a user name or another scheme: an address that could not be requested is not followed
            // either.
            let next = self.addresses.read(to.as_str());
            match next {
                Ok(next) if is_same_site(&url, &next) => url = next,
                _ => {
                    let to = to.to_string();
                    return Ok(FetchOutcome::Elsewhere { status, to });
                }
            }
        }
        let gaps = [("url", first.as_str()), ("most", &MOST_HOPS.to_string())];
        Err(fill(include_str!("fragments/too_many.md"), &gaps))
    }

    fn client(&self, url: &Url) -> Result<Client, String> {
        let made = match url.scheme() {
            // Only addresses on this machine get here without TLS: their client need not be kept.
            "http" => self.make(Certificates::None),
            _ => (self.client)
                .get_or_init(|| self.make(Certificates::OfTheSystem))
                .clone(),
        };
        made.map_err(|why| fill(include_str!("fragments/no_client.md"), &[("why", &why)]))
    }

    fn make(&self, certificates: Certificates) -> Result<Client, String> {
        let proxy = self.proxy.as_ref();
        let host = proxy
            .and_then(|proxy| Url::parse(proxy.url.expose()).ok())
            .and_then(|proxy| proxy.host_str().map(str::to_owned));
        let lookup = AddressLookup {
            addresses: self.addresses,
            proxy: host,
        };
        let builder = http_client(certificates, proxy).map_err(|error| error.to_string())?;
        let client = builder.dns_resolver(Arc::new(lookup)).build();
        client.map_err(|error| chain(&error.without_url()))
    }
}

/// The target of a response, if it is a redirect.
fn redirect(response: &Response, url: &Url) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let to = response.headers().get(LOCATION)?;
    url.join(&String::from_utf8_lossy(to.as_bytes())).ok()
}

/// Whether a redirect stays where the user allowed us to go: the same host and port, with `www.` or without.
fn is_same_site(from: &Url, to: &Url) -> bool {
    let host = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        host.strip_prefix("www.").unwrap_or(host).to_owned()
    };
    let port = Url::port_or_known_default;
    from.scheme() == to.scheme() && host(from) == host(to) && port(from) == port(to)
}

/// The text of a response.
async fn page(url: &Url, mut response: Response) -> Result<String, String> {
    let status = response.status();
    let content_type = content_type(response.headers());
    let mut bytes = Vec::new();
    let mut is_whole = true;
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let room = MOST_BYTES - bytes.len();
                bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    is_whole = false;
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => return Err(failed(url, &error)),
        }
    }
    let read = page::read(content_type, bytes).await;
    if !status.is_success() {
        let text = read.unwrap_or_default();
        let text = beginning(&text, MOST_OF_AN_ERROR).unwrap_or(&text);
        let status = status.to_string();
        let gaps = [("url", url.as_str()), ("status", &status), ("text", text)];
        return Err(fill(include_str!("fragments/status.md"), &gaps));
    }
    let text = read.map_err(|kind| {
        let gaps = [("url", url.as_str()), ("kind", &*one_line(&kind, 100))];
        fill(include_str!("fragments/not_text.md"), &gaps)
    })?;
    let text = match beginning(&text, MOST_CHARACTERS) {
        Some(short) => {
            let [shown, total] = [MOST_CHARACTERS, text.chars().count()].map(|n| n.to_string());
            let gaps = [("text", short), ("shown", &shown), ("total", &total)];
            fill(include_str!("fragments/cut.md"), &gaps)
        }
        None => text,
    };
    if is_whole {
        return Ok(text);
    }
    let megabytes = (MOST_BYTES >> 20).to_string();
    let gaps = [("text", &*text), ("megabytes", &megabytes)];
    Ok(fill(include_str!("fragments/incomplete.md"), &gaps))
}

fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Describes a failure in a sentence.
fn failed(url: &Url, error: &reqwest::Error) -> String {
    let host = url.host_str().unwrap_or_default();
    // The innermost cause is the most specific: those around it only say that something went wrong.
    let mut cause: &dyn Error = error;
    loop {
        if let Some(NotPublicAddress(host)) = cause.downcast_ref() {
            return refused(host);
        }
        match cause.source() {
            Some(deeper) => cause = deeper,
            None => break,
        }
    }
    let fragment = if error.is_connect() {
        include_str!("fragments/unreachable.md")
    } else {
        include_str!("fragments/broken.md")
    };
    let why = one_line(&cause.to_string(), 300);
    fill(fragment, &[("host", host), ("why", &why)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn q1_a_refusal_behind_the_lookup_is_told_as_one() {
        let fetcher = PageFetcher::new(AllowedAddresses::Public, None, Duration::from_secs(30));
        let url = Url::parse("http://localhost:1/").unwrap();
        let why = fetcher.fetch(&url).await.err().unwrap();
        assert!(
            why.starts_with("localhost is an address on this machine"),
            "{why}"
        );
    }

    #[test]
    fn q1_a_redirect_stays_on_its_site_with_www_or_without() {
        let same = |from: &str, to: &str| {
            is_same_site(&Url::parse(from).unwrap(), &Url::parse(to).unwrap())
        };
        assert!(same("https://a.org/", "https://www.a.org/b"));
        assert!(same("https://www.a.org/", "https://a.org:443/b"));
        assert!(!same("https://a.org/", "https://b.org/"));
        assert!(!same("https://a.org/", "https://sub.a.org/"));
        assert!(!same("https://a.org/", "https://a.org:8443/"));
    }
}
