//! Fallback of a sender that asked routers for its rate: why it was measured instead (`docs/spec/xcp.md`, 6).

use skyhaul_core::event::RuledBy;

/// Name of the reason in objects; `None`: routers told the rate, or nobody asked any.
pub(crate) fn fell_back(ruled_by: Option<RuledBy>) -> Option<&'static str> {
    match ruled_by? {
        RuledBy::Routers => None,
        RuledBy::NoRouter => Some("no-router"),
        RuledBy::QueueBehind => Some("queue-behind"),
        RuledBy::PeerWithout => Some("peer-without"),
    }
}

/// Words for people about a reason of this name.
pub(crate) fn words(why: &str) -> String {
    let why = match why {
        "no-router" => "no router on the path tells one",
        "queue-behind" => "a queue stands behind the last router",
        _ => "the receiver takes no questions to routers",
    };
    format!("measured, as {why}")
}
