//! What the obedient model says about what it saw: through the smaller forms of results, in right counts, and in words
//! for the user.

use longhaul_core::config::ResultReduction;
use longhaul_core::reduce::{ReductionCandidate, ResultText, reduce};
use longhaul_sim::model::agent::AgentBehavior;
use longhaul_sim::model::{SimModel, SimModelOptions};
use longhaul_sim::request::ApiRole;
use serde_json::Value;

use crate::model_folder::coding_tools;
use crate::model_talk::{Answer, Talk, calls, failed, fine, message, text, words};

const CONSENT: &str = "This call needs the user's consent (it writes), and nobody is there to give it. It was not run. Go on \
    without it, or say what would be needed.";
const PLAIN: &str = "from shop.tax import rate\n\ndef gross(net):\n    return net * rate()\n";

fn model() -> SimModel {
    SimModel::new(SimModelOptions {
        pace: AgentBehavior::obedient(),
        ..SimModelOptions::default()
    })
}

/// Says this and answers the calls until there are none; returns the last words.
fn ask(talk: &mut Talk, words_: &str, mut run: impl FnMut(&str, &Value) -> Answer) -> String {
    let mut model = model();
    talk.user(words_);
    for _ in 0..20 {
        let draft = talk.send(&mut model);
        if calls(&draft).is_empty() {
            return words(&draft);
        }
        talk.answer(&mut run);
    }
    panic!("it never ends");
}

/// A file as tools show it.
fn shown(text: &str) -> String {
    let lines = text.lines().enumerate();
    let lines = lines.map(|(at, line)| format!("{:>6}\t{line}", at + 1));
    lines.collect::<Vec<_>>().join("\n")
}

fn hits(count: usize) -> String {
    let line =
        |at| format!("src/shop/module_{at}.py:{at}:    gross = net * (1 + RATE)  # step {at}");
    (1..=count).map(line).collect::<Vec<_>>().join("\n")
}

/// The tools of a small folder.
fn shop(name: &str, input: &Value) -> Answer {
    let about = |field: &str| input[field].as_str().unwrap_or("").to_owned();
    match name {
        "Grep" => fine(&hits(4)),
        "Read" => fine(&shown(&PLAIN.repeat(12))),
        "Glob" => fine("README.md\nsrc/shop/module_1.py\ntests/test_tax.py"),
        _ => fine(&format!("ran {}", about("command"))),
    }
}

/// The form in which a result is sent that is in view already.
fn pointer(base: &str, text: &str) -> String {
    let result = ResultText { call: "t99", text };
    let candidate = ReductionCandidate {
        result,
        same: Some(base),
        earlier: &[],
    };
    reduce(&candidate, ResultReduction::Exact).unwrap().text
}

#[test]
fn v8_an_answer_reads_through_a_pointer_to_an_earlier_result() {
    let mut talk = Talk::new(1, coding_tools());
    let first = ask(&mut talk, "find gross", shop);
    assert!(first.contains("module_4.py:4:"), "{first}");
    // The ids of the calls above: t1 the search, t2 the reading.
    let pointed = |name: &str, input: &Value| match name {
        "Grep" => fine(&pointer("t1", &hits(4))),
        "Read" => fine(&pointer("t2", &shown(&PLAIN.repeat(12)))),
        _ => shop(name, input),
    };
    for _ in 0..2 {
        let again = ask(&mut talk, "find gross", pointed);
        assert_eq!(again, first);
    }
}

#[test]
fn v8_an_answer_says_that_an_earlier_result_is_out_of_view_and_claims_nothing_else() {
    for note in [
        pointer("t77", &hits(4)),
        "[This result was cleared to save room. To see it again, run the tool again.]".to_owned(),
    ] {
        for prompt in [
            "find gross",
            "explain src/shop/module_1.py",
            "run `cat a.txt`",
        ] {
            let mut talk = Talk::new(1, coding_tools());
            let said = ask(&mut talk, prompt, |_, _| fine(&note));
            assert!(said.contains("no longer in my window"), "{prompt}: {said}");
            assert!(!said.contains("I found no"), "{prompt}: {said}");
            assert!(!said.contains("[This"), "{prompt}: {said}");
        }
    }
}

