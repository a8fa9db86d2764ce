//! `send` and `receive` over paths of every MTU: three network namespaces, the one in the middle a router
//! that may be silent. (What the protocol does about it has its tests in `skyhaul-stp`.)

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]

mod common;
#[path = "path_mtu/forged.rs"]
mod forged;

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use common::{Kept, Said};
use serde_json::Value;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_skyhaul");
/// A transfer of these takes a second or two.
const FILE_BYTES: usize = 4_000_000;
/// Longest that any takes, in seconds.
const PATIENCE: &str = "60";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}
use Family::{V4, V6};

/// A router's word that a packet was too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reports {
    Sent,
    ThrownAway,
}
use Reports::{Sent, ThrownAway};

/// Sender, router and receiver, each in a namespace. They go with this.
struct Network {
    names: [String; 3],
    family: Family,
}

static NETWORKS: AtomicU32 = AtomicU32::new(0);

fn ip(arguments: &str) -> bool {
    let output = Command::new("ip").args(arguments.split_whitespace()).output();
    output.is_ok_and(|output| output.status.success())
}

fn must(arguments: &str) {
    assert!(ip(arguments), "ip {arguments}");
}

impl Network {
    /// `None`, said aloud: it cannot be made here. Links take `wide` bytes.
    fn new(family: Family, wide: u32) -> Option<Self> {
        let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
        let name = |role: &str| format!("mtu{}-{number}{role}", std::process::id());
        let network = Self { names: ["s", "r", "d"].map(name), family };
        if !network.names.iter().all(|name| ip(&format!("netns add {name}"))) {
            let _ = writeln!(std::io::stderr(), "SKIPPED: network namespaces need root and `ip netns`");
            return None;
        }
        network.connect(wide);
        Some(network)
    }

    fn connect(&self, wide: u32) {
        let [s, r, d] = &self.names;
        for name in &self.names {
            must(&format!("-n {name} link set dev lo up"));
            Self::set(name, "ipv6/conf/default/accept_dad", "0");
            Self::set(name, "ipv6/conf/all/accept_dad", "0");
        }
        must(&format!("-n {s} link add name va type veth peer name vb netns {r}"));
        must(&format!("-n {r} link add name vc type veth peer name vd netns {d}"));
        for (name, device, host) in
            [(s, "va", "1::1"), (r, "vb", "1::2"), (r, "vc", "2::2"), (d, "vd", "2::1")]
        {
            must(&format!("-n {name} link set dev {device} mtu {wide} up"));
            let v4 = host.replace("::", ".");
            must(&format!("-n {name} address add 10.9.{v4}/24 dev {device}"));
            must(&format!("-n {name} address add fd09:{host}/64 dev {device} nodad"));
        }
        must(&format!("-n {s} route add default via 10.9.1.2"));
        must(&format!("-n {d} route add default via 10.9.2.2"));
        must(&format!("-n {s} route add default via fd09:1::2"));
        must(&format!("-n {d} route add default via fd09:2::2"));
        Self::set(r, "ipv4/ip_forward", "1");
        Self::set(r, "ipv6/conf/all/forwarding", "1");
    }

    fn set(name: &str, switch: &str, value: &str) {
        let text = format!("netns exec {name} sysctl -qw net.{}={value}", switch.replace('/', "."));
        must(&text);
    }

    /// Behind the router, both ways.
    fn middle(&self, bytes: u32) {
        must(&format!("-n {} link set dev vc mtu {bytes}", self.names[1]));
        must(&format!("-n {} link set dev vd mtu {bytes}", self.names[2]));
    }

    /// As a switch with a smaller MTU: the receiver's device drops larger frames, and nobody cuts them or
    /// tells. Datagrams that leave in one call are cut at the sender: such a device takes a train of them
    /// whole, whatever their size (`is_skb_forwardable` of the kernel).
    fn switch(&self, bytes: u32) {
        must(&format!("-n {} link set dev va gso_max_segs 1", self.names[0]));
        must(&format!("-n {} link set dev vd mtu {bytes}", self.names[2]));
    }

    /// As a firewall that drops fragments: the receiver keeps none.
    fn drop_fragments(&self) {
        for switch in ["ipv4/ipfrag_low_thresh", "ipv4/ipfrag_high_thresh"] {
            Self::set(&self.names[2], switch, "0");
        }
        for switch in ["ipv6/ip6frag_low_thresh", "ipv6/ip6frag_high_thresh"] {
            Self::set(&self.names[2], switch, "0");
        }
    }

    /// At the sender's own interface.
    fn edge(&self, bytes: u32) {
        must(&format!("-n {} link set dev va mtu {bytes}", self.names[0]));
    }

    /// What the router says itself leaves it no more: it forwards alone.
    fn silence_router(&self) {
        let family = if self.family == V6 { "-6" } else { "-4" };
        must(&format!("-n {} {family} rule add iif lo prio 1 blackhole", self.names[1]));
    }

    fn address(&self) -> &'static str {
        if self.family == V6 { "[fd09:2::1]:4700" } else { "10.9.2.1:4700" }
    }

    fn start(&self, role: usize, args: &[&str]) -> Child {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[role], "timeout", PATIENCE, BINARY]).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Sends `bytes` while `meanwhile` happens. Result: the sender's, of a file that arrived.
    fn transfer(&self, bytes: usize, more: &[&str], meanwhile: impl FnOnce()) -> Value {
        let folder = TempDir::new().unwrap();
        let content: Vec<u8> = (0..bytes).map(|i| (i * 31 + i / 1000) as u8).collect();
        let (file, arrived) = (folder.path().join("file"), folder.path().join("in"));
        std::fs::write(&file, &content).unwrap();
        std::fs::create_dir(&arrived).unwrap();
        let into = arrived.to_str().unwrap();
        let receiver =
            self.start(2, &["receive", "--plain", "--once", "--listen", self.address(), "--dir", into]);
        let receiver = Kept::new(receiver);
        thread::sleep(Duration::from_millis(300));
        let own = ["send", "--plain", "--no-memory", "--json", file.to_str().unwrap(), self.address()];
        let sender = Kept::new(self.start(0, &[&own, more].concat()));
        meanwhile();
        let said: Said = sender.wait_with_output().into();
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(std::fs::read(arrived.join("file")).unwrap() == content);
        drop(receiver);
        said.json()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&format!("netns delete {name}"));
        }
    }
}

