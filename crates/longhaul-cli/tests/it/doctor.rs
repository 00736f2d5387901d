//! `longhaul doctor`: each fault is found, said with what to do, and counted in the exit code.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;

use crate::serve;
use crate::support::{Finish, Run, World};

/// A free port that nobody takes meanwhile is not to be had; one that was free a moment ago is nearly as good.
fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

fn doctor(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.longhaul(["doctor", "--json"]);
    command.args(arguments);
    if !arguments.contains(&"--listen") {
        command.args(["--listen", &free_port()]);
    }
    command
}

/// The finding of a check.
#[track_caller]
fn found(ran: &Run, check: &str) -> Value {
    let all = ran.json();
    let all = all["findings"].as_array().unwrap();
    let one = all.iter().find(|one| one["check"] == check);
    one.unwrap_or_else(|| panic!("no {check} in {all:?}"))
        .clone()
}

/// The check found this state, says these words, and has advice.
#[track_caller]
fn says(ran: &Run, check: &str, state: &str, words: &str) {
    let one = found(ran, check);
    assert_eq!(one["state"], state, "{one}");
    assert!(one["says"].as_str().unwrap().contains(words), "{one}");
    if state != "ok" && state != "note" {
        assert!(
            one["advice"]
                .as_str()
                .is_some_and(|advice| !advice.is_empty()),
            "{one}"
        );
    }
}

/// An upstream that answers everything with this status and date.
fn upstream(status: &'static str, date: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut bytes = [0; 4_096];
            let _ = stream.read(&mut bytes);
            let date = date.map_or_else(String::new, |date| format!("date: {date}\r\n"));
            let head = format!(
                "HTTP/1.1 {status}\r\n{date}content-length: 2\r\nconnection: close\r\n\r\n{{}}"
            );
            let _ = stream.write_all(head.as_bytes());
        }
    });
    format!("http://{addr}")
}

#[test]
fn where_nothing_is_wrong_nothing_is_broken() {
    let world = World::new();
    let ran = doctor(&world, &["--offline"]).finish().ends(0);
    assert_eq!(ran.json()["broken"], 0);
    says(&ran, "home", "ok", "will be created");
    says(&ran, "usage log", "ok", "does not exist yet");
    says(&ran, "port", "ok", "is free");
    #[cfg(target_os = "linux")]
    says(&ran, "texts", "ok", "to you and root alone");
    says(&ran, "upstream", "note", "--offline");
    says(&ran, "agent", "note", "none of the agents");
    assert!(!world.home().exists(), "looking creates nothing");
    let page = world
        .run(["doctor", "--offline", "--listen", &free_port()])
        .ends(0);
    assert!(page.out.contains("Nothing is broken"), "{}", page.out);
}

#[test]
fn a_home_that_cannot_be_used_or_that_others_can_read_is_found() {
    let world = World::new();
    world.write("home", "a file");
    let ran = doctor(&world, &["--offline"]).finish().ends(1);
    says(&ran, "home", "broken", "is not a folder");
    std::fs::remove_file(world.home()).unwrap();
    std::fs::create_dir(world.home()).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let allow = |mode| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(world.home(), mode).unwrap();
        };
        allow(0o755);
        let ran = doctor(&world, &["--offline"]).finish().ends(0);
        says(&ran, "home", "warning", "other users");
        allow(0o700);
        let ran = doctor(&world, &["--offline"]).finish().ends(0);
        says(&ran, "home", "ok", "yours alone");
        assert_eq!(found(&ran, "disk")["check"], "disk");
    }
    world.write("home/config.toml", "no such = setting\n");
    let ran = doctor(&world, &["--offline"]).finish().ends(1);
    says(&ran, "settings", "broken", "config.toml");
    std::fs::remove_file(world.home().join("config.toml")).unwrap();
    world.write("home/agents.toml", "[x]\n");
    let ran = doctor(&world, &["--offline"]).finish().ends(1);
    says(&ran, "agents", "broken", "agents.toml");
    let mut command = doctor(&world, &["--offline"]);
    let ran = command
        .env("LONGHAUL_HOME", world.claude())
        .finish()
        .ends(1);
    says(&ran, "home", "broken", "Claude Code's own folder");
}

