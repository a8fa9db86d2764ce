//! What a controller is told at its start, and which controllers there are.

use alloc::boxed::Box;

use crate::{Bbr, Controller, Counting, Cubic, Follower, IdleRestart, Reno, SlowStartAvoidance};

/// Parameters of every controller with a window. One that has no use for a field ignores it.
#[derive(Clone, Copy, Debug)]
pub struct ControllerConfig {
    /// Largest payload of a segment.
    pub mss_bytes: u64,
    /// First window.
    pub initial_window_bytes: u64,
    /// The window never grows beyond this.
    pub max_window_bytes: u64,
    /// What makes the window grow.
    pub counting: Counting,
    /// What sends the window back to its first value.
    pub idle_restart: IdleRestart,
    /// Pacing rate over window per round trip, in percent, in slow start and in avoidance. `None`: packets leave
    /// as the window lets them, or the engine spreads them (the papers' delayed send).
    pub pacing_percent: Option<(u64, u64)>,
    /// CUBIC's first slow start ends when the round trip grows, or when acknowledgements come in long trains.
    pub hystart: bool,
    /// Bytes that a segment is longer on the wire than its payload, IP header included.
    pub overhead_bytes: u64,
    /// The round trip, if the opening measured one.
    pub rtt_ns: Option<u64>,
    /// Seed of what a controller leaves to chance.
    pub seed: u64,
}

/// The controllers that an engine can be told to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerKind {
    /// [`SlowStartAvoidance`]: STP and XSTP.
    SlowStartAvoidance,
    /// [`Reno`]. Which of Reno and `NewReno` a TCP is lies in its recovery, not here.
    Reno,
    /// [`Cubic`].
    Cubic,
    /// [`Bbr`].
    Bbr,
    /// The rate of the path, as [`crate::Model`] finds it out from what receivers measure. Only for STP.
    Model,
}

impl ControllerKind {
    /// Those with a window, for STP and TCP, by their names in scenario files and reports.
    pub const WINDOWS: [(&'static str, Self); 4] = [
        ("slow-start-avoidance", Self::SlowStartAvoidance),
        ("reno", Self::Reno),
        ("cubic", Self::Cubic),
        ("bbr", Self::Bbr),
    ];

    /// All of them.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("model", Self::Model),
        ("slow-start-avoidance", Self::SlowStartAvoidance),
        ("reno", Self::Reno),
        ("cubic", Self::Cubic),
        ("bbr", Self::Bbr),
    ];

    /// The controller of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|&(known, _)| known == name).map(|(_, kind)| kind)
    }

    /// A controller of this kind at its first window.
    pub fn build(self, config: ControllerConfig) -> Box<dyn Controller> {
        match self {
            Self::SlowStartAvoidance => Box::new(SlowStartAvoidance::new(config)),
            Self::Reno => Box::new(Reno::new(config)),
            Self::Cubic => Box::new(Cubic::new(config)),
            Self::Bbr => Box::new(Bbr::new(config)),
            Self::Model => Box::new(Follower::new(config.initial_window_bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IdleRestart;

    #[test]
    fn each_kind_builds_the_controller_of_its_name() {
        let config = ControllerConfig {
            mss_bytes: 1000,
            initial_window_bytes: 10_000,
            max_window_bytes: 1 << 20,
            counting: Counting::Bytes,
            idle_restart: IdleRestart::Never,
            pacing_percent: None,
            hystart: false,
            overhead_bytes: 40,
            rtt_ns: None,
            seed: 1,
        };
        for (name, kind) in ControllerKind::NAMES {
            let controller = kind.build(config);
            assert_eq!((controller.name(), controller.window_bytes()), (name, 10_000));
            assert_eq!(ControllerKind::from_name(name), Some(kind));
        }
        assert_eq!(ControllerKind::from_name("vegas"), None);
    }
}
