//! An agent that runs: its calls go through the gateway, its exit code comes back, and the last line says what was used.

use super::agent::KEY;
use super::house::{run, start, wait_for, wrap};
use crate::support::{Finish, World};

#[test]
fn an_agent_calls_the_gateway_and_its_exit_code_is_passed_on() {
    let world = World::new();
    let ran = run(&world, &[], "call,call,exit:7").ends(7);
    assert_eq!(
        ran.out.matches("call: HTTP/1.1 200").count(),
        2,
        "{}",
        ran.out
    );
    assert!(
        ran.err
            .contains("in front of a simulated model (policy: manage)"),
        "{}",
        ran.err
    );
    let last = ran.err.lines().last().unwrap();
    assert!(last.starts_with("longhaul: "), "{last}");
    assert!(last.contains(" made 2 calls: "), "{last}");
    assert!(last.contains("Nothing was lost."), "{last}");
    // One that uses no model is told so.
    run(&world, &[], "exit:0")
        .ends(0)
        .says("came through the gateway");
}

#[test]
fn the_agent_is_named_in_the_usage_log_and_its_key_is_nowhere() {
    let world = World::new();
    let ran = run(&world, &["--log", "trace"], "call,exit:0").ends(0);
    assert!(!ran.err.contains(KEY), "{}", ran.err);
    let savings = world
        .run(["savings", "--by", "agent", "--json"])
        .ends(0)
        .json();
    let program = std::env::current_exe().unwrap();
    let program = program.file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(savings["rows"][0]["key"].as_str().unwrap(), program);
    for entry in std::fs::read_dir(world.home().join("gateway")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let found = bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
        assert!(!found, "{}", path.display());
    }
}

#[test]
fn observing_changes_nothing_and_quiet_says_nothing() {
    let world = World::new();
    run(&world, &["--policy", "observe"], "call,exit:0")
        .ends(0)
        .says("(policy: observe)");
    let ran = run(&world, &["--quiet"], "call,exit:3").ends(3);
    assert_eq!(ran.err, "");
    run(&world, &["--policy", "never"], "call,exit:0").fails(&["a policy is"]);
}

#[cfg(unix)]
#[test]
fn a_signal_that_ends_the_agent_is_the_exit_code() {
    let world = World::new();
    run(&world, &[], "call,abort")
        .ends(128 + 6)
        .says(" made 1 call: ");
}

#[cfg(unix)]
#[test]
fn an_agent_whose_gateway_dies_gets_an_error_and_does_not_hang() {
    let world = World::new();
    let place = |name: &str| world.root().join(name).display().to_string();
    let steps = format!(
        "note:{},touch:{},await:{},note:{},exit:0",
        place("first"),
        place("called"),
        place("killed"),
        place("second")
    );
    // The gateway is in the process that is killed.
    let mut child = start(&world, &[], &steps);
    wait_for(&world, "called");
    child.kill().unwrap();
    child.wait().unwrap();
    world.write("killed", "");
    wait_for(&world, "second");
    let read = |name: &str| std::fs::read_to_string(place(name)).unwrap();
    assert!(read("first").contains("200"));
    // The file may still be empty when it is first seen.
    while read("second").is_empty() {
        std::thread::yield_now();
    }
    assert!(read("second").starts_with("failed: "), "{}", read("second"));
}

#[test]
fn an_agent_of_the_users_own_file_is_told_everything_that_the_file_says() {
    let world = World::new();
    world.write(
        "home/agents.toml",
        r#"
[mine]
title = "My agent"
command = "sh"
args = ["-c", "echo base=$BASE; echo config=$CONFIG; echo key=$THE_KEY; echo except=$NO_PROXY; echo more=$1", "sh"]
env = { BASE = "{one}/x" }
merge_json = { CONFIG = '{"a":{"url":"{two}"}}' }
api.one = { upstream = "https://api.one.invalid", key = "THE_KEY" }
api.two = { upstream = "https://api.two.invalid/v1" }
"#,
    );
    let mut command = world.longhaul(["wrap", "--upstream", "sim", "mine", "--set"]);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("CONFIG", r#"{"theme":"dark","a":{"b":1}}"#);
    command.env("NO_PROXY", "internal");
    let ran = command.finish().ends(0);
    let value = |name: &str| {
        let line = ran.out.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name}: {}", ran.out))
            .to_owned()
    };
    let base = value("base=");
    assert!(
        base.starts_with("http://127.0.0.1:") && base.ends_with("/x"),
        "{base}"
    );
    let config: serde_json::Value = serde_json::from_str(&value("config=")).unwrap();
    assert_eq!(config["theme"], "dark");
    assert_eq!(config["a"]["b"], 1);
    let two = config["a"]["url"].as_str().unwrap();
    assert_eq!(two, format!("{}/v1", base.strip_suffix("/x").unwrap()));
    assert!(!value("key=").is_empty());
    assert_eq!(value("except="), "internal,127.0.0.1");
    assert_eq!(value("more="), "--set");
    assert!(ran.err.contains("has not been tried"), "{}", ran.err);
}

#[test]
fn what_the_user_has_set_as_the_address_is_the_upstream() {
    let world = World::new();
    // Nobody listens there: the gateway says so, and does not ask anybody else.
    let mut command = wrap(&world, &["--upstream", "http://127.0.0.1:9"], "call,exit:0");
    let ran = command.finish().ends(0);
    assert!(ran.out.contains("call: HTTP/1.1 502"), "{}", ran.out);
    assert!(ran.err.contains("1 failed"), "{}", ran.err);
}
