//! Shell completions and manual pages, made from the same definitions as `--help`.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Args, Completions, Man};
use crate::failure::{Failure, Outcome};

pub(crate) fn completions(command: &Completions) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut Args::command(), "longhaul", &mut script);
    print(&script)
}

pub(crate) fn man(command: &Man) -> Result<Outcome, Failure> {
    let Some(folder) = &command.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Args::command())
            .render(&mut page)
            .map_err(Failure::Stdout)?;
        return print(&page);
    };
    let failed = |source| Failure::Write {
        path: folder.clone(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Args::command(), folder).map_err(failed)?;
    Ok(Outcome::Fine)
}

fn print(bytes: &[u8]) -> Result<Outcome, Failure> {
    std::io::stdout()
        .write_all(bytes)
        .map_err(Failure::Stdout)?;
    Ok(Outcome::Fine)
}
