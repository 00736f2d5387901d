//! The settings as a documentation page, generated from the table so that it stays correct.

use super::SETTINGS;
use super::env_name::EnvSense;
use super::setting::SettingSpec;

const HEAD: &str = "\
# Configuration

A value comes from the last of these that sets it: the default, the configuration file (TOML), the environment, a flag.
If several environment variables set the same setting, the first one with a valid value wins. A value in the
environment that is not valid as a whole is ignored and reported; in the file or a flag it is an error. Secrets are never settings.

Every command takes `--set KEY=VALUE`, as in `--set window.cap=100000`. Some settings have a flag of their own, too, in the commands that the last
column names.

This page is generated from the settings table in `longhaul-core`.

| key | what it does | takes | default | environment | own flag |
|---|---|---|---|---|---|
";

const TAIL: &str = "
## Where things are

These variables are not settings: they say where settings and sessions are.

| variable | what it says | default |
|---|---|---|
| `LONGHAUL_HOME` | the folder of Longhaul's own data: `config.toml`, and sessions under `projects` | `longhaul` in the platform's data folder |
| `CLAUDE_CONFIG_DIR` | Claude Code's folder, whose sessions are read in place and never changed | `~/.claude` |
| `CLAUDE_CODE_PROJECT_DIR_NAME` | the name of Claude Code's folder for the current project | made from the working folder |
| `LONGHAUL_LOG_FORMAT` | `json` makes each log line on stderr a JSON object | lines for people |
| `NO_COLOR`, `CLICOLOR_FORCE` | no color at all; color also where there is no terminal | color on a terminal |
| `COLUMNS` | the width to write in | that of the terminal |
";

/// The commands that have a setting's own flag; the command line's tests compare them with the commands themselves.
const COMMANDS_WITH: [(&str, &str); 9] = [
    ("--auto-compact-percent", "`inspect`"),
    (
        "--blocking-limit",
        "`inspect`, where `--help` does not show it",
    ),
    ("--economy", "`serve`, `wrap`"),
    ("--log", "every command"),
    ("--max-output", "`compact`, `inspect`"),
    ("--model", "`chat`, `inspect`, `show`"),
    (
        "--models",
        "`chat`, `compact`, `inspect`, `replay`, `savings`, `serve`, `show`, `wrap`",
    ),
    ("--reduce", "`serve`, `wrap`"),
    ("--window", "`chat`, `compact`, `inspect`, `serve`, `wrap`"),
];

/// The flags without a value that switch a setting on.
const SWITCHES: [(&str, &str); 2] = [
    ("gateway.recall", "`--recall` of `serve`, `wrap`"),
    ("gateway.hashes", "`--hashes` of `serve`"),
];

/// Writes the reference of all settings in Markdown.
pub fn reference_markdown() -> String {
    let rows = SETTINGS.iter().map(row);
    let tail = std::iter::once(TAIL.to_owned());
    std::iter::once(HEAD.to_owned())
        .chain(rows)
        .chain(tail)
        .collect()
}

fn row(setting: &SettingSpec) -> String {
    let default = setting
        .default_value()
        .map_or_else(|| "unset".to_owned(), |value| format!("`{value}`"));
    let names = setting.env.iter().map(|env| match env.sense {
        EnvSense::Same => format!("`{}`", env.name),
        EnvSense::Opposite => format!("`{}` (inverted: on means false)", env.name),
    });
    let flag = match setting.flag {
        Some(flag) => {
            let commands = COMMANDS_WITH.iter().find(|(name, _)| *name == flag);
            let commands = commands.map_or("no command", |(_, commands)| commands);
            format!("`{flag} VALUE` of {commands}")
        }
        None => {
            let switch = SWITCHES.iter().find(|(key, _)| *key == setting.key);
            switch.map_or_else(String::new, |(_, flag)| (*flag).to_owned())
        }
    };
    format!(
        "| `{}` | {} | {} | {default} | {} | {flag} |\n",
        setting.key,
        setting.doc,
        setting.accepted(),
        names.collect::<Vec<_>>().join(", "),
    )
}
