//! What the fake host shows when it is asked: a session with a bit of everything.

use longhaul_agent::screen::{
    CallOutcome, ContextView, CostLine, CostView, ItemStanding, MessageAuthor, MessageItem,
    ModelItem, RewindChoices, SessionItem, TranscriptItem, TranscriptKind,
};
use longhaul_core::inspect::Categories;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_core::report::LossReport;
use longhaul_core::tokens::calibrated::CalibratedEstimate;
use longhaul_core::window::{WindowInput, WindowSettings, WindowStatus};

pub(super) fn report() -> LossReport {
    serde_json::from_str(
        r#"{"tokens":{"before":167204,"after":12480},"user_messages":{"total":14,"verbatim":14},
        "rules":{"total":2,"verbatim":2},"files":{"touched":9,"restored":5},"results":{"cleared":40,"archived":40}}"#,
    )
    .unwrap()
}

pub(super) fn context() -> ContextView {
    let categories = Categories {
        human_messages: 9_000,
        summaries: 4_000,
        assistant_messages: 14_000,
        tool_requests: 6_000,
        tool_results: 52_000,
        tool_results_by_tool: [("Read".to_owned(), 40_000), ("Bash".to_owned(), 12_000)].into(),
        attachments: 3_000,
        system_prompt: 4_000,
        tools: 6_000,
        memory_files: 2_000,
        duplicate_reads: 5_000,
        unattributed: 1_000,
        cleared_results: 0,
    };
    let status = WindowStatus::new(&WindowInput {
        window: 200_000,
        max_output: 64_000,
        used: 97_000,
        settings: WindowSettings::default(),
    });
    ContextView {
        model: "claude-sonnet-4-6".to_owned(),
        categories,
        measured: 0,
        cleared: 0,
        status: status.unwrap(),
        likely: CalibratedEstimate::default(),
    }
}

pub(super) fn sessions() -> Vec<SessionItem> {
    let item = |id: &str, title: &str| SessionItem {
        id: id.to_owned(),
        title: title.to_owned(),
        mark: String::new(),
        modified: "2026-03-01T10:20:00Z".parse().ok(),
        messages: 31,
        branch: Some("main".to_owned()),
    };
    vec![
        item("one", "fix the parser"),
        item("two", "漢字 in tables"),
        item("gone", "write docs"),
    ]
}

pub(super) fn models() -> Vec<ModelItem> {
    let item = |id: &str, current| ModelItem {
        id: id.to_owned(),
        about: "200K, $3 / $15".to_owned(),
        current,
    };
    vec![
        item("claude-sonnet-4-6", true),
        item("claude-opus-4-6", false),
    ]
}

pub(super) fn messages() -> RewindChoices {
    let item = |uuid: &str, who, line: &str| MessageItem {
        uuid: uuid.to_owned(),
        who,
        line: line.to_owned(),
        at: "2026-03-01T10:20:00Z".parse().ok(),
        tokens: 1_234,
    };
    RewindChoices {
        messages: vec![
            item("m1", MessageAuthor::User, "fix the parser"),
            item("m2", MessageAuthor::Assistant, "I will look at it"),
            item("m3", MessageAuthor::User, "now the tests"),
        ],
        can_undo: true,
    }
}

pub(super) fn transcript() -> Vec<TranscriptItem> {
    let item = |kind, text: &str| TranscriptItem {
        kind,
        text: text.to_owned(),
        at: None,
        standing: ItemStanding::Kept,
    };
    let long: String = (1..=60)
        .map(|n| format!("line {n} of the file\n"))
        .collect();
    vec![
        item(TranscriptKind::User, "fix the parser"),
        item(TranscriptKind::Thinking, "It is the *lexer*"),
        item(
            TranscriptKind::Call {
                name: "Read".to_owned(),
                line: "src/parser.rs".to_owned(),
                outcome: CallOutcome::Done("60 lines".to_owned()),
            },
            r#"{"file_path":"src/parser.rs"}"#,
        ),
        item(TranscriptKind::Result { is_error: false }, &long),
        item(TranscriptKind::Boundary, &report().tell()),
        item(TranscriptKind::Summary, "The parser was **fixed**."),
        item(TranscriptKind::Assistant, "It is *fixed*."),
    ]
}

pub(super) fn cost() -> CostView {
    CostView {
        lines: vec![CostLine {
            name: "claude-sonnet-4-6".to_owned(),
            usage: Usage {
                input: 1_200,
                cache_read: 900_000,
                cache_write_5m: 60_000,
                output: 20_000,
                ..Usage::default()
            },
            cost: Some(Usd::from_pico(1_230_000_000_000)),
            at_least: false,
        }],
        at_least: false,
        backend: longhaul_agent::offline::ModelBackend::Provider,
        total: Some(Usd::from_pico(1_230_000_000_000)),
        cache_hit_rate: Some(0.914),
        economy: longhaul::EconomyPolicy::Clear,
        decisions: Vec::new(),
    }
}
