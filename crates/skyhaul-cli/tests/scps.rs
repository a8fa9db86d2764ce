//! `send` and `receive` over SCPS-TP: two hosts on two TUN devices, with this machine's kernel as the router
//! between them, and an emulated satellite link where a test wants one.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "real processes in real time")]
#![allow(missing_docs, clippy::missing_panics_doc, unreachable_pub, dead_code, reason = "a test")]

mod common;
#[path = "../../net/tests/kernel/namespace.rs"]
mod namespace;
#[path = "common/routed.rs"]
mod routed;
#[path = "capture/tshark.rs"]
mod tshark;

use std::path::Path;

use common::{Receiver, Said, file, names, noise, run};
use namespace::ip;
use routed::{RECEIVER, linked, routed};
use serde_json::{Value, json};
use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, Outage, QueueLimit};
use tempfile::TempDir;

const SCPS: &str = "scps-tp";

/// What is sent.
const FILE_BYTES: usize = 3_000_000;

fn receiver(transport: &str, more: &[&str]) -> Receiver {
    let own = ["--json", "--once", "--transport", transport, "--tun", "sky0"];
    Receiver::at(RECEIVER, tempfile::tempdir().unwrap(), &[&own, more].concat())
}

fn send(transport: &str, path: &str, more: &[&str]) -> Said {
    let own = ["--json", "--transport", transport, "--tun", "sky1", "--address", "10.78.0.2"];
    run(&[&["send", path, RECEIVER], &own[..], more].concat())
}

/// A folder with the file to send, and its path.
fn big_file() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "big", &noise(FILE_BYTES)).to_str().unwrap().to_string();
    (folder, path)
}

/// Results of a transfer that succeeds: the sender's and the receiver's.
fn transferred(sends: (&str, &[&str]), receives: (&str, &[&str])) -> [Value; 2] {
    let (_folder, big) = big_file();
    let receiver = receiver(receives.0, receives.1);
    let sent = send(sends.0, &big, sends.1);
    let (received, inbox) = receiver.wait();
    assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    is_there(inbox.path());
    let results = [sent.json(), received.json()];
    assert_eq!(results.each_ref().map(|result| &result["transport"]), [sends.0, receives.0]);
    results
}

fn is_there(inbox: &Path) {
    assert_eq!(names(inbox), ["big"]);
    assert!(std::fs::read(inbox.join("big")).unwrap() == noise(FILE_BYTES));
}

fn agreed(compressed: bool) -> Value {
    json!({ "agreed": true, "snack": "vector", "compressed_headers": compressed })
}

#[test]
fn both_ends_say_what_they_agreed_on() {
    routed(|| {
        let [sent, received] = transferred((SCPS, &[]), (SCPS, &[]));
        assert_eq!([&sent["scps_tp"], &received["scps_tp"]], [&agreed(false); 2]);
        assert_eq!((&sent["controller"], &sent["declared_rate_bps"]), (&"vegas".into(), &Value::Null));
        let both = ["--compressed-headers"];
        let [sent, received] = transferred((SCPS, &both), (SCPS, &both));
        assert_eq!([&sent["scps_tp"], &received["scps_tp"]], [&agreed(true); 2]);
        let [sent, _] = transferred((SCPS, &both), (SCPS, &[]));
        assert_eq!(sent["scps_tp"], agreed(false), "one end alone wants them");
    });
}

#[test]
fn with_tcp_at_the_other_end_plain_tcp_carries_the_files_and_that_is_said() {
    routed(|| {
        let plain = json!({ "agreed": false, "snack": "off", "compressed_headers": false });
        let [sent, received] = transferred((SCPS, &["--compressed-headers"]), ("tcp", &[]));
        assert_eq!((&sent["scps_tp"], &received["scps_tp"]), (&plain, &Value::Null));
        assert_eq!(sent["controller"], "cubic");
        let [sent, received] = transferred(("tcp", &[]), (SCPS, &["--compressed-headers"]));
        assert_eq!((&sent["scps_tp"], &received["scps_tp"]), (&Value::Null, &plain));
        let (_folder, big) = big_file();
        let receiver = receiver("tcp", &[]);
        let own = ["--transport", SCPS, "--tun", "sky1", "--address", "10.78.0.2"];
        let told = run(&[&["send", &big, RECEIVER], &own[..]].concat());
        receiver.wait();
        let line = "scps-tp           not spoken at the other end: plain TCP carried the files";
        assert!(told.out.contains(line), "{told:?}");
    });
}

