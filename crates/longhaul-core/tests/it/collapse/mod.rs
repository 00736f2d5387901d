//! Tests collapse mode: when and which old rounds are folded, how folds are requested, and what the conversation then
//! holds (O6).

mod choose;
mod folds;
mod limits;
mod prompt;
mod read;

use longhaul_core::collapse::FoldLimits;
use longhaul_core::window::{WindowInput, WindowSettings, WindowStatus};

fn limits(window: u64) -> FoldLimits {
    FoldLimits::of(&status(window, WindowSettings::default()))
}

fn status(window: u64, settings: WindowSettings) -> WindowStatus {
    WindowStatus::new(&WindowInput {
        window,
        max_output: 64_000,
        used: 0,
        settings,
    })
    .unwrap()
}
