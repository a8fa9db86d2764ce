//! Links in real time between descriptors, without any privilege.
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]
#![allow(clippy::disallowed_methods, reason = "real time")]
#![allow(missing_docs, unreachable_pub, dead_code, reason = "a test")]

mod common;

use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use common::{LONG, SHORT, receive, send};
use skyhaul_emulator::Emulation;
use skyhaul_emulator::control::{Change, apply};

/// The emulation of one link, and the descriptors that the hosts have.
fn start(link: &str) -> (Emulation, OwnedFd, OwnedFd) {
    common::started(&format!(
        "[run]\nduration = \"1h\"\n[nodes]\na = {{ kind = \"host\" }}\nb = {{ kind = \"host\" }}\n\
         [links.l]\nbetween = [\"a\", \"b\"]\nforward = {{ {link} }}\nreverse = {{ delay = \"5ms\" }}\n\
         [transports.t]\nprotocol = \"tcp\"\n\
         [flows.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\nworkload = {{ kind = \"bulk\" }}\n"
    ))
}

/// An IPv4 packet of 100 bytes; ECN: Not-ECT.
fn packet(to: Ipv4Addr) -> Vec<u8> {
    let mut bytes = vec![0x45, 0, 0, 100, 0, 0, 0, 0, 64, 17, 0, 0, 10, 77, 0, 1];
    bytes.extend(to.octets());
    bytes.resize(100, 7);
    bytes
}

fn packet_v6(to: Ipv6Addr) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0, 0, 60, 17, 64];
    bytes.extend([0; 16]);
    bytes.extend(to.octets());
    bytes.resize(100, 7);
    bytes
}

#[test]
fn packets_arrive_unchanged_and_not_before_their_time() {
    let (emulation, a, b) = start("rate = \"1Mbit/s\", delay = \"30ms\"");
    let begin = Instant::now();
    let sent = packet(Ipv4Addr::new(10, 77, 0, 2));
    send(&a, &sent);
    assert_eq!(receive(&b, LONG), Some(sent));
    assert!(begin.elapsed() >= Duration::from_micros(30_800), "30 ms and 800 bits at 1 Mbit/s");
    let sent = packet_v6("fd77::1".parse().unwrap());
    send(&b, &sent);
    assert_eq!(receive(&a, LONG), Some(sent));
    let report = emulation.stop();
    assert_eq!(report.links[0].directions.map(|counters| counters.delivered_packets), [1, 1]);
    assert_eq!((report.lateness.packets, report.unroutable_packets), (2, 0));
    assert!(report.processor_ns > 0, "a thread that has carried two packets took some time");
    assert!(report.processor_share() < 1.0, "{report:?}");
}

#[test]
fn what_is_for_nobody_goes_to_the_gateway_and_what_is_for_all_nowhere() {
    let (emulation, a, b) = start("delay = \"1ms\"");
    send(&a, &packet(Ipv4Addr::new(192, 0, 2, 1)));
    assert!(receive(&b, LONG).is_some(), "the default route leads to the other end");
    for stray in [
        packet(Ipv4Addr::new(224, 0, 0, 1)),
        packet(Ipv4Addr::new(10, 77, 0, 1)),
        packet_v6("ff02::2".parse().unwrap()),
        vec![0; 30],
        vec![0x45; 10],
    ] {
        send(&a, &stray);
    }
    assert_eq!(receive(&b, SHORT), None);
    let report = emulation.stop();
    assert_eq!(report.hosts[0].gate.strays, 5, "{report:?}");
}

#[test]
fn changes_hold_at_once_and_all_or_none() {
    let (emulation, a, b) = start("delay = \"1ms\"");
    let change = |text: &str| Change::parse(text).unwrap();
    let unknown = change("mars.loss=1");
    let error = apply(&emulation, &[change("l.loss=1"), unknown]).unwrap_err();
    assert!(error.contains("no link 'mars'"), "{error}");
    send(&a, &packet(Ipv4Addr::new(10, 77, 0, 2)));
    assert!(receive(&b, LONG).is_some(), "the first change was not made either");
    apply(&emulation, &[change("l.forward.loss=1")]).unwrap();
    send(&a, &packet(Ipv4Addr::new(10, 77, 0, 2)));
    assert_eq!(receive(&b, SHORT), None);
    assert_eq!(emulation.report().links[0].directions[0].dropped.random_loss, 1);
}

