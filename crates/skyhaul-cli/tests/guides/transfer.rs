//! The page about files between two machines.

use crate::namespace::inside;
use crate::pages::every_command_works;
use crate::two_machines::{SET_UP, once_paired};

#[test]
fn every_command_of_the_page_about_two_machines_works() {
    inside(SET_UP, || {
        every_command_works(
            include_str!("../../../../docs/guide/transfer.md"),
            |_| true,
            once_paired,
            (3, 0),
            &["inbox/report.pdf", "inbox/photos.tar", "inbox/notes.txt"],
        );
    });
}
