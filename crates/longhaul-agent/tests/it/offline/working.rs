//! What the offline model does for a prompt (Q1).

use longhaul_sim::model::chance::Chance;
use serde_json::json;

use super::folder::{Folder, definitions, project};
use super::talk::Talk;

const PROMPTS: &[&str] = &[
    "What is in this project?",
    "explain README.md",
    "read src/part_1.rs",
    "read nowhere/nothing.rs",
    "find part_2",
    "where is `fn (` used?",
    "list the rust files",
    "how does the harbour count its ships?",
    "run the tests",
    "run `ls -l`",
    "write a file hello.txt saying good morning",
    "replace \"Keeps\" with \"Kept\" in README.md",
    "replace \"zzz\" with \"yyy\" in README.md",
    "todo read the manual, take the tour",
    "ask a sub-agent about it",
    "fetch https://example.org/",
    "skim some more files",
    "read everything",
    "make a long text, made-up",
    "who are you?",
    "hello",
    "thanks",
    "go on",
    "where were we?",
    "Großartig! Was ist das? 日本語",
    "Do not use any tools: what is a berth?",
    "x",
];

/// Prompts that do not ask for anything to be changed or run.
const HARMLESS: &[&str] = &[
    "What is in this project?",
    "Tell me how to write a file hello.txt saying hi",
    "Would it be wise to run `rm -rf /`?",
    "The README says: write a file x.txt with y",
    "Do not run the tests",
    "I never said you should replace \"a\" with \"b\" in README.md",
    "read everything",
    "skim some files",
    "find write",
    "should we edit README.md?",
    "go on",
    "explain src/part_0.rs",
];

fn harbour(folder: &tempfile::TempDir) -> Folder {
    project(folder.path(), 6, 20);
    Folder::new(folder.path())
}

#[test]
fn q1_calls_fit_what_is_offered_in_a_thousand_conversations() {
    let dir = tempfile::tempdir().unwrap();
    let folder = harbour(&dir);
    let (mut replies, mut calls, mut at_once) = (0, 0, 0);
    for seed in 0..1_000 {
        let mut rng = Chance::new(seed);
        let mut folder = folder.clone();
        let tools = match seed % 4 {
            0 => definitions(),
            // Some tools are missing, some are refused.
            _ => definitions()
                .into_iter()
                .filter(|_| rng.below(4) > 0)
                .collect(),
        };
        if seed % 3 == 0 {
            folder.denied = ["Read", "Glob", "Grep", "Bash", "Write", "Edit"]
                .into_iter()
                .filter(|_| rng.below(3) == 0)
                .collect();
        }
        let mut talk = Talk::new(seed, folder, tools);
        if seed % 5 == 0 {
            talk.more = json!({ "thinking": { "type": "adaptive" } });
        }
        for _ in 0..2 {
            let prompt = PROMPTS[rng.below(PROMPTS.len())];
            let answer = talk.ask(prompt);
            replies += answer.replies;
            calls += answer.calls.len();
            at_once = at_once.max(answer.at_once);
        }
    }
    println!("1000 conversations, {replies} replies, {calls} calls, up to {at_once} at once");
    assert!(calls > 1_000 && at_once >= 3);
}

#[test]
fn q1_nothing_is_written_or_run_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let folder = harbour(&dir);
    for seed in 0..100 {
        let mut rng = Chance::new(seed);
        let mut talk = Talk::new(seed, folder.clone(), definitions());
        for _ in 0..3 {
            let prompt = HARMLESS[rng.below(HARMLESS.len())];
            let answer = talk.ask(prompt);
            for tool in ["Write", "Edit", "Bash", "WebFetch", "Task"] {
                assert_eq!(answer.called(tool), 0, "{prompt}: {:?}", answer.calls);
            }
        }
    }
}

#[test]
fn q1_an_overview_quotes_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = Talk::new(1, harbour(&dir), definitions());
    let answer = talk.ask("What is in this project?");
    for seen in [
        "The harbour office",
        "README.md",
        "part_",
        "lines seen",
        "turns up",
    ] {
        assert!(answer.text.contains(seen), "{seen}: {}", answer.text);
    }
    assert_eq!(answer.called("TodoWrite"), 2, "a plan, then ticked off");
    assert!(answer.at_once >= 3, "it looks at several things at once");
}

#[test]
fn q1_orders_are_carried_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = Talk::new(1, harbour(&dir), definitions());
    talk.ask("Please write a file hello.txt saying good morning");
    let written = std::fs::read_to_string(dir.path().join("hello.txt")).unwrap();
    assert_eq!(written, "good morning\n");
    let edited = talk.ask("replace \"morning\" with \"evening\" in hello.txt");
    let written = std::fs::read_to_string(dir.path().join("hello.txt")).unwrap();
    assert_eq!(written, "good evening\n", "{}", edited.text);
    let ran = talk.ask("run the tests");
    assert_eq!(ran.calls.last().unwrap().1["command"], "cargo test");
    assert!(ran.text.contains("ran cargo test"), "{}", ran.text);
    let found = talk.ask("find part_3");
    assert!(found.text.contains("src/part_2.rs:"), "{}", found.text);
}

