//! The links of a scenario in real time, for programs that exist already.
//!
//! - [`Emulation`]: links and routers at work between devices or UDP ports.
//! - [`Lab`]: an emulation with a network namespace and a command for each host.
//! - [`control`]: changing links while they work.
//!
//! The same scenario file and seed as in the simulator, the same links, the same outages.
#![deny(unsafe_code)]

mod addresses;
pub mod control;
mod emulation;
mod gates;
mod host;
mod lab;
mod middle;
mod report;
mod terminal;

pub use addresses::{Addresses, HostAddress};
pub use emulation::{Emulation, UdpHost};
pub use host::{HOST_COMMAND, Home, INIT_COMMAND, LabError, TERMINAL_FLAG, host_main, init_main};
pub use lab::{Finished, HostPlan, Lab, LabOptions, Output};
pub use report::{HostReport, LinkReport, Report};
