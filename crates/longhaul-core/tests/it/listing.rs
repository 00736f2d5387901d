//! Compares what the model sees with snapshots. The numbered list is also the form in which other tests can show it.
//!
//! `INSTA_UPDATE=always cargo test -p longhaul-core listing` writes the snapshots again; the diff shows what changed.

use longhaul_core::listing::{ItemNote, Listing, ListingZone};
use longhaul_core::message::{Entry, EntryKind, Id};
use longhaul_core::models::ModelTable;
use longhaul_core::normalize::{RenderOptions, Rendering};
use longhaul_core::prompt::{
    AGENT_PREFIX, CacheWrite, LatchedSettings, MessageBreakpoints, PromptSection, RequestPrefix,
    SectionLifetime, SectionRegistry, SystemPrompt, SystemPromptOptions, Ttl,
};
use longhaul_testkit::session::{CompactionSchedule, Feature, KeptRounds, SessionSpec};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::lines::{Lines, inspect, live_lines, usage};

/// Returns a request prefix of the default agent with these tools.
fn head(tools: &[&str]) -> RequestPrefix {
    let mut registry = SectionRegistry::default();
    let dynamic = PromptSection::computed("place", SectionLifetime::Kept);
    for section in [PromptSection::constant("work", "Work with care."), dynamic] {
        registry.add(section).unwrap();
    }
    registry.refresh(|_| Some("You are on a boat.".to_owned()));
    let sending = SystemPromptOptions {
        attribution: Some("longhaul 1"),
        prefix: Some("You are an agent."),
        ttl: Some(Ttl::OneHour),
        ..SystemPromptOptions::default()
    };
    let system = SystemPrompt::from_sections(&registry, &sending);
    let tool = |name: &&str| json!({"name": name, "description": format!("{name} does its work."), "input_schema": {"type": "object"}});
    let tools: Vec<Value> = tools.iter().map(tool).collect();
    let spec = ModelTable::builtin().resolve("claude-opus-4-8").spec;
    let body = to_raw_value(&json!({"model": "claude-opus-4-8", "max_tokens": 1_000})).unwrap();
    RequestPrefix {
        system: system.unwrap().json,
        tools: to_raw_value(&tools).unwrap(),
        user_context: Some("<system-reminder>\nToday is Monday.\n</system-reminder>".to_owned()),
        latched: LatchedSettings::new(Some(Ttl::FiveMinutes), [], &spec, body),
    }
}

/// Renders the live view of a transcript after this request prefix.
fn rendered(lines: &Lines, head: Option<&RequestPrefix>, stripped: Option<&str>) -> Rendering {
    let bytes = lines.lines.join("\n");
    let (_, conversation) = live_lines(bytes.as_bytes());
    let entries: Vec<Entry> = (conversation.view().rows.iter())
        .map(|row| lines.lines[*row as usize].clone().into_bytes())
        .map(|line| Entry::read(line.into()).unwrap())
        .collect();
    let options = RenderOptions {
        user_context: head.and_then(|head| head.user_context.clone()),
        cleared: entries
            .iter()
            .flat_map(|entry| entry.view().cleared())
            .collect(),
        thinking_stripped_through: stripped.map(Id::of),
        ..RenderOptions::default()
    };
    let mut rendering = Rendering::begin(options, entries.iter().map(Entry::view));
    rendering.seal();
    rendering
}

fn marks(rendering: &Rendering, write: CacheWrite) -> MessageBreakpoints {
    MessageBreakpoints::place(rendering.blocks(), rendering.messages(), write, 2)
}

