//! UDP relays, which need no privilege.

use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Receiver, Said, file, free_port, noise, run};
use crate::support::{SCENARIO, ready, scenario, start};

/// A relay and the addresses of its two ports.
struct Relay {
    /// `None`: it has ended.
    child: Option<Child>,
    said: String,
    at: Vec<SocketAddr>,
}

impl Relay {
    fn start(args: &[&str]) -> Self {
        let mut child = start(args);
        let mut reader = BufReader::new(child.stderr.take().unwrap());
        let (mut said, mut at) = (String::new(), Vec::new());
        while at.len() < 2 {
            let mut line = String::new();
            assert!(reader.read_line(&mut line).unwrap() > 0, "{said}");
            let address = line.split_once("udp ").and_then(|(_, rest)| rest.split_once(','));
            at.extend(address.and_then(|(address, _)| address.parse::<SocketAddr>().ok()));
            said.push_str(&line);
        }
        child.stderr = Some(reader.into_inner());
        Self { child: Some(child), said, at }
    }

    fn end(mut self) -> Said {
        let child = self.child.take().unwrap(); // it ends once
        kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
        child.wait_with_output().unwrap().into()
    }
}

impl Drop for Relay {
    /// One that a test has left does not outlive it.
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_datagram_takes_the_delay_there_and_back() {
    let (_folder, scenario) = scenario();
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    let far_address = far.local_addr().unwrap().to_string();
    let ground = format!("ground=127.0.0.1:0={far_address}");
    let relay = Relay::start(&[&scenario, "--udp", "ship=127.0.0.1:0", "--udp", &ground, "--json"]);
    let near = UdpSocket::bind("127.0.0.1:0").unwrap();
    for socket in [&near, &far] {
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    }
    let start = Instant::now();
    near.send_to(b"question", relay.at[0]).unwrap();
    let mut room = [0; 100];
    let (length, from) = far.recv_from(&mut room).unwrap();
    assert_eq!((&room[..length], from), (&b"question"[..], relay.at[1]));
    far.send_to(b"answer", from).unwrap();
    let (length, from) = near.recv_from(&mut room).unwrap();
    assert_eq!((&room[..length], from), (&b"answer"[..], relay.at[0]));
    assert!(start.elapsed() >= Duration::from_millis(80), "{:?}", start.elapsed());
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    stranger.send_to(b"not from the peer", relay.at[1]).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let said = relay.end();
    assert_eq!(said.code, Some(0), "{said:?}");
    let counted = said.json();
    let space = &counted["links"]["space"];
    assert_eq!(space["forward"]["delivered_bytes"], 8 + 28, "{counted}");
    assert_eq!(space["reverse"]["delivered_bytes"], 6 + 28, "{counted}");
    assert_eq!(counted["hosts"]["ground"]["strays"], 1, "{counted}");
    assert_eq!(counted["lateness"]["packets"], 2, "{counted}");
}

#[test]
fn an_empty_datagram_crosses_as_any_other() {
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    far.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let far_host = format!("far=127.0.0.1:0={}", far.local_addr().unwrap());
    let relay = Relay::start(&["--rate", "10M", "--udp", "near=127.0.0.1:0", "--udp", &far_host, "--json"]);
    let near = UdpSocket::bind("127.0.0.1:0").unwrap();
    near.send_to(&[], relay.at[0]).unwrap();
    near.send_to(&[1], relay.at[0]).unwrap();
    let mut room = [0; 100];
    assert_eq!([(); 2].map(|()| far.recv_from(&mut room).unwrap().0), [0, 1]);
    let counted = relay.end().json();
    assert_eq!(counted["links"]["link"]["forward"]["delivered_bytes"], 28 + 29, "{counted}");
}

#[test]
fn a_datagram_over_the_mtu_is_dropped_and_counted() {
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    far.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let far_host = format!("far=127.0.0.1:0={}", far.local_addr().unwrap());
    let relay = Relay::start(&[
        "--rate",
        "10M",
        "--mtu",
        "528",
        "--udp",
        "near=127.0.0.1:0",
        "--udp",
        &far_host,
        "--json",
    ]);
    let near = UdpSocket::bind("127.0.0.1:0").unwrap();
    near.send_to(&[1; 501], relay.at[0]).unwrap();
    near.send_to(&[2; 500], relay.at[0]).unwrap();
    let mut room = [0; 1000];
    assert_eq!(far.recv_from(&mut room).unwrap().0, 500, "with 28 bytes of headers it fits");
    let counted = relay.end().json();
    let forward = &counted["links"]["link"]["forward"];
    assert_eq!(
        (&forward["dropped"]["too_large"], &forward["delivered_packets"]),
        (&1.into(), &1.into()),
        "{counted}"
    );
}

/// What a relay says at its end whose bucket of 1500 bytes has no tokens for the third of four datagrams.
fn policed(more: &[&str]) -> Said {
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    far.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let far_host = format!("far=127.0.0.1:0={}", far.local_addr().unwrap());
    let policer = "links.link.forward.policer={ rate = \"1bit/s\", depth = \"1500B\" }";
    let args = ["--rate", "10M", "--set", policer, "--udp", "near=127.0.0.1:0", "--udp", &far_host];
    let relay = Relay::start(&[&args, more].concat());
    let near = UdpSocket::bind("127.0.0.1:0").unwrap();
    for bytes in [700, 700, 701, 1] {
        near.send_to(&[1; 1000][..bytes], relay.at[0]).unwrap();
    }
    let arrived = [(); 3].map(|()| far.recv_from(&mut [0; 1000]).unwrap().0);
    assert_eq!(arrived, [700, 700, 1], "with 28 bytes of headers each");
    relay.end()
}

#[test]
fn what_a_policer_drops_is_told_where_there_is_one() {
    let said = policed(&[]);
    assert!(said.err.contains("1 lost to a policer"), "{said:?}");
    let counted = policed(&["--json"]).json();
    let link = &counted["links"]["link"];
    assert_eq!(link["forward"]["dropped"]["policed"], 1, "{counted}");
    assert_eq!(link["reverse"]["dropped"].get("policed"), None, "{counted}");
}

#[test]
fn a_file_goes_through_a_relay() {
    let folder = tempfile::tempdir().unwrap();
    let data = noise(500_000);
    let path = file(folder.path(), "data", &data);
    let receiver = Receiver::start(&["--once"]);
    let ground = format!("receiver=127.0.0.1:0={}", receiver.address);
    let relay =
        Relay::start(&[&ready("geo-noisy.toml"), "--udp", "sender=127.0.0.1:0", "--udp", &ground, "--json"]);
    let sent = run(&["send", path.to_str().unwrap(), &relay.at[0].to_string(), "--rate", "10M", "--json"]);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let (_, inbox) = receiver.wait();
    assert!(std::fs::read(inbox.path().join("data")).unwrap() == data);
    let said = relay.end();
    let counted = said.json();
    let lost = &counted["links"]["geo-noisy"]["forward"]["dropped"]["bit_error"];
    assert!(lost.as_u64().unwrap() > 0, "{counted}");
}

/// True if a capture says that routers told the rate.
fn says_routers(capture: &std::path::Path) -> bool {
    let wanted = b"by the routers on the path";
    std::fs::read(capture).unwrap().windows(wanted.len()).any(|bytes| bytes == wanted)
}

#[test]
fn a_router_tells_a_sender_its_rate_through_a_relay() {
    let folder = tempfile::tempdir().unwrap();
    let data = noise(1_000_000);
    let path = file(folder.path(), "data", &data);
    let send = |scenario: &str, [near, far]: [&str; 2], capture: &str, rules: &str| {
        let receiver = Receiver::start(&["--once"]);
        let (near, far) = (format!("{near}=127.0.0.1:0"), format!("{far}=127.0.0.1:0={}", receiver.address));
        let relay = Relay::start(&[scenario, "--udp", &near, "--udp", &far, "--json"]);
        let capture = folder.path().join(capture);
        let (path, at, to) = (path.to_str().unwrap(), relay.at[0].to_string(), capture.to_str().unwrap());
        let said = run(&["send", path, &at, "--controller", "p-xcp", "--json", "--capture", to]);
        let fell_back = if rules == "model" { "no-router".into() } else { serde_json::Value::Null };
        let json = said.json();
        assert_eq!((said.code, &json["controller"]), (Some(0), &rules.into()), "{said:?}");
        assert_eq!(json["fell_back"], fell_back);
        let (_, inbox) = receiver.wait();
        assert!(std::fs::read(inbox.path().join("data")).unwrap() == data);
        relay.end();
        capture
    };
    assert!(says_routers(&send(&ready("explicit.toml"), ["hub", "sink"], "with.pcapng", "p-xcp")));
    assert!(!says_routers(&send(&ready("geo.toml"), ["sender", "receiver"], "without.pcapng", "model")));
}

#[test]
fn a_port_in_use_is_refused() {
    let (_folder, scenario) = scenario();
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let ship = format!("ship=127.0.0.1:{port}");
    let said = run(&["emulate", &scenario, "--udp", &ship, "--udp", "ground=127.0.0.1:0"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let wanted =
        format!("skyhaul: the emulation cannot start: another program uses UDP port {port} on 127.0.0.1\n");
    assert_eq!(said.err, wanted);
}

#[test]
fn it_ends_when_its_time_is_over() {
    let (_folder, scenario) = scenario();
    let ship = format!("ship=127.0.0.1:{}", free_port());
    let said =
        run(&["emulate", &scenario, "--udp", &ship, "--udp", "ground=127.0.0.1:0", "--duration", "300ms"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("space forward"), "{said:?}");
}

#[test]
fn damaged_packets_are_delivered_when_asked() {
    let (_folder, scenario) = scenario();
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    far.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let ground = format!("ground=127.0.0.1:0={}", far.local_addr().unwrap());
    let noisy =
        ["--set", "links.space.forward.bit_error_rate=1e-3", "--set", "links.space.forward.damage=deliver"];
    let udp = ["--udp", "ship=127.0.0.1:0", "--udp", &ground, "--json"];
    let relay = Relay::start(&[&[scenario.as_str()], &noisy[..], &udp[..]].concat());
    let near = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (sent, mut damaged) = ([7; 1000], 0);
    for _ in 0..20 {
        near.send_to(&sent, relay.at[0]).unwrap();
        let mut room = [0; 2000];
        let (length, _) = far.recv_from(&mut room).unwrap();
        assert_eq!(length, sent.len());
        damaged += u64::from(room[..length] != sent);
    }
    let counted = relay.end().json();
    let forward = &counted["links"]["space"]["forward"];
    assert!(damaged > 0, "a thousand bytes at 1e-3 are all but sure to be hit");
    assert_eq!(forward["damaged_packets"], damaged, "{counted}");
    assert_eq!(forward["delivered_packets"], 20, "{counted}");
}

/// Who asks for signals of a router is told that a relay carries none.
#[test]
fn a_relay_says_that_its_routers_send_no_signals() {
    let folder = tempfile::tempdir().unwrap();
    let text = SCENARIO
        .replace("[links.space]", "station = { kind = \"router\", signals = {} }\n[links.space]")
        .replace(
            "[transports",
            "[links.lan]\nbetween = [\"ship\", \"station\"]\nforward = {}\nreverse = {}\n[transports",
        );
    let path = file(folder.path(), "signals.toml", text.as_bytes());
    let udp = ["--udp", "ship=127.0.0.1:0", "--udp", "ground=127.0.0.1:0=127.0.0.1:9"];
    let path = path.to_str().unwrap();
    let relay = Relay::start(&[&[path], &udp[..]].concat());
    assert!(relay.said.contains("the router 'station' sends no signals here"), "{}", relay.said);
    assert_eq!(relay.end().code, Some(0));
    let quiet = ["--quiet", "--duration", "1ms"];
    let said = run(&[&["emulate", path], &udp[..], &quiet].concat());
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
}
