//! Preserved thinking (N2): a host that talks to a model that binds each thought to its whole prefix, with a transcript
//! that is rendered as it grows, is never refused; neither after a resume nor after images were left out.

use longhaul_core::message::Entry;
use longhaul_core::normalize::{RenderOptions, Rendering};
use longhaul_sim::request::ApiBlock;
use longhaul_sim::thinking::ThinkingPrefix;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::hostile::png;
use super::world::{SECRET, World, entry, messages};

const MODEL: &str = "claude-fable-5-2";

/// A turn of the conversation: what the model does, what the user's side does then.
#[derive(Debug, Clone)]
struct Turn {
    blocks: Vec<u8>,
    /// Results come between the lines of the response.
    interleaved: bool,
    /// Results that never come.
    lost: bool,
    /// One of the missing results comes in the end.
    late: bool,
    words: bool,
    attachment: bool,
    image: bool,
    /// The host starts again and reads the transcript.
    resume: bool,
}

fn turn() -> impl Strategy<Value = Turn> {
    (vec(0..6_u8, 1..6), any::<[bool; 3]>(), any::<[bool; 4]>()).prop_map(
        |(blocks, [interleaved, lost, late], [words, attachment, image, resume])| Turn {
            blocks,
            interleaved,
            lost,
            late,
            words,
            attachment,
            image,
            resume,
        },
    )
}

struct Host {
    world: World,
    options: RenderOptions,
    transcript: Vec<Entry>,
    rendering: Rendering,
    calls: usize,
}

impl Host {
    fn new(most_images: usize) -> Self {
        let options = RenderOptions {
            user_context: Some("<system-reminder>context</system-reminder>".into()),
            most_images,
            ..RenderOptions::default()
        };
        Self {
            world: World::new(MODEL, "2026-10-21", &[]),
            rendering: Rendering::begin(options.clone(), []),
            options,
            transcript: Vec::new(),
            calls: 0,
        }
    }

    fn write(&mut self, mut line: Value) {
        line["uuid"] = json!(format!("u{}", self.transcript.len()));
        let entry = entry(line);
        self.rendering.push(entry.view());
        self.transcript.push(entry);
        if self.rendering.must_begin_anew() {
            self.begin();
        }
    }

    fn begin(&mut self) {
        let views = self.transcript.iter().map(Entry::view);
        self.rendering = Rendering::begin(self.options.clone(), views);
        assert!(!self.rendering.must_begin_anew());
    }

    fn user(&mut self, content: Value) {
        self.write(json!({"type": "user", "message": {"role": "user", "content": content}}));
    }

    /// Sends the conversation; returns what the reply's thoughts are bound to.
    fn send(&mut self) -> ThinkingPrefix {
        self.rendering.seal();
        assert!(self.rendering.ends_with_user());
        let sent = messages(&self.rendering);
        match self.world.admit(&sent) {
            Ok((_, prefix)) => prefix,
            Err(error) => panic!("{}\n{sent}", error.message),
        }
    }

    fn turn(&mut self, index: usize, turn: &Turn) {
        let mut prefix = self.send();
        let mut calls: Vec<String> = Vec::new();
        let mut answered = 0;
        // A response ends with its calls.
        let mut blocks = turn.blocks.clone();
        blocks.sort_by_key(|block| *block >= 4);
        for (at, kind) in blocks.iter().enumerate() {
            let block = self.block(*kind, index * 10 + at, &prefix);
            prefix.push(&ApiBlock::made(block.clone()).unwrap());
            calls.extend(block["id"].as_str().map(str::to_owned));
            let message = json!({"id": format!("msg_{index}"), "model": MODEL, "role": "assistant", "content": [block]});
            self.write(json!({"type": "assistant", "message": message}));
            if turn.interleaved && calls.len() > answered {
                self.answer(&calls[answered]);
                answered += 1;
            }
        }
        let lost = if turn.lost { calls.len() - answered } else { 0 };
        for call in &calls[answered..calls.len() - lost] {
            self.answer(call);
        }
        if turn.attachment {
            self.write(
                json!({"type": "attachment", "attachment": {"type": "todo", "content": []}}),
            );
        }
        if turn.image {
            let side = if index.is_multiple_of(3) { 3_000 } else { 10 };
            let source = json!({"type": "base64", "media_type": "image/png", "data": png(side)});
            self.user(json!([{"type": "image", "source": source}]));
        }
        if turn.words || calls.is_empty() {
            self.user(json!(format!("Go on, {index}.")));
        }
        // As a host does: open calls are answered in the transcript before the request.
        for call in self.rendering.open_calls() {
            let id = String::from_utf8(call.to_vec()).unwrap();
            self.user(json!([{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": "Interrupted."}]));
        }
        if turn.late && lost > 0 {
            self.rendering.seal();
            self.answer(&calls[calls.len() - 1]);
        }
        if turn.resume {
            self.rendering.seal();
            let before = messages(&self.rendering);
            self.resume();
            assert_eq!(messages(&self.rendering), before, "Y2");
        }
    }

    /// Reads the transcript again as it was written: a rendering that was started again is started again here, too.
    fn resume(&mut self) {
        let transcript = std::mem::take(&mut self.transcript);
        self.rendering = Rendering::begin(self.options.clone(), []);
        for entry in transcript {
            self.rendering.push(entry.view());
            self.transcript.push(entry);
            if self.rendering.must_begin_anew() {
                self.begin();
            }
        }
        self.rendering.seal();
    }

    fn block(&mut self, kind: u8, n: usize, prefix: &ThinkingPrefix) -> Value {
        match kind {
            0 | 1 => {
                let text = format!("thought {n}");
                let signature = SECRET.sign(prefix, MODEL, "key", &text);
                json!({"type": "thinking", "thinking": text, "signature": signature})
            }
            2 => json!({"type": "text", "text": format!("words {n}"), "citations": null}),
            3 => json!({"type": "text", "text": "\n\n"}),
            _ => {
                self.calls += 1;
                json!({"type": "tool_use", "id": format!("toolu_{}", self.calls), "name": "Read", "input": {"b": 1, "a": n}})
            }
        }
    }

    fn answer(&mut self, call: &str) {
        self.user(json!([{"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": "found"}, {"type": "text", "text": ""}]}]));
    }
}

fn cases() -> ProptestConfig {
    let cases = super::accepted::cases();
    ProptestConfig {
        cases: cases.cases / 10,
        ..cases
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn n2_a_growing_conversation_keeps_its_thinking(
        turns in vec(turn(), 1..40),
        most_images in prop_oneof![Just(0_usize), Just(4), Just(90)],
    ) {
        let mut host = Host::new(most_images);
        host.user(json!("Begin."));
        for (index, turn) in turns.iter().enumerate() {
            host.turn(index, turn);
        }
        host.send();
    }
}
