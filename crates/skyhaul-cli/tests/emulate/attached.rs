//! Namespaces and devices that somebody else made.

use std::process::{Command, Stdio};

use crate::common::{Said, skipped, until};
use crate::namespaces::is_impossible;
use crate::support::{scenario, start};

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

#[test]
fn a_device_that_exists_is_taken_as_it_is_and_left() {
    let Some(_made) = Namespaces::new(&["sky-test-c"]) else { return };
    let inside = |arguments: &str| ip(&format!("-n sky-test-c {arguments}"));
    let set_up = [
        "tuntap add dev tun7 mode tun",
        "tuntap add dev tun8 mode tun",
        "address add 192.0.2.1/24 dev tun7",
        "link set tun7 up",
        "link set tun8 up",
    ];
    if !set_up.iter().all(|command| inside(command)) {
        return skipped("there are no TUN devices here");
    }
    let (folder, scenario) = scenario();
    let socket = folder.path().join("control");
    let program = env!("CARGO_BIN_EXE_skyhaul");
    let mut command = Command::new("ip");
    command.args(["netns", "exec", "sky-test-c", program, "emulate", &scenario, "--json"]);
    command.args(["--device", "ship=tun7", "--device", "ground=tun8", "--control"]).arg(&socket);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let path = socket.to_str().unwrap();
    until("the emulation", || crate::common::run(&["control", "--socket", path, "status"]).code == Some(0));
    // What is for an address of no host goes to the other end.
    let sending = std::thread::spawn(|| {
        let namespace = std::fs::File::open("/run/netns/sky-test-c").unwrap();
        rustix::thread::move_into_link_name_space(
            std::os::fd::AsFd::as_fd(&namespace),
            Some(rustix::thread::LinkNameSpaceType::Network),
        )
        .unwrap();
        std::net::UdpSocket::bind("0.0.0.0:0").unwrap().send_to(b"x", "192.0.2.7:9").unwrap();
    });
    sending.join().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let said = ends(child);
    assert_eq!(said.code, Some(0), "{said:?}");
    let forward = &said.json()["links"]["space"]["forward"];
    assert!(forward["delivered_packets"].as_u64().unwrap() >= 1, "{said:?}");
    assert!(inside("link show tun7") && inside("link show tun8"), "they belong to somebody else");
}
