//! The page about SCPS-TP between two machines: each is a network namespace, and a satellite link lies
//! between them.

use std::os::fd::OwnedFd;
use std::process::Command;

use skyhaul_core::MS;
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit};
use skyhaul_net::tun::{PacketLink, TunDevice};

use crate::namespace::inside;
use crate::pages::every_command_works;
use crate::tshark;
use crate::two_machines::at_their_machines;

const MACHINES: [(&str, &str); 2] = [("ship", "192.0.2.1"), ("ground", "192.0.2.2")];

/// Both machines. They go with this.
struct Machines([String; 2]);

impl Machines {
    /// `None`: they cannot be made here. Must be made within a namespace, in which the link's ends are.
    fn new() -> Option<(Self, PacketLink)> {
        let made = Self(MACHINES.map(|(name, _)| format!("scps{}-{name}", std::process::id())));
        if !made.0.iter().all(|name| ip(&format!("netns add {name}"))) {
            crate::namespace::skipped("network namespaces with names need root and `ip netns`");
            return None;
        }
        let ends = MACHINES.map(|(name, _)| OwnedFd::from(TunDevice::create(&format!("to-{name}")).unwrap()));
        for ((machine, address), name) in MACHINES.into_iter().zip(&made.0) {
            let far = if machine == "ship" { "192.0.2.2" } else { "192.0.2.1" };
            for command in [
                format!("link set to-{machine} netns {name}"),
                format!("-n {name} link set lo up"),
                format!("-n {name} address add {address} peer {far} dev to-{machine}"),
                format!("-n {name} link set to-{machine} up txqueuelen 5000"),
            ] {
                assert!(ip(&command), "ip {command}");
            }
        }
        Some((made, PacketLink::start(satellite(), 7, ends).unwrap()))
    }

    /// The commands of a block at their machines.
    fn changed(&self, text: &str) -> String {
        if text.contains("sudo ") {
            let lines = text.lines().map(|line| self.as_root(line));
            return format!("USER=root\n{}", lines.collect::<String>());
        }
        let prefix = self.0[0].trim_end_matches("ship");
        at_their_machines(text)
            .replace("exec \"$@\"; }", &format!("exec ip netns exec {prefix}$machine \"$@\"; }}"))
    }

    fn as_root(&self, line: &str) -> String {
        let (command, place) = line.split_once('#').unwrap();
        let at = usize::from(!place.contains("on the ship"));
        format!("ip netns exec {} {}\n", self.0[at], command.trim().strip_prefix("sudo ").unwrap())
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for name in &self.0 {
            ip(&format!("netns delete {name}"));
        }
    }
}

fn ip(arguments: &str) -> bool {
    let output = Command::new("ip").args(arguments.split_whitespace()).output();
    output.is_ok_and(|output| output.status.success())
}

/// 10 Mbit/s and 100 ms, with some noise on the way to the ship, which has the first end.
fn satellite() -> LinkConfig {
    let forward = DirectionConfig {
        rate_bps: Some(10_000_000),
        delay_ns: 50 * MS,
        queue: QueueLimit::Packets(100),
        ..DirectionConfig::default()
    };
    let reverse = DirectionConfig { bit_error_rate: 1e-6, ..forward.clone() };
    LinkConfig { name: "satellite".into(), forward, reverse, ..LinkConfig::default() }
}

#[test]
fn every_command_of_the_page_about_scps_tp_works() {
    inside(&[], || {
        let Some((machines, link)) = Machines::new() else { return };
        every_command_works(
            include_str!("../../../../docs/guide/scps-tp.md"),
            |text| !text.contains("tshark ") || !tshark::is_missing(),
            |text| machines.changed(text),
            (6, 0),
            &["inbox/report.pdf", "sent.pcapng"],
        );
        // All four files crossed the link, each way.
        let report = link.stop();
        let bytes = [report.forward, report.reverse].map(|way| way.counters.delivered_bytes);
        assert!(bytes[1] > 400_000 && bytes[0] > 1000, "{bytes:?}");
    });
}
