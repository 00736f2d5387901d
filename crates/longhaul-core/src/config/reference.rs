//! The settings as a page of documentation, made from the table so that it cannot rot.

use super::SETTINGS;
use super::setting::{Sense, Setting};

const HEAD: &str = "\
# Configuration

A value comes from the last of these that sets it: the default, the configuration file (TOML), the environment, a flag.
Of several environment variables for one setting the first that is set well wins. A value in the environment that
cannot be read whole is ignored and reported; in the file or a flag it is an error. Secrets are never settings.

This page is made from the settings table in `longhaul-core`.

| key | what it does | takes | default | environment | flag |
|---|---|---|---|---|---|
";

/// The reference of all settings, in Markdown.
pub fn reference_markdown() -> String {
    let rows = SETTINGS.iter().map(row);
    std::iter::once(HEAD.to_owned()).chain(rows).collect()
}

fn row(setting: &Setting) -> String {
    let default = setting
        .default_value()
        .map_or_else(|| "unset".to_owned(), |value| format!("`{value}`"));
    let names = setting.env.iter().map(|env| match env.sense {
        Sense::Same => format!("`{}`", env.name),
        Sense::Opposite => format!("`{}` (turned round: on means false)", env.name),
    });
    let flag = match setting.flag {
        Some(flag) => format!("`{flag} VALUE`"),
        None => format!("`--set {}=VALUE`", setting.key),
    };
    format!(
        "| `{}` | {} | {} | {default} | {} | {flag} |\n",
        setting.key,
        setting.doc,
        setting.accepted(),
        names.collect::<Vec<_>>().join(", "),
    )
}
