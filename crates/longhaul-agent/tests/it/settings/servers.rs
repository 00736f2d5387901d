//! Servers of the Model Context Protocol.

use longhaul_agent::settings::ServerOrigin;

use super::*;

const MCP: &str = "work/project/.mcp.json";

#[test]
fn q1_a_projects_servers_wait_for_the_users_word() {
    let servers = r#"{"mcpServers": {"one": {"command": "x"}, "two": {"command": "y"}, "three": {"command": "z"}}}"#;
    let approved = |world: World| -> Vec<(String, bool)> {
        let servers = world.with(MCP, servers).load().mcp_servers;
        servers
            .into_iter()
            .map(|server| (server.name, server.approved))
            .collect()
    };
    let is = |name: &str, approved| (name.to_owned(), approved);
    assert_eq!(
        approved(World::new()),
        [is("one", false), is("three", false), is("two", false)]
    );
    let some = r#"{"enabledMcpjsonServers": ["one"], "disabledMcpjsonServers": ["three"]}"#;
    assert_eq!(
        approved(World::new().with(LOCAL, some)),
        [is("one", true), is("two", false)]
    );
    let all = r#"{"enableAllProjectMcpServers": true}"#;
    assert_eq!(
        approved(World::new().with(USER, all)),
        [is("one", true), is("three", true), is("two", true)]
    );
    let itself = World::new().with(PROJECT, all).with(MCP, servers).load();
    assert!(itself.mcp_servers.iter().all(|server| !server.approved));
    assert!(
        itself.notices[0].contains("enableAllProjectMcpServers"),
        "{:?}",
        itself.notices
    );
}

#[test]
fn q1_variables_in_servers_are_filled_in() {
    let mut world = World::new()
        .with(PROJECT, r#"{"env": {"FROM_SETTINGS": "s"}}"#)
        .with(MCP, r#"{"mcpServers": {"a": {"command": "${BIN}/run", "args": ["--x=${X:-d}", "${EMPTY:-e}", "$PLAIN", "${open"], "env": {"K": "${FROM_SETTINGS}"}, "cwd": "${BIN}"}, "b": {"command": "${MISSING}"}}}"#);
    world.variables = BTreeMap::from([("BIN", "/opt"), ("EMPTY", "")]);
    let project = world.load();
    let server = &project.mcp_servers[0];
    assert_eq!(server.command, "/opt/run");
    assert_eq!(server.args, ["--x=d", "e", "$PLAIN", "${open"]);
    assert_eq!(server.env["K"], "s");
    assert_eq!(server.cwd.as_deref(), Some(Path::new("/opt")));
    assert_eq!(project.mcp_servers.len(), 1);
    assert!(
        project.notices[0].contains("mcpServers.b") && project.notices[0].contains("MISSING"),
        "{:?}",
        project.notices
    );
}

#[test]
fn q1_servers_that_are_not_processes_are_told() {
    let world = World::new().with(
        MCP,
        r#"{"mcpServers": {"web": {"type": "http", "url": "https://x"}, "old": {"type": "sse", "url": "https://x"}, "bare": {"url": "https://x"}, "bad__name": {"command": "x"}, "none": {}, "list": [], "args": {"command": "x", "args": "y"}}}"#,
    );
    let project = world.load();
    assert_eq!(project.mcp_servers, []);
    assert_eq!(project.notices.len(), 7, "{:?}", project.notices);
    assert!(
        project
            .notices
            .iter()
            .all(|notice| notice.contains(".mcp.json:1: mcpServers.")),
        "{:?}",
        project.notices
    );
}

#[test]
fn q1_the_users_servers_need_no_word() {
    let world = World::new();
    let root = world.root.to_str().unwrap().to_owned();
    let text = serde_json::json!({
        "mcpServers": { "a": { "command": "user" }, "b": { "command": "user" } },
        "projects": { root: { "mcpServers": { "b": { "command": "local" } }, "enabledMcpjsonServers": ["c"] } },
    });
    let world = world
        .with(".claude.json", &text.to_string())
        .with(MCP, r#"{"mcpServers": {"a": {"command": "project"}, "b": {"command": "project"}, "c": {"command": "project"}}}"#);
    let found: Vec<_> = world
        .load()
        .mcp_servers
        .into_iter()
        .map(|server| (server.command, server.origin, server.approved))
        .collect();
    let expected = [
        ("project".to_owned(), ServerOrigin::Project, false),
        ("local".to_owned(), ServerOrigin::Local, true),
        ("project".to_owned(), ServerOrigin::Project, true),
    ];
    assert_eq!(found, expected);
}
