//! Gateways that run already: one's own is used once it has proved itself, and nobody else's ever is.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};

use super::agent::KEY;
use super::house::{gateway, place, run, start, wait_for};
use crate::serve;
use crate::support::World;

const OWN: &str = "your `longhaul serve`";

#[cfg(unix)]
#[test]
fn a_gateway_of_ones_own_is_used_and_says_what_this_run_used() {
    let world = World::new();
    let (child, addr) = gateway(&world, &[]);
    serve::hello(&addr);
    let ran = run(&world, &[], "call,exit:4").ends(4);
    assert!(
        ran.err.contains(OWN) && ran.err.contains(&addr),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("call: HTTP/1.1 200"), "{}", ran.out);
    // The other client's call is not this run's.
    assert!(ran.err.contains(" made 1 call: "), "{}", ran.err);
    // An agent that is pointed at that gateway already does not get another one in front of it.
    let ran = run(
        &world,
        &["--upstream", &format!("http://{addr}")],
        "call,exit:0",
    )
    .ends(0);
    assert!(ran.err.contains(OWN), "{}", ran.err);
    // Whoever wants another policy or a gateway of this run's own gets one.
    for flags in [
        &["--policy", "observe"][..],
        &["--own-gateway"],
        &["--economy", "full"],
        &["--reduce", "recallable"],
        &["--recall"],
        &["--set", "economy=full"],
    ] {
        let ran = run(&world, flags, "call,exit:0").ends(0);
        assert!(!ran.err.contains(OWN), "{}", ran.err);
    }
    // What is logged changes nothing that a gateway does.
    let ran = run(&world, &["--log", "warn"], "call,exit:0").ends(0);
    assert!(ran.err.contains(OWN), "{}", ran.err);
    // It is in front of something else.
    let ran = run(&world, &["--upstream", "http://127.0.0.1:9"], "exit:0").ends(0);
    assert!(!ran.err.contains(OWN), "{}", ran.err);
    serve::end(child);
    // Where it has ended, nothing is found.
    let ran = run(&world, &[], "call,exit:0").ends(0);
    assert!(!ran.err.contains(OWN), "{}", ran.err);
    let left = std::fs::read_dir(world.home().join("gateway/running")).unwrap();
    assert_eq!(left.count(), 0);
}

#[cfg(unix)]
#[test]
fn a_gateway_for_clients_with_a_token_is_not_offered() {
    let world = World::new();
    let mut command = serve::longhaul(&world.home(), &[]);
    command.env("LONGHAUL_GATEWAY_CLIENT_TOKEN", "sesame-0123456789");
    let (child, _) = serve::started(command);
    let ran = run(&world, &[], "call,exit:0").ends(0);
    assert!(!ran.err.contains(OWN), "{}", ran.err);
    assert!(ran.out.contains("call: HTTP/1.1 200"), "{}", ran.out);
    serve::end(child);
}

/// A program that answers every challenge with a text of its own, and keeps what it is sent.
fn impostor(answer: &'static str) -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::new(Mutex::new(String::new()));
    let hearing = Arc::clone(&heard);
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut bytes = [0; 8_192];
            let count = stream.read(&mut bytes).unwrap_or(0);
            hearing
                .lock()
                .unwrap()
                .push_str(&String::from_utf8_lossy(&bytes[..count]));
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
                answer.len()
            );
            let _ = stream.write_all(head.as_bytes());
        }
    });
    (port, heard)
}

/// Writes the file of a gateway.
#[cfg(unix)]
fn announce(world: &World, pid: u32, port: u16, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let text = format!(
        r#"{{"pid":{pid},"port":{port},"url":"http://127.0.0.1:{port}","upstream":"sim","secret":"{}"}}"#,
        "ab".repeat(32)
    );
    let path = world.write(format!("home/gateway/running/{pid}-{port}.json"), text);
    let allow = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(path.parent().unwrap(), 0o700);
    allow(&path, mode);
}

#[cfg(unix)]
#[test]
fn a_program_that_took_over_the_port_of_a_gateway_gets_no_key() {
    for answer in [r#"{"proof":"00"}"#, r#"{"proof":null}"#, "not JSON", "{}"] {
        let world = World::new();
        let (port, heard) = impostor(answer);
        announce(&world, std::process::id(), port, 0o600);
        let ran = run(&world, &[], "call,exit:0").ends(0);
        assert!(!ran.err.contains(OWN), "{}", ran.err);
        assert!(ran.out.contains("call: HTTP/1.1 200"), "{}", ran.out);
        let heard = heard.lock().unwrap().clone();
        assert!(heard.contains("GET /longhaul/proof?challenge="), "{heard}");
        assert!(!heard.contains(KEY), "{heard}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_or_of_a_dead_process_is_not_even_followed() {
    let world = World::new();
    let (port, heard) = impostor("{}");
    announce(&world, std::process::id(), port, 0o644);
    // A process that has ended.
    let mut gone = Command::new("true").spawn().unwrap();
    let pid = gone.id();
    gone.wait().unwrap();
    announce(&world, pid, port, 0o600);
    let ran = run(&world, &[], "call,exit:0").ends(0);
    assert!(!ran.err.contains(OWN), "{}", ran.err);
    assert_eq!(*heard.lock().unwrap(), "");
}

#[cfg(unix)]
#[test]
fn when_the_users_gateway_dies_the_agent_gets_an_error_and_the_user_a_sentence() {
    let world = World::new();
    let (mut child, _) = gateway(&world, &[]);
    let steps = format!(
        "call,touch:{},await:{},call,exit:1",
        place(&world, "called"),
        place(&world, "killed")
    );
    let wrapped = start(&world, &[], &steps);
    wait_for(&world, "called");
    child.kill().unwrap();
    child.wait().unwrap();
    world.write("killed", "");
    let output = wrapped.wait_with_output().unwrap();
    let (out, err) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(out.contains("call: HTTP/1.1 200"), "{out}");
    assert!(out.contains("call: failed: "), "{out}");
    assert!(err.contains(OWN), "{err}");
    assert!(err.contains("because the gateway did not say"), "{err}");
}
