//! Every command of the guide's page about emulation does what the page says.

use std::process::{Command, Stdio};

use crate::common::skipped;
use crate::pages::every_command_works;
use crate::support::{emulate, scenario};

fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

#[test]
fn every_command_of_the_guide_works() {
    let (_folder, scenario) = scenario();
    if emulate(&[&scenario, "--quiet", "--", "true"]).is_none() {
        return;
    }
    let possible = |text: &str| {
        let missing =
            ["ping", "iperf3", "cmp"].into_iter().find(|name| text.contains(name) && !is_installed(name));
        if let Some(program) = missing {
            skipped(&format!("there is no `{program}` here: {text}"));
        }
        missing.is_none()
    };
    let page = include_str!("../../../../docs/guide/emulate.md");
    every_command_works(page, possible, ToString::to_string, (8, 0), &["out/hello", "in/data", "noisy.bin"]);
}
