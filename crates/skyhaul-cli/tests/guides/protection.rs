//! The page about machines that know each other.

use crate::namespace::inside;
use crate::pages::every_command_works;
use crate::two_machines::{SET_UP, at_their_machines};

#[test]
fn every_command_of_the_page_about_protection_works() {
    inside(SET_UP, || {
        every_command_works(
            include_str!("../../../../docs/guide/protection.md"),
            |_| true,
            at_their_machines,
            (5, 0),
            &["ship/config/skyhaul/peers", "ground/config/skyhaul/peers", "psk", "inbox/report.pdf"],
        );
    });
}