#[cfg(unix)]
#[test]
fn a_usage_log_that_is_damaged_or_newer_is_found() {
    let world = World::new();
    let (child, addr) = serve::started(serve::longhaul(&world.home(), &[]));
    serve::hello(&addr);
    // The gateway that runs is named, and its port is no problem.
    let ran = doctor(&world, &["--offline", "--listen", &addr])
        .finish()
        .ends(0);
    says(&ran, "port", "ok", "your own gateway");
    says(&ran, "gateway", "ok", &addr);
    serve::end(child);
    let path = world.home().join("gateway/books.sqlite");
    let ran = doctor(&world, &["--offline"]).finish().ends(0);
    says(&ran, "usage log", "ok", "is intact");
    let whole = std::fs::read(&path).unwrap();
    let mut torn = whole.clone();
    torn[4_096..8_192].fill(0xa5);
    std::fs::write(&path, torn).unwrap();
    let ran = doctor(&world, &["--offline"]).finish().ends(1);
    assert_eq!(found(&ran, "usage log")["state"], "broken");
    std::fs::write(&path, "this is not a database, and long enough to be sure").unwrap();
    let ran = doctor(&world, &["--offline"]).finish().ends(1);
    says(&ran, "usage log", "broken", "not a database");
    std::fs::write(&path, &whole).unwrap();
    let file = rusqlite::Connection::open(&path).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    drop(file);
    let ran = doctor(&world, &["--offline"]).finish().ends(1);
    says(&ran, "usage log", "broken", "has format 99");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &whole).unwrap();
    std::fs::write(world.home().join("gateway/books.sqlite.secret"), "short").unwrap();
    let ran = doctor(&world, &["--offline"]).finish().ends(1);
    says(&ran, "usage log", "broken", "32 bytes");
    let server = ["--offline", "--store", "postgres://me:pass@127.0.0.1:1/y"];
    let ran = doctor(&world, &server).finish().ends(1);
    assert_eq!(found(&ran, "usage log")["state"], "broken");
    assert!(!ran.out.contains("pass"), "{}", ran.out);
}

#[test]
fn a_port_that_is_taken_and_an_address_that_is_none_are_found() {
    let world = World::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let ran = doctor(&world, &["--offline", "--listen", &addr])
        .finish()
        .ends(1);
    says(&ran, "port", "broken", "in use by another program");
    world
        .run(["doctor", "--listen", "nowhere"])
        .fails(&["ADDR:PORT"]);
}

#[test]
fn an_upstream_is_judged_by_its_answer_and_no_secret_is_shown() {
    let world = World::new();
    let ran = doctor(&world, &["--upstream", "http://127.0.0.1:9"])
        .finish()
        .ends(1);
    says(&ran, "upstream", "broken", "cannot be reached");
    let answers = upstream("401 Unauthorized", None);
    let ran = doctor(&world, &["--upstream", &answers]).finish().ends(0);
    says(&ran, "upstream", "ok", "no key was sent");
    let late = upstream("200 OK", Some("Mon, 16 Nov 2020 18:40:40 GMT"));
    let ran = doctor(&world, &["--upstream", &late]).finish().ends(1);
    says(&ran, "clock", "broken", "ahead of the upstream's");
    world
        .run(["doctor", "--upstream", "http://me:pass@x"])
        .fails(&["--upstream holds a user or a password"]);
    let mut command = doctor(&world, &["--offline"]);
    let ran = command
        .env("HTTPS_PROXY", "http://me:pass@proxy:3128")
        .finish()
        .ends(0);
    says(&ran, "proxy", "warning", "HTTPS_PROXY is set");
    assert!(!ran.out.contains("pass"), "{}", ran.out);
}

