//! A resumed process sends the bytes that the process before it would have sent (Y2).

use longhaul_core::models::ThinkingBinding;
use longhaul_core::prompt::{PrefixReason, RequestKind, Ttl};
use longhaul_store::{Home, HomeOwner, SessionId, fork, resume};
use longhaul_testkit::session::{CompactionSchedule, Feature, KeptRounds, SessionSpec};

use crate::host::{Host, head};

const FORK: RequestKind<'static> = RequestKind::Fork {
    text: "Sum \"it\" up.",
};

/// Checks that both kinds of request are the same here and in another process. Returns whether there was one.
#[track_caller]
fn same_elsewhere(host: &mut Host, what: &str) -> bool {
    let mut made = false;
    for kind in [RequestKind::Main, FORK] {
        let here = host.request(kind).map(|request| request.to_vec());
        let there = host.elsewhere(kind).map(|request| request.to_vec());
        match (here, there) {
            (Ok(here), Ok(there)) if here == there => made = true,
            (Ok(here), Ok(there)) => {
                let at = here
                    .iter()
                    .zip(&there)
                    .position(|(a, b)| a != b)
                    .unwrap_or(here.len().min(there.len()));
                let show = |bytes: &[u8]| {
                    let from = at.saturating_sub(300);
                    String::from_utf8_lossy(&bytes[from..bytes.len().min(at + 300)]).into_owned()
                };
                panic!(
                    "{what}: differs at {at}\nhere  {}\nthere {}",
                    show(&here),
                    show(&there)
                );
            }
            (here, there) => assert_eq!(here.map(|_| ()), there.map(|_| ()), "{what}"),
        }
    }
    made
}

/// Writes a session line by line in one process, and compares with another process every few lines.
fn live(spec: SessionSpec, binding: ThinkingBinding, every: usize, seals: usize) -> usize {
    let session = spec.generate();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let head = head("claude-opus-4-8", Some(Ttl::OneHour), "replay");
    let mut host = Host::new(&path, "own", head, binding);
    host.anew(PrefixReason::First);
    let mut compared = 0;
    for (number, line) in std::str::from_utf8(&session.bytes)
        .unwrap()
        .lines()
        .enumerate()
    {
        match number % 7 {
            3 => host.foreign(line),
            _ => host.append(line),
        }
        if seals > 0 && number % seals == 0 {
            // Reading the rendering freezes its content.
            let _ = host.assembly.as_mut().unwrap().count_tokens();
        }
        if number % every == 0 {
            let made = same_elsewhere(&mut host, &format!("line {}", number + 1));
            compared += usize::from(made && host.came_one_by_one() > 0);
        }
    }
    compared
}

#[test]
fn y2_a_resumed_process_sends_the_same_bytes_wherever_the_file_was_cut() {
    let mut compared = 0;
    for seed in 0..4 {
        for kept in [
            KeptRounds::Nothing,
            KeptRounds::AfterSummary,
            KeptRounds::AfterBoundary,
            KeptRounds::Listed,
        ] {
            let spec = SessionSpec::new(seed, 14)
                .kept(kept)
                .compaction(CompactionSchedule::EveryRounds(6));
            compared += live(spec, ThinkingBinding::None, 3, 0);
        }
    }
    assert!(compared > 120, "{compared}");
}

#[test]
fn y2_the_same_on_models_that_bind_thinking() {
    for seed in 20..24 {
        let spec = SessionSpec::new(seed, 14)
            .kept(KeptRounds::AfterSummary)
            .compaction(CompactionSchedule::EveryRounds(5));
        assert!(live(spec, ThinkingBinding::Always, 4, 0) > 5);
    }
}

#[test]
fn y2_when_a_process_looked_at_its_rendering_makes_no_difference() {
    for seed in 40..46 {
        let spec = SessionSpec::new(seed, 14)
            .without(Feature::Branches)
            .compaction(CompactionSchedule::EveryRounds(6));
        assert!(live(spec, ThinkingBinding::None, 3, 1 + seed as usize % 4) > 5);
    }
}

#[test]
fn y2_another_programs_sessions_are_forked_and_go_on_the_same() {
    let Some(files) = longhaul_testkit::corpora::claude_code_transcripts() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path(), HomeOwner::Longhaul).unwrap();
    let mut compared = 0;
    for (number, file) in files.iter().enumerate() {
        let small = std::fs::metadata(file).unwrap().len() < 4 << 20;
        if !small {
            continue;
        }
        let id = SessionId::parse(&format!("00000000-0000-4000-8000-{number:012}")).unwrap();
        let path = fork(file, &home, &id, std::time::SystemTime::UNIX_EPOCH).unwrap();
        for binding in [ThinkingBinding::None, ThinkingBinding::Always] {
            let head = head("claude-fable-5-2", Some(Ttl::FiveMinutes), "fork");
            let mut host = Host::new(&path, &format!("own-{number}-{binding:?}"), head, binding);
            let newest = resume(&path)
                .unwrap()
                .entries
                .iter()
                .rev()
                .find_map(|entry| {
                    let uuid = entry.facets().uuid;
                    uuid.is_present()
                        .then(|| entry.view().text(uuid).into_owned())
                });
            let Some(newest) = newest else { continue };
            host.newest = Some(newest.clone());
            host.anew(PrefixReason::First);
            if binding == ThinkingBinding::Always {
                let sent = host.assembly.as_ref().unwrap().rendering().blocks();
                assert!(sent.iter().all(|block| !block.kind.is_thinking()));
            }
            host.answer_open_calls();
            let name = file.display().to_string();
            for turn in 0..2 {
                let (uuid, parent) = (host.uuid(), host.newest.clone().unwrap());
                host.append(&format!(
                    r#"{{"parentUuid":"{parent}","type":"user","uuid":"{uuid}","message":{{"role":"user","content":"go on {turn}"}}}}"#
                ));
                assert!(same_elsewhere(&mut host, &name), "{name}");
                let (uuid, parent) = (host.uuid(), host.newest.clone().unwrap());
                host.append(&format!(
                    r#"{{"parentUuid":"{parent}","type":"assistant","uuid":"{uuid}","message":{{"id":"msg_{uuid}","model":"m","role":"assistant","content":[{{"type":"text","text":"done"}}]}}}}"#
                ));
            }
            compared += 1;
        }
    }
    println!("{compared} sessions of another program went on the same");
    assert!(compared > 0);
}
