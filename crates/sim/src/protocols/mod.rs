//! Families of protocols that ship: tables of keys, engines of simulated hosts, words for what they send,
//! racers.

mod scps;
mod sealed_stp;
mod stp;
mod stpp;
mod tcp;

pub use scps::{SCPS_TP, ScpsTp};
pub use sealed_stp::{SEALED_STP, SealedStp};
pub use stp::{STP, Stp, StpEngine};
pub use stpp::{STPP, Stpp};
pub use tcp::{TCP, Tcp, TcpEngine};

/// Register of the families that ship, for tests.
#[cfg(test)]
pub(crate) fn standard() -> skyhaul_scenario::Register {
    skyhaul_scenario::Register::new(&[&STP, &TCP, &STPP, &SCPS_TP, &SEALED_STP])
}

/// Names of the bits that are set, with a plus between them.
fn joined(bits: u8, parts: &[(u8, &str)]) -> String {
    let there: Vec<&str> = parts.iter().filter(|(bit, _)| bits & bit != 0).map(|&(_, text)| text).collect();
    there.join(" + ")
}
