//! A conversation in plain lines: a prompt a line, the answer below it. For terminals that can do no more.

use std::io::{IsTerminal, Write};

use longhaul::hooks::EndReason;
use longhaul_agent::agent::{Agent, AgentBuilder};
use longhaul_agent::event::{AgentEvent, Answer, Ended, Question};
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};
use tokio::sync::mpsc::UnboundedReceiver;

use super::{signals, start};
use crate::args::Chat as Command;
use crate::failure::{Failure, Outcome, tell};
use crate::text::clean;

pub(super) async fn run(command: &Command, builder: AgentBuilder) -> Result<Outcome, Failure> {
    let opened = builder.open(start(command)).await;
    let (mut agent, mut events) = opened.map_err(|error| Failure::Agent { error })?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut next = match command.prompt.clone() {
        Some(prompt) => Some(prompt),
        None => agent.take_first_words(),
    };
    let mut code = 0;
    loop {
        let said = match next.take() {
            Some(said) => said,
            None => {
                prompt_sign()?;
                match lines.next_line().await.map_err(Failure::Stdin)? {
                    Some(line) if line.trim().is_empty() => continue,
                    Some(line) => line,
                    None => break,
                }
            }
        };
        code = match answer(&mut agent, &mut events, &mut lines, said).await? {
            Ended::Done => 0,
            Ended::Cancelled => 130,
            Ended::Refused(why) | Ended::Failed(why) => {
                tell(&clean(&why));
                1
            }
            Ended::TurnsUsedUp(_) => 1,
        };
    }
    agent.close(EndReason::PromptInputExit).await;
    Ok(Outcome::Worked(code))
}

fn prompt_sign() -> Result<(), Failure> {
    match std::io::stdin().is_terminal() {
        true => write("> "),
        false => Ok(()),
    }
}

async fn answer(
    agent: &mut Agent,
    events: &mut UnboundedReceiver<AgentEvent>,
    lines: &mut Lines<BufReader<Stdin>>,
    said: String,
) -> Result<Ended, Failure> {
    let (canceller, interrupt) = (agent.canceller(), signals()?);
    let mut work = Box::pin(agent.prompt(said));
    let mut stopped = false;
    let ended = loop {
        tokio::select! {
            biased;
            event = events.recv() => match event {
                Some(AgentEvent::Asks(question)) => ask(question, lines).await?,
                Some(event) => show(&event)?,
                None => {}
            },
            () = interrupt.cancelled(), if !stopped => {
                stopped = true;
                canceller.cancel();
            }
            ended = &mut work => break ended,
        }
    };
    while let Ok(event) = events.try_recv() {
        show(&event)?;
    }
    write("\n")?;
    Ok(ended)
}

async fn ask(question: Question, lines: &mut Lines<BufReader<Stdin>>) -> Result<(), Failure> {
    tell(&format!(
        "{} {}: {}. Allow it? [y]es, [a]lways in this session, or what to do instead",
        question.name,
        clean(&question.line),
        clean(&question.reason)
    ));
    let answer = match lines.next_line().await.map_err(Failure::Stdin)? {
        Some(line) => match line.trim() {
            "y" | "yes" => Answer::Once,
            "a" | "always" => Answer::Session,
            "" | "n" | "no" => Answer::No(None),
            instead => Answer::No(Some(instead.to_owned())),
        },
        None => Answer::No(None),
    };
    // Whoever asked may have been stopped meanwhile.
    let _ = question.answer.send(answer);
    Ok(())
}

fn show(event: &AgentEvent) -> Result<(), Failure> {
    match event {
        AgentEvent::Text(text) => {
            let lines: Vec<String> = text.split('\n').map(clean).collect();
            write(&lines.join("\n"))
        }
        AgentEvent::ToolStarted { name, line, .. } => {
            write(&format!("\n[{name} {}]\n", clean(line)))
        }
        AgentEvent::ToolEnded { output, .. } => write(&format!("[{}]\n", clean(&output.line))),
        AgentEvent::Notice(sentence) => {
            tell(&clean(sentence));
            Ok(())
        }
        _ => Ok(()),
    }
}

fn write(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(Failure::Stdout)
}
