//! What the provider measured for one reply (`message.usage`).

/// The token counts of a reply, by price class.
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
    /// Tokens the model wrote.
    pub output: u64,
    /// Tokens that the provider left out of the cached prompt because the request asked for it (U4); they are in none of
    /// the other counts. None if it does not say.
    pub cache_deleted: Option<u64>,
    /// Billed at the batch rate.
    pub batch: bool,
    /// Billed with the surcharge for inference in the US.
    pub us_only: bool,
    /// The sampling steps behind one reply, where the provider lists them (server compaction, server tools).
    pub iterations: Vec<Iteration>,
}

/// One of [`Usage::iterations`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Iteration {
    /// What was sampled.
    pub kind: IterationKind,
    /// Its counts.
    pub usage: Usage,
}

/// What an iteration sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IterationKind {
    /// A step of the reply itself: its size is the conversation's.
    #[default]
    Message,
    /// Something else that is billed: a server-side compaction, an advisor, a fallback.
    Other,
}

impl Usage {
    /// Reads a `usage` object in the API's terms. None if the text is no such object.
    pub fn read(json: &[u8]) -> Option<Self> {
        super::scan::usage_of(json)
    }

    /// Everything that was in the window when the reply ended.
    pub fn total(&self) -> u64 {
        self.input + self.cache_read + self.cache_write() + self.output
    }

    /// Tokens written to the cache, of either lifetime.
    pub fn cache_write(&self) -> u64 {
        self.cache_write_5m + self.cache_write_1h
    }

    /// Tokens of the prompt, wherever they were read from.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write()
    }

    /// The context size this reply measured (T1): the last step of the reply itself, else the totals.
    pub fn context(&self) -> u64 {
        self.iterations
            .iter()
            .rev()
            .find(|iteration| iteration.kind == IterationKind::Message)
            .map_or_else(|| self.total(), |iteration| iteration.usage.total())
    }

    /// What the model wrote, of the context that [`Usage::context`] tells.
    pub(crate) fn context_output(&self) -> u64 {
        self.iterations
            .iter()
            .rev()
            .find(|iteration| iteration.kind == IterationKind::Message)
            .map_or(self.output, |iteration| iteration.usage.output)
    }

    /// What is billed, step by step: the iterations where there are any, else the totals.
    pub fn billed(&self) -> impl Iterator<Item = &Usage> {
        let whole = self.iterations.is_empty().then_some(self);
        whole
            .into_iter()
            .chain(self.iterations.iter().map(|iteration| &iteration.usage))
    }

    /// Adds another's counts to the totals.
    pub fn add(&mut self, other: &Usage) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write_5m += other.cache_write_5m;
        self.cache_write_1h += other.cache_write_1h;
        self.output += other.output;
    }

    /// Share of the prompt that came from the cache, 0 to 1.
    pub fn cache_hit_rate(&self) -> f64 {
        match self.prompt() {
            0 => 0.0,
            prompt => self.cache_read as f64 / prompt as f64,
        }
    }
}