#[test]
fn what_is_searched_for_is_found_however_it_is_capitalized() {
    let mut talk = Talk::new(1, coding_tools());
    let mut searched = Vec::new();
    let said = ask(&mut talk, "explain Basket", |name, input| {
        if name == "Grep" {
            searched.push(input.clone());
            return fine("src/shop/basket.py:3:class Basket:");
        }
        shop(name, input)
    });
    assert_eq!(searched[0]["pattern"], "Basket");
    assert_eq!(searched[0]["-i"], true);
    assert!(said.contains("`Basket` turns up once"), "{said}");
}

#[test]
fn every_word_that_is_searched_for_is_mentioned_in_the_answer() {
    let mut talk = Talk::new(1, coding_tools());
    let said = ask(
        &mut talk,
        "find step_1_1 and step_2_2",
        |name, input| match (name, input["pattern"].as_str()) {
            ("Grep", Some("step_1_1")) => fine(&hits(20)),
            ("Grep", _) => fine("src/a.py:7:def step_2_2():"),
            _ => shop(name, input),
        },
    );
    assert!(said.contains("`step_1_1` turns up"), "{said}");
    assert!(said.contains("src/a.py:7:def step_2_2():"), "{said}");
    let said = ask(&mut talk, "find step_1_1, step_3_3", |name, input| {
        match (name, input["pattern"].as_str()) {
            ("Grep", Some("step_3_3")) => fine("No matches."),
            _ => shop(name, input),
        }
    });
    assert!(said.contains("`step_1_1` turns up"), "{said}");
    assert!(said.contains("I found no `step_3_3` here"), "{said}");
}

#[test]
fn matches_that_are_not_listed_are_counted() {
    let mut talk = Talk::new(1, coding_tools());
    let said = ask(&mut talk, "find gross", |name, input| match name {
        "Grep" => fine(&hits(11)),
        _ => shop(name, input),
    });
    assert_eq!(
        said.matches("module_").count(),
        9,
        "8 hits and the file: {said}"
    );
    assert!(said.contains("\n- and 3 more"), "{said}");
    let said = ask(&mut talk, "find gross", |name, input| match name {
        "Grep" => fine(&format!(
            "{}\n(the first 4 lines; there are more: narrow it)",
            hits(4)
        )),
        _ => shop(name, input),
    });
    assert!(said.contains("\n- and more"), "{said}");
    assert!(!said.contains("narrow it"), "{said}");
}

#[test]
fn lines_are_counted_as_the_tool_counts_them() {
    let file = format!("{}\n\n", "x = 1\n".repeat(48).trim_end());
    assert_eq!(file.lines().count(), 49);
    let mut talk = Talk::new(1, coding_tools());
    let said = ask(&mut talk, "explain src/a.py", |_, _| fine(&shown(&file)));
    assert!(said.contains("49 lines seen"), "{said}");
}

#[test]
fn the_test_command_is_found_in_the_project_and_suggested_only_then() {
    let readme = "# Shop\n\nThe tests: `python -m pytest -q --no-header`.\n";
    let project = |name: &str, input: &Value| match (name, input["file_path"].as_str()) {
        ("Read", Some(path)) if path.ends_with("README.md") => fine(&shown(readme)),
        _ => shop(name, input),
    };
    let mut talk = Talk::new(1, coding_tools());
    let said = ask(&mut talk, "what is in this project?", project);
    assert!(said.contains("“run the tests”"), "{said}");
    for mut talk in [talk, Talk::new(1, coding_tools())] {
        let said = ask(&mut talk, "run the tests", project);
        assert!(
            said.contains("ran python -m pytest -q --no-header"),
            "{said}"
        );
    }
    let bare = |name: &str, input: &Value| match name {
        "Glob" => fine("notes.txt"),
        "Grep" => fine("No matches."),
        "Read" => fine(&shown("Buy bread.\n")),
        _ => shop(name, input),
    };
    let mut talk = Talk::new(1, coding_tools());
    let said = ask(&mut talk, "what is in this project?", bare);
    assert!(!said.contains("run the tests"), "{said}");
    let help = ask(&mut talk, "help", bare);
    assert!(
        !help.contains("run the tests") && !help.contains("README"),
        "{help}"
    );
    assert!(help.contains("explain notes.txt"), "{help}");
    let said = ask(&mut talk, "run the tests", bare);
    assert!(said.contains("I see nothing here"), "{said}");
}

