//! The agent over a folder in memory, for hundreds of turns.

use std::collections::BTreeSet;

use longhaul_sim::model::agent::{AgentBehavior, SimAgent, Verbosity};
use longhaul_sim::model::{SimModel, SimModelOptions};
use serde_json::Value;

use crate::model_folder::{Folder, coding_tools};
use crate::model_talk::{Talk, calls, failed, thinks, words};

const PROMPTS: &[&str] = &[
    "Please fix the off-by-one in the parser steps",
    "Add a remark to src/store/part_2.rs about the count",
    "Refactor the queue so that the steps are easier to read",
    "Run the tests and look into whatever fails",
    "Update the README with how to use the cache",
];

/// Drives an agent until it has made this many replies; returns what it did, reply by reply.
fn drive(
    seed: u64,
    replies: usize,
    mut each: impl FnMut(&Talk, &[(&str, &Value)], &Folder),
) -> (Talk, Folder, Vec<String>) {
    let mut folder = Folder::new();
    let mut talk = Talk::new(seed, coding_tools());
    let mut model = SimModel::new(SimModelOptions {
        seed,
        ..SimModelOptions::default()
    });
    let mut log = Vec::new();
    let mut prompts = PROMPTS.iter().cycle();
    talk.user(prompts.next().unwrap());
    for _ in 0..replies {
        let draft = talk.send(&mut model);
        let made = calls(&draft);
        each(&talk, &made, &folder);
        log.push(format!("{draft:?}"));
        if made.is_empty() {
            talk.user(prompts.next().unwrap())
        } else {
            talk.answer(|name, input| folder.run(name, input))
        }
    }
    (talk, folder, log)
}

#[test]
fn works_for_three_hundred_turns_with_valid_calls_on_real_paths() {
    let tools = coding_tools();
    let schemas: Vec<(String, jsonschema::Validator)> = tools
        .iter()
        .map(|tool| {
            (
                tool.name.clone(),
                jsonschema::validator_for(&tool.fields["input_schema"]).unwrap(),
            )
        })
        .collect();
    let (mut paths, mut there, mut edits, mut widest, mut ended) = (0, 0, 0, 0, 0);
    let mut used = BTreeSet::new();
    let mut sizes = Vec::new();
    let (talk, folder, _) = drive(7, 300, |talk, made, folder| {
        sizes.push(
            talk.request
                .messages
                .iter()
                .flat_map(|message| &message.content)
                .map(|block| block.raw.len())
                .sum::<usize>(),
        );
        widest = widest.max(made.len());
        ended += usize::from(made.is_empty());
        for (name, input) in made {
            used.insert((*name).to_owned());
            let (_, schema) = schemas
                .iter()
                .find(|(tool, _)| tool == name)
                .unwrap_or_else(|| panic!("{name} was not offered"));
            assert!(schema.is_valid(input), "{name}: {input}");
            edits += usize::from(*name == "Edit");
            if let ("Read" | "Edit", Some(path)) =
                (*name, input.get("file_path").and_then(Value::as_str))
            {
                paths += 1;
                there += usize::from(folder.files.contains_key(path));
            }
        }
    });
    assert!(
        paths > 60 && there * 100 >= paths * 95,
        "{there} of {paths} paths exist"
    );
    assert!(
        edits > 15 && folder.edits * 100 >= edits * 95,
        "{} of {edits} edits applied",
        folder.edits
    );
    assert!((4..=12).contains(&widest), "at most {widest} calls at once");
    assert!((8..60).contains(&ended), "{ended} turns ended");
    assert!(folder.test_runs > 3, "{} test runs", folder.test_runs);
    for name in ["Read", "Grep", "Glob", "Edit", "Bash", "TodoWrite"] {
        assert!(used.contains(name), "{name} is used, not only {used:?}");
    }
    assert!(
        sizes.windows(2).all(|pair| pair[0] < pair[1]),
        "the context grows"
    );
    assert!(*sizes.last().unwrap() > 150_000, "{:?}", sizes.last());
    assert_eq!(talk.made, 300);
}

