//! The findings for a person and for programs.

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::finding::{Finding, FindingState};
use crate::table::{Cell, Column, TextTable};
use crate::terminal::width;
use crate::text::count;

pub(super) fn json(found: &[Finding]) -> Value {
    json!({
        "broken": number(found, FindingState::Broken),
        "warnings": number(found, FindingState::Warning),
        "findings": found,
    })
}

fn number(found: &[Finding], state: FindingState) -> u64 {
    found.iter().filter(|one| one.state == state).count() as u64
}

pub(super) fn render(found: &[Finding]) -> String {
    let mut table = TextTable::new([
        Column::left(""),
        Column::left(""),
        Column::left("").down_to(20),
    ]);
    for one in found {
        let (word, style) = shown(one.state);
        table.row([
            Cell::new(word).styled(style),
            Cell::new(one.check),
            Cell::sentence(&one.says),
        ]);
        if let Some(advice) = &one.advice {
            table.row([
                Cell::new(""),
                Cell::new(""),
                Cell::sentence(format!("→ {advice}")),
            ]);
        }
    }
    let summary = match number(found, FindingState::Broken) {
        0 => match number(found, FindingState::Warning) {
            0 => "Nothing is broken.".to_owned(),
            few => format!("Nothing is broken; {}.", count(few, "warning", "warnings")),
        },
        broken => format!("{} broken.", count(broken, "thing is", "things are")),
    };
    format!("{}\n{summary}\n", table.render(0, width()))
}

fn shown(state: FindingState) -> (&'static str, Style) {
    let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
    match state {
        FindingState::Ok => ("ok", color(AnsiColor::Green)),
        FindingState::Note => ("note", Style::new()),
        FindingState::Warning => ("warning", color(AnsiColor::Yellow)),
        FindingState::Broken => ("broken", color(AnsiColor::Red).bold()),
    }
}
