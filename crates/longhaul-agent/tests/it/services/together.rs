//! The tools of a session together: their state goes back into the window after a compaction.

use std::sync::Arc;
use std::time::Duration;

use longhaul_agent::event::ApprovalMode;
use longhaul_agent::tool::Toolbox;
use longhaul_agent::tools::mcp::{McpLimits, McpNews, McpServers};
use longhaul_agent::tools::plan::PlanState;
use longhaul_agent::tools::skill::{Skill, SkillInvoker, Skills};
use longhaul_agent::tools::todo::TodoList;
use longhaul_agent::tools::web_fetch::WebFetchOptions;
use longhaul_agent::tools::{ToolServices, services};
use longhaul_core::prompt::UserPresence;
use longhaul_core::rehydrate::restore;
use longhaul_core::window::WindowScale;
use serde_json::json;

use super::mcp_server::config;
use super::{OneMode, place, run};

#[tokio::test]
async fn r2_r3_r5_what_calls_left_goes_back_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let place = place(folder.path());
    let file = folder.path().join("SKILL.md");
    std::fs::write(&file, "Make a tag.").unwrap();
    let skill = Skill {
        name: "release".to_owned(),
        description: "Makes a release.".to_owned(),
        folder: folder.path().to_owned(),
        real: file.clone(),
        file,
        by: SkillInvoker::Model,
        allowed_tools: Vec::new(),
    };
    let limits = McpLimits {
        start: Duration::from_secs(120),
        ..McpLimits::default()
    };
    let configs = vec![config("demo", "good")];
    let news = McpNews {
        notice: Arc::new(|_| {}),
        changed: Arc::new(|| {}),
    };
    let servers = McpServers::start(configs, &place, limits, &news);
    servers.settled().await;
    let with = ToolServices {
        todos: Arc::new(TodoList::default()),
        plan: Arc::new(PlanState::new(&place, OneMode::of(ApprovalMode::Plan))),
        skills: Arc::new(Skills::new(vec![skill])),
        web: WebFetchOptions::default(),
        archive: None,
        servers: Some(Arc::new(servers)),
        presence: UserPresence::Attended,
    };
    let mut tools = Toolbox::default();
    for tool in services(&with) {
        tools.add(tool);
    }
    tools.join(with.servers.iter().flat_map(|servers| servers.tools()));
    assert_eq!(tools.names().count(), 7 + 16);
    for (name, input) in [
        (
            "TodoWrite",
            json!({"todos": [{"content": "a", "status": "pending", "activeForm": "b"}]}),
        ),
        ("Skill", json!({"skill": "release"})),
        ("ExitPlanMode", json!({"plan": "Do it."})),
        ("EnterPlanMode", json!({})),
    ] {
        let output = run(&**tools.find(name).unwrap(), input).await;
        assert!(!output.is_error, "{name}: {}", output.content);
    }
    let restored = restore(&with.gathered(), WindowScale::of_window(200_000));
    let kinds: Vec<&str> = (restored.attachments.iter())
        .map(|attachment| attachment.value["type"].as_str().unwrap())
        .collect();
    let wanted = [
        "todo",
        "plan_file_reference",
        "plan_mode",
        "invoked_skills",
        "mcp_instructions_delta",
    ];
    assert_eq!(kinds, wanted);
    assert!(restored.notes.is_empty());
}
