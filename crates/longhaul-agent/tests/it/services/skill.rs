//! Skills.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use longhaul::Clock;
use longhaul_agent::tool::Tool;
use longhaul_agent::tools::skill::{Skill, SkillInvokeError, SkillInvoker, SkillTool, Skills};
use longhaul_core::rehydrate::{RestoreInput, restore};
use longhaul_core::window::WindowScale;
use proptest::prelude::*;
use serde_json::json;

use super::{run, text};

/// A clock that advances by a second each time it is read.
#[derive(Default)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.fetch_add(1, Ordering::Relaxed)).unwrap()
    }
}

fn skill(folder: &Path, name: &str, body: &str) -> Skill {
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("SKILL.md");
    std::fs::write(&file, format!("---\nname: {name}\n---\n{body}\n")).unwrap();
    named(&folder, name, &format!("Does {name}."))
}

fn named(folder: &Path, name: &str, description: &str) -> Skill {
    Skill {
        name: name.to_owned(),
        description: description.to_owned(),
        folder: folder.to_owned(),
        file: folder.join("SKILL.md"),
        real: folder.join("SKILL.md"),
        by: SkillInvoker::Model,
        allowed_tools: Vec::new(),
    }
}

fn skills(found: Vec<Skill>) -> Arc<Skills> {
    Arc::new(Skills::with_clock(found, Arc::new(Ticking::default())))
}

#[tokio::test]
async fn q1_a_skill_hands_over_its_instructions_and_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let plain = skill(folder.path(), "release", "Make a tag.");
    let filled = skill(folder.path(), "review", "Look at $ARGUMENTS closely.");
    let tool = SkillTool::new(skills(vec![plain.clone(), filled]));
    let output = run(&tool, json!({"skill": "release"})).await;
    assert!(!output.is_error);
    let said = text(&output);
    assert!(said.contains(&plain.folder.display().to_string()), "{said}");
    assert!(said.ends_with("Make a tag."), "no front matter: {said}");
    let output = run(&tool, json!({"skill": "/review", "args": "src/{body}"})).await;
    assert!(text(&output).contains("Look at src/{body} closely."));
    let output = run(&tool, json!({"skill": "Release", "args": "1.2"})).await;
    assert!(text(&output).contains("to work on: 1.2"));
}

#[tokio::test]
async fn q1_an_unknown_skill_names_those_near_it() {
    let folder = tempfile::tempdir().unwrap();
    let found = ["release-notes", "review", "deploy"].map(|name| skill(folder.path(), name, "."));
    let tool = SkillTool::new(skills(found.to_vec()));
    let output = run(&tool, json!({"skill": "release-note"})).await;
    assert!(output.is_error);
    assert!(text(&output).contains("release-notes"), "{}", text(&output));
    assert!(!text(&output).contains("deploy"));
    let output = run(&tool, json!({"skill": "xyz"})).await;
    assert!(text(&output).contains("deploy, release-notes, review"));
    for input in [
        json!({}),
        json!(null),
        json!({"skill": 1}),
        json!({"skill": "/"}),
    ] {
        assert!(run(&tool, input).await.is_error);
    }
}

#[tokio::test]
async fn q1_a_skill_that_is_gone_or_the_users_own_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let gone = named(&folder.path().join("gone"), "gone", "Was there.");
    let own = Skill {
        by: SkillInvoker::User,
        allowed_tools: Vec::new(),
        ..skill(folder.path(), "own", "For the user.")
    };
    let skills = skills(vec![gone, own]);
    assert!(!skills.listing(1_000).contains("own"));
    let invoked = skills.invoke("gone", "", SkillInvoker::Model).await;
    assert!(matches!(invoked, Err(SkillInvokeError::Unreadable(_))));
    let invoked = skills.invoke("own", "", SkillInvoker::Model).await;
    assert!(matches!(invoked, Err(SkillInvokeError::ForTheUser(_))));
    assert!(skills.gathered().is_none(), "nothing was invoked yet");
    assert!(skills.invoke("own", "", SkillInvoker::User).await.is_ok());
}

#[tokio::test]
async fn r3_invoked_skills_go_back_the_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let found = ["a", "b", "c"].map(|name| skill(folder.path(), name, "Do it."));
    let skills = skills(found.to_vec());
    for name in ["b", "a", "b"] {
        skills.invoke(name, "", SkillInvoker::Model).await.unwrap();
    }
    let gathered = RestoreInput {
        skills: skills.gathered(),
        ..RestoreInput::default()
    };
    let restored = restore(&gathered, WindowScale::of_window(200_000));
    let attachment = &restored.attachments[0].value;
    assert_eq!(attachment["type"], "invoked_skills");
    let names: Vec<_> = attachment["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| &skill["name"])
        .collect();
    assert_eq!(names, ["b", "a"]);
}

#[test]
fn r3_descriptions_are_shortened_before_names_are_left_out() {
    let found: Vec<_> = (0..50)
        .map(|number| {
            named(
                Path::new("/s"),
                &format!("skill-{number:02}"),
                &"words ".repeat(number),
            )
        })
        .collect();
    let skills = skills(found);
    let whole = skills.listing(100_000);
    assert!(!whole.contains('…') && whole.lines().count() == 50);
    let short = skills.listing(2_000);
    assert!(
        short.len() <= 2_100 && short.lines().count() == 50,
        "{}",
        short.len()
    );
    assert!(short.contains("- skill-03: words words words\n"), "{short}");
    let names = skills.listing(700);
    assert!(names.starts_with("- skill-00\n") && names.lines().count() == 50);
    let some = skills.listing(300);
    assert!(some.lines().last().unwrap().contains("more"), "{some}");
    let tool = SkillTool::new(skills);
    assert_eq!(tool.definition(), tool.definition());
}

proptest! {
    #[test]
    fn r3_the_list_of_skills_keeps_its_bound(
        found in prop::collection::vec(("[a-z\n…]{1,80}", "\\PC{0,300}"), 0..60),
        bound in 100usize..5_000,
    ) {
        let found = found.iter().map(|(name, description)| named(Path::new("/s"), name, description));
        let listing = Skills::new(found.collect()).listing(bound);
        prop_assert!(listing.chars().count() <= bound);
    }
}
