//! Tests how sections become the blocks of `system` (A3, B2).

use longhaul_core::prompt::{
    AGENT_PREFIX, BlockRole, CacheScope, CacheScopeSupport, HostValues, SystemPrompt,
    SystemPromptOptions, ToolSharing, Ttl,
};
use longhaul_core::tokens::RoughEstimator;
use proptest::prelude::*;
use serde_json::Value;

use super::{agent, any_values, talkative};

const SENDING: SystemPromptOptions<'_> = SystemPromptOptions {
    attribution: Some("x-sender: longhaul"),
    prefix: Some(AGENT_PREFIX),
    ttl: Some(Ttl::FiveMinutes),
    scopes: CacheScopeSupport::Unsupported,
    tools: ToolSharing::Shared,
};

fn prompt(values: &HostValues, sending: &SystemPromptOptions<'_>) -> SystemPrompt {
    SystemPrompt::from_sections(&agent(values), sending).unwrap()
}

/// Returns each block's role and cache breakpoint as JSON; the text is empty if there is no breakpoint.
fn markers(prompt: &SystemPrompt) -> Vec<(BlockRole, String)> {
    let json: Vec<Value> = serde_json::from_str(prompt.json.get()).unwrap();
    assert_eq!(json.len(), prompt.blocks.len());
    let blocks = prompt.blocks.iter().zip(&json);
    blocks
        .map(|(block, json)| {
            assert_eq!(json["text"], *block.text);
            assert_eq!(json["type"], "text");
            let marker = json.get("cache_control").map(Value::to_string);
            (block.role, marker.unwrap_or_default())
        })
        .collect()
}

#[test]
fn a3_b2_static_and_dynamic_bear_a_marker_attribution_and_prefix_never() {
    let plain = r#"{"type":"ephemeral"}"#;
    let wanted = [
        (BlockRole::Attribution, ""),
        (BlockRole::Prefix, ""),
        (BlockRole::Static, plain),
        (BlockRole::Dynamic, plain),
    ]
    .map(|(role, marker)| (role, marker.to_owned()));
    assert_eq!(markers(&prompt(&talkative(), &SENDING)), wanted);
}

#[test]
fn a3_the_static_block_is_global_only_with_scopes_and_without_tools_of_one_user() {
    for (scopes, tools, global) in [
        (CacheScopeSupport::Supported, ToolSharing::Shared, true),
        (CacheScopeSupport::Supported, ToolSharing::PerUser, false),
        (CacheScopeSupport::Unsupported, ToolSharing::Shared, false),
        (CacheScopeSupport::Unsupported, ToolSharing::PerUser, false),
    ] {
        let sending = SystemPromptOptions {
            scopes,
            tools,
            ..SENDING
        };
        let prompt = prompt(&talkative(), &sending);
        let scope = if global {
            CacheScope::Global
        } else {
            CacheScope::Organization
        };
        let scopes: Vec<_> = prompt.blocks.iter().map(|block| block.scope).collect();
        assert_eq!(
            scopes,
            [None, None, Some(scope), Some(CacheScope::Organization)]
        );
        assert_eq!(
            prompt.json.get().matches(r#""scope":"global""#).count(),
            usize::from(global)
        );
        assert_eq!(
            prompt.json.get().matches("scope").count(),
            usize::from(global)
        );
    }
}

#[test]
fn a3_b4_a_marker_spells_out_the_longer_lifetime_and_then_the_scope() {
    let sending = SystemPromptOptions {
        ttl: Some(Ttl::OneHour),
        scopes: CacheScopeSupport::Supported,
        ..SENDING
    };
    let json = prompt(&talkative(), &sending).json;
    assert!(
        json.get()
            .contains(r#""cache_control":{"type":"ephemeral","ttl":"1h","scope":"global"}},{"#)
    );
    assert!(
        json.get()
            .ends_with(r#""cache_control":{"type":"ephemeral","ttl":"1h"}}]"#)
    );
}

#[test]
fn a3_b2_an_empty_block_is_not_sent() {
    let sending = SystemPromptOptions {
        attribution: Some("  "),
        prefix: None,
        ..SENDING
    };
    let prompt = prompt(&HostValues::default(), &sending);
    let roles: Vec<_> = prompt.blocks.iter().map(|block| block.role).collect();
    assert_eq!(roles, [BlockRole::Static]);
}

#[test]
fn a3_a_custom_prompt_replaces_all_and_is_one_block() {
    let prompt =
        SystemPrompt::custom("You are a lighthouse.\n\"Blink\".", Some(Ttl::OneHour)).unwrap();
    let wanted = r#"[{"type":"text","text":"You are a lighthouse.\n\"Blink\".","cache_control":{"type":"ephemeral","ttl":"1h"}}]"#;
    assert_eq!(prompt.json.get(), wanted);
    assert_eq!(prompt.blocks[0].role, BlockRole::Custom);
    let nothing = SystemPrompt::custom(" ", Some(Ttl::OneHour)).unwrap();
    assert_eq!((nothing.json.get(), nothing.blocks.len()), ("[]", 0));
}

#[test]
fn a3_each_block_knows_its_weight() {
    let prompt = prompt(&talkative(), &SENDING);
    for block in &prompt.blocks {
        assert_eq!(block.weight, RoughEstimator::text(&block.text));
    }
    let sum = prompt.blocks.iter().map(|block| block.weight).sum();
    assert_eq!(prompt.weight(), sum);
}

proptest! {
    #[test]
    fn a1_the_same_sections_give_the_same_bytes(values in any_values(), turn in 0usize..4) {
        let mut other = values.clone();
        let servers = other.servers.len();
        if servers > 0 {
            other.servers.rotate_left(turn % servers);
        }
        let (one, other) = (prompt(&values, &SENDING), prompt(&other, &SENDING));
        prop_assert_eq!(one.json.get(), other.json.get());
    }

    #[test]
    fn a1_static_bytes_do_not_depend_on_the_host(values in any_values(), attribution in "\\PC{0,10}") {
        let sending = SystemPromptOptions { attribution: Some(&attribution), ..SENDING };
        let of = |prompt: &SystemPrompt| {
            let is_static = |role| role == BlockRole::Static;
            prompt.blocks.iter().find(|block| is_static(block.role)).cloned()
        };
        let plain = prompt(&HostValues::default(), &SENDING);
        prop_assert_eq!(of(&prompt(&values, &sending)), of(&plain));
    }

    #[test]
    fn a3_b2_never_more_than_two_markers_and_no_line_break(values in any_values()) {
        let prompt = prompt(&values, &SENDING);
        let marked = markers(&prompt).iter().filter(|(_, marker)| !marker.is_empty()).count();
        prop_assert!((1..=2).contains(&marked));
        prop_assert!(!prompt.json.get().contains(['\n', '\r']));
        prop_assert!(prompt.blocks.iter().all(|block| !block.text.trim().is_empty()));
    }
}

#[test]
fn b4_without_caching_no_block_bears_a_marker() {
    let prompt = SystemPrompt::custom("Be brief.", None).unwrap();
    assert!(!prompt.json.get().contains("cache_control"));
}
