//! Types and codes of ICMP that signals of routers have. Nobody has registered any.

use crate::event::RouterSignal;

/// Types and codes over one version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageNumbers {
    /// Corruption-experienced [SCPS-TP 3.1.2].
    pub corruption_experienced: (u8, u8),
    /// Link-outage [SCPS-TP 3.1.3].
    pub link_outage: (u8, u8),
    /// Link-restored [SCPS-TP 3.1.3].
    pub link_restored: (u8, u8),
}

/// Every signal, in the order in which one that has the number of another one is refused.
const ALL: [RouterSignal; 3] =
    [RouterSignal::CorruptionExperienced, RouterSignal::LinkOutage, RouterSignal::LinkRestored];

impl MessageNumbers {
    /// Those of the public reference implementation.
    pub const REFERENCE: Self =
        Self { corruption_experienced: (19, 0), link_outage: (3, 16), link_restored: (5, 4) };
    /// Ours over IPv6: codes of a type for experiments [RFC 4443 2.1].
    pub const EXPERIMENT: Self =
        Self { corruption_experienced: (100, 0), link_outage: (100, 1), link_restored: (100, 2) };

    /// Signal with this type and code, if it is one: the first, where several have one number.
    pub fn meaning(&self, number: (u8, u8)) -> Option<RouterSignal> {
        ALL.into_iter().find(|&signal| self.of(signal) == number)
    }

    /// Type and code of a signal.
    pub fn of(&self, signal: RouterSignal) -> (u8, u8) {
        match signal {
            RouterSignal::CorruptionExperienced => self.corruption_experienced,
            RouterSignal::LinkOutage => self.link_outage,
            RouterSignal::LinkRestored => self.link_restored,
        }
    }

    fn check(self, is_v6: bool) -> Result<(), NumberConflict> {
        for signal in ALL {
            let number = self.of(signal);
            let other = self.meaning(number).filter(|&first| first != signal);
            let is_taken = if is_v6 { is_taken_v6(number.0) } else { is_taken_v4(number) };
            if is_taken || other.is_some() {
                return Err(NumberConflict { signal, is_v6, other });
            }
        }
        Ok(())
    }
}

/// True of numbers of ICMP that mean something else to hosts: those that RFC 792, RFC 1256, RFC 1812 and
/// RFC 950 give, and of type 4 all.
fn is_taken_v4(number: (u8, u8)) -> bool {
    matches!(number, (3, 0..=15) | (5, 0..=3) | (0 | 4 | 8..=18, _))
}

/// True of types of `ICMPv6` that mean something else, or are no errors [RFC 4443 2.1].
fn is_taken_v6(kind: u8) -> bool {
    !(5..128).contains(&kind)
}

/// Signal whose number cannot be told from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberConflict {
    /// It.
    pub signal: RouterSignal,
    /// Its number over IPv6, not that over IPv4.
    pub is_v6: bool,
    /// Signal with the same number; `None`: a message of everyday has it.
    pub other: Option<RouterSignal>,
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

impl SignalNumbers {
    /// The first number that means something else already.
    pub fn check(&self) -> Result<(), NumberConflict> {
        self.v4.check(false)?;
        self.v6.check(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_mean_something_else_are_conflicts() {
        let usual = SignalNumbers::default();
        assert_eq!(usual.check(), Ok(()));
        let (outage, restored) = (RouterSignal::LinkOutage, RouterSignal::LinkRestored);
        for (number, other) in [
            ((19, 0), Some(Some(RouterSignal::CorruptionExperienced))),
            ((3, 1), Some(None)),
            ((4, 7), Some(None)),
            ((8, 0), Some(None)),
            ((12, 0), Some(None)),
            ((3, 17), None),
            ((200, 255), None),
        ] {
            let v4 = MessageNumbers { link_outage: number, ..usual.v4 };
            let conflict = other.map(|other| NumberConflict { signal: outage, is_v6: false, other });
            assert_eq!(SignalNumbers { v4, ..usual }.check().err(), conflict, "{number:?}");
        }
        for (number, is_conflict) in [((100, 9), false), ((1, 0), true), ((0, 0), true), ((135, 0), true)] {
            let v6 = MessageNumbers { link_restored: number, ..usual.v6 };
            let conflict = NumberConflict { signal: restored, is_v6: true, other: None };
            let expected = is_conflict.then_some(conflict);
            assert_eq!(SignalNumbers { v6, ..usual }.check().err(), expected, "{number:?}");
        }
    }

    #[test]
    fn a_number_has_its_meaning_and_no_other() {
        let numbers = MessageNumbers::REFERENCE;
        for signal in ALL {
            assert_eq!(numbers.meaning(numbers.of(signal)), Some(signal));
        }
        assert_eq!(numbers.meaning((3, 1)), None);
    }
}
