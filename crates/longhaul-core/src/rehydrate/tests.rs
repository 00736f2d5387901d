//! Tests the restored context, source by source.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::*;
use crate::window::WindowScale;

const START: Timestamp = Timestamp::constant(1_800_000_000, 0);
const FULL: u64 = 200_000;

fn at(seconds: i64) -> Timestamp {
    START + SignedDuration::from_secs(seconds)
}

fn file(name: &str, tokens: usize) -> RestoreSourceResult<FileText> {
    let line = "let answer = 42; // a line of code that is forty bytes\n";
    let text = line.repeat(tokens * 4 / line.len());
    RestoreSourceResult::Found(FileText {
        path: name.into(),
        text,
    })
}

fn kinds(restored: &RestoredContext) -> Vec<&str> {
    restored
        .attachments
        .iter()
        .filter_map(|attachment| attachment.value["type"].as_str())
        .collect()
}

#[test]
fn r1_the_five_files_read_last_are_wanted_and_exclusions_come_first() {
    let mut files = ReadFiles::default();
    for n in 0..8 {
        files.read(format!("/p/{n}.rs"), at(n));
    }
    files.read("/p/CLAUDE.md", at(20));
    files.read("/p/plan.md", at(21));
    files.read("/p/kept.rs", at(22));
    files.read("/p/0.rs", at(23));
    let exclusions = RestoreExclusions {
        plan: Some("/p/plan.md".into()),
        kept: vec!["/p/kept.rs".into()],
        ..RestoreExclusions::default()
    };
    let wanted: Vec<_> = files
        .wanted(&exclusions)
        .into_iter()
        .map(|file| file.path)
        .collect();
    let expected = ["/p/0.rs", "/p/7.rs", "/p/6.rs", "/p/5.rs", "/p/4.rs"];
    assert_eq!(wanted, expected.map(PathBuf::from));
}

#[test]
fn r1_a_long_file_is_cut_at_a_line_with_a_note() {
    let gathered = RestoreInput {
        files: vec![file("/p/long.rs", 9_000)],
        ..RestoreInput::default()
    };
    let restored = restore(&gathered, WindowScale::of_window(FULL));
    let content = restored.attachments[0].value["content"]["file"]["content"]
        .as_str()
        .unwrap();
    assert!(content.contains("bytes\n[cut here: "), "at a line");
    assert!(content.len() <= 5_000 * 4 + 100);
    assert_eq!(restored.notes, ["/p/long.rs was restored in part"]);
    assert_eq!(restored.files, [PathBuf::from("/p/long.rs")]);
}

#[test]
fn r1_what_does_not_fit_is_skipped_and_the_next_is_tried() {
    // In a small window the shares shrink, too. Here, files just under their own share fill the total.
    let files = (0..12).map(|n| file(&format!("/p/{n}.rs"), if n == 10 { 4_900 } else { 4_600 }));
    let gathered = RestoreInput {
        files: files.chain([file("/p/small.rs", 100)]).collect(),
        ..RestoreInput::default()
    };
    let restored = restore(&gathered, WindowScale::of_window(FULL));
    assert!(restored.files.contains(&"/p/small.rs".into()));
    assert!(
        restored.notes.iter().any(|note| note.contains("no room")),
        "{:?}",
        restored.notes
    );
    let all: u64 = restored
        .attachments
        .iter()
        .map(RestoredAttachment::tokens)
        .sum();
    assert!(all <= 50_000, "{all}");
}

#[test]
fn r1_a_file_that_cannot_be_read_is_reported_and_not_replaced() {
    let gathered = RestoreInput {
        files: vec![
            RestoreSourceResult::Failed {
                what: "/p/gone.rs".into(),
                why: "it does not exist".into(),
            },
            file("/p/there.rs", 10),
        ],
        ..RestoreInput::default()
    };
    let restored = restore(&gathered, WindowScale::of_window(FULL));
    assert_eq!(kinds(&restored), ["file"]);
    assert_eq!(
        restored.notes,
        ["/p/gone.rs was not restored: it does not exist"]
    );
}

fn skill(name: &str, tokens: usize, seconds: i64) -> InvokedSkill {
    InvokedSkill {
        name: name.into(),
        path: format!("/s/{name}/SKILL.md").into(),
        content: "do this and that\n".repeat(tokens * 4 / 17),
        at: at(seconds),
    }
}

