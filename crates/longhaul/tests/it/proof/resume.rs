//! A session that is closed and opened again sends the same request, to the byte (Y2).

use std::path::PathBuf;

use longhaul::Session;
use longhaul_core::boundary::{
    CopiedEntry, LineEnvelope, LineStamp, LineThread, UndoPlan, UndoRecord,
};
use longhaul_core::engine::{CompactRequest, Pivot};
use longhaul_core::message::{Entry, EntryKind};
use longhaul_core::summary::PivotDirection;
use longhaul_core::transcript::{ResolvedConversation, TranscriptTable};
use longhaul_provider::Reply;
use longhaul_store::{Durability, LoadedContent, TranscriptWriter, load};

use super::person::Person;
use super::place::{MODELS, Place, Setup};

/// The session as it is on disk now, opened by another process.
fn elsewhere(place: &Place) -> Session {
    let folder: PathBuf = place.folder.path().join("elsewhere");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    let copy = folder.join("session.jsonl");
    std::fs::copy(place.transcript(), &copy).unwrap();
    place.open_at(&copy, place.setup.window)
}

/// The next request is the same from the running session and from one that resumes it.
async fn same_next_request(place: &Place, session: &mut Session, when: &str) -> Reply {
    let mut other = elsewhere(place);
    other.turn().await.unwrap();
    let resumed = place.sent.newest();
    let reply = session.turn().await.unwrap();
    let went_on = place.sent.newest();
    assert!(went_on.len() > 1_000);
    let same = went_on.iter().zip(&resumed).take_while(|(a, b)| a == b);
    let at = same.count();
    let around = |body: &[u8]| {
        let part = &body[at.saturating_sub(400)..(at + 300).min(body.len())];
        String::from_utf8_lossy(part).into_owned()
    };
    assert!(
        went_on == resumed,
        "{} {when}, at {at} of {}:\n{}\n\nresumed:\n{}",
        place.setup.model,
        went_on.len(),
        around(&went_on),
        around(&resumed)
    );
    reply
}

/// The next two requests are the same, with results in between.
async fn same_requests(place: &Place, session: &mut Session, person: &mut Person, when: &str) {
    for which in ["the next", "the one after"] {
        session.say(person.says()).await.unwrap();
        place.later(3);
        let when = format!("{when}, {which}");
        let reply = same_next_request(place, session, &when).await;
        person.go_on(place, session, reply).await;
    }
}

/// The uuid of something that the user said in the middle of the view.
fn middle(session: &Session) -> String {
    let said: Vec<String> = session
        .engine()
        .live()
        .views()
        .filter(|entry| {
            let flags = &entry.facets.flags;
            let text = String::from_utf8_lossy(entry.line);
            entry.facets.kind == EntryKind::User
                && !flags.compact_summary
                && !text.contains("tool_result")
        })
        .map(|entry| entry.text(entry.facets.uuid).into_owned())
        .collect();
    said[said.len() / 2].clone()
}

fn partial(session: &Session, direction: PivotDirection) -> CompactRequest {
    CompactRequest {
        pivot: Some(Pivot {
            uuid: middle(session),
            direction,
        }),
        ..CompactRequest::default()
    }
}

/// Takes the last compaction back, on disk.
fn undo(place: &Place) {
    let path = place.transcript();
    let mut table = TranscriptTable::default();
    let mut entries: Vec<Entry> = Vec::new();
    for line in load(&path).unwrap().into_lines() {
        if let LoadedContent::Entry(entry) = line.content {
            table.push(line.number, line.offset, entry.view());
            entries.push(entry);
        }
    }
    let conversation = ResolvedConversation::resolve(&table, &mut Vec::new());
    let plan = UndoPlan::of(&table, &conversation).unwrap();
    let uuid = |row: u32| {
        let view = entries[row as usize].view();
        view.text(view.facets.uuid).into_owned()
    };
    let binds = place.setup.model == MODELS[1];
    let fresh = |at: usize| format!("11111111-2222-8333-8444-{at:012}");
    let ids: Vec<String> = (0..plan.later.len()).map(|at| fresh(at + 1)).collect();
    let later: Vec<CopiedEntry<'_>> = plan
        .later
        .iter()
        .zip(&ids)
        .map(|(row, uuid)| CopiedEntry {
            entry: entries[*row as usize].view(),
            uuid,
        })
        .collect();
    let lines = UndoRecord {
        envelope: LineEnvelope {
            thread: LineThread::Main,
            cwd: "",
            session_id: "session",
            version: "0",
            git_branch: None,
        },
        stamp: LineStamp {
            uuid: &fresh(0),
            timestamp: jiff::Timestamp::constant(1_800_100_000, 0),
        },
        boundary: &uuid(plan.boundary),
        parent: &uuid(plan.parent),
        later: &later,
        thinking_stripped_through: ids.last().map(String::as_str).filter(|_| binds),
        report: None,
    }
    .lines()
    .unwrap();
    let mut writer = TranscriptWriter::open(&path, Durability::OnClose).unwrap();
    let _ = writer.append_all(&lines).unwrap();
}

async fn resumes_to_the_byte(model: &'static str) {
    let place = Place::new(Setup::new(model, 60_000)).await;
    let mut session = place.open();
    let mut person = Person::new(11);
    for _ in 0..4 {
        person.exchange(&place, &mut session).await;
    }
    same_requests(&place, &mut session, &mut person, "in plain use").await;

    place.later(70 * 60);
    session.say(person.says()).await.unwrap();
    let reply = same_next_request(&place, &mut session, "at a clearing").await;
    person.go_on(&place, &mut session, reply).await;
    same_requests(&place, &mut session, &mut person, "after a clearing").await;

    session.compact(CompactRequest::default()).await.unwrap();
    same_requests(&place, &mut session, &mut person, "after a compaction").await;
    for _ in 0..3 {
        person.exchange(&place, &mut session).await;
    }

    let request = partial(&session, PivotDirection::UpTo);
    session.compact(request).await.unwrap();
    same_requests(&place, &mut session, &mut person, "after up_to").await;
    for _ in 0..3 {
        person.exchange(&place, &mut session).await;
    }

    let request = partial(&session, PivotDirection::From);
    session.compact(request).await.unwrap();
    same_requests(&place, &mut session, &mut person, "after from").await;

    drop(session);
    undo(&place);
    let mut session = place.open();
    same_requests(&place, &mut session, &mut person, "after an undo").await;
    assert_eq!(place.rejections(), Vec::<String>::new(), "{model}");
}

#[tokio::test]
async fn y2_requests_are_the_same_to_the_byte_when_thinking_is_kept() {
    resumes_to_the_byte(MODELS[0]).await;
}

#[tokio::test]
async fn y2_requests_are_the_same_to_the_byte_when_thinking_is_bound() {
    resumes_to_the_byte(MODELS[1]).await;
}

#[tokio::test]
async fn y2_requests_are_the_same_to_the_byte_when_thinking_is_stripped() {
    resumes_to_the_byte(MODELS[2]).await;
}
