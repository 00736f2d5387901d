//! Reading and writing files, fetching, servers, agents.

use super::*;

#[test]
fn q1_reading_is_free_inside_the_workspace_by_where_a_file_really_is() {
    let world = World::new();
    std::os::unix::fs::symlink(world.outside(), world.cwd.join("out")).unwrap();
    std::os::unix::fs::symlink(world.outside().join("missing"), world.cwd.join("dangling"))
        .unwrap();
    let permissions = world.allowing(&[]);
    for (path, expected) in [
        ("a.txt", "allow"),
        ("src/../a.txt", "allow"),
        ("not/there.txt", "allow"),
        (".", "allow"),
        ("..", "ask"),
        ("../elsewhere/x", "ask"),
        ("out/x", "ask"),
        ("out", "ask"),
        ("dangling", "ask"),
        ("src/../../elsewhere", "ask"),
        ("/etc/passwd", "ask"),
    ] {
        assert_eq!(short(&reads(&permissions, path)), expected, "{path}");
    }
    let asked = reads(&permissions, "/etc/passwd");
    assert_eq!(offered(&asked), Some("Read(//etc/passwd)"));
    permissions.allow_for_session("Read(//etc/passwd)").unwrap();
    assert_eq!(short(&reads(&permissions, "/etc/hostname")), "ask");
    assert_eq!(
        offered(&reads(&permissions, "/etc")),
        Some("Read(//etc/**)")
    );
    assert_eq!(
        reads(&permissions, "/etc/passwd"),
        PermissionDecision::Allow
    );
    permissions.add_folder(&world.outside());
    assert_eq!(reads(&permissions, "out/x"), PermissionDecision::Allow);
}

#[test]
fn q1_the_session_may_read_its_own_transcript() {
    let world = World::new();
    let permissions = world.allowing(&[]);
    assert_eq!(
        reads(&permissions, world.home.join("s.jsonl")),
        PermissionDecision::Allow
    );
    assert_eq!(
        reads(&permissions, world.home.join("s/tool-results/1.txt")),
        PermissionDecision::Allow
    );
    assert_eq!(
        short(&reads(&permissions, world.home.join("other.jsonl"))),
        "ask"
    );
}

#[test]
fn q1_writing_is_asked_for_and_accept_edits_stops_at_the_workspace() {
    let world = World::new();
    std::os::unix::fs::symlink(world.outside(), world.cwd.join("out")).unwrap();
    let asking = world.allowing(&[]);
    let inside = writes(&asking, "src/main.rs");
    assert_eq!(offered(&inside), Some("Edit(./src/main.rs)"));
    asking.allow_for_session("Edit(./src/main.rs)").unwrap();
    assert_eq!(short(&writes(&asking, "src/main.rs")), "allow");
    assert_eq!(short(&writes(&asking, "src/other.rs")), "ask");
    let outside = writes(&asking, "out/x");
    assert!(
        reason(&outside).contains("outside of the workspace"),
        "{outside:?}"
    );
    let accepting = world.permissions(ApprovalMode::AcceptEdits, &[], &[], &[]);
    for (path, expected) in [
        ("src/main.rs", "allow"),
        ("new/deep/file.rs", "allow"),
        ("out/x", "ask"),
        ("../elsewhere/x", "ask"),
        (".git/config", "ask"),
        (".git/hooks/pre-commit", "ask"),
        (".GIT/config", "ask"),
        ("src/../.git/config", "ask"),
        (".claude/settings.json", "ask"),
        (".claude/settings.local.json", "ask"),
        (".mcp.json", "ask"),
        (".env", "ask"),
        (".env.local", "ask"),
        (".bashrc", "ask"),
        ("sub/.zshrc", "ask"),
    ] {
        assert_eq!(short(&writes(&accepting, path)), expected, "{path}");
    }
    assert_eq!(short(&runs(&accepting, "echo x > src/new.rs")), "allow");
    assert_eq!(short(&runs(&accepting, "echo x > .git/config")), "ask");
    assert_eq!(short(&runs(&accepting, "echo x > ../elsewhere/x")), "ask");
}

#[test]
fn q1_delicate_files_need_a_rule_that_names_them() {
    let world = World::new();
    let broad = world.allowing(&["Edit", "Edit(./**)"]);
    assert_eq!(writes(&broad, "src/main.rs"), PermissionDecision::Allow);
    assert_eq!(short(&writes(&broad, ".env")), "ask");
    let named = world.allowing(&["Edit(./.env)"]);
    assert_eq!(writes(&named, ".env"), PermissionDecision::Allow);
}

#[test]
fn q1_paths_in_rules_mean_what_they_mean_in_gitignore_files() {
    let world = World::new();
    let home = world.home.clone();
    for (rule, path, matches) in [
        ("Edit(src/**)", world.cwd.join("src/a/b.rs"), true),
        ("Edit(src/**)", world.cwd.join("lib/src/b.rs"), false),
        ("Edit(src)", world.cwd.join("src/a.rs"), true),
        ("Edit(*.rs)", world.cwd.join("deep/down/a.rs"), true),
        ("Edit(./*.rs)", world.cwd.join("deep/a.rs"), false),
        ("Edit(./*.rs)", world.cwd.join("a.rs"), true),
        ("Edit(/docs/**)", world.cwd.join("docs/a.md"), true),
        ("Edit(/docs/*.md)", world.cwd.join("docs/sub/a.md"), false),
        ("Edit(**/gen/*.rs)", world.cwd.join("x/gen/a.rs"), true),
        ("Edit(~/notes/**)", home.join("notes/a.md"), true),
        ("Edit(~/notes/**)", world.cwd.join("notes/a.md"), false),
        ("Edit(../elsewhere/**)", world.outside().join("a"), true),
        ("Edit(./src/**)", world.cwd.join("src/../a.txt"), false),
        ("Edit(!x)", world.cwd.join("!x"), true),
        ("Edit(!x)", world.cwd.join("x"), false),
    ] {
        let allowing = world.allowing(&[rule]);
        assert_eq!(
            writes(&allowing, &path) == PermissionDecision::Allow,
            matches,
            "{rule} {}",
            path.display()
        );
        let denying = world.permissions(ApprovalMode::BypassPermissions, &[], &[], &[rule]);
        assert_eq!(
            short(&writes(&denying, &path)) == "deny",
            matches,
            "{rule} {}",
            path.display()
        );
    }
    let absolute = format!("Read(/{}/**)", world.outside().display());
    assert_eq!(
        reads(&world.allowing(&[&absolute]), world.outside().join("x/y")),
        PermissionDecision::Allow
    );
}

