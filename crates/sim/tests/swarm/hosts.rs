//! The hosts of a run.

use crate::common::family::{Family, Parameters};
use skyhaul_core::{Engine, Instant, NullSink, Stream};
use skyhaul_scenario::{Carrier, HostEngine};
use skyhaul_sim::{Engines, Host, STP, TcpEngine};

use super::air::envelope_bytes;
use super::shape::{Opening, Shape};
use super::talker::{PORT, Talker};
use super::world::{address, way};
use crate::common::dice::Dice;

/// Time in which TCP's initial numbers go round once, and its tick [RFC 9293 3.4.1].
const NUMBERS_TICK_NS: u64 = 4_000;

/// A stream whose first connection begins a little before packet numbers wrap, if wanted. The draws
/// before the initial number are port, instance and nonce for an opener, none for an acceptor.
fn entropy(shape: &Shape, host: usize) -> Stream {
    let end = &shape.ends[host];
    let skip = if end.opens.is_empty() { 0 } else { 3 };
    let name = |salt: u64| format!("swarm/host {host}/{salt}");
    let fits = |salt: &u64| {
        let mut stream = Stream::new(shape.seed, &name(*salt));
        let draw = (0..=skip).map(|_| stream.next_u64()).last();
        draw.is_some_and(|draw| draw & 0xFF_FFFF > 0xFF_FF00)
    };
    let is_sought = end.near_wrap && shape.protocol == Family::Stp;
    let salt = if is_sought { (0..1 << 20).find(fits).unwrap_or(0) } else { 0 };
    Stream::new(shape.seed, &name(salt))
}

fn stp(shape: &Shape, index: usize, accept: &skyhaul_stp::Config) -> skyhaul_stp::Endpoint {
    let config = skyhaul_stp::EndpointConfig {
        accept: accept.clone(),
        mtu_bytes: shape.mtu_bytes,
        head_bytes: envelope_bytes(Family::Stp) as u32,
        // Room for all that a third party opens: who gets in beside more is the matter of other tests.
        max_unproven: 512,
        ..skyhaul_stp::EndpointConfig::default()
    };
    skyhaul_stp::Endpoint::new(config, entropy(shape, index))
}

fn tcp(shape: &Shape, index: usize) -> skyhaul_tcp::Endpoint {
    let mut config =
        skyhaul_tcp::EndpointConfig { mtu_bytes: shape.mtu_bytes, ..skyhaul_tcp::EndpointConfig::default() };
    if let Parameters::Tcp(accept) = &shape.ends[index].config {
        config.accept = (**accept).clone();
    }
    skyhaul_tcp::Endpoint::new(config, entropy(shape, index))
}

/// TCP's initial numbers rise with the clock: how much later an opening by this host must be for its number
/// to lie `before` bytes before the wrap.
pub(crate) fn until_wrap_ns(shape: &Shape, index: usize, opening: Opening, before: u32) -> u64 {
    let Parameters::Tcp(config) = &shape.ends[index].config else { return 0 };
    let (mut engine, mut buffer) = (tcp(shape, index), Vec::new());
    let port = opening.meets.then_some(PORT);
    let opened = engine.connect(opening.at, way(index), PORT, port, (**config).clone());
    let sent = engine.poll_transmit(opening.at, &mut buffer, 1, &mut NullSink);
    let number = buffer.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    assert!(opened.is_ok() && sent.is_some(), "the first opening sends its SYN");
    number.map_or(0, |number| u64::from(0u32.wrapping_sub(before).wrapping_sub(number)) * NUMBERS_TICK_NS)
}

/// A host of the run.
pub(crate) fn host(shape: &Shape, index: usize) -> Host {
    let dice = Dice::new(shape.seed, &format!("swarm/talker {index}"));
    let finish_from = if shape.finish_late { shape.heal_at } else { Instant::ZERO };
    let ends = [index, 1 - index].map(address);
    let talker = Talker::new(shape.ends[index].clone(), ends, dice, finish_from, shape.heal_at);
    let engine: Box<dyn HostEngine> = match &shape.ends[index].config {
        Parameters::Stp(accept) => Box::new(STP.host(stp(shape, index, accept))),
        Parameters::Tcp(_) => Box::new(TcpEngine::new(address(index).ip(), tcp(shape, index))),
    };
    let engines = Engines::new(index as u32, Carrier::Udp).with(shape.protocol.protocol(), engine);
    Host::new(engines, address(index), Box::new(talker))
}
