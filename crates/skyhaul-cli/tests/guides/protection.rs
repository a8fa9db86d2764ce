//! The page about machines that know each other.

use crate::namespace::inside;
use crate::pages::every_command_works;
use crate::two_machines::SET_UP;

/// Functions that run a command as one of the two machines, and what is to be sent.
const MACHINES: &str = "\
[ -e report.pdf ] || head -c 100000 /dev/urandom >report.pdf
as() { machine=$1; shift; XDG_CONFIG_HOME=$PWD/$machine/config XDG_STATE_HOME=$PWD/$machine/state \"$@\"; }
ship() { as ship \"$@\"; }
ground() { as ground \"$@\"; }
";

/// The commands of a block, each at the machine that stands behind it. Who shows a code works beside the one
/// that asks for it, which gets it as somebody would type it.
fn at_their_machines(text: &str) -> String {
    MACHINES.to_owned() + &text.lines().map(at_its_machine).collect::<String>()
}

fn at_its_machine(line: &str) -> String {
    let (command, place) = line.split_once('#').unwrap();
    let (command, machine) = (command.trim(), if place.contains("on the ship") { "ship" } else { "ground" });
    if command.starts_with("skyhaul receive ") {
        let waits = "until grep -q 'leave to send' heard; do sleep 0.05; done";
        format!("{machine} {command} 2>heard & receiving=$!\n{waits}\n")
    } else if command.starts_with("skyhaul send ") {
        format!("{machine} {command}\nwait $receiving\ncmp report.pdf inbox/report.pdf\n")
    } else if command.contains(" --listen ") {
        let shown = "until grep -q '^code: ' shown; do sleep 0.05; done";
        format!("{machine} {command} 2>shown & waiting=$!\n{shown}\n")
    } else if command.starts_with("skyhaul pair ") {
        format!("sed -n 's/^code: //p' shown | {machine} {command}\nwait $waiting\n")
    } else if command.starts_with("skyhaul ") {
        format!("{machine} {command}\n")
    } else {
        format!("{command}\n")
    }
}

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
