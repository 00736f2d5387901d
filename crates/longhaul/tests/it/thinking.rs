//! On models that bind thinking to its prefix, no change of the history leads to a request that is refused (N2).

use longhaul_core::prompt::{CacheSettings, PrefixReason, RequestKind, RequestPrefix, Ttl};
use longhaul_sim::world::{World, WorldOptions};
use longhaul_store::resume;
use serde_json::{Value, json};

use crate::host::{head, raw, spec};
use crate::turns::{New, Session, Worker};

const BINDS: &str = "claude-fable-5-2";

/// Two prompts with all their rounds, and how many thinking blocks the last request held.
fn turns(session: &mut Session, world: &mut World) -> usize {
    for number in 0..2 {
        session.prompt(number);
        // Earlier changes cost the cache; the proof is about what is read.
        session.left = None;
        let mut new = New::Prompt;
        while session.exchange(world, new) {
            new = New::Results;
        }
    }
    let fork = RequestKind::Fork {
        text: "Where are we?",
    };
    let body = session.host.request(fork).unwrap().to_vec();
    String::from_utf8(body)
        .unwrap()
        .matches("\"signature\"")
        .count()
}

/// Uuids of the view, and ids of the calls in it.
fn view(session: &Session) -> (Vec<String>, Vec<String>) {
    let resumed = resume(&session.host.path).unwrap();
    let (mut uuids, mut calls) = (Vec::new(), Vec::new());
    for entry in &resumed.entries {
        let line: Value = serde_json::from_slice(entry.bytes()).unwrap();
        uuids.push(line["uuid"].as_str().unwrap().to_owned());
        let content = line["message"]["content"].as_array();
        let ids = content
            .into_iter()
            .flatten()
            .filter_map(|block| block["id"].as_str());
        calls.extend(ids.map(str::to_owned));
    }
    (uuids, calls)
}

fn other_tools(from: &RequestPrefix) -> RequestPrefix {
    let mut head = from.clone();
    let mut tools: Value = serde_json::from_str(head.tools.get()).unwrap();
    tools.as_array_mut().unwrap().push(json!({
        "name": "Zip", "description": "Packs files.", "input_schema": {"type": "object"},
    }));
    head.tools = raw(&tools);
    head
}

#[test]
fn n2_no_change_of_the_history_is_ever_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(WorldOptions::new(5, Box::new(Worker)));
    let settings = CacheSettings::default();
    let mut session = Session::new(&mut world, folder.path(), "main", BINDS, settings);
    let before = turns(&mut session, &mut world);
    assert!(before > 4);

    // Results are cleared: earlier thinking is no longer sent, later thinking is.
    let (_, calls) = view(&session);
    let parent = session.host.newest.clone();
    session.host.append(
        &json!({
            "parentUuid": parent, "type": "system", "subtype": "microcompact_boundary", "uuid": "cleared",
            "microcompactMetadata": {"compactedToolIds": calls[..4]},
        })
        .to_string(),
    );
    assert!(turns(&mut session, &mut world) <= before);

    // Another tool.
    let next = other_tools(session.host.assembly.as_ref().unwrap().prefix());
    session
        .host
        .with_head(next, spec(BINDS).thinking.binding, PrefixReason::Tools);
    assert!(turns(&mut session, &mut world) <= before);

    // Compacted, the newest round kept.
    let (uuids, _) = view(&session);
    let kept = &uuids[uuids.len() - 2..];
    let logical = session.host.newest.clone();
    let boundary = json!({
        "parentUuid": null, "logicalParentUuid": logical, "type": "system", "subtype": "compact_boundary",
        "uuid": "boundary",
        "compactMetadata": {"trigger": "auto", "preservedSegment": {
            "headUuid": kept[0], "anchorUuid": "summary", "tailUuid": kept[1],
        }},
    });
    let summary = json!({
        "parentUuid": "boundary", "type": "user", "uuid": "summary", "isCompactSummary": true,
        "message": {"role": "user", "content": "This session goes on from an earlier one. All went well."},
    });
    session.host.append(&boundary.to_string());
    session.host.append(&summary.to_string());
    session.host.newest = Some(kept[1].clone());
    assert!(turns(&mut session, &mut world) > 4);

    // Rewound: thinking before that point stays valid.
    let (uuids, _) = view(&session);
    let heard = resume(&session.host.path).unwrap();
    let point = heard.entries.iter().rposition(|entry| {
        entry
            .bytes()
            .windows(14)
            .any(|part| part == b"Please do part")
    });
    session.host.newest = Some(uuids[point.unwrap() - 1].clone());
    let uuid = session.host.uuid();
    let parent = session.host.newest.clone();
    session.host.append(
        &json!({
            "parentUuid": parent, "type": "user", "uuid": uuid,
            "message": {"role": "user", "content": "Another way, please."},
        })
        .to_string(),
    );
    let kept = session.host.request(RequestKind::Main).unwrap().to_vec();
    assert!(String::from_utf8(kept).unwrap().contains("\"signature\""));
    assert!(turns(&mut session, &mut world) > 4);

    // Another model, and back.
    for model in ["claude-opus-5-5", BINDS] {
        let next = head(model, Some(Ttl::FiveMinutes), "main");
        session
            .host
            .with_head(next, spec(model).thinking.binding, PrefixReason::Model);
        assert!(turns(&mut session, &mut world) <= before);
    }
}
