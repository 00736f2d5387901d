//! Tests the texts that are sent for results that are made smaller (V8): where their limits are, and what is named and what
//! is written out.

use longhaul_core::config::ResultReduction;
use longhaul_core::reduce::{
    ReducedResult, ReductionCandidate, ReductionKind, ResultText, reduce, text_of_content,
};

fn result<'a>(call: &'a str, text: &'a str) -> ResultText<'a> {
    ResultText { call, text }
}

/// What is sent of a text after an earlier one of the same file.
fn change(base: &str, now: &str) -> Option<String> {
    let candidate = ReductionCandidate {
        result: result("toolu_2", now),
        same: None,
        earlier: &[result("toolu_1", base)],
    };
    let reduced = reduce(&candidate, ResultReduction::Exact)?;
    assert_eq!(reduced.kind, ReductionKind::Changed);
    let (_, lines) = reduced.text.split_once('\n').unwrap();
    Some(lines.to_owned())
}

fn excerpt(text: &str) -> Option<String> {
    let candidate = ReductionCandidate {
        result: result("toolu_1", text),
        same: None,
        earlier: &[],
    };
    reduce(&candidate, ResultReduction::Recallable).map(|reduced| reduced.text)
}

/// Lines with their numbers, as a tool shows them.
fn numbered(lines: impl IntoIterator<Item = (usize, String)>) -> String {
    let lines = lines.into_iter();
    lines
        .map(|(number, line)| format!("{number:>6}→{line}\n"))
        .collect()
}

/// Many different lines of a file.
fn file(lines: usize) -> Vec<String> {
    (0..lines)
        .map(|line| format!("    let value_{line} = compute({line});"))
        .collect()
}

fn shown(lines: &[String]) -> String {
    numbered((1..).zip(lines.iter().cloned()))
}

#[test]
fn v8_a_pointer_is_sent_if_it_is_less_than_half_of_the_result() {
    let same = |text: &str| -> Option<ReducedResult> {
        let candidate = ReductionCandidate {
            result: result("toolu_2", text),
            same: Some("toolu_1"),
            earlier: &[],
        };
        reduce(&candidate, ResultReduction::Exact)
    };
    let pointer = same(&"x".repeat(1_000)).unwrap().text.len();
    assert_eq!(same(&"x".repeat(2 * pointer)), None);
    assert!(same(&"x".repeat(2 * pointer + 2)).is_some());
}

#[test]
fn v8_repeated_lines_are_named_unless_that_would_take_as_much_as_they_do() {
    let rest = file(40).join("\n");
    let between = |line: &str| {
        let base = format!("first\n{line}\nthird\n{rest}");
        change(&base, &format!("1st\n{line}\n3rd\n{rest}")).unwrap()
    };
    let (short, long) = ("s".repeat(22), "l".repeat(23));
    assert_eq!(between(&short), format!("+1st\n+{short}\n+3rd\n= 4-43"));
    assert_eq!(between(&long), "+1st\n= 2\n+3rd\n= 4-43");
}

#[test]
fn v8_what_a_tool_says_between_the_lines_of_a_file_is_never_part_of_a_span() {
    let mut lines: Vec<String> = shown(&file(60)).lines().map(str::to_owned).collect();
    lines.insert(30, "<the file was changed by a linter>".to_owned());
    let now = lines.join("\n");
    let sent = change(&now, &now).unwrap();
    assert_eq!(sent, "= 1-30\n+<the file was changed by a linter>\n= 31-60");
}

#[test]
fn v8_a_file_with_numbers_is_not_compared_with_one_without() {
    let lines = file(60);
    assert_eq!(change(&lines.join("\n"), shown(&lines).trim_end()), None);
    assert_eq!(change(shown(&lines).trim_end(), &lines.join("\n")), None);
}

#[test]
fn v8_numbers_are_found_after_at_most_three_other_lines_and_only_in_their_order() {
    let lines = file(60);
    let part = shown(&lines[..30]);
    let after = |before: &str| format!("{before}{}", shown(&lines));
    assert_eq!(
        change(&after("one\ntwo\nthree\n"), &part).unwrap(),
        "= 1-30\n+"
    );
    assert_eq!(change(&after("one\ntwo\nthree\nfour\n"), &part), None);
    let mut mixed = shown(&lines[..30]);
    mixed.push_str(&numbered([(99, lines[50].clone())]));
    mixed.push_str(&numbered((31..).zip(lines[30..].iter().cloned())));
    let sent = change(&shown(&lines), &mixed).unwrap();
    assert!(sent.contains("= 1-30\n+    99→"), "{sent}");
}

