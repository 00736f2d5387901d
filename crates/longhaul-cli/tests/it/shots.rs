//! The pictures in the documents: real runs of the program, in a terminal. `cargo xtask shots` makes them; an ordinary run
//! of the tests does not, because the tour takes a minute.
#![cfg(unix)]

mod habits;

use std::path::{Path, PathBuf};

use longhaul_testkit::terminal::{CommandBuilder, TestTerminal};
use longhaul_testkit::terminal_picture::svg;

use crate::support::World;

/// The folder that gets the pictures.
const FOLDER: &str = "LONGHAUL_SHOTS";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn command(world: &World, args: &[&str], folder: &Path) -> CommandBuilder {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_longhaul"));
    command.args(args);
    command.env_clear();
    command.env("HOME", world.root());
    command.env("LONGHAUL_HOME", world.home());
    command.env("TERM", "xterm-256color");
    command.env("LANG", "C.UTF-8");
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.cwd(folder);
    command
}

fn keep(terminal: &TestTerminal, name: &str, title: &str, description: &str) {
    let folder = std::env::var_os(FOLDER).expect("`cargo xtask shots` says where the pictures go");
    let picture = terminal.screen(|screen| svg(screen, title, description));
    std::fs::write(Path::new(&folder).join(name), picture).unwrap();
}

/// A small project to be shown around in. Its path is seen in the picture, so it is the same each time.
fn project() -> PathBuf {
    let folder = Path::new("/tmp/longhaul-tour").to_owned();
    for part in ["crates/longhaul/examples", "docs"] {
        let to = folder.join(part);
        std::fs::create_dir_all(&to).unwrap();
        for entry in std::fs::read_dir(root().join(part)).unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_file() {
                std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
            }
        }
    }
    folder
}

#[test]
#[ignore = "`cargo xtask shots` runs it"]
fn the_tour() {
    let world = World::new();
    let folder = project();
    let terminal = TestTerminal::start(command(&world, &["chat", "--tour"], &folder), 32, 100);
    terminal.until("compaction in the tour", |terminal| {
        let shown = terminal.shown();
        shown.contains("What was kept and what was not") && shown.contains("Tool results")
    });
    keep(
        &terminal,
        "tour.svg",
        "longhaul chat",
        "The agent in a terminal, after a compaction: the tokens before and after, that all messages of the user were kept \
         word for word, and how many tool results went into the archive.",
    );
    std::fs::remove_dir_all(folder).unwrap();
}
