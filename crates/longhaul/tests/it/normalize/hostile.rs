//! Histories that nobody would write: orphans, duplicates, interleaved parallel calls, thinking-only tails, empty text,
//! attachments anywhere, several boundaries, blocks of any shape. Small pools of ids make parts collide.

use std::fmt::Write as _;

use base64::Engine as _;
use longhaul_core::message::{Entry, Id};
use longhaul_core::normalize::RenderOptions;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::{BETAS, EDITS, entry, signed};

/// A content block, before it is written.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Text,
    Blank(u8),
    BareString,
    Thinking,
    Unsigned(u8),
    Redacted,
    Call(u8, u8),
    Result(u8, Vec<Inner>),
    Said(u8, u8),
    Image(u8),
    Server(u8, u8),
    ServerResult(u8, u8),
    Odd(u8),
}

/// A block inside a result, before it is written.
#[derive(Debug, Clone)]
pub(crate) enum Inner {
    Text,
    Blank,
    Image(u8),
    Odd(u8),
}

/// An entry, before it is written.
#[derive(Debug, Clone)]
pub(crate) enum Line {
    Reply(u8, Vec<Block>),
    NewReply(Vec<Block>),
    NoId(Vec<Block>),
    Synthetic(Vec<Block>),
    User(Vec<Block>),
    Words,
    Attachment(u8),
    Noise(u8),
    Boundary(u8),
}

fn inner() -> impl Strategy<Value = Inner> {
    prop_oneof![
        4 => Just(Inner::Text),
        2 => Just(Inner::Blank),
        1 => (0..4_u8).prop_map(Inner::Image),
        2 => any::<u8>().prop_map(Inner::Odd),
    ]
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        6 => Just(Block::Text),
        2 => (0..5_u8).prop_map(Block::Blank),
        1 => Just(Block::BareString),
        4 => Just(Block::Thinking),
        2 => any::<u8>().prop_map(Block::Unsigned),
        1 => Just(Block::Redacted),
        8 => (0..7_u8, any::<u8>()).prop_map(|(id, way)| Block::Call(id, way)),
        4 => (0..7_u8, vec(inner(), 0..4)).prop_map(|(id, inner)| Block::Result(id, inner)),
        4 => (0..7_u8, any::<u8>()).prop_map(|(id, way)| Block::Said(id, way)),
        2 => (0..5_u8).prop_map(Block::Image),
        2 => (0..3_u8, 0..3_u8).prop_map(|(id, way)| Block::Server(id, way)),
        2 => (0..3_u8, 0..4_u8).prop_map(|(id, way)| Block::ServerResult(id, way)),
        4 => any::<u8>().prop_map(Block::Odd),
    ]
}

/// Blocks that mostly come from the user's side, including results.
fn input() -> impl Strategy<Value = Block> {
    prop_oneof![
        3 => (0..7_u8, any::<u8>()).prop_map(|(id, way)| Block::Said(id, way)),
        2 => (0..7_u8, vec(inner(), 0..4)).prop_map(|(id, inner)| Block::Result(id, inner)),
        2 => Just(Block::Text),
        2 => block(),
    ]
}

pub(crate) fn line() -> impl Strategy<Value = Line> {
    prop_oneof![
        4 => (0..4_u8, vec(block(), 0..4)).prop_map(|(id, blocks)| Line::Reply(id, blocks)),
        6 => vec(block(), 0..4).prop_map(Line::NewReply),
        1 => vec(block(), 0..3).prop_map(Line::NoId),
        1 => vec(block(), 0..3).prop_map(Line::Synthetic),
        8 => vec(input(), 0..4).prop_map(Line::User),
        3 => Just(Line::Words),
        3 => any::<u8>().prop_map(Line::Attachment),
        1 => any::<u8>().prop_map(Line::Noise),
        1 => any::<u8>().prop_map(Line::Boundary),
    ]
}

/// A history of any kind.
pub(crate) fn history(most: usize) -> impl Strategy<Value = Vec<Line>> {
    vec(line(), 0..most)
}

