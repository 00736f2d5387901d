//! Images are left out when there are too many or when one is too large.

use longhaul_core::message::Entry;
use longhaul_core::normalize::{RenderOptions, Rendering};
use serde_json::{Value, json};

use super::examples::{reply, user};
use super::hostile::png;
use super::world::{World, entry, parsed, sendable};

fn picture(side: u32) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(side)}})
}

fn options(most_images: usize) -> RenderOptions {
    RenderOptions {
        most_images,
        ..RenderOptions::default()
    }
}

/// One picture per turn, with a thought in each reply.
fn shown(sides: &[u32]) -> Vec<Entry> {
    let turns = sides.iter().enumerate().flat_map(|(index, side)| {
        let thought = json!({"type": "thinking", "thinking": "", "signature": "c2ln"});
        [
            user(&format!("u{index}"), json!([picture(*side)])),
            reply(
                &format!("r{index}"),
                &format!("m{index}"),
                json!([thought, {"type": "text", "text": "seen"}]),
            ),
        ]
    });
    turns.map(entry).collect()
}

fn begun(most_images: usize, entries: &[Entry]) -> Rendering {
    let mut rendering = Rendering::begin(options(most_images), entries.iter().map(Entry::view));
    rendering.seal();
    rendering
}

/// For each message of the user whether its picture is sent, for each reply whether its thought is.
fn sent(rendering: &Rendering) -> (String, String) {
    let messages = parsed(rendering);
    let messages = messages.as_array().unwrap().iter();
    let mut of = (String::new(), String::new());
    for message in messages {
        let first = message["content"][0]["type"].as_str().unwrap();
        match first {
            "image" => of.0.push('x'),
            "thinking" => of.1.push('x'),
            _ if message["role"] == "user" => of.0.push('-'),
            _ => of.1.push('-'),
        }
    }
    of
}

#[test]
fn z3_the_oldest_images_make_room_in_steps_and_thinking_before_a_step_goes_with_them() {
    let entries = shown(&[10; 9]);
    let (pictures, thoughts) = sent(&begun(4, &entries[..8]));
    assert_eq!((&*pictures, &*thoughts), ("xxxx", "xxxx"));
    let (pictures, thoughts) = sent(&begun(4, &entries[..10]));
    assert_eq!((&*pictures, &*thoughts), ("--xxx", "----x"));
    // Nothing changes until the next step.
    let (pictures, thoughts) = sent(&begun(4, &entries[..12]));
    assert_eq!((&*pictures, &*thoughts), ("--xxxx", "----xx"));
    let (pictures, thoughts) = sent(&begun(4, &entries[..18]));
    assert_eq!((&*pictures, &*thoughts), ("------xxx", "--------x"));
}

#[test]
fn z3_one_image_too_many_asks_for_a_new_rendering_and_is_left_out_until_then() {
    let entries = shown(&[10; 6]);
    let mut rendering = begun(4, &entries[..8]);
    assert!(!rendering.must_begin_anew());
    rendering.push(entries[8].view());
    assert!(rendering.must_begin_anew());
    rendering.seal();
    assert_eq!(sent(&rendering).0, "xxxx-");
    assert!(!begun(4, &entries[..9]).must_begin_anew());
}

#[test]
fn z3_among_many_images_large_ones_are_left_out() {
    let mut sides = vec![10; 21];
    (sides[3], sides[20]) = (3_000, 3_000);
    let entries = shown(&sides);
    let mut rendering = begun(0, &entries[..40]);
    assert_eq!(sent(&rendering).0, "x".repeat(20));
    rendering.push(entries[40].view());
    assert!(rendering.must_begin_anew());
    let rendering = begun(0, &entries);
    let (pictures, thoughts) = sent(&rendering);
    assert_eq!(pictures, "xxx-xxxxxxxxxxxxxxxx-");
    assert_eq!(thoughts, "--------------------x");
    let stripped = RenderOptions {
        thinking_stripped_through: entries[41].view().uuid(),
        ..options(0)
    };
    let mut rendering = Rendering::begin(stripped, entries.iter().map(Entry::view));
    rendering.seal();
    let world = World::new("claude-fable-5-2", "2026-10-21", &[]);
    world.admit(&sendable(&rendering)).unwrap();
}

#[test]
fn z3_an_image_that_is_too_large_for_any_request_is_left_out() {
    let heavy = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(15 << 20)}});
    let entries: Vec<Entry> = [
        user("1", json!([heavy])),
        user("2", json!([picture(8_001)])),
        user("3", json!([picture(8_000)])),
    ]
    .map(entry)
    .into();
    let messages = parsed(&begun(0, &entries));
    let kinds: Vec<&Value> = messages[0]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| &block["type"])
        .collect();
    assert_eq!(kinds, ["text", "text", "image"]);
}

#[test]
fn z3_images_inside_results_and_attachments_count_too() {
    let file = json!({"type": "file", "filename": "/a.png", "content": {"type": "image", "file": {"base64": png(10), "type": "image/png"}}});
    let call = json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}});
    let lines = [
        user("1", json!([picture(10)])),
        reply("2", "m", json!([call])),
        user(
            "3",
            json!([{"type": "tool_result", "tool_use_id": "t", "content": [picture(10)]}]),
        ),
        json!({"uuid": "4", "type": "attachment", "attachment": file}),
    ];
    let entries: Vec<Entry> = lines.iter().map(entry).collect();
    let sent = parsed(&begun(2, &entries));
    assert_eq!(sent[0]["content"][0]["type"], "text");
    assert_eq!(sent[2]["content"][0]["content"][0]["type"], "image");
    assert_eq!(sent[2]["content"][2]["type"], "image");
    let sent = parsed(&begun(1, &entries));
    assert_eq!(sent[2]["content"][0]["content"][0]["type"], "text");
}
