//! The input of hooks does not appear in logs or errors.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use longhaul::hooks::{HookEventName, Hooks};
use serde_json::json;

use super::support::{Project, command, ends, prompt};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn k2_hooks_get_keys_and_prompts_and_no_log_or_error_repeats_them() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    // The runtime of this test has one thread, so its tasks log here too.
    let _guard = tracing::subscriber::set_default(subscriber);
    // While there is only one subscriber, a log line that another test reaches first, on a thread without it, counts as
    // disabled. A second subscriber makes tracing ask all of them.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let project = Project::new();
    let timed = |rest: &str, timeout| command(&format!(": in-command; {rest}"), timeout);
    let line = |rest: &str| timed(rest, 60.0);
    let hooks = project
        .hooks(
            HookEventName::UserPromptSubmit,
            json!([
                line("printf %s \"$ANTHROPIC_API_KEY\""),
                line("exit 3"),
                line("kill -9 $$"),
                line("echo '{'; cat"),
                timed("exec sleep 1000", 1.0),
                {"type": "command", "command": "./absent-in-command", "args": ["in-command"]},
            ]),
        )
        .with_env("ANTHROPIC_API_KEY", "in-environment");
    let outcome = ends(hooks.run(&project.call(prompt("in-prompt")))).await;
    assert_eq!(
        outcome.context,
        ["in-environment"],
        "hooks are given what Claude Code gives them"
    );
    assert_eq!(outcome.errors.len(), 5);
    let mut said = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(said.matches("hook ended").count(), 6);
    for error in &outcome.errors {
        said += &format!("{error} {error:?}");
    }
    said += &format!("{hooks:?}");
    for secret in ["in-environment", "in-prompt", "in-command"] {
        assert!(!said.contains(secret), "{secret} was repeated");
    }
}
