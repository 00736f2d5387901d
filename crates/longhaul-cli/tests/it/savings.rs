//! `longhaul savings`: figures from the usage log of a real gateway, and from logs that cannot be read.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::serve;
use crate::support::World;

/// Sends a request and returns the answer.
fn ask(addr: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Holds a conversation that outgrows a small window.
fn long_conversation(addr: &str, agent: &str) {
    let words = "river stone light paper garden window north cloud ".repeat(60);
    let mut messages: Vec<Value> = Vec::new();
    for turn in 0..30 {
        messages.push(json!({"role": "user", "content": format!("Turn {turn}. {words}")}));
        let body = json!({"model": "claude-haiku-4-5", "max_tokens": 64, "messages": messages});
        let body = body.to_string();
        let answer = ask(
            addr,
            &format!(
                "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
                 user-agent: {agent}/1.0\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            ),
        );
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        messages.push(json!({"role": "assistant", "content": format!("Done with turn {turn}.")}));
    }
}

/// What the gateway's own API says of its sessions.
fn sessions(addr: &str) -> Value {
    let answer = ask(
        addr,
        "GET /longhaul/api/sessions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    );
    serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap()
}

#[cfg(unix)]
#[test]
fn x8_what_is_told_as_saved_is_what_the_page_tells_and_no_more() {
    let world = World::new();
    let flags = ["--window", "20000"];
    let (child, addr) = serve::started(serve::longhaul(&world.home(), &flags));
    long_conversation(&addr, "claude-cli");
    serve::hello(&addr);
    // The log is complete once the gateway has ended.
    serve::end(child);
    let (child, addr) = serve::started(serve::longhaul(&world.home(), &flags));
    let page = sessions(&addr);
    let page = page["sessions"].as_array().unwrap();
    let sum = |name: &str| {
        page.iter()
            .map(|row| row[name].as_f64().unwrap())
            .sum::<f64>()
    };
    let near = |one: f64, other: f64| (one - other).abs() < 1e-9;

    // Also while a gateway runs.
    let told = world.run(["savings", "--json"]).ends(0).json();
    let total = &told["total"];
    assert_eq!(total["calls"], 31);
    assert!(total["compactions"].as_u64().unwrap() > 0, "{total}");
    assert!(total["saved_tokens"].as_u64().unwrap() > 0, "{total}");
    assert!(total["own_calls"].as_u64().unwrap() > 0, "{total}");
    assert_eq!(total["simulated"], true, "{total}");
    for figure in [
        "saved_usd",
        "cost_usd",
        "summaries_cost_usd",
        "saved_tokens",
        "output_tokens",
    ] {
        let (told, shown) = (total[figure].as_f64().unwrap(), sum(figure));
        assert!(near(told, shown), "{figure}: {told}, and the page {shown}");
    }
    // Every figure is documented.
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/savings.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    for name in total
        .as_object()
        .unwrap()
        .keys()
        .chain(told.as_object().unwrap().keys())
    {
        assert!(
            docs.contains(&format!("`{name}`")),
            "{name} is not in docs/savings.md"
        );
    }
    // What compactions cost is not in what was saved.
    let by_model = world
        .run(["savings", "--by", "model", "--json"])
        .ends(0)
        .json();
    let rows = by_model["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    let models: Vec<&str> = rows
        .iter()
        .map(|row| row["key"].as_str().unwrap())
        .collect();
    assert!(models.contains(&"claude-haiku-4-5"), "{models:?}");
    let saved: f64 = rows
        .iter()
        .map(|row| row["saved_usd"].as_f64().unwrap())
        .sum();
    assert!(near(saved, total["saved_usd"].as_f64().unwrap()));
    // An agent is known by what it calls itself.
    let by_agent = world
        .run(["savings", "--by", "agent", "--json"])
        .ends(0)
        .json();
    let agents = by_agent["rows"].as_array().unwrap();
    let of = |name: &str| agents.iter().find(|row| row["key"] == name).unwrap();
    assert_eq!(of("claude")["calls"], 30);
    assert_eq!(of("")["calls"], 1);
    assert_eq!(of("claude")["compactions"], total["compactions"]);
    let by_session = world
        .run(["savings", "--by", "session", "--json"])
        .ends(0)
        .json();
    assert_eq!(by_session["rows"].as_array().unwrap().len(), page.len());
    serve::end(child);
    // For people, too.
    let shown = world.run(["savings", "--by", "agent"]).ends(0);
    assert!(
        shown.out.contains("claude") && shown.out.contains("(unknown)"),
        "{}",
        shown.out
    );
    for said in [
        "31 calls and ",
        " of the gateway's own since ",
        "Simulated, so that nothing was paid: ",
        "claude, simulated",
        " of it to make room)",
    ] {
        let out = shown.out.replace('\n', " ");
        assert!(out.contains(said), "{said}: {out}");
    }
}

#[cfg(unix)]
#[test]
fn a_period_never_has_what_an_earlier_one_paid_for() {
    let world = World::new();
    let (child, addr) = serve::started(serve::longhaul(&world.home(), &["--window", "20000"]));
    long_conversation(&addr, "x");
    serve::end(child);
    let all = world
        .run(["savings", "--since", "all", "--json"])
        .ends(0)
        .json();
    let file = rusqlite::Connection::open(world.home().join("gateway/books.sqlite")).unwrap();
    // The compactions were made three days ago, and the calls a day ago.
    file.execute_batch("UPDATE made SET at = at - 259200000; UPDATE call SET at = at - 86400000")
        .unwrap();
    drop(file);
    let told = world
        .run(["savings", "--since", "2d", "--json"])
        .ends(0)
        .json();
    assert_eq!(told["total"]["saved_usd"], all["total"]["saved_usd"]);
    assert_eq!(
        told["total"]["summaries_cost_usd"],
        all["total"]["summaries_cost_usd"]
    );
    // Where nothing was saved, nothing that is older counts.
    world
        .run(["savings", "--since", "12h"])
        .ends(1)
        .says("No call is in the usage log since");
}

#[test]
fn a_log_that_is_missing_empty_damaged_or_newer_is_said() {
    let world = World::new();
    world
        .run(["savings"])
        .fails(&["there is no usage log", "`longhaul wrap` write it"]);
    assert!(
        !world.home().join("gateway").exists(),
        "looking creates nothing"
    );
    world
        .run(["savings", "--store", "memory"])
        .fails(&["keeps nothing"]);
    world
        .run(["savings", "--store", "redis:x"])
        .fails(&["sqlite:PATH"]);
    world
        .run(["savings", "--since", "soon"])
        .fails(&["30d, 12h or 4w"]);
    world
        .run(["savings", "--store", "postgres://me:pass@127.0.0.1:1/y"])
        .fails(&["can be reached"]);
    let path = world.write("home/gateway/books.sqlite", "");
    world
        .run(["savings"])
        .ends(1)
        .says("No call is in the usage log");
    std::fs::write(&path, "this is not a database, and long enough to be sure").unwrap();
    world.run(["savings"]).fails(&["cannot open the store"]);
    std::fs::remove_file(&path).unwrap();
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    world
        .run(["savings"])
        .fails(&["has format 99", "use a newer longhaul"]);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    world.run(["savings"]).fails(&["cannot open the store"]);
    let run = world.run(["savings", "--by", "colour"]).ends(2);
    assert!(
        run.err
            .contains("`day`, `session`, `key`, `model` or `agent`"),
        "{}",
        run.err
    );
}

#[cfg(unix)]
#[test]
fn a_log_of_an_earlier_version_is_read_as_it_is() {
    let world = World::new();
    let (child, addr) = serve::started(serve::longhaul(&world.home(), &[]));
    serve::hello(&addr);
    serve::end(child);
    let path = world.home().join("gateway/books.sqlite");
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch(
        "ALTER TABLE call DROP COLUMN caller; ALTER TABLE call DROP COLUMN run; PRAGMA user_version = 4;",
    )
    .unwrap();
    drop(file);
    let told = world
        .run(["savings", "--by", "agent", "--json"])
        .ends(0)
        .json();
    assert_eq!(told["total"]["calls"], 1);
    let file = rusqlite::Connection::open(&path).unwrap();
    let version: i64 = file
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 4, "looking changes nothing");
}
