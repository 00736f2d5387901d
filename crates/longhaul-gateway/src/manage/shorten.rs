//! Shortens the newest results where they leave no room in the window: the model has not read them yet, so neither a
//! summary nor extracts could stand for them. The largest ones keep their beginning, their end and the lines that speak
//! of errors; what is left out is said in their place. The shortened form is stored like any reduced result (V8).

use std::collections::BTreeMap;
use std::ops::Range;

use longhaul_core::facts::FactsBudget;
use longhaul_core::history::{RequestSizes, newest_room, room_limit};
use longhaul_core::reduce::{ResultText, cap_within, shorten, text_of_content};
use longhaul_core::tokens::calibrated::{CalibratedClass, UnscaledTokens, blocks};
use longhaul_core::window::{SwitchableAction, WindowStatus};

use super::compactor::Compactor;
use super::element::{ElementParts, texts};
use super::reduction_records::StoredReduction;
use super::request_context::RequestContext;
use super::sized_history::SizedHistory;
use super::weight::SHORT_SUMMARY;
use crate::body::BodyRole;

/// Results that are shortened, by the message that holds them.
pub(super) type ShortenedResults = BTreeMap<usize, Vec<StoredReduction>>;

/// Newest messages below this fraction of the threshold are not looked at.
const SMALL: u64 = 8;

/// How the provider counts a request, and how many tokens it may have.
pub(super) struct RequestLimit<'w> {
    pub(super) window: &'w WindowStatus,
    /// From so many tokens on, a request does not fit.
    pub(super) limit: u64,
    /// The provider's tokens per thousand tokens of the careful count.
    pub(super) density: u64,
}

/// A result that may be shortened.
struct LongResult {
    message: usize,
    call: String,
    text: String,
    tokens: u64,
    failed: bool,
}

impl Compactor {
    /// The newest results that have to be shortened before a request is sent for the first time.
    pub(super) fn shortened(&self, context: &RequestContext) -> ShortenedResults {
        let known = self.windows.of_tenant(context.of_key, &context.model);
        let may = self.may(SwitchableAction::Automatic) || self.may(SwitchableAction::Micro);
        let (Some(window), true) = (&known.window, may) else {
            return ShortenedResults::new();
        };
        let limit = room_limit(window, self.timing());
        self.shortened_within(
            context,
            &RequestLimit {
                window,
                limit,
                density: 1_000,
            },
        )
    }

    /// The newest results that have to be shortened for a request to fit.
    pub(super) fn shortened_within(
        &self,
        context: &RequestContext,
        limit: &RequestLimit<'_>,
    ) -> ShortenedResults {
        let roles = context.roles();
        let newest = roles
            .iter()
            .rposition(|role| *role == BodyRole::Assistant)
            .map_or(0, |newest| newest + 1);
        // A token is at least one byte: what is small leaves room.
        let bytes: usize = (newest..roles.len())
            .filter_map(|at| context.messages.element(at))
            .map(|element| element.len())
            .sum();
        if (bytes as u64) < limit.window.auto_compact.min(limit.limit) / SMALL {
            return ShortenedResults::new();
        }
        let tokenizer = self
            .windows
            .of_tenant(context.tenant, &context.model)
            .spec
            .tokenizer;
        let counter = self.branch_states.counter(context.placed.line, tokenizer);
        let careful = |count: UnscaledTokens| {
            let estimate = counter.scaled(count);
            (estimate.tokens + estimate.bound).saturating_mul(limit.density) / 1_000
        };
        let Some(sizes) = SizedHistory::of(context, &self.sizes, &self.settings) else {
            return ShortenedResults::new();
        };
        let (older, older_least) = match context.is_summarized_before_newest() {
            true => {
                let older = careful(sizes.between_summary_and(newest));
                (older, older)
            }
            false => {
                let older = context.messages.recognized.lead..newest;
                let words = careful(words(context, older.clone()));
                let words = words.min(FactsBudget::of_window(limit.window).tokens);
                let summary = limit.window.scale().apply(SHORT_SUMMARY);
                (careful(sizes.between(older)), words + summary)
            }
        };
        let request = RequestSizes {
            prefix: careful(sizes.head()),
            older,
            older_least,
            newest: careful(sizes.from(newest)),
        };
        let Some(room) = newest_room(request, limit.window, limit.limit) else {
            return ShortenedResults::new();
        };
        let excess = request.newest.saturating_sub(room);
        let results = long_results(context, newest, |message, call| {
            careful(sizes.result(message, call))
        });
        let (failed, worked): (Vec<_>, Vec<_>) = results.into_iter().partition(|one| one.failed);
        // Errors are shortened only where everything else is not enough.
        let mut made = ShortenedResults::new();
        let freed = cut(worked, excess, &mut made);
        cut(failed, excess.saturating_sub(freed), &mut made);
        if !made.is_empty() {
            let results: usize = made.values().map(Vec::len).sum();
            tracing::info!(
                line = %context.placed.line,
                results,
                tokens = excess,
                "the newest results are shortened, because the window has no room for all of them"
            );
        }
        made
    }
}

