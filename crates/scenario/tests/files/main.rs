//! Scenario files of the families that ship: what they come to, what is refused and how, and that nothing
//! panics.

#![allow(clippy::unwrap_used, reason = "what helpers of tests cannot do fails the test, too")]

mod errors;
mod points;
mod reference;
mod robust;
mod traces;

use skyhaul_scenario::{File, Register, ScenarioError};
use skyhaul_sim::{SCPS_TP, SEALED_STP, STP, STPP, TCP};

/// Families that ship.
fn register() -> Register {
    Register::new(&[&STP, &TCP, &STPP, &SCPS_TP, &SEALED_STP])
}

/// File with the families that ship.
fn parse(label: &str, text: &str) -> Result<File, ScenarioError> {
    load(label, text, &[])
}

/// File with these overrides.
fn load(label: &str, text: &str, overrides: &[(String, String)]) -> Result<File, ScenarioError> {
    File::load(&register(), label, text, overrides)
}
