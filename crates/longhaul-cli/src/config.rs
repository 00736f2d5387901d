//! `longhaul config`: the settings, and with `--explain` where each came from (G1).

use anstyle::Style;
use longhaul_core::config::{Explained, Source};
use serde_json::json;

use crate::args::Config as Command;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::Given;
use crate::terminal::width;
use crate::text::{clean, wrap};

const DIM: Style = Style::new().dimmed();

pub(crate) fn run(command: &Command, given: &Given) -> Result<Outcome, Failure> {
    let config = given.resolve(Vec::new())?;
    if command.json {
        output::json(&json!({ "settings": config.explain(), "notices": config.notices() }))?;
        return Ok(Outcome::Fine);
    }
    let mut text = String::new();
    for setting in config.explain() {
        text.push_str(&value(setting));
        if command.explain {
            text.push_str(&origin(setting));
        }
    }
    output::page(&text)?;
    Ok(Outcome::Fine)
}

/// A setting and its value; dim where nobody set it.
fn value(setting: &Explained) -> String {
    let style = match setting.source {
        Source::Default => DIM,
        _ => Style::new().bold(),
    };
    let value = setting.value.as_deref().unwrap_or("(unset)");
    format!("{style}{} = {}{style:#}\n", setting.key, clean(value))
}

/// Where its value came from, what it does, and what could set it.
fn origin(setting: &Explained) -> String {
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
