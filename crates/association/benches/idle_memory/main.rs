//! Memory that idle associations cost, as the allocator sees it, beside what their peers cost anyway:
//!
//! `cargo bench -p skyhaul-association --bench idle_memory [-- ASSOCIATIONS]` (1000 unless told).
//!
//! As many peers as associations are known to one end. Each opens one, segments go both ways, and virtual
//! time runs on until nothing is left of the handshakes.
#![allow(missing_docs, reason = "a program")]

#[path = "../../../stp/benches/idle_memory/heap.rs"]
#[allow(dead_code, reason = "what the operating system says is not asked for here")]
mod heap;

use std::net::SocketAddr;

use skyhaul_association::{
    Associations, Config, HEAD_BYTES, Identity, OVERHEAD_BYTES, Offer, PeerSettings, Sealed, Secret, Token,
};
use skyhaul_core::envelope::Mode;
use skyhaul_core::{Instant, SECOND};

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

/// Secret of machine `number`.
fn secret(number: usize) -> Secret {
    let mut octets = [7; 32];
    octets[..8].copy_from_slice(&(number as u64 + 1).to_be_bytes());
    Secret::new(octets)
}

fn settings(of: usize) -> PeerSettings {
    let key = Identity::new(secret(of)).public();
    PeerSettings { key, psk: Secret::new([3; 32]), mode: Mode::Encrypted, token: Token::NONE, reserved: 0 }
}

fn end(number: usize, aes: bool) -> Associations {
    let config = Config { offer: Offer { aes }, ..Config::default() };
    Associations::new(config, Identity::new(secret(number)), secret(number))
}

/// Record of a segment of 100 octets, unless it rides in a message.
fn sealed(end: &mut Associations, now: Instant, id: skyhaul_association::AssociationId) -> Option<Vec<u8>> {
    let mut datagram = vec![9; OVERHEAD_BYTES + 100];
    datagram[..HEAD_BYTES].fill(0);
    let is_sealed = matches!(end.seal(now, id, &mut datagram), Ok(Sealed::InPlace(_)));
    is_sealed.then_some(datagram)
}

/// Everything that two ends have to say to each other.
fn talk(now: Instant, one: (&mut Associations, SocketAddr), two: (&mut Associations, SocketAddr)) {
    let ((one, at_one), (two, at_two)) = (one, two);
    loop {
        let mut is_silent = true;
        while let Some(mut outgoing) = one.poll_transmit() {
            two.handle(now, at_one, &mut outgoing.datagram);
            is_silent = false;
        }
        while let Some(mut outgoing) = two.poll_transmit() {
            one.handle(now, at_two, &mut outgoing.datagram);
            is_silent = false;
        }
        if is_silent {
            break;
        }
    }
    for end in [one, two] {
        while end.poll_event().is_some() {}
        while end.poll_released().is_some() {}
    }
}

fn measure(associations: usize, aes: bool) {
    let mut hub = end(associations, aes);
    let there = SocketAddr::from(([192, 0, 2, 1], 4700));
    let before_peers = heap::live_bytes();
    for peer in 0..associations {
        hub.add_peer(settings(peer)).expect("there is room");
    }
    while hub.poll_event().is_some() {}
    let peers_bytes = heap::live_bytes() - before_peers;
    let (mut now, begun) = (Instant::from_ns(SECOND), heap::live_bytes());
    for peer in 0..associations {
        now = now.after(SECOND / 100);
        let mut other = end(peer, aes);
        let here = SocketAddr::from(([10, 0, (peer >> 8) as u8, peer as u8], 4700));
        let id = other.add_peer(settings(associations)).expect("there is room");
        let id = other.open(now, id, there).expect("there is room");
        sealed(&mut other, now, id);
        talk(now, (&mut other, here), (&mut hub, there));
        let mut record = sealed(&mut other, now, id).expect("there are keys");
        let back = hub.handle(now, here, &mut record).expect("a segment").association;
        sealed(&mut hub, now, back).expect("there are keys");
        hub.handle_timeout(now);
    }
    now = now.after(300 * SECOND);
    hub.handle_timeout(now);
    while hub.poll_transmit().is_some() {}
    while hub.poll_event().is_some() {}
    assert_eq!(hub.len(), associations);
    let each = |bytes: i64| bytes as f64 / associations as f64 / 1024.0;
    println!(
        "{:<18} an idle association {:.2} KiB; a peer {:.2} KiB",
        if aes { "AES-128-GCM" } else { "ChaCha20-Poly1305" },
        each(heap::live_bytes() - begun),
        each(peers_bytes),
    );
}

fn main() {
    let told = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    for aes in [true, false] {
        measure(told.unwrap_or(1000), aes);
    }
}