#[test]
fn v8_what_would_take_too_long_to_compare_is_sent_whole() {
    let wide: Vec<String> = (file(1_000).iter().map(|line| line.repeat(40))).collect();
    let (long, part) = (shown(&wide), shown(&wide[..50]));
    assert!(long.len() > 1 << 20 && part.len() < 1 << 20);
    assert_eq!(change(&long, &part), None, "one of them is very long");
    let mut lines = file(9_000);
    let before = shown(&lines);
    lines[0].push_str(" // first");
    lines[8_999].push_str(" // last");
    assert_eq!(
        change(&before, &shown(&lines)),
        None,
        "many lines on both sides"
    );
    let mut few = file(9_000)[4_000..4_100].to_vec();
    few[0].push_str(" // first");
    few[99].push_str(" // last");
    let few = numbered((4_001..).zip(few));
    assert_eq!(change(&before, &few), None, "many lines on one side");
}

#[test]
fn v8_of_an_oversized_result_the_first_and_the_last_4000_characters_are_sent() {
    assert_eq!(excerpt(&"x".repeat(12_000)), None);
    let text = format!("{}{}", "a".repeat(10_000), "z".repeat(10_000));
    let sent = excerpt(&text).unwrap();
    let lines: Vec<&str> = sent.split('\n').collect();
    let [head, note, tail] = lines[..] else {
        panic!("{sent}");
    };
    assert_eq!((head, tail), (&*"a".repeat(4_000), &*"z".repeat(4_000)));
    assert!(note.contains("12000 of 20000 characters"), "{note}");
}

#[test]
fn v8_an_excerpt_is_cut_at_a_line_break_only_where_that_leaves_most_of_it() {
    let text = |first: usize, last: usize| {
        let middle = "m".repeat(20_000 - first - last);
        format!("{}\n{middle}\n{}", "a".repeat(first), "z".repeat(last))
    };
    let sent = excerpt(&text(1_000, 1_000)).unwrap();
    let (head, rest) = sent.split_once("\n[").unwrap();
    let (_, tail) = rest.split_once("]\n").unwrap();
    assert_eq!((head.len(), tail.len()), (4_000, 4_000));
    let sent = excerpt(&text(3_000, 3_000)).unwrap();
    let (head, rest) = sent.split_once("\n[").unwrap();
    let (_, tail) = rest.split_once("]\n").unwrap();
    assert_eq!((head, tail), (&*"a".repeat(3_000), &*"z".repeat(3_000)));
}

#[test]
fn v8_lines_that_speak_of_errors_are_sent_with_their_numbers_as_far_as_there_is_room() {
    let long = "w".repeat(600);
    let lines = (1..=400).map(|line| match line {
        200 => format!("line 200 {long} error"),
        201..=300 => {
            format!("line {line}: error in the middle of some output that goes on for a while\n")
        }
        _ => format!("line {line}: nothing of interest is said in this line of the output\n"),
    });
    let text: String = lines.map(|line| format!("{}\n", line.trim_end())).collect();
    let sent = excerpt(&text).unwrap();
    let errors: Vec<&str> = sent
        .lines()
        .filter(|line| line.contains("| line"))
        .collect();
    assert!(errors[0].starts_with("200| line 200 www"), "{}", errors[0]);
    assert_eq!(errors[0].len(), "200| ".len() + 300);
    assert!(errors[1].starts_with("201| line 201: error"));
    let size: usize = errors.iter().map(|line| line.len() + 1).sum();
    assert!((1_900..=2_000).contains(&size), "{size} characters");
}

#[test]
fn v8_a_content_is_one_text_if_it_is_a_string_or_one_text_block() {
    let text = |raw: &str| text_of_content(raw.as_bytes()).map(|text| text.into_owned());
    assert_eq!(text(r#""one\ntwo""#).unwrap(), "one\ntwo");
    assert_eq!(text(r#"[{"type":"text","text":"one"}]"#).unwrap(), "one");
    for other in [
        r#"[{"type":"image","text":"one"}]"#,
        r#"[{"type":"text","text":"one"},{"type":"text","text":"two"}]"#,
        "[]",
        "null",
    ] {
        assert_eq!(text(other), None, "{other}");
    }
}
