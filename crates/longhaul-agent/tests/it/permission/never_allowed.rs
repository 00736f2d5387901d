//! A denied command is never allowed, whatever is put around it.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::*;

/// A denied command, disguised.
fn denied() -> impl Strategy<Value = String> {
    let forms = [
        "rm -rf x",
        "\\rm x",
        "'rm' x",
        "r''m x",
        "/bin/rm x",
        "FOO=1 rm x",
        "sudo rm x",
        "command rm x",
        "xargs rm",
        "env A=b rm x",
        "bash -c 'rm x'",
        "eval 'rm x'",
        "find . -exec rm {} +",
        "nohup rm x",
        "time rm",
        "$Y rm x",
        "\"r\"m",
    ];
    proptest::sample::select(forms.to_vec()).prop_map(str::to_owned)
}

fn harmless() -> impl Strategy<Value = String> {
    let forms = [
        "ls",
        "echo 'a;b'",
        "echo \"a && b\"",
        "cat a.txt",
        "git status",
        "true",
        "echo a#b",
        "FOO=1 safe",
        "safe \\; x",
        "safe > /dev/null",
        "echo \"it's\"",
        "safe 2>&1",
        "[ -f a.txt ]",
        "echo '$(x)'",
        "safe 'two\nlines'",
    ];
    proptest::sample::select(forms.to_vec()).prop_map(str::to_owned)
}

fn compound() -> impl Strategy<Value = String> {
    let leaf = (denied(), harmless(), harmless(), any::<bool>());
    let start = leaf.prop_map(|(denied, one, _, first)| {
        if first {
            denied
        } else {
            format!("{one}; {denied}")
        }
    });
    start.prop_recursive(4, 24, 2, |inner| {
        let joints = proptest::sample::select(vec![
            " && ", " || ", "; ", " | ", "\n", " & ", ";", "&&", " |& ", " # x\n",
        ]);
        prop_oneof![
            (inner.clone(), harmless(), joints.clone())
                .prop_map(|(a, b, joint)| format!("{a}{joint}{b}")),
            (inner.clone(), harmless(), joints).prop_map(|(a, b, joint)| format!("{b}{joint}{a}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("{{ {a}\n}}")),
            inner.clone().prop_map(|a| format!("echo $({a})")),
            inner.clone().prop_map(|a| format!("echo \"x $({a}\n) y\"")),
            inner.clone().prop_map(|a| format!("cat <({a}\n)")),
            inner.clone().prop_map(|a| format!("if true; then {a}\nfi")),
            inner
                .clone()
                .prop_map(|a| format!("for i in a b; do {a}\ndone")),
            inner
                .clone()
                .prop_map(|a| format!("while false; do {a}\ndone")),
            inner.clone().prop_map(|a| format!("f() {{ {a}\n}}; f")),
            inner
                .clone()
                .prop_map(|a| format!("case x in x) {a}\n;; esac")),
            inner.clone().prop_map(|a| format!("x=$({a}\n)")),
            inner
                .clone()
                .prop_map(|a| format!("cat <<EOF\nhello\nEOF\n{a}")),
            inner
                .clone()
                .prop_map(|a| format!("cat <<EOF\n$({a}\n)\nEOF\n")),
            inner.clone().prop_map(|a| format!("! {a}")),
            inner.prop_map(|a| format!("{a} > /dev/null")),
        ]
    })
}

fn all_modes() -> impl Strategy<Value = ApprovalMode> {
    proptest::sample::select(vec![
        ApprovalMode::Default,
        ApprovalMode::AcceptEdits,
        ApprovalMode::Plan,
        ApprovalMode::BypassPermissions,
        ApprovalMode::DontAsk,
    ])
}

/// Checks a property in one project; `PROPTEST_CASES` makes it longer.
pub(super) fn holds<T: std::fmt::Debug>(
    values: impl Strategy<Value = T>,
    property: impl Fn(&World, T) -> Result<(), TestCaseError>,
) {
    let world = World::new();
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    config.cases = config.cases.max(512);
    TestRunner::new(config)
        .run(&values, |value| property(&world, value))
        .unwrap();
}

#[test]
fn q1_a_command_with_a_denied_part_is_never_allowed() {
    holds((compound(), all_modes()), |world, (command, mode)| {
        let permissions = world.permissions(mode, &["Bash"], &[], &["Bash(rm:*)"]);
        prop_assert_ne!(
            runs(&permissions, &command),
            PermissionDecision::Allow,
            "{}",
            command
        );
        Ok(())
    });
}

#[test]
fn q1_a_command_with_a_part_that_no_rule_allows_is_never_allowed() {
    holds(compound(), |world, command| {
        let permissions = world.allowing(&["Bash(safe:*)", "Bash(FOO=1 safe:*)"]);
        prop_assert_ne!(
            runs(&permissions, &command),
            PermissionDecision::Allow,
            "{}",
            command
        );
        Ok(())
    });
}

#[test]
fn q1_no_text_makes_the_judge_fail() {
    let texts = (
        "[ -~\n\t\u{80}-\u{2ff}\u{2000}-\u{206f}]{0,80}",
        "[a-zA-Z_]{0,12}",
    );
    holds(texts, |world, (command, tool)| {
        let permissions = world.permissions(
            ApprovalMode::Default,
            &["Bash(safe:*)"],
            &[],
            &["Bash(rm:*)"],
        );
        runs(&permissions, &command);
        permissions.judge(
            &tool,
            &Value::Null,
            &ToolAccess::Writes(PathBuf::from(&command)),
        );
        let _ = permissions.allow_for_session(&command);
        let _ = permissions.allow_for_session(&format!("Edit({command})"));
        Ok(())
    });
}
