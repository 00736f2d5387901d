//! Skills, commands and agents.

use super::*;

#[test]
fn q1_skills_are_found_and_the_nearest_wins() {
    let skill = |description: &str| {
        format!(
            "---\nname: tidy\ndescription: {description}\n---\nBody of {description}: $ARGUMENTS"
        )
    };
    let world = World::new()
        .with(".claude/skills/tidy/SKILL.md", &skill("user"))
        .with("longhaul/skills/tidy/SKILL.md", &skill("ours"))
        .with(
            "longhaul/skills/own/SKILL.md",
            "# Only a body\n\nHere: ${CLAUDE_SKILL_DIR}",
        )
        .with(
            "work/project/.claude/skills/tidy/SKILL.md",
            &skill("project"),
        )
        .with("work/project/.claude/skills/empty/readme.md", "x");
    let project = world.load();
    assert_eq!(project.notices, Vec::<String>::new());
    let names: Vec<&str> = project
        .skills
        .iter()
        .map(|skill| skill.name.as_str())
        .collect();
    assert_eq!(names, ["own", "tidy"]);
    let tidy = project.skill("tidy").unwrap();
    assert_eq!(tidy.description, "project");
    assert_eq!(tidy.invoke("now").unwrap(), "Body of project: now");
    let own = project.skill("own").unwrap();
    assert_eq!(own.description, "Only a body");
    assert!(
        own.invoke("x y")
            .unwrap()
            .ends_with("longhaul/skills/own\n\nARGUMENTS: x y")
    );
    std::fs::remove_file(&tidy.path).unwrap();
    assert!(tidy.invoke("").unwrap_err().contains("SKILL.md"));
}

#[test]
fn q1_heads_are_yaml_and_forgiving() {
    let world = World::new()
        .with("work/project/.claude/skills/a/SKILL.md", "---\r\nname: a\r\ndescription: >\r\n  two\r\n  lines\r\nallowed-tools: Bash(git add:*), Read Grep\r\ndisable-model-invocation: true\r\nuser-invocable: false\r\nmodel: small\r\n---\r\nBody\r\n")
        .with("work/project/.claude/skills/b/SKILL.md", "---\ndescription: Use this: always # yes\nallowed-tools:\n  - Read\n  - Bash(x y:*)\n---\nBody")
        .with("work/project/.claude/skills/c/SKILL.md", "---\nname: c\ndescription: [unclosed\n---\nBody")
        .with("work/project/.claude/skills/d/SKILL.md", "---\nname: d\n")
        .with("work/project/.claude/skills/e/SKILL.md", "---\nname: has blank\n---\nx");
    let project = world.load();
    let a = project.skill("a").unwrap();
    assert_eq!(a.description, "two lines");
    assert_eq!(a.allowed_tools, ["Bash(git add:*)", "Read", "Grep"]);
    assert!(!a.model_may_invoke && !a.user_may_invoke);
    assert_eq!(a.model.as_deref(), Some("small"));
    let b = project.skill("b").unwrap();
    assert_eq!(b.description, "Use this: always # yes");
    assert_eq!(b.allowed_tools, ["Read", "Bash(x y:*)"]);
    assert!(b.model_may_invoke && b.user_may_invoke);
    assert_eq!(project.skills.len(), 2);
    assert_eq!(project.notices.len(), 3, "{:?}", project.notices);
    assert!(
        project.notices[0].contains("c/SKILL.md:"),
        "{:?}",
        project.notices
    );
}

#[test]
fn q1_commands_take_arguments() {
    let world = World::new()
        .with("work/project/.claude/commands/fix.md", "---\ndescription: Fixes\nargument-hint: \"[issue]\"\n---\nFix $1 then $2, all: $ARGUMENTS, $100, $ARGUMENTS[1]$")
        .with("work/project/.claude/commands/git/tidy.md", "Tidy up")
        .with(".claude/commands/fix.md", "other")
        .with(".claude/commands/zero.md", "$0-$1");
    let project = world.load();
    let names: Vec<&str> = project
        .commands
        .iter()
        .map(|command| command.name.as_str())
        .collect();
    assert_eq!(names, ["fix", "git:tidy", "zero"]);
    let fix = project.command("fix").unwrap();
    assert_eq!(fix.argument_hint.as_deref(), Some("[issue]"));
    assert_eq!(
        fix.invoke("'a b' c").unwrap().text(),
        "Fix a b then c, all: 'a b' c, $100, c$"
    );
    assert_eq!(fix.invoke("").unwrap().text(), "Fix  then , all: , $100, $");
    assert_eq!(
        project
            .command("git:tidy")
            .unwrap()
            .invoke("now")
            .unwrap()
            .text(),
        "Tidy up\n\nARGUMENTS: now"
    );
    assert_eq!(
        project
            .command("zero")
            .unwrap()
            .invoke("a b")
            .unwrap()
            .text(),
        "a-b"
    );
}

#[test]
fn q1_agents_have_tools_a_model_and_a_prompt() {
    let world = World::new()
        .with("work/project/.claude/agents/review.md", "---\nname: reviewer\ndescription: Reviews\ntools: Read, Grep\nmodel: inherit\ncolor: blue\n---\n\nYou review.\n")
        .with(".claude/agents/review.md", "---\nname: reviewer\ndescription: other\n---\nx")
        .with(".claude/agents/all.md", "---\ndescription: All\ntools: \"*\"\nmodel: small\n---\nDo.")
        .with(".claude/agents/broken.md", "---\nname: broken\n---\nx");
    let project = world.load();
    let names: Vec<&str> = project
        .agents
        .iter()
        .map(|agent| agent.name.as_str())
        .collect();
    assert_eq!(names, ["all", "reviewer"]);
    let reviewer = project.agent("reviewer").unwrap();
    assert_eq!(
        reviewer.tools.as_deref(),
        Some(&["Read".to_owned(), "Grep".to_owned()][..])
    );
    assert_eq!(
        (reviewer.model.as_deref(), reviewer.prompt.as_str()),
        (None, "You review.")
    );
    assert_eq!(project.agent("all").unwrap().tools, None);
    assert_eq!(project.notices.len(), 1, "{:?}", project.notices);
    assert!(
        project.notices[0].contains("broken.md:1: its front matter needs a `description`"),
        "{:?}",
        project.notices
    );
}
