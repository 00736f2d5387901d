//! What a simulated search finds: the same query finds the same. Every title and text says that it is simulated, and
//! the addresses are in domains that are reserved for examples, or in those that the request allows.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longhaul_core::xxh3::xxh3_64_with_seed;
use serde_json::{Value, json};

use super::domains::covers;

/// The number of results of a search.
const RESULTS: usize = 5;
/// The bytes of a result's sealed content: about 300 tokens, a tenth of a real one.
const SEALED: usize = 1_200;

/// Domains that nobody owns (RFC 2606).
const RESERVED: [&str; 5] = [
    "example.com",
    "docs.example.org",
    "blog.example.net",
    "news.example.com",
    "example.org",
];

/// The results of a query, within these domains.
pub(super) fn results(query: &str, allowed: &[String], blocked: &[String]) -> Vec<Value> {
    let slug = slug(query);
    let domains: Vec<&str> = if allowed.is_empty() {
        RESERVED.to_vec()
    } else {
        let plain = |domain: &'_ str| domain.find('*').map_or(domain.len(), |star| star);
        allowed
            .iter()
            .map(|domain| domain[..plain(domain)].trim_end_matches('/'))
            .collect()
    };
    let places = (1..=RESULTS).map(|number| {
        let domain = domains[(number - 1) % domains.len()];
        (number, format!("{domain}/simulated/{slug}-{number}"))
    });
    let open = places.filter(|(_, address)| {
        let inside = allowed.is_empty() || allowed.iter().any(|domain| covers(domain, address));
        inside && !blocked.iter().any(|domain| covers(domain, address))
    });
    open.map(|(number, address)| {
        let age = [Value::Null, json!("March 4, 2026"), json!("2 days ago")];
        let which = xxh3_64_with_seed(query.as_bytes(), number as u64) % 3;
        json!({
            "type": "web_search_result",
            "title": format!("Simulated result {number} for “{query}”"),
            "url": format!("https://{address}"),
            "encrypted_content": sealed(query, number),
            "page_age": age[which as usize],
        })
    })
    .collect()
}

/// The words that a citation quotes from a result: they, too, say what they are.
pub(crate) fn cited_text(title: &str) -> String {
    format!("{title}: this text is made up by the simulator, and no page holds it.")
}

/// Opaque content, as long as that of a short page.
fn sealed(query: &str, number: usize) -> String {
    let text = format!("simulated search result {number} for {query}\n");
    let bytes: Vec<u8> = text.bytes().cycle().take(SEALED).collect();
    STANDARD.encode(bytes)
}

fn slug(query: &str) -> String {
    let words = query
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(6);
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    match words.join("-") {
        empty if empty.is_empty() => "query".to_owned(),
        slug => slug,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(allowed: &[&str], blocked: &[&str]) -> Vec<String> {
        let owned = |list: &[&str]| list.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
        results("tide tables", &owned(allowed), &owned(blocked))
            .iter()
            .map(|result| result["url"].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn a_search_finds_the_same_each_time_and_says_that_it_is_simulated() {
        assert_eq!(urls(&[], &[]), urls(&[], &[]));
        assert_eq!(urls(&[], &[]).len(), RESULTS);
        for result in results("tide tables", &[], &[]) {
            assert!(result["title"].as_str().unwrap().starts_with("Simulated"));
            assert!(result["url"].as_str().unwrap().contains("/simulated/"));
        }
    }

    #[test]
    fn a_search_keeps_to_its_domains() {
        let inside = urls(&["docs.rs/serde", "example.org"], &[]);
        assert!(inside[0].starts_with("https://docs.rs/serde/simulated/"));
        assert!(inside[1].starts_with("https://example.org/simulated/"));
        let outside = urls(&[], &["example.com"]);
        assert!(!outside.is_empty() && outside.iter().all(|url| !url.contains("example.com")));
        assert!(urls(&[], &["example.com", "example.org", "example.net"]).is_empty());
    }
}
