//! What held a transfer back for most of its time.

use skyhaul_core::{Limit, LimitTimes};

/// The limit of most of the time, but for what passes before the first byte and behind the last. Losses of
/// any cause are one.
pub(crate) fn longest(limits: &LimitTimes) -> Limit {
    let counts = |limit: &Limit| !matches!(limit, Limit::Unwritten | Limit::Settled | Limit::Overflow);
    let spent = |limit: &Limit| match limit {
        Limit::Losses => limits.spent_ns(*limit) + limits.spent_ns(Limit::Overflow),
        _ => limits.spent_ns(*limit),
    };
    Limit::ALL.into_iter().filter(counts).max_by_key(spent).unwrap_or(Limit::Unwritten)
}
