//! A stream of genai, folded into a reply and reported while it arrives.
//!
//! Text is reported piece by piece. Calls of tools are reported when the stream has ended, because the adapters of genai
//! disagree on whether a piece of a call is the whole call so far or only what is new.

use genai::chat::{ChatStreamEvent, StopReason as GenaiStop, StreamEnd, ToolCall};
use longhaul::{OnStream, Reply, ReplyBlockKind, StopReason, StreamEvent};
use serde_json::{Value, json};

use crate::usage;

/// The field that holds a tool's input that is not a JSON object, as in the library's own decoders.
const INVALID_INPUT: &str = "INVALID_JSON";

/// The reply as far as it has arrived.
#[derive(Debug)]
pub(crate) struct ReplyFold {
    model: String,
    text: String,
    progress: ReportedPart,
}

/// How much has been reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportedPart {
    Nothing,
    Started,
    InText,
}

impl ReplyFold {
    pub(crate) fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            text: String::new(),
            progress: ReportedPart::Nothing,
        }
    }

    /// Whether anything of the reply has been reported: the request is not repeated then.
    pub(crate) fn has_begun(&self) -> bool {
        self.progress != ReportedPart::Nothing
    }

    /// Takes one event. The last one gives the reply.
    pub(crate) fn event(
        &mut self,
        event: ChatStreamEvent,
        on_stream: &mut (dyn FnMut(&StreamEvent) + Send),
    ) -> Option<Reply> {
        match event {
            // genai reports this before it has sent anything.
            ChatStreamEvent::Start => None,
            ChatStreamEvent::Chunk(piece) => {
                self.add_text(piece.content, on_stream);
                None
            }
            ChatStreamEvent::ReasoningChunk(_)
            | ChatStreamEvent::ThoughtSignatureChunk(_)
            | ChatStreamEvent::ToolCallChunk(_)
            | ChatStreamEvent::Heartbeat => {
                self.start(on_stream);
                on_stream(&StreamEvent::Ping);
                None
            }
            ChatStreamEvent::End(end) => Some(self.finish(&end, on_stream)),
        }
    }

    fn start(&mut self, on_stream: &mut (dyn FnMut(&StreamEvent) + Send)) {
        if self.progress == ReportedPart::Nothing {
            self.progress = ReportedPart::Started;
            on_stream(&StreamEvent::Started {
                id: String::new(),
                model: self.model.clone(),
            });
        }
    }

    fn add_text(&mut self, text: String, on_stream: &mut (dyn FnMut(&StreamEvent) + Send)) {
        self.start(on_stream);
        if self.progress == ReportedPart::Started {
            self.progress = ReportedPart::InText;
            on_stream(&StreamEvent::BlockStarted {
                index: 0,
                kind: ReplyBlockKind::Text,
                tool: None,
            });
        }
        self.text.push_str(&text);
        on_stream(&StreamEvent::Text { index: 0, text });
    }

    fn finish(&mut self, end: &StreamEnd, on_stream: OnStream<'_>) -> Reply {
        let mut reply = Reply::builder().model(&self.model);
        if !self.text.is_empty() {
            reply = reply.text(&self.text);
        }
        let calls = end.captured_tool_calls().unwrap_or_default();
        for call in &calls {
            reply = reply.tool_call(&call.call_id, &call.fn_name, input(call));
        }
        if let Some(reason) = stop_reason(end.captured_stop_reason.as_ref(), calls.len()) {
            reply = reply.stop(reason);
        }
        if let Some(usage) = end.captured_usage.as_ref().and_then(usage::from_genai) {
            reply = reply.usage(usage);
        }
        let reply = reply.build();
        self.report_rest(&reply, on_stream);
        reply
    }

    /// Reports what has not been reported of a reply.
    fn report_rest(&mut self, reply: &Reply, on_stream: OnStream<'_>) {
        self.start(on_stream);
        for event in reply.to_stream_events() {
            let known = match &event {
                StreamEvent::Started { .. } => true,
                // The text is the first block, and its end has not been reported.
                StreamEvent::BlockStarted { index, .. } | StreamEvent::Text { index, .. } => {
                    *index == 0 && self.progress == ReportedPart::InText
                }
                _ => false,
            };
            if !known {
                on_stream(&event);
            }
        }
    }
}