/// Transfer over a path with this MTU in the middle and at the edge.
fn crosses(family: Family, middle: u32, edge: u32, reports: Reports) {
    let wide = middle.max(edge).max(1500);
    let Some(network) = Network::new(family, wide) else { return };
    network.middle(middle);
    network.edge(edge);
    if reports == ThrownAway {
        network.silence_router();
    }
    let result = network.transfer(FILE_BYTES, &["--rate", "50M"], || {});
    let what = format!("{family:?}, {middle} and {edge}, {reports:?}: {result}");
    assert_eq!(result["path_mtu"].as_u64(), Some(u64::from(middle.min(edge))), "{what}");
    // Of a path that takes the base of 1280, nothing is lost.
    let sent = result["forward"]["bytes"].as_f64().unwrap();
    assert!(middle.min(edge) < 1280 || sent < FILE_BYTES as f64 * 1.06, "{what}");
    assert!(result["confirmed_s"].as_f64().unwrap() < 5.0, "{what}");
}

#[test]
fn every_mtu_in_the_middle_is_found_where_the_router_is_silent() {
    for bytes in [576, 1280, 1300, 1400, 1492] {
        crosses(V4, bytes, 1500, ThrownAway);
    }
    for bytes in [1280, 1300, 1400, 1492] {
        crosses(V6, bytes, 1500, ThrownAway);
    }
}

#[test]
fn every_mtu_in_the_middle_is_found_where_the_router_tells() {
    for (family, bytes) in [(V4, 576), (V4, 1300), (V4, 1492), (V6, 1280), (V6, 1400)] {
        crosses(family, bytes, 1500, Sent);
    }
}

#[test]
fn every_mtu_at_the_edge_is_found_and_jumbo_frames_are_used() {
    for (family, edge) in [(V4, 576), (V4, 1400), (V6, 1280), (V6, 1492)] {
        crosses(family, 1500, edge, Sent);
    }
    crosses(V4, 9000, 9000, Sent);
    crosses(V6, 9000, 9000, ThrownAway);
    crosses(V4, 1500, 9000, ThrownAway);
    crosses(V6, 1500, 9000, ThrownAway);
}

/// A path that falls in mid-flow, at the edge if there, and rises again if there is time.
fn falls(family: Family, reports: Reports, is_edge: bool, to: u32) {
    let Some(network) = Network::new(family, 1500) else { return };
    if reports == ThrownAway {
        network.silence_router();
    }
    let result = network.transfer(4 * FILE_BYTES, &["--rate", "50M"], || {
        thread::sleep(Duration::from_secs(1));
        if is_edge { network.edge(to) } else { network.middle(to) }
    });
    let what = format!("{family:?}, {reports:?}, {is_edge}: {result}");
    assert_eq!(result["path_mtu"].as_u64(), Some(u64::from(to)), "{what}");
    assert!(result["confirmed_s"].as_f64().unwrap() < 7.0, "{what}");
}

#[test]
fn a_path_that_falls_in_mid_flow_goes_on() {
    falls(V4, ThrownAway, false, 1300);
    falls(V6, ThrownAway, false, 1300);
    falls(V4, Sent, false, 576);
    falls(V6, Sent, false, 1280);
    falls(V4, Sent, true, 1300);
    falls(V6, Sent, true, 1300);
}

/// What was formed before crosses in pieces: without them the connection would end, or last for ever.
#[test]
fn a_path_that_falls_in_mid_flow_and_drops_fragments_too_goes_on() {
    for (family, is_switch, to) in [(V4, true, 1300), (V4, false, 1300), (V6, false, 1280)] {
        let Some(network) = Network::new(family, 1500) else { return };
        network.silence_router();
        network.drop_fragments();
        let result = network.transfer(4 * FILE_BYTES, &["--rate", "50M"], || {
            thread::sleep(Duration::from_secs(1));
            if is_switch { network.switch(to) } else { network.middle(to) }
        });
        assert_eq!(result["path_mtu"].as_u64(), Some(u64::from(to)), "{family:?}, {is_switch}: {result}");
    }
}

#[test]
fn a_first_flight_that_is_too_large_crosses_a_switch() {
    let Some(network) = Network::new(V4, 1500) else { return };
    network.switch(1000);
    let result = network.transfer(FILE_BYTES, &["--rate", "50M"], || {});
    let found = result["path_mtu"].as_u64().unwrap();
    assert!((968..=1004).contains(&found), "{result}");
}

#[test]
fn a_path_that_rises_again_is_used() {
    let Some(network) = Network::new(V4, 1500) else { return };
    network.silence_router();
    // A search that the rise overtakes ends just below, and is repeated 5 s later: there is time for that.
    let result = network.transfer(7 * FILE_BYTES, &["--rate", "20M"], || {
        thread::sleep(Duration::from_secs(1));
        network.middle(1300);
        thread::sleep(Duration::from_millis(1500));
        network.middle(1500);
    });
    assert_eq!(result["path_mtu"].as_u64(), Some(1500), "{result}");
}
