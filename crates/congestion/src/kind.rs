//! Controllers that there are, and those from elsewhere.

use alloc::boxed::Box;

use skyhaul_core::PathController;

use crate::memory::RememberedStart;
use crate::{
    Bbr, Controller, ControllerConfig, ControllerFactory, Cubic, Explicit, ExplicitPath, LossAnswer, Off,
    PathControllerFactory, PathStart, PeachPlus, Reno, SlowStartAvoidance, Vegas,
};

/// Controller that an engine is told to use: one of those here, or anybody's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerKind {
    /// [`SlowStartAvoidance`]: STP and XSTP.
    SlowStartAvoidance,
    /// [`Reno`]. Which of Reno and `NewReno` a TCP is lies in its recovery, not here.
    Reno,
    /// [`Cubic`].
    Cubic,
    /// [`Bbr`].
    Bbr,
    /// [`Vegas`].
    Vegas,
    /// [`Explicit`] that answers losses, in STP [`ExplicitPath`]. Routers on the path rule.
    Xcp,
    /// [`Explicit`] that keeps its window, in STP [`ExplicitPath`]. Likewise.
    PXcp,
    /// [`Explicit`] that keeps its window on duplicate acknowledgements alone. Only for TCP.
    PXcpLiteral,
    /// [`PeachPlus`]. Routers drop low-priority segments first; only for TCP.
    PeachPlus,
    /// [`Off`]: no control of congestion. Only for SCPS-TP.
    Off,
    /// Rate of the path, as [`crate::Model`] finds it out from what receivers measure. Only for STP.
    Model,
    /// Window of a controller from elsewhere.
    Window(ControllerFactory),
    /// Rate of the path by a controller from elsewhere. Only for STP.
    Path(PathControllerFactory),
}

impl ControllerKind {
    /// Kinds with a window, for STP and TCP, by their names in scenario files and reports.
    pub const WINDOWS: [(&'static str, Self); 5] = [
        ("slow-start-avoidance", Self::SlowStartAvoidance),
        ("reno", Self::Reno),
        ("cubic", Self::Cubic),
        ("bbr", Self::Bbr),
        ("vegas", Self::Vegas),
    ];

    /// Kinds whose window routers rule, for an engine whose packets carry a path header.
    pub const EXPLICIT: [(&'static str, Self); 3] =
        [("xcp", Self::Xcp), ("p-xcp", Self::PXcp), ("p-xcp-literal", Self::PXcpLiteral)];

    /// Kind that sends low-priority segments beside its window, for an engine that can.
    pub const LOW_PRIORITY: [(&'static str, Self); 1] = [("peach-plus", Self::PeachPlus)];

    /// Kinds that every engine has, by name.
    pub const NAMES: [(&'static str, Self); 6] = [
        ("model", Self::Model),
        ("slow-start-avoidance", Self::SlowStartAvoidance),
        ("reno", Self::Reno),
        ("cubic", Self::Cubic),
        ("bbr", Self::Bbr),
        ("vegas", Self::Vegas),
    ];

    /// Name in scenario files and reports; those from elsewhere tell their names once they are built.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SlowStartAvoidance => "slow-start-avoidance",
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Vegas => "vegas",
            Self::Xcp => "xcp",
            Self::PXcp => "p-xcp",
            Self::PXcpLiteral => "p-xcp-literal",
            Self::PeachPlus => "peach-plus",
            Self::Off => "none",
            Self::Model => "model",
            Self::Window(_) => "window",
            Self::Path(_) => "path",
        }
    }

    /// Kinds of [`Self::NAMES`], and those of the rate of a path that routers rule, for an engine that
    /// measures it.
    pub const PATH_NAMES: [(&'static str, Self); 8] = [
        ("model", Self::Model),
        ("xcp", Self::Xcp),
        ("p-xcp", Self::PXcp),
        ("slow-start-avoidance", Self::SlowStartAvoidance),
        ("reno", Self::Reno),
        ("cubic", Self::Cubic),
        ("bbr", Self::Bbr),
        ("vegas", Self::Vegas),
    ];

    /// Kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|&(known, _)| known == name).map(|(_, kind)| kind)
    }

    /// True if a connection of this kind goes by the measured rate of its path.
    pub const fn measures(&self) -> bool {
        matches!(self, Self::Model | Self::Path(_)) || self.asks_routers()
    }

    /// True if a connection of this kind asks the routers on its path for a rate.
    pub const fn asks_routers(&self) -> bool {
        matches!(self, Self::Xcp | Self::PXcp)
    }

    /// Controller of a window at its start. For a kind that measures, the one that takes its place where
    /// nothing can be measured.
    pub fn build(&self, config: ControllerConfig) -> Box<dyn Controller> {
        match self {
            Self::Reno => Box::new(Reno::new(config)),
            Self::Cubic => Box::new(Cubic::new(config)),
            Self::Bbr => Box::new(Bbr::new(config)),
            Self::Vegas => Box::new(Vegas::new(config)),
            Self::Xcp => Box::new(Explicit::new(config, LossAnswer::Reduce)),
            Self::PXcp => Box::new(Explicit::new(config, LossAnswer::Keep)),
            Self::PXcpLiteral => Box::new(Explicit::new(config, LossAnswer::KeepOnDuplicates)),
            Self::PeachPlus => Box::new(PeachPlus::new(config)),
            Self::Off => Box::new(Off::new(config)),
            Self::Window(factory) => factory.build(config),
            Self::SlowStartAvoidance | Self::Model | Self::Path(_) => {
                Box::new(SlowStartAvoidance::new(config))
            }
        }
    }

    /// Controller of the rate of a path. Without one of its own, a kind gets a [`crate::Model`] that begins
    /// with the remembered path, if there is one.
    pub fn build_path(&self, start: PathStart) -> Box<dyn PathController> {
        match self {
            Self::Path(factory) => factory.build(start),
            Self::Xcp => Box::new(ExplicitPath::new(start, LossAnswer::Reduce)),
            Self::PXcp => Box::new(ExplicitPath::new(start, LossAnswer::Keep)),
            _ => Box::new(RememberedStart::new(start.mss_bytes, start.first_window_bytes, start.remembered)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counting, IdleRestart};

    #[test]
    fn each_kind_builds_the_controller_of_its_name() {
        let config = ControllerConfig {
            mss_bytes: 1000,
            initial_window_bytes: 10_000,
            max_window_bytes: 1 << 20,
            start_until_bytes: u64::MAX,
            counting: Counting::Bytes,
            idle_restart: IdleRestart::Never,
            pacing_percent: None,
            hystart: false,
            vegas: crate::VegasConfig::default(),
            overhead_bytes: 40,
            rtt_ns: None,
            seed: 1,
        };
        for (name, kind) in ControllerKind::WINDOWS.into_iter().chain(ControllerKind::EXPLICIT) {
            let controller = kind.build(config);
            assert_eq!((controller.snapshot().name, controller.window_bytes()), (name, 10_000));
        }
        for (name, kind) in ControllerKind::NAMES {
            assert_eq!((kind.name(), ControllerKind::from_name(name)), (name, Some(kind)));
        }
        assert_eq!(ControllerKind::from_name("vegan"), None);
    }
}
