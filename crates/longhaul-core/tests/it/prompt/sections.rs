//! Tests sections and their registry (A1, A2).

use std::cell::RefCell;

use longhaul_core::prompt::{
    EveryTurnReason, HostValues, MissingReason, NameTaken, PromptSection, SectionChange,
    SectionChangeCause, SectionLifetime, SectionRegistry, SectionZone, StandardSection,
    agent_registry,
};

use super::{agent, standard, talkative};

const KEPT: PromptSection = PromptSection::computed("kept", SectionLifetime::Kept);

fn every_turn() -> PromptSection {
    let reason = EveryTurnReason::new("it counts").unwrap();
    PromptSection::computed("counted", SectionLifetime::EveryTurn(reason))
}

/// Returns a registry of one kept section and one that is computed every turn.
fn two() -> SectionRegistry {
    let mut registry = SectionRegistry::default();
    registry.add(KEPT).unwrap();
    registry.add(every_turn()).unwrap();
    registry
}

/// Refreshes with this text everywhere; returns the requested sections and the changes.
fn refresh(registry: &mut SectionRegistry, text: &str) -> (Vec<&'static str>, Vec<SectionChange>) {
    let asked = RefCell::new(Vec::new());
    let changes = registry.refresh(|section| {
        asked.borrow_mut().push(section.name());
        Some(text.to_owned())
    });
    (asked.into_inner(), changes)
}

#[test]
fn a1_static_sections_stand_before_dynamic_ones_and_no_text_marks_the_boundary() {
    let mut registry = SectionRegistry::default();
    registry.add(KEPT).unwrap();
    registry
        .add(PromptSection::constant("fixed", "same"))
        .unwrap();
    refresh(&mut registry, "own");
    let texts: Vec<_> = registry
        .texts()
        .map(|(section, text)| (section.zone(), text))
        .collect();
    assert_eq!(
        texts,
        [(SectionZone::Static, "same"), (SectionZone::Dynamic, "own")]
    );
}

#[test]
fn a1_the_dynamic_sections_are_those_of_the_contract_in_its_order() {
    let registry = agent(&talkative());
    let dynamic = registry
        .texts()
        .filter(|(section, _)| section.zone() == SectionZone::Dynamic);
    let names: Vec<_> = dynamic.map(|(section, _)| section.name()).collect();
    let wanted = [
        "guidance",
        "memory",
        "environment",
        "language",
        "output_style",
        "mcp",
        "scratchpad",
        "history",
        "budgets",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn a1_a_host_that_knows_nothing_has_no_dynamic_section() {
    let registry = agent(&HostValues::default());
    assert!(
        registry
            .texts()
            .all(|(section, _)| section.zone() == SectionZone::Static)
    );
}

#[test]
fn a2_a_section_is_computed_once_and_one_for_every_turn_each_time() {
    let mut registry = two();
    assert_eq!(refresh(&mut registry, "a").0, ["kept", "counted"]);
    assert_eq!(refresh(&mut registry, "a").0, ["counted"]);
    assert_eq!(registry.due().count(), 1);
}

#[test]
fn a2_a_section_is_computed_again_after_a_clear_and_after_a_compaction() {
    let mut registry = two();
    refresh(&mut registry, "a");
    registry.clear();
    assert_eq!(registry.due().count(), 2);
    assert_eq!(refresh(&mut registry, "a").0, ["kept", "counted"]);
    registry.compacted();
    assert_eq!(refresh(&mut registry, "a").0, ["kept", "counted"]);
    assert_eq!(refresh(&mut registry, "a").0, ["counted"]);
}

#[test]
fn a2_what_changed_is_named_with_its_sizes_and_its_cause() {
    let mut registry = two();
    assert!(
        refresh(&mut registry, "new").1.is_empty(),
        "nothing was before"
    );
    assert!(
        refresh(&mut registry, "new").1.is_empty(),
        "nothing changed"
    );
    let (_, changes) = refresh(&mut registry, "längere");
    let reason = EveryTurnReason::new("it counts").unwrap();
    let counted = SectionChange {
        section: "counted",
        before: Some(3),
        after: Some(7),
        cause: SectionChangeCause::EveryTurn(reason),
    };
    assert_eq!(changes, [counted]);
    registry.compacted();
    let kept = SectionChange {
        section: "kept",
        before: Some(3),
        after: None,
        cause: SectionChangeCause::Compacted,
    };
    let counted = SectionChange {
        section: "counted",
        before: Some(7),
        after: None,
        cause: SectionChangeCause::Compacted,
    };
    assert_eq!(
        registry.refresh(|_| Some(" \n".to_owned())),
        [kept, counted]
    );
    let late = PromptSection::constant("late", "text");
    registry.add(late).unwrap();
    let late = SectionChange {
        section: "late",
        before: None,
        after: Some(4),
        cause: SectionChangeCause::Added,
    };
    assert_eq!(registry.refresh(|_| None), [late]);
}

#[test]
fn a2_a_section_for_every_turn_cannot_be_without_a_reason() {
    for blank in ["", " \n\t"] {
        assert_eq!(EveryTurnReason::new(blank), Err(MissingReason));
    }
    for standard in StandardSection::ALL {
        if let SectionLifetime::EveryTurn(reason) = standard.section().lifetime() {
            assert_eq!(EveryTurnReason::new(reason.as_str()), Ok(reason));
        }
    }
    // All sections but the instructions of servers are kept.
    let mut registry = agent_registry().unwrap();
    registry.refresh(|section| standard(section, &talkative()));
    let due: Vec<_> = registry.due().map(PromptSection::name).collect();
    assert_eq!(due, ["mcp"]);
}

#[test]
fn a2_two_sections_cannot_have_one_name() {
    let mut registry = two();
    let again = PromptSection::constant("kept", "text");
    assert_eq!(registry.add(again), Err(NameTaken("kept")));
}

#[test]
fn a2_y2_texts_of_an_earlier_run_hold_in_this_one() {
    let earlier = agent(&talkative());
    let mut registry = agent_registry().unwrap();
    let texts: Vec<_> = earlier
        .texts()
        .map(|(section, text)| (section.name(), text))
        .collect();
    registry.restore(texts.iter().copied());
    let mut elsewhere = talkative();
    elsewhere.environment.cwd = Some("/elsewhere".into());
    elsewhere.servers.clear();
    let changes = registry.refresh(|section| standard(section, &elsewhere));
    let changed: Vec<_> = changes.iter().map(|change| change.section).collect();
    assert_eq!(changed, ["mcp"], "kept until a clear or a compaction");
    registry.clear();
    let changes = registry.refresh(|section| standard(section, &elsewhere));
    assert_eq!(changes[0].section, "environment");
}
