//! Laws of recognition (N7), over generated conversations.

use longhaul_gateway::branch::BranchRelation;
use longhaul_provider::Dialect;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::lines::Bench;

#[derive(Debug, Clone)]
enum Said {
    Text(String),
    Result(String),
}

fn said() -> impl Strategy<Value = Said> {
    let text = "[a-z\"\\\\\u{e4}\n ]{1,30}";
    prop_oneof![text.prop_map(Said::Text), text.prop_map(Said::Result)]
}

/// Ways of sending the same content.
#[derive(Debug, Clone, Copy)]
struct Guise {
    marked: bool,
    list: bool,
    system_before: bool,
    keys_swapped: bool,
}

fn guise() -> impl Strategy<Value = Guise> {
    any::<(bool, bool, bool, bool)>().prop_map(|(marked, list, system_before, keys_swapped)| {
        Guise {
            marked,
            list,
            system_before,
            keys_swapped,
        }
    })
}

/// One message as text, in this form.
fn dressed(index: usize, said: &Said, guise: Guise) -> String {
    let role = if index.is_multiple_of(2) {
        "user"
    } else {
        "assistant"
    };
    let mark = if guise.marked {
        r#","cache_control":{"type":"ephemeral"}"#
    } else {
        ""
    };
    let quoted = |text: &str| Value::from(text).to_string();
    let content = match said {
        Said::Text(text) if guise.list || guise.marked => {
            format!(r#"[{{"type":"text","text":{}{mark}}}]"#, quoted(text))
        }
        Said::Text(text) => quoted(text),
        Said::Result(text) if guise.list => format!(
            r#"[{{"type":"tool_result","tool_use_id":"t","content":[{{"type":"text","text":{}}}]{mark}}}]"#,
            quoted(text)
        ),
        Said::Result(text) => format!(
            r#"[{{"tool_use_id":"t","type":"tool_result","content":{}{mark}}}]"#,
            quoted(text)
        ),
    };
    let message = if guise.keys_swapped {
        format!(r#"{{ "content" : {content}, "role":"{role}"}}"#)
    } else {
        format!(r#"{{"role":"{role}","content":{content}}}"#)
    };
    if guise.system_before {
        format!(r#"{{"role":"system","content":"now it is {index}"}},{message}"#)
    } else {
        message
    }
}

fn body(conversation: &[Said], guises: &[Guise]) -> String {
    let messages: Vec<String> = conversation
        .iter()
        .enumerate()
        .map(|(index, said)| dressed(index, said, guises[index % guises.len()]))
        .collect();
    format!(r#"{{"model":"m","messages":[{}]}}"#, messages.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn n7_the_same_said_otherwise_is_the_same_line(
        conversation in prop::collection::vec(said(), 1..12),
        one in prop::collection::vec(guise(), 1..12),
        other in prop::collection::vec(guise(), 1..12),
    ) {
        let bench = Bench::new();
        let first = bench.place_raw(1, Dialect::Anthropic, &body(&conversation, &one));
        let second = bench.place_raw(1, Dialect::Anthropic, &body(&conversation, &other));
        prop_assert_eq!(second.line, first.line);
        prop_assert_eq!(second.relation, BranchRelation::Again);
    }

    #[test]
    fn n7_whoever_goes_on_extends_in_whatever_guise(
        conversation in prop::collection::vec(said(), 2..12),
        one in prop::collection::vec(guise(), 1..12),
        other in prop::collection::vec(guise(), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = 1 + cut.index(conversation.len() - 1);
        let bench = Bench::new();
        let first = bench.place_raw(1, Dialect::Anthropic, &body(&conversation[..cut], &one));
        let second = bench.place_raw(1, Dialect::Anthropic, &body(&conversation, &other));
        prop_assert_eq!(second.line, first.line);
        prop_assert_eq!(second.relation, BranchRelation::Extends(u32::try_from(cut).unwrap()));
    }

    #[test]
    fn n7_anything_said_otherwise_is_another_line(
        conversation in prop::collection::vec(said(), 1..12),
        guises in prop::collection::vec(guise(), 1..12),
        at in any::<prop::sample::Index>(),
        instead in said(),
    ) {
        let mut changed = conversation.clone();
        let at = at.index(changed.len());
        let same = |a: &Said, b: &Said| match (a, b) {
            (Said::Text(a), Said::Text(b)) | (Said::Result(a), Said::Result(b)) => a == b,
            _ => false,
        };
        prop_assume!(!same(&changed[at], &instead));
        changed[at] = instead;
        let bench = Bench::new();
        let first = bench.place_raw(1, Dialect::Anthropic, &body(&conversation, &guises));
        let second = bench.place_raw(1, Dialect::Anthropic, &body(&changed, &guises));
        prop_assert_ne!(second.line, first.line);
    }

    #[test]
    fn n7_what_was_known_before_changes_no_chain(
        conversation in prop::collection::vec(said(), 1..12),
        guises in prop::collection::vec(guise(), 1..12),
        earlier in prop::collection::vec(1_usize..12, 0..4),
    ) {
        // Padding makes bodies long enough for landmarks.
        let pad = json!({"role": "user", "content": "p".repeat(2_000)}).to_string();
        let padded = |text: String| text.replacen('[', &format!("[{pad},"), 1);
        let whole = padded(body(&conversation, &guises));
        let fresh = Bench::new();
        let warm = Bench::new();
        for length in earlier {
            let part = &conversation[..length.min(conversation.len())];
            warm.place_raw(1, Dialect::Anthropic, &padded(body(part, &guises)));
        }
        let read = |bench: &Bench| {
            let request = longhaul_gateway::branch::RecognitionRequest {
                tenant: longhaul_gateway::branch::Tenant(1),
                dialect: Dialect::Anthropic,
                body: whole.as_bytes(),
            };
            let read = bench.recognizer.read(request).unwrap();
            (read.chain, read.raws)
        };
        prop_assert_eq!(read(&fresh), read(&warm));
    }
}
