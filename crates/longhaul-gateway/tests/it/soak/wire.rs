//! HTTP as a client needs it: one exchange per connection, and the contents of the bodies. An incomplete response
//! counts as none.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::super::support::post;

/// Why there is no response.
pub(super) enum Failed {
    /// A retry may succeed.
    ForNow,
    /// A retry cannot succeed, with the reason.
    ForGood(String),
}

/// Statuses after which SDKs retry.
const AGAIN: [u16; 7] = [408, 429, 500, 502, 503, 504, 529];

/// Sends a request, and reads the whole body of its response.
pub(super) async fn exchange(
    stream: &mut BufReader<TcpStream>,
    path: &str,
    headers: &str,
    body: &str,
) -> Result<String, Failed> {
    let headers = format!("{headers}content-type: application/json\r\n");
    let sent = stream.write_all(&post(path, &headers, body)).await;
    sent.map_err(|_| Failed::ForNow)?;
    let (status, body) = read(stream).await.ok_or(Failed::ForNow)?;
    let body = String::from_utf8(body).map_err(|_| Failed::ForNow)?;
    match status {
        200 => Ok(body),
        status if AGAIN.contains(&status) => Err(Failed::ForNow),
        status => Err(Failed::ForGood(format!("{status}: {body}"))),
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<(u16, Vec<u8>)> {
    let status = line(stream).await?;
    let status = status.split(' ').nth(1)?.parse().ok()?;
    let (mut length, mut chunked) = (0, false);
    loop {
        let line = line(stream).await?.to_lowercase();
        if line == "x-longhaul-action: recovered" {
            println!("a request was too long, and recovered");
        }
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().ok()?;
        }
        chunked |= line == "transfer-encoding: chunked";
    }
    let mut body = vec![0; length];
    if !chunked {
        stream.read_exact(&mut body).await.ok()?;
        return Some((status, body));
    }
    loop {
        let size = usize::from_str_radix(&line(stream).await?, 16).ok()?;
        let from = body.len();
        body.resize(from + size, 0);
        stream.read_exact(&mut body[from..]).await.ok()?;
        line(stream).await?;
        if size == 0 {
            return Some((status, body));
        }
    }
}

async fn line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    Some(line.strip_suffix("\r\n")?.to_owned())
}

/// The reply of the Messages API, as a message of the history.
pub(super) fn message(body: &str) -> Option<Value> {
    let reply: Value = serde_json::from_str(body).ok()?;
    let content = reply.get("content")?.as_array()?;
    Some(json!({"role": "assistant", "content": content}))
}

/// The reply of chat completions, as a message of the history.
pub(super) fn completion(body: &str) -> Option<Value> {
    let reply: Value = serde_json::from_str(body).ok()?;
    let message = reply.get("choices")?.get(0)?.get("message")?;
    let mut kept = json!({"role": "assistant", "content": message["content"]});
    if message["tool_calls"].is_array() {
        kept["tool_calls"] = message["tool_calls"].clone();
    }
    Some(kept)
}

/// The data of events; `None` if one cannot be read.
fn events(body: &str) -> Option<Vec<Value>> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let data = data.filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).ok()).collect()
}

fn append(to: &mut Value, more: &Value) -> Option<()> {
    let text = to.as_str().unwrap_or_default().to_owned() + more.as_str()?;
    *to = json!(text);
    Some(())
}

/// The streamed reply of the Messages API; `None` unless it is complete.
pub(super) fn streamed_message(body: &str) -> Option<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    let mut inputs: Vec<String> = Vec::new();
    let mut whole = false;
    for event in events(body)? {
        match event["type"].as_str()? {
            "content_block_start" => {
                blocks.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                let (block, delta) = (blocks.last_mut()?, &event["delta"]);
                match delta["type"].as_str()? {
                    "text_delta" => append(&mut block["text"], &delta["text"])?,
                    "thinking_delta" => append(&mut block["thinking"], &delta["thinking"])?,
                    "signature_delta" => append(&mut block["signature"], &delta["signature"])?,
                    "input_json_delta" => {
                        inputs.last_mut()?.push_str(delta["partial_json"].as_str()?);
                    }
                    _ => return None,
                }
            }
            "message_stop" => whole = true,
            "error" => return None,
            _ => {}
        }
    }
    for (block, input) in blocks.iter_mut().zip(inputs) {
        if !input.is_empty() {
            block["input"] = serde_json::from_str(&input).ok()?;
        }
    }
    whole.then(|| json!({"role": "assistant", "content": blocks}))
}

/// The streamed reply of chat completions; `None` unless it is complete.
pub(super) fn streamed_completion(body: &str) -> Option<Value> {
    let mut text = json!("");
    let mut calls: Vec<Value> = Vec::new();
    for event in events(body)? {
        if event.get("error").is_some() {
            return None;
        }
        let delta = &event["choices"][0]["delta"];
        if delta["content"].is_string() {
            append(&mut text, &delta["content"])?;
        }
        for part in delta["tool_calls"].as_array().into_iter().flatten() {
            let at = usize::try_from(part["index"].as_u64()?).ok()?;
            if at == calls.len() {
                calls.push(json!({"id": part["id"], "type": "function",
                    "function": {"name": part["function"]["name"], "arguments": ""}}));
            }
            let arguments = &part["function"]["arguments"];
            if arguments.is_string() {
                append(&mut calls.get_mut(at)?["function"]["arguments"], arguments)?;
            }
        }
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    body.contains("data: [DONE]").then_some(message)
}
