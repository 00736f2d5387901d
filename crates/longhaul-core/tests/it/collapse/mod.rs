//! Collapse mode: when old rounds are folded, which, how it is asked for and what stands there afterwards (O6).

mod choose;
mod folds;
mod limits;
mod prompt;
mod read;

use longhaul_core::collapse::Limits;
use longhaul_core::window::{Settings, WindowInput, WindowStatus};

fn limits(window: u64) -> Limits {
    Limits::of(&status(window, Settings::default()))
}

fn status(window: u64, settings: Settings) -> WindowStatus {
    WindowStatus::new(&WindowInput {
        window,
        max_output: 64_000,
        used: 0,
        settings,
    })
    .unwrap()
}
