//! Tests the texts that are sent for reduced results, and which results are sent as they came.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::{ReductionCandidate, ReductionKind, ResultText, reduce};
use crate::config::ResultReduction;
use crate::message::{Entry, Id, ReductionStanding, SentForm};
use crate::normalize::{RenderOptions, Rendering};
use crate::tokens::{EntryStanding, RoughEstimator, TokenLedger};

/// A file as tools show it, from this line on.
fn numbered(first: usize, lines: &[String]) -> String {
    let mut text = String::new();
    for (number, line) in (first..).zip(lines) {
        let _ = writeln!(text, "{number:>6}→{line}");
    }
    text
}

fn file(lines: usize) -> Vec<String> {
    (0..lines)
        .map(|line| format!("    let value_{line} = compute({line}, \"some words in a line\");"))
        .collect()
}

fn result<'a>(call: &'a str, text: &'a str) -> ResultText<'a> {
    ResultText { call, text }
}

fn change(base: &str, now: &str) -> Option<super::ReducedResult> {
    let candidate = ReductionCandidate {
        result: result("toolu_2", now),
        same: None,
        earlier: &[result("toolu_1", base)],
    };
    reduce(&candidate, ResultReduction::Exact)
}

/// Puts a text together again from the earlier one and from what changed: contents of lines, with their numbers.
fn applied(base: &str, changed: &str) -> Vec<String> {
    let (_, old) = super::numbered::lines(base);
    let content = |number: u64| {
        let mut files = old.iter().filter_map(|line| line.file);
        files.find(|line| line.number == number).unwrap().content
    };
    let mut lines = Vec::new();
    for line in changed.split('\n').skip(1) {
        match line.split_at(1) {
            ("+", literal) => lines.push(literal.to_owned()),
            ("=", span) => {
                let (now, there) = match span.trim().split_once(" (") {
                    Some((now, there)) => (now, there.trim_end_matches(')')),
                    None => (span.trim(), span.trim()),
                };
                let range = |span: &str| {
                    let (first, last) = span.split_once('-').unwrap_or((span, span));
                    first.parse::<u64>().unwrap()..=last.parse::<u64>().unwrap()
                };
                for (now, there) in range(now).zip(range(there)) {
                    lines.push(format!("{now}:{}", content(there)));
                }
            }
            other => panic!("{other:?}"),
        }
    }
    lines
}

/// The lines of a text as [`applied`] gives them: repeated ones by number and content, new ones as they are.
fn same_lines(text: &str, applied: &[String]) -> bool {
    let (_, lines) = super::numbered::lines(text);
    lines.len() == applied.len()
        && lines.iter().zip(applied).all(|(line, applied)| {
            let named = line
                .file
                .map(|file| format!("{}:{}", file.number, file.content));
            line.raw == applied || named.as_ref() == Some(applied)
        })
}

#[test]
fn v8_texts_for_the_model() {
    let mut lines = file(60);
    let before = numbered(1, &lines);
    lines[9] = "    let value_9 = 0;".to_owned();
    lines.insert(30, "    // One line more.".to_owned());
    let now = numbered(1, &lines);
    let text = change(&before, &now).unwrap().text;
    assert!(same_lines(&now, &applied(&before, &text)), "{text}");
    insta::assert_snapshot!("changed", text);
    insta::assert_snapshot!("same", super::same::pointer("toolu_1"));
    let long: String = (0..900)
        .map(|line| match line {
            500 => "error[E0382]: use of moved value\n".to_owned(),
            _ => format!("line {line} of the output of a build\n"),
        })
        .collect();
    let excerpt = super::excerpt::excerpt(result("toolu_1", &long)).unwrap();
    let note: Vec<&str> = excerpt
        .lines()
        .filter(|line| !line.starts_with("line"))
        .collect();
    insta::assert_snapshot!("excerpt", note.join("\n"));
    assert!(
        excerpt.starts_with("line 0 ") && excerpt.ends_with("line 899 of the output of a build\n")
    );
    let quiet = long.replace("error", "word");
    let excerpt = super::excerpt::excerpt(result("toolu_1", &quiet)).unwrap();
    let note: Vec<&str> = excerpt
        .lines()
        .filter(|line| line.starts_with('['))
        .collect();
    insta::assert_snapshot!("excerpt_without_errors", note.join("\n"));
}

