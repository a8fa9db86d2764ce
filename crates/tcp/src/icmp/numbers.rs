//! Types and codes of the signals of SCPS-TP. Nobody has registered any.

use super::IcmpMessage;

/// Types and codes over one version of IP. Where two messages have one number, the first field counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageNumbers {
    /// Corruption-experienced [SCPS-TP 3.1.2].
    pub corruption_experienced: (u8, u8),
    /// Link-outage [SCPS-TP 3.1.3].
    pub link_outage: (u8, u8),
    /// Link-restored [SCPS-TP 3.1.3].
    pub link_restored: (u8, u8),
}

impl MessageNumbers {
    /// Those of the public reference implementation.
    pub const REFERENCE: Self =
        Self { corruption_experienced: (19, 0), link_outage: (3, 16), link_restored: (5, 4) };
    /// Ours over IPv6: codes of a type for experiments [RFC 4443 2.1].
    pub const EXPERIMENT: Self =
        Self { corruption_experienced: (100, 0), link_outage: (100, 1), link_restored: (100, 2) };

    /// Message with this type and code, if it is one of these.
    pub fn meaning(&self, number: (u8, u8)) -> Option<IcmpMessage> {
        let all = [IcmpMessage::CorruptionExperienced, IcmpMessage::LinkOutage, IcmpMessage::LinkRestored];
        all.into_iter().find(|&message| self.of(message) == Some(number))
    }

    /// Type and code of a message, if it is one of these.
    pub fn of(&self, message: IcmpMessage) -> Option<(u8, u8)> {
        match message {
            IcmpMessage::CorruptionExperienced => Some(self.corruption_experienced),
            IcmpMessage::LinkOutage => Some(self.link_outage),
            IcmpMessage::LinkRestored => Some(self.link_restored),
            _ => None,
        }
    }
}

/// Types and codes over both versions of IP. They go before what other messages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalNumbers {
    /// Over IPv4.
    pub v4: MessageNumbers,
    /// Over IPv6.
    pub v6: MessageNumbers,
}

impl Default for SignalNumbers {
    fn default() -> Self {
        Self { v4: MessageNumbers::REFERENCE, v6: MessageNumbers::EXPERIMENT }
    }
}
