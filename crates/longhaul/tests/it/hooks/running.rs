//! How commands are run: what they get, where, side by side.

use longhaul::hooks::{HookEventName, HookShell, Hooks, StartSource};
use serde_json::{Value, json};

use super::support::{Project, ends, post_compact, pre_compact, session_start};

#[tokio::test]
async fn k1_a_hook_reads_its_event_on_stdin() {
    let project = Project::new();
    project.answer(post_compact(), &["cat > told.json"]).await;
    let told: Value =
        serde_json::from_slice(&std::fs::read(project.path("told.json")).unwrap()).unwrap();
    assert_eq!(told, project.call(post_compact()).input.to_json());
    let outcome = project
        .answer(post_compact(), &["read -r line && echo one line"])
        .await;
    assert_eq!(outcome.context, ["one line"]);
}

#[tokio::test]
async fn k1_a_hook_runs_in_the_working_folder_and_knows_the_project() {
    let project = Project::new();
    let folder = std::fs::canonicalize(project.folder()).unwrap();
    let work = folder.join("work");
    std::fs::create_dir(&work).unwrap();
    let line = "pwd -P; echo \"$CLAUDE_PROJECT_DIR\"; echo \"$LONGHAUL_PROJECT_DIR\"; echo \"${CARGO_PKG_NAME:-inherited}\"";
    let hooks = project.lines(HookEventName::PostCompact, &[line]);
    let mut call = project.call(post_compact());
    call.input.common.cwd = work.clone();
    let inherited = std::env::var("CARGO_PKG_NAME").unwrap_or("inherited".into());
    let given = project.folder().display();
    let outcome = ends(hooks.run(&call)).await;
    assert_eq!(
        outcome.context,
        [format!("{}\n{given}\n{given}\n{inherited}", work.display())]
    );
    call.input.common.cwd = folder.join("gone");
    let outcome = ends(hooks.run(&call)).await;
    assert!(outcome.context[0].starts_with(&format!("{}\n", folder.display())));
}

#[tokio::test]
async fn k1_arguments_make_it_a_program_without_a_shell() {
    let project = Project::new();
    let hooks = project.hooks(
        HookEventName::PostCompact,
        json!([{"type": "command", "command": "printf", "args": ["%s|", "$HOME `x`", "${CLAUDE_PROJECT_DIR}"]}]),
    );
    let outcome = ends(hooks.run(&project.call(post_compact()))).await;
    assert_eq!(
        outcome.context,
        [format!("$HOME `x`|{}|", project.folder().display())]
    );
}

#[tokio::test]
async fn k1_the_shell_can_be_another_one() {
    let project = Project::new();
    let shell = HookShell {
        program: "echo".into(),
        args: vec!["shell:".into()],
    };
    let hooks = project
        .lines(HookEventName::PostCompact, &["a line"])
        .with_shell(shell);
    let outcome = ends(hooks.run(&project.call(post_compact()))).await;
    assert_eq!(outcome.context, ["shell: a line"]);
}

#[tokio::test]
async fn k1_hooks_run_side_by_side() {
    let project = Project::new();
    project.pipe("to_second");
    project.pipe("to_first");
    // Each waits for the other's output: one after the other they would wait for ever.
    let outcome = project
        .answer(
            post_compact(),
            &[
                "echo from first > to_second; cat to_first",
                "cat to_second; echo from second > to_first",
            ],
        )
        .await;
    assert_eq!(outcome.context, ["from second", "from first"]);
}

#[tokio::test]
async fn k1_answers_stand_in_the_order_of_the_settings() {
    let project = Project::new();
    project.pipe("done");
    // The first hook ends last: the pipe ends when the second is gone.
    let lines = [
        "cat done; echo first >&2; exit 2",
        "exec 9> done; echo second >&2; exit 2",
    ];
    let outcome = project.answer(pre_compact(), &lines).await;
    assert_eq!(outcome.blocked.unwrap().text, "first");
}

#[tokio::test]
async fn k1_only_hooks_for_the_occasion_run() {
    let project = Project::new();
    let text = json!({"hooks": {"SessionStart": [
        {"matcher": "compact", "hooks": [{"type": "command", "command": "cat rules.md"}]},
        {"matcher": "startup|resume", "hooks": [{"type": "command", "command": "echo hello"}]},
    ]}});
    project.write("rules.md", "Never push.");
    let file = project.write("settings.json", text.to_string());
    let settings = longhaul::hooks::HookSettings::load([file]);
    let hooks = longhaul::hooks::CommandHooks::new(settings, project.folder());
    for (source, context) in [
        (StartSource::Compact, vec!["Never push."]),
        (StartSource::Resume, vec!["hello"]),
        (StartSource::Clear, vec![]),
    ] {
        let outcome = ends(hooks.run(&project.call(session_start(source)))).await;
        assert_eq!(outcome.context, context);
    }
}
