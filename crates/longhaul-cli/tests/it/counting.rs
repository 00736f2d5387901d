//! How `longhaul inspect` counts tokens (T), by hand-made transcripts whose sizes can be worked out.

use serde_json::{Value, json};

use crate::support::World;

/// A transcript, one entry after the other.
#[derive(Default)]
struct Lines(Vec<Value>);

impl Lines {
    fn push(&mut self, mut line: Value) {
        let at = self.0.len();
        line["uuid"] = json!(format!("e{at}"));
        line["parentUuid"] = at
            .checked_sub(1)
            .map_or(Value::Null, |before| json!(format!("e{before}")));
        line["sessionId"] = json!("s");
        line["timestamp"] = json!(format!("2026-05-01T10:{at:02}:00.000Z"));
        self.0.push(line);
    }

    fn user(&mut self, content: Value) {
        self.push(json!({"type": "user", "message": {"role": "user", "content": content}}));
    }

    fn reply(&mut self, content: Value, usage: Value) {
        let id = format!("msg_{}", self.0.len());
        self.push(
            json!({"type": "assistant", "message": {"id": id, "role": "assistant",
            "model": "claude-opus-4-5", "content": content, "usage": usage}}),
        );
    }

    fn calls(&mut self, id: &str, result: &str) {
        let call =
            json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": id}}]);
        self.reply(call, json!(null));
        self.user(json!([{"type": "tool_result", "tool_use_id": id, "content": result}]));
    }

    fn clears(&mut self, id: &str) {
        self.push(
            json!({"type": "system", "subtype": "microcompact_boundary", "content": "Cleared",
            "microcompactMetadata": {"trigger": "auto", "compactedToolIds": [id]}}),
        );
    }

    fn inspected(&self) -> Value {
        let lines: String = self.0.iter().map(|line| format!("{line}\n")).collect();
        World::new().inspect(lines.as_bytes()).ends(0).json()
    }

    /// What is measured, what is estimated, and both.
    fn counted(&self) -> (u64, i64, u64) {
        let report = self.inspected();
        let count = |field: &str| report[field].as_u64().unwrap();
        let estimated = report["estimated"].as_i64().unwrap();
        (count("measured"), estimated, count("context_tokens"))
    }
}

fn usage(tokens: u64) -> Value {
    json!({"input_tokens": tokens - 1, "output_tokens": 1})
}

/// A quarter of the UTF-16 length, rounded half up.
fn quarter(text: &str) -> u64 {
    (text.encode_utf16().count() as u64 + 2) / 4
}

#[test]
fn t2_every_kind_of_content_has_its_estimate_and_the_sum_is_padded_once() {
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(90_000)}});
    let document = json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a"}});
    let thinking = json!({"type": "thinking", "thinking": "It may be so.", "signature": "c2ln"});
    let unknown = json!({"type": "hologram", "data": [1, 2, 3]});
    let input = json!({"file_path": "/srv/größe.rs", "limit": 40});
    let attached = json!({"type": "file", "filename": "/srv/a.rs", "content": {"type": "text", "file": {"filePath": "/srv/a.rs", "content": "fn main() {}\n"}}});
    let mut lines = Lines::default();
    // Six characters are one and a half tokens: two.
    lines.user(json!("sechs!"));
    // Five are one and a quarter: one.
    lines.user(json!([{"type": "text", "text": "fünf!"}, picture, document]));
    lines.push(json!({"type": "attachment", "attachment": attached}));
    let call = json!({"type": "tool_use", "id": "t1", "name": "Read", "input": input});
    lines.reply(
        json!([thinking, unknown, {"type": "text", "text": "😀😀😀"}, call]),
        json!(null),
    );
    let inner = json!([{"type": "text", "text": "x".repeat(400)}, picture]);
    lines.user(json!([{"type": "tool_result", "tool_use_id": "t1", "content": inner}]));
    let sum = 2
        + 1
        + 2_000
        + 2_000
        + quarter(&attached.to_string())
        + quarter(&thinking.to_string())
        + quarter(&unknown.to_string())
        // Each of these characters counts as two.
        + 2
        + quarter(&format!("Read{input}"))
        + 100
        + 2_000;
    let padded = (sum * 4).div_ceil(3);
    assert_eq!(lines.counted(), (0, padded as i64, padded));
}

#[test]
fn t3_a_results_count_is_that_of_its_call_until_it_is_cleared_once() {
    let mut lines = Lines::default();
    lines.user(json!("Read both."));
    lines.calls("t1", &"x".repeat(4_000));
    lines.calls("t2", &"y".repeat(2_000));
    let by_tool = |lines: &Lines| lines.inspected()["categories"]["tool_results"].clone();
    assert_eq!(by_tool(&lines), 1_500);
    lines.reply(json!([{"type": "text", "text": "Done."}]), usage(9_000));
    assert_eq!(lines.counted(), (9_000, 0, 9_000));
    // What its call brought is subtracted, whatever else there is; and only once.
    for _ in 0..2 {
        lines.clears("t1");
        assert_eq!(lines.counted(), (9_000, -1_000, 8_000));
    }
    assert_eq!(by_tool(&lines), 500);
    lines.clears("t2");
    assert_eq!(lines.counted(), (9_000, -1_500, 7_500));
}

#[test]
fn t5_replies_without_a_measurement_are_estimated_behind_the_last_one_that_has_one() {
    let text = json!([{"type": "text", "text": "12345678"}]);
    let mut lines = Lines::default();
    lines.user(json!("Go on."));
    lines.reply(text.clone(), usage(1_000));
    lines.reply(text.clone(), json!({"input_tokens": 0, "output_tokens": 0}));
    lines.reply(text.clone(), json!(null));
    // Two tokens each, padded: the replies broke off, and they are in the window all the same.
    assert_eq!(lines.counted(), (1_000, 6, 1_006));
    let made_up = |model: &str, is_error: bool| {
        json!({"type": "assistant", "isApiErrorMessage": is_error, "message": {"id": "made_up", "role": "assistant",
            "model": model, "content": text, "usage": usage(70_000)}})
    };
    lines.push(made_up("<synthetic>", false));
    lines.push(made_up("claude-opus-4-5", true));
    // What the host wrote itself is neither measured nor sent.
    assert_eq!(lines.counted(), (1_000, 6, 1_006));
    lines.reply(text.clone(), usage(1_200));
    assert_eq!(lines.counted(), (1_200, 0, 1_200));
}
