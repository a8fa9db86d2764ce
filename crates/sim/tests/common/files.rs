//! Scenarios of a test's own text.

use skyhaul_scenario::{File, Register, Scenario};

/// First scenario of a file with this text.
pub(crate) fn scenario(register: &Register, text: &str) -> Scenario {
    let file = File::parse(register, "test.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    file.first_scenario().unwrap_or_else(|error| panic!("{error}\n{text}"))
}