/// The texts of the user in these messages, which a summary keeps.
fn words(context: &RequestContext, messages: Range<usize>) -> UnscaledTokens {
    let roles = context.roles();
    let asked = messages.filter(|at| roles.get(*at) == Some(&BodyRole::User));
    let said = asked.filter_map(|at| {
        let text = context.messages.text(at)?;
        Some(texts(ElementParts::read(text)?.content()))
    });
    said.map(|said| blocks::literal(CalibratedClass::Text, said.as_bytes()))
        .sum()
}

/// The results among the newest messages that are one text.
fn long_results(
    context: &RequestContext,
    newest: usize,
    tokens: impl Fn(usize, &str) -> u64,
) -> Vec<LongResult> {
    let mut found = Vec::new();
    for message in newest..context.roles().len() {
        let Some(element) = context.messages.element(message) else {
            continue;
        };
        let Some(read) = ElementParts::read(&element) else {
            continue;
        };
        for result in read.results(context.messages.dialect) {
            let raw = result.content.and_then(|place| element.get(place));
            let raw = raw.unwrap_or_default();
            // A breakpoint of the client would go with the content.
            let is_marked = memchr::memmem::find(raw, b"\"cache_control\"").is_some();
            let text = text_of_content(raw).filter(|_| !is_marked);
            if let Some(text) = text {
                found.push(LongResult {
                    message,
                    tokens: tokens(message, &result.call),
                    call: result.call.into_owned(),
                    text: text.into_owned(),
                    failed: result.failed,
                });
            }
        }
    }
    found
}

/// Shortens the largest of these results until `excess` tokens are freed, as far as that is possible; returns how many are.
fn cut(results: Vec<LongResult>, excess: u64, made: &mut ShortenedResults) -> u64 {
    if excess == 0 {
        return 0;
    }
    let all: u64 = results.iter().map(|one| one.tokens).sum();
    let cap = cap_within(
        results.iter().map(|one| one.tokens),
        all.saturating_sub(excess),
    );
    let mut freed = 0;
    for one in results.into_iter().filter(|one| one.tokens > cap) {
        let characters = one.text.chars().count() as u64;
        let most = u128::from(characters) * u128::from(cap) / u128::from(one.tokens.max(1));
        let result = ResultText {
            call: &one.call,
            text: &one.text,
        };
        let Some(text) = shorten(result, usize::try_from(most).unwrap_or(usize::MAX)) else {
            continue;
        };
        let left = text.chars().count() as u64;
        freed += one.tokens - (one.tokens * left / characters.max(1)).min(one.tokens);
        made.entry(one.message).or_default().push(StoredReduction {
            call: one.call,
            refers_to: None,
            text,
        });
    }
    freed
}
