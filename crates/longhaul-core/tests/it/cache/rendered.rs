//! Tests that a fingerprint of a rendering equals that of the body, and costs only what is new (D1, T3).

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::cache::{
    CacheBreakDetector, CacheBreakpoint, CacheVerdict, FingerprintMessages, HostModes,
    PrefixFingerprint, RequestFingerprint,
};
use longhaul_core::message::BlockKind;
use longhaul_core::normalize::{
    AppendBuffer, BlockOrigin, MessageRole, RenderedBlock, RenderedMessage,
};
use longhaul_core::prompt::Ttl;
use longhaul_core::tokens::Estimate;
use serde_json::json;

use super::request::*;

/// A rendering made by hand, with one text block per message.
#[derive(Default)]
struct Rendered {
    buffer: AppendBuffer,
    blocks: Vec<RenderedBlock>,
    messages: Vec<RenderedMessage>,
}

impl Rendered {
    fn say(&mut self, text: &str) {
        let message = self.messages.len() as u32;
        let role = [MessageRole::User, MessageRole::Assistant][message as usize % 2];
        let start = self.buffer.len();
        self.buffer.push(
            json!({ "type": "text", "text": text })
                .to_string()
                .as_bytes(),
        );
        self.messages.push(RenderedMessage {
            role,
            first_block: message,
            stripped: 0,
        });
        self.blocks.push(RenderedBlock {
            start,
            end: self.buffer.len(),
            kind: BlockKind::Text,
            markable: true,
            message,
            entry: None,
            origin: BlockOrigin::Said,
            prefix_hash: 0,
            weight: Estimate::default(),
        });
    }

    fn round(&mut self, nth: usize) {
        if nth > 0 {
            self.say(&format!("Answer {}", nth - 1));
        }
        self.say(&format!("Question {nth}"));
    }

    fn print(
        &self,
        head: &Arc<PrefixFingerprint>,
        generation: u64,
        seconds: i64,
    ) -> RequestFingerprint<'_> {
        let mark = CacheBreakpoint {
            ttl: Ttl::FiveMinutes,
            scope: None,
        };
        RequestFingerprint {
            source: "main".to_owned(),
            started: at(seconds),
            prefix: Arc::clone(head),
            flags: Arc::new(HostModes::new()),
            messages: FingerprintMessages::Rendered {
                generation,
                buffer: &self.buffer,
                blocks: &self.blocks,
                messages: &self.messages,
            },
            breakpoints: vec![(self.blocks.len() - 1, mark)],
            prefix_replacement: None,
        }
    }
}

fn head() -> Arc<PrefixFingerprint> {
    let body = request(0);
    let part = |name: &str| Bytes::from(body[name].to_string());
    let settings = Bytes::from(json!({ "model": MODEL, "max_tokens": 1000 }).to_string());
    Arc::new(PrefixFingerprint::of_parts(&part("system"), &part("tools"), &settings, []).unwrap())
}

#[test]
fn d1_a_rendering_and_the_body_made_of_it_are_the_same_to_the_watch() {
    let (mut watch, mut rendered, head) =
        (CacheBreakDetector::default(), Rendered::default(), head());
    for nth in 0..4 {
        rendered.round(nth);
        let id = watch.before(rendered.print(&head, 1, nth as i64));
        watch.after(id, &usage(40_000, 100), None);
    }
    // The same conversation is read from its body: the break shows no changes.
    let verdict = call(&mut watch, 9, &request(4), &usage(0, 40_000));
    assert!(
        matches!(&verdict, CacheVerdict::Broke(finding) if finding.changes.is_empty()),
        "{verdict:?}"
    );
}

#[test]
fn d1_a_new_generation_is_compared_position_by_position() {
    let (mut watch, mut old, mut new, head) = (
        CacheBreakDetector::default(),
        Rendered::default(),
        Rendered::default(),
        head(),
    );
    for nth in 0..4 {
        old.round(nth);
        new.round(if nth == 1 { 77 } else { nth });
    }
    let id = watch.before(old.print(&head, 1, 0));
    watch.after(id, &usage(40_000, 100), None);
    old.round(4);
    let id = watch.before(old.print(&head, 1, 1));
    assert_eq!(
        watch.after(id, &usage(40_100, 100), None),
        CacheVerdict::Steady
    );
    new.round(4);
    let id = watch.before(new.print(&head, 2, 2));
    let verdict = watch.after(id, &usage(10_000, 30_000), None);
    assert_eq!(
        verdict.finding().unwrap().cause.to_string(),
        "message 1 (assistant) edited"
    );
}

#[test]
fn t3_of_a_known_generation_only_what_is_new_is_looked_at() {
    let (mut watch, mut rendered, head) =
        (CacheBreakDetector::default(), Rendered::default(), head());
    rendered.round(0);
    let id = watch.before(rendered.print(&head, 7, 0));
    watch.after(id, &usage(40_000, 100), None);
    // This is another buffer under the same number: parts that were already read are not read again.
    let mut forged = Rendered::default();
    forged.say("Never looked at");
    forged.say("Answer 0");
    forged.say("Question 1");
    let id = watch.before(forged.print(&head, 7, 1));
    let verdict = watch.after(id, &usage(0, 40_000), None);
    assert!(
        matches!(&verdict, CacheVerdict::Broke(finding) if finding.changes.is_empty()),
        "{verdict:?}"
    );
}
