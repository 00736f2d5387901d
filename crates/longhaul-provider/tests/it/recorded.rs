//! Recorded traffic of the real API through the decoders, in random chunkings.
//!
//! Streams are checked against a second, naive fold over parsed values; whole messages are also cut into streams, so
//! that every recorded reply exists in both forms.

use bytes::Bytes;
use longhaul_provider::decode::{DecodeError, StreamProgress, decode_json};
use longhaul_provider::error::{ErrorClass, ErrorResponse, PromptOverflow};
use longhaul_provider::{Dialect, Reply, ReplyNotice};
use longhaul_testkit::corpora::corpora;
use serde_json::{Value, json};

use crate::support::{Outcome, cut, decode_chunks, stream_of};

/// Decodes a stream in several chunkings, which must agree.
fn in_any_chunking(stream: &str, seed: u64) -> Outcome {
    let outcome = decode_chunks(Dialect::Anthropic, [stream.as_bytes()]);
    for round in 0..3 {
        let pieces = cut(stream.as_bytes(), seed + round);
        assert_eq!(decode_chunks(Dialect::Anthropic, pieces), outcome);
    }
    outcome
}

/// What the official clients make of these events, using parsed values.
fn naive(events: &[Value]) -> Value {
    let mut message = Value::Null;
    for event in events {
        let index = event["index"].as_u64().unwrap_or(0) as usize;
        match event["type"].as_str().unwrap() {
            "message_start" if message["id"] != event["message"]["id"] => {
                // Its content is not always empty: programmatic tool calls come with it.
                message = event["message"].clone();
            }
            "content_block_start" => {
                let content = message["content"].as_array_mut().unwrap();
                assert_eq!(content.len(), index);
                content.push(event["content_block"].clone());
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let block = &mut message["content"][index];
                let append = |block: &mut Value, field: &str, from: &str| {
                    let joined = format!(
                        "{}{}",
                        block[field].as_str().unwrap_or_default(),
                        delta[from].as_str().unwrap()
                    );
                    block[field] = joined.into();
                };
                match delta["type"].as_str().unwrap() {
                    "text_delta" => append(block, "text", "text"),
                    "thinking_delta" => append(block, "thinking", "thinking"),
                    "input_json_delta" => append(block, "partial", "partial_json"),
                    "signature_delta" => block["signature"] = delta["signature"].clone(),
                    "citations_delta" => {
                        if !block["citations"].is_array() {
                            block["citations"] = json!([]);
                        }
                        block["citations"]
                            .as_array_mut()
                            .unwrap()
                            .push(delta["citation"].clone());
                    }
                    "compaction_delta" => {
                        for (key, value) in delta
                            .as_object()
                            .unwrap()
                            .iter()
                            .filter(|(key, _)| *key != "type")
                        {
                            block[key] = value.clone();
                        }
                    }
                    other => panic!("{other}"),
                }
            }
            "content_block_stop" => {
                let block = message["content"][index].as_object_mut().unwrap();
                if let Some(partial) = block.remove("partial").filter(|partial| partial != "") {
                    block.insert(
                        "input".to_owned(),
                        serde_json::from_str(partial.as_str().unwrap()).unwrap(),
                    );
                }
            }
            "message_delta" => {
                let set = |target: &mut Value, from: &Value, skip: &[&str]| {
                    for (key, value) in from.as_object().unwrap() {
                        if !skip.contains(&key.as_str())
                            && (!value.is_null() || target[key].is_null())
                        {
                            target[key] = value.clone();
                        }
                    }
                };
                set(&mut message, &event["delta"], &[]);
                set(&mut message, event, &["type", "delta", "usage"]);
                let mut usage = message["usage"].take();
                set(&mut usage, &event["usage"], &[]);
                message["usage"] = usage;
            }
            _ => {}
        }
    }
    message
}

fn value_of(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.message_json()).unwrap()
}

/// The recorded streams, each as its events; a file may hold several, one after the other.
fn recorded_streams(name_filter: &str) -> Option<Vec<(String, Vec<String>)>> {
    let folder = corpora()?.join("sse-fixtures/vercel-ai");
    let mut streams = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.ends_with(".chunks.txt") || !name.contains(name_filter) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let mut events: Vec<String> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            events.push(line.to_owned());
            if line.contains(r#""type":"message_stop""#) {
                streams.push((name.clone(), std::mem::take(&mut events)));
            }
        }
        assert!(events.is_empty(), "{name} ends with its last message");
    }
    Some(streams)
}

