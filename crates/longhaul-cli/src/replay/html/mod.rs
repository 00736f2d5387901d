//! A replay as one web page that needs nothing else: no script, no font, no picture from elsewhere, and a policy in the
//! page that forbids all of them. Every text from a file is escaped (`escape.rs`); pictures are drawn here (`chart.rs`).

mod chart;
mod escape;

use std::fmt::Write;

use longhaul_core::money::Usd;

use super::page::{headline, ratio};
use super::policy_names::{APPEND_ONLY, policies};
use super::sessions::{ReplayedSession, short_name};
use super::totals::{PolicyTotal, WindowTotal};
use super::{ReplayResult, notes, window_name};
use crate::terminal::{dollars, grouped};
use crate::text::count;
use chart::{ChartLine, chart};
use escape::escaped;

const STYLE: &str = include_str!("style.css");
/// The most sessions that are drawn: the most expensive ones.
const DRAWN: usize = 12;

/// The whole page.
pub(super) fn render(result: &ReplayResult) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>What these sessions would have cost</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    );
    heading(&mut page, result);
    for window in &result.totals.windows {
        window_part(&mut page, result, window);
    }
    sessions(&mut page, result);
    sentences(&mut page, "What is assumed", &notes::assumptions(result));
    sentences(
        &mut page,
        "What to know about the recordings",
        &notes::oddities(result),
    );
    let apart = result.sessions.apart.iter();
    let apart: Vec<String> = apart
        .map(|one| format!("{}: {}", one.file, one.reason))
        .collect();
    sentences(&mut page, "Counted apart, in no total", &apart);
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn heading(page: &mut String, result: &ReplayResult) {
    let totals = &result.totals;
    page.push_str("<header>\n<h1>What these sessions would have cost</h1>\n<p>");
    let mut parts = vec![
        count(result.sessions.replayed.len() as u64, "session", "sessions"),
        count(totals.requests, "request", "requests"),
    ];
    if let Some((from, to)) = totals.span {
        let day = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
        parts.push(format!("{} to {}", day(from), day(to)));
    }
    parts.push(totals.models.join(", "));
    page.push_str(&escaped(&parts.join(" · ")));
    page.push_str("</p>\n</header>\n");
}

/// The policies of one window: a sentence, and a bar for each.
fn window_part(page: &mut String, result: &ReplayResult, window: &WindowTotal) {
    let totals = &result.totals;
    let recorded = PolicyTotal {
        name: "recorded",
        cost: totals.recorded,
        summaries: totals.facts.compactions,
        clearings: totals.facts.clearings,
        ..PolicyTotal::default()
    };
    let all: Vec<&PolicyTotal> = [&recorded, &totals.append_only]
        .into_iter()
        .chain(&window.policies)
        .collect();
    let most = all
        .iter()
        .map(|policy| policy.cost)
        .max()
        .unwrap_or_default();
    let _ = write!(
        page,
        "<section>\n<h2>In {}</h2>\n<p class=\"headline\">{}</p>\n<div class=\"wide\"><table class=\"bars\">\n\
         <thead><tr><th>policy</th><th class=\"n\">cost</th><th class=\"n\">of recorded</th><th class=\"n\">of append-only</th>\
         <th class=\"n\">summaries</th><th class=\"n\">clearings</th><th class=\"bar\"></th></tr></thead>\n<tbody>\n",
        escaped(&window_name(window.window)),
        escaped(&headline(result, window)),
    );
    for policy in all {
        let _ = writeln!(
            page,
            "<tr><th>{name}</th><td class=\"n\">{cost}</td><td class=\"n\">{of_recorded}</td><td class=\"n\">{of_append}</td>\
             <td class=\"n\">{summaries}</td><td class=\"n\">{clearings}</td><td class=\"bar\">{bar}</td></tr>",
            name = policy.name,
            cost = dollars(policy.cost.to_f64()),
            of_recorded = ratio(policy.cost, totals.recorded),
            of_append = ratio(policy.cost, totals.append_only.cost),
            summaries = grouped(policy.summaries),
            clearings = grouped(policy.clearings),
            bar = chart::bar(class(policy.name), policy.cost, most),
        );
    }
    page.push_str("</tbody>\n</table></div>\n</section>\n");
}

/// The class that gives a policy its color.
fn class(policy: &str) -> &'static str {
    match policy {
        "off" => "off",
        "clear" => "clear",
        "full" => "full",
        "best" => "best",
        "best clear" => "best-clear",
        APPEND_ONLY => "append",
        _ => "recorded",
    }
}

/// The sessions with their pictures, the most expensive first.
fn sessions(page: &mut String, result: &ReplayResult) {
    let mut all: Vec<&ReplayedSession> = result.sessions.replayed.iter().collect();
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|session| std::cmp::Reverse(session.report.recorded.total()));
    page.push_str("<section>\n<h2>Over time</h2>\n<p>From left to right, one request after the other. A dot is a clearing, a square is a summary.</p>\n");
    page.push_str("<p class=\"legend\">");
    for name in [APPEND_ONLY, "off", "clear", "full", "best"] {
        let _ = write!(page, "<span class=\"{}\">{name}</span> ", class(name));
    }
    page.push_str("</p>\n");
    for session in all.iter().take(DRAWN) {
        session_part(page, session);
    }
    if all.len() > DRAWN {
        let more = grouped((all.len() - DRAWN) as u64);
        let _ = writeln!(page, "<p>{more} more sessions are in the totals.</p>");
    }
    page.push_str("</section>\n");
}

fn session_part(page: &mut String, session: &ReplayedSession) {
    let report = &session.report;
    for window in &report.windows {
        let named = policies(window);
        let lines: Vec<ChartLine<'_>> = std::iter::once((APPEND_ONLY, &report.append_only))
            .chain(named.into_iter().filter(|(name, _)| *name != "best clear"))
            .map(|(name, policy)| ChartLine {
                name,
                class: class(name),
                policy,
            })
            .collect();
        let cost = |name: &str| {
            let found = lines.iter().find(|line| line.name == name);
            let total: Usd = found.map(|line| line.policy.total()).unwrap_or_default();
            format!("{name} {}", dollars(total.to_f64()))
        };
        let costs = [
            format!("recorded {}", dollars(report.recorded.total().to_f64())),
            cost(APPEND_ONLY),
            cost("off"),
            cost("clear"),
            cost("full"),
            cost("best"),
        ];
        let _ = write!(
            page,
            "<article>\n<h3>{}</h3>\n<p>{} · in {} · {}</p>\n<div class=\"pair\">\n{}{}</div>\n</article>\n",
            escaped(&short_name(&session.file)),
            count(report.requests, "request", "requests"),
            escaped(&window_name(window.window)),
            escaped(&costs.join(" · ")),
            chart(&lines, chart::ChartKind::Window),
            chart(&lines, chart::ChartKind::Money),
        );
    }
}

fn sentences(page: &mut String, heading: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    let _ = write!(page, "<section>\n<h2>{heading}</h2>\n<ul>\n");
    for sentence in sentences {
        let _ = writeln!(page, "<li>{}</li>", escaped(sentence));
    }
    page.push_str("</ul>\n</section>\n");
}
