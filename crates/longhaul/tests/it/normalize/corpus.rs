//! Recorded and generated transcripts: accepted as they are, as many messages as were announced, and the same whether
//! they are rendered whole or as they grow.

use longhaul_core::message::Entry;
use longhaul_core::normalize::{MessageOutline, MessageRole, RenderOptions, Rendering};
use longhaul_core::transcript::{ResolvedConversation, TranscriptTable};
use longhaul_testkit::corpora::claude_code_transcripts;
use longhaul_testkit::session::{CompactionSchedule, Feature, KeptRounds};
use longhaul_testkit::{SessionSpec, damage};

use super::world::{World, messages, sendable};

/// A transcript that was read.
struct Transcript {
    entries: Vec<Entry>,
    /// The entries that the model sees, in order.
    view: Vec<usize>,
    outline: MessageOutline,
}

impl Transcript {
    fn read(bytes: &[u8]) -> Self {
        let lines = bytes.split(|byte| *byte == b'\n');
        let entries: Vec<Entry> = lines
            .filter_map(|line| Entry::read(line.to_vec().into()).ok())
            .collect();
        let mut table = TranscriptTable::default();
        for (index, entry) in entries.iter().enumerate() {
            table.push(index as u64 + 1, 0, entry.view());
        }
        let conversation = ResolvedConversation::resolve(&table, &mut Vec::new());
        let rows = conversation.view().rows.iter();
        Self {
            view: rows.map(|row| *row as usize).collect(),
            outline: MessageOutline::of(&table, &conversation),
            entries,
        }
    }

    fn live(&self) -> Vec<&Entry> {
        self.view.iter().map(|at| &self.entries[*at]).collect()
    }

    /// Every line of the file, whatever it belongs to.
    fn whole(&self) -> Vec<&Entry> {
        self.entries.iter().collect()
    }
}

/// Whether thinking is sent: recorded signatures mean nothing to the offline world.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thinking {
    Sent,
    Stripped,
}

fn begun(entries: &[&Entry], thinking: Thinking) -> Rendering {
    let last = entries.iter().rev().find_map(|entry| entry.view().uuid());
    let options = RenderOptions {
        thinking_stripped_through: last.filter(|_| thinking == Thinking::Stripped),
        most_images: 100,
        ..RenderOptions::default()
    };
    let mut rendering = Rendering::begin(options, entries.iter().map(|entry| entry.view()));
    rendering.seal();
    rendering
}

#[track_caller]
fn accepted(name: &str, rendering: &Rendering) {
    for model in [
        "claude-3-haiku",
        "claude-haiku-4-5",
        "claude-opus-4-8",
        "claude-fable-5-2",
    ] {
        let world = World::new(model, "2026-10-21", &[]);
        if let Err(error) = world.admit(&sendable(rendering)) {
            panic!("{name}, {model}: {}", error.message);
        }
    }
}

/// The roles that the outline announces, and one more user message after each response that is followed only by
/// attachments: the outline expects those to join another message, which does not exist.
fn announced(
    transcript: &Transcript,
    rendering: &Rendering,
) -> (Vec<MessageRole>, Vec<MessageRole>) {
    let sent: Vec<MessageRole> = rendering
        .messages()
        .iter()
        .map(|message| message.role)
        .collect();
    let attached = |message: usize| {
        let blocks = rendering.blocks().iter();
        let mut blocks = blocks.filter(|block| block.message as usize == message);
        let attachments = transcript.live();
        blocks.all(|block| {
            attachments.iter().any(|entry| {
                block.entry.is_some()
                    && entry.view().uuid() == block.entry
                    && entry.view().visible_attachment().is_some()
            })
        })
    };
    let mut expected = transcript.outline.roles.clone();
    for (index, role) in sent.iter().enumerate() {
        if *role == MessageRole::User
            && index > 0
            && expected.get(index) != Some(role)
            && attached(index)
        {
            expected.insert(index, MessageRole::User);
        }
    }
    (sent, expected)
}

#[track_caller]
fn as_announced(name: &str, transcript: &Transcript) {
    // With its thinking: a response that consists only of thinking counts.
    let rendering = begun(&transcript.live(), Thinking::Sent);
    let (sent, expected) = announced(transcript, &rendering);
    assert_eq!(sent, expected, "{name}");
}

/// Entries that are pushed one by one and sealed where a host would give the same result as the whole, unless lines
/// came late.
#[track_caller]
fn same_when_it_grows(name: &str, entries: &[&Entry]) {
    let mut responses = Vec::new();
    let mut rendering = Rendering::begin(
        RenderOptions {
            most_images: 100,
            ..RenderOptions::default()
        },
        [],
    );
    for entry in entries {
        if entry.facets().is_reply() {
            let id = entry.view().message_id();
            if responses.contains(&id) && responses.last() != Some(&id) {
                return;
            }
            if responses.last() != Some(&id) {
                responses.push(id);
                rendering.seal();
            }
        }
        rendering.push(entry.view());
    }
    rendering.seal();
    assert_eq!(
        messages(&rendering),
        messages(&begun(entries, Thinking::Sent)),
        "{name}"
    );
}

#[track_caller]
fn proven(name: &str, bytes: &[u8]) {
    let transcript = Transcript::read(bytes);
    accepted(name, &begun(&transcript.live(), Thinking::Stripped));
    accepted(name, &begun(&transcript.whole(), Thinking::Stripped));
    as_announced(name, &transcript);
    same_when_it_grows(name, &transcript.live());
}

#[test]
fn z3_recorded_transcripts_are_accepted_and_render_as_announced() {
    let Some(files) = claude_code_transcripts() else {
        return;
    };
    assert!(files.len() >= 10);
    for file in files {
        proven(&file.display().to_string(), &std::fs::read(&file).unwrap());
    }
}

#[test]
fn z3_generated_sessions_are_accepted_and_render_as_announced() {
    for seed in 0..24 {
        let kept = [
            KeptRounds::Nothing,
            KeptRounds::AfterSummary,
            KeptRounds::AfterBoundary,
            KeptRounds::Listed,
        ];
        let spec = SessionSpec::new(seed, 30)
            .compaction(CompactionSchedule::EveryRounds(7 + seed as usize % 5))
            .kept(kept[seed as usize % 4]);
        let session = Feature::ALL
            .into_iter()
            .fold(spec, SessionSpec::with)
            .generate();
        proven(&format!("seed {seed}"), &session.bytes);
    }
}

#[test]
fn z3_damaged_sessions_are_accepted() {
    let spec = Feature::ALL
        .into_iter()
        .fold(SessionSpec::new(3, 20), SessionSpec::with);
    let session = spec.generate();
    let bytes = &session.bytes;
    let calls = damage::lines_with(bytes, "\"tool_use\"");
    let results = damage::lines_with(bytes, "\"tool_use_id\"");
    let mut damaged = vec![damage::tear_last_line(bytes), damage::crlf(bytes)];
    for line in results.iter().step_by(5) {
        damaged.push(damage::orphan_result(bytes, *line));
        damaged.push(damage::lone_surrogate(bytes, *line));
        damaged.push(damage::duplicate_uuid(bytes, *line));
    }
    damaged.extend(
        calls
            .iter()
            .step_by(5)
            .map(|line| damage::orphan_call(bytes, *line)),
    );
    for (index, damaged) in damaged.iter().enumerate() {
        let transcript = Transcript::read(&damaged.bytes);
        accepted(
            &format!("damage {index}"),
            &begun(&transcript.live(), Thinking::Stripped),
        );
        accepted(
            &format!("damage {index}"),
            &begun(&transcript.whole(), Thinking::Stripped),
        );
    }
}