#[cfg(unix)]
#[test]
fn an_agent_is_found_with_its_version_and_its_key_is_tried() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let refuses = upstream("401 Unauthorized", None);
    let accepts = upstream("200 OK", None);
    let script = world.write("bin/my-agent", "#!/bin/sh\necho my-agent 1.2.3\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agents = |upstream: &str| {
        let text = format!(
            "[mine]\ntitle = 'My agent'\ncommand = 'my-agent'\ntested = '1.2.3'\nkeys = ['MY_KEY']\n\
             env = {{ A = '{{a}}' }}\napi.a = {{ upstream = '{upstream}', key = 'MY_KEY' }}\n"
        );
        world.write("home/agents.toml", text);
    };
    agents(&refuses);
    let path = format!("{}:/usr/bin:/bin", world.root().join("bin").display());
    let key = "sk-my-secret-key-0123456789";
    let mut command = doctor(&world, &["mine"]);
    let ran = command
        .env("PATH", &path)
        .env("MY_KEY", key)
        .finish()
        .ends(1);
    says(
        &ran,
        "agent",
        "ok",
        "my-agent 1.2.3, the version that was tried",
    );
    says(&ran, "key", "ok", "MY_KEY");
    says(
        &ran,
        "upstream",
        "broken",
        "refuses the key in MY_KEY (401)",
    );
    assert!(!format!("{}{}", ran.out, ran.err).contains(key));
    agents(&accepts);
    let mut command = doctor(&world, &["mine"]);
    let ran = command
        .env("PATH", &path)
        .env("MY_KEY", key)
        .finish()
        .ends(0);
    says(&ran, "upstream", "ok", "takes the key in MY_KEY");
    // Without a key, and without the program.
    let ran = doctor(&world, &["mine", "--offline"])
        .env("PATH", &path)
        .finish()
        .ends(1);
    says(&ran, "key", "broken", "neither a key nor a login");
    let ran = doctor(&world, &["mine", "--offline"]).finish().ends(1);
    says(&ran, "agent", "broken", "not installed");
    world.run(["doctor", "nobody"]).ends(2).says("known are");
}

#[test]
fn an_address_that_cannot_be_used_is_a_finding_with_its_reason_and_shows_no_secret() {
    let world = World::new();
    for (address, reason) in [
        ("http://127.0.0.1:9/x?key=hunter2", "a query"),
        ("http://127.0.0.1:9/x#hunter2", "`#`"),
        ("http://me:hunter2@127.0.0.1:9", "a user or a password"),
        ("me:hunter2@127.0.0.1:9", "neither http nor https"),
        ("http://me:hunter2@", "not a URL"),
        ("hunter2", "not a URL"),
    ] {
        for network in [&["--offline"][..], &[]] {
            let mut command = doctor(&world, &["claude"]);
            command.args(network).env("ANTHROPIC_BASE_URL", address);
            let ran = command.finish().ends(1);
            says(&ran, "upstream", "broken", reason);
            says(&ran, "upstream", "broken", "ANTHROPIC_BASE_URL ");
            assert!(!format!("{ran:?}").contains("hunter2"), "{ran:?}");
        }
        let mut page = world.longhaul(["doctor", "claude", "--offline"]);
        let ran = page.env("ANTHROPIC_BASE_URL", address).finish().ends(1);
        assert!(ran.out.contains(reason), "{}", ran.out);
        assert!(!format!("{ran:?}").contains("hunter2"), "{ran:?}");
        let ran = doctor(&world, &["--upstream", address]).finish();
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
        ran.fails(&["--upstream ", reason]);
        let ran = world.run(["serve", "--upstream", address, "--listen", "127.0.0.1:0"]);
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
        ran.fails(&[reason]);
        // A client for summaries takes any http URL.
        if address.starts_with("http://me:hunter2@127") || address.contains("9/x") {
            continue;
        }
        world.write("s.jsonl", crate::support::plain_session().bytes);
        let mut compact = world.longhaul(["compact", "s.jsonl", "-o", "out.jsonl"]);
        let ran = compact.env("ANTHROPIC_BASE_URL", address).finish();
        assert!(!ran.err.contains("hunter2"), "{}", ran.err);
        ran.fails(&["ANTHROPIC_BASE_URL ", reason]);
        assert!(!world.root().join("out.jsonl").exists());
    }
}
