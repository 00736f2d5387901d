//! The system prompt in the offline world: it is accepted, and its cache breakpoints work (A3, B2).

use bytes::Bytes;
use longhaul_core::prompt::{
    AGENT_PREFIX, CacheScopeSupport, HostValues, StandardSection, SystemPrompt,
    SystemPromptOptions, ToolSharing, agent_registry,
};
use longhaul_sim::call::{ApiCall, ApiError};
use longhaul_sim::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft, ReplyModel};
use longhaul_sim::world::{World, WorldOptions};

struct Fine;

impl ReplyModel for Fine {
    fn reply(&mut self, _: &ModelTurn<'_>) -> ReplyDraft {
        ReplyDraft {
            content: vec![DraftBlock::Text("Fine.".to_owned())],
            stop: DraftStop::Natural,
        }
    }
}

/// The default agent's prompt for a user who speaks a language.
fn prompt(language: &str, sending: &SystemPromptOptions<'_>) -> SystemPrompt {
    let values = HostValues {
        language: Some(language.to_owned()),
        ..HostValues::default()
    };
    let mut registry = agent_registry().unwrap();
    registry.refresh(|section| StandardSection::of(section)?.text(&values));
    SystemPrompt::from_sections(&registry, sending).unwrap()
}

/// Tokens read from and written to the cache.
fn ask(world: &mut World, prompt: &SystemPrompt) -> Result<(u64, u64), ApiError> {
    let body = format!(
        r#"{{"model":"claude-opus-5-5","max_tokens":1000,"system":{},"messages":[{{"role":"user","content":"Hello"}}]}}"#,
        prompt.json.get()
    );
    let call = ApiCall {
        key: "a".to_owned(),
        version: "2023-06-01".to_owned(),
        body: Bytes::from(body),
        ..ApiCall::default()
    };
    let reply = world.exchange(&call)?;
    let usage = &reply.message["usage"];
    let tokens = |name: &str| usage[name].as_u64().unwrap();
    Ok((
        tokens("cache_read_input_tokens"),
        tokens("cache_creation_input_tokens"),
    ))
}

fn sending<'a>() -> SystemPromptOptions<'a> {
    SystemPromptOptions {
        prefix: Some(AGENT_PREFIX),
        ..SystemPromptOptions::default()
    }
}

#[test]
fn a3_b2_another_dynamic_part_still_reads_the_static_one() {
    let mut world = World::new(WorldOptions::new(7, Box::new(Fine)));
    let (read, written) = ask(&mut world, &prompt("Latin", &sending())).unwrap();
    assert!(read == 0 && written > 512, "{written}");
    let (again, nothing) = ask(&mut world, &prompt("Latin", &sending())).unwrap();
    assert_eq!((again, nothing), (written, 0));
    let (shared, own) = ask(&mut world, &prompt("Greek", &sending())).unwrap();
    assert!(
        shared > 512 && shared < written && own > 0 && own < 100,
        "{shared} {own}"
    );
}

#[test]
fn a3_the_public_api_knows_no_scope_so_none_is_sent_to_it() {
    let mut world = World::new(WorldOptions::new(7, Box::new(Fine)));
    let scoped = SystemPromptOptions {
        scopes: CacheScopeSupport::Supported,
        tools: ToolSharing::Shared,
        ..sending()
    };
    assert!(ask(&mut world, &prompt("Latin", &scoped)).is_err());
    assert!(ask(&mut world, &prompt("Latin", &sending())).is_ok());
}
