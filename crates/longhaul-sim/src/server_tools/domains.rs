//! The domains of a web search, as `allowed_domains` and `blocked_domains` name them: a host without a scheme, which
//! stands for its subdomains, too, and possibly a path.

/// Whether the text is a domain as the API takes it: no scheme, and at most one wildcard, in the path.
pub(crate) fn is_domain(text: &str) -> bool {
    let (host, path) = text.split_once('/').unwrap_or((text, ""));
    let label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte >= 0x80)
    };
    host.contains('.')
        && host.split('.').all(label)
        && path.matches('*').count() <= 1
        && !path.contains(char::is_whitespace)
}

/// Whether an address (without its scheme) is in this domain.
pub(super) fn covers(domain: &str, address: &str) -> bool {
    let split = |text: &str| {
        let (host, path) = text.split_once('/').unwrap_or((text, ""));
        (host.to_ascii_lowercase(), path.to_owned())
    };
    let ((host, path), (of, at)) = (split(domain), split(address));
    let same_host = of == host || of.strip_suffix(&host).is_some_and(|sub| sub.ends_with('.'));
    let begins = path.split('*').next().unwrap_or_default();
    same_host && at.starts_with(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_stands_for_its_subdomains_and_its_path() {
        assert!(covers("example.com", "docs.example.com/a"));
        assert!(!covers("docs.example.com", "example.com/a"));
        assert!(!covers("example.com", "badexample.com/a"));
        assert!(covers("example.com/blog", "example.com/blog/1"));
        assert!(!covers("example.com/blog", "example.com/news"));
        assert!(covers("example.com/*/news", "example.com/x/news"));
    }

    #[test]
    fn a_scheme_and_a_wildcard_in_the_host_are_no_domain() {
        for good in ["example.com", "docs.example.com/a/*", "bücher.example"] {
            assert!(is_domain(good), "{good}");
        }
        for bad in [
            "https://example.com",
            "*.example.com",
            "example",
            "",
            "a.b/*/*",
            "a b.com",
        ] {
            assert!(!is_domain(bad), "{bad}");
        }
    }
}
