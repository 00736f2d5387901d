//! Rules that are written into the project's settings.

use longhaul_agent::permission::RememberError;

use super::*;

fn after(before: Option<&str>, rules: &[&str]) -> (Result<(), RememberError>, Option<String>) {
    let world = World::new();
    let file = world.cwd.join(".claude/settings.local.json");
    if let Some(before) = before {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, before).unwrap();
    }
    let permissions = world.allowing(&[]);
    let mut result = Ok(());
    for rule in rules {
        result = permissions.allow_in_project(rule);
    }
    (result, std::fs::read_to_string(file).ok())
}

#[test]
fn g2_a_rule_makes_the_file_that_is_not_there() {
    let world = World::new();
    let permissions = world.allowing(&[]);
    permissions.allow_in_project("Bash(make:*)").unwrap();
    assert_eq!(runs(&permissions, "make x"), PermissionDecision::Allow);
    let text = std::fs::read_to_string(world.cwd.join(".claude/settings.local.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        value,
        json!({ "permissions": { "allow": ["Bash(make:*)"] } })
    );
    assert!(
        std::fs::read_dir(world.cwd.join(".claude"))
            .unwrap()
            .count()
            == 1,
        "no draft is left"
    );
}

#[test]
fn g2_everything_else_in_the_file_keeps_its_bytes() {
    let before = "{\n    \"zebra\":   1.50,\n    \"permissions\": {\n        \"deny\": [ \"Read(./.env)\" ],\n        \"allow\": [\n            \"Bash(ls)\"\n        ]\n    },\n    \"alpha\": {\"x\":[1,2 ],\"e\":\"\\u00e9\"}\n}\n";
    let (result, text) = after(Some(before), &["Bash(make:*)"]);
    result.unwrap();
    let expected = before.replace(
        "\"Bash(ls)\"\n",
        "\"Bash(ls)\",\n            \"Bash(make:*)\"\n",
    );
    assert_eq!(text.unwrap(), expected);
}

#[test]
fn g2_places_for_rules_are_made_where_they_are_missing() {
    for before in [
        "{}",
        "{\"a\": 1}",
        "{\"permissions\": {}}",
        "{\"permissions\": {\"allow\": []}}",
        "",
        "\u{feff}{\"a\": 1}\n",
    ] {
        let (result, text) = after(
            Some(before),
            &["Bash(a:*)", "Bash(\"b\\n\":*)", "Bash(a:*)"],
        );
        result.unwrap();
        let text = text.unwrap();
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        assert_eq!(
            value["permissions"]["allow"],
            json!(["Bash(a:*)", "Bash(\"b\\n\":*)"]),
            "{before:?}"
        );
        assert_eq!(text.starts_with('\u{feff}'), before.starts_with('\u{feff}'));
    }
}

#[test]
fn g2_a_damaged_file_is_reported_and_left_as_it_is() {
    let before = "{\n  \"permissions\": {\n    \"deny\": [\"Bash(rm:*)\",]\n  }\n}";
    let (result, text) = after(Some(before), &["Bash(make:*)"]);
    let message = result.unwrap_err().to_string();
    assert!(message.contains("settings.local.json:3:"), "{message}");
    assert_eq!(text.as_deref(), Some(before));
    for before in [
        "[]",
        "{\"permissions\": 1}",
        "{\"permissions\": {\"allow\": \"x\"}}",
    ] {
        let (result, text) = after(Some(before), &["Bash(make:*)"]);
        assert!(
            matches!(result, Err(RememberError::Shape { .. })),
            "{before}: {result:?}"
        );
        assert_eq!(text.as_deref(), Some(before));
    }
}

#[test]
fn g2_a_rule_that_was_not_written_does_not_hold() {
    let world = World::new();
    std::fs::create_dir_all(world.cwd.join(".claude")).unwrap();
    std::fs::write(world.cwd.join(".claude/settings.local.json"), "{").unwrap();
    let permissions = world.allowing(&[]);
    permissions.allow_in_project("Bash(make:*)").unwrap_err();
    assert_eq!(short(&runs(&permissions, "make")), "ask");
}

#[cfg(unix)]
#[test]
fn a_rule_is_never_written_through_a_link_and_a_file_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = World::new();
    let elsewhere = world.home.join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let target = elsewhere.join("settings.local.json");
    std::fs::write(&target, "{}").unwrap();
    let folder = world.cwd.join(".claude");
    let file = folder.join("settings.local.json");
    let refused = || {
        let refused = world.allowing(&[]).allow_in_project("Bash(make:*)");
        assert!(
            matches!(refused, Err(RememberError::Link { .. })),
            "{refused:?}"
        );
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "{}");
    };
    symlink(&elsewhere, &folder).unwrap();
    refused();
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    symlink(&target, &file).unwrap();
    refused();
    std::fs::remove_file(&file).unwrap();
    symlink("nowhere.json", &file).unwrap();
    refused();
    assert!(!folder.join("nowhere.json").exists());
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "{}").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let permissions = world.allowing(&[]);
    permissions.allow_in_project("Bash(make:*)").unwrap();
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}
