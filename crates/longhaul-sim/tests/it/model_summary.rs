//! Summaries: honest, extractive, with the requested sections, within the available length.

use longhaul_sim::model::summarize::{is_asked, summary_of};
use longhaul_sim::model::{SimModel, SimModelOptions};
use longhaul_sim::request::ApiRole;
use serde_json::json;

use crate::model_folder::{Folder, coding_tools};
use crate::model_talk::{Talk, calls, failed, fine, message, text, words};

const ASK: &str = "Do not call any tools. First walk through the conversation inside <analysis> tags, then put a summary of it \
into <summary> tags, in these sections:
1. Primary Request and Intent: what the user wants
2. Key Technical Concepts: terms
3. Files and Code Sections: with snippets
4. Errors and fixes: with the user's feedback
5. Problem Solving: how
6. All user messages: every one
7. Pending Tasks: what is open
8. Current Work: what was being done
9. Optional Next Step: with a quote
Remember: text only, no tools.";

const FIRST: &str = "Fix the parser.\n\nNever touch `generated/`; the rule is:\n  - keep the indentation\n  - no tabs";
const SECOND: &str = "That broke \"quotes\" — use the other escape instead, please. 日本語も";

fn model() -> SimModel {
    SimModel::new(SimModelOptions::default())
}

/// A small session with an edit, an error, a todo list and two prompts.
fn session() -> Talk {
    let mut talk = Talk::new(1, coding_tools());
    talk.user(FIRST);
    talk.history(
        "I read the parser first to see how escapes are handled in it.",
        "Read",
        json!({ "file_path": "/proj/src/parser.rs" }),
        fine("     1→fn parse() {\n     2→    escape();\n     3→}"),
    );
    let edit = json!({ "file_path": "/proj/src/parser.rs", "old_string": "escape();", "new_string": "escape_all();" });
    talk.history(
        "Now the change.",
        "Edit",
        edit.clone(),
        failed("The file was modified since it was read."),
    );
    talk.history("Again.", "Edit", edit, fine("Updated."));
    talk.user(SECOND);
    let todos = json!({ "todos": [
        { "content": "Swap the escape", "status": "completed", "activeForm": "Swapping" },
        { "content": "Test with quotes", "status": "in_progress", "activeForm": "Testing" },
    ] });
    talk.history("I keep a list.", "TodoWrite", todos, fine("ok"));
    talk.history(
        "Running the tests now to see about the quotes.",
        "Bash",
        json!({ "command": "cargo test quotes" }),
        fine("test result: ok. 3 passed"),
    );
    talk
}

fn summarize(talk: &mut Talk, ask: &str) -> String {
    talk.user(ask);
    let draft = talk.send(&mut model());
    assert!(calls(&draft).is_empty());
    words(&draft)
}

/// The text between a heading and the next.
fn section(summary: &str, number: usize) -> &str {
    let start = summary.find(&format!("\n{number}. ")).unwrap();
    let end = summary
        .find(&format!("\n{}. ", number + 1))
        .unwrap_or(summary.len());
    &summary[start..end]
}

#[test]
fn f4_nine_sections_are_drawn_from_the_conversation() {
    let all = summarize(&mut session(), ASK);
    let (analysis, summary) = all.split_once("</analysis>").unwrap();
    assert!(analysis.starts_with("<analysis>") && analysis.contains("Fix the parser."));
    assert!(summary.trim_start().starts_with("<summary>") && summary.ends_with("</summary>"));
    assert!(
        section(summary, 3).contains("`/proj/src/parser.rs` (edited)")
            && section(summary, 3).contains("escape_all();")
    );
    assert!(
        section(summary, 4).contains("modified since it was read")
            && section(summary, 4).contains("went through later")
    );
    assert!(section(summary, 6).contains(FIRST) && section(summary, 6).contains(SECOND));
    assert!(
        section(summary, 7).contains("Test with quotes")
            && !section(summary, 7).contains("Swap the escape")
    );
    assert!(
        section(summary, 8).contains("Running the tests now")
            && section(summary, 8).contains("cargo test quotes")
    );
    assert!(section(summary, 9).contains(SECOND));
    assert!(summary.contains("9. Optional Next Step"));
}

#[test]
fn a_summary_is_known_by_what_is_asked_for_not_by_our_wording() {
    assert!(is_asked(
        "please SUMMARIZE everything above; wrap it in <summary></summary>"
    ));
    assert!(is_asked("Write a recap with <analysis> first"));
    assert!(!is_asked("Summarise the file README.md for me"));
    assert!(!is_asked("What does the <summary> element do in HTML?"));
    let all = summarize(
        &mut session(),
        "Condense this conversation and answer with <summary> … </summary>.",
    );
    assert!(all.starts_with("<summary>") && all.contains(FIRST) && !all.contains("<analysis>"));
}

