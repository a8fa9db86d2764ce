//! Strangers beside a sealed transfer: datagrams that are nobody's, and first messages of a known peer that
//! are sent again.

use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::honest::noise;
use crate::wire::sockets;

/// Datagrams a second.
const PER_S: u64 = 20_000;
/// Every tenth of them is a first message.
const MESSAGE_EVERY: usize = 10;
/// Handshakes whose first messages the attacker has.
const HANDSHAKES: usize = 2000;
/// Octets of other datagrams: those of a full packet's record.
const ALIEN_BYTES: usize = 1472;
/// First octets of a message of mode `encrypted`, without an index; the next one is its kind.
const MESSAGE: [u8; 4] = [0x24, 0, 0, 0];
const ANSWER: u8 = 2;
const COOKIE: u8 = 3;

pub(crate) const ATTACKS: &[Attack] = &[Attack {
    name: "sealed-alien",
    place: Place::On,
    octets: "27 MB",
    aim: "strangers' records and replayed first messages take the time of a sealed transfer over geo",
    scene: Scene { is_sealed: true, ..Scene::PLAIN },
    run: strangers,
}];

fn strangers(field: &Field<'_>) -> io::Result<()> {
    let messages = field.machines()?.first_messages(HANDSHAKES)?;
    let sockets = sockets(256)?;
    for socket in &sockets {
        socket.set_nonblocking(true)?;
    }
    let noise = noise(ALIEN_BYTES + 256);
    let (begun, mut sent, mut heard) = (Instant::now(), 0_u64, Heard::default());
    field.flood(PER_S, &sockets, |i| {
        heard.listen(&sockets[(i as usize + 128) % sockets.len()]);
        let turn = i as usize;
        if turn.is_multiple_of(MESSAGE_EVERY) {
            sent += 1;
            return messages[turn / MESSAGE_EVERY % messages.len()].clone();
        }
        let mut alien = noise[turn % 256..][..ALIEN_BYTES].to_vec();
        alien[..4].copy_from_slice(&[MESSAGE[0], 0, (turn >> 8) as u8, turn as u8 | 1]);
        alien
    });
    let seconds = begun.elapsed().as_secs_f64();
    std::thread::sleep(Duration::from_millis(100));
    for socket in &sockets {
        heard.listen(socket);
    }
    let per_s = |count: u64| count as f64 / seconds;
    field.achieve(format!(
        "of {:.0} first messages a second {:.0} had a cookie, {:.0} an answer",
        per_s(sent),
        per_s(heard.cookies),
        per_s(heard.answers),
    ));
    Ok(())
}

/// What the receiver says to strangers.
#[derive(Debug, Default)]
struct Heard {
    answers: u64,
    cookies: u64,
}

impl Heard {
    fn listen(&mut self, socket: &UdpSocket) {
        let mut datagram = [0; 256];
        while let Ok(bytes) = socket.recv(&mut datagram) {
            match datagram[..bytes].strip_prefix(&MESSAGE) {
                Some([ANSWER, ..]) => self.answers += 1,
                Some([COOKIE, ..]) => self.cookies += 1,
                _ => {}
            }
        }
    }
}
