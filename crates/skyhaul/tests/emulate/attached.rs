//! Namespaces and devices that somebody else made.

use std::process::{Command, Stdio};

use crate::common::{Said, skipped, until};
use crate::support::{is_impossible, scenario, start};

fn ip(arguments: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(arguments.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Namespaces that go with this value.
struct Namespaces(&'static [&'static str]);

impl Namespaces {
    fn new(names: &'static [&'static str]) -> Option<Self> {
        let made = Self(names);
        if names.iter().all(|name| ip(&format!("netns add {name}"))) {
            return Some(made);
        }
        skipped("network namespaces with names need root and `ip`");
        None
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in self.0 {
            ip(&format!("netns delete {name}"));
        }
    }
}

fn ends(child: std::process::Child) -> Said {
    use rustix::process::{Pid, Signal, kill_process};
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn two_namespaces_are_joined_and_left_as_they_were() {
    let Some(_made) = Namespaces::new(&["sky-test-a", "sky-test-b"]) else { return };
    let (_folder, scenario) = scenario();
    let tuns = ["--tun", "ship=sky-test-a:sky7", "--tun", "ground=sky-test-b"];
    let mut child = start(&[&[scenario.as_str(), "--json"], &tuns[..]].concat());
    let is_there = || ip("-n sky-test-a link show sky7") && ip("-n sky-test-b link show sky0");
    until("the devices", || is_there() || child.try_wait().unwrap().is_some());
    if child.try_wait().unwrap().is_some() {
        let said: Said = child.wait_with_output().unwrap().into();
        assert!(is_impossible(&said.err), "{said:?}");
        return;
    }
    until("the addresses", || {
        ip("-n sky-test-a route get 10.77.0.2") && ip("-n sky-test-b route get fd77::1")
    });
    let said = {
        let again: Said =
            start(&[&[scenario.as_str()], &tuns[..]].concat()).wait_with_output().unwrap().into();
        assert_eq!(again.code, Some(1), "{again:?}");
        assert!(again.err.contains("already"), "{again:?}");
        assert!(is_there(), "it touched what was there");
        ends(child)
    };
    assert_eq!(said.code, Some(0), "{said:?}");
    until("the end of the devices", || {
        !ip("-n sky-test-a link show sky7") && !ip("-n sky-test-b link show sky0")
    });
}
