//! The id of the simulated model, for the parts that must know whether a model is real. The model itself is in
//! `offline`, which uses the agent.

/// The offline model's id, which is in the model table.
pub const MODEL: &str = "longhaul-offline";

/// Whether the model with this id is simulated, so that its costs are not real.
pub(crate) fn is_simulated(model: &str) -> bool {
    model == MODEL
}