#[test]
fn o7_a_result_without_room_keeps_its_beginning_end_and_errors() {
    let long: String = (0..4_000)
        .map(|line| match line {
            2_000 => "error: the disk is full\n".to_owned(),
            _ => format!("line {line} of a report\n"),
        })
        .collect();
    let shortened = super::shorten(result("toolu_1", &long), 3_000).unwrap();
    assert!(shortened.starts_with("line 0 ") && shortened.ends_with("line 3999 of a report\n"));
    assert!(
        (2_000..3_600).contains(&shortened.len()),
        "{}",
        shortened.len()
    );
    let note: Vec<&str> = shortened
        .lines()
        .filter(|line| line.starts_with('[') || line.contains("| "))
        .collect();
    insta::assert_snapshot!("shortened", note.join("\n"));
    let quiet = long.replace("error", "note");
    let shortened = super::shorten(result("toolu_1", &quiet), 3_000).unwrap();
    let note: Vec<&str> = shortened
        .lines()
        .filter(|line| line.starts_with('['))
        .collect();
    insta::assert_snapshot!("shortened_without_errors", note.join("\n"));
    assert_eq!(super::shorten(result("toolu_1", &long), long.len()), None);
    // Something is left, however little room there is.
    assert!(super::shorten(result("toolu_1", &long), 0).unwrap().len() > 600);
}

#[test]
fn v8_a_part_of_a_file_that_is_in_view_as_a_whole_is_named() {
    let lines = file(200);
    let whole = numbered(1, &lines);
    let part = numbered(51, &lines[50..100]);
    let reduced = change(&whole, &part).unwrap();
    assert_eq!(reduced.kind, ReductionKind::Changed);
    assert!(reduced.text.contains("\n= 51-100"), "{}", reduced.text);
    assert!(same_lines(&part, &applied(&whole, &reduced.text)));
}

#[test]
fn v8_a_change_of_half_a_file_or_more_is_sent_whole() {
    let lines = file(100);
    let before = numbered(1, &lines);
    let mut changed = lines.clone();
    for line in changed.iter_mut().take(60) {
        line.push_str(" // changed");
    }
    assert_eq!(change(&before, &numbered(1, &changed)), None);
    assert!(change(&before, &numbered(1, &lines[..50])).is_some());
    assert_eq!(change("", &before), None);
    assert_eq!(
        change("a\nb\nc", &before),
        None,
        "one has numbers, the other has none"
    );
}

#[test]
fn v8_small_results_stubs_and_disabled_settings_stay_as_they_are() {
    let long = "some output of a command\n".repeat(100);
    let candidate = |text| ReductionCandidate {
        result: result("toolu_2", text),
        same: Some("toolu_1"),
        earlier: &[],
    };
    assert!(reduce(&candidate(&long), ResultReduction::Exact).is_some());
    assert_eq!(reduce(&candidate(&long), ResultReduction::Off), None);
    assert_eq!(reduce(&candidate("ok"), ResultReduction::Recallable), None);
    let stub = format!("File unchanged since you read it. {long}");
    assert_eq!(reduce(&candidate(&stub), ResultReduction::Exact), None);
    let alone = ReductionCandidate {
        same: None,
        ..candidate(&long)
    };
    assert_eq!(
        reduce(&alone, ResultReduction::Recallable),
        None,
        "it is not oversized"
    );
    let oversized = long.repeat(10);
    let oversized = ReductionCandidate {
        same: None,
        ..candidate(&oversized)
    };
    assert_eq!(reduce(&oversized, ResultReduction::Exact), None);
    let reduced = reduce(&oversized, ResultReduction::Recallable).unwrap();
    assert_eq!((reduced.kind, reduced.base), (ReductionKind::Excerpt, None));
}

