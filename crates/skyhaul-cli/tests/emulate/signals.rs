//! Routers that send signals, and transfers of SCPS-TP over the links behind them: each end on a device of
//! its own, in the namespace of an emulated host whose kernel forwards to the link.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use skyhaul_emulator::control::{Change, ControlAnswer, ControlRequest, LinkQuantity, ask};

use crate::common::{Kept, Said, file, noise, skyhaul};
use crate::namespaces::is_impossible;

/// Longest time that any of these takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A control centre and a craft, 10 ms and 20 ms from the station between them.
fn scenario(station: &str, down: &str) -> String {
    format!(
        r#"
[run]
duration = "1h"
[nodes]
centre = {{ kind = "host" }}
station = {{ kind = "router", {station} }}
craft = {{ kind = "host" }}
[links.lan]
between = ["centre", "station"]
forward = {{ delay = "10ms" }}
reverse = {{ delay = "10ms" }}
[links.space]
between = ["station", "craft"]
forward = {{ rate = "4Mbit/s", delay = "20ms", queue = "60kB" }}
reverse = {{ rate = "4Mbit/s", delay = "20ms", queue = "60kB", {down} }}
[transports.own]
protocol = "tcp"
[flows.file]
from = "centre"
to = "craft"
transport = "own"
workload = {{ kind = "bulk" }}
"#
    )
}

/// Commands by which a host has a device with a network of its own, and forwards to it.
fn device(site: u8) -> String {
    format!(
        "ip tuntap add dev own0 mode tun; ip address add 10.88.{site}.1/24 dev own0; \
         ip link set own0 up txqueuelen 5000; echo 1 > /proc/sys/net/ipv4/ip_forward; "
    )
}

/// An emulation at work.
struct Emulation {
    child: Kept,
    folder: tempfile::TempDir,
    begin: Instant,
}

impl Emulation {
    /// A file of so many octets from one host to the other. `None`: this machine has no namespaces.
    /// The sender has further arguments.
    fn start(scenario: &str, [from, to]: [&str; 2], bytes: usize, more: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
        file(folder.path(), "scenario.toml", scenario.as_bytes());
        file(folder.path(), "big", &noise(bytes));
        std::fs::create_dir(path("inbox")).unwrap();
        let own = env!("CARGO_BIN_EXE_skyhaul");
        let receives = format!(
            "{to}={}exec {own} receive --plain --dir {} --once --transport scps-tp --tun own0 --listen 10.88.1.2:4700",
            device(1),
            path("inbox")
        );
        let sends = format!(
            "{from}={}sleep 1; exec {own} send --plain --json --transport scps-tp --tun own0 --address 10.88.2.2 {more} {} \
             10.88.1.2:4700 > {}",
            device(2),
            path("big"),
            path("sent")
        );
        let (scenario, control) = (path("scenario.toml"), path("control"));
        let args = ["emulate", &scenario, "--json", "--control", &control, "--duration", "50s"];
        let child = skyhaul(&[&args[..], &["--run", &receives, "--run", &sends]].concat()).spawn().unwrap();
        let mut begun = Self { child: Kept::new(child), folder, begin: Instant::now() };
        while !begun.folder.path().join("sent").exists() {
            if begun.child.try_wait().unwrap().is_some() {
                let Self { child, .. } = begun;
                let said: Said = child.wait_with_output().into();
                assert!(is_impossible(&said.err), "{said:?}");
                return None;
            }
            begun.rest();
        }
        Some(begun)
    }

    /// Lets some time pass, which is bounded.
    fn rest(&self) {
        assert!(self.begin.elapsed() < PATIENCE, "it takes too long");
        std::thread::sleep(Duration::from_millis(2));
    }

    fn ask(&self, request: &ControlRequest) -> ControlAnswer {
        ask(&self.folder.path().join("control"), request).unwrap()
    }

    /// Time of the links, in seconds, whether that of space is up, and octets that were to go out by it.
    fn status(&self) -> (f64, bool, u64) {
        let ControlAnswer::Status(status) = self.ask(&ControlRequest::Status) else { panic!("no status") };
        let space = &status["links"]["space"];
        let entered = space["forward"]["entered_bytes"].as_u64().unwrap();
        (status["elapsed_s"].as_f64().unwrap(), space["up"].as_bool().unwrap(), entered)
    }

    /// The first status for which this holds.
    fn until(&self, holds: impl Fn((f64, bool, u64)) -> bool) -> (f64, bool, u64) {
        loop {
            let status = self.status();
            if holds(status) {
                return status;
            }
            self.rest();
        }
    }

