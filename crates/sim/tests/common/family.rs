//! Families of protocols that tests draw parameters of.

use skyhaul_scenario::{EndConfig, Protocol};
use skyhaul_sim::{STP, TCP};

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// STP.
    Stp,
    /// TCP.
    Tcp,
}

impl Family {
    /// Protocol of the simulator.
    pub(crate) fn protocol(self) -> &'static dyn Protocol {
        match self {
            Self::Stp => &STP,
            Self::Tcp => &TCP,
        }
    }
}

/// Parameters of an end.
#[derive(Clone, Debug)]
pub(crate) enum Parameters {
    /// STP's.
    Stp(Box<skyhaul_stp::Config>),
    /// TCP's.
    Tcp(Box<skyhaul_tcp::Config>),
}

impl Parameters {
    /// Family that they belong to.
    pub(crate) fn family(&self) -> Family {
        match self {
            Self::Stp(_) => Family::Stp,
            Self::Tcp(_) => Family::Tcp,
        }
    }

    /// For an engine of a host.
    pub(crate) fn end(&self) -> EndConfig {
        match self {
            Self::Stp(config) => STP.end((**config).clone()),
            Self::Tcp(config) => TCP.end((**config).clone()),
        }
    }
}

impl From<skyhaul_stp::Config> for Parameters {
    fn from(config: skyhaul_stp::Config) -> Self {
        Self::Stp(Box::new(config))
    }
}

impl From<skyhaul_tcp::Config> for Parameters {
    fn from(config: skyhaul_tcp::Config) -> Self {
        Self::Tcp(Box::new(config))
    }
}