/// What answers an address that the kernel leads elsewhere, or nowhere, never comes: both commands say so,
/// and not that nobody answers. What they advise works.
#[test]
fn an_address_to_which_the_kernel_does_not_lead_by_the_device_is_refused_with_what_to_do() {
    routed(|| {
        let (folder, big) = big_file();
        let sends = |transport: &str, address: &str| {
            let own = ["--transport", transport, "--tun", "sky1", "--address", address];
            run(&[&["send", &big, RECEIVER], &own[..]].concat())
        };
        for (transport, address, instead) in [
            (SCPS, "10.79.0.2", "has no route to it"),
            ("tcp", "10.79.0.2", "has no route to it"),
            (SCPS, "10.77.0.9", "sends packets for it by 'sky0'"),
            (SCPS, "fd99::2", "has no route to it"),
        ] {
            let said = sends(transport, address);
            let told = format!(
                "cannot use TCP with {address} on 'sky1': nothing that is sent to {address} comes to 'sky1', as this \
                 machine's kernel {instead}; choose an address of the device's network that nobody has (ip address \
                 show dev sky1 says which that is), or lead this one there by: sudo ip route add {address} dev sky1"
            );
            assert!(said.code == Some(1) && said.err.contains(&told), "{said:?}");
        }
        let inbox = folder.path().to_str().unwrap();
        let own = ["--transport", SCPS, "--tun", "sky0", "--listen", "10.79.0.3:4700"];
        let said = run(&[&["receive", "--dir", inbox], &own[..]].concat());
        let told = "nothing that is sent to 10.79.0.3 comes to 'sky0'";
        assert!(said.code == Some(1) && said.err.contains(told), "{said:?}");
        ip("route add 10.79.0.2 dev sky1");
        let receiver = receiver(SCPS, &[]);
        let said = sends(SCPS, "10.79.0.2");
        let (received, inbox) = receiver.wait();
        assert_eq!((said.code, received.code), (Some(0), Some(0)), "{said:?} {received:?}");
        is_there(inbox.path());
    });
}

/// At 89 octets the handshake came about and the connection was reset; at the receiver alone all hung. Over
/// IPv6 the kernel has no route by a small device, and the advice was about that.
#[test]
fn a_device_that_takes_less_than_the_least_packet_is_refused_with_what_to_do() {
    routed(|| {
        let (folder, big) = big_file();
        let inbox = folder.path().to_str().unwrap();
        let waits = |transport: &str, address: &str| {
            let own = ["--transport", transport, "--tun", "sky0", "--listen", address];
            run(&[&["receive", "--dir", inbox, "--once"], &own[..]].concat())
        };
        let refused = |said: &Said, device: &str, takes: u32, family: &str, least: u32| {
            let told = format!(
                "'{device}' takes packets of {takes} bytes at most, and the smallest over {family} have {least}; let it \
                 take them by: sudo ip link set {device} mtu {least}"
            );
            assert!(said.code == Some(1) && said.err.contains(&told), "{said:?}");
        };
        ip("link set sky0 mtu 89");
        ip("link set sky1 mtu 89");
        refused(&send(SCPS, &big, &[]), "sky1", 89, "IPv4", 90);
        refused(&waits(SCPS, RECEIVER), "sky0", 89, "IPv4", 90);
        ip("link set sky0 mtu 295");
        refused(&waits("tcp", RECEIVER), "sky0", 295, "IPv4", 296);
        ip("link set sky0 mtu 1000");
        refused(&waits(SCPS, "[fd77::2]:4700"), "sky0", 1000, "IPv6", 1280);
        ip("link set sky0 mtu 90");
        ip("link set sky1 mtu 90");
        let folder = tempfile::tempdir().unwrap();
        let small = file(folder.path(), "big", &noise(20_000)).to_str().unwrap().to_string();
        let receiver = receiver(SCPS, &[]);
        let sent = send(SCPS, &small, &[]);
        let (received, _) = receiver.wait();
        assert_eq!((sent.code, received.code), (Some(0), Some(0)), "{sent:?} {received:?}");
    });
}

const DISSECTOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/wireshark/scps-tp.lua");

#[test]
fn captures_of_compressed_headers_are_read_without_a_fault() {
    routed(|| {
        let folder = tempfile::tempdir().unwrap();
        let captures = ["send", "receive"].map(|name| folder.path().join(name).to_str().unwrap().to_string());
        let switches = captures.each_ref().map(|path| ["--compressed-headers", "--capture", path.as_str()]);
        transferred((SCPS, &switches[0]), (SCPS, &switches[1]));
        if tshark::is_missing() {
            return;
        }
        for path in &captures {
            let read = |filter: &str| {
                tshark::tshark_by(
                    DISSECTOR,
                    Path::new(path),
                    &["-Y", filter, "-T", "fields", "-e", "scpstp.len"],
                )
            };
            assert_eq!(
                read("scpstp.malformed || scpstp.damaged || !(scpstp.checksum.protocol == 6) && scpstp"),
                ""
            );
            let octets: usize =
                read("scpstp.len > 0").lines().map(|line| line.parse::<usize>().unwrap()).sum();
            assert!(octets > FILE_BYTES, "{octets}");
            assert!(read("scpstp.len == 0 && scpstp.flags.ack == 1").lines().count() > 3);
        }
    });
}

/// A link of 10 Mbit/s and 60 ms, one packet in a hundred damaged.
fn noisy() -> LinkConfig {
    let reverse = DirectionConfig {
        rate_bps: Some(10_000_000),
        delay_ns: 30 * MS,
        queue: QueueLimit::Packets(100),
        ..DirectionConfig::default()
    };
    let forward = DirectionConfig { bit_error_rate: 8.4e-7, ..reverse.clone() };
    LinkConfig { name: "noisy".into(), forward, reverse, ..LinkConfig::default() }
}

const DECLARED: [&str; 4] = ["--rate", "9.5M", "--loss-cause", "corruption"];

/// The rate is a bound that nothing exceeds, and losses cost their repeats alone. The least is far below what
/// an idle machine has: this one may be busy.
#[test]
fn a_declared_rate_is_kept_over_losses_in_either_form_of_headers() {
    for compressed in [false, true] {
        linked(noisy(), move |link| {
            let more: &[&str] = if compressed { &["--compressed-headers"] } else { &[] };
            let sends = [&DECLARED[..], &["--acks-per-rtt", "4"], more].concat();
            let receives = [&["--acks-per-rtt", "4", "--rate", "10M"], more].concat();
            let [sent, received] = transferred((SCPS, &sends), (SCPS, &receives));
            assert_eq!([&sent["scps_tp"], &received["scps_tp"]], [&agreed(compressed); 2]);
            assert_eq!(
                (&sent["controller"], &sent["declared_rate_bps"]),
                (&"none".into(), &9_500_000.into())
            );
            let counters = link.stop().forward.counters;
            let lost = counters.dropped.bit_error;
            assert!(lost > 5 && counters.dropped.queue_full == 0, "{counters:?}");
            let goodput = received["goodput_bps"].as_f64().unwrap();
            assert!((3e6..9.5e6).contains(&goodput), "{received}");
            let repeated = sent["retransmitted_packets"].as_u64().unwrap();
            assert!(repeated + 5 >= lost, "{lost} lost: {sent}");
            let [congestion, corruption] =
                ["congestion", "corruption"].map(|cause| sent["losses"][cause].as_u64().unwrap());
            assert!(corruption > 0 && congestion == 0, "{sent}");
        });
    }
}