/// The input of a call as a JSON object.
fn input(call: &ToolCall) -> Value {
    match &call.fn_arguments {
        Value::Object(_) => call.fn_arguments.clone(),
        // A call without arguments.
        Value::Null => json!({}),
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => json!({ INVALID_INPUT: text }),
        other => json!({ INVALID_INPUT: other.to_string() }),
    }
}

/// Why the model stopped; `None` if that follows from whether there are calls.
fn stop_reason(reason: Option<&GenaiStop>, calls: usize) -> Option<StopReason> {
    Some(match reason? {
        // Some providers say that the reply is complete also if it calls tools.
        GenaiStop::Completed(_) | GenaiStop::ToolCall(_) => return None,
        GenaiStop::MaxTokens(name) if name == "model_context_window_exceeded" => {
            StopReason::ContextWindowExceeded
        }
        GenaiStop::MaxTokens(_) => StopReason::MaxTokens,
        GenaiStop::ContentFilter(_) => StopReason::Refusal,
        GenaiStop::StopSequence(_) => StopReason::StopSequence,
        GenaiStop::Other(name) if name == "pause_turn" => StopReason::PauseTurn,
        GenaiStop::Other(_) if calls > 0 => return None,
        GenaiStop::Other(name) => StopReason::Other(name.clone()),
    })
}

#[cfg(test)]
mod tests {
    use genai::chat::{ContentPart, MessageContent, StreamChunk};

    use super::*;

    fn call(arguments: Value) -> ToolCall {
        ToolCall {
            call_id: "c1".to_owned(),
            fn_name: "Read".to_owned(),
            fn_arguments: arguments,
            thought_signatures: None,
        }
    }

    fn folded(pieces: &[&str], end: StreamEnd) -> (Reply, Vec<StreamEvent>) {
        let mut events = Vec::new();
        let mut fold = ReplyFold::new("m");
        let mut report = |event: &StreamEvent| events.push(event.clone());
        for piece in pieces {
            let content = (*piece).to_owned();
            fold.event(ChatStreamEvent::Chunk(StreamChunk { content }), &mut report);
        }
        let reply = fold.event(ChatStreamEvent::End(end), &mut report).unwrap();
        (reply, events)
    }

    #[test]
    fn the_events_are_those_of_a_reply_that_came_whole_with_its_text_in_pieces() {
        let end = StreamEnd {
            captured_content: Some(MessageContent::from_parts(vec![ContentPart::ToolCall(
                call(json!({"path": "a"})),
            )])),
            captured_stop_reason: Some(GenaiStop::from("stop".to_owned())),
            ..StreamEnd::default()
        };
        let (reply, events) = folded(&["I ", "look."], end);
        assert_eq!(reply.text(), "I look.");
        assert_eq!(reply.stop, Some(StopReason::ToolUse));
        let mut expected = reply.to_stream_events();
        let whole = expected
            .iter()
            .position(|event| matches!(event, StreamEvent::Text { .. }));
        let piece = |text: &str| StreamEvent::Text {
            index: 0,
            text: text.to_owned(),
        };
        let whole = whole.unwrap();
        expected.splice(whole..=whole, [piece("I "), piece("look.")]);
        assert_eq!(events, expected);
    }

    #[test]
    fn an_input_that_is_no_object_is_told_to_the_model_by_its_tool() {
        assert_eq!(input(&call(Value::Null)), json!({}));
        assert_eq!(input(&call(json!(""))), json!({}));
        let broken = input(&call(json!("{\"path\": ")));
        let reply = Reply::builder().tool_call("c", "Read", broken).build();
        let call = reply.tool_calls().next().unwrap();
        assert!(call.parse_input::<Value>().is_err());
    }

    #[test]
    fn stop_reasons_keep_their_meaning() {
        let stop = |name: &str, calls| stop_reason(Some(&GenaiStop::from(name.to_owned())), calls);
        assert_eq!(stop("length", 0), Some(StopReason::MaxTokens));
        assert_eq!(stop("SAFETY", 0), Some(StopReason::Refusal));
        assert_eq!(stop("end_turn", 1), None);
        let full = Some(StopReason::ContextWindowExceeded);
        assert_eq!(stop("model_context_window_exceeded", 0), full);
    }
}
