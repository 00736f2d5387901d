//! The table of tools.

use longhaul_core::json::ObjectReader;
use longhaul_gateway::manage::tools::{KnownTools, ToolKind};

#[test]
fn u1_the_table_of_tools_is_read_and_says_no_when_in_doubt() {
    let tools = KnownTools::builtin();
    assert!(tools.rows().len() > 100);
    let clearable = tools.clearable(&["mcp__docs__*".to_owned(), "todo*".to_owned()]);
    for name in [
        "Read",
        "Bash",
        "Edit",
        "read",
        "bash",
        "shell",
        "apply_patch",
        "read_file",
        "execute_command",
        "run_terminal_cmd",
        "developer__shell",
        "execute_bash",
        "str_replace_based_edit_tool",
        "computer",
        "web_fetch",
        "mcp__docs__search",
        "run_in_terminal",
    ] {
        assert!(clearable.contains(name), "{name}");
    }
    for name in [
        "TodoWrite",
        "todowrite",
        "todoread",
        "todo_write",
        "task",
        "Task",
        "TaskOutput",
        "AskUserQuestion",
        "question",
        "ask_followup_question",
        "NotebookEdit",
        "update_plan",
        "manage_todo_list",
        "memory",
        "save_memory",
        "search",
        "fetch",
        "open",
        "list",
        "browser",
        "anything",
        "mcp__db__query",
        "write_stdin",
        "todo__todo_write",
        "",
    ] {
        assert!(!clearable.contains(name), "{name}");
    }
}

#[test]
fn u1_every_row_has_what_its_kind_needs() {
    for row in KnownTools::builtin().rows() {
        let is_of_file = matches!(row.kind, ToolKind::Read | ToolKind::Write | ToolKind::Edit);
        assert!(
            is_of_file || row.part.is_empty() && row.text.is_none(),
            "{}",
            row.name
        );
        assert_eq!(row.old.is_some(), row.new.is_some(), "{}", row.name);
        assert!(!row.agent.is_empty() && !row.name.is_empty());
        let clearable = KnownTools::builtin().clearable(&[]);
        let name = row.name.trim_end_matches('*');
        assert_eq!(
            clearable.contains(name),
            row.kind != ToolKind::Keep,
            "{name}"
        );
    }
}

#[test]
fn r1_a_call_is_taken_for_the_agent_whose_path_it_names() {
    let tools = KnownTools::builtin();
    let agent = |name: &str, input: &str| {
        let row = tools.of_call(name, ObjectReader::new(input.as_bytes()));
        row.map(|row| row.agent.clone())
    };
    assert_eq!(
        agent("read_file", r#"{"target_file":"a"}"#).unwrap(),
        "cursor"
    );
    assert_eq!(agent("read_file", r#"{"path":"a"}"#).unwrap(), "cline");
    assert_eq!(agent("read_file", r#"{"other":"a"}"#), None);
    assert_eq!(
        agent("str_replace_editor", r#"{"command":"view","path":"a"}"#).unwrap(),
        "openhands"
    );
    assert_eq!(
        agent("str_replace_editor", r#"{"command":"dance","path":"a"}"#),
        None
    );
}
