//! Reports of packets that were too large, from a router that had none: of this flow and of others, with
//! sizes that no path has. The path takes 1500 bytes all the time.

use std::fs::File;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd as _;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use skyhaul_core::{internet_checksum, internet_sum};
use socket2::{Domain, Protocol, Socket, Type};

use crate::{FILE_BYTES, Family, Network, V4, V6};

/// Port of the receiver, and how `/proc/net/udp` shows it.
const PORT: u16 = 4700;
const PORT_IN_HEX: &str = ":125C";

/// Sizes that are claimed.
const CLAIMS: [u32; 5] = [0, 68, 576, 1280, 1400];
/// Reports of each claim in a burst: a sender that tries again has the next one already.
const ROUNDS: usize = 40;

impl Network {
    /// Text that a command prints at the sender.
    fn at_sender(&self, command: &str) -> String {
        let words = format!("netns exec {} {command}", self.names[0]);
        let output = Command::new("ip").args(words.split_whitespace()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Port of the sender, once its socket is connected.
    fn sender_port(&self) -> u16 {
        let table = if self.family == V4 { "/proc/net/udp" } else { "/proc/net/udp6" };
        let port = || {
            let text = self.at_sender(&format!("cat {table}"));
            let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            let own = rows.filter(|row| row.get(2).is_some_and(|peer| peer.ends_with(PORT_IN_HEX)));
            let local = own.collect::<Vec<_>>().pop()?[1].rsplit(':').next()?.to_string();
            u16::from_str_radix(&local, 16).ok()
        };
        let mut found = None;
        crate::common::until("the sender's socket", || {
            found = port();
            found.is_some()
        });
        found.unwrap()
    }

    /// Sends each claim about a packet from this port of the sender, as the router.
    fn forge(&self, port: u16) {
        let (router, family) = (format!("/run/netns/{}", self.names[1]), self.family);
        // A namespace is a thread's; this one ends with it.
        let forging = thread::spawn(move || {
            let namespace = File::open(router).unwrap();
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            let (domain, protocol, to) = match family {
                V4 => (Domain::IPV4, Protocol::ICMPV4, "10.9.1.1"),
                V6 => (Domain::IPV6, Protocol::ICMPV6, "fd09:1::1"),
            };
            let socket = Socket::new(domain, Type::RAW, Some(protocol)).unwrap();
            let to = SocketAddr::new(to.parse::<IpAddr>().unwrap(), 0);
            for claim in CLAIMS.repeat(ROUNDS) {
                socket.send_to(&report(family, port, claim), &to.into()).unwrap();
            }
        });
        forging.join().unwrap();
    }
}

/// *Fragmentation needed* or *packet too big* [RFC 1191 4, RFC 4443 3.2], about a datagram to the receiver.
fn report(family: Family, port: u16, claim: u32) -> Vec<u8> {
    let ports = [port.to_be_bytes(), PORT.to_be_bytes()].concat();
    let datagram = [&ports[..], &1400u16.to_be_bytes(), &[0, 0]].concat();
    match family {
        V4 => {
            let head =
                [&[0x45, 0, 5, 140, 0, 1, 0x40, 0, 60, 17, 0, 0][..], &[10, 9, 1, 1, 10, 9, 2, 1]].concat();
            let claim = (claim as u16).to_be_bytes();
            let mut message = [&[3, 4, 0, 0, 0, 0][..], &claim, &head, &datagram].concat();
            let sum = internet_checksum(internet_sum(&message));
            message[2..4].copy_from_slice(&sum.to_be_bytes());
            message
        }
        // The kernel fills in the checksum.
        V6 => {
            let address = |net: u8| [0xfd, 9, 0, net, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
            let head = [&[0x60, 0, 0, 0, 5, 120, 17, 60][..], &address(1), &address(2)].concat();
            [&[2, 0, 0, 0][..], &claim.to_be_bytes(), &head, &datagram].concat()
        }
    }
}

/// Transfer that forged reports come into, and one that comes after them.
fn goes_on(family: Family) {
    let Some(network) = Network::new(family, 1500) else { return };
    let destination = if family == V4 { "10.9.2.1" } else { "fd09:2::1" };
    let route = || network.at_sender(&format!("ip route get {destination}"));
    let result = network.transfer(2 * FILE_BYTES, &["--rate", "20M"], || {
        let port = network.sender_port();
        // Nobody has these ports: the kernel believes nothing of it.
        network.forge(port ^ 1);
        network.forge(9);
        thread::sleep(Duration::from_millis(100));
        assert!(!route().contains("mtu"), "{}", route());
        for _ in 0..10 {
            network.forge(port);
            thread::sleep(Duration::from_millis(100));
        }
        // What is about this flow the kernel takes for true, and it says so to whoever asks for the route.
        assert!(route().contains("mtu"), "{}", route());
    });
    assert_eq!(result["path_mtu"].as_u64(), Some(1500), "{family:?}: {result}");
    let sent = result["forward"]["bytes"].as_f64().unwrap();
    assert!(sent < 2.0 * FILE_BYTES as f64 * 1.2, "{family:?}: {result}");
    // The kernel believes it for minutes.
    assert!(route().contains("mtu"), "{}", route());
    let result = network.transfer(FILE_BYTES, &["--rate", "20M"], || {});
    assert_eq!(result["path_mtu"].as_u64(), Some(1500), "{family:?}, the next one: {result}");
}

#[test]
fn forged_reports_of_routers_neither_end_a_transfer_nor_make_its_packets_small() {
    goes_on(V4);
    goes_on(V6);
}
