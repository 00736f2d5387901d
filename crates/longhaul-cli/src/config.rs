//! `longhaul config`: the settings, and with `--explain` where each came from (G1).

use std::io::Write;

use anstyle::Style;
use longhaul_core::config::Source;
use serde_json::json;

use crate::args::Config as Command;
use crate::failure::{Failure, Outcome};
use crate::settings::Given;

pub(crate) fn run(command: &Command, given: &Given) -> Result<Outcome, Failure> {
    let config = given.resolve(Vec::new())?;
    let mut out = anstream::stdout().lock();
    if command.json {
        let object = json!({ "settings": config.explain(), "notices": config.notices() });
        writeln!(out, "{object:#}").map_err(Failure::Stdout)?;
        return Ok(Outcome::Fine);
    }
    let bold = Style::new().bold();
    let dim = Style::new().dimmed();
    for setting in config.explain() {
        let value = setting.value.as_deref().unwrap_or("(unset)");
        let set = if setting.source == Source::Default {
            dim
        } else {
            bold
        };
        writeln!(out, "{set}{} = {value}{set:#}", setting.key).map_err(Failure::Stdout)?;
        if command.explain {
            writeln!(out, "    from {}", setting.source).map_err(Failure::Stdout)?;
            writeln!(out, "    {dim}{}{dim:#}", setting.doc).map_err(Failure::Stdout)?;
            writeln!(out, "    {dim}{}{dim:#}", setting.env_names.join(", "))
                .map_err(Failure::Stdout)?;
        }
    }
    Ok(Outcome::Fine)
}
