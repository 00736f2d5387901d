//! Which variables of this process are passed on to the programs that a session runs: commands, hooks, servers.
//!
//! Keys, tokens and passwords are not passed on: the author of a command, a hook or a server, or a model that was
//! talked into it, could send them anywhere. They are recognized by their names, or by their values (`value.rs`). The
//! user can list names that are passed on anyway. Variables that a caller sets for a program on purpose, after
//! [`PassedVariables::withhold`], are not affected.

mod value;

use tokio::process::Command;

/// The names that are passed on although they look like secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PassedVariables {
    listed: Vec<String>,
}

impl PassedVariables {
    /// Passes these names on; one that ends in `*` means all names that begin like it.
    pub fn listed<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self {
            listed: names.into_iter().map(Into::into).collect(),
        }
    }

    /// Whether a variable with this value is passed on.
    pub(crate) fn passes(&self, name: &str, value: &str) -> bool {
        let is_listed = |listed: &String| match listed.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == listed,
        };
        let is_withheld = is_secret(name) || value::holds_secret(value);
        !is_withheld || self.listed.iter().any(is_listed)
    }

    /// Removes the variables that are not passed on from a program's environment. Variables that are set on the command
    /// afterwards stay.
    pub fn withhold(&self, command: &mut Command) {
        for (name, value) in std::env::vars_os() {
            // A value that is not text is judged by what can be read of it.
            if !self.passes(&name.to_string_lossy(), &value.to_string_lossy()) {
                command.env_remove(name);
            }
        }
    }
}

/// Words in a name that say that the value is a secret.
const WORDS: &[&str] = &[
    "KEY",
    "KEYS",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASS",
    "PASSWD",
    "PASSWORD",
    "PASSWORDS",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "COOKIE",
    "JWT",
    "PAT",
    "BEARER",
];

/// Words that are often joined with others: `PGPASSWORD`, `npm_config__authToken`.
const ENDINGS: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "APIKEY",
    "ACCESSKEY",
    "PRIVATEKEY",
    "CREDENTIALS",
];

/// Names that do not show that they hold a secret.
const NAMES: &[&str] = &[
    "ANTHROPIC_CUSTOM_HEADERS",
    "DOCKER_AUTH_CONFIG",
    "MYSQL_PWD",
    "REDISCLI_AUTH",
];

/// Whether a variable of this name counts as a key, a token or a password.
pub(crate) fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let mut words = upper.split(|c: char| !c.is_ascii_alphanumeric());
    NAMES.contains(&upper.as_str())
        || upper.ends_with("_AUTH")
        || words.any(|word| {
            WORDS.contains(&word) || ENDINGS.iter().any(|ending| word.ends_with(ending))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tokens_and_passwords_are_told_by_their_names() {
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "OPENAI_API_KEY",
            "LONGHAUL_GATEWAY_TOKEN",
            "LONGHAUL_GATEWAY_CLIENT_TOKEN",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "AZURE_CLIENT_SECRET",
            "GH_TOKEN",
            "GITHUB_PAT",
            "PGPASSWORD",
            "MYSQL_PWD",
            "npm_config__authToken",
            "MyApiKey",
            "SENTRY_AUTH",
        ] {
            assert!(is_secret(name), "{name}");
        }
    }

    #[test]
    fn what_programs_need_is_passed_on() {
        for name in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "LANG",
            "SSH_AUTH_SOCK",
            "SSH_ASKPASS",
            "GIT_ASKPASS",
            "XAUTHORITY",
            "KEYMAP",
            "TOKENIZERS_PARALLELISM",
            "AWS_PROFILE",
            "AWS_REGION",
            "KUBECONFIG",
            "LONGHAUL_HOME",
            "ANTHROPIC_BASE_URL",
            "HTTPS_PROXY",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn a_listed_name_is_passed_on() {
        let passed = PassedVariables::listed(["GH_TOKEN", "AWS_*", "DATABASE_URL"]);
        for name in ["GH_TOKEN", "AWS_SECRET_ACCESS_KEY"] {
            assert!(passed.passes(name, "x"), "{name}");
        }
        for name in ["GH_TOKEN_2", "ANTHROPIC_API_KEY"] {
            assert!(!passed.passes(name, "x"), "{name}");
        }
        let url = "postgres://u:pw@host/db";
        assert!(passed.passes("DATABASE_URL", url) && !passed.passes("OTHER_URL", url));
        assert!(passed.passes("OTHER_URL", "postgres://host/db"));
    }
}
