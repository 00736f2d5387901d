//! Project tasks that a shell script would do worse: `cargo xtask <command>`.
//!
//! `arch` checks the workspace against its plan, `spec` checks where each number of a specification is decided and
//! lists the tests that prove it, `features` builds the library without its default features, `package` makes every
//! publishable crate and builds the packages, `platforms` checks the other systems, `dist` makes what people install without building, `shots` the pictures
//! in the documents, `clients` runs real clients through the gateway, and `shell-fuzz` tries to
//! get commands past the agent's permissions. Each task is one module of this crate.

mod arch;
mod clients;
mod dist;
mod features;
mod package;
mod platforms;
mod shell_fuzz;
mod shots;
mod spec;
mod words;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use workspace::CargoWorkspace;

/// A task's result: success, or sentences about what is wrong.
type TaskResult = Result<(), Vec<String>>;

fn usage() -> String {
    format!(
        "{USAGE}\n{}\n{}\n{}\n{}\n{}\n\n{EXIT_CODES}",
        platforms::USAGE,
        dist::USAGE,
        shots::USAGE,
        shell_fuzz::USAGE,
        clients::USAGE
    )
}

const USAGE: &str = "\
usage: cargo xtask <command>

  arch         check which crate uses which, that files are small and documented, and that documents name existing paths
  spec         check that docs/spec-map.md says where each item of the specification is decided, and that the types in
               docs/glossary.md are in the files that it names
  spec FILE    also list, for each number in this specification, the tests that name it
  words        count types that share a name, and comments with words that need a glossary
  features     check the library without default features and with each alone, and count the crates it needs without
  package      package every publishable crate and build the packages together";

const EXIT_CODES: &str = "exit codes: 0 success, 1 something is wrong, 2 wrong usage";

#[expect(
    clippy::print_stdout,
    reason = "stdout is data, and help was asked for"
)]
#[expect(clippy::print_stderr, reason = "stderr is talk")]
fn main() -> ExitCode {
    let given: Vec<OsString> = std::env::args_os().skip(1).collect();
    let args: Vec<String> = given
        .iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args.as_slice() {
        ["arch"] => CargoWorkspace::load().and_then(|workspace| arch::run(&workspace)),
        ["spec"] => CargoWorkspace::load().and_then(|workspace| spec::check(&workspace)),
        ["spec", file] => CargoWorkspace::load().and_then(|workspace| spec::run(&workspace, file)),
        ["words"] => CargoWorkspace::load().and_then(|workspace| words::run(&workspace)),
        ["features"] => CargoWorkspace::load().and_then(|workspace| features::run(&workspace)),
        ["platforms", targets @ ..] => {
            CargoWorkspace::load().and_then(|workspace| platforms::run(&workspace, targets))
        }
        [platforms::WITHOUT_C, ..] => platforms::pretend_to_compile(&given[1..]),
        ["package"] => CargoWorkspace::load().and_then(|workspace| package::run(&workspace)),
        ["shots"] => CargoWorkspace::load().and_then(|workspace| shots::run(&workspace)),
        ["dist", words @ ..] => {
            CargoWorkspace::load().and_then(|workspace| dist::run(&workspace, words))
        }
        ["shell-fuzz", words @ ..] => {
            CargoWorkspace::load().and_then(|workspace| shell_fuzz::run(&workspace, words))
        }
        ["clients", words @ ..] => {
            CargoWorkspace::load().and_then(|workspace| clients::run(&workspace, words))
        }
        ["help" | "--help" | "-h"] => {
            println!("{}", usage());
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{}", usage());
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentences) => {
            for sentence in &sentences {
                eprintln!("{sentence}");
            }
            ExitCode::FAILURE
        }
    }
}