    /// Results of the sender and of the emulation.
    fn end(self, bytes: usize) -> [Value; 2] {
        let Self { child, folder, .. } = self;
        let said: Said = child.wait_with_output().into();
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(std::fs::read(folder.path().join("inbox/big")).unwrap() == noise(bytes));
        let sent = std::fs::read_to_string(Path::new(folder.path()).join("sent")).unwrap();
        let last = sent.lines().last().unwrap_or_else(|| panic!("{said:?}"));
        [serde_json::from_str(last).unwrap(), said.json()]
    }
}

/// Time from the end of an outage of 3 s, which `skyhaul control` makes, to the next data, and the results.
fn outage(station: &str, more: &str) -> Option<(f64, [Value; 2])> {
    const BYTES: usize = 1_500_000;
    let emulation = Emulation::start(&scenario(station, ""), ["centre", "craft"], BYTES, more)?;
    emulation.until(|(_, _, entered)| entered > 300_000);
    let down =
        Change { link: "space".into(), port: None, quantity: LinkQuantity::DownNs(Some(3_000_000_000)) };
    assert_eq!(emulation.ask(&ControlRequest::Change(vec![down])), ControlAnswer::Done);
    let (down_at, is_up, _) = emulation.status();
    assert!(!is_up);
    let (up_at, _, before) = emulation.until(|(_, is_up, _)| is_up);
    let (data_at, ..) = emulation.until(|(_, _, entered)| entered > before + 1000);
    assert!(up_at - down_at < 3.5, "{down_at} {up_at}");
    Some((data_at - up_at, emulation.end(BYTES)))
}

/// The message has 10 ms to go, and the data 10 ms to come; a machine that is busy adds some.
#[test]
fn a_sender_over_an_emulated_link_is_told_of_an_outage_and_of_its_end() {
    let (Some((told_s, told)), Some((untold_s, untold))) = (outage("signals = {}", ""), outage("", ""))
    else {
        return;
    };
    println!("data {told_s:.3} s after the link was back with signals, {untold_s:.3} s without");
    let station = &told[1]["routers"]["station"];
    assert!(station["link_outage"].as_u64() > Some(0), "{station}");
    assert!(station["link_restored"].as_u64() > Some(0), "{station}");
    assert_eq!(untold[1]["routers"], Value::Null);
    assert!(told_s < 0.15 && told_s < untold_s, "{told_s} {untold_s}");
    let taken = [&told, &untold].map(|of| of[0]["losses"]["outage"].as_u64().unwrap());
    assert!(taken[0] > 0 && taken[1] == 0, "{taken:?}");
}

/// Routers of a mission with numbers of its own, which the sender is told.
#[test]
fn a_sender_hears_signals_by_the_numbers_that_it_was_given() {
    let station = "signals = { link_outage = [3, 77], link_restored = [200, 1] }";
    let Some((told_s, told)) = outage(station, "--signal-numbers link-outage=3/77,link-restored=200/1")
    else {
        return;
    };
    println!("data {told_s:.3} s after the link was back");
    let taken = told[0]["losses"]["outage"].as_u64();
    assert!(told_s < 0.15 && taken > Some(0), "{told_s} {taken:?}");
}

/// A file over a link that damages one packet in fifty: results of both.
fn damage(station: &str) -> Option<[Value; 2]> {
    const BYTES: usize = 1_500_000;
    let emulation = Emulation::start(&scenario(station, "loss = 0.02"), ["craft", "centre"], BYTES, "")?;
    Some(emulation.end(BYTES))
}

#[test]
fn a_sender_over_an_emulated_link_hears_that_its_losses_are_damage() {
    let (Some(told), Some(untold)) = (damage("signals = {}"), damage("")) else { return };
    let number = |of: &[Value; 2], pointer: &str| of[0].pointer(pointer).and_then(Value::as_f64).unwrap();
    let losses = |of| ["congestion", "corruption"].map(|cause| number(of, &format!("/losses/{cause}")));
    let mbits = [&told, &untold].map(|of| number(of, "/goodput_bps") / 1e6);
    println!(
        "{:.2} Mbit/s with signals, losses {:?}; {:.2} without, {:?}",
        mbits[0],
        losses(&told),
        mbits[1],
        losses(&untold)
    );
    assert!(told[1]["routers"]["station"]["corruption_experienced"].as_u64() > Some(10), "{}", told[1]);
    let ([congestion, corruption], [untold_congestion, untold_corruption]) = (losses(&told), losses(&untold));
    assert!(corruption > 4.0 * congestion, "{}", told[0]);
    assert!(untold_corruption == 0.0 && untold_congestion > 10.0, "{}", untold[0]);
    assert!(mbits[0] > mbits[1], "{mbits:?}");
}
