//! Shell completions and manual pages, made from the same definitions as `--help`.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::failure::{CliError, CliOutcome};

pub(crate) fn completions(command: &CompletionsArgs) -> Result<CliOutcome, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut Args::command(), "longhaul", &mut script);
    print(&script)
}

pub(crate) fn man(command: &ManArgs) -> Result<CliOutcome, CliError> {
    let Some(folder) = &command.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Args::command())
            .render(&mut page)
            .map_err(CliError::Stdout)?;
        return print(&page);
    };
    let failed = |source| CliError::Write {
        path: folder.clone(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Args::command(), folder).map_err(failed)?;
    Ok(CliOutcome::Fine)
}

fn print(bytes: &[u8]) -> Result<CliOutcome, CliError> {
    std::io::stdout()
        .write_all(bytes)
        .map_err(CliError::Stdout)?;
    Ok(CliOutcome::Fine)
}
