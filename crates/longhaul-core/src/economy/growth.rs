//! How fast a view grows: how far away a threshold is, counted in requests.

/// The requests after which the growth of a view is known.
const LEAST_REQUESTS: u64 = 4;

/// What came into a view since its first request, or since the last summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ViewGrowth {
    requests: u64,
    tokens: u64,
}

impl ViewGrowth {
    /// Notes something that came into the view, at the size that it had then. What comes before the first request is
    /// where the view begins, not growth.
    pub fn added(&mut self, tokens: u64) {
        if self.requests > 0 {
            self.tokens = self.tokens.saturating_add(tokens);
        }
    }

    /// Notes a request.
    pub fn requested(&mut self) {
        self.requests += 1;
    }

    /// The tokens by which the view grows with each request; 0 while that is not known.
    pub fn per_request(&self) -> u64 {
        if self.requests < LEAST_REQUESTS {
            0
        } else {
            self.tokens / self.requests
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_known_after_four_requests_and_leaves_out_what_was_there_before_them() {
        let mut growth = ViewGrowth::default();
        growth.added(50_000);
        for _ in 0..3 {
            growth.requested();
            growth.added(1_000);
        }
        assert_eq!(growth.per_request(), 0);
        growth.requested();
        assert_eq!(growth.per_request(), 750);
    }
}
