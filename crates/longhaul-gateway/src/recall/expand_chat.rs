//! Puts hidden rounds back into the model's message of a client's request, in chat completions.

use bytes::Bytes;
use longhaul_core::json::{self, ObjectReader};
use longhaul_provider::Dialect;

use super::client_blocks::{ClientBlocks, ShownBlock, text_block};
use super::hidden_rounds::HiddenRounds;
use crate::manage::ElementParts;
use crate::manage::splice::{Splices, value};

/// Expands the message of a reply into the elements of the list that are sent for it. `None` if the message is not what
/// the client was shown.
pub(super) fn expand(element: &[u8], hidden: &HiddenRounds) -> Option<Vec<Vec<u8>>> {
    let parts = ElementParts::read(element)?;
    let mut blocks = ClientBlocks::of(parts.content());
    let mut elements = Vec::new();
    for round in &hidden.rounds {
        take_text(&mut blocks, &round.reply)?;
        elements.extend(round.elements(Dialect::OpenAi));
    }
    let rest = blocks.rest();
    let theirs = parts.field("tool_calls").and_then(json::items);
    let theirs = theirs.unwrap_or_default();
    let calls = match &hidden.open {
        Some(open) => {
            // The text of this reply is still the client's to send; only the calls are put together again.
            let mut left = theirs;
            let mut calls = Vec::new();
            for call in calls_of(&open.reply) {
                if name_of(call).as_deref() == Some(&*hidden.name) {
                    calls.push(call);
                    continue;
                }
                let at = left.iter().position(|one| id_of(one) == id_of(call))?;
                calls.push(left.remove(at));
            }
            calls.extend(left);
            calls
        }
        None => theirs,
    };
    if rest.is_empty() && calls.is_empty() {
        return Some(elements);
    }
    let text = Bytes::copy_from_slice(parts.text);
    let mut edits = Splices::default();
    if let Some(place) = parts.content.clone() {
        edits.replace(place, content(&parts, &rest));
    }
    if hidden.open.is_some() {
        let list = [b"[".to_vec(), calls.join(&b","[..]), b"]".to_vec()].concat();
        match value(&text, 0..text.len(), "tool_calls") {
            Some(place) => edits.replace(place, list),
            None => {
                let end = text.len().checked_sub(1)?;
                edits.replace(end..end, [&b",\"tool_calls\":"[..], &list].concat());
            }
        }
    }
    elements.push(edits.apply(&text).to_vec());
    let open = hidden.open.iter().flat_map(|open| &open.results);
    elements.extend(open.map(|result| result.clone().into_bytes()));
    Some(elements)
}

/// The content in the form that the client uses.
fn content(parts: &ElementParts<'_>, rest: &[Vec<u8>]) -> Vec<u8> {
    if json::text(parts.content()).is_none() {
        return [b"[".to_vec(), rest.join(&b","[..]), b"]".to_vec()].concat();
    }
    let texts = rest
        .iter()
        .filter_map(|block| ObjectReader::new(block).string("text"));
    match rest.is_empty() {
        true => b"null".to_vec(),
        false => json::quote(&texts.collect::<String>()),
    }
}

fn take_text(blocks: &mut ClientBlocks<'_>, reply: &str) -> Option<()> {
    let Some(shown) = ObjectReader::new(reply.as_bytes()).string("content") else {
        return Some(());
    };
    match blocks.take(&text_block(&shown)) {
        ShownBlock::Changed => None,
        ShownBlock::Sent(_) | ShownBlock::LeftOut => Some(()),
    }
}

fn calls_of(reply: &str) -> Vec<&[u8]> {
    let calls = ObjectReader::new(reply.as_bytes()).get("tool_calls");
    calls.and_then(json::items).unwrap_or_default()
}

fn id_of(call: &[u8]) -> Option<String> {
    ObjectReader::new(call).string("id").map(Into::into)
}

fn name_of(call: &[u8]) -> Option<String> {
    let function = ObjectReader::new(call).object("function")?;
    function.string("name").map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::hidden_rounds::HiddenRound;

    const CALL: &str =
        r#"{"id":"t1","type":"function","function":{"name":"recall","arguments":"{}"}}"#;
    const RESULT: &str = r#"{"role":"tool","tool_call_id":"t1","content":"found"}"#;

    fn hidden(rounds: &[&str], open: Option<&str>) -> HiddenRounds {
        let round = |reply: &&str| HiddenRound {
            reply: (*reply).to_owned(),
            results: vec![RESULT.to_owned()],
        };
        HiddenRounds {
            name: "recall".to_owned(),
            rounds: rounds.iter().map(round).collect(),
            open: open.as_ref().map(round),
        }
    }

    fn expanded(element: &str, hidden: &HiddenRounds) -> Option<Vec<String>> {
        let elements = expand(element.as_bytes(), hidden)?.into_iter();
        Some(
            elements
                .map(|one| String::from_utf8(one).unwrap())
                .collect(),
        )
    }

    #[test]
    fn a_round_comes_back_before_the_rest_of_the_text() {
        let reply =
            format!(r#"{{"role":"assistant","content":"Let me look. ","tool_calls":[{CALL}]}}"#);
        let hidden = hidden(&[&reply], None);
        let sent = r#"{"role":"assistant","content":"Let me look. It is 7."}"#;
        let expected = [
            &reply,
            RESULT,
            r#"{"role":"assistant","content":"It is 7."}"#,
        ];
        assert_eq!(expanded(sent, &hidden).unwrap(), expected);
        assert_eq!(
            expanded(r#"{"role":"assistant","content":"No."}"#, &hidden),
            None
        );
    }

    #[test]
    fn a_call_beside_the_clients_calls_comes_back_to_its_place() {
        let theirs = r#"{"id":"t2","type":"function","function":{"name":"look","arguments":"{}"}}"#;
        let reply =
            format!(r#"{{"role":"assistant","content":null,"tool_calls":[{CALL},{theirs}]}}"#);
        let sent = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{theirs}]}}"#);
        let both = hidden(&[], Some(&reply));
        assert_eq!(expanded(&sent, &both).unwrap(), [&*reply, RESULT]);
        // The tool was called too often: the client saw an end without any call.
        let reply = format!(r#"{{"role":"assistant","content":"Hm.","tool_calls":[{CALL}]}}"#);
        let alone = hidden(&[], Some(&reply));
        let sent = r#"{"role":"assistant","content":"Hm."}"#;
        assert_eq!(expanded(sent, &alone).unwrap(), [&*reply, RESULT]);
    }
}