fn stream_of_lines(events: &[String]) -> String {
    stream_of(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn n5_recorded_streams_fold_as_in_the_official_clients() {
    let Some(streams) = recorded_streams("") else {
        return;
    };
    assert!(streams.len() >= 31, "{}", streams.len());
    for (seed, (name, events)) in streams.iter().enumerate() {
        let outcome = in_any_chunking(&stream_of_lines(events), seed as u64);
        assert_eq!(outcome.failure, None, "{name}");
        assert_eq!(outcome.progress, StreamProgress::Closed, "{name}");
        let parsed: Vec<Value> = events
            .iter()
            .map(|event| serde_json::from_str(event).unwrap())
            .collect();
        assert_eq!(value_of(&outcome.reply), naive(&parsed), "{name}");
        if !name.starts_with("spliced") {
            assert_eq!(outcome.reply.notices, [], "{name}");
        }
    }
}

#[test]
fn spliced_and_duplicate_starts_give_the_message_that_is_whole() {
    let Some(streams) = recorded_streams("message-start") else {
        return;
    };
    let replies: Vec<Reply> = streams
        .iter()
        .map(|(_, events)| in_any_chunking(&stream_of_lines(events), 1).reply)
        .collect();
    assert_eq!(
        (&*replies[0].id(), &*replies[0].text()),
        ("msg_dup", "Hello, World!")
    );
    assert_eq!((replies[0].usage.input, replies[0].usage.output), (17, 227));
    assert_eq!(replies[0].notices, []);
    assert_eq!(replies[1].id(), "msg_second");
    assert_eq!(replies[1].blocks.len(), 2);
    let call = replies[1].tool_calls().next().unwrap();
    assert_eq!(
        (&*call.id, call.input_json),
        ("toolu_second", &br#"{"value":"Sparkle Day"}"#[..])
    );
    assert_eq!(
        replies[1].notices,
        [ReplyNotice::Restarted {
            abandoned: "msg_first".to_owned()
        }]
    );
}

/// A whole message as a stream: every text and input in pieces.
fn as_stream(message: &Value, seed: u64) -> String {
    let mut head = message.clone();
    head["content"] = json!([]);
    head["stop_reason"] = Value::Null;
    let mut usage = message["usage"].clone();
    usage["output_tokens"] = 1.into();
    head["usage"] = usage;
    let mut events = vec![json!({ "type": "message_start", "message": head })];
    let delta = |index: usize, kind: &str, field: &str, text: &str| {
        let mut state = seed + index as u64;
        let mut rest = text;
        let mut deltas = Vec::new();
        while !rest.is_empty() {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let wanted = 1 + (state >> 33) as usize % 30;
            let end = (wanted..rest.len())
                .find(|at| rest.is_char_boundary(*at))
                .unwrap_or(rest.len());
            deltas.push(json!({ "type": "content_block_delta", "index": index, "delta": { "type": kind, (field): &rest[..end] } }));
            rest = &rest[end..];
        }
        deltas
    };
    for (index, block) in message["content"].as_array().unwrap().iter().enumerate() {
        let mut start = block.clone();
        let mut deltas = Vec::new();
        match block["type"].as_str().unwrap() {
            "text" => {
                start["text"] = "".into();
                deltas = delta(index, "text_delta", "text", block["text"].as_str().unwrap());
                if let Some(citations) = block["citations"].as_array() {
                    start["citations"] = json!([]);
                    deltas.extend(citations.iter().map(|citation| json!({ "type": "content_block_delta", "index": index, "delta": { "type": "citations_delta", "citation": citation } })));
                }
            }
            "thinking" => {
                start["thinking"] = "".into();
                start["signature"] = "".into();
                deltas = delta(
                    index,
                    "thinking_delta",
                    "thinking",
                    block["thinking"].as_str().unwrap(),
                );
                deltas.push(json!({ "type": "content_block_delta", "index": index, "delta": { "type": "signature_delta", "signature": block["signature"] } }));
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                start["input"] = json!({});
                deltas = delta(
                    index,
                    "input_json_delta",
                    "partial_json",
                    &block["input"].to_string(),
                );
            }
            _ => {}
        }
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        events.extend(deltas);
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": message["stop_reason"] }, "usage": { "output_tokens": message["usage"]["output_tokens"] } }));
    events.push(json!({ "type": "message_stop" }));
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    stream_of_lines(&lines)
}

/// Decodes a recorded message, and the same message as a stream.
fn check_both_forms(name: &str, body: &str, seed: u64) -> Reply {
    let message: Value = serde_json::from_str(body).unwrap();
    let whole = decode_json(Dialect::Anthropic, &Bytes::copy_from_slice(body.as_bytes())).unwrap();
    assert_eq!(value_of(&whole), message, "{name}");
    let outcome = in_any_chunking(&as_stream(&message, seed), seed);
    assert_eq!(
        (outcome.failure, outcome.progress),
        (None, StreamProgress::Closed),
        "{name}"
    );
    let streamed = outcome.reply;
    assert_eq!(value_of(&streamed), message, "{name}");
    assert_eq!(streamed.text(), whole.text(), "{name}");
    assert_eq!(streamed.usage, whole.usage, "{name}");
    assert_eq!(streamed.stop, whole.stop, "{name}");
    assert_eq!(streamed.applied_edits, whole.applied_edits, "{name}");
    let inputs = |reply: &Reply| -> Vec<Value> {
        reply
            .tool_calls()
            .map(|call| serde_json::from_slice(call.input_json).unwrap())
            .collect()
    };
    assert_eq!(inputs(&streamed), inputs(&whole), "{name}");
    whole
}

#[test]
fn n5_recorded_messages_are_the_same_streamed_and_whole() {
    let Some(folder) = corpora() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.join("sse-fixtures/vercel-ai")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let name = path.display().to_string();
            let body = std::fs::read_to_string(&path).unwrap();
            let whole = check_both_forms(&name, &body, seen);
            seen += 1;
            // If the recorded stream is of the same message, it must give the same result.
            let stream = std::path::PathBuf::from(name.replace(".json", ".chunks.txt"));
            let Ok(stream) = std::fs::read_to_string(stream) else {
                continue;
            };
            let lines: Vec<String> = stream.lines().map(str::to_owned).collect();
            let streamed = in_any_chunking(&stream_of_lines(&lines), seen).reply;
            if streamed.id() == whole.id() {
                assert_eq!(streamed.text(), whole.text(), "{name}");
                assert_eq!(streamed.usage, whole.usage, "{name}");
                assert_eq!(
                    value_of(&streamed)["content"],
                    value_of(&whole)["content"],
                    "{name}"
                );
            }
        }
    }
    assert!(seen >= 30, "{seen}");
}

#[test]
fn n5_every_recorded_exchange_is_understood() {
    let Some(folder) = corpora() else { return };
    let pairs = std::fs::read_to_string(folder.join("api-pairs/anthropic_pairs.jsonl")).unwrap();
    let (mut streams, mut messages, mut errors) = (0, 0, 0);
    let mut overflow = None;
    for (seed, line) in pairs.lines().enumerate() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let (name, body) = (
            pair["id"].as_str().unwrap(),
            pair["response"].as_str().unwrap(),
        );
        let status = pair["status"].as_u64().unwrap() as u16;
        let is_messages = pair["url"]
            .as_str()
            .unwrap()
            .split('?')
            .next()
            .unwrap()
            .ends_with("/v1/messages");
        if status >= 400 {
            errors += 1;
            let error = ErrorResponse::from_http(
                status,
                &http::HeaderMap::new(),
                body.as_bytes(),
                std::time::SystemTime::UNIX_EPOCH,
            )
            .into_error();
            match error.class {
                ErrorClass::TooLong(numbers) => overflow = Some(numbers),
                ErrorClass::Auth => assert_eq!(status, 401, "{name}"),
                ErrorClass::NotFound => assert_eq!(status, 404, "{name}"),
                ErrorClass::Invalid => assert_eq!(status, 400, "{name}"),
                other => panic!("{name}: {other:?}"),
            }
            assert!(!error.message.is_empty());
        } else if is_messages && body.starts_with("event:") {
            streams += 1;
            let outcome = in_any_chunking(body, seed as u64);
            assert_eq!(
                (outcome.failure, outcome.progress),
                (None, StreamProgress::Closed),
                "{name}"
            );
            assert_eq!(outcome.reply.notices, [], "{name}");
            let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
            let parsed: Vec<Value> = data
                .map(|data| serde_json::from_str(data).unwrap())
                .collect();
            assert_eq!(value_of(&outcome.reply), naive(&parsed), "{name}");
            check_usage(name, &outcome.reply, &pair["usage"]);
        } else if is_messages && is_message(body) {
            messages += 1;
            let reply = check_both_forms(name, body, seed as u64);
            check_usage(name, &reply, &pair["usage"]);
        } else if let Ok(reply) = decode_json(Dialect::OpenAi, &body.to_owned().into()) {
            assert!(
                reply.usage.prompt() > 0 && !reply.text().is_empty(),
                "{name}"
            );
        } else {
            // Batches, files, token counts and the legacy text completions: recognized as different, not misread.
            let body = Bytes::copy_from_slice(body.as_bytes());
            let error = decode_json(Dialect::Anthropic, &body);
            assert!(matches!(error, Err(DecodeError::Malformed(_))), "{name}");
        }
    }
    assert!(
        streams >= 275 && messages >= 400 && errors >= 20,
        "{streams} {messages} {errors}"
    );
    assert_eq!(
        overflow,
        Some(PromptOverflow {
            actual: Some(3_333_404),
            limit: Some(200_000)
        })
    );
}

fn is_message(body: &str) -> bool {
    serde_json::from_str::<Value>(body).is_ok_and(|value| value["type"] == "message")
}

/// The usage beside the recording was collected by others.
fn check_usage(name: &str, reply: &Reply, recorded: &Value) {
    let count = |key: &str| recorded[key].as_u64().unwrap_or(0);
    let usage = &reply.usage;
    assert_eq!(usage.input, count("input_tokens"), "{name}");
    assert_eq!(usage.output, count("output_tokens"), "{name}");
    assert_eq!(usage.cache_read, count("cache_read_input_tokens"), "{name}");
    assert_eq!(
        usage.cache_write(),
        count("cache_creation_input_tokens"),
        "{name}"
    );
}
