//! Signals of routers among the messages of ICMP.

use skyhaul_core::event::RouterSignal;

use super::IcmpMessage;

impl From<RouterSignal> for IcmpMessage {
    fn from(signal: RouterSignal) -> Self {
        match signal {
            RouterSignal::CorruptionExperienced => Self::CorruptionExperienced,
            RouterSignal::LinkOutage => Self::LinkOutage,
            RouterSignal::LinkRestored => Self::LinkRestored,
        }
    }
}
