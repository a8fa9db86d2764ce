//! The links of a scenario in real time, for programs that exist already.
//!
//! - [`Emulation`]: links and routers at work between devices or UDP ports.
//! - [`Testbed`]: an emulation with a network namespace and a command for each host.
//! - [`control`]: changing links while they work.
//!
//! Scenario file and seed mean what they mean in the simulator: equal links, equal outages.
#![deny(unsafe_code)]

mod addresses;
mod capture;
pub mod control;
mod emulation;
mod gates;
mod host;
mod middle;
mod report;
mod terminal;
mod testbed;

pub use addresses::{Addresses, HostAddress};
pub use emulation::{Emulation, UdpHost};
pub use host::{HOST_COMMAND, Home, INIT_COMMAND, TERMINAL_FLAG, TestbedError, host_main, init_main};
pub use report::{EmulatedLinkReport, EmulationReport, HostReport, RouterReport};
pub use testbed::{FinishedHost, HostPlan, Output, Testbed, TestbedOptions};
