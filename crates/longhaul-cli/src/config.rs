//! `longhaul config`: the settings, and with `--explain` where each came from (G1).

use anstyle::Style;
use longhaul_core::config::{ExplainedSetting, SettingSource};
use serde_json::json;

use crate::args::ConfigArgs as Command;
use crate::failure::{CliError, CliOutcome};
use crate::output;
use crate::settings::CommandSettings;
use crate::terminal::width;
use crate::text::{clean, wrap};

const DIM: Style = Style::new().dimmed();

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let config = given.resolve(Vec::new())?;
    if command.json {
        output::json(&json!({ "settings": config.explain(), "notices": config.notices() }))?;
        return Ok(CliOutcome::Fine);
    }
    let mut text = String::new();
    for setting in config.explain() {
        text.push_str(&value(setting));
        if command.explain {
            text.push_str(&origin(setting));
        }
    }
    output::page(&text)?;
    Ok(CliOutcome::Fine)
}

/// A setting and its value; dim where it is the default.
fn value(setting: &ExplainedSetting) -> String {
    let style = match setting.source {
        SettingSource::Default => DIM,
        _ => Style::new().bold(),
    };
    let value = setting.value.as_deref().unwrap_or("(unset)");
    format!("{style}{} = {}{style:#}\n", setting.key, clean(value))
}

/// Where its value came from, what it does, and what could set it.
fn origin(setting: &ExplainedSetting) -> String {
    let variables = format!("environment: {}", setting.env_names.join(", "));
    let mut text = format!("    from {}\n", clean(&setting.source.to_string()));
    for line in [setting.doc, &variables]
        .iter()
        .flat_map(|sentence| wrap(sentence, width() - 4))
    {
        text.push_str(&format!("    {DIM}{line}{DIM:#}\n"));
    }
    text
}