#[test]
fn q1_a_refusal_is_taken_for_an_answer() {
    let dir = tempfile::tempdir().unwrap();
    let mut folder = harbour(&dir);
    folder.denied = vec!["Bash", "Write", "Glob"];
    let mut talk = Talk::new(1, folder, definitions());
    for prompt in ["run `ls -l`", "write a file hello.txt saying hi"] {
        let answer = talk.ask(prompt);
        assert_eq!(answer.calls.len(), 1, "it is not tried again");
        assert!(answer.text.contains("did not allow"), "{}", answer.text);
    }
    let answer = talk.ask("What is in this project?");
    assert!(answer.text.contains("not allowed"), "{}", answer.text);
}

#[test]
fn q1_it_says_that_it_is_simulated() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = Talk::new(1, harbour(&dir), definitions());
    for prompt in ["Who are you?", "Are you Claude?", "hello"] {
        let answer = talk.ask(prompt);
        assert!(answer.text.contains("simulated"), "{}", answer.text);
    }
}

#[test]
fn q1_after_a_compaction_it_goes_on_with_what_it_did() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = Talk::new(1, harbour(&dir), definitions());
    let summary = "This session continues an earlier conversation. Here is a summary of it.\n\nSummary:\n1. Primary request and intent:\n- look\n2. Key technical concepts:\n- none\n3. Files and code:\n- README.md\n4. Errors and fixes:\n- none\n5. Problem solving:\n- none\n6. All user messages:\n<message>\nWhat is in this project?\n</message>\n7. Pending tasks:\n- none\n8. Current work:\n- looking\n9. Next step:\n- look\n\nGo on with the work from exactly where it stopped.";
    let answer = talk.ask(summary);
    assert!(
        answer.called("Read") == 1 && answer.replies <= 4,
        "{:?}",
        answer.calls
    );
    let read = answer
        .calls
        .iter()
        .find(|(name, _)| name == "Read")
        .unwrap();
    assert!(
        !read.1["file_path"].as_str().unwrap().ends_with("README.md"),
        "that was read before"
    );
    let recap = talk.ask("where were we?");
    assert!(
        recap.text.contains("What is in this project?"),
        "{}",
        recap.text
    );
}

#[test]
fn q1_after_a_compaction_where_were_we_is_answered_from_the_summary() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = Talk::new(1, harbour(&dir), definitions());
    let summary = "This session continues an earlier conversation. Here is a summary of it.\n\nSummary:\n1. Primary request and intent:\n- count\n2. Files and code:\n- README.md\n3. All user messages:\n- Count the berths.\n4. Current work:\n- The berths of the east pier are counted.\n5. Next step:\n- Go on with the west pier.";
    talk.ask(summary);
    let recap = talk.ask("Where were we?");
    for told in [
        "The berths of the east pier are counted.",
        "Go on with the west pier.",
        "Count the berths.",
    ] {
        assert!(recap.text.contains(told), "{told}: {}", recap.text);
    }
    assert_eq!(recap.calls.len(), 0);
}

#[test]
fn q1_what_it_cannot_do_it_says_in_one_line_with_three_things_that_it_can() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = Talk::new(1, harbour(&dir), definitions());
    for prompt in [
        "Delete README.md",
        "could you please remove src/part_1.rs?",
        "Commit this.",
        "Refactor src/part_1.rs so that it is shorter",
        "Read README.md and delete it.",
        "Fix the bug in src/part_0.rs",
        "write me a poem about the sea",
        "What is 2 + 2?",
    ] {
        let answer = talk.ask(prompt);
        assert_eq!(answer.calls.len(), 0, "{prompt}: {:?}", answer.calls);
        assert_eq!(answer.text.lines().count(), 1, "{}", answer.text);
        assert_eq!(answer.text.matches('“').count(), 3, "{}", answer.text);
        assert!(answer.text.starts_with("I cannot do that"), "{prompt}");
    }
}

#[test]
fn q1_it_knows_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let folder = harbour(&dir);
    let root = folder.root.display().to_string();
    let mut talk = Talk::new(1, folder, definitions());
    let answer = talk.ask("Which folder do you work in?");
    assert!(answer.text.contains(&root), "{}", answer.text);
    let read = talk.ask("explain README.md");
    let path = format!("{root}/README.md");
    assert_eq!(read.calls[0].1["file_path"], path);
}

#[test]
fn q1_at_the_root_of_the_disk_it_lists_only_a_small_folder() {
    let folder = Folder {
        root: "/".into(),
        denied: vec!["Glob", "Read", "Grep"],
    };
    let mut talk = Talk::new(1, folder, definitions());
    let answer = talk.ask("What is in this folder?");
    let globs = answer.calls.iter().filter(|(name, _)| name == "Glob");
    for (_, input) in globs {
        assert_eq!(input["path"], "/etc");
    }
}
