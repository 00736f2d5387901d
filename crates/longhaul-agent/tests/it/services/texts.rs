//! What the model reads from these tools: each wording has a snapshot, and none grows unnoticed.

use std::sync::Arc;

use longhaul_agent::event::ApprovalMode;
use longhaul_agent::tool::Tool;
use longhaul_agent::tools::plan::{PlanState, REMINDER};
use longhaul_agent::tools::skill::{Skill, SkillInvoker, Skills};
use longhaul_agent::tools::todo::TodoList;
use longhaul_agent::tools::web_fetch::WebFetchOptions;
use longhaul_agent::tools::{ToolServices, services};
use longhaul_core::prompt::UserPresence;

use super::{OneMode, place};

fn all() -> Vec<Arc<dyn Tool>> {
    let folder = std::path::Path::new("/srv/skills/release");
    let skill = Skill {
        name: "release".to_owned(),
        description: "Makes a release: version, notes, tag.".to_owned(),
        folder: folder.to_owned(),
        file: folder.join("SKILL.md"),
        real: folder.join("SKILL.md"),
        by: SkillInvoker::Model,
        allowed_tools: Vec::new(),
    };
    let place = place(std::path::Path::new("/srv/work"));
    services(&ToolServices {
        todos: Arc::new(TodoList::default()),
        plan: Arc::new(PlanState::new(&place, OneMode::of(ApprovalMode::Default))),
        skills: Arc::new(Skills::new(vec![skill])),
        web: WebFetchOptions::default(),
        archive: Some((
            place.session_folder().join("archive.db"),
            place.transcript.clone(),
        )),
        servers: None,
        presence: UserPresence::Attended,
    })
}

#[test]
fn q1_definitions_of_the_tools() {
    let names: Vec<String> = all().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(
        names,
        [
            "WebFetch",
            "TodoWrite",
            "EnterPlanMode",
            "ExitPlanMode",
            "AskUserQuestion",
            "Skill",
            "recall"
        ]
    );
    for tool in all() {
        let definition = tool.definition();
        assert_eq!(definition, tool.definition());
        assert_eq!(
            definition["input_schema"]["type"],
            "object",
            "{}",
            tool.name()
        );
        assert!(
            definition.to_string().len() < 2_200,
            "{} is paid for in every request",
            tool.name()
        );
        // The definition of recall is checked where it is written.
        if tool.name() != "recall" {
            let text = serde_json::to_string_pretty(&definition).unwrap();
            insta::assert_snapshot!(tool.name(), text);
        }
    }
}

#[test]
fn r2_the_reminder_of_plan_mode() {
    assert!(REMINDER.len() < 800);
    insta::assert_snapshot!("reminder", REMINDER);
}

/// Every other text that the model may read, with its placeholders unfilled.
#[test]
fn q1_sentences_of_the_tools() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tools");
    for tool in [
        "ask_user",
        "mcp",
        "plan",
        "skill",
        "todo",
        "web_fetch",
        "web_search",
    ] {
        let fragments = std::fs::read_dir(folder.join(tool).join("fragments")).unwrap();
        let mut files: Vec<_> = fragments.map(|file| file.unwrap().path()).collect();
        files.sort();
        let mut all = String::new();
        for file in files
            .iter()
            .filter(|file| file.extension().is_some_and(|end| end == "md"))
        {
            let text = std::fs::read_to_string(file).unwrap();
            assert!(text.len() < 1_400, "{}", file.display());
            all.push_str(&format!(
                "== {}\n{text}",
                file.file_name().unwrap().display()
            ));
        }
        insta::assert_snapshot!(format!("sentences_{tool}"), all);
    }
}