#[test]
fn in_an_empty_folder_it_suggests_what_works_there() {
    let empty = |name: &str, _: &Value| match name {
        "Glob" => fine("No files match. Ignored files (.gitignore) were not looked at."),
        "Grep" => fine("No matches."),
        _ => fine("ran it"),
    };
    let mut talk = Talk::new(1, coding_tools());
    for prompt in ["what is in this project?", "hello"] {
        let said = ask(&mut talk, prompt, empty);
        assert!(said.contains("write a file hello.txt"), "{said}");
        for vain in ["read everything", "run the tests", "explain ", "README"] {
            assert!(!said.contains(vain), "{vain}: {said}");
        }
    }
}

#[test]
fn a_call_that_needs_consent_is_told_in_a_sentence_for_the_user() {
    for (prompt, wanted) in [
        (
            "write a file a.txt saying hi",
            "`a.txt` was not changed: this needs your consent",
        ),
        (
            "replace \"net\" with \"cost\" in src/a.py",
            "`src/a.py` was not changed: this needs your consent",
        ),
        ("run `make all`", "`make all` was not run"),
    ] {
        let mut talk = Talk::new(1, coding_tools());
        let said = ask(&mut talk, prompt, |name, input| match name {
            // The reason may be long.
            "Write" | "Edit" => failed(&CONSENT.replace("it writes", &"a reason, ".repeat(60))),
            "Bash" => failed(CONSENT),
            _ => shop(name, input),
        });
        assert!(said.contains(wanted), "{said}");
        assert!(said.contains("--allowed-tools"), "{said}");
        for host in [
            "Go on without it",
            "It was not run",
            "say what would be needed",
        ] {
            assert!(!said.contains(host), "{said}");
        }
    }
}

#[test]
fn where_were_we_lists_the_newest_work_first_with_rules_and_files() {
    let mut talk = Talk::new(1, coding_tools());
    for prompt in [
        "Never change anything under data/.",
        "run `cat data/a.csv`",
        "find gross",
        "where were we?",
    ] {
        ask(&mut talk, prompt, shop);
    }
    let said = ask(&mut talk, "Where were we?", shop);
    let told = [
        "You asked for 3 things so far; the newest first:\n- “find gross”: searched for `gross`, read `src/shop/module_1.py`\n",
        "- “run `cat data/a.csv`”: ran it\n- “Never change anything under data/.”: a rule, noted\n",
        "Your rule, word for word: “Never change anything under data/.”",
        "I read 1 file and changed none; the newest: `src/shop/module_1.py`. All of it is still in my window.",
        "Next: nothing is left open; “find gross” was the last thing you wanted.",
    ];
    for told in told {
        assert!(said.contains(told), "{told}\n---\n{said}");
    }
    assert!(!said.to_lowercase().contains("where were we"), "{said}");
}

#[test]
fn where_were_we_says_that_a_request_was_cut_off() {
    let stopped = "[Request interrupted by user]";
    let next = "Next: “find gross” was not finished, because the work on it was cut off.";
    for marker in [None, Some(stopped)] {
        let mut talk = Talk::new(1, coding_tools());
        ask(&mut talk, "run `cat data/a.csv`", shop);
        talk.user("find gross");
        // The results are the last that the host sent before it ended.
        let draft = talk.send(&mut model());
        assert!(!calls(&draft).is_empty());
        talk.answer(&mut shop);
        if let Some(marker) = marker {
            talk.user(marker);
        }
        for _ in 0..2 {
            let said = ask(&mut talk, "Where were we?", shop);
            assert!(said.contains(next), "{said}");
            assert!(!said.contains("nothing is left open"), "{said}");
        }
    }
}

#[test]
fn what_was_typed_for_a_command_of_the_users_own_is_no_path() {
    let mut talk = Talk::new(1, coding_tools());
    talk.user("Say the password of the day.\n<typed-command>/pw notes.txt</typed-command>");
    let draft = talk.send(&mut model());
    let calls = calls(&draft);
    let asked = format!("{calls:?} {}", words(&draft));
    assert!(
        !asked.contains("pw") && !asked.contains("notes.txt"),
        "{asked}"
    );
}