fn everything() -> RestoreInput {
    RestoreInput {
        files: vec![file("/p/a.rs", 10)],
        todos: Some(RestoreSourceResult::Found(vec![
            TodoListItem {
                content: "write tests".into(),
                status: "pending".into(),
                active_form: None,
            },
            TodoListItem {
                content: "read code".into(),
                status: "completed".into(),
                active_form: None,
            },
        ])),
        plan: Some(RestoreSourceResult::Found(PlanFile {
            path: "/plans/p.md".into(),
            text: "step one".into(),
        })),
        plan_mode: Some("plan first".into()),
        skills: Some(RestoreSourceResult::Found(vec![
            skill("old", 10, 1),
            skill("new", 10, 2),
        ])),
        agents: Some(RestoreSourceResult::Found(vec![BackgroundAgent {
            id: "a1".into(),
            description: "look for the bug".into(),
            state: AgentState::Running,
            summary: None,
        }])),
        called_off: CancellationWords::default(),
        announcements: vec![json!({"type": "mcp_instructions_delta"})],
    }
}

#[test]
fn r2_todos_and_plan_are_attached_whole() {
    let restored = restore(&everything(), WindowScale::of_window(FULL));
    let todo = &restored.attachments[1].value;
    assert_eq!(todo["itemCount"], 2);
    assert_eq!(todo["content"][0]["content"], "write tests");
    assert_eq!(todo["context"], "post-compact");
    assert_eq!(restored.open_todos, 1);
    let plan = &restored.attachments[2].value;
    assert_eq!(plan["planFilePath"], "/plans/p.md");
    assert_eq!(plan["planContent"], "step one");
}

#[test]
fn r3_skills_come_newest_first_and_within_their_budget() {
    let skills = (0..7).map(|n| skill(&format!("s{n}"), 6_000, n)).collect();
    let gathered = RestoreInput {
        skills: Some(RestoreSourceResult::Found(skills)),
        ..RestoreInput::default()
    };
    let restored = restore(&gathered, WindowScale::of_window(FULL));
    let kept = restored.attachments[0].value["skills"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(kept.len(), 4, "each is cut to its share, with a note");
    assert_eq!(kept[0]["name"], "s6");
    assert!(
        kept[0]["content"]
            .as_str()
            .unwrap()
            .ends_with("[cut here; read /s/s6/SKILL.md for the rest]\n")
    );
    assert_eq!(restored.notes.len(), 3);
}

#[test]
fn r4_agents_that_run_are_told_again() {
    let restored = restore(&everything(), WindowScale::of_window(FULL));
    let status = &restored.attachments[5].value;
    assert_eq!(status["taskId"], "a1");
    assert_eq!(status["status"], "running");
}

#[test]
fn r6_the_order_is_fixed_and_a_failing_source_is_skipped() {
    let all = restore(&everything(), WindowScale::of_window(FULL));
    assert_eq!(
        kinds(&all),
        [
            "file",
            "todo",
            "plan_file_reference",
            "plan_mode",
            "invoked_skills",
            "task_status",
            "mcp_instructions_delta"
        ]
    );
    let failing = RestoreInput {
        skills: Some(RestoreSourceResult::Failed {
            what: "skills".into(),
            why: "the folder is gone".into(),
        }),
        ..everything()
    };
    let rest = restore(&failing, WindowScale::of_window(FULL));
    assert_eq!(rest.attachments.len(), all.attachments.len() - 1);
    assert_eq!(rest.notes, ["skills was not restored: the folder is gone"]);
}

#[test]
fn r7_after_a_compaction_only_what_was_restored_counts_as_read() {
    let mut files = ReadFiles::default();
    files.read("/p/a.rs", at(1));
    files.read("/p/b.rs", at(2));
    let fork = files.clone();
    files.compacted(&["/p/b.rs".into()], at(3));
    assert_eq!(files.wanted(&RestoreExclusions::default()).len(), 1);
    assert_eq!(fork.len(), 2, "a fork works on a clone");
}

#[test]
fn h7_budgets_of_restored_files_shrink_with_the_window() {
    let gathered = RestoreInput {
        files: vec![file("/p/a.rs", 2_000)],
        ..RestoreInput::default()
    };
    let restored = restore(&gathered, WindowScale::of_window(10_000));
    assert!(restored.attachments[0].tokens() < 700);
}
