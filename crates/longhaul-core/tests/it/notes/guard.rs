//! Tests the permissions of the agent that takes notes.

use longhaul_core::notes::{NotesCallRefusal, NotesCallVerdict, NotesGuard, NotesRefusalCounts};
use serde_json::json;

const PATH: &str = "/data/s/session-memory/summary.md";

fn guard() -> NotesGuard {
    NotesGuard::new("Edit", PATH)
}

#[test]
fn s3_only_the_edit_tool_only_on_the_notes() {
    let mut guard = guard();
    let edit = |path: &str| json!({"file_path": path, "old_string": "a", "new_string": "b"});
    assert_eq!(guard.judge("Edit", &edit(PATH)), NotesCallVerdict::Allowed);
    assert_eq!(
        guard.judge("Edit", &json!({"path": PATH})),
        NotesCallVerdict::Allowed
    );
    assert_eq!(guard.refusals(), NotesRefusalCounts::default());
    for tool in ["Write", "Bash", "Read", "edit", "Edit ", "MultiEdit", ""] {
        let verdict = guard.judge(tool, &edit(PATH));
        assert_eq!(
            verdict,
            NotesCallVerdict::Refused(NotesCallRefusal::OtherTool),
            "{tool}"
        );
    }
    let elsewhere = [
        "/data/s/session-memory/summary.md.bak",
        "/data/s/session-memory/../session-memory/summary.md",
        "/data/s/session-memory/config/prompt.md",
        "session-memory/summary.md",
        "~/s/session-memory/summary.md",
        " /data/s/session-memory/summary.md",
        "/data/S/session-memory/summary.md",
        "",
    ];
    for path in elsewhere {
        let verdict = guard.judge("Edit", &edit(path));
        assert_eq!(
            verdict,
            NotesCallVerdict::Refused(NotesCallRefusal::OtherFile),
            "{path}"
        );
    }
    let two = json!({"file_path": PATH, "path": "/etc/passwd"});
    let odd = json!({"file_path": [PATH]});
    for input in [two, odd] {
        let verdict = guard.judge("Edit", &input);
        assert_eq!(
            verdict,
            NotesCallVerdict::Refused(NotesCallRefusal::OtherFile),
            "{input}"
        );
    }
    for input in [json!({}), json!(null), json!(PATH), json!([PATH])] {
        let verdict = guard.judge("Edit", &input);
        assert_eq!(
            verdict,
            NotesCallVerdict::Refused(NotesCallRefusal::NoFile),
            "{input}"
        );
    }
    let counted = NotesRefusalCounts {
        other_tool: 7,
        other_file: 10,
        no_file: 4,
    };
    assert_eq!(guard.refusals(), counted);
    assert_eq!(counted.total(), 21);
}

#[test]
fn s3_the_model_is_told_what_it_may_do() {
    insta::assert_snapshot!("refused", guard().sentence());
}