#[test]
fn a_delay_that_is_cut_wakes_who_sleeps_until_then() {
    let (emulation, a, b) = start("rate = \"800bit/s\"");
    let begin = Instant::now();
    send(&a, &packet(Ipv4Addr::new(10, 77, 0, 2))); // a second
    send(&a, &packet(Ipv4Addr::new(10, 77, 0, 2)));
    apply(&emulation, &[Change::parse("l.forward.rate=unlimited").unwrap()]).unwrap();
    assert!(receive(&b, LONG).is_some());
    assert!(receive(&b, LONG).is_some());
    assert!(begin.elapsed() < Duration::from_millis(900), "{:?}", begin.elapsed());
}

/// An IPv4 packet of so many bytes from the first host to the second.
fn sized(bytes: u16, may_fragment: bool) -> Vec<u8> {
    let mut packet = packet(Ipv4Addr::new(10, 77, 0, 2));
    packet.resize(bytes.into(), 7);
    packet[2..4].copy_from_slice(&bytes.to_be_bytes());
    packet[6] = if may_fragment { 0 } else { 0x40 };
    packet
}

#[test]
fn the_sender_of_a_packet_that_is_too_large_is_told_the_size_that_fits() {
    let (emulation, a, b) = start("mtu = \"1300B\", delay = \"1ms\"");
    send(&a, &sized(1301, false));
    let told = receive(&a, LONG).expect("an answer");
    assert_eq!((told[9], &told[12..16], &told[16..20]), (1, &[10, 77, 0, 2][..], &[10, 77, 0, 1][..]));
    assert_eq!((&told[20..22], &told[26..28]), (&[3, 4][..], &1300u16.to_be_bytes()[..]));
    assert_eq!(&told[28..], &sized(1301, false)[..548]);
    send(&a, &sized(1300, false));
    assert_eq!(receive(&b, LONG), Some(sized(1300, false)));
    let mut large = packet_v6("fd77::2".parse().unwrap());
    large.resize(1400, 7);
    large[4..6].copy_from_slice(&1360u16.to_be_bytes());
    large[8..24].copy_from_slice(&"fd77::1".parse::<Ipv6Addr>().unwrap().octets());
    send(&a, &large);
    let told = receive(&a, LONG).expect("an answer");
    assert_eq!((told[6], &told[40..42], &told[44..48]), (58, &[2, 0][..], &1300u32.to_be_bytes()[..]));
    apply(&emulation, &[Change::parse("l.mtu=1500").unwrap()]).unwrap();
    send(&a, &large);
    assert_eq!(receive(&b, LONG), Some(large));
    let dropped = emulation.stop().links[0].directions[0].dropped;
    assert_eq!((dropped.too_large, dropped.total()), (2, 2));
}

#[test]
fn without_icmp_a_packet_that_is_too_large_vanishes() {
    let (emulation, a, b) = start("mtu = \"1300B\", delay = \"1ms\"");
    emulation.set_icmp(false);
    send(&a, &sized(1301, false));
    assert_eq!((receive(&a, SHORT), receive(&b, SHORT)), (None, None));
    assert_eq!(emulation.stop().links[0].directions[0].dropped.too_large, 1);
}

#[test]
fn a_packet_that_may_be_fragmented_costs_its_fragments_and_arrives() {
    let (emulation, a, b) = start("mtu = \"600B\", rate = \"1Mbit/s\"");
    let begin = Instant::now();
    send(&a, &sized(1500, true));
    assert_eq!(receive(&b, LONG), Some(sized(1500, true)));
    assert!(begin.elapsed() >= Duration::from_micros(12_320), "1540 bytes at 1 Mbit/s");
    let counters = emulation.stop().links[0].directions[0];
    assert_eq!((counters.fragmented_packets, counters.served_bytes, counters.dropped.total()), (1, 1540, 0));
}

#[test]
fn a_host_that_goes_does_not_disturb_the_others() {
    let (emulation, a, b) = start("delay = \"1ms\"");
    drop(b);
    send(&a, &packet(Ipv4Addr::new(10, 77, 0, 2)));
    std::thread::sleep(SHORT);
    let report = emulation.stop();
    assert_eq!(report.hosts[1].gate.send_failures, 1, "{report:?}");
}
