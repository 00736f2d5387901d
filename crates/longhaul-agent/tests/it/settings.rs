//! The settings of a project and its user.

#![allow(clippy::unwrap_used)]

mod extras;
mod servers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longhaul_agent::event::ApprovalMode;
use longhaul_agent::permission::{PermissionDecision, Permissions};
use longhaul_agent::session_paths::SessionPaths;
use longhaul_agent::settings::ProjectSettings;
use longhaul_agent::tool::ToolAccess;
use longhaul_store::Env;
use serde_json::{Value, json};

/// A home, a repository in it, and a folder in that to work in.
struct World {
    _folder: tempfile::TempDir,
    home: PathBuf,
    root: PathBuf,
    cwd: PathBuf,
    variables: BTreeMap<&'static str, &'static str>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let root = home.join("work/project");
        let cwd = root.join("part");
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::create_dir_all(&cwd).unwrap();
        Self {
            _folder: folder,
            home,
            root,
            cwd,
            variables: BTreeMap::new(),
        }
    }

    /// Writes a file by its path in the home folder.
    fn with(self, path: &str, text: &str) -> Self {
        let path = self.home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn env(&self) -> Env {
        Env {
            user_home: Some(self.home.clone()),
            longhaul_home: Some(self.home.join("longhaul").into()),
            ..Env::default()
        }
    }

    fn load(&self) -> ProjectSettings {
        let variable = |name: &str| self.variables.get(name).map(|value| (*value).to_owned());
        ProjectSettings::load_with(&self.env(), &self.cwd, &variable)
    }

    fn permissions(&self, project: &ProjectSettings) -> Permissions {
        let place = SessionPaths {
            cwd: self.cwd.clone(),
            more: Vec::new(),
            transcript: self.home.join("longhaul/s.jsonl"),
        };
        project.permissions(&place)
    }
}

const USER: &str = ".claude/settings.json";
const OURS: &str = "longhaul/settings.json";
const PROJECT: &str = "work/project/.claude/settings.json";
const LOCAL: &str = "work/project/.claude/settings.local.json";

fn runs(permissions: &Permissions, command: &str) -> PermissionDecision {
    permissions.judge(
        "Bash",
        &Value::Null,
        &ToolAccess::Runs {
            command: command.to_owned(),
            folder: PathBuf::new(),
        },
    )
}

#[test]
fn g2_nothing_set_is_no_notice() {
    let project = World::new().load();
    assert_eq!(project.notices, Vec::<String>::new());
    assert_eq!(project.mode, ApprovalMode::Default);
    assert!(project.agents.is_empty() && project.wants.is_empty());
}

