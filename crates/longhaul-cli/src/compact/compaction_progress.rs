//! Progress on stderr while a model summarizes: a spinner on a terminal, sentences in a log.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use longhaul::session::Observer;
use longhaul_core::engine::{CompactionPhase, Event};

use crate::failure::{tell, warn};
use crate::terminal::{grouped, is_watched};
use crate::text::{clean, count};

/// Observes a compaction.
pub(super) struct CompactionProgress {
    bar: ProgressBar,
    /// The model that is asked.
    model: Option<String>,
    /// Why the model wrote no summary, if it did not.
    failure: Mutex<Option<String>>,
}

impl CompactionProgress {
    pub(super) fn of(model: Option<&str>) -> Self {
        let target = if is_watched() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let bar = match ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        bar.enable_steady_tick(Duration::from_millis(120));
        Self {
            bar,
            model: model.map(clean),
            failure: Mutex::default(),
        }
    }

    /// Why the model wrote no summary, if it did not.
    pub(super) fn failure(&self) -> Option<String> {
        let failure = self.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the progress display.
    pub(super) fn done(&self) {
        self.bar.finish_and_clear();
    }

    fn say(&self, sentence: &str) {
        if self.bar.is_hidden() {
            tell(sentence)
        } else {
            self.bar.set_message(sentence.to_owned())
        }
    }
}

impl Observer for CompactionProgress {
    fn event(&self, event: &Event) {
        match event {
            Event::Phase(Some(CompactionPhase::Compacting)) => {
                if let Some(model) = &self.model {
                    self.say(&format!("Asking {model} for a summary."));
                }
            }
            Event::CompactFailed { message, .. } => {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                *failure = Some(message.clone());
            }
            Event::Phase(Some(CompactionPhase::SessionStartHooks)) => self.bar.set_message("Restoring context"),
            Event::StillCompacting { seconds } => {
                self.say(&format!("Still waiting for the summary after {seconds} s."));
            }
            Event::TooLongRetry { attempt, rounds } => self.say(&format!(
                "The conversation is too long for the model; attempt {} leaves {} out.",
                attempt + 1,
                count(*rounds as u64, "old round", "old rounds"),
            )),
            Event::SummaryCutOff => self.bar.suspend(|| {
                warn("the model's summary was cut off; extracts of the conversation replace its missing sections");
            }),
            Event::ThresholdExceededAfter { tokens, threshold } => {
                let (tokens, threshold) = (grouped(*tokens), grouped(*threshold));
                self.bar.suspend(|| {
                    warn(&format!(
                        "even so the conversation takes {tokens} tokens, and the next compaction is due at {threshold}"
                    ));
                });
            }
            _ => {}
        }
    }

    fn summarizing(&self, characters: usize) {
        let characters = grouped(characters as u64);
        let message = format!("The summary is being written: {characters} characters");
        self.bar.set_message(message);
    }
}
