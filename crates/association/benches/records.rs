//! What sealing costs beside the checksum that it replaces: `cargo bench -p skyhaul-association --bench
//! records`. IP packets of 1500 octets, a gigabyte (10^9 octets) of packets a line: CPU-seconds for sealing,
//! for opening, and for one CRC-16 over a plain datagram's segment. Rounds go by turns; a line says the
//! median of five, and the longest.
#![expect(clippy::expect_used, reason = "a benchmark that cannot go on says why")]

use std::net::Ipv4Addr;

use rustix::time::{ClockId, clock_gettime};
use skyhaul_association::aead::{AeadName, ring_aead};
use skyhaul_association::{Addressee, Head, Index, OpeningKeys, Protection, SealingKeys, Secret};
use skyhaul_core::checksum::{START, crc16};
use skyhaul_core::envelope::Mode;
use skyhaul_core::{Instant, ip_udp_bytes};

const PACKET_BYTES: usize = 1500;
const PACKETS: usize = 1_000_000_000 / PACKET_BYTES;
const ROUNDS: usize = 5;
/// Datagrams that are sealed before they are opened, as a turn of a carrier has them.
const TURN: usize = 43;

/// CPU-seconds of one kind of work on a gigabyte of packets.
struct Line {
    name: &'static str,
    rounds: Vec<f64>,
}

fn main() {
    let kinds = [
        ("encrypted, AES-128-GCM", Mode::Encrypted, AeadName::Aes128Gcm),
        ("encrypted, ChaCha20-Poly1305", Mode::Encrypted, AeadName::ChaCha20Poly1305),
        ("authenticated, AES-128-GCM", Mode::Authenticated, AeadName::Aes128Gcm),
        ("authenticated, ChaCha20-Poly1305", Mode::Authenticated, AeadName::ChaCha20Poly1305),
    ];
    let mut crc = Line { name: "CRC-16", rounds: Vec::new() };
    let mut lines: Vec<(Line, Line)> =
        kinds.map(|(name, ..)| (Line { name, rounds: Vec::new() }, Line { name, rounds: Vec::new() })).into();
    for _ in 0..ROUNDS {
        crc.rounds.push(checksum_s());
        for ((sealing, opening), (_, mode, aead)) in lines.iter_mut().zip(kinds) {
            let (seal_s, open_s) = seal_and_open_s(mode, aead);
            sealing.rounds.push(seal_s);
            opening.rounds.push(open_s);
        }
    }
    let crc_s = crc.show("an end", None);
    for (mut sealing, mut opening) in lines {
        sealing.show("sealed", Some(crc_s));
        opening.show("opened", Some(crc_s));
    }
}

impl Line {
    /// Prints the line, beside `crc_s` if that is there, and gives its median.
    fn show(&mut self, what: &str, crc_s: Option<f64>) -> f64 {
        self.rounds.sort_by(f64::total_cmp);
        let (median, longest) = (self.rounds[ROUNDS / 2], self.rounds[ROUNDS - 1]);
        let ratio = crc_s.map_or(String::new(), |crc_s| format!("  {:.2} times CRC-16", median / crc_s));
        println!("{:34} {what}  {median:.3} CPU-s/GB (longest {longest:.3}){ratio}", self.name);
        median
    }
}

/// CPU time of this thread in seconds: what others do on the machine counts less than by a clock.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn datagram_bytes() -> usize {
    PACKET_BYTES - ip_udp_bytes(Ipv4Addr::LOCALHOST.into()) as usize
}

/// One pass of the segment's checksum, as each end of a plain path makes it.
fn checksum_s() -> f64 {
    let turn = vec![vec![0x5A_u8; datagram_bytes() - 1]; TURN];
    let begun_s = cpu_s();
    for packet in 0..PACKETS {
        std::hint::black_box(crc16(START, &turn[packet % TURN]));
    }
    cpu_s() - begun_s
}

fn seal_and_open_s(mode: Mode, aead: AeadName) -> (f64, f64) {
    let secret = Secret::new([7; 32]);
    let protection = Protection { mode, aead, maker: ring_aead };
    let addressee = Addressee::Association(Index::new(1).expect("1 is an index"));
    let mut sealing = SealingKeys::new(protection, addressee, &secret, Instant::ZERO);
    let mut opening = OpeningKeys::new(protection, &secret);
    let mut turn = vec![vec![0x5A_u8; datagram_bytes()]; TURN];
    let (mut seal_s, mut open_s) = (0.0, 0.0);
    for _ in 0..PACKETS / TURN {
        let begun_s = cpu_s();
        for datagram in &mut turn {
            sealing.seal(Instant::ZERO, datagram).expect("there are numbers");
        }
        let sealed_s = cpu_s();
        for datagram in &mut turn {
            let head = Head::decode(datagram).expect("it is a record");
            opening.open(Instant::ZERO, head, datagram).expect("it is genuine");
        }
        seal_s += sealed_s - begun_s;
        open_s += cpu_s() - sealed_s;
    }
    (seal_s, open_s)
}
