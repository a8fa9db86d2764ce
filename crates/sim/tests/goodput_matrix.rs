//! Goodput over round-trip time, loss and buffer, frozen: a change of behaviour shows as a changed
//! number. The numbers come from virtual time and are exact; they are no claim that more could not be
//! reached. Look at what moves, and accept it with `cargo insta accept` only if it is right.
//!
//! 2 Mbit/s forward, 256 kbit/s back, 400 kB, one seed: small, so that the whole takes seconds.

use std::fmt::Write as _;

use skyhaul_core::{MS, NullSink, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit};
mod common;

use common::family::Parameters;
use skyhaul_sim::{Ended, Flows, Simulation, Transfer};
use skyhaul_stp::{Config, ControllerKind};
use skyhaul_tcp::Config as Tcp;

const RATE_BPS: u64 = 2_000_000;
const BYTES: u64 = 400_000;

const RTTS_MS: [u64; 3] = [20, 100, 550];
const LOSSES: [f64; 3] = [0.0, 0.01, 0.1];
/// Of the queue in front of the link, in packets.
const BUFFERS: [u32; 3] = [5, 25, 200];

fn link(rtt_ms: u64, loss: f64, buffer: u32) -> LinkConfig {
    let direction = |rate_bps, loss| DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns: rtt_ms * MS / 2,
        queue: QueueLimit::Packets(buffer),
        loss,
        ..DirectionConfig::default()
    };
    LinkConfig {
        name: "matrix".into(),
        forward: direction(RATE_BPS, loss),
        reverse: direction(RATE_BPS / 8, loss),
        ..LinkConfig::default()
    }
}

/// Payload bits per second, rounded down, and packets sent again.
fn cell(config: &Parameters, link: LinkConfig) -> String {
    let transfer = Transfer { max_ns: 3600 * SECOND, ..Transfer::new(link, 1, BYTES) };
    let mut scenario = transfer.scenario();
    let transport = &mut scenario.flows[0].transport;
    (transport.opener, transport.acceptor) = (config.end(), config.end());
    let mut simulation = Simulation::new(&scenario, transfer.seed).expect("the link is valid");
    let ended = simulation.run(&mut NullSink);
    let mut elapsed = [None; 2];
    let mut repeats = 0;
    for (_, host) in simulation.network().hosts() {
        let Some(app) = host.app.as_any().downcast_ref::<Flows>() else { continue };
        for (_, opens, record, stats) in app.records(&host.engines) {
            assert_eq!((&record.failure, record.wrong_bytes), (&None, 0));
            elapsed[usize::from(!opens)] = if opens { record.started_at } else { record.last_byte_at };
            repeats += if opens { stats.retransmitted_packets } else { 0 };
        }
    }
    match elapsed {
        [Some(from), Some(to)] if ended == Ended::Done => {
            let bits = u128::from(BYTES) * 8 * u128::from(SECOND);
            format!("{:>8} {repeats:>4}", bits / u128::from(to.since(from)))
        }
        _ => format!("{ended:?}"),
    }
}

fn matrix(config: impl Into<Parameters>) -> String {
    let config = config.into();
    let mut text = String::from("goodput in bit/s and packets sent again, by buffer in packets\n");
    let _ = write!(text, "rtt ms   loss");
    for buffer in BUFFERS {
        let _ = write!(text, " {:>15}", format!("{buffer} packets"));
    }
    text.push('\n');
    for rtt_ms in RTTS_MS {
        for loss in LOSSES {
            let _ = write!(text, "{rtt_ms:>6} {loss:>6}");
            for buffer in BUFFERS {
                let _ = write!(text, "   {}", cell(&config, link(rtt_ms, loss, buffer)));
            }
            text.push('\n');
        }
    }
    text
}

#[test]
fn default_profile() {
    insta::assert_snapshot!(matrix(Config::standard()));
}

#[test]
fn default_profile_with_the_rate_declared() {
    insta::assert_snapshot!(matrix(Config { rate_bps: Some(RATE_BPS), ..Config::standard() }));
}

#[test]
fn paper_profile() {
    insta::assert_snapshot!(matrix(Config::paper()));
}

#[test]
fn default_profile_with_cubic() {
    insta::assert_snapshot!(matrix(Config { controller: ControllerKind::Cubic, ..Config::standard() }));
}

#[test]
fn default_profile_with_bbr() {
    insta::assert_snapshot!(matrix(Config { controller: ControllerKind::Bbr, ..Config::standard() }));
}

#[test]
fn tcp() {
    insta::assert_snapshot!(matrix(Tcp::standard()));
}

#[test]
fn tcp_with_bbr() {
    insta::assert_snapshot!(matrix(Tcp { controller: ControllerKind::Bbr, ..Tcp::standard() }));
}

#[test]
fn tcp_of_the_papers() {
    insta::assert_snapshot!(matrix(Tcp::paper()));
}

#[test]
fn tcp_of_sunos() {
    insta::assert_snapshot!(matrix(Tcp::sunos_4_1_3()));
}
