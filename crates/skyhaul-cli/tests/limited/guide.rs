//! Every command of the guide's page about why it is slow does what the page says.

use crate::pages::every_command_works;
use crate::{PATH, Transfer, turn};

#[test]
fn every_command_of_the_guide_works() {
    if Transfer::of(1).over(PATH, "data far:4700").is_none() {
        return;
    }
    let _turn = turn();
    let page = include_str!("../../../../docs/guide/why-is-it-slow.md");
    every_command_works(page, |_| true, ToString::to_string, (4, 0), &["in/data", "said.json"]);
}
