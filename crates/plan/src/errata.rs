//! Printed equations that do not work as printed: each planner lists its own, and each can be tried in either form.

/// Ours, or as the paper prints it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// What works; `docs/dodging.md` says why.
    #[default]
    Ours,
    /// For comparison.
    Printed,
}
