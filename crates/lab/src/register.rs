//! Register of the protocol families that ship.

use skyhaul_scenario::Register;
use skyhaul_sim::{SCPS_TP, SEALED_STP, STP, STPP, TCP};

/// Register of the families that ship. STP is that of a transport which names none.
pub fn standard() -> Register {
    Register::new(&[&STP, &TCP, &STPP, &SCPS_TP, &SEALED_STP])
}
