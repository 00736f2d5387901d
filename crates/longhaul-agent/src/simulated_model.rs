//! Whether a model or the built-in simulator answers, for the parts that must know whether costs are real. The simulator
//! itself is in `offline`, which uses the agent.

/// The offline model's id, which is in the model table.
pub const MODEL: &str = "longhaul-offline";

/// Who answers an agent's requests. The model's id does not tell: the simulator answers to every name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelBackend {
    /// A provider, or a program that is one for the agent.
    #[default]
    Provider,
    /// The simulator in this process: nothing is billed, and costs are what a real model would have cost.
    Simulator,
}

impl ModelBackend {
    /// Whether nobody real answers.
    pub fn is_simulated(self) -> bool {
        self == Self::Simulator
    }
}
