//! A long session.

use serde_json::Value;

use super::house::{House, Typing};

/// How many turns: `LONGHAUL_TURNS`, or 150.
fn turns() -> usize {
    let given = std::env::var("LONGHAUL_TURNS").ok();
    given.and_then(|turns| turns.parse().ok()).unwrap_or(150)
}

fn prompt(turn: usize) -> String {
    match turn % 6 {
        1 => format!("read notes.txt more.txt #{turn}"),
        3 => format!("run echo turn {turn}; seq 400"),
        5 => format!("todo #{turn}"),
        _ => format!("tell 250 #{turn}"),
    }
}

#[test]
fn q1_m5_a_session_of_150_turns_goes_through_three_compactions() {
    let house = House::new();
    let args = [
        "--window",
        "40000",
        "--permission-mode",
        "bypassPermissions",
        "--set",
        "compaction.micro=false",
    ];
    let mut terminal = house.chat(&args);
    for turn in 1..=turns() {
        let prompt = prompt(turn);
        terminal.asks(&prompt, &format!("Done with: {prompt}"));
    }
    terminal.leaves();
    terminal.given_back();

    let found = house.inspected();
    let boundaries = found["boundaries"].as_array().unwrap().len();
    assert!(boundaries >= 3, "{boundaries} compactions");
    println!(
        "{} turns, {} requests, {boundaries} compactions, {} entries",
        turns(),
        house.calls(),
        found["entries"]
    );
    house.nothing_refused();
    let said: Vec<String> = house.entries().iter().filter_map(typed).collect();
    for turn in 1..=turns() {
        let prompt = prompt(turn);
        assert_eq!(
            said.iter().filter(|said| **said == prompt).count(),
            1,
            "{prompt}"
        );
    }
    if let Ok(folder) = std::env::var("LONGHAUL_KEEP") {
        let transcript = house.transcript();
        let to = std::path::Path::new(&folder).join(transcript.file_name().unwrap());
        std::fs::copy(&transcript, to).unwrap();
    }
}

/// What the user typed, if the entry is a prompt.
fn typed(entry: &Value) -> Option<String> {
    if entry["type"] != "user" || entry["isMeta"] == true || entry["isCompactSummary"] == true {
        return None;
    }
    let content = &entry["message"]["content"];
    let block = content.as_array().and_then(|blocks| blocks.first());
    let text = content
        .as_str()
        .or_else(|| block.and_then(|block| block["text"].as_str()));
    text.map(str::to_owned)
}
