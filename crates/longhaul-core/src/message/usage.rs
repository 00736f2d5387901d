//! What the provider measured for one reply (`message.usage`).

/// The token counts of a reply, by price class.
///
/// ```
/// use longhaul_core::message::Usage;
///
/// let json = br#"{"input_tokens": 4, "cache_read_input_tokens": 9000, "output_tokens": 300}"#;
/// let usage = Usage::read(json).unwrap_or_default();
/// assert_eq!((usage.prompt(), usage.total()), (9004, 9304));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    /// Prompt tokens outside the cache.
    pub input: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Prompt tokens written to the cache for an hour.
    pub cache_write_1h: u64,
    /// Tokens that the model wrote.
    pub output: u64,
    /// Tokens that the provider left out of the cached prompt because the request asked for it (U4). They are not part
    /// of the other counts. `None` if the provider does not report it.
    pub cache_deleted: Option<u64>,
    /// Searches of the web that the provider ran for the reply. Each has a price of its own, besides the tokens of its
    /// results.
    pub web_searches: u64,
    /// Whether the reply is billed at the batch rate.
    pub batch: bool,
    /// Whether the reply is billed with the surcharge for inference in the US.
    pub us_only: bool,
    /// The sampling steps of one reply, where the provider lists them (server compaction, server tools).
    pub iterations: Vec<Iteration>,
}

/// One of [`Usage::iterations`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Iteration {
    /// What was sampled.
    pub kind: IterationKind,
    /// The token counts of the iteration.
    pub usage: Usage,
}

/// What an iteration sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum IterationKind {
    /// A step of the reply itself. Its size is the size of the conversation.
    #[default]
    Message,
    /// Something else that is billed: a server-side compaction, an advisor, a fallback.
    Other,
}

impl Usage {
    /// Everything that was in the window when the reply ended.
    pub fn total(&self) -> u64 {
        self.input + self.cache_read + self.cache_write() + self.output
    }

    /// Tokens written to the cache, of either lifetime.
    pub fn cache_write(&self) -> u64 {
        self.cache_write_5m + self.cache_write_1h
    }

    /// Tokens of the prompt, cached or not.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write()
    }

    /// The context size that this reply measured (T1): the last step of the reply itself, or else the totals.
    pub fn context(&self) -> u64 {
        self.iterations
            .iter()
            .rev()
            .find(|iteration| iteration.kind == IterationKind::Message)
            .map_or_else(|| self.total(), |iteration| iteration.usage.total())
    }

    /// The part of [`Usage::context`] that the model wrote.
    pub(crate) fn context_output(&self) -> u64 {
        self.iterations
            .iter()
            .rev()
            .find(|iteration| iteration.kind == IterationKind::Message)
            .map_or(self.output, |iteration| iteration.usage.output)
    }

    /// The billed steps: the iterations if there are any, otherwise the totals.
    pub fn billed(&self) -> impl Iterator<Item = &Usage> {
        let whole = self.iterations.is_empty().then_some(self);
        whole
            .into_iter()
            .chain(self.iterations.iter().map(|iteration| &iteration.usage))
    }

    /// Adds another usage's counts to the totals.
    pub fn add(&mut self, other: &Usage) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write_5m += other.cache_write_5m;
        self.cache_write_1h += other.cache_write_1h;
        self.output += other.output;
        self.web_searches += other.web_searches;
    }

    /// Adds all billed steps of a reply, and the searches that its totals count.
    pub fn add_billed(&mut self, reply: &Usage) {
        for step in reply.billed() {
            self.add(step);
        }
        if !reply.iterations.is_empty() {
            self.web_searches += reply.web_searches;
        }
    }

    /// The share of the prompt that came from the cache, from 0 to 1.
    pub fn cache_hit_rate(&self) -> f64 {
        match self.prompt() {
            0 => 0.0,
            prompt => self.cache_read as f64 / prompt as f64,
        }
    }
}
