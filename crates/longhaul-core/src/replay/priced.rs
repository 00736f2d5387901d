//! A recorded conversation with prices: for each request what the cache does, what tokens cost and where the
//! thresholds are.

use std::sync::Arc;

use jiff::Timestamp;

use super::session::{ItemKind, RecordedConversation, RecordedItem};
use super::terms::{ReplayTerms, ReplayWindow, ReplayedHost};
use crate::economy::{
    PrefixWarmth, StrippedThinking, TokenRates, VERBATIM_TOKENS, freed_by_clearing,
};
use crate::models::ModelSpec;
use crate::money::Usd;
use crate::prompt::Ttl;
use crate::window::{WindowError, WindowInput, WindowStatus};

/// A conversation that can be replayed.
#[derive(Debug)]
pub struct PricedConversation {
    pub(super) prefix: u64,
    pub(super) hot_prefix: u64,
    pub(super) items: Vec<RecordedItem>,
    pub(super) requests: Vec<PricedRequest>,
    pub(super) ttl: Ttl,
    pub(super) host: ReplayedHost,
}

/// A request that can be replayed.
#[derive(Debug)]
pub(super) struct PricedRequest {
    pub(super) spec: Arc<ModelSpec>,
    pub(super) items_end: usize,
    /// What the cache does for it, judging by time and model.
    pub(super) warmth: PrefixWarmth,
    pub(super) idle_seconds: Option<i64>,
    /// When it was made.
    pub(super) start: Option<Timestamp>,
    pub(super) window: WindowStatus,
    /// What the first request was billed, which no policy changes.
    pub(super) first: Option<Usd>,
    pub(super) output: Usd,
    /// The tokens that the model writes.
    pub(super) written: u64,
}

impl PricedConversation {
    /// Puts prices on a conversation. Every model must have some.
    ///
    /// # Errors
    /// If a window is too small to work in.
    pub fn new(recorded: &RecordedConversation, terms: &ReplayTerms) -> Result<Self, WindowError> {
        let mut items = recorded.items.clone();
        let mut requests: Vec<PricedRequest> = Vec::with_capacity(recorded.requests.len());
        let mut sized = 0;
        let mut before: Option<&super::RecordedRequest> = None;
        for request in &recorded.requests {
            for item in &mut items[sized..request.items_end] {
                item.tokens = terms.resized(request.model, item.tokens);
            }
            sized = request.items_end;
            let spec = Arc::clone(&terms.specs[request.model]);
            let idle_seconds = before
                .and_then(|before| before.start.zip(request.start))
                .map(|(from, to)| to.duration_since(from).as_secs());
            let same_model = before
                .is_none_or(|before| terms.specs[before.model].id == terms.specs[request.model].id);
            let warmth = if same_model {
                PrefixWarmth::after(idle_seconds, terms.ttl)
            } else {
                PrefixWarmth::Cold
            };
            let prompt = request.usage.prompt();
            let rates = rates(&spec, prompt, terms.ttl);
            let first = before.is_none().then(|| {
                let usage = &request.usage;
                let read = terms.resized(request.model, usage.cache_read);
                let written = terms.resized(request.model, usage.cache_write());
                let input = terms.resized(request.model, usage.input);
                rates.read.of(read) + rates.write.of(written) + rates.input.of(input)
            });
            let written = terms.resized(request.model, request.output);
            let output = rates.output.of(written);
            requests.push(PricedRequest {
                items_end: request.items_end,
                warmth,
                idle_seconds,
                start: request.start,
                window: window(&spec, terms)?,
                first,
                output,
                written,
                spec,
            });
            before = Some(request);
        }
        let first = recorded.requests.first().map_or(0, |first| first.model);
        let resized = |tokens| match terms.specs.is_empty() {
            true => tokens,
            false => terms.resized(first, tokens),
        };
        Ok(Self {
            prefix: resized(recorded.prefix),
            hot_prefix: resized(recorded.hot_prefix),
            items,
            requests,
            ttl: terms.ttl,
            host: terms.host,
        })
    }

    /// The newest tokens that actions by price leave word for word (V5).
    pub(super) fn verbatim(&self) -> u64 {
        let first = self.requests.first();
        first.map_or(0, |request| request.window.scale().apply(VERBATIM_TOKENS))
    }

    /// The rates of a request whose view has this size.
    pub(super) fn rates(&self, request: usize, view: u64) -> TokenRates {
        rates(&self.requests[request].spec, view, self.ttl)
    }

    /// What the cache does for a request whose view has this size.
    pub(super) fn warmth(&self, request: usize, view: u64) -> PrefixWarmth {
        let request = &self.requests[request];
        if view < request.spec.cache_minimum {
            PrefixWarmth::Uncached
        } else {
            request.warmth
        }
    }

    /// Whether thinking leaves with what is removed before it.
    pub(super) fn thinking(&self, request: usize) -> StrippedThinking {
        if self.requests[request].spec.thinking.binding.may_bind() {
            StrippedThinking::After
        } else {
            StrippedThinking::None
        }
    }

    /// The items that a request adds.
    pub(super) fn added(&self, request: usize) -> std::ops::Range<usize> {
        let from = request
            .checked_sub(1)
            .map_or(0, |before| self.requests[before].items_end);
        from..self.requests[request].items_end
    }

    /// What clearing an item frees; `None` if it cannot be cleared or is hardly larger than the marker.
    pub(super) fn freed(item: &RecordedItem) -> Option<u64> {
        let freed = freed_by_clearing(item.tokens);
        (item.kind == ItemKind::Result && freed > 0).then_some(freed)
    }
}

fn rates(spec: &ModelSpec, prompt: u64, ttl: Ttl) -> TokenRates {
    match &spec.prices {
        Some(prices) => TokenRates::of(prices, prompt, ttl),
        // Sessions without prices are not replayed.
        None => TokenRates {
            input: Default::default(),
            write: Default::default(),
            read: Default::default(),
            output: Default::default(),
        },
    }
}

fn window(spec: &ModelSpec, terms: &ReplayTerms) -> Result<WindowStatus, WindowError> {
    let size = match terms.window {
        ReplayWindow::Own => spec.window,
        ReplayWindow::Tokens(tokens) => tokens,
    };
    WindowStatus::new(&WindowInput {
        window: size,
        max_output: spec.max_output,
        used: 0,
        settings: terms.settings,
    })
}
