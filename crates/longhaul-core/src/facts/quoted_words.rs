//! Chooses which of the user's missing words are written, and at which length.

use super::appendix::{self, MESSAGES, RULES};

use super::budget::{BudgetItem, BudgetShare, ItemProtection, fit};
use super::facts_in_view::{FactsInView, not_in_view};
use super::gather::Facts;
use super::repeated::RepeatedMessage;
use super::rule::UserRule;
use super::text_search::normalized;
use crate::report::LossReport;
use crate::tokens::utf16_len;

/// The number of newest messages that are protected.
const NEWEST: usize = 3;

/// The user's words that are written, and their lengths.
#[derive(Debug)]
pub(super) struct QuotedUserWords<'a> {
    messages: Vec<(RepeatedMessage<'a>, BudgetShare)>,
    rules: Vec<(&'a UserRule, BudgetShare)>,
    pub(super) protected_was_shortened: bool,
}

impl<'a> QuotedUserWords<'a> {
    pub(super) fn choose(
        facts: &'a Facts,
        held: &FactsInView,
        room: usize,
        protected: u64,
    ) -> Self {
        let messages: Vec<_> = facts.messages.iter().collect();
        let messages = RepeatedMessage::group(&not_in_view(&messages, &held.messages));
        let rules: Vec<_> = facts.rules.iter().collect();
        let rules = not_in_view(&rules, &held.rules);
        let newest = facts.messages.len().saturating_sub(NEWEST) as u32;
        let first = Self::share(messages.clone(), rules.clone(), newest, room, protected);
        // A rule is not written twice: one whose message is written in full needs no line of its own, and its room is
        // free.
        let uncovered: Vec<_> = rules
            .into_iter()
            .filter(|rule| !first.covers(rule))
            .collect();
        let second = Self::share(messages, uncovered, newest, room, protected);
        let still_covered = first
            .rules
            .iter()
            .filter(|(rule, _)| first.covers(rule))
            .all(|(rule, _)| second.covers(rule));
        if still_covered { second } else { first }
    }

    fn share(
        messages: Vec<RepeatedMessage<'a>>,
        rules: Vec<&'a UserRule>,
        newest: u32,
        room: usize,
        protected: u64,
    ) -> Self {
        let of_message = messages.iter().map(|said| BudgetItem {
            units: utf16_len(&said.written(usize::MAX)) as u64,
            standing: if said.is_first() || said.message.ordinal > newest {
                ItemProtection::Protected
            } else {
                ItemProtection::Plain
            },
        });
        let of_rule = rules.iter().map(|rule| BudgetItem {
            units: utf16_len(&appendix::rule(rule, usize::MAX)) as u64,
            standing: ItemProtection::Protected,
        });
        let items: Vec<_> = of_message.chain(of_rule).collect();
        let mut shares = fit(&items, room as u64, protected);
        let protected_was_shortened = items.iter().zip(&shares).any(|(item, share)| {
            item.standing == ItemProtection::Protected && *share != BudgetShare::Whole
        });
        let of_rules = shares.split_off(messages.len());
        Self {
            messages: messages.into_iter().zip(shares).collect(),
            rules: rules.into_iter().zip(of_rules).collect(),
            protected_was_shortened,
        }
    }

    /// Whether a rule is written as a part of its message.
    fn covers(&self, rule: &UserRule) -> bool {
        let at = self
            .messages
            .binary_search_by_key(&rule.ordinal, |(said, _)| said.message.ordinal);
        at.is_ok_and(|at| {
            let (said, share) = &self.messages[at];
            *share == BudgetShare::Whole
                && said.message.cut.is_none()
                && normalized(&said.message.text).contains(&normalized(&rule.text))
        })
    }

    /// Writes the parts with rules and with messages.
    pub(super) fn write(&self, facts: &Facts, report: &mut LossReport) -> [String; 2] {
        let mut rules = String::new();
        let mut lost = 0;
        for (rule, share) in &self.rules {
            match share {
                BudgetShare::Whole => rules.push_str(&appendix::rule(rule, usize::MAX)),
                BudgetShare::Shortened(most) => {
                    rules.push_str(&appendix::rule(rule, *most as usize))
                }
                BudgetShare::Omitted => {}
            }
            lost += u64::from(*share != BudgetShare::Whole);
        }
        report.rules.verbatim = facts.rules.len() as u64 - lost;

        let mut messages = String::new();
        let mut omitted = Vec::new();
        let counts = &mut report.user_messages;
        for (said, share) in &self.messages {
            match share {
                BudgetShare::Whole => messages.push_str(&said.written(usize::MAX)),
                BudgetShare::Shortened(most) => messages.push_str(&said.written(*most as usize)),
                BudgetShare::Omitted => omitted.extend_from_slice(&said.ordinals),
            }
            let shortened =
                matches!(share, BudgetShare::Shortened(_)) || said.message.cut.is_some();
            if shortened && *share != BudgetShare::Omitted {
                counts.shortened += said.ordinals.len() as u64;
            }
        }
        omitted.sort_unstable();
        counts.omitted = omitted.len() as u64;
        counts.verbatim = facts.messages.len() as u64 - counts.shortened - counts.omitted;
        if !omitted.is_empty() {
            messages.push_str(&appendix::omitted(&omitted));
        }
        [titled(RULES, rules), titled(MESSAGES, messages)]
    }
}

fn titled(title: &str, lines: String) -> String {
    if lines.is_empty() {
        lines
    } else {
        format!("\n{title}{lines}")
    }
}
