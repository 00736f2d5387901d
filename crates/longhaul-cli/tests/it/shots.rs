//! The pictures in the documents: real runs of the program, in a terminal. `cargo xtask shots` makes them; an ordinary run
//! of the tests does not, because the tour takes a minute.
#![cfg(unix)]

mod habits;

use std::path::Path;

use longhaul_testkit::terminal::{CommandBuilder, TestTerminal};
use longhaul_testkit::terminal_picture::svg;

use crate::support::World;

/// The folder that gets the pictures.
const FOLDER: &str = "LONGHAUL_SHOTS";

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

#[test]
#[ignore = "`cargo xtask shots` runs it"]
fn the_tour() {
    let world = World::new();
    // The tour brings its own project.
    let command = command(&world, &["chat", "--tour"], world.root());
    let terminal = TestTerminal::start(command, 32, 100);
    terminal.until("compaction in the tour", |terminal| {
        let shown = terminal.shown();
        shown.contains("this is the report") && shown.contains("in the archive")
    });
    keep(
        &terminal,
        "tour.svg",
        "longhaul chat",
        "The agent in a terminal, after a compaction: the tokens before and after, that all messages of the user were kept \
         word for word, and how many tool results went into the archive.",
    );
}
