//! The page for a person: what is on it, and that it fits where it is shown.

use unicode_width::UnicodeWidthStr;

use crate::support::{Finish, World, folded, long_session, plain, plain_session, rich_session};

#[test]
fn t4_the_page_shows_the_window_its_limits_and_what_fills_it() {
    let world = World::new();
    let run = world.page(&rich_session().bytes).ends(0);
    assert_eq!(run.err, "");
    let window = run.prints("Window  claude-sonnet-4-5-20250929, 200,000 tokens");
    window
        .prints("tokens in use")
        .prints("measured by the provider")
        .prints("warning (w) 147,000")
        .prints("auto-compact (c) 167,000")
        .prints("blocking (b) 177,000")
        .prints("effective window 180,000")
        .prints("tool results")
        .prints("\nCompactions\n")
        .prints("replaced by a summary of")
        .prints("\nResponses  70 for $")
        .prints("% of prompts from the cache")
        .prints("the last 5 of 70; --turns lists all")
        .prints("\nTools")
        .prints("\nLargest tool results\n")
        .prints("\nFiles read again")
        .prints("\nNo problems found.\n");
}

#[test]
fn turns_lists_every_response() {
    let world = World::new();
    let session = rich_session();
    let path = world.write("s.jsonl", &session.bytes);
    let rows = |args: &[&str]| {
        let mut command = world.longhaul(["inspect"]);
        let page = command.arg(&path).args(args).finish().ends(0).out;
        page.lines()
            .filter(|line| line.contains("  2026-0"))
            .count()
    };
    assert_eq!(rows(&[]), 5);
    assert_eq!(rows(&["--turns"]), session.truth.rounds);
}

#[test]
fn compactions_and_clearings_stand_in_the_order_in_which_they_happened() {
    let world = World::new();
    let page = world.page(&long_session().bytes).out;
    let section = page.split("\nCompactions\n").nth(1).unwrap();
    let section = section.split("\n\n").next().unwrap();
    let lines: Vec<u64> = (section.lines().skip(1))
        .filter_map(|line| line.split_whitespace().next()?.parse().ok())
        .collect();
    assert!(lines.len() >= 3 && lines.is_sorted(), "{section}");
}

#[test]
fn color_is_for_terminals_or_when_forced_and_letters_stand_in_for_it() {
    let world = World::new();
    let path = world.write("s.jsonl", rich_session().bytes);
    let mut command = world.longhaul(["inspect"]);
    let piped = command.arg(&path).finish().ends(0).out;
    assert!(!piped.contains('\u{1b}'));
    let bar = piped.lines().find(|line| line.ends_with("··")).unwrap();
    assert!(
        bar.contains('P') && bar.contains('R') && !bar.contains('█'),
        "{bar}"
    );
    let forced = command.env("CLICOLOR_FORCE", "1").finish().ends(0).out;
    assert!(forced.contains("\u{1b}["));
    let bar = plain(&forced);
    let bar = bar.lines().find(|line| line.ends_with("··")).unwrap();
    assert!(bar.contains('█') && !bar.contains('P'), "{bar}");
    let refused = command.env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    assert_eq!(refused.finish().out, piped);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let world = World::new();
    let mut bytes = rich_session().bytes;
    bytes.extend_from_slice(b"not an entry at all, far from it: {\n");
    let path = world.write("a/rather/deep/folder/with-a-long-name/session.jsonl", bytes);
    for columns in [40, 47, 60, 80, 100, 120] {
        for color in ["", "1"] {
            let mut command = world.longhaul(["inspect"]);
            let page = command.arg(&path).args(["--turns", "--model", "none"]);
            let page = page
                .env("COLUMNS", columns.to_string())
                .env("CLICOLOR_FORCE", color);
            let page = plain(&page.finish().ends(1).out);
            for line in page.lines() {
                assert!(
                    line.width() <= columns,
                    "{columns}: {} {line}",
                    line.width()
                );
                assert_eq!(line, line.trim_end(), "trailing blanks");
            }
        }
    }
}

#[test]
fn a_terminal_of_unknown_width_gets_eighty_columns() {
    let world = World::new();
    let path = world.write("s.jsonl", rich_session().bytes);
    let page = |columns: &str| {
        let mut command = world.longhaul(["inspect"]);
        command.arg(&path).env("COLUMNS", columns).finish().out
    };
    let eighty = page("80");
    assert_eq!(page("0"), eighty);
    assert_eq!(page("wide"), eighty);
    // Wider than is readable, and narrower than is usable.
    assert_eq!(page("9999"), page("120"));
    assert_eq!(page("1"), page("40"));
}

