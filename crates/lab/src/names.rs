//! Names that mean nothing.

use skyhaul_scenario::did_you_mean;
use thiserror::Error;

/// Name that is not known: says which are, and which one may be meant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} is called that; {hint}there are {known}")]
pub struct UnknownName {
    /// Kind of the thing that has no such name, in words: `nobody`.
    what: &'static str,
    /// A question and a space, or nothing.
    hint: String,
    known: String,
}

impl UnknownName {
    /// Error about `name`. Of `meant`, the one that is most like it is proposed; `listed` are told.
    pub(crate) fn new(
        what: &'static str,
        name: &str,
        meant: impl Iterator<Item = &'static str>,
        listed: impl Iterator<Item = &'static str>,
    ) -> Self {
        let hint = did_you_mean(name, meant);
        let hint = if hint.is_empty() { hint } else { hint + " " };
        Self { what, hint, known: listed.collect::<Vec<_>>().join(", ") }
    }
}