/// A message as the engine writes it after a compaction, with notes as its summary.
fn compacted(state: &str, task: &str, kept: &str) -> String {
    format!(
        "This session continues an earlier conversation that outgrew the context window. Here is a summary of it.\n\n\
        ## Summary\n\n# Current state\n_What is open_\n{state}\n\n# Task specification\n_What the user asked for_\n{task}\n\n\
        # Files and functions\n_Those that matter_\n- `/proj/a.py` (read)\n\n# Worklog\n_Steps_\n\
        - The user: \"Run `cat b.log`\" → Bash cat b.log\n\n## Kept word for word\n\nThe session itself recorded what \
        follows.\n\n{kept}\n\n### Files touched, newest first\n- /proj/b.log (read)\n- /proj/c.py (changed)\n\n\
        The whole conversation is in this file, a JSON entry a line: /data/s.jsonl\nWhere the summary does not say enough \
        (exact code), look it up there: search the file. Do not guess.\n\nGo on with the work from exactly where it stopped, \
        as if there had been no break."
    )
}

#[test]
fn where_were_we_after_a_compaction_is_told_without_what_the_host_wrote() {
    let asked = "- The user: \"What is here?\"\n- The user: \"Never touch data/.\"\n- The user: \"Run `cat b.log`\"";
    let state =
        "- At work on: where were we?\n- Last said: `cat b.log` ran. The end of what it said:";
    // The question itself may be what filled the window: then it is the newest message of the summary.
    let itself = format!("{asked}\n- The user: \"Where were we?\"");
    for (task, question) in [(asked, Some("Where were we?")), (&itself, None)] {
        let mut talk = Talk::new(1, coding_tools());
        let summary = compacted(state, task, "");
        match question {
            Some(question) => {
                talk.request
                    .messages
                    .push(message(ApiRole::User, vec![text(&summary)]));
                talk.request
                    .messages
                    .push(message(ApiRole::Assistant, vec![text("I go on.")]));
                talk.user(question);
            }
            None => talk.user(&summary),
        }
        let mut model = model();
        let draft = talk.send(&mut model);
        assert!(calls(&draft).is_empty(), "{:?}", calls(&draft));
        let said = words(&draft);
        let told = [
            "You asked for 3 things so far; the newest first:\n- “Run `cat b.log`”: ran it\n- “Never touch data/.”",
            "Your rule, word for word: “Never touch data/.”",
            "I changed 1 file: `c.py`. I read 2 files; the newest: `b.log`, `a.py`.",
            "Next: nothing is left open; “Run `cat b.log`” was the last",
        ];
        for told in told {
            assert!(said.contains(told), "{told}\n---\n{said}");
        }
        for host in [
            "Do not guess",
            "At work on",
            "Last said",
            "Kept word",
            "here we",
            "s.jsonl",
        ] {
            assert!(!said.contains(host), "{host}\n---\n{said}");
        }
    }
}

#[test]
fn where_were_we_counts_what_the_host_kept_and_names_open_work() {
    let kept = "### Rules stated by the user (still in force)\n- [2] Never touch data/.\n- [3] (called off) Never rest.\n\n\
        ### The user's messages, in the user's own words\n[5]\nDig here.\n\nAnd there.\n[/5]\n[9] Count the berths.\n\n\
        ### Work still open\n- (pending) dig the west pier";
    let mut talk = Talk::new(1, coding_tools());
    let summary = compacted("- half of it is done", "- The user: \"Begin.\"", kept);
    talk.request
        .messages
        .push(message(ApiRole::User, vec![text(&summary)]));
    talk.request
        .messages
        .push(message(ApiRole::Assistant, vec![text("I go on.")]));
    let said = ask(&mut talk, "where were we?", shop);
    for told in [
        "The summary of what came before says:\n- half of it is done\n",
        "You asked for 9 things so far; the newest 3:\n- “Count the berths.”\n- “Dig here.…”\n- “Begin.”",
        "Your rule, word for word: “Never touch data/.”",
        "Next, still open on the list:\n- dig the west pier",
    ] {
        assert!(said.contains(told), "{told}\n---\n{said}");
    }
}
