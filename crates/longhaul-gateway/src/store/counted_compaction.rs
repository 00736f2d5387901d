//! Which compactions are counted, as a condition of SQL that both databases read the same way.
//!
//! The page of a session decides the same for the compactions that it lists (`own/compactions.rs`).

/// Whether a row of `made` counts: not one that was settled, which is part of another one, nor a clearing that was
/// replaced before it was ever sent, because its request had to wait for more. The latter can be told only where the
/// calls go back as far as the clearing.
macro_rules! counted_compaction {
    ($row:literal, $schema:literal) => {
        concat!(
            $row,
            ".kind <> 'settled' AND NOT (",
            $row,
            ".kind = 'cleared' AND EXISTS (
                SELECT 1 FROM ",
            $schema,
            "made later WHERE later.line = ",
            $row,
            ".line AND later.at > ",
            $row,
            ".at AND later.kind <> 'settled' AND later.waited IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM ",
            $schema,
            "call between_them WHERE between_them.line = ",
            $row,
            ".line AND NOT between_them.own AND between_them.at > ",
            $row,
            ".at AND between_them.at <= later.at))
             AND EXISTS (
                SELECT 1 FROM ",
            $schema,
            "line of_session JOIN ",
            $schema,
            "call earlier ON earlier.line = of_session.id WHERE of_session.session = ",
            $row,
            ".session AND NOT earlier.own AND earlier.at <= ",
            $row,
            ".at))"
        )
    };
}

pub(super) use counted_compaction;
