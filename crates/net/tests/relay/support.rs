//! Parts that the tests share.

use std::future::Future;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use skyhaul_core::MS;
use skyhaul_core::envelope::Mode;
use skyhaul_link::{DirectionConfig, LinkConfig};
use skyhaul_net::association::{Associations, Identity, PeerSettings, PublicKey, Secret, Token};
use skyhaul_net::machine_config;
use skyhaul_petra::stpp;

pub(crate) use crate::streams::{receive, send};

/// Port of the far end.
pub(crate) const PORT: u16 = 7;
/// Delay of the satellite link, each way.
const DELAY_NS: u64 = 30 * MS;

/// Fails the test if it takes longer.
pub(crate) async fn within<T>(seconds: u64, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(seconds), work).await.expect("it takes too long")
}

pub(crate) fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// Two ends that keep packets apart.
pub(crate) fn wire() -> (OwnedFd, OwnedFd) {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap()
}

/// Satellite link: 8 Mbit/s each way, 60 ms there and back, and packets that are lost.
pub(crate) fn satellite(loss: f64) -> LinkConfig {
    let direction =
        DirectionConfig { rate_bps: Some(8_000_000), delay_ns: DELAY_NS, loss, ..DirectionConfig::default() };
    LinkConfig {
        name: "satellite".into(),
        forward: direction.clone(),
        reverse: direction,
        ..LinkConfig::default()
    }
}

/// Parameters of the hop over that link.
pub(crate) fn hop() -> stpp::Config {
    stpp::Config {
        payload_bytes: 1200,
        rate_bps: Some(7_600_000),
        rtt_ns: 2 * DELAY_NS,
        ..stpp::Config::standard()
    }
}

/// Ends of a pair, by their numbers.
pub(crate) const NEAR: u8 = 1;
pub(crate) const FAR: u8 = 2;

pub(crate) fn key(end: u8) -> PublicKey {
    identity(end).public()
}

fn identity(end: u8) -> Identity {
    Identity::new(Secret::new([end; 32]))
}

/// Associations of an end that is paired with another.
pub(crate) fn associations(end: u8, other: u8) -> Associations {
    let seed = skyhaul_store::random_secret().unwrap();
    let mut associations = Associations::new(machine_config(), identity(end), seed);
    let (key, psk) = (key(other), Secret::new([0x33; 32]));
    let settings = PeerSettings { key, psk, mode: Mode::Encrypted, token: Token::NONE, reserved: 0 };
    associations.add_peer(settings).unwrap();
    associations
}

/// Octets that differ from place to place.
pub(crate) fn pattern(bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    skyhaul_core::Stream::new(bytes as u64, "tests/relay").fill(&mut data);
    data
}
