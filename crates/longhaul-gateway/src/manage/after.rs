//! What follows an answered request: the measured usage is remembered, savings and cost are calculated, and what the
//! core decides is begun (`history/after_reply.rs`).

use std::sync::Arc;

use longhaul_core::history::{
    AnsweredRequest, MeasuredReply, MessagesAtHand, ReplyFollowUp, UnansweredRequest,
};
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_provider::Dialect;

use super::compactor::Compactor;
use super::occasion::{AnswerTokens, WorkOccasion};
use super::request_context::RequestContext;
use super::weight::TokenDensity;

impl Compactor {
    /// A request was answered: what is known of the conversation is brought up to date, and what follows is begun.
    pub(crate) fn answered(self: &Arc<Self>, context: RequestContext, usage: &Usage) {
        let (used, prompt) = (usage.context(), usage.prompt());
        (self.windows).has_answered(context.of_key, &context.model, prompt);
        if let Some(additions) = context.additions {
            let tokenizer = self
                .windows
                .of_tenant(context.tenant, &context.model)
                .spec
                .tokenizer;
            let line = context.placed.line;
            self.branch_states
                .additions_measured(line, tokenizer, prompt, additions);
        }
        self.plan_after(context, AnswerTokens { prompt, used });
    }

    /// A request was answered, but nobody says what it used, as in streams of chat completions whose client does not ask
    /// for that: our own count has to do.
    pub(crate) fn answered_without_usage(self: &Arc<Self>, context: RequestContext, written: u64) {
        if let Some(prompt) = context.estimated {
            let used = prompt + written;
            self.plan_after(context, AnswerTokens { prompt, used });
        }
    }

    /// Remembers how large a conversation is, and begins what follows.
    fn plan_after(self: &Arc<Self>, context: RequestContext, tokens: AnswerTokens) {
        let line = context.placed.line;
        let used = tokens.used;
        let trail = context.outgoing.marked.as_ref();
        let trail = trail.and_then(|(_, trail)| trail.clone()).map(Arc::new);
        let known = self.windows.of_tenant(context.of_key, &context.model);
        let base = context.outgoing.replaced.as_ref();
        let measured = MeasuredReply {
            used,
            at: context
                .messages
                .recognized
                .hashes
                .last()
                .copied()
                .unwrap_or(0),
            beginning: base.map(|(base, _)| base.beginning()),
            beside: context.size().beside,
            tokenizer: known.spec.tokenizer,
            answered: None,
        };
        let now = self.clock.now();
        let answered = AnsweredRequest {
            window: known.window.as_ref(),
            switches: &self.settings.config.switches,
            timing: self.timing(),
            messages: context.at_hand(),
            notes: self.notes_at_hand(line),
            price: context.summary_price(),
        };
        let next = (self.branch_states).answered(line, measured, trail, now, |state| {
            state.after_reply(&answered)
        });
        match next {
            ReplyFollowUp::CompactAhead => self.begin_work(context, WorkOccasion::Ahead(tokens)),
            ReplyFollowUp::SummarizeByPrice => self.begin_work(context, WorkOccasion::Pays(tokens)),
            ReplyFollowUp::TakeNotes => self.note(context, used),
            ReplyFollowUp::Nothing => {}
        }
    }

    /// Begins work that no request waits for.
    fn begin_work(self: &Arc<Self>, context: RequestContext, occasion: WorkOccasion) {
        let compactor = Arc::clone(self);
        let work = async move { compactor.work(context, occasion).await };
        self.tasks.spawn_on(work, &self.runtime);
    }

    /// A request was sent: drops what will not be needed of it when it is answered.
    pub(crate) fn sent(&self, context: &mut RequestContext) {
        if may_tell_no_usage(context) {
            let measured = self.branch_states.measured(context.placed.line);
            context.estimated = Some(self.expected(context, &measured));
        }
        let base = context.outgoing.replaced.as_ref();
        let line = context.placed.line;
        let is_counted = base.is_none_or(|(base, _)| {
            self.branch_states
                .left_out(line, base.beginning())
                .is_some()
        });
        let known = self.windows.of_tenant(context.of_key, &context.model);
        let sent = UnansweredRequest {
            window: known.window.as_ref(),
            bytes: context.size().sent as u64,
            notes: self.notes_at_hand(line),
            price: context.summary_price(),
        };
        let needed = self.branch_states.history(line).may_need_messages(&sent);
        if is_counted && needed == MessagesAtHand::Dropped {
            context.let_go();
        }
    }

