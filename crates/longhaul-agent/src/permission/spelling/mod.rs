//! Names that differ in their case alone: one file on macOS and Windows, two elsewhere. A rule about a file holds for all
//! names that lead to it.

#[cfg(any(target_os = "macos", windows))]
mod any_case;
#[cfg(not(any(target_os = "macos", windows)))]
mod exact;

#[cfg(any(target_os = "macos", windows))]
pub(super) use any_case::{IGNORES_CASE, as_on_disk};
#[cfg(not(any(target_os = "macos", windows)))]
pub(super) use exact::{IGNORES_CASE, as_on_disk};
