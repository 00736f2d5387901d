//! Shows a reply while it arrives, and what the engine does in between: an observer receives both.
//!
//! `cargo run -p longhaul --example streaming`. Without `ANTHROPIC_API_KEY` the simulator answers.

mod support;

use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul::prelude::*;

/// Writes pieces of text as they come. An observer returns soon, because the session waits for it.
struct Screen<W>(Arc<Mutex<W>>);

impl<W: Write + Send> Screen<W> {
    fn show(&self, text: &str) {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A screen that is gone is no reason to end the conversation.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl<W: Write + Send> Observer for Screen<W> {
    fn stream(&self, event: &StreamEvent) {
        match event {
            StreamEvent::Text { text, .. } => self.show(text),
            // The provider began again: what was shown so far does not count.
            StreamEvent::Restarted => self.show("\n[again] "),
            StreamEvent::Finished(_) => self.show("\n"),
            _ => {}
        }
    }

    fn event(&self, event: &Event) {
        match event {
            Event::Replied { usage, .. } => self.show(&format!(
                "[{} tokens in, {} of them from the cache, {} out]\n",
                usage.prompt(),
                usage.cache_read,
                usage.output
            )),
            Event::Compacted(done) => {
                self.show(&format!(
                    "[compacted: {} to {} tokens]\n",
                    done.before, done.after
                ));
            }
            _ => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(Arc::new(Mutex::new(std::io::stdout()))).await
}

pub(crate) async fn run<W: Write + Send + 'static>(
    out: Arc<Mutex<W>>,
) -> Result<(), Box<dyn Error>> {
    let (client, _simulator) = support::connect().await?;
    let mut session = Session::builder()
        .model(client)
        .prompt(Prompt::new(support::MODEL, "You are friendly."))
        .observer(Screen(out))
        .open()?;
    for line in ["Who are you?", "What can you do?"] {
        session.say(line).await?;
        session.turn().await?;
    }
    Ok(())
}
