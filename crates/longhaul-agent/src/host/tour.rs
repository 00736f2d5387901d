//! Drives a screen through the tour: types its prompts, shows its texts, and watches the agent's events.

use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;

use super::AgentHost;
use crate::event::AgentEvent;
use crate::offline::tour::{Tour, TourStep, TourWait};
use crate::screen::{
    CompactionReply, CompactionRequest, CompactionStep, GuideInput, HostRequest, ScreenHost,
};

/// How fast prompts are typed, and how long each step is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TourPace {
    /// At the speed of a person who types and reads.
    Human,
    /// At once, for tests and scripts.
    AtOnce,
}

/// The pause between two letters.
const LETTER: Duration = Duration::from_millis(18);
/// The pause after a command, for its answer.
const ANSWER: Duration = Duration::from_millis(400);

/// How long it is quiet when background work has ended.
const QUIET: Duration = Duration::from_millis(300);

/// Runs the tour until it is over or the screen is gone. All events of the agent pass through here to `screen`; typed
/// input goes to `typed`.
pub async fn run_tour(
    host: AgentHost,
    events: UnboundedReceiver<AgentEvent>,
    screen: UnboundedSender<AgentEvent>,
    typed: UnboundedSender<GuideInput>,
    pace: TourPace,
) {
    let mut driver = TourDriver {
        tour: Tour::new(),
        host,
        events,
        screen,
        typed,
        pace,
    };
    if driver.tour().await.is_some() {
        // The session is the user's now: events are still passed on.
        drop(driver.typed);
        while let Some(event) = driver.events.recv().await {
            if driver.screen.send(event).is_err() {
                return;
            }
        }
    }
}

struct TourDriver {
    tour: Tour,
    host: AgentHost,
    events: UnboundedReceiver<AgentEvent>,
    screen: UnboundedSender<AgentEvent>,
    typed: UnboundedSender<GuideInput>,
    pace: TourPace,
}

/// None if the screen or the agent is gone.
type ScreenGone = Option<()>;

impl TourDriver {
    async fn tour(&mut self) -> ScreenGone {
        let mut compacted_by_command = false;
        loop {
            match self.tour.next_step() {
                TourStep::Say(text) => self.screen.send(AgentEvent::Guide(text)).ok()?,
                TourStep::Prompt(text) => self.types(&text).await?,
                TourStep::Wait(TourWait::Read(time)) => self.rest(time).await?,
                // The compaction was awaited already, and no event announces its end.
                TourStep::Wait(TourWait::Ended) if compacted_by_command => {
                    compacted_by_command = false;
                }
                TourStep::Wait(TourWait::Ended) => {
                    self.until(|event| matches!(event, AgentEvent::Ended(_)))
                        .await?;
                    self.settle().await?;
                }
                TourStep::Command(command) if command == "/compact" => {
                    compacted_by_command = true;
                    self.compact().await?;
                }
                TourStep::Command(command) => {
                    self.types(&command).await?;
                    self.rest(ANSWER).await?;
                }
                TourStep::Resume => {
                    let id = self.host.outlook().snapshot()?.session_id;
                    self.types(&format!("/resume {id}")).await?;
                    self.until(|event| matches!(event, AgentEvent::Glance(_)))
                        .await?;
                    self.rest(ANSWER).await?;
                }
                TourStep::End => return Some(()),
            }
        }
    }

    /// Types a text letter by letter and sends it.
    async fn types(&mut self, text: &str) -> ScreenGone {
        if self.pace == TourPace::Human {
            for (at, letter) in text.char_indices() {
                let so_far = text[..at + letter.len_utf8()].to_owned();
                self.typed.send(GuideInput::SoFar(so_far)).ok()?;
                self.rest(LETTER).await?;
            }
        }
        self.typed.send(GuideInput::Sent(text.to_owned())).ok()
    }

    /// Takes events until one matches.
    async fn until(&mut self, is_it: impl Fn(&AgentEvent) -> bool) -> ScreenGone {
        loop {
            let event = self.events.recv().await?;
            let found = is_it(&event);
            self.pass(event)?;
            if found {
                return Some(());
            }
        }
    }

    /// Takes events for a while.
    async fn rest(&mut self, time: Duration) -> ScreenGone {
        let time = match self.pace {
            TourPace::Human => time,
            TourPace::AtOnce => time.min(ANSWER) / 4,
        };
        let end = tokio::time::Instant::now() + time;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(end) => return Some(()),
                event = self.events.recv() => self.pass(event?)?,
            }
        }
    }

    /// Takes events until there are none for a moment: background work that a prompt set off, such as notes, is done
    /// before the next prompt, so that the tour is the same each time.
    async fn settle(&mut self) -> ScreenGone {
        while let Ok(event) = tokio::time::timeout(QUIET, self.events.recv()).await {
            self.pass(event?)?;
        }
        Some(())
    }

    fn pass(&mut self, event: AgentEvent) -> ScreenGone {
        self.tour.watch(&event);
        self.screen.send(event).ok()
    }

    /// Compacts like a user who approves the preview.
    async fn compact(&mut self) -> ScreenGone {
        let (reply, shown) = oneshot::channel();
        self.host
            .ask(HostRequest::Compact(CompactionRequest::default(), reply));
        let Ok(CompactionReply::Preview(preview)) = self.answer(shown).await? else {
            return Some(());
        };
        let (reply, done) = oneshot::channel();
        let step = CompactionStep::Approved(preview.summary);
        let ask = CompactionRequest {
            step,
            ..CompactionRequest::default()
        };
        self.host.ask(HostRequest::Compact(ask, reply));
        self.answer(done).await.map(|_| ())
    }

    async fn answer<T>(&mut self, mut answer: oneshot::Receiver<T>) -> Option<T> {
        loop {
            tokio::select! {
                answer = &mut answer => return answer.ok(),
                event = self.events.recv() => self.pass(event?)?,
            }
        }
    }
}
