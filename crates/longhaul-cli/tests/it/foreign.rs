//! Other people's files are refused by name: exit code 2, a sentence, nothing on stdout.

use crate::support::World;

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, what: &str) {
    let world = World::new();
    let path = world.write("file", bytes);
    for json in [&[][..], &["--json"]] {
        let mut args = vec!["inspect", path.to_str().unwrap()];
        args.extend(json);
        world
            .run(args)
            .fails(&[&format!("this is {what}"), "file: "]);
    }
}

#[test]
fn other_agents_recordings_are_refused_by_name() {
    refused(
        "{\n  \"environment\": \"main\",\n  \"trajectory\": [\n    {\"action\": \"ls\", \"observation\": \"a.py\"}\n  ]\n}\n",
        "a SWE-agent trajectory",
    );
    refused(
        "{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"1\",\"cwd\":\"/srv\"}}\n\
         {\"timestamp\":\"2026-01-01T00:00:01Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\"}}\n",
        "a Codex rollout",
    );
    refused(
        "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"6113e919\",\"tools\":[]}\n\
         {\"type\":\"assistant\",\"message\":{\"id\":\"msg_1\",\"content\":[]},\"session_id\":\"6113e919\"}\n",
        "the printed event stream of an agent (stream-json)",
    );
    refused(
        "{\"messages\": [{\"role\": \"system\", \"content\": \"You are OpenHands agent.\"}], \"response\": {}}\n",
        "a recorded OpenHands completion",
    );
    refused(
        "{\n  \"1b99\": {\n    \"input\": {\"system\": \"You are an agent called goose\"},\n    \"output\": {}\n  }\n}\n",
        "a goose recording",
    );
    refused(
        "[{\"task_id\": 0, \"reward\": 1.0, \"traj\": [{\"role\": \"user\", \"content\": \"hi\"}]}]\n",
        "a tau-bench run",
    );
    refused(
        "\n# aider chat started at 2026-01-01 10:00:00\n\n> /add {main}.py\n",
        "an aider chat history",
    );
}

#[test]
fn what_is_no_recording_at_all_is_refused_by_its_shape() {
    refused("Dear diary,\ntoday I read a transcript.\n", "plain text");
    refused(
        "{\n  \"name\": \"app\",\n  \"version\": 1\n}\n",
        "a single JSON document",
    );
    refused(
        "{\n  \"a\": [\n    {}\n  ]\n}\n{}\n",
        "a single JSON document",
    );
    refused("{\"name\":\"app\"}", "a single JSON document");
    refused("[1, 2, 3]\n", "a JSON array, not lines of entries");
    refused(
        "{\"level\":\"info\",\"msg\":\"started\"}\n{\"level\":\"info\",\"msg\":\"stopped\"}\n",
        "JSON lines, but not those of a transcript",
    );
    refused(
        b"SQLite format 3\0\x10\x00\x01\x01\x00\x40\x20\x20",
        "an SQLite database",
    );
    refused(
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0",
        "binary data",
    );
}

#[test]
fn a_compressed_file_is_refused_with_the_way_to_read_it() {
    let world = World::new();
    world.write(
        "old.jsonl.gz",
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x4c\x4a\x06\0",
    );
    let run = world.run(["inspect", "old.jsonl.gz"]);
    run.fails(&["a compressed file", "zcat FILE | longhaul inspect -"]);
    world.write("old.zst", b"\x28\xb5\x2f\xfd\x04\x00\x29\0\0");
    world
        .run(["inspect", "old.zst"])
        .fails(&["a compressed file"]);
}

#[test]
fn binary_garbage_is_refused() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let noise = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    refused(noise.take(200_000).collect::<Vec<u8>>(), "binary data");
    refused(vec![0_u8; 100_000], "binary data");
}

#[test]
fn what_looks_like_text_with_braces_is_refused_once_it_is_read() {
    let world = World::new();
    world.write("main.rs", "fn main() {\n    loop {}\n}\n".repeat(10_000));
    let run = world.run(["inspect", "main.rs"]);
    run.fails(&["this is not a transcript: none of its lines is an entry"]);
}

#[test]
fn every_command_refuses_what_is_no_transcript_alike() {
    let world = World::new();
    world.write(
        "odd.jsonl",
        "{ this is no entry\n{ nor is this\n".as_bytes(),
    );
    for command in [
        &["inspect", "odd.jsonl"][..],
        &["show", "odd.jsonl"],
        &["recall", "odd.jsonl", "word"],
        &["notes", "odd.jsonl"],
        &["compact", "odd.jsonl", "--local"],
    ] {
        world.run(command).fails(&["this is not a transcript"]);
    }
}

#[test]
fn utf_16_is_named_with_the_way_to_read_it() {
    let world = World::new();
    for (name, head) in [("le", &b"\xFF\xFE"[..]), ("none", b"")] {
        let line = "{\"type\":\"user\"}\n".encode_utf16();
        let text = line.flat_map(u16::to_le_bytes);
        let bytes: Vec<u8> = head.iter().copied().chain(text).collect();
        world.write(name, &bytes);
        let run = world.run(["inspect", name]);
        run.fails(&["text in UTF-16", "iconv"]);
    }
}
