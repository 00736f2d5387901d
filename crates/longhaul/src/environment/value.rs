//! Whether the value of a variable is a secret, whatever the variable is called: a URL with a password
//! (`DATABASE_URL`), a connection string with one, or a provider's key with a known beginning.
//!
//! Names are judged in the parent module.

use super::is_secret;

/// How the keys of providers begin, and how many characters follow at least. A key differs from a word that begins the
/// same way by its length and by a digit or a capital letter in it.
const BEGINNINGS: &[(&str, usize)] = &[
    // Anthropic, OpenAI and many that are compatible with them; further model providers.
    ("sk-", 16),
    ("gsk_", 20),
    ("hf_", 20),
    ("nvapi-", 20),
    ("pplx-", 20),
    ("xai-", 20),
    // Code hosts.
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("glrt-", 16),
    // Slack.
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxe-", 8),
    ("xoxe.", 8),
    ("xoxo-", 8),
    ("xoxp-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    // Clouds.
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("GOCSPX-", 20),
    ("dop_v1_", 20),
    ("hvs.", 20),
    // Package registries.
    ("npm_", 30),
    ("pypi-", 30),
    ("dckr_pat_", 16),
    // Payments and mail.
    ("sk_live_", 12),
    ("sk_test_", 12),
    ("rk_live_", 12),
    ("whsec_", 16),
    ("shpat_", 20),
    ("SG.", 30),
    // A signed token: the beginning of `{"…`, encoded.
    ("eyJ", 40),
    ("AGE-SECRET-KEY-", 20),
];

/// Whether a value holds a secret.
pub(super) fn holds_secret(value: &str) -> bool {
    let is_private_key = value.contains("-----BEGIN ") && value.contains("PRIVATE KEY-----");
    is_private_key || holds_password(value) || holds_known_key(value) || has_secret_field(value)
}

/// Whether the value holds a URL with a password: `scheme://user:password@host`.
fn holds_password(value: &str) -> bool {
    let mut rest = value;
    while let Some((_, after)) = rest.split_once("://") {
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>');
        let url = after.split(ends).next().unwrap_or_default();
        let authority = url.split(['/', '?', '#']).next().unwrap_or_default();
        let is_secret = match authority.rsplit_once('@') {
            Some((user, _)) => has_password(user),
            // A password may hold one of those characters although it should not: then what follows the colon is not a
            // port.
            None => {
                let port = authority.split_once(':').map(|(_, port)| port);
                port.is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit()))
                    && !authority.starts_with('[')
                    && url.contains('@')
            }
        };
        if is_secret {
            return true;
        }
        rest = after;
    }
    false
}

/// Whether the part of a URL before its host has a password; a user name alone is not a secret.
fn has_password(user: &str) -> bool {
    user.split_once(':')
        .is_some_and(|(_, password)| !password.is_empty())
}

/// Whether the value holds a key that begins like the keys of a provider.
fn holds_known_key(value: &str) -> bool {
    // A folder whose name begins like this is not a key: without its `PATH` nothing runs.
    let is_url = value.contains("://");
    let is_of_key = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '-' | '.')
            || !is_url && matches!(c, '/' | '\\')
    };
    let words = value.split(|c: char| !is_of_key(c));
    words.filter(|word| !word.is_empty()).any(|word| {
        BEGINNINGS.iter().any(|(beginning, least)| {
            word.strip_prefix(beginning).is_some_and(|key| {
                key.len() >= *least
                    && key.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase())
            })
        })
    })
}

/// Whether one of the value's fields is a secret by its name: `Server=db;Password=…`, `?user=me&password=…`.
fn has_secret_field(value: &str) -> bool {
    let fields = value.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '?' | ','));
    let mut fields = fields.filter_map(|field| field.split_once('='));
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    fields.any(|(name, value)| {
        let name = name.trim();
        // Lists such as `LS_COLORS` have patterns there.
        if !name.chars().all(is_of_name) {
            return false;
        }
        let is_named = is_secret(name) || ["pwd", "accountkey"].contains(&&*name.to_lowercase());
        is_named && !value.trim().is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_with_a_password_is_a_secret() {
        for value in [
            "postgres://u:pw@host/db",
            "redis://:pw@host:6379/0",
            "mongodb+srv://u:p%40w@a.example,b.example/db",
            "postgres://u:p@w@host/db",
            "postgres://u:p/w@host/db",
            "https://me:secret@registry.example/simple https://other.example",
            "--index-url 'https://me:secret@registry.example/simple'",
            "http://me:secret@proxy.example:3128",
        ] {
            assert!(holds_secret(value), "{value}");
        }
        for value in [
            "postgres://host/db",
            "postgres://me@host/db",
            "https://me:@host/",
            "http://localhost:8080/a@b:c",
            "http://[::1]:8080/x@y",
            "https://example.com/@scope/package:1",
            "git@example.com:me/project.git",
            "C:\\Users\\me@home",
            "",
        ] {
            assert!(!holds_secret(value), "{value}");
        }
    }

    #[test]
    fn a_connection_string_with_a_password_is_a_secret() {
        for value in [
            "Server=db;User Id=me;Password=hush;",
            "host=db user=me password=hush",
            "jdbc:postgresql://db/x?user=me&password=hush",
            "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=aHVzaA==",
            "Server=db;Pwd=hush",
            "-Djavax.net.ssl.keyStorePassword=hush",
        ] {
            assert!(holds_secret(value), "{value}");
        }
        for value in [
            "Server=db;Integrated Security=true",
            "host=db user=me password=",
            "-o PasswordAuthentication=no",
            "rs=0:di=01;34:*.tar=01;31:*.key=00;90",
            "-Xmx2g -Dfile.encoding=UTF-8",
        ] {
            assert!(!holds_secret(value), "{value}");
        }
    }

    #[test]
    fn a_key_with_a_known_beginning_is_a_secret() {
        for (beginning, least) in BEGINNINGS {
            let key = format!("{beginning}{}", "Ab1".repeat(*least));
            assert!(holds_secret(&key), "{key}");
            assert!(holds_secret(&format!("Bearer {key}")), "{key}");
            assert!(!holds_secret(beginning), "{beginning}");
            let word = format!("{beginning}{}", "a".repeat(least - 1));
            assert!(!holds_secret(&word), "{word}");
        }
        assert!(holds_secret("-----BEGIN OPENSSH PRIVATE KEY-----\nabc"));
        for value in [
            "/usr/local/bin:/opt/sk-0123456789ABCDEF0123/bin",
            "sk-learn-contrib-and-others",
            "npm_config_registry",
            "task-0123456789-of-the-night",
            "-----BEGIN CERTIFICATE-----",
            "xterm-256color",
        ] {
            assert!(!holds_secret(value), "{value}");
        }
    }
}