#[test]
fn a1_output_styles_are_found_by_name_and_one_that_is_not_there_is_said() {
    let chosen = |name: &str| {
        let world = World::new()
            .with(USER, &format!(r#"{{"outputStyle": "{name}"}}"#))
            .with(".claude/output-styles/haiku.md", "Answer in haiku.");
        let project = world.load();
        (
            project.output_style.map(|style| style.name),
            project.notices,
        )
    };
    assert_eq!(chosen("haiku"), (Some("haiku".to_owned()), Vec::new()));
    assert_eq!(chosen("explanatory").0.as_deref(), Some("Explanatory"));
    assert_eq!(chosen("default"), (None, Vec::new()));
    let (none, notices) = chosen("shouting");
    assert!(none.is_none());
    assert!(
        notices[0].contains("shouting") && notices[0].contains("Learning"),
        "{notices:?}"
    );
}

#[test]
fn g2_the_more_specific_file_wins_and_lists_are_joined() {
    let world = World::new()
        .with(USER, r#"{"model": "user", "language": "french", "env": {"A": "1", "B": "1"}, "permissions": {"allow": ["Bash(a:*)"], "deny": ["Bash(x:*)"]}}"#)
        .with(OURS, r#"{"model": "ours", "autoCompactEnabled": false, "permissions": {"allow": ["Bash(b:*)"]}}"#)
        .with(PROJECT, r#"{"model": "project", "outputStyle": "short", "env": {"B": "2"}, "permissions": {"allow": ["Bash(c:*)"], "defaultMode": "acceptEdits"}, "somethingNew": [1]}"#)
        .with("work/project/.claude/output-styles/brief.md", "---\nname: Short\n---\nA line at most.\n")
        .with(LOCAL, r#"{"model": "local", "permissions": {"allow": ["Bash(d:*)"], "additionalDirectories": ["../other", "~/docs"], "defaultMode": "plan"}}"#);
    let project = world.load();
    assert_eq!(project.notices, Vec::<String>::new());
    assert_eq!(project.root, world.root);
    assert_eq!(project.model.as_deref(), Some("local"));
    assert_eq!(project.auto_compact, Some(false));
    assert_eq!(project.language.as_deref(), Some("french"));
    assert_eq!(
        project.output_style.as_ref().unwrap().instructions,
        "A line at most."
    );
    assert_eq!(project.mode, ApprovalMode::Plan);
    assert_eq!(
        project.env,
        BTreeMap::from([
            ("A".to_owned(), "1".to_owned()),
            ("B".to_owned(), "2".to_owned())
        ])
    );
    assert_eq!(
        project.additional_directories,
        [world.cwd.join("../other"), world.home.join("docs")]
    );
    let permissions = world.permissions(&project);
    permissions.set_mode(ApprovalMode::Default);
    assert_eq!(
        runs(&permissions, "a && b && c && d"),
        PermissionDecision::Allow
    );
    assert!(matches!(
        runs(&permissions, "a && x"),
        PermissionDecision::Deny { .. }
    ));
    let beside = ToolAccess::Reads(world.root.join("other/file"));
    assert_eq!(
        permissions.judge("Read", &Value::Null, &beside),
        PermissionDecision::Allow
    );
}

#[test]
fn k1_hooks_are_read_from_the_same_files_least_specific_first() {
    let expected = [
        USER,
        OURS,
        PROJECT,
        "work/project/part/.claude/settings.json",
        LOCAL,
        "work/project/part/.claude/settings.local.json",
    ];
    let mut world = World::new();
    for file in expected {
        let hook = json!({"hooks": [{"type": "command", "command": file}]});
        let text = json!({"hooks": {"Stop": [hook]}}).to_string();
        world = world.with(file, &text);
    }
    let project = world.load();
    let hooks: Vec<String> = (project.hooks.listed().into_iter())
        .map(|hook| hook.command)
        .collect();
    assert_eq!(hooks, expected);
    assert_eq!((project.wants.len(), project.local_wants.len()), (2, 2));
}

#[test]
fn q1_a_damaged_file_is_told_loudly_and_waves_nothing_through() {
    let world = World::new()
        .with(
            USER,
            r#"{"permissions": {"defaultMode": "bypassPermissions", "deny": ["Bash(curl:*)"]}}"#,
        )
        .with(
            PROJECT,
            "{\n  \"permissions\": {\n    \"deny\": [\"Bash(rm:*)\",]\n  }\n}",
        );
    let project = world.load();
    assert_eq!(project.mode, ApprovalMode::Default);
    assert!(
        project.notices[0].contains("settings.json:3:27"),
        "{:?}",
        project.notices
    );
    assert!(
        project.notices[0].contains("NONE OF ITS RULES APPLY"),
        "{:?}",
        project.notices
    );
    assert!(
        project.notices[1].contains("the mode is `default`"),
        "{:?}",
        project.notices
    );
    let permissions = world.permissions(&project);
    assert!(
        matches!(
            runs(&permissions, "curl x"),
            PermissionDecision::Deny { .. }
        ),
        "the other file counts"
    );
}

#[test]
fn q1_wrong_types_are_named_with_their_line_and_the_rest_counts() {
    let world = World::new().with(
        PROJECT,
        "{\n \"model\": 5,\n \"env\": {\"A\": [], \"B\": 1},\n \"autoCompactEnabled\": \"no\",\n \"permissions\": {\n  \"allow\": [\"Bash(a:*)\"],\n  \"deny\": \"Bash(rm:*)\",\n  \"ask\": [\"Bash(x\"],\n  \"defaultMode\": \"acceptEdit\"\n }\n}",
    );
    let project = world.load();
    let notices = project.notices.join("\n");
    for part in [
        "settings.json:2: model should be a text",
        "settings.json:3: env.A should be a text",
        "settings.json:4: autoCompactEnabled should be true or false",
        "settings.json:7: permissions.deny should be a list",
        "settings.json:8: permissions.ask has a rule that DOES NOT APPLY, `Bash(x`",
        "settings.json:9: permissions.defaultMode should be default",
    ] {
        assert!(notices.contains(part), "{part}\n{notices}");
    }
    assert_eq!(project.env["B"], "1");
    assert_eq!(
        runs(&world.permissions(&project), "a"),
        PermissionDecision::Allow
    );
}

#[test]
fn q1_a_project_cannot_free_itself_of_all_rules() {
    let text = r#"{"permissions": {"defaultMode": "bypassPermissions"}}"#;
    let project = World::new().with(PROJECT, text).load();
    assert_eq!(project.mode, ApprovalMode::Default);
    assert!(
        project.notices[0].contains("bypassPermissions"),
        "{:?}",
        project.notices
    );
    let project = World::new().with(LOCAL, text).load();
    assert_eq!(project.mode, ApprovalMode::BypassPermissions);
}

#[test]
fn g2_files_that_are_no_files_do_not_hold_anybody_up() {
    let world = World::new()
        .with(USER, "\u{feff}{\"model\": \"m\"}")
        .with(OURS, "  \n");
    std::fs::create_dir_all(world.home.join(PROJECT)).unwrap();
    std::fs::create_dir_all(world.root.join(".claude")).unwrap();
    std::fs::write(world.home.join(LOCAL), b"{\"a\": \"\xff\"}").unwrap();
    let project = world.load();
    assert_eq!(project.model.as_deref(), Some("m"));
    assert_eq!(project.notices.len(), 2, "{:?}", project.notices);
}

#[test]
fn g2_a_rule_of_the_user_is_there_in_the_next_session() {
    let world = World::new().with(
        LOCAL,
        "{\"permissions\": {\"deny\": [\"Bash(x)\"]}, \"keep\": 1}\n",
    );
    let permissions = world.permissions(&world.load());
    permissions.allow_in_project("Bash(make:*)").unwrap();
    let project = world.load();
    assert_eq!(project.notices, Vec::<String>::new());
    assert_eq!(
        runs(&world.permissions(&project), "make all"),
        PermissionDecision::Allow
    );
}

#[test]
fn g2_home_folders_that_are_repositories_are_nobodys_project() {
    let mut world = World::new().with(
        USER,
        r#"{"permissions": {"defaultMode": "bypassPermissions"}}"#,
    );
    std::fs::create_dir_all(world.home.join(".git")).unwrap();
    world.cwd = world.home.join("loose");
    std::fs::create_dir_all(&world.cwd).unwrap();
    let project = world.load();
    assert_eq!(project.root, world.cwd);
    assert_eq!(project.mode, ApprovalMode::BypassPermissions);
}
