//! Runs `longhaul wrap` with the agent of these tests.

use std::process::{Child, Command, Stdio};

use super::agent::{STEPS, TEST};
use crate::serve;
use crate::support::{Finish, Run, World};

/// A wrap of the agent with these flags and steps, in front of a simulated model unless the flags say otherwise.
pub(super) fn wrap(world: &World, flags: &[&str], steps: &str) -> Command {
    let variable = "ANTHROPIC_BASE_URL=https://api.example.invalid";
    let mut command = world.longhaul(["wrap", "--env", variable]);
    if !flags.contains(&"--upstream") {
        command.args(["--upstream", "sim"]);
    }
    command.args(flags).arg("--");
    command.arg(std::env::current_exe().unwrap());
    command.args([TEST, "--exact", "--nocapture"]);
    command.env(STEPS, steps);
    command
}

/// Runs it to its end.
pub(super) fn run(world: &World, flags: &[&str], steps: &str) -> Run {
    wrap(world, flags, steps).finish()
}

/// Starts it.
pub(super) fn start(world: &World, flags: &[&str], steps: &str) -> Child {
    let mut command = wrap(world, flags, steps);
    let pipes = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    pipes.spawn().unwrap()
}

/// A gateway that the user of this world started, and its address.
pub(super) fn gateway(world: &World, flags: &[&str]) -> (Child, String) {
    serve::started(serve::longhaul(&world.home(), flags))
}

/// A path in the world, for steps.
pub(super) fn place(world: &World, name: &str) -> String {
    world.root().join(name).display().to_string()
}

/// Waits until a file is there.
pub(super) fn wait_for(world: &World, name: &str) {
    let path = world.root().join(name);
    let began = std::time::Instant::now();
    while !path.exists() {
        assert!(began.elapsed().as_secs() < 120, "{name} did not come");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