#[test]
fn reads_a_file_before_it_edits_it() {
    let mut read = BTreeSet::new();
    drive(11, 200, |_, made, _| {
        for (name, input) in made {
            let path = input
                .get("file_path")
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned();
            match *name {
                "Read" | "Write" => {
                    read.insert(path);
                }
                "Edit" => assert!(read.contains(&path), "{path} was not read"),
                _ => {}
            }
        }
    });
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let (_, _, one) = drive(3, 60, |_, _, _| {});
    let (_, _, again) = drive(3, 60, |_, _, _| {});
    let (_, _, other) = drive(4, 60, |_, _, _| {});
    assert_eq!(one, again);
    let same = one
        .iter()
        .zip(&other)
        .filter(|(one, other)| one == other)
        .count();
    assert!(same < 6, "{same} of 60 replies are the same");
}

#[test]
fn ends_each_prompt_with_an_account_of_it() {
    let mut folder = Folder::new();
    let mut talk = Talk::new(5, coding_tools());
    let mut agent = SimAgent::new(
        5,
        AgentBehavior {
            turns: 5..=9,
            ..AgentBehavior::default()
        },
    );
    talk.user("Please fix the bug in src/queue/part_1.rs");
    let mut replies = 1;
    let last = loop {
        let draft = talk.send(&mut agent);
        if calls(&draft).is_empty() {
            break draft;
        }
        talk.answer(|name, input| folder.run(name, input));
        replies += 1;
    };
    assert!((5..=11).contains(&replies), "{replies}");
    assert!(words(&last).contains("queue"), "{}", words(&last));
}

#[test]
fn an_error_is_answered_with_something_else() {
    let mut reactions = 0;
    for seed in 0..12 {
        let mut folder = Folder::new();
        let mut talk = Talk::new(seed, coding_tools());
        let mut agent = SimAgent::new(seed, AgentBehavior::default());
        talk.user("Please fix the steps of the cache");
        let mut failures: Vec<String> = Vec::new();
        for turn in 0..24 {
            let draft = talk.send(&mut agent);
            let made = calls(&draft);
            if made.is_empty() {
                break;
            }
            for (name, input) in &made {
                let call = format!("{name} {input}");
                assert!(!failures.contains(&call), "{call} failed just before");
            }
            reactions += usize::from(!failures.is_empty());
            failures.clear();
            // Every third reply meets errors: the file changed meanwhile, the path is gone, the command fails.
            talk.answer(|name, input| match (turn % 3, name) {
                (2, "Edit" | "Read" | "Bash" | "Grep") => {
                    failures.push(format!("{name} {input}"));
                    failed("String to replace not found in file.")
                }
                _ => folder.run(name, input),
            });
        }
    }
    assert!(reactions > 20, "{reactions}");
}

#[test]
fn a_tool_the_host_refuses_is_left_alone_for_the_prompt() {
    for seed in 0..8 {
        let mut folder = Folder::new();
        let mut talk = Talk::new(seed, coding_tools());
        let mut agent = SimAgent::new(seed, AgentBehavior::default());
        talk.user("Please fix the steps of the report");
        let mut refused = BTreeSet::new();
        loop {
            let draft = talk.send(&mut agent);
            let made = calls(&draft);
            if made.is_empty() {
                break;
            }
            assert!(
                made.iter().all(|(name, _)| !refused.contains(*name)),
                "{made:?} after {refused:?}"
            );
            talk.answer(|name, input| match name {
                "Bash" | "Edit" | "Task" => {
                    refused.insert(name.to_owned());
                    failed("Permission to use this tool was denied by the user.")
                }
                _ => folder.run(name, input),
            });
        }
    }
}