/// What a route says counts for peers that it leads to, in place of what is said for all.
#[test]
fn a_route_to_the_receiver_has_its_rate_and_its_cause_of_losses() {
    linked(noisy(), |link| {
        let leads = "10.77.0.0/24,rate=6M,loss-cause=corruption";
        let elsewhere = "10.99.0.0/16,rate=1k";
        let sends = ["--rate", "100k", "--route", leads, "--route", elsewhere];
        let [sent, received] = transferred((SCPS, &sends), (SCPS, &["--route", "10.78.0.2,rate=1M"]));
        assert_eq!((&sent["controller"], &sent["declared_rate_bps"]), (&"none".into(), &6_000_000.into()));
        let goodput = received["goodput_bps"].as_f64().unwrap();
        assert!((1.5e6..6e6).contains(&goodput), "{received}");
        let [congestion, corruption] =
            ["congestion", "corruption"].map(|cause| sent["losses"][cause].as_u64().unwrap());
        assert!(corruption > 0 && congestion == 0, "{sent}");
        drop(link);
    });
    routed(|| {
        let leads = ["--route", "10.77.0.2,rate=20M", "--controller", "vegas"];
        let [sent, _] = transferred((SCPS, &leads), (SCPS, &[]));
        assert_eq!((&sent["controller"], &sent["declared_rate_bps"]), (&"vegas".into(), &20_000_000.into()));
        let elsewhere = ["--route", "10.99.0.0/16,rate=1k"];
        let [sent, _] = transferred((SCPS, &elsewhere), (SCPS, &[]));
        assert_eq!((&sent["controller"], &sent["declared_rate_bps"]), (&"vegas".into(), &Value::Null));
    });
}

/// So many acknowledgements a round trip, and no more: as many as are asked for at the receiver.
#[test]
fn acknowledgements_are_as_rare_as_the_receiver_is_told() {
    let count = |acks: &'static str| {
        let (tell, told) = std::sync::mpsc::channel();
        linked(LinkConfig { forward: noisy().reverse, ..noisy() }, move |link| {
            let both = ["--acks-per-rtt", acks];
            transferred((SCPS, &[&DECLARED[..], &both].concat()), (SCPS, &both));
            tell.send(link.stop().reverse.counters.delivered_packets).unwrap();
        });
        told.recv().ok()
    };
    let (Some(rare), Some(often)) = (count("1"), count("8")) else { return };
    assert!(3 * rare < often, "{rare} packets back, and {often}");
}

/// Fifteen timeouts without backing off take less.
#[test]
fn a_transfer_over_an_outage_goes_on_when_it_is_over() {
    let outages = vec![Outage { from: Instant::from_ns(SECOND), to: Instant::from_ns(9 * SECOND) }];
    linked(LinkConfig { outages, ..noisy() }, |link| {
        transferred((SCPS, &DECLARED), (SCPS, &[]));
        let dropped = link.stop().forward.counters.dropped;
        assert!(dropped.outage > 0, "{dropped:?}");
    });
}

/// Full packets vanish without a word: smaller ones carry the file, and the largest that arrive are found
/// out.
#[test]
fn a_path_that_takes_smaller_packets_and_tells_nobody_is_crossed_and_searched() {
    let forward = DirectionConfig { mtu_bytes: Some(1300), ..noisy().reverse };
    linked(LinkConfig { forward, ..noisy() }, |link| {
        let [sent, _] = transferred((SCPS, &DECLARED), (SCPS, &[]));
        let found_bytes = sent["path_mtu"].as_u64();
        assert!(found_bytes.is_some_and(|bytes| (1280..=1300).contains(&bytes)), "{sent}");
        let dropped = link.stop().forward.counters.dropped;
        assert!(dropped.too_large > 0, "{dropped:?}");
    });
}