/// Lists a request whose prefix has two tools.
fn list(lines: &Lines, stripped: Option<&str>, write: CacheWrite) -> String {
    let head = head(&["Bash", "Read"]);
    let rendering = rendered(lines, Some(&head), stripped);
    Listing::of(Some(&head), &rendering, &marks(&rendering, write)).to_string()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn thought(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": "c2ln"})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

/// Returns a question, three parallel calls whose results arrive one by one, and the next question with an attachment.
fn parallel() -> Lines {
    let mut lines = Lines::default();
    lines.user("1", "Which of these files is the longest?");
    lines.reply("2", "m1", json!([thought("Read both.")]), usage(100));
    lines.reply("3", "m1", json!([text("I read both.")]), usage(100));
    let read = |id: &str, path: &str| json!([call(id, "Read", json!({ "file_path": path }))]);
    lines.reply("4", "m1", read("t1", "a.txt"), usage(100));
    lines.result("5", "t1", "one line");
    lines.after("4");
    lines.reply("6", "m1", read("t2", "b.txt"), usage(100));
    lines.reply(
        "7",
        "m1",
        json!([call("t3", "Bash", json!({"command": "wc -l"}))]),
        usage(100),
    );
    lines.result("8", "t2", "two\nlines");
    let failed = json!({"type": "tool_result", "tool_use_id": "t3", "content": "No such file", "is_error": true});
    lines.add(
        "9",
        json!({"type": "user", "message": {"role": "user", "content": [failed]}}),
    );
    lines.reply(
        "10",
        "m2",
        json!([thought("b wins."), text("b.txt is.")]),
        usage(200),
    );
    lines.add("11", json!({"type": "attachment", "attachment": {"type": "todo", "content": [], "itemCount": 0}}));
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    lines.add("12", json!({"type": "user", "message": {"role": "user", "content": [picture, text("And this?")]}}));
    lines
}

#[test]
fn a1_b2_a_request_is_listed_with_tools_system_context_messages_and_marks() {
    insta::assert_snapshot!("parallel_calls", list(&parallel(), None, CacheWrite::Write));
}

#[test]
fn f7_a_fork_marks_what_was_written_before() {
    insta::assert_snapshot!("fork", list(&parallel(), None, CacheWrite::Skip));
}

#[test]
fn u2_a_cleared_result_is_listed_as_such() {
    let mut lines = parallel();
    lines.clearing("13", &["t1", "t2"]);
    insta::assert_snapshot!("clearing", list(&lines, None, CacheWrite::Write));
}

#[test]
fn n2_messages_whose_thinking_is_not_sent_say_so() {
    insta::assert_snapshot!("stripped", list(&parallel(), Some("9"), CacheWrite::Write));
}

#[test]
fn p5_a_compaction_is_listed_with_what_it_kept() {
    let mut lines = parallel();
    lines.boundary(
        "13",
        "14",
        json!({"trigger": "auto", "preservedSegment": {"headUuid": "10", "anchorUuid": "14", "tailUuid": "12"}}),
    );
    lines.user("15", "Go on.");
    insta::assert_snapshot!("compaction", list(&lines, None, CacheWrite::Write));
}

#[test]
fn z2_what_was_made_up_or_could_not_be_sent_is_listed_as_such() {
    let mut lines = Lines::default();
    lines.reply(
        "1",
        "m1",
        json!([text("Me first."), {"type": "hologram", "size": 3}]),
        usage(10),
    );
    lines.call("2", "m2", "Bash", "t1", usage(20));
    lines.user("3", "Never mind.");
    lines.reply("4", "m3", json!([call("t2", "Bash", json!({}))]), usage(30));
    let rendering = rendered(&lines, None, None);
    let listing = Listing::of(None, &rendering, &MessageBreakpoints::default());
    insta::assert_snapshot!("made_up", listing.to_string());
}

#[test]
fn a4_without_a_head_what_stands_before_the_messages_is_unknown() {
    let rendering = rendered(&parallel(), None, None);
    let listing = Listing::of(None, &rendering, &marks(&rendering, CacheWrite::Write));
    let known: Vec<_> = listing
        .zones
        .iter()
        .map(|sum| (sum.zone, sum.tokens.is_some()))
        .collect();
    let wanted = ListingZone::ALL.map(|zone| {
        (
            zone,
            matches!(zone, ListingZone::Messages | ListingZone::Tail),
        )
    });
    assert_eq!(known, wanted);
    assert!(listing.marks.is_empty());
}

#[test]
fn many_tools_are_one_line() {
    let names: Vec<String> = (0..40).map(|n| format!("tool_{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let head = head(&names);
    let rendering = rendered(&Lines::default(), Some(&head), None);
    let listing = Listing::of(Some(&head), &rendering, &MessageBreakpoints::default());
    assert_eq!(listing.folded_tools().unwrap().len(), 40);
    let text = listing.to_string();
    assert!(text.starts_with("1-40 tools "), "{text}");
    // The items keep their numbers.
    assert_eq!(listing.items[40].number, 41);
    assert!(
        listing
            .text(&listing.items[12])
            .contains("tool_12 does its work.")
    );
}

#[test]
fn a3_blocks_of_the_system_prompt_are_named_where_they_can_be_told() {
    let kinds = |system: Value| {
        let head = RequestPrefix {
            system: to_raw_value(&system).unwrap(),
            tools: RawValue::NULL.to_owned(),
            ..head(&[])
        };
        let rendering = Rendering::begin(RenderOptions::default(), []);
        let listing = Listing::of(Some(&head), &rendering, &MessageBreakpoints::default());
        let kinds = listing.items.iter().map(|item| item.kind.to_string());
        kinds.collect::<Vec<_>>().join(" ")
    };
    let plain = |words: &str| text(words);
    let marked = |words: &str| json!({"type": "text", "text": words, "cache_control": {"type": "ephemeral"}});
    assert_eq!(kinds(json!("Be brief.")), "text");
    assert_eq!(kinds(json!([marked("own")])), "custom");
    assert_eq!(
        kinds(json!([plain(AGENT_PREFIX), marked("s"), marked("d")])),
        "prefix static dynamic"
    );
    assert_eq!(
        kinds(json!([
            plain("who"),
            plain("what"),
            marked("s"),
            marked("d")
        ])),
        "attribution prefix static dynamic"
    );
    assert_eq!(kinds(json!([plain("?"), marked("s")])), "text text");
    assert_eq!(kinds(Value::Null), "");
}

#[test]
fn t2_b2_lists_of_generated_sessions_add_up_and_hold_no_ids_and_times() {
    let mut noted = Vec::new();
    for (seed, kept) in (0..).zip([
        KeptRounds::Nothing,
        KeptRounds::AfterSummary,
        KeptRounds::AfterBoundary,
        KeptRounds::Listed,
    ]) {
        let spec = SessionSpec::new(seed, 30)
            .compaction(CompactionSchedule::EveryRounds(9))
            .kept(kept);
        let session = Feature::ALL
            .into_iter()
            .fold(spec, SessionSpec::with)
            .generate();
        let mut lines = Lines::default();
        let text = String::from_utf8(session.bytes).unwrap();
        lines.lines = text.lines().map(str::to_owned).collect();
        let head = head(&["Bash", "Read"]);
        let rendering = rendered(&lines, Some(&head), None);
        let listing = Listing::of(
            Some(&head),
            &rendering,
            &marks(&rendering, CacheWrite::Skip),
        );
        assert_eq!(listing.items.len(), 2 + 4 + rendering.blocks().len());
        let numbers: Vec<usize> = listing.items.iter().map(|item| item.number).collect();
        assert_eq!(numbers, (1..=listing.items.len()).collect::<Vec<_>>());
        let zones: u64 = listing.zones.iter().filter_map(|sum| sum.tokens).sum();
        assert_eq!(zones, listing.tokens);
        assert_eq!(
            listing.tokens,
            listing.items.iter().map(|item| item.tokens).sum::<u64>()
        );
        assert!(listing.tokens_before_last_breakpoint().unwrap() <= listing.tokens);
        for item in &listing.items {
            let excerpt = match item.excerpt.as_str() {
                "[empty]" | "[blank]" => "",
                excerpt => excerpt.trim_end_matches('…'),
            };
            assert!(item.excerpt.chars().all(|c| !c.is_control()), "{item:?}");
            let whole = listing.text(item);
            let whole: Vec<_> = whole
                .trim_start_matches("<system-reminder>")
                .chars()
                .filter(|c| !c.is_whitespace() && !c.is_control())
                .collect();
            let first: Vec<_> = excerpt.chars().filter(|c| *c != ' ').collect();
            assert!(
                item.zone == ListingZone::Tools || whole.starts_with(&first),
                "{item:?}"
            );
        }
        let text = listing.to_string();
        assert!(!text.contains("2026-0"), "{text}");
        let notes = listing.items.iter().flat_map(|item| item.notes.clone());
        noted.extend(notes);
    }
    for note in [ItemNote::Summary, ItemNote::Reminder] {
        assert!(noted.contains(&note), "{note:?}");
    }
}

#[test]
fn responses_are_those_that_a_report_lists() {
    for seed in 0..6 {
        let spec = SessionSpec::new(seed, 40).compaction(CompactionSchedule::EveryRounds(11));
        let session = Feature::ALL
            .into_iter()
            .fold(spec, SessionSpec::with)
            .generate();
        let (table, conversation) = live_lines(&session.bytes);
        let responses = conversation.responses(&table);
        let lines: Vec<u64> = responses
            .iter()
            .map(|row| table.rows()[*row as usize].line)
            .collect();
        let report = inspect(&session.bytes);
        assert_eq!(
            lines,
            report
                .turns
                .iter()
                .map(|turn| turn.line)
                .collect::<Vec<_>>()
        );
        // The view that a response answered is the file's view, had the file ended there.
        let bytes: Vec<&[u8]> = session.bytes.split(|byte| *byte == b'\n').collect();
        for row in responses {
            let line = table.rows()[row as usize].line as usize;
            let (_, there) = live_lines(&bytes[..line - 1].join(&b'\n'));
            let view = conversation.view_answered_by(&table, row);
            // Progress entries lead to a response but contain nothing.
            let said = |rows: &[u32]| -> Vec<u32> {
                let kind = |row: &&u32| table.rows()[**row as usize].kind;
                let rows = rows.iter().filter(|row| kind(row) != EntryKind::Progress);
                rows.copied().collect()
            };
            assert_eq!(
                said(&view.rows),
                said(&there.view().rows),
                "seed {seed}, line {line}"
            );
        }
    }
}

#[test]
fn o6_a_summary_of_folds_is_listed_as_such() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.boundary("2", "3", json!({"trigger": "auto"}));
    lines.reply("4", "m1", json!([text("on it")]), usage(10));
    let rendering = rendered(&lines, None, None);
    let folds =
        longhaul_core::collapse::Folds::default().added([Default::default(), Default::default()]);
    let listing = Listing::of(None, &rendering, &MessageBreakpoints::default()).with_folds(&folds);
    assert_eq!(listing.items[0].remarks(), ["summary", "folds: 2 spans"]);
    assert!(listing.to_string().contains("(summary, folds: 2 spans)"));
    assert!(listing.items[1].remarks().is_empty());
    let json = serde_json::to_value(&listing).unwrap();
    assert_eq!(json["items"][0]["notes"], json!(["summary", "folds"]));
    assert_eq!(json["items"][0]["folds"], 2);
}
