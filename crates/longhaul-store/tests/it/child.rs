//! A second process: this test binary again, told by its environment to append to a file.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use longhaul_store::{Durability, TranscriptWriter};

use crate::support::entry;

const FILE: &str = "LONGHAUL_TEST_FILE";
const NAME: &str = "LONGHAUL_TEST_NAME";
const COUNT: &str = "LONGHAUL_TEST_COUNT";
/// The name of the test that is the child's whole program.
const PROGRAM: &str = "child::child_process";

/// Appends a chain of entries after the entry `root`, and prints an acknowledgement for each; stops at an error.
#[test]
fn child_process() {
    let Some(file) = std::env::var_os(FILE) else {
        return;
    };
    let name = std::env::var(NAME).unwrap();
    let count: usize = std::env::var(COUNT).unwrap().parse().unwrap();
    let mut writer = TranscriptWriter::open(Path::new(&file), Durability::EveryAppend)
        .unwrap()
        .with_patience(Duration::from_secs(120));
    let mut out = std::io::stdout();
    let mut parent = "root".to_owned();
    for index in 0..count {
        let uuid = format!("{name}-{index}");
        match writer.append(entry(&uuid, Some(&parent)).as_bytes()) {
            Ok(_) => writeln!(out, "\nack {uuid}").unwrap(),
            Err(error) => {
                writeln!(out, "\nerror {error}").unwrap();
                break;
            }
        }
        out.flush().unwrap();
        parent = uuid;
    }
}

/// The command line of a child that appends `count` entries called `name`.
pub(crate) fn arguments() -> [&'static str; 3] {
    [PROGRAM, "--exact", "--nocapture"]
}

/// Sets the environment that tells the child what to do.
pub(crate) fn told<'a>(
    command: &'a mut Command,
    file: &Path,
    name: &str,
    count: usize,
) -> &'a mut Command {
    (command.env(FILE, file).env(NAME, name))
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
}

/// Starts a child.
pub(crate) fn start(file: &Path, name: &str, count: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    told(command.args(arguments()), file, name, count)
        .spawn()
        .unwrap()
}

/// A line that a child prints.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Said {
    Acknowledged(String),
    Failed(String),
}

/// The lines that a child prints until it closes its output.
pub(crate) fn listen(out: ChildStdout) -> impl Iterator<Item = Said> {
    BufReader::new(out).lines().filter_map(|line| {
        let line = line.unwrap();
        let acknowledged = line.strip_prefix("ack ").map(str::to_owned);
        let failed = line.strip_prefix("error ").map(str::to_owned);
        (acknowledged.map(Said::Acknowledged)).or(failed.map(Said::Failed))
    })
}