#[test]
fn switches_that_make_no_sense_together_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let one = file(folder.path(), "one", b"content");
    let one = one.to_str().unwrap();
    let usage = |arguments: &[&str], expected: &str| {
        let said = run(arguments);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains(expected), "{arguments:?}: {said:?}");
    };
    let device = ["--tun", "sky1", "--address", "10.78.0.2"];
    for (switch, value) in [
        ("--loss-cause", Some("corruption")),
        ("--acks-per-rtt", Some("4")),
        ("--compressed-headers", None),
        ("--route", Some("10.0.0.0/8,rate=1M")),
        ("--signal-numbers", Some("link-outage=3/77")),
    ] {
        let expected = format!("{switch} is for --transport scps-tp: add that");
        let switch: Vec<&str> = [switch].into_iter().chain(value).collect();
        usage(&[&["send", one, RECEIVER], &switch[..]].concat(), &expected);
        usage(
            &[&["send", one, RECEIVER, "--transport", "tcp"], &device[..], &switch[..]].concat(),
            &expected,
        );
        usage(&[&["receive", "--dir", "."], &switch[..]].concat(), &expected);
    }
    usage(&["receive", "--dir", ".", "--rate", "1M"], "--rate of `receive` is for --transport scps-tp");
    let scps = |more: &[&str], expected: &str| {
        usage(&[&["send", one, RECEIVER, "--transport", SCPS], &device[..], more].concat(), expected);
    };
    scps(
        &["--controller", "cubic"],
        "--controller cubic is not for --transport scps-tp: that has vegas, and with --rate alone none",
    );
    scps(&["--controller", "model"], "--controller model is STP's: TCP over a device has");
    scps(&["--fast-open"], "--fast-open is for --transport tcp");
    scps(&["--give-up", "1s"], "--give-up is for --transport stp");
    scps(&["--probing", "off"], "--probing is for --transport stp");
    scps(&["--profile", "paper"], "--profile paper is for --transport stp and tcp");
    for acks in ["0", "9", "1000", "many"] {
        scps(
            &["--acks-per-rtt", acks],
            "a round trip has 1 to 8 acknowledgements with SCPS-TP; --transport tcp",
        );
    }
    scps(
        &["--route", "10.0.0.1/8,rate=1M"],
        "invalid value '10.0.0.1/8,rate=1M' for '--route <PREFIX,KEY=VALUE,...>': '10.0.0.1/8' is no prefix of \
         addresses: 10.0.0.1 has bits behind the first 8; write 10.0.0.0/8",
    );
    let twice = ["--route", "10.0.0.0/8,rate=1M", "--route", "10.0.0.0/8,rate=2M"];
    scps(&twice, "--route: 10.0.0.0/8 is there twice");
    scps(
        &["--signal-numbers", "link-outage=8/0"],
        "link-outage would have a number that means something else",
    );
    scps(&["--loss-cause", "weather"], "congestion, corruption");
    usage(&["send", one, RECEIVER, "--transport", SCPS], "--transport scps-tp needs --tun NAME");
    usage(
        &["send", one, RECEIVER, "--transport", SCPS, "--tun", "sky1"],
        "--transport scps-tp needs --address ADDRESS",
    );
    usage(
        &["receive", "--dir", ".", "--transport", SCPS, "--tun", "sky0"],
        "--transport scps-tp needs --listen ADDRESS:PORT with an address of its own",
    );
}

/// The advice names the transport that the other end needs.
#[test]
fn where_nobody_receives_the_sender_says_what_to_do() {
    routed(|| {
        let (_folder, big) = big_file();
        let elsewhere = Receiver::at(
            "10.77.0.2:4701",
            tempfile::tempdir().unwrap(),
            &["--transport", SCPS, "--tun", "sky0"],
        );
        let sent = send(SCPS, &big, &[]);
        let advice =
            "start `skyhaul receive --transport scps-tp --tun NAME --dir DIR --listen 10.77.0.2:4700`";
        assert!(sent.code == Some(1) && sent.err.contains(advice), "{sent:?}");
        assert!(sent.err.starts_with("WARNING: --transport scps-tp: NOT protected"), "{sent:?}");
        drop(elsewhere);
    });
}