/// Options of any kind; betas are all that blocks need, or none.
pub(crate) fn options() -> impl Strategy<Value = RenderOptions> {
    let cleared = vec(0..7_u8, 0..3);
    let betas = prop_oneof![Just(false), Just(true)];
    (any::<bool>(), cleared, betas, any::<bool>(), 0..4_usize).prop_map(
        |(context, cleared, betas, references, images)| {
            let mut names: Vec<String> = Vec::new();
            if betas {
                names.extend(BETAS.map(str::to_owned));
            }
            if references {
                names.push(EDITS.into());
            }
            RenderOptions {
                user_context: context.then(|| "<system-reminder>context</system-reminder>".into()),
                cleared: cleared.iter().map(|id| Id::of(&call_id(*id))).collect(),
                cache_references: references,
                betas: names,
                most_images: [0, 1, 3, 50][images],
                tools: vec!["known".into()],
                ..RenderOptions::default()
            }
        },
    )
}

/// Entries and the words that must not be lost.
pub(crate) struct History {
    pub(crate) entries: Vec<Entry>,
    /// Words of text blocks in user entries and replies, by their entry.
    pub(crate) words: Vec<(usize, String)>,
}

/// Writes a history as lines of a transcript, chained one after the other.
pub(crate) fn written(lines: &[Line]) -> History {
    let mut pen = Pen::default();
    for line in lines {
        pen.line(line);
    }
    History {
        entries: pen.lines.iter().map(entry).collect(),
        words: pen.words,
    }
}

