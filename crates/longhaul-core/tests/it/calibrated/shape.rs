//! Tests the shape of texts and the fixed model on any text.

use longhaul_core::models::Tokenizer;
use longhaul_core::tokens::calibrated::{
    CalibratedClass, CalibratedCounter, ShapeCount, TextShape,
};
use proptest::prelude::*;

const CLASSES: [CalibratedClass; 4] = [
    CalibratedClass::ToolResult,
    CalibratedClass::Text,
    CalibratedClass::ToolCall,
    CalibratedClass::Signature,
];

fn tokens(class: CalibratedClass, text: &str) -> u64 {
    let counter = CalibratedCounter::new(Tokenizer::Old);
    counter.estimate(class, &TextShape::of(text)).tokens
}

#[test]
fn x4_the_shape_of_a_text_is_counted() {
    let shape = TextShape::of("Two  words, camelCase 12ab --- é漢😀\n\tx");
    let counts = [
        (ShapeCount::Words, 5),
        (ShapeCount::Humps, 1),
        (ShapeCount::Letters, 20),
        (ShapeCount::Capitals, 2),
        (ShapeCount::Digits, 2),
        (ShapeCount::Numbers, 1),
        (ShapeCount::Joints, 1),
        (ShapeCount::Marks, 4),
        (ShapeCount::MarkRuns, 2),
        (ShapeCount::Repeats, 2),
        (ShapeCount::Lines, 1),
        (ShapeCount::Spaces, 7),
        (ShapeCount::SpaceRuns, 1),
        (ShapeCount::TwoByte, 1),
        (ShapeCount::ThreeByte, 1),
        (ShapeCount::FourByte, 1),
    ];
    for (count, expected) in counts {
        assert_eq!(shape.count(count), expected, "{count:?}");
    }
}

/// Counts byte by byte, as slowly and plainly as can be.
fn plainly(text: &str) -> Vec<u64> {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 'l',
        b'A'..=b'Z' => 'u',
        b'0'..=b'9' => 'd',
        b'\n' | b'\r' => 'n',
        b' ' | b'\t' => 's',
        0x80.. => 'o',
        _ => 'm',
    };
    let is_letter = |class: char| class == 'l' || class == 'u';
    let bytes = text.as_bytes();
    let mut counts = vec![0; 16];
    for (at, byte) in bytes.iter().enumerate() {
        let before = |back: usize| at.checked_sub(back).map_or(b'\n', |place| bytes[place]);
        let (it, last, earlier) = (class(*byte), class(before(1)), class(before(2)));
        let holds = [
            is_letter(it) && !is_letter(last),
            it == 'u' && last == 'l',
            is_letter(it),
            it == 'u',
            it == 'd',
            it == 'd' && last != 'd',
            (it == 'd' && is_letter(last)) || (is_letter(it) && last == 'd'),
            it == 'm',
            it == 'm' && last != 'm',
            it == 'm' && *byte == before(1),
            it == 'n',
            it == 's',
            it == 's' && last == 's' && earlier != 's',
            (0xC0..0xE0).contains(byte),
            (0xE0..0xF0).contains(byte),
            *byte >= 0xF0,
        ];
        for (count, holds) in counts.iter_mut().zip(holds) {
            *count += u64::from(holds);
        }
    }
    counts
}

const ALL: [ShapeCount; 16] = [
    ShapeCount::Words,
    ShapeCount::Humps,
    ShapeCount::Letters,
    ShapeCount::Capitals,
    ShapeCount::Digits,
    ShapeCount::Numbers,
    ShapeCount::Joints,
    ShapeCount::Marks,
    ShapeCount::MarkRuns,
    ShapeCount::Repeats,
    ShapeCount::Lines,
    ShapeCount::Spaces,
    ShapeCount::SpaceRuns,
    ShapeCount::TwoByte,
    ShapeCount::ThreeByte,
    ShapeCount::FourByte,
];

proptest! {
    #[test]
    fn x4_counting_in_chunks_finds_what_counting_byte_by_byte_finds(
        text in prop_oneof![any::<String>(), "[a-zA-Z0-9 ,.\\-\n\té漢😀]{0,900}"]
    ) {
        let shape = TextShape::of(&text);
        let counts: Vec<u64> = ALL.iter().map(|count| shape.count(*count)).collect();
        prop_assert_eq!(counts, plainly(&text));
        prop_assert_eq!(shape.bytes(), text.len() as u64);
    }

    #[test]
    fn x4_a_text_counts_as_its_parts_do_up_to_a_constant(
        first in "[a-zA-Z0-9 ,.\\-\n\té漢😀]{0,400}",
        second in "[a-zA-Z0-9 ,.\\-\n\té漢😀]{0,400}",
    ) {
        for class in CLASSES {
            let whole = tokens(class, &format!("{first}{second}"));
            let parts = [tokens(class, &first), tokens(class, &second)];
            // A longer text takes at least as much, except for a word or a run that is joined at the seam.
            prop_assert!(whole + 3 >= parts[0].max(parts[1]), "{class:?}: {whole} {parts:?}");
            // The parts together have one frame more, and the counts at the seam.
            let sum: u64 = parts.iter().sum();
            prop_assert!(whole <= sum + 31 && sum <= whole + 50, "{class:?}: {whole} {parts:?}");
        }
    }

    #[test]
    fn x4_an_estimate_is_bounded_by_the_length_of_the_text(text in any::<String>()) {
        for class in CLASSES {
            let most = 3 * text.len() as u64 + 50;
            prop_assert!(tokens(class, &text) <= most, "{class:?}: {text:?}");
        }
    }
}