#[test]
fn v8_hostile_sizes_take_bounded_time_and_memory() {
    // One line, no line, lines without an end, and two long files without a line in common.
    let one_line = "x".repeat(20 << 20);
    let excerpt = super::excerpt::excerpt(result("t", &one_line)).unwrap();
    assert!(excerpt.chars().count() < 9_000);
    assert_eq!(change(&one_line, &one_line), None);
    let breaks = "\n".repeat(1 << 20);
    let excerpt = super::excerpt::excerpt(result("t", &breaks)).unwrap();
    assert!(excerpt.len() < 9_000);
    let a: String = (0..20_000).map(|line| format!("{line}a\n")).collect();
    let b: String = (0..20_000).map(|line| format!("{line}b\n")).collect();
    assert_eq!(change(&a, &b), None);
    let errors = "error ".repeat(4 << 20);
    assert!(
        super::excerpt::excerpt(result("t", &errors))
            .unwrap()
            .chars()
            .count()
            < 9_000
    );
    let wide = "\u{1F600}".repeat(20_000);
    assert!(
        super::excerpt::excerpt(result("t", &wide))
            .unwrap()
            .chars()
            .count()
            < 9_000
    );
}

#[test]
fn v8_lines_of_a_file_cannot_pass_for_ours() {
    let mut lines: Vec<String> = file(80);
    let before = lines.join("\n");
    lines[40] = "= 1-79".to_owned();
    lines[41] = "+x".to_owned();
    let now = lines.join("\n");
    let text = change(&before, &now).unwrap().text;
    assert!(text.contains("\n+= 1-79\n++x\n"), "{text}");
    assert!(same_lines(&now, &applied(&before, &text)));
}

/// The line of a call and the line of its result.
fn round(number: usize, text: &str, record: Option<&super::ReducedResult>) -> [Entry; 2] {
    let call = format!("toolu_{number}");
    let reply = serde_json::json!({"type": "assistant", "uuid": format!("a{number}"), "message": {
        "id": format!("m{number}"), "role": "assistant",
        "content": [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "x"}}]}});
    let mut result = serde_json::json!({"type": "user", "uuid": format!("u{number}"), "message": {
        "role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": text}]}});
    if let Some(reduced) = record {
        result["reducedResults"] = serde_json::json!([{"tool_use_id": call, "kind": reduced.kind.name(),
            "refers_to": reduced.base, "content": reduced.text}]);
    }
    [reply, result].map(|line| Entry::read(line.to_string().into()).unwrap())
}

fn clearing(number: usize, calls: &[String]) -> Entry {
    let line = serde_json::json!({"type": "system", "subtype": "microcompact_boundary", "uuid": format!("c{number}"),
        "microcompactMetadata": {"compactedToolIds": calls, "clearedAttachmentUUIDs": []}});
    Entry::read(line.to_string().into()).unwrap()
}

