//! Errors around the runs of a sweep.

use std::fmt;
use std::io;
use std::path::Path;

/// Why a sweep cannot go on: what is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepError(pub String);

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SweepError {}

impl SweepError {
    /// The system refused to do `what` with `path`.
    pub(super) fn system(what: &str, path: &Path, error: &io::Error) -> Self {
        Self(format!("cannot {what} '{}': {error}", path.display()))
    }

    /// This error, with advice.
    #[must_use]
    pub(super) fn so(self, advice: &str) -> Self {
        Self(format!("{}; {advice}", self.0))
    }
}

/// The first ten of many: `a, b, c, ... (17 in all)`.
pub(super) fn listed(all: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown = all.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if all.len() <= SHOWN { shown } else { format!("{shown}, ... ({} in all)", all.len()) }
}
