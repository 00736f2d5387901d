//! Notes in the offline world: a real connection, a provider that counts what was cached, and a model that takes notes.

use std::sync::Arc;

use longhaul::{NoWorkspace, Session};
use longhaul_core::config::Config;
use longhaul_core::engine::{Event, NotesRunOutcome, Summarizer, ToolOutput};
use longhaul_store::Durability;

use super::desk::tool;
use crate::proof::place::{MODELS, Place, Setup, client, prompt};
use crate::session::house::{Talk, VirtualClock};

/// A session in which notes are taken and summaries prepared, as by default.
fn open(place: &Place, way: Way) -> Session {
    let mut settings = Config::default();
    settings.window_cap = Some(place.setup.window);
    let mut prompt = prompt(place.setup.model, &place.setup.system);
    if way == Way::Edit {
        prompt
            .tools
            .push(tool("Edit", &["file_path", "old_string", "new_string"]));
    }
    Session::builder()
        .model(client(&place.server.url()))
        .prompt(prompt)
        .transcript(place.transcript())
        .durability(Durability::OnClose)
        .config(settings)
        // Notes are taken at their own thresholds (S2); `proof/modes` has them by price.
        .economy(longhaul::EconomyPolicy::Off)
        .workspace(NoWorkspace)
        .clock(VirtualClock(Arc::clone(&place.server)))
        .observer(place.told.clone())
        .seed(1)
        .open()
        .unwrap()
}

/// How notes are handed in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Edit,
    Text,
}

/// Whether background work is awaited after every turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Host {
    Attends,
    GoesOn,
}

/// One exchange, with long results.
async fn exchange(place: &Place, session: &mut Session, talk: &mut Talk, host: Host) {
    session.say(talk.says(talk.said.len())).await.unwrap();
    for _ in 0..5 {
        place.later(5);
        let reply = session.turn().await.unwrap();
        if host == Host::Attends {
            session.drive_background().await;
        }
        let calls = reply.tool_calls().map(|call| call.id.to_string());
        let outputs: Vec<ToolOutput> = calls.map(|id| talk.result(id)).collect();
        if outputs.is_empty() {
            return;
        }
        session.results(outputs).await.unwrap();
    }
}

fn setup(model: &'static str, window: u64) -> Setup {
    Setup {
        system: "Mind the style guide: short functions, no globals, tests first. ".repeat(300),
        ..Setup::new(model, window)
    }
}

fn by(place: &Place, summarizer: Summarizer) -> usize {
    let compactions = place.told.compactions().into_iter();
    compactions.filter(|done| done.by == summarizer).count()
}

#[tokio::test]
async fn s3_notes_read_from_cache_what_the_request_before_had_sent() {
    for model in &MODELS[..2] {
        let place = Place::new(setup(model, 100_000)).await;
        let mut session = open(&place, Way::Edit);
        let mut talk = Talk::new(3);
        let runs = |place: &Place| -> Vec<(u64, NotesRunOutcome)> {
            let mut sent = 0;
            let mut runs = Vec::new();
            for event in place.told.events() {
                match event {
                    Event::Replied { usage, .. } => sent = usage.prompt(),
                    Event::NotesTaken(event) => runs.push((sent, event.taken)),
                    _ => {}
                }
            }
            runs
        };
        for _ in 0..25 {
            exchange(&place, &mut session, &mut talk, Host::Attends).await;
            if runs(&place).len() >= 3 {
                break;
            }
        }
        assert_eq!(place.rejections(), Vec::<String>::new());
        let runs = runs(&place);
        assert!(runs.len() >= 3, "{runs:?}");
        for (sent, taken) in runs {
            assert_eq!(
                (taken.failed.clone(), taken.requests),
                (None, 1),
                "{taken:?}"
            );
            assert!(taken.changed > 0, "{taken:?}");
            let share = taken.usage.cache_read as f64 / sent as f64;
            println!(
                "{model}: {sent} sent, {} read, {:.1} %",
                taken.usage.cache_read,
                share * 100.0
            );
            assert!(
                share >= 0.95,
                "{model}: {} of {sent}",
                taken.usage.cache_read
            );
        }
    }
}

#[tokio::test]
async fn s6_a_long_session_is_compacted_by_its_notes() {
    for (host, way) in [
        (Host::Attends, Way::Edit),
        (Host::GoesOn, Way::Edit),
        (Host::Attends, Way::Text),
    ] {
        let place = Place::new(setup(MODELS[0], 60_000)).await;
        let mut session = open(&place, way);
        let mut talk = Talk::new(4);
        for _ in 0..120 {
            exchange(&place, &mut session, &mut talk, host).await;
            if by(&place, Summarizer::Notes) >= 3 {
                break;
            }
        }
        session.drive_background().await;
        assert_eq!(place.rejections(), Vec::<String>::new());
        let failed = place
            .told
            .events()
            .into_iter()
            .find_map(|event| match event {
                Event::NotesTaken(event) => event.taken.failed,
                _ => None,
            });
        assert!(by(&place, Summarizer::Notes) >= 3, "{failed:?}");
        let compactions = place.told.compactions();
        let view: String = (session.engine().live().views())
            .map(|entry| String::from_utf8_lossy(entry.line).into_owned())
            .collect();
        assert!(talk.said.iter().all(|said| view.contains(said)));
        println!(
            "{} compactions, {} by notes, {} exchanges",
            compactions.len(),
            by(&place, Summarizer::Notes),
            talk.said.len()
        );
    }
}

#[tokio::test]
async fn x5_a_long_session_without_notes_goes_on_while_it_is_summed_up() {
    let place = Place::new(setup(MODELS[0], 60_000)).await;
    let mut settings = Config::default();
    settings.window_cap = Some(60_000);
    settings.switches.notes = false;
    let mut session = Session::builder()
        .model(client(&place.server.url()))
        .prompt(prompt(MODELS[0], &place.setup.system))
        .transcript(place.transcript())
        .durability(Durability::OnClose)
        .config(settings)
        .workspace(NoWorkspace)
        .clock(VirtualClock(Arc::clone(&place.server)))
        .observer(place.told.clone())
        .open()
        .unwrap();
    let mut talk = Talk::new(5);
    while place.told.compactions().len() < 3 {
        exchange(&place, &mut session, &mut talk, Host::GoesOn).await;
        assert!(talk.said.len() < 120, "it is not compacted");
    }
    assert_eq!(place.rejections(), Vec::<String>::new());
    let events = place.told.events();
    let ready = events
        .iter()
        .filter(|event| {
            matches!(
                event,
                Event::Ahead(longhaul_core::engine::PreparationEvent::Ready)
            )
        })
        .count();
    assert!(ready >= 3, "{ready}");
    let view: String = (session.engine().live().views())
        .map(|entry| String::from_utf8_lossy(entry.line).into_owned())
        .collect();
    assert!(talk.said.iter().all(|said| view.contains(said)));
}