#[test]
fn q1_a_link_is_no_way_around_a_rule() {
    let world = World::new();
    std::os::unix::fs::symlink(world.cwd.join(".env"), world.cwd.join("harmless")).unwrap();
    std::os::unix::fs::symlink(world.outside(), world.cwd.join("src/link")).unwrap();
    let denying = world.permissions(ApprovalMode::BypassPermissions, &[], &[], &["Read(./.env)"]);
    assert_eq!(short(&reads(&denying, "harmless")), "deny");
    assert!(denying.denies_reading(Path::new("harmless")));
    assert!(!denying.denies_reading(Path::new("a.txt")));
    assert_eq!(short(&runs(&denying, "cat harmless")), "deny");
    let allowing = world.allowing(&["Edit(./src/**)"]);
    assert_eq!(short(&writes(&allowing, "src/link/x")), "ask");
}

#[test]
fn q1_read_rules_cover_searches_and_edit_rules_cover_writing() {
    let world = World::new();
    let permissions = world.permissions(
        ApprovalMode::Default,
        &[],
        &[],
        &["Read(./src/**)", "Edit(./docs/**)"],
    );
    for tool in ["Read", "Grep", "Glob"] {
        let judgement = permissions.judge(
            tool,
            &Value::Null,
            &ToolAccess::Reads(world.cwd.join("src/main.rs")),
        );
        assert_eq!(short(&judgement), "deny", "{tool}");
    }
    for tool in ["Edit", "Write", "NotebookEdit"] {
        let judgement = permissions.judge(
            tool,
            &Value::Null,
            &ToolAccess::Writes(world.cwd.join("docs/x.md")),
        );
        assert_eq!(short(&judgement), "deny", "{tool}");
    }
}

#[test]
fn q1_hosts_servers_agents_and_skills_have_rules() {
    let world = World::new();
    let permissions = world.permissions(
        ApprovalMode::Default,
        &[
            "WebFetch(domain:example.com)",
            "WebFetch(domain:*.docs.rs)",
            "mcp__files",
            "mcp__git__log",
            "mcp__web__get_*",
        ],
        &["Skill(deploy)"],
        &[
            "Task(danger)",
            "mcp__files__delete",
            "WebFetch(domain:bad.example.com)",
            "Skill(secret *)",
        ],
    );
    let fetch = |host: &str| {
        permissions.judge(
            "WebFetch",
            &Value::Null,
            &ToolAccess::Fetches(host.to_owned()),
        )
    };
    for (host, expected) in [
        ("example.com", "allow"),
        ("EXAMPLE.com.", "allow"),
        ("example.com:443", "allow"),
        ("example.com.evil.org", "ask"),
        ("notexample.com", "ask"),
        ("sub.example.com", "ask"),
        ("a.docs.rs", "allow"),
        ("bad.example.com", "deny"),
        ("BAD.example.com", "deny"),
    ] {
        assert_eq!(short(&fetch(host)), expected, "{host}");
    }
    assert_eq!(
        offered(&fetch("other.org")),
        Some("WebFetch(domain:other.org)")
    );
    let call = |tool: &str, input: Value| permissions.judge(tool, &input, &ToolAccess::Other);
    for (tool, input, expected) in [
        ("mcp__files__read", json!({}), "allow"),
        ("mcp__files__delete", json!({}), "deny"),
        ("mcp__files2__read", json!({}), "ask"),
        ("mcp__git__log", json!({}), "allow"),
        ("mcp__git__logs", json!({}), "ask"),
        ("mcp__web__get_page", json!({}), "allow"),
        ("mcp__web__put_page", json!({}), "ask"),
        ("Task", json!({ "subagent_type": "danger" }), "deny"),
        (
            "Task",
            json!({ "subagent_type": "general-purpose" }),
            "allow",
        ),
        ("Skill", json!({ "skill": "deploy" }), "ask"),
        ("Skill", json!({ "skill": "notes" }), "allow"),
        ("Unknown", json!({}), "ask"),
    ] {
        assert_eq!(
            short(&call(tool, input.clone())),
            expected,
            "{tool} {input}"
        );
    }
    assert_eq!(
        offered(&call("mcp__git__push", json!({}))),
        Some("mcp__git__push")
    );
}

#[test]
fn q1_what_is_no_rule_is_refused_with_how_to_write_it() {
    let world = World::new();
    let permissions = world.allowing(&[]);
    for text in [
        "",
        "(x)",
        "Bash(rm",
        "Bash)",
        "WebFetch(example.com)",
        "Read Write",
        "Edit(#)(",
    ] {
        let error = permissions.allow_for_session(text).unwrap_err();
        assert!(error.to_string().contains('`'), "{text}: {error}");
    }
}
