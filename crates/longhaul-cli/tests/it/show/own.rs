//! Sessions with prefix entries: the bytes that are shown are those that were sent (Y2).

use std::path::PathBuf;

use longhaul_core::message::Entry;
use longhaul_core::models::{ModelTable, ThinkingBinding};
use longhaul_core::prompt::{
    LatchedSettings, NewEntryStamp, PrefixReason, PriorRendering, PushOutcome, RenderingStart,
    RequestAssembly, RequestKind, RequestPrefix, Ttl,
};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::{adds_up, json as list};
use crate::support::{Finish, World};

const MODEL: &str = "claude-fable-5-2";

fn head() -> RequestPrefix {
    let spec = ModelTable::builtin().resolve(MODEL).spec;
    let body = json!({"model": MODEL, "max_tokens": 9_000, "thinking": {"type": "adaptive"}});
    let block = |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral", "ttl": "1h"}});
    RequestPrefix {
        system: to_raw_value(&json!([block("Work well."), block("Here is Linux.")])).unwrap(),
        tools: to_raw_value(
            &json!([{"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}]),
        )
        .unwrap(),
        user_context: Some("<system-reminder>\nIt is Monday.\n</system-reminder>".to_owned()),
        latched: LatchedSettings::new(Some(Ttl::OneHour), [], &spec, to_raw_value(&body).unwrap()),
    }
}

/// A host that records what it sends.
struct Host {
    lines: Vec<String>,
    view: Vec<Entry>,
    assembly: Option<RequestAssembly>,
    sent: Vec<Vec<u8>>,
    uuids: usize,
}

impl Host {
    fn new() -> Self {
        let mut host = Self {
            lines: Vec::new(),
            view: Vec::new(),
            assembly: None,
            sent: Vec::new(),
            uuids: 0,
        };
        host.anew(PrefixReason::First);
        host
    }

    /// Begins a rendering of the view, with its prefix entry on disk.
    fn anew(&mut self, reason: PrefixReason) {
        let before = self.assembly.as_ref();
        let beginning = RenderingStart {
            before: before.map_or(PriorRendering::None, RequestAssembly::as_predecessor),
            head: head(),
            reason,
            binding: ThinkingBinding::Always,
        };
        let mut assembly = RequestAssembly::begin(beginning, self.view.iter().map(Entry::view));
        let birth = NewEntryStamp {
            session_id: "s",
            uuid: "head",
            parent: None,
            timestamp: jiff::Timestamp::UNIX_EPOCH,
        };
        let entries = assembly.entries_before_request(birth).unwrap();
        assert_eq!(entries.len(), 1);
        assembly.persisted(&entries).unwrap();
        self.lines
            .push(String::from_utf8(entries[0].to_vec()).unwrap());
        self.assembly = Some(assembly);
    }

    fn add(&mut self, mut line: Value) {
        self.uuids += 1;
        line["uuid"] = self.uuids.to_string().into();
        if line.get("parentUuid").is_none() {
            line["parentUuid"] = match self.uuids {
                1 => Value::Null,
                uuids => (uuids - 1).to_string().into(),
            };
        }
        self.lines.push(line.to_string());
        let entry = Entry::read(line.to_string().into_bytes().into()).unwrap();
        let taken = self.assembly.as_mut().unwrap().push(entry.view());
        match line["subtype"].as_str() {
            // The summary belongs to the rendering that begins.
            Some("compact_boundary") => self.view.clear(),
            Some(_) => {}
            None => assert_eq!(taken, PushOutcome::Pushed),
        }
        self.view.push(entry);
    }

    fn user(&mut self, content: Value) {
        self.add(json!({"type": "user", "message": {"role": "user", "content": content}}));
    }

    fn send(&mut self) {
        let request = self
            .assembly
            .as_mut()
            .unwrap()
            .request(RequestKind::Main, None);
        self.sent.push(request.unwrap().to_vec());
    }

    fn reply(&mut self, content: Value) {
        let id = format!("m{}", self.uuids);
        self.add(json!({"type": "assistant", "message": {"id": id, "model": MODEL, "role": "assistant", "content": content}}));
    }

    fn turn(&mut self, text: &str) {
        self.user(text.into());
        self.send();
        let call = format!("t{}", self.uuids);
        self.reply(json!([{"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "tool_use", "id": call, "name": "Read", "input": {"path": text}}]));
        self.user(json!([{"type": "tool_result", "tool_use_id": call, "content": format!("what {text} says")}]));
        self.send();
        self.reply(json!([{"type": "text", "text": "Done."}]));
    }
}

/// A session that was cleared once and compacted once.
fn session() -> Host {
    let mut host = Host::new();
    host.turn("a.txt");
    host.turn("b.txt");
    host.add(json!({"type": "system", "subtype": "microcompact_boundary", "microcompactMetadata": {"compactedToolIds": ["t1"]}}));
    host.anew(PrefixReason::Cleared);
    host.turn("c.txt");
    host.add(json!({"type": "system", "subtype": "compact_boundary", "parentUuid": null, "compactMetadata": {"trigger": "auto"}}));
    let uuids = host.uuids;
    host.add(json!({"type": "user", "isCompactSummary": true, "parentUuid": uuids.to_string(), "message": {"role": "user", "content": "What was."}}));
    host.anew(PrefixReason::Compacted);
    host.turn("d.txt");
    host
}

fn write(world: &World, host: &Host) -> PathBuf {
    world.write("s.jsonl", host.lines.join("\n") + "\n")
}

#[test]
fn y2_every_request_of_a_session_is_shown_as_it_was_sent() {
    let world = World::new();
    let host = session();
    let file = write(&world, &host);
    assert_eq!(host.sent.len(), 8);
    for (number, sent) in (1..).zip(&host.sent) {
        let mut command = world.longhaul(["show", "--request"]);
        let shown = command
            .arg(&file)
            .args(["--turn", &format!("{number}")])
            .finish()
            .ends(0)
            .out;
        assert_eq!(shown, String::from_utf8_lossy(sent), "request {number}");
        let list = list(&world, &file, &["--turn", &format!("{number}")], 0);
        adds_up(&list);
        assert_eq!(list["head"], "recorded");
        let breakpoints = shown.matches("\"cache_control\"").count();
        // After a clearing there is one more, where the next clearing would begin.
        assert!((3..=4).contains(&breakpoints), "{breakpoints}");
        assert_eq!(list["marks"].as_array().unwrap().len(), breakpoints);
    }
}

#[test]
fn y2_the_next_request_is_shown_as_it_will_be_sent() {
    let world = World::new();
    let mut host = session();
    host.user("And e.txt?".into());
    let file = write(&world, &host);
    host.send();
    let mut command = world.longhaul(["show", "--request"]);
    let shown = command.arg(&file).finish().ends(0).out;
    assert_eq!(shown.as_bytes(), host.sent.last().unwrap());
    // The next message is given by `--say` and not yet in the file.
    host.lines.pop();
    let file = write(&world, &host);
    let mut command = world.longhaul(["show", "--request", "--say", "And e.txt?"]);
    let said = command.arg(&file).finish().ends(0).out;
    assert_eq!(said, shown);
    let mut command = world.longhaul(["show", "-", "--request", "--say", "And e.txt?"]);
    assert_eq!(
        command
            .finish_with(&std::fs::read(&file).unwrap())
            .ends(0)
            .out,
        shown
    );
}

#[test]
fn a3_b2_tools_system_context_and_marks_are_listed() {
    let world = World::new();
    let mut host = session();
    host.user("And e.txt?".into());
    let file = write(&world, &host);
    let list = list(&world, &file, &[], 0);
    let zones: Vec<&str> = (list["items"].as_array().unwrap().iter())
        .map(|item| item["zone"].as_str().unwrap())
        .collect();
    assert_eq!(
        zones[..5],
        ["tools", "system", "system", "context", "messages"]
    );
    assert_eq!(zones.last(), Some(&"tail"));
    assert_eq!(list["items"][1]["kind"], "static");
    assert_eq!(list["items"][2]["cache"], "1h");
    assert_eq!(list["tokens_before_last_mark"], list["tokens"]);
    let mut command = world.longhaul(["show"]);
    let run = command.arg(&file).finish().ends(0);
    let last = zones.len();
    run.prints(&format!(
        "Cache  3 breakpoints at 2 (1h), 3 (1h), {last} (1h)"
    ))
    .prints("100% of the prompt")
    .prints("System prompt\n")
    .prints("New in this request\n");
}

#[test]
fn n2_thinking_that_is_not_sent_is_said_to_be_stripped() {
    let world = World::new();
    let file = write(&world, &session());
    let notes = |turn: &str| list(&world, &file, &["--turn", turn], 0)["items"].to_string();
    assert!(!notes("4").contains("stripped"));
    // The clearing changed earlier entries.
    assert!(notes("5").contains("stripped"));
}

#[test]
fn m7_a_conversation_changed_behind_its_head_begins_with_a_new_one() {
    let world = World::new();
    let mut host = session();
    host.add(json!({"type": "system", "subtype": "microcompact_boundary", "microcompactMetadata": {"compactedToolIds": ["t17"]}}));
    let file = write(&world, &host);
    let list = list(&world, &file, &["--say", "Go on."], 0);
    assert_eq!(list["head"], "outdated");
    assert!(list["items"].to_string().contains("stripped"));
    // A prefix entry without useful fields.
    host.lines
        .push(json!({"type": "request-head", "sessionId": "s"}).to_string());
    let file = write(&world, &host);
    let mut command = world.longhaul(["show"]);
    let run = command
        .arg(&file)
        .finish()
        .ends(1)
        .says("request prefix cannot be read");
    run.prints("The recorded request prefix cannot be read");
}
