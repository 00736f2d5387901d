//! `longhaul replay`: what sessions would have cost, what is in no total, and the page.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Run, World, plain, rich_session};

/// One request of a written session.
struct Turn {
    model: &'static str,
    minute: i64,
    /// The size of the result that the turn brings, in characters.
    result: usize,
    usage: Option<(u64, u64)>,
}

const SONNET: &str = "claude-sonnet-4-6";

/// A session in which each turn reads a file. Usage is read and written tokens.
fn written(turns: &[Turn]) -> String {
    let mut lines = vec![json!({
        "type": "user", "uuid": "u0", "parentUuid": null, "sessionId": "s",
        "timestamp": "2026-11-01T08:00:00Z", "message": {"role": "user", "content": "Read it all."}
    })];
    let mut parent = "u0".to_owned();
    for (index, turn) in turns.iter().enumerate() {
        let time = |second: i64| {
            let seconds = turn.minute * 60 + second;
            let start: jiff::Timestamp = "2026-11-01T08:00:00Z".parse().unwrap();
            (start + jiff::SignedDuration::from_secs(seconds)).to_string()
        };
        let mut message = json!({
            "id": format!("msg_{index}"), "role": "assistant", "model": turn.model,
            "content": [{"type": "tool_use", "id": format!("t{index}"), "name": "Read",
                "input": {"file_path": format!("/src/{index}.rs")}}],
        });
        if let Some((read, written)) = turn.usage {
            message["usage"] = json!({"input_tokens": 3, "output_tokens": 90,
                "cache_read_input_tokens": read, "cache_creation_input_tokens": written});
        }
        lines.push(json!({
            "type": "assistant", "uuid": format!("a{index}"), "parentUuid": parent, "sessionId": "s",
            "timestamp": time(5), "message": message
        }));
        lines.push(json!({
            "type": "user", "uuid": format!("r{index}"), "parentUuid": format!("a{index}"), "sessionId": "s",
            "timestamp": time(10), "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": format!("t{index}"), "content": "word ".repeat(turn.result / 5)}]}
        }));
        parent = format!("r{index}");
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

/// A session of many large results, one a minute.
fn long(model: &'static str) -> Vec<Turn> {
    let turns = (0..40).map(|index| Turn {
        model,
        minute: index,
        result: 12_000,
        usage: Some(match index {
            0 => (0, 20_000),
            _ => (20_000 + (index as u64 - 1) * 3_000, 3_000),
        }),
    });
    turns.collect()
}

fn cost(run: &Run, policy: &str) -> f64 {
    let json = run.json();
    let policies = json["totals"]["windows"][0]["policies"].as_array().unwrap();
    let found = policies.iter().find(|one| one["policy"] == policy);
    found.unwrap()["cost_usd"].as_f64().unwrap()
}

#[test]
fn x7_v3_v7_a_session_is_priced_under_every_policy_and_the_best_is_never_beaten() {
    let world = World::new();
    world.write("s.jsonl", written(&long(SONNET)));
    let run = world.run(["replay", "s.jsonl", "--json"]).ends(0);
    let json = run.json();
    assert_eq!(json["version"], 1);
    assert_eq!(json["totals"]["requests"], 40);
    let append_only = json["totals"]["append_only_usd"].as_f64().unwrap();
    let [clear, full, best_clear, best] =
        ["clear", "full", "best clear", "best"].map(|policy| cost(&run, policy));
    assert!(
        clear < append_only && full <= clear,
        "{append_only} {clear} {full}"
    );
    assert!(best_clear <= clear && best <= full && best <= best_clear);
    let clear = &json["sessions"][0]["windows"][0]["policies"][1];
    assert_eq!(clear["policy"], "clear");
    let actions = clear["actions"].as_array().unwrap();
    assert!(!actions.is_empty());
    for action in actions {
        assert_eq!(
            (&action["action"], &action["reason"]),
            (&json!("clear"), &json!("price"))
        );
        assert!(
            action["rent_usd"].as_f64() > Some(0.0) && action["freed_tokens"].as_u64() > Some(0)
        );
        let amount = |name: &str| action[name].as_f64().unwrap();
        assert!(amount("rent_usd") + amount("waived_usd") + 1e-9 >= amount("price_usd"));
    }
    // Nothing was removed while it was recorded, so the computed bill is the recorded one.
    assert!(json["totals"]["median_deviation"].as_f64().unwrap() < 0.01);
    let page = plain(&world.run(["replay", "s.jsonl"]).ends(0).out);
    for word in [
        "recorded $",
        "append-only $",
        "off $",
        "clear $",
        "full $",
        "best $",
        "What is assumed",
    ] {
        assert!(page.contains(word), "{word} is missing from {page}");
    }
}

