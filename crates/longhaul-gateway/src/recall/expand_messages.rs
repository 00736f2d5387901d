//! Puts hidden rounds back into the model's message of a client's request, in the Messages API.

use longhaul_core::json::{self, ObjectReader};
use longhaul_provider::Dialect;

use super::client_blocks::{ClientBlocks, ShownBlock};
use super::hidden_rounds::{HiddenRound, HiddenRounds};
use crate::manage::ElementParts;

/// What is sent in place of one of the client's messages.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExpandedElement {
    /// The elements of the list.
    pub(super) elements: Vec<Vec<u8>>,
    /// Answers that belong at the beginning of the client's next message.
    pub(super) results: Vec<String>,
}

/// Expands the message of a reply. `None` if the message is not what the client was shown.
pub(super) fn expand(element: &[u8], hidden: &HiddenRounds) -> Option<ExpandedElement> {
    let parts = ElementParts::read(element)?;
    let mut blocks = ClientBlocks::of(parts.content());
    let mut elements = Vec::new();
    for round in &hidden.rounds {
        let mut kept = Vec::new();
        let sent = blocks_of(&round.reply)?;
        for block in &sent {
            let taken = match is_call_of(block, &hidden.name) {
                true => ShownBlock::Sent(Vec::new()),
                false => blocks.take(block),
            };
            match taken {
                ShownBlock::Sent(_) => kept.push(*block),
                // Thinking that the client no longer sends must not come back between other thinking (N2).
                ShownBlock::LeftOut => {}
                ShownBlock::Changed => return None,
            }
        }
        if kept.len() == sent.len() {
            elements.extend(round.elements(Dialect::Anthropic));
        } else {
            let content = String::from_utf8(kept.join(&b","[..])).ok()?;
            let round = HiddenRound {
                reply: format!(r#"{{"role":"assistant","content":[{content}]}}"#),
                results: round.results.clone(),
            };
            elements.extend(round.elements(Dialect::Anthropic));
        }
    }
    let mut content = Vec::new();
    if let Some(open) = &hidden.open {
        for block in blocks_of(&open.reply)? {
            if is_call_of(block, &hidden.name) {
                content.push(block.to_vec());
                continue;
            }
            match blocks.take(block) {
                ShownBlock::Sent(sent) => content.push(sent),
                ShownBlock::LeftOut => {}
                ShownBlock::Changed => return None,
            }
        }
    }
    content.extend(blocks.rest());
    if !content.is_empty() {
        elements.push(with_content(&parts, &content)?);
    }
    Some(ExpandedElement {
        elements,
        results: hidden
            .open
            .as_ref()
            .map_or_else(Vec::new, |open| open.results.clone()),
    })
}

/// The client's message with answers before everything else in it.
pub(super) fn with_results(element: &[u8], results: &[String]) -> Option<Vec<u8>> {
    let parts = ElementParts::read(element)?;
    let results = results.iter().map(|result| result.clone().into_bytes());
    let content: Vec<Vec<u8>> = results
        .chain(ClientBlocks::of(parts.content()).rest())
        .collect();
    with_content(&parts, &content)
}

fn with_content(parts: &ElementParts<'_>, blocks: &[Vec<u8>]) -> Option<Vec<u8>> {
    let place = parts.content.clone()?;
    let mut element = parts.text.get(..place.start)?.to_vec();
    element.push(b'[');
    element.extend(blocks.join(&b","[..]));
    element.push(b']');
    element.extend_from_slice(parts.text.get(place.end..)?);
    Some(element)
}

fn blocks_of(reply: &str) -> Option<Vec<&[u8]>> {
    json::items(ObjectReader::new(reply.as_bytes()).get("content")?)
}

fn is_call_of(block: &[u8], name: &str) -> bool {
    let block = ObjectReader::new(block);
    block.string("type").as_deref() == Some("tool_use")
        && block.string("name").as_deref() == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#"{"type":"tool_use","id":"t1","name":"recall","input":{"query":"x"}}"#;
    const RESULT: &str = r#"{"type":"tool_result","tool_use_id":"t1","content":"found"}"#;

    fn round(shown: &[&str]) -> HiddenRound {
        let blocks = [shown, &[CALL]].concat().join(",");
        HiddenRound {
            reply: format!(r#"{{"role":"assistant","content":[{blocks}]}}"#),
            results: vec![RESULT.to_owned()],
        }
    }

    fn texts(expanded: ExpandedElement) -> Vec<String> {
        let elements = expanded.elements.into_iter();
        elements
            .map(|element| String::from_utf8(element).unwrap())
            .collect()
    }

    #[test]
    fn a_round_comes_back_before_the_rest_of_the_message() {
        let text = r#"{"type":"text","text":"Let me look."}"#;
        let rest = r#"{"type":"text","text":"It is 7.","cache_control":{"type":"ephemeral"}}"#;
        let hidden = HiddenRounds {
            name: "recall".to_owned(),
            rounds: vec![round(&[text])],
            open: None,
        };
        let element = format!(r#"{{"content":[{text},{rest}],"role":"assistant"}}"#);
        let expanded = expand(element.as_bytes(), &hidden).unwrap();
        let expected = [
            format!(r#"{{"role":"assistant","content":[{text},{CALL}]}}"#),
            format!(r#"{{"role":"user","content":[{RESULT}]}}"#),
            format!(r#"{{"content":[{rest}],"role":"assistant"}}"#),
        ];
        assert_eq!(texts(expanded), expected);
        let edited = r#"{"role":"assistant","content":"I say something else."}"#;
        assert_eq!(expand(edited.as_bytes(), &hidden), None);
    }

    #[test]
    fn n2_thinking_that_the_client_leaves_out_stays_out() {
        let thought = r#"{"type":"thinking","thinking":"hm","signature":"s1"}"#;
        let hidden = HiddenRounds {
            name: "recall".to_owned(),
            rounds: vec![round(&[thought])],
            open: None,
        };
        let rest = r#"{"type":"text","text":"It is 7."}"#;
        let with = format!(r#"{{"role":"assistant","content":[{thought},{rest}]}}"#);
        let expanded = texts(expand(with.as_bytes(), &hidden).unwrap());
        assert_eq!(expanded[0], hidden.rounds[0].reply);
        let without = format!(r#"{{"role":"assistant","content":[{rest}]}}"#);
        let expanded = texts(expand(without.as_bytes(), &hidden).unwrap());
        let bare = format!(r#"{{"role":"assistant","content":[{CALL}]}}"#);
        assert_eq!(
            expanded,
            [
                bare,
                format!(r#"{{"role":"user","content":[{RESULT}]}}"#),
                without
            ]
        );
    }

    #[test]
    fn a_call_beside_the_clients_calls_comes_back_to_its_place() {
        let theirs = r#"{"type":"tool_use","id":"t2","name":"Read","input":{}}"#;
        let mut open = round(&[]);
        open.reply = format!(r#"{{"role":"assistant","content":[{CALL},{theirs}]}}"#);
        let hidden = HiddenRounds {
            name: "recall".to_owned(),
            rounds: Vec::new(),
            open: Some(open),
        };
        let element = format!(r#"{{"role":"assistant","content":[{theirs}]}}"#);
        let expanded = expand(element.as_bytes(), &hidden).unwrap();
        assert_eq!(expanded.results, [RESULT]);
        assert_eq!(
            texts(expanded),
            [format!(
                r#"{{"role":"assistant","content":[{CALL},{theirs}]}}"#
            )]
        );
        let next = with_results(
            br#"{"role":"user","content":"go on"}"#,
            &[RESULT.to_owned()],
        );
        let expected =
            format!(r#"{{"role":"user","content":[{RESULT},{{"type":"text","text":"go on"}}]}}"#);
        assert_eq!(next.unwrap(), expected.as_bytes());
    }
}