    /// A summary was requested without success: its cost is added to the compacted prefix in use, or to the next one.
    pub(super) async fn in_vain(&self, context: &RequestContext, usage: &Usage) {
        let cost = self.spec(&context.model).cost_of_reply(usage);
        let base = context.outgoing.replaced.as_ref();
        if let (Some((base, _)), Some(cost)) = (base, cost.filter(|_| usage.total() > 0))
            && self.prefixes.charge(base, cost).await
        {
            return;
        }
        self.branch_states.used_in_vain(context.placed.line, usage);
    }

    /// A request with a compacted prefix was answered. Returns how many tokens that saved, at the least, and charges
    /// the prefix with the cost of writing again what would have been read from the cache.
    pub(crate) fn saved(self: &Arc<Self>, context: &RequestContext, usage: &Usage) -> u64 {
        let Some((base, _)) = &context.outgoing.replaced else {
            return 0;
        };
        let (line, beginning) = (context.placed.line, base.beginning());
        if context.fresh {
            let spec = self.spec(&context.model);
            let as_read = Usage {
                cache_read: usage.prompt(),
                output: usage.output,
                ..Usage::default()
            };
            let as_paid = Usage {
                input: usage.input,
                cache_read: usage.cache_read,
                cache_write_5m: usage.cache_write_5m,
                cache_write_1h: usage.cache_write_1h,
                output: usage.output,
                ..Usage::default()
            };
            let paid = spec.cost_of_reply(&as_paid);
            let paid = paid.zip(spec.cost_of_reply(&as_read));
            let excess = paid.map(|(paid, read)| paid - read);
            // What is new would have been written, too.
            let excess = excess.map(|excess| self.of_rewritten(excess, context, usage));
            if let Some(excess) = excess {
                let (compactor, base) = (Arc::clone(self), Arc::clone(base));
                let charging = async move { compactor.prefixes.charge(&base, excess).await };
                self.tasks.spawn_on(charging, &self.runtime);
            }
        }
        if let Some(known) = self.branch_states.left_out(line, beginning) {
            return known;
        }
        if context.size.is_some() {
            return 0;
        }
        let density = TokenDensity::measured(usage.prompt(), context.weight().total());
        let less = context.weight_replaced().saturating_sub(base.weight());
        // This is a lower bound: the count of what was not sent is an estimate.
        let tokens = density.tokens(less) / 10 * 9;
        self.branch_states.leaves_out(line, beginning, tokens);
        tokens
    }

    /// The part of an additional cost that is of messages which were sent before, and which the provider would have read
    /// from its cache. It is rather too high than too low.
    fn of_rewritten(&self, excess: Usd, context: &RequestContext, usage: &Usage) -> Usd {
        let unread = usage.prompt().saturating_sub(usage.cache_read);
        let measured = self.branch_states.measured(context.placed.line);
        let first = (measured.used > 0 && context.size.is_none())
            .then(|| context.first_after(measured.at))
            .flatten();
        let new = first.map_or(0, |first| {
            let density = TokenDensity::measured(usage.prompt(), context.weight().total());
            // This is a lower bound: the count of what is new is an estimate.
            density.tokens(context.messages.weight_from(first)) / 10 * 9
        });
        let rewritten = i128::from(unread.saturating_sub(new));
        Usd::from_pico(excess.pico() * rewritten / i128::from(unread.max(1)))
    }
}

/// Whether the answer may not say what it used: a stream of chat completions does so only where the client asks for it.
fn may_tell_no_usage(context: &RequestContext) -> bool {
    let beside = context.messages.beside();
    let after = |name: &[u8]| {
        beside.iter().find_map(|part| {
            let at = memchr::memmem::find(part, name)?;
            part.get(at + name.len()..)
        })
    };
    let asks = after(b"\"include_usage\"").is_some_and(|rest| {
        let value = rest.trim_ascii_start().strip_prefix(b":");
        value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
    });
    context.messages.dialect == Dialect::OpenAi && !asks && after(b"\"stream\"").is_some()
}