#[test]
fn x7_v7_windows_models_and_lifetimes_can_be_chosen() {
    let world = World::new();
    world.write("s.jsonl", written(&long(SONNET)));
    let windows = [
        "replay", "s.jsonl", "--json", "--window", "100000", "--window", "50000",
    ];
    let json = world.run(windows).ends(0).json();
    let windows = json["totals"]["windows"].as_array().unwrap();
    let sizes: Vec<_> = windows
        .iter()
        .map(|window| window["window"].as_u64())
        .collect();
    assert_eq!(sizes, [Some(100_000), Some(50_000)]);
    let peak = |window: usize| {
        windows[window]["policies"][0]["peak_tokens"]
            .as_u64()
            .unwrap()
    };
    assert!(peak(0) < 100_000 && peak(1) < peak(0));
    let run = |args: &[&str]| {
        let all = ["replay", "s.jsonl", "--json"].iter().chain(args);
        world.run(all.copied().collect::<Vec<_>>()).ends(0).json()
    };
    let append_only = |json: &Value| json["totals"]["append_only_usd"].as_f64().unwrap();
    let own = append_only(&run(&[]));
    assert!(append_only(&run(&["--model", "claude-haiku-4-5"])) < own);
    assert!(
        append_only(&run(&["--ttl", "1h"])) > own,
        "writing for an hour costs more"
    );
}

#[test]
fn x7_v7_v9_a_replay_behind_a_gateway_says_so_and_counts_readings() {
    let world = World::new();
    world.write("long.jsonl", written(&long(SONNET)));
    let session = world.run(["replay", "long.jsonl", "--json"]).ends(0);
    let gateway = world.run(["replay", "long.jsonl", "--gateway", "--json"]);
    let gateway = gateway.ends(0);
    assert_eq!(session.json()["host"], "session");
    assert_eq!(gateway.json()["host"], "gateway");
    // What is done by nobody costs the same, whoever would have decided.
    let append_only = |run: &Run| run.json()["totals"]["append_only_usd"].clone();
    assert_eq!(append_only(&session), append_only(&gateway));
    // After the first clearing a gateway finds the provider's cache in fewer places.
    assert!(cost(&gateway, "clear") >= cost(&session, "clear"));
    let page = world.run(["replay", "long.jsonl", "--gateway"]).ends(0);
    assert!(page.out.contains("A gateway decides"), "{}", page.out);
}