#[test]
fn gives_up_with_words_when_nothing_works() {
    let mut talk = Talk::new(1, coding_tools());
    let mut agent = SimAgent::new(1, AgentBehavior::default());
    talk.user("Please fix the steps of the report");
    let mut rounds = 0;
    let last = loop {
        let draft = talk.send(&mut agent);
        if calls(&draft).is_empty() {
            break draft;
        }
        rounds += 1;
        talk.answer(|_, _| failed("The disk is on fire."));
    };
    assert_eq!(rounds, 3);
    assert!(words(&last).contains("The disk is on fire."));
}

#[test]
fn the_pace_is_kept() {
    let run = |pace: AgentBehavior| {
        let mut folder = Folder::new();
        let mut talk = Talk::new(2, coding_tools());
        let mut agent = SimAgent::new(2, pace);
        let (mut said, mut thought, mut several, mut replies) = (0, 0, 0, 0);
        for prompt in PROMPTS {
            talk.user(prompt);
            loop {
                let draft = talk.send(&mut agent);
                replies += 1;
                said += words(&draft).len();
                thought += usize::from(thinks(&draft));
                several += usize::from(calls(&draft).len() > 1);
                if calls(&draft).is_empty() {
                    break;
                }
                talk.answer(|name, input| folder.run(name, input));
            }
        }
        (said / replies, thought, several, replies)
    };
    let quiet = run(AgentBehavior {
        turns: 3..=4,
        verbosity: Verbosity::Terse,
        parallel: 0.0,
        thinking: 0.0,
        ..AgentBehavior::default()
    });
    let loud = run(AgentBehavior {
        turns: 20..=30,
        verbosity: Verbosity::Wordy,
        parallel: 0.9,
        thinking: 1.0,
        ..AgentBehavior::default()
    });
    assert!(
        quiet.0 < loud.0 && quiet.3 < 30 && loud.3 > 90,
        "{quiet:?} {loud:?}"
    );
    assert_eq!((quiet.1, quiet.2), (0, 0));
    assert!(loud.1 == loud.3 && loud.2 > 20, "{loud:?}");
}

#[test]
fn what_is_long_past_costs_nothing_and_changes_nothing() {
    let (talk, _, _) = drive(9, 300, |_, _, _| {});
    let mut agent = SimAgent::new(9, AgentBehavior::default());
    let mut request = talk.request.clone();
    let whole = crate::model_talk::reply(&mut agent, &request, 1);
    for message in request.messages.iter_mut().take(300) {
        for block in &mut message.content {
            block.fields.remove("content");
            block.fields.remove("input");
        }
    }
    assert_eq!(whole, crate::model_talk::reply(&mut agent, &request, 1));
}

#[test]
fn a_schema_that_demands_more_than_there_is_memory_for_gets_a_short_answer() {
    use longhaul_sim::model::{ModelTurn, ReplyModel, SimModel};
    let body = serde_json::json!({
        "model": "claude-opus-4-5", "max_tokens": 500,
        "messages": [{ "role": "user", "content": "Use the tool." }],
        "tools": [{ "name": "hoard", "input_schema": { "type": "object", "required": ["all", "long"], "properties": {
            "long": { "type": "string", "minLength": 9_000_000_000_000_000_000_u64 },
            "all": { "type": "array", "minItems": 9_000_000_000_000_000_000_u64, "items": {
                "type": "array", "minItems": 9_000_000_000_000_000_000_u64, "items": { "type": "integer" } } } } } }],
    });
    let body = serde_json::to_vec(&body).unwrap();
    let endpoint = longhaul_sim::request::Endpoint::Messages;
    let request = longhaul_sim::request::MessagesRequest::read(
        &body,
        endpoint,
        &Default::default(),
        "2023-06-01",
    )
    .unwrap();
    for seed in 0..20 {
        let turn = ModelTurn {
            request: &request,
            prompt_tokens: 100,
            tokenizer: longhaul_sim::tokens::TokenizerFamily::Old,
            index: 0,
            seed,
        };
        let draft = SimModel::new(Default::default()).reply(&turn);
        assert!(format!("{draft:?}").len() < 5_000_000);
    }
}