/// What is sent for each call of a history, and how much the results weigh.
fn rendered(history: &[Entry], from: usize) -> (Vec<(String, String)>, u64) {
    let views = history.iter().map(Entry::view);
    let cleared = views.clone().flat_map(|view| view.cleared()).collect();
    let options = RenderOptions {
        cleared,
        ..RenderOptions::default()
    };
    let mut rendering = Rendering::begin(options, views.skip(from));
    rendering.seal();
    let mut slices = Vec::new();
    rendering
        .buffer()
        .slices(0, rendering.buffer().len(), &mut slices);
    let bytes = [b"[", &*slices.concat(), rendering.closing(), b"]"].concat();
    let messages: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let mut sent = Vec::new();
    for message in messages.as_array().unwrap() {
        for block in message["content"].as_array().unwrap() {
            if block["type"] == "tool_result" {
                let text = |field: &str| block[field].as_str().unwrap().to_owned();
                sent.push((text("tool_use_id"), text("content")));
            }
        }
    }
    let blocks = rendering.blocks().iter();
    (sent, blocks.map(|block| block.weight.unpadded()).sum())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn v8_a_change_and_the_earlier_text_hold_every_line(
        lines in 30usize..120,
        edits in prop::collection::vec((0usize..120, 0u8..3), 0..6),
        shown in any::<bool>(),
        first in 1usize..50,
    ) {
        let before = file(lines);
        let mut now = before.clone();
        for (at, kind) in edits {
            let at = at % now.len().max(1);
            match kind {
                0 => now[at] = format!("another line {at}"),
                1 => now.insert(at, "= 1-5".to_owned()),
                _ if now.len() > 1 => drop(now.remove(at)),
                _ => {}
            }
        }
        let show = |lines: &[String]| match shown {
            true => numbered(first, lines),
            false => lines.join("\n"),
        };
        let (before, now) = (show(&before), show(&now));
        if let Some(reduced) = change(&before, &now) {
            prop_assert!(reduced.text.len() < now.len() / 2);
            prop_assert!(same_lines(&now, &applied(&before, &reduced.text)), "{}", reduced.text);
        }
    }

    #[test]
    fn v8_every_text_is_in_view_where_it_is_referred_to(
        steps in prop::collection::vec((0usize..3, 0u8..6), 1..30),
        from in 0usize..20,
    ) {
        let texts: Vec<String> = (0..3).map(|kind| format!("output {kind} of it\n").repeat(60)).collect();
        let asked = r#"{"type":"user","uuid":"u","message":{"role":"user","content":"Run it."}}"#;
        let mut history: Vec<Entry> = vec![Entry::read(asked.into()).unwrap()];
        let mut standing = ReductionStanding::default();
        let mut ledger = TokenLedger::new();
        ledger.entry(history[0].view(), EntryStanding::Live);
        let mut results: Vec<(String, usize, Option<String>)> = Vec::new();
        for (number, (text, what)) in steps.into_iter().enumerate() {
            let new = if what == 0 && !results.is_empty() {
                let gone = &results[..(number % results.len()) + 1];
                let gone: Vec<String> = gone.iter().map(|(call, ..)| call.clone()).collect();
                vec![clearing(number, &gone)]
            } else {
                let call = format!("toolu_{number}");
                let mut earlier = results.iter().rev().filter(|(_, kind, _)| *kind == text);
                let same = earlier.find(|(call, ..)| standing.is_whole(Id::of(call)));
                let reduced = reduce(&ReductionCandidate {
                    result: result(&call, &texts[text]),
                    same: same.map(|(call, ..)| call.as_str()),
                    earlier: &[],
                }, ResultReduction::Exact);
                let base = reduced.as_ref().and_then(|reduced| reduced.base.clone());
                let lines = round(number, &texts[text], reduced.as_ref());
                results.push((call, text, base));
                lines.into()
            };
            for entry in new {
                standing.entry(entry.view());
                ledger.entry(entry.view(), EntryStanding::Live);
                history.push(entry);
            }
        }
        let (sent, weight) = rendered(&history, 0);
        // What is counted is what is sent, apart from the markers of cleared results.
        let markers: u64 = sent.iter().filter(|(_, text)| text.contains("was cleared"))
            .map(|(_, text)| RoughEstimator::text(text).unpadded()).sum();
        prop_assert_eq!(ledger.whole().unpadded(), weight - markers);
        // Any later beginning of the view is a view of its own.
        for from in [0, from.min(history.len())] {
            let (sent, _) = rendered(&history, from);
            let form = |call: &str| sent.iter().find(|(known, _)| known == call).map(|(_, text)| text.as_str());
            for (call, text, base) in &results {
                let Some(content) = form(call).filter(|content| !content.contains("was cleared")) else {
                    continue;
                };
                if content == texts[*text] {
                    continue;
                }
                let base = base.as_deref().unwrap();
                let newer = results.iter().filter(|(_, _, other)| other.as_deref() == Some(base));
                let mut whole = newer.filter_map(|(call, ..)| form(call)).chain(form(base));
                prop_assert!(whole.any(|content| content == texts[*text]), "{call} refers to {base}");
            }
        }
        for (call, ..) in &results {
            let id = Id::of(call);
            if standing.form(id) == Some(SentForm::Reduced) {
                prop_assert!(!standing.is_whole(id));
            }
        }
    }
}