#[test]
fn v7_what_cannot_be_replayed_is_counted_apart_and_never_as_nothing() {
    let world = World::new();
    world.write("p/good.jsonl", written(&long(SONNET)));
    world.write("p/copy.jsonl", written(&long(SONNET)[..20]));
    world.write("p/empty.jsonl", "");
    world.write("p/unknown.jsonl", written(&long("my-own-model")));
    let unbilled = Turn {
        model: SONNET,
        minute: 0,
        result: 500,
        usage: None,
    };
    world.write("p/unbilled.jsonl", written(&[unbilled]));
    world.write(
        "p/log.jsonl",
        "{\"level\":\"info\"}\n{\"level\":\"info\"}\n",
    );
    let damaged = written(&long(SONNET)[..3]).replace("msg_", "other_") + "{\"type\":\"user\",";
    world.write("p/damaged.jsonl", damaged);
    let run = world.run(["replay", "p", "--json"]).ends(1);
    let json = run.json();
    assert_eq!(json["totals"]["sessions"], 2);
    assert_eq!(json["totals"]["recording"]["damaged_lines"], 1);
    let apart: Vec<String> = json["apart"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!(
                "{}: {}",
                one["file"].as_str().unwrap(),
                one["reason"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(apart.len(), 5, "{apart:?}");
    for (file, reason) in [
        ("empty", "the file is empty"),
        ("unbilled", "no reply records its usage"),
        ("unknown", "the prices of `my-own-model` are not known"),
        ("copy", "all of its replies are in another session"),
        ("log", "not those of a transcript"),
    ] {
        let found = apart
            .iter()
            .any(|one| one.contains(file) && one.contains(reason));
        assert!(found, "{file}: {reason} is not in {apart:?}");
    }
    let page = plain(&world.run(["replay", "p"]).ends(1).out);
    assert!(
        page.contains("Counted apart, in no total: 5 files"),
        "{page}"
    );
}

#[test]
fn v7_a_single_session_that_cannot_be_replayed_says_why() {
    let world = World::new();
    world.write("empty.jsonl", "");
    let run = world.run(["replay", "empty.jsonl"]).ends(1);
    assert!(run.out.contains("the file is empty"), "{}", run.out);
    world.write("p/notes.md", "nothing here");
    let run = world.run(["replay", "p"]).ends(2);
    assert!(
        run.err.contains("no transcript in this folder"),
        "{}",
        run.err
    );
    world.run(["replay", "nowhere.jsonl"]).ends(2);
    world.write("s.jsonl", written(&long(SONNET)));
    let run = world.run(["replay", "s.jsonl", "--window", "1000"]).ends(2);
    assert!(run.err.contains("too small"), "{}", run.err);
    let run = world
        .run(["replay", "s.jsonl", "--model", "my-own-model"])
        .ends(2);
    assert!(
        run.err.contains("not known") && run.err.contains("--models"),
        "{}",
        run.err
    );
}

#[test]
fn v7_a_switch_of_model_and_a_clock_that_goes_back_are_said_and_harmless() {
    let world = World::new();
    let mut turns = long(SONNET);
    for turn in &mut turns[20..] {
        turn.model = "claude-haiku-4-5";
    }
    turns[30].minute = -600;
    world.write("s.jsonl", written(&turns));
    let run = world.run(["replay", "s.jsonl", "--json"]).ends(0);
    let recording = &run.json()["totals"]["recording"];
    assert_eq!(recording["model_switches"], 1);
    assert_eq!(recording["clock_steps_back"], 1);
    let page = plain(&world.run(["replay", "s.jsonl"]).ends(0).out);
    assert!(
        page.contains("1 switch of model") && page.contains("1 request seems older"),
        "{page}"
    );
}

#[test]
fn x7_v7_the_page_needs_nothing_else_and_no_name_can_become_an_element() {
    let world = World::new();
    let hostile = "p/<script>alert(1)<&>.jsonl";
    world.write(hostile, written(&long(SONNET)));
    let run = world.run(["replay", "p", "--html", "page.html"]).ends(0);
    assert!(run.err.contains("page.html"), "{}", run.err);
    let page = std::fs::read_to_string(world.root().join("page.html")).unwrap();
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;alert(1)"));
    assert!(page.contains("default-src 'none'"));
    for outside in [
        "http://",
        "https://",
        "src=",
        "url(",
        "@import",
        "javascript:",
    ] {
        assert!(!page.contains(outside), "{outside} is in the page");
    }
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
    assert!(page.matches("<polyline").count() >= 10 && page.contains("<circle"));
    let refused = world.run(["replay", "p", "--html", "page.html"]).ends(2);
    assert!(refused.err.contains("--force"), "{}", refused.err);
    world
        .run(["replay", "p", "--html", "page.html", "--force"])
        .ends(0);
}

#[test]
fn v7_every_field_of_the_object_is_documented() {
    let world = World::new();
    world.write("s.jsonl", written(&long(SONNET)));
    world.write("rich.jsonl", rich_session().bytes);
    world.write("empty.jsonl", "");
    let run = world
        .run(["replay", "s.jsonl", "rich.jsonl", "empty.jsonl", "--json"])
        .ends(1);
    let mut found = BTreeSet::new();
    names(&run.json(), &mut found);
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/replay.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let missing: Vec<_> = found
        .iter()
        .filter(|name| !docs.contains(&format!("`{name}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/replay.md does not name {missing:?}"
    );
}

fn names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                found.insert(name.clone());
                names(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        _ => {}
    }
}