/// An image's data, by its longest side.
pub(crate) fn png(side: u32) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(side.to_be_bytes());
    bytes.extend(10_u32.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Ids that collide, two of them in characters that the API refuses.
fn call_id(id: u8) -> String {
    match id {
        5 => "call|5".into(),
        6 => "ruf-ü\u{1F600}".into(),
        id => format!("toolu_{id}"),
    }
}

#[derive(Default)]
struct Pen {
    lines: Vec<String>,
    words: Vec<(usize, String)>,
    count: usize,
    responses: usize,
}

impl Pen {
    fn line(&mut self, line: &Line) {
        let uuid = self.lines.len();
        let parent = uuid.checked_sub(1).map(|before| format!("u{before}"));
        let mut head = json!({"uuid": format!("u{uuid}"), "parentUuid": parent, "sessionId": "s", "isSidechain": false});
        let rest = match line {
            Line::Reply(id, blocks) => {
                // An earlier response, or the newest.
                let id = self.responses.saturating_sub(usize::from(*id));
                self.reply(Some(id), "claude-3-haiku", blocks)
            }
            Line::NewReply(blocks) => {
                self.responses += 1;
                self.reply(Some(self.responses), "claude-3-haiku", blocks)
            }
            Line::NoId(blocks) => self.reply(None, "claude-3-haiku", blocks),
            Line::Synthetic(blocks) => {
                let kept = self.words.len();
                let line = self.reply(Some(0), "<synthetic>", blocks);
                self.words.truncate(kept);
                line
            }
            Line::User(blocks) => {
                let content = self.content(blocks);
                format!(r#""type":"user","message":{{"role":"user","content":[{content}]}}"#)
            }
            Line::Words => {
                let word = self.word();
                format!(r#""type":"user","message":{{"role":"user","content":"say {word}"}}"#)
            }
            Line::Attachment(kind) => {
                let attachment = self.attachment(*kind);
                format!(r#""type":"attachment","attachment":{attachment}"#)
            }
            Line::Noise(kind) => match kind % 4 {
                0 => r#""type":"progress","data":{"type":"x"}"#.into(),
                1 => r#""type":"system","subtype":"informational","content":"x""#.into(),
                2 => r#""type":"system","subtype":"microcompact_boundary","microcompactMetadata":{"compactedToolIds":["toolu_1"]}"#.into(),
                _ => r#""type":"user","message":null"#.into(),
            },
            Line::Boundary(kind) => {
                head["parentUuid"] = Value::Null;
                head["logicalParentUuid"] = json!(parent);
                let (from, to) = (uuid.saturating_sub(1 + usize::from(kind % 5)), uuid.saturating_sub(1));
                let anchor = if kind % 2 == 0 { uuid } else { uuid + 1 };
                let metadata = match kind % 3 {
                    0 => json!({"trigger": "auto"}),
                    _ => json!({"trigger": "manual", "preservedSegment": {
                        "headUuid": format!("u{from}"), "anchorUuid": format!("u{anchor}"), "tailUuid": format!("u{to}"),
                    }}),
                };
                format!(r#""type":"system","subtype":"compact_boundary","content":"x","compactMetadata":{metadata}"#)
            }
        };
        let head = head.to_string();
        self.lines
            .push(format!("{},{rest}}}", head.strip_suffix('}').unwrap()));
    }

    fn reply(&mut self, id: Option<usize>, model: &str, blocks: &[Block]) -> String {
        let content = self.content(blocks);
        let id = id.map_or_else(|| "null".into(), |id| format!("\"msg_{id}\""));
        format!(
            r#""type":"assistant","message":{{"id":{id},"model":"{model}","role":"assistant","content":[{content}]}}"#
        )
    }

    fn content(&mut self, blocks: &[Block]) -> String {
        let blocks: Vec<String> = blocks.iter().map(|block| self.block(block)).collect();
        blocks.join(",")
    }

    /// A word that must be found again.
    fn word(&mut self) -> String {
        self.count += 1;
        let word = format!("word{}end", self.count);
        self.words.push((self.lines.len(), word.clone()));
        word
    }

    fn block(&mut self, block: &Block) -> String {
        match block {
            Block::Text => {
                let word = self.word();
                let more = [
                    "",
                    r#","cache_control":{"type":"ephemeral"}"#,
                    r#","citations":[{"type":"x","cited_text":"y"}]"#,
                    r#","citations":null,"annotations":[1]"#,
                ];
                let more = more[self.count % 4];
                format!(r#"{{"type":"text","text":"say {word} \ud83d\ude00 \ud83d"{more}}}"#)
            }
            Block::Blank(way) => match way {
                0 => r#"{"type":"text","text":""}"#.into(),
                1 => r#"{"type":"text","text":" \n\t"}"#.into(),
                2 => {
                    r#"{"type":"text","text":"\u3000","cache_control":{"type":"ephemeral"}}"#.into()
                }
                3 => r#""""#.into(),
                _ => r#"{"type":"text"}"#.into(),
            },
            Block::BareString => format!(r#""bare {}""#, self.word()),
            Block::Thinking => {
                let text = format!("thought {}", self.count);
                json!({"type": "thinking", "thinking": text, "signature": signed(&text)})
                    .to_string()
            }
            Block::Unsigned(way) => match way % 5 {
                0 => r#"{"type":"thinking","thinking":"unsigned"}"#.into(),
                1 => r#"{"type":"thinking","thinking":"unsigned","signature":""}"#.into(),
                2 => r#"{"type":"thinking","signature":"x"}"#.into(),
                3 => r#"{"type":"redacted_thinking"}"#.into(),
                _ => r#"{"type":"thinking","thinking":7,"signature":null}"#.into(),
            },
            Block::Redacted => json!({"type": "redacted_thinking", "data": signed("")}).to_string(),
            Block::Call(id, way) => self.call(*id, *way),
            Block::Result(id, inner) => {
                let id = json!(call_id(*id));
                let inner: Vec<String> = inner.iter().map(|inner| self.inner(inner)).collect();
                format!(
                    r#"{{"type":"tool_result","tool_use_id":{id},"is_error":true,"content":[{}]}}"#,
                    inner.join(",")
                )
            }
            Block::Said(id, way) => {
                let id = json!(call_id(*id));
                let content = match way % 9 {
                    0 => r#","content":"""#,
                    1 => r#","content":"  ""#,
                    2 => "",
                    3 => r#","content":null"#,
                    4 => r#","content":{"a":1}"#,
                    5 => {
                        r#","content":"x\ud800","cache_control":{"type":"ephemeral"},"is_error":null"#
                    }
                    6 => r#","content":7,"is_error":"yes","extra":{}"#,
                    _ => r#","content":"fine""#,
                };
                match way {
                    250.. => format!(r#"{{"type":"tool_result"{content}}}"#),
                    _ => format!(r#"{{"tool_use_id":{id},"type":"tool_result"{content}}}"#),
                }
            }
            Block::Image(way) => image(*way),
            Block::Server(id, way) => match way {
                0 => format!(
                    r#"{{"type":"server_tool_use","id":"srvtoolu_{id}","name":"web_search","input":{{}}}}"#
                ),
                1 => format!(
                    r#"{{"type":"mcp_tool_use","id":"srvtoolu_{id}","name":"x","server_name":"s","input":{{}}}}"#
                ),
                _ => format!(
                    r#"{{"type":"server_tool_use","id":"bad {id}","name":"web_search","input":{{}}}}"#
                ),
            },
            Block::ServerResult(id, way) => match way {
                0 => format!(
                    r#"{{"type":"web_search_tool_result","tool_use_id":"srvtoolu_{id}","content":[]}}"#
                ),
                1 => format!(
                    r#"{{"type":"mcp_tool_result","tool_use_id":"srvtoolu_{id}","content":[{{"type":"text","text":"x"}}]}}"#
                ),
                2 => format!(
                    r#"{{"type":"advisor_tool_result","tool_use_id":"srvtoolu_{id}","content":{{}}}}"#
                ),
                _ => format!(
                    r#"{{"type":"web_fetch_tool_result","tool_use_id":"bad {id}","content":""}}"#
                ),
            },
            Block::Odd(way) => odd(*way),
        }
    }

    fn call(&mut self, id: u8, way: u8) -> String {
        let id = json!(call_id(id));
        let (name, input) = match way % 14 {
            0 => ("\"bad name!\"", "{}"),
            1 => ("\"Read\"", "\"text\""),
            2 => ("\"Read\"", "null"),
            3 => ("\"\"", "{}"),
            4 => ("7", "{}"),
            5 => ("\"Read\"", r#"{"n":1e999}"#),
            6 => ("\"Read\"", r#"{"n":"\ud800"}"#),
            7 => ("\"Read\"", DEEP.get_or_init(deep).as_str()),
            8 => return format!(r#"{{"type":"tool_use","id":{id},"name":"Read"}}"#),
            9 => return r#"{"type":"tool_use","name":"Read","input":{}}"#.into(),
            10 => {
                return format!(
                    r#"{{"type":"tool_use","id":{id},"name":"Read","input":{{}},"caller":7,"text":"","cache_control":null}}"#
                );
            }
            _ => ("\"Read\"", r#"{"path":"a"}"#),
        };
        format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
    }

    fn inner(&mut self, inner: &Inner) -> String {
        match inner {
            Inner::Text => r#"{"type":"text","text":"inner","cache_control":{"type":"ephemeral","ttl":"1h"}}"#.into(),
            Inner::Blank => r#"{"type":"text","text":""}"#.into(),
            Inner::Image(way) => image(*way),
            Inner::Odd(way) => match way % 8 {
                0 => r#"{"type":"tool_reference","tool_name":"known"}"#.into(),
                1 => r#"{"type":"tool_reference","tool_name":"gone"}"#.into(),
                2 => r#"{"type":"tool_result","tool_use_id":"toolu_1","content":[]}"#.into(),
                3 => "null".into(),
                4 => r#""bare""#.into(),
                5 => r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"}}"#.into(),
                6 => r#"{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x","citations":null}]}"#.into(),
                _ => odd(*way),
            },
        }
    }

    fn attachment(&mut self, kind: u8) -> String {
        let word = format!("attached{}end", self.lines.len());
        let png = png(10);
        match kind % 16 {
            0 => json!({"type": "file", "filename": "/a", "content": {"type": "text", "file": {"filePath": "/a", "content": word}}}),
            1 => json!({"type": "file", "filename": "/a", "content": {"type": "image", "file": {"base64": png, "type": "image/png"}}}),
            2 => json!({"type": "todo", "content": [{"content": word, "status": "pending"}]}),
            3 => json!({"type": "todo", "content": []}),
            4 => json!({"type": "queued_command", "prompt": word}),
            5 => json!({"type": "queued_command", "prompt": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}}]}),
            6 => json!({"type": "hook_additional_context", "content": [word]}),
            7 => json!({"type": "hook_success", "content": ""}),
            8 => json!({"type": "structured_output", "data": {}}),
            9 => json!({"type": "invoked_skills", "skills": [{"name": "n", "path": "p", "content": word}]}),
            10 => json!({"type": "nested_memory", "path": "p", "content": {"content": word}}),
            11 => json!({"type": "deferred_tools_delta", "addedNames": [word], "removedNames": []}),
            12 => json!({"type": "plan_mode"}),
            13 => json!({"kind": "none"}),
            14 => return r#""text""#.into(),
            _ => return r#"{"type":"made_up","text":"half \ud800","n":1e999}"#.into(),
        }
        .to_string()
    }
}

static DEEP: std::sync::OnceLock<String> = std::sync::OnceLock::new();

fn deep() -> String {
    let mut text = String::new();
    for _ in 0..200 {
        text.push_str("{\"a\":[");
    }
    text.push('1');
    for _ in 0..200 {
        text.push_str("]}");
    }
    text
}

fn image(way: u8) -> String {
    let of = |side: u32| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(side)}, "cache_control": {"type": "ephemeral"}});
    match way {
        0 => of(100),
        1 => of(3_000),
        2 => of(9_000),
        3 => json!({"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "AAAA"}}),
        _ => json!({"type": "image", "source": "http://x"}),
    }
    .to_string()
}

/// Blocks of unknown types that a parser might get one day.
fn odd(way: u8) -> String {
    let odd = [
        "null",
        "7",
        "[1]",
        "{}",
        r#"{"type":7}"#,
        r#"{"type":""}"#,
        r#"{"type":"text","text":null}"#,
        r#"{"type":"text","text":["a"]}"#,
        r#"{"type":"tool_addition","tool":{"type":"tool_reference","name":"x"}}"#,
        r#"{"type":"browser_state","tabs":[]}"#,
        r#"{"type":"fallback","to":{"model":"x"}}"#,
        r#"{"type":"container_upload","file_id":"f","cache_control":{"type":"ephemeral"}}"#,
        r#"{"type":"compaction","content":"summary"}"#,
        r#"{"type":"compaction","content":"summary","signature":"sig"}"#,
        r#"{"type":"compaction","content":null,"signature":null}"#,
        r#"{"type":"compaction","content":""}"#,
        r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"},"title":null}"#,
        r#"{"type":"document","source":{"type":"base64","media_type":"text/html","data":"x"}}"#,
        r#"{"type":"document","source":{"type":"content","content":[{"type":"text","text":""}]}}"#,
        r#"{"type":"search_result","source":"s","title":"t","content":[]}"#,
        r#"{"type":"search_result","content":"x"}"#,
        r#"{"type":"mcp_tool_listing","mcp_server_name":"s","tools":[]}"#,
        r#"{"type":"text","type":"image","text":"x"}"#,
        r#"{"t\u0079pe":"text","text":"escaped key"}"#,
        r#"{"type":"made_up","text":""}"#,
        r#"{"type":"made_up","data":"\ud800","n":1e999}"#,
    ];
    odd[usize::from(way) % odd.len()].into()
}

/// What a history looks like, for a failing case.
pub(crate) fn shown(history: &History) -> String {
    let mut text = String::new();
    for entry in &history.entries {
        let _ = writeln!(text, "{}", String::from_utf8_lossy(entry.bytes()));
    }
    text
}