#[test]
fn f5_the_headings_asked_for_are_used() {
    let ask = "Summarise what came before. Answer in <summary> tags:\n1. Request and intent\n2. Files and code\n3. All user messages\n4. Work completed\n5. Context for continuing work";
    let all = summarize(&mut session(), ask);
    assert!(
        section(&all, 4).contains("4. Work completed")
            && section(&all, 4).contains("Swap the escape")
    );
    assert!(section(&all, 5).contains("Test with quotes"));
    assert!(!all.contains("\n6. "));
}

#[test]
fn f5_a_later_part_begins_at_the_message_it_quotes() {
    let ask = format!(
        "Summarise only the recent part of the conversation in <summary> tags, beginning with this message:\n> {SECOND}"
    );
    let all = summarize(&mut session(), &ask);
    assert!(all.contains(SECOND) && !all.contains(FIRST) && !all.contains("modified since"));
}

#[test]
fn f4_custom_instructions_are_minded() {
    let ask = format!(
        "{ASK}\n\nAdditional Instructions:\nDwell on the escapes and name every test.\n\nREMINDER: no tools."
    );
    let all = summarize(&mut session(), &ask);
    assert!(section(&all, 1).contains("Dwell on the escapes and name every test."));
    assert!(!section(&all, 1).contains("REMINDER"));
}

#[test]
fn f2_summaries_chain() {
    let mut talk = session();
    let first = summarize(&mut talk, ASK);
    let summary = first
        .split_once("<summary>")
        .unwrap()
        .1
        .trim_end_matches("</summary>");
    let mut next = Talk::new(2, coding_tools());
    next.user(&format!("This conversation goes on from an earlier one. What happened there:\n{summary}\nGo on where it stopped."));
    next.history(
        "I go on.",
        "Read",
        json!({ "file_path": "/proj/src/lexer.rs" }),
        fine("     1→fn lex() {}"),
    );
    next.user("Now the lexer, too: it has the same flaw.");
    let second = summarize(&mut next, ASK);
    for message in [FIRST, SECOND, "Now the lexer, too: it has the same flaw."] {
        assert!(
            section(&second, 6).contains(message),
            "{message}\n---\n{second}"
        );
    }
    assert!(!section(&second, 6).contains("goes on from an earlier one"));
    assert!(section(&second, 3).contains("parser.rs") && section(&second, 3).contains("lexer.rs"));
    assert!(section(&second, 4).contains("modified since"));
    assert!(section(&second, 7).contains("Test with quotes"));
    let mut third = Talk::new(3, coding_tools());
    third.user(second.split_once("<summary>").unwrap().1);
    third.user("And the writer.");
    let third = summarize(&mut third, ASK);
    for message in [
        FIRST,
        SECOND,
        "Now the lexer, too: it has the same flaw.",
        "And the writer.",
    ] {
        assert_eq!(
            section(&third, 6).matches(message).count(),
            1,
            "{message}\n---\n{third}"
        );
    }
}

#[test]
fn a_summary_keeps_to_the_room_it_has() {
    let mut folder = Folder::new();
    let mut talk = Talk::new(4, coding_tools());
    let mut agent = model();
    for prompt in 0..30 {
        talk.user(&format!(
            "Fix part {prompt} of the store, {}",
            "and mind every caller of it, ".repeat(prompt * 2)
        ));
        for _ in 0..30 {
            let draft = talk.send(&mut agent);
            if calls(&draft).is_empty() {
                break;
            }
            talk.answer(|name, input| folder.run(name, input));
        }
    }
    talk.user(ASK);
    for tokens in [200, 1_000, 4_000, 20_000] {
        talk.request.max_tokens = Some(tokens);
        let draft = crate::model_talk::reply(&mut model(), &talk.request, 1);
        let all = words(&draft);
        assert!(
            all.len() <= tokens as usize * 4 + 600,
            "{} bytes for {tokens} tokens",
            all.len()
        );
        assert!(all.ends_with("</summary>"));
        let whole = (0..30)
            .filter(|prompt| {
                all.contains(
                    &format!(
                        "Fix part {prompt} of the store, {}",
                        "and mind every caller of it, ".repeat(prompt * 2)
                    )
                    .trim_end()
                    .to_owned(),
                )
            })
            .count();
        assert!(whole > 0 || tokens < 1_000, "{whole} at {tokens}");
        assert!(tokens < 20_000 || whole == 30, "{whole} messages are whole");
    }
}

#[test]
fn tool_results_and_the_request_itself_may_share_a_message() {
    let mut talk = session();
    talk.request
        .messages
        .last_mut()
        .unwrap()
        .content
        .push(text(ASK));
    let draft = talk.send(&mut model());
    assert!(words(&draft).contains("test result: ok. 3 passed") && words(&draft).contains(SECOND));
}

#[test]
fn whoever_compacts_without_a_prompt_gets_one_too() {
    let mut talk = session();
    talk.request
        .messages
        .push(message(ApiRole::User, vec![text("One last thing.")]));
    let summary = summary_of(&talk.request.messages, 9_000);
    assert!(
        summary.contains(FIRST) && summary.contains("One last thing.") && summary.len() < 9_000
    );
}
