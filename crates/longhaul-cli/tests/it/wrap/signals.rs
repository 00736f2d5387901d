//! Signals and the terminal: what an agent would get without us, it gets through us, once.

use std::process::Command;

use longhaul_testkit::terminal::{CommandBuilder, TestTerminal};

use super::house::{place, start, wait_for};
use crate::support::World;

/// A script as an agent, below the flags of a wrap in front of a simulated model.
fn arguments(world: &World, script: &str) -> Vec<String> {
    let path = world.write("agent.sh", script);
    let fixed = [
        "wrap",
        "--upstream",
        "sim",
        "--env",
        "A=https://api.example.invalid",
        "--",
        "sh",
    ];
    let fixed = fixed.iter().map(|word| (*word).to_owned());
    fixed.chain([path.display().to_string()]).collect()
}

fn in_terminal(world: &World, program: &str, arguments: &[String]) -> TestTerminal {
    let mut command = CommandBuilder::new(program);
    command.args(arguments);
    command.env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", world.root());
    command.env("LONGHAUL_HOME", world.home());
    command.env("TERM", "xterm");
    command.env("PS1", "ready> ");
    command.cwd(world.root());
    TestTerminal::start(command, 24, 200)
}

#[test]
fn a_signal_to_this_process_alone_is_passed_on() {
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let world = World::new();
        let steps = format!(
            "touch:{},await:{}",
            place(&world, "ready"),
            place(&world, "never")
        );
        let child = start(&world, &[], &steps);
        wait_for(&world, "ready");
        let sent = Command::new("kill")
            .arg(format!("-{signal}"))
            .arg(child.id().to_string())
            .status();
        assert!(sent.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{err}");
        // Also then the last line is said.
        assert!(err.contains("came through the gateway"), "{err}");
    }
}

#[test]
fn ctrl_c_reaches_the_agent_once_and_two_are_answered_with_a_sentence() {
    let world = World::new();
    let script = "trap 'echo caught; n=$((n+1)); [ $n -ge 3 ] && exit 9' INT\necho waiting\nwhile :; do sleep 0.05; done\n";
    let program = env!("CARGO_BIN_EXE_longhaul");
    let mut terminal = in_terminal(&world, program, &arguments(&world, script));
    terminal.sees("waiting");
    terminal.keys("\u{3}");
    terminal.sees("caught");
    terminal.keys("\u{3}");
    terminal.sees("was interrupted twice and still runs");
    assert_eq!(
        terminal.all().matches("caught").count(),
        2,
        "{}",
        terminal.all()
    );
    terminal.keys("\u{3}");
    terminal.sees("came through the gateway");
    assert_eq!(terminal.ends(), 9);
}

#[test]
fn an_agent_that_stops_itself_gives_the_shell_back_and_goes_on_in_front() {
    let world = World::new();
    let script = "echo before\nkill -STOP $$\necho after\nstty size\nexit 5\n";
    let wrap = arguments(&world, script);
    let mut terminal = in_terminal(&world, "sh", &["-i".to_owned()]);
    terminal.sees("ready>");
    terminal.keys(&format!(
        "{} {}\r",
        env!("CARGO_BIN_EXE_longhaul"),
        wrap.join(" ")
    ));
    terminal.sees("before");
    terminal.until("the shell is back", |terminal| {
        terminal.all().contains("topped")
    });
    assert!(!terminal.all().contains("after"), "{}", terminal.all());
    terminal.keys("fg\r");
    terminal.sees("after");
    // It has the terminal itself, and its size.
    terminal.sees("24 200");
    terminal.sees("came through the gateway");
    terminal.keys("echo code=$?\r");
    terminal.sees("code=5");
    terminal.keys("exit\r");
    terminal.ends();
}
