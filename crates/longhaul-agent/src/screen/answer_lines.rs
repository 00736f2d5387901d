//! Answers to commands as lines: costs, hooks, a loss report. The screen and print mode share them.

use longhaul_core::economy::{EconomyPolicy, RecordedEconomyAction};
use longhaul_core::money::Usd;
use ratatui::text::Span;

use super::figures::{dollars, grouped, percent};
use super::flow::WrappedLine;
use super::host::{CostView, HookItem};
use super::style::{BOLD, dim, styled};
use super::text::{clean, clean_line, count};
use crate::effort::EffortSetting;

/// The configured hooks.
pub(crate) fn hooks(hooks: &[HookItem]) -> Vec<WrappedLine> {
    if hooks.is_empty() {
        return vec![WrappedLine::dim("· no hooks are set up")];
    }
    let lines = hooks.iter().map(|hook| {
        let mut line = vec![styled(format!("  {}", clean_line(&hook.event)), BOLD)];
        if !hook.matcher.is_empty() {
            line.push(Span::raw(format!(" {}", clean_line(&hook.matcher))));
        }
        line.push(Span::raw(format!(": {}", clean_line(&hook.command))));
        line.push(dim(format!("  ({})", clean_line(&hook.source))));
        WrappedLine::new(line, 4)
    });
    lines.collect()
}

/// What a compaction lost.
pub(crate) fn report(report: &str) -> Vec<WrappedLine> {
    let report = clean(report);
    let lines = report.lines();
    lines
        .map(|line| WrappedLine::new(vec![Span::raw(format!("  {line}"))], 17))
        .collect()
}

/// The costs by purpose.
pub(crate) fn cost(cost: &CostView) -> Vec<WrappedLine> {
    let price = |price: Option<_>, at_least: bool| match price {
        Some(price) if at_least => format!("at least {}", dollars(price)),
        Some(price) => dollars(price),
        None => "price not known".to_owned(),
    };
    let mut lines = vec![WrappedLine::blank()];
    for line in &cost.lines {
        let usage = &line.usage;
        let searches = match usage.web_searches {
            0 => String::new(),
            1 => ", 1 search".to_owned(),
            many => format!(", {} searches", grouped(many)),
        };
        lines.push(WrappedLine::new(
            vec![
                styled(
                    format!(
                        "  {}: {}",
                        clean_line(&line.name),
                        price(line.cost, line.at_least)
                    ),
                    BOLD,
                ),
                dim(format!(
                    "  {} in, {} from the cache, {} to the cache, {} out{searches}",
                    grouped(usage.input),
                    grouped(usage.cache_read),
                    grouped(usage.cache_write_5m + usage.cache_write_1h),
                    grouped(usage.output)
                )),
            ],
            4,
        ));
    }
    let simulated = (cost.backend.is_simulated()).then_some(" simulated");
    let cache = cost
        .cache_hit_rate
        .map(|rate| format!(" · {} of prompts from the cache", percent(rate)));
    lines.push(WrappedLine::styled(
        format!(
            "  total {}{}{}",
            price(cost.total, cost.at_least),
            simulated.unwrap_or_default(),
            cache.unwrap_or_default()
        ),
        BOLD,
    ));
    lines.extend(economy(cost));
    lines
}

/// The most decisions by price that are listed one by one.
const LAST_DECISIONS: usize = 5;

/// What is decided by price, and what that was worth.
fn economy(cost: &CostView) -> Vec<WrappedLine> {
    let policy = cost.economy.as_str();
    let decisions = &cost.decisions;
    let saved: f64 = decisions.iter().map(|one| one.saved_usd).sum();
    let worth = match decisions.len() {
        0 => "nothing was done for it yet".to_owned(),
        made => {
            let amount = dollars(Usd::from_f64(saved.abs()));
            let worth = if saved < 0.0 { "lost" } else { "saved" };
            format!("{}, {amount} {worth}", count(made, "decision"))
        }
    };
    let mut lines = vec![WrappedLine::styled(
        format!("  decided by price: {policy} · {worth}"),
        BOLD,
    )];
    let hidden = decisions.len().saturating_sub(LAST_DECISIONS);
    if hidden > 0 {
        lines.push(WrappedLine::dim(format!("    … {hidden} earlier")));
    }
    lines.extend(decisions.iter().skip(hidden).map(|one| {
        let done = match one.action {
            RecordedEconomyAction::Clear => "cleared",
            RecordedEconomyAction::Summarize => "summarized",
        };
        let freed = grouped(one.tokens_freed);
        WrappedLine::dim(format!("    {done} {freed} tokens: {}", one.sentence()))
    }));
    lines
}

/// What `/effort` says.
pub(crate) fn effort(effort: EffortSetting) -> String {
    match effort {
        EffortSetting::Model => "effort: the model's own".to_owned(),
        EffortSetting::Off => "effort: off, the model thinks as little as it can".to_owned(),
        EffortSetting::Level(level) => format!("effort: {}", level.name()),
    }
}

/// What `/effort NAME` says.
pub(crate) fn effort_set(set: EffortSetting) -> String {
    let set = effort(set);
    format!("{set} from the next request on, which is written to the cache anew")
}

/// What a change of the policy means.
pub(crate) fn economy_set(policy: EconomyPolicy) -> String {
    let what = match policy {
        EconomyPolicy::Off => "nothing is decided by price: thresholds alone decide",
        EconomyPolicy::Clear => "old results are cleared when that pays",
        EconomyPolicy::Full => "old results are cleared and summaries are made when that pays",
    };
    format!("economy {}: {what}", policy.as_str())
}

/// What follows when somebody chooses a model of which nothing is known: it may be new, or misspelled.
pub(crate) fn unknown_model(model: &str) -> String {
    format!(
        "{model} is not among the models that are known here: if the provider does not know it either, the next request fails. /model lists the known ones."
    )
}
