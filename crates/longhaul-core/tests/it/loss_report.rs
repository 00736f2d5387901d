//! Tests loss reports (Y3, ruling 15).

use longhaul_core::message::Entry;
use longhaul_core::report::{
    FileLoss, LossReport, ResultLoss, RuleLoss, TodoLoss, UserMessageLoss, ViewTokens,
};
use serde_json::json;

fn report() -> LossReport {
    LossReport {
        tokens: ViewTokens {
            before: 168_204,
            after: 9_310,
        },
        user_messages: UserMessageLoss {
            total: 42,
            verbatim: 38,
            shortened: 3,
            omitted: 1,
        },
        rules: RuleLoss {
            total: 3,
            verbatim: 3,
        },
        files: FileLoss {
            touched: 19,
            restored: 5,
            left_out: 2,
        },
        todos: TodoLoss { open: 4, kept: 4 },
        results: ResultLoss {
            cleared: 61,
            archived: 61,
        },
        notes: vec!["The plan file could not be read.".to_owned()],
    }
}

#[test]
fn y3_the_report_on_a_boundary_has_its_shape_and_reads_back() {
    let value = serde_json::to_value(report()).unwrap();
    assert_eq!(
        value,
        json!({
            "tokens": {"before": 168204, "after": 9310},
            "user_messages": {"total": 42, "verbatim": 38, "shortened": 3, "omitted": 1},
            "rules": {"total": 3, "verbatim": 3},
            "files": {"touched": 19, "restored": 5, "left_out": 2},
            "todos": {"open": 4, "kept": 4},
            "results": {"cleared": 61, "archived": 61},
            "notes": ["The plan file could not be read."],
        })
    );
    let read = |key: &str, metadata: serde_json::Value| {
        let mut line = json!({"type": "system", "subtype": "compact_boundary", "uuid": "b"});
        line[key] = metadata;
        let entry = Entry::read(line.to_string().into_bytes().into()).unwrap();
        LossReport::of_boundary(entry.view())
    };
    let mut newer = value.clone();
    newer["mood"] = json!("fine");
    assert_eq!(
        read(
            "compactMetadata",
            json!({"trigger": "auto", "report": newer})
        ),
        Some(report())
    );
    assert_eq!(
        read("microcompactMetadata", json!({"report": value})),
        Some(report())
    );
    assert_eq!(
        read(
            "compactMetadata",
            json!({"report": {"tokens": {"before": 5}}})
        )
        .unwrap()
        .tokens
        .before,
        5
    );
    assert_eq!(read("compactMetadata", json!({"trigger": "auto"})), None);
    assert_eq!(read("compactMetadata", json!({"report": "none"})), None);
}

#[test]
fn y3_people_can_read_what_was_lost() {
    assert_eq!(
        report().tell(),
        "Tokens         168,204 before, 9,310 after (94% less)\n\
         User messages  38 of 42 word for word, 3 shortened, 1 left out for budget\n\
         Rules          3 of 3 word for word\n\
         Files          19 touched, 5 restored, 2 left out\n\
         Todos          4 open, 4 kept\n\
         Tool results   61 dropped, 61 of them in the archive\n\
         Note           The plan file could not be read.\n"
    );
    let preview = report().tell_preview_of(report().tokens);
    assert!(preview.contains("Tool results   61 dropped\n"), "{preview}");
    let nothing = LossReport::default().tell();
    assert!(nothing.contains("Tool results   0 dropped\n"), "{nothing}");
    assert_eq!(
        report().status_line(),
        "Compacted 168,204 → 9,310 tokens; 38 of 42 user messages whole; 5 files restored"
    );
    let kept = LossReport {
        user_messages: UserMessageLoss {
            total: 2,
            verbatim: 2,
            ..Default::default()
        },
        ..Default::default()
    };
    assert_eq!(
        kept.status_line(),
        "Compacted 0 → 0 tokens; all 2 user messages kept"
    );
    assert!(kept.keeps_every_word() && !report().keeps_every_word());
    let mut long = report();
    long.notes = vec!["many\nlines ".repeat(400); 90];
    assert!(long.tell().lines().count() <= 25);
    assert_eq!(long.status_line().lines().count(), 1);
}