#[test]
fn the_head_is_wrapped_and_the_end_of_a_path_is_kept() {
    let world = World::new();
    let session = rich_session();
    let path = world.write("s.jsonl", &session.bytes);
    let mut command = world.longhaul(["inspect"]);
    let page = command.arg(&path).env("COLUMNS", "40").finish().out;
    assert!(page.contains(&session.truth.session_id));
    assert!(page.replace('\n', "").contains(path.to_str().unwrap()));
    let again = page.split("\nFiles read again").nth(1).unwrap();
    let files: Vec<&str> = again
        .lines()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .collect();
    assert!(!files.is_empty());
    for file in files {
        assert!(!file.ends_with('…'), "{file}");
    }
}

#[test]
fn one_of_a_kind_is_not_many() {
    let world = World::new();
    let session = longhaul_testkit::SessionSpec::new(2, 1).plain().generate();
    let run = world.page(&session.bytes).ends(0).prints("1 response\n");
    assert!(!run.out.contains(" 1 responses") && !run.out.contains(" 1 entries"));
    let root = world.run(["inspect", "."]).ends(0);
    root.prints("1 file,").prints("1 response,");
}

#[test]
fn t1_an_estimate_is_not_called_a_measurement() {
    let world = World::new();
    let bytes = plain_session().bytes;
    let prompt = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    let run = world.page(prompt).ends(0).prints("all of it estimated");
    assert!(!run.out.contains("0 measured"));
}

#[test]
fn x4_what_is_not_measured_is_shown_with_its_likely_size_and_a_bound() {
    let line = |uuid: &str, parent: &str, rest: &str| {
        format!(
            "{{\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"isSidechain\":false,\
             \"timestamp\":\"2026-03-02T08:00:00Z\",{rest}}}\n"
        )
    };
    let user = |text: &str| {
        format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}")
    };
    let reply = "\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\
                 \"model\":\"claude-sonnet-4-5\",\"content\":[{\"type\":\"text\",\"text\":\"Yes.\"}],\
                 \"usage\":{\"input_tokens\":20000,\"output_tokens\":5}}";
    let measured = line("1", "null", &user("Go?")) + &line("2", "\"1\"", reply);
    let world = World::new();
    let page = world.page(measured.as_bytes()).ends(0);
    assert!(!page.out.contains("likely"), "{}", page.out);
    let words = "Steer by the green buoy and mind the tide. ".repeat(100);
    let more = measured + &line("3", "\"2\"", &user(&words));
    let path = world.write("more.jsonl", more.as_bytes());
    let page = world.longhaul(["inspect"]).arg(&path).finish().ends(0);
    page.prints("likely 2").prints(" ± ");
    let json = world.longhaul(["inspect", "--json"]).arg(&path).finish();
    let report: serde_json::Value = serde_json::from_str(&json.ends(0).out).unwrap();
    let count = |name: &str| report["calibrated"][name].as_u64().unwrap();
    // The sentence has nine words and a stop.
    let added = count("tokens") - 20_005;
    assert!((900..=1_200).contains(&added), "{added}");
    assert!((100..=300).contains(&count("bound")), "{report}");
}

#[test]
fn t4_m7_a_recorded_prompt_is_shown_by_its_parts() {
    let head = "{\"type\":\"request-head\",\"sessionId\":\"s\",\"timestamp\":\"2026-03-02T08:00:00Z\",\
                \"system\":\"You are a pilot of harbours.\",\"tools\":[{\"name\":\"Read\"}],\
                \"userContext\":\"Keep to the left buoys.\",\"settings\":{}}\n";
    let bytes = [head.as_bytes(), &plain_session().bytes].concat();
    let run = World::new().page(&bytes).ends(0);
    for part in ["system prompt", "tool definitions", "memory files"] {
        assert!(run.out.contains(part), "{part}:\n{}", run.out);
    }
}

#[test]
fn d2_the_page_lists_where_the_cache_broke() {
    let world = World::new();
    let page = world.page(&long_session().bytes);
    page.prints("\nCache  ")
        .prints("tokens read before and not again, $")
        .prints(", cached for 5 min");
    let quiet = world.page(&plain_session().bytes);
    assert!(!quiet.out.contains("\nCache  "), "{}", quiet.out);
}

#[test]
fn o6_e1_a_folded_boundary_tells_who_folded_at_what_cost_and_who_waited() {
    let world = World::new();
    let bytes = [folded(), plain_session().bytes].concat();
    let page = world.page(&bytes).out;
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "2 folds of",
        "by folding, $0.12, took 14.0 s, waited 2.5 s",
        "with notes and summaries: $",
        "notes taken 1 time for $0.50",
    ] {
        assert!(words.contains(part), "{part} is not in\n{page}");
    }
    let json = world.inspect(&bytes).json();
    assert_eq!(json["boundaries"][0]["folds"], 2);
    assert_eq!(json["boundaries"][0]["made"]["waited_ms"], 2_500);
    assert_eq!(json["notes"]["runs"], 1);
}
