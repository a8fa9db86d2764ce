//! Target `association`: two ends under a script of losses, copies, changes, pauses and restarts.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use skyhaul_association::{
    AssociationId, Associations, Config, Event, HEAD_BYTES, Identity, OVERHEAD_BYTES, PeerSettings, Sealed,
    Secret, Token,
};
use skyhaul_core::envelope::Mode;
use skyhaul_core::{Instant, MS};

use super::input::Input;

/// Datagrams that were sent and may come (again).
const MAX_CAPTURED: usize = 64;

/// End with what was delivered to it.
struct End {
    associations: Associations,
    id: AssociationId,
    delivered: BTreeSet<Vec<u8>>,
}

/// Two ends, and everything that anybody on the way has captured.
struct Scene {
    now: Instant,
    ends: [End; 2],
    captured: Vec<(usize, Vec<u8>)>,
    segments: u32,
}

/// Whatever happens to datagrams, nothing panics, no segment is delivered twice or changed, and no end
/// answers at length.
///
/// # Panics
/// If that does not hold.
pub fn association(bytes: &[u8]) {
    let mut input = Input(bytes);
    let mode = if input.byte() & 1 == 0 { Mode::Encrypted } else { Mode::Authenticated };
    let mut scene = Scene::new(mode);
    while !input.is_empty() {
        scene.step(&mut input);
    }
}

fn address(end: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, end as u8 + 1], 4700))
}

fn end(end: usize, mode: Mode) -> End {
    let identity = |end: usize| Identity::new(Secret::new([end as u8 + 1; 32]));
    let seed = Secret::new([end as u8 + 9; 32]);
    let mut associations = Associations::new(Config::default(), identity(end), seed);
    let psk = Secret::new([3; 32]);
    let key = identity(1 - end).public();
    let settings = PeerSettings { key, psk, mode, token: Token::NONE, reserved: 0 };
    let peer = associations.add_peer(settings).expect("it is the only one");
    let id = associations.open(Instant::ZERO, peer, address(1 - end)).expect("there is room");
    End { associations, id, delivered: BTreeSet::new() }
}

impl Scene {
    fn new(mode: Mode) -> Self {
        Self { now: Instant::ZERO, ends: [end(0, mode), end(1, mode)], captured: Vec::new(), segments: 0 }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let choice = input.byte();
        let at = usize::from(choice & 1);
        match choice >> 1 & 7 {
            0 | 1 => self.send(at),
            2 | 3 => self.deliver(usize::from(input.byte()), None),
            4 => self.deliver(usize::from(input.byte()), Some((input.word() as usize, input.byte()))),
            5 => self.pass(u64::from(input.byte()) * 100 * MS),
            6 => self.pass(u64::from(input.byte()) * 100_000 * MS),
            _ => {
                let length = usize::from(input.byte());
                let alien = input.take(length).to_vec();
                self.hand(at, alien);
            }
        }
    }

    /// Seals a segment of its own.
    fn send(&mut self, at: usize) {
        self.segments += 1;
        let mut datagram = vec![0; OVERHEAD_BYTES + 4];
        datagram[HEAD_BYTES..HEAD_BYTES + 4].copy_from_slice(&self.segments.to_be_bytes());
        let End { associations, id, .. } = &mut self.ends[at];
        let sealed = associations.seal(self.now, *id, &mut datagram);
        self.collect(at);
        if let Ok(Sealed::InPlace(_)) = sealed {
            self.capture(1 - at, datagram);
        }
    }

    fn capture(&mut self, to: usize, datagram: Vec<u8>) {
        if self.captured.len() == MAX_CAPTURED {
            self.captured.remove(0);
        }
        self.captured.push((to, datagram));
    }

    /// Takes what an end has to say, and does what it asks for.
    fn collect(&mut self, at: usize) {
        while let Some(outgoing) = self.ends[at].associations.poll_transmit() {
            self.capture(1 - at, outgoing.datagram);
        }
        let end = &mut self.ends[at];
        while let Some(event) = end.associations.poll_event() {
            if let Event::Reserve { peer, up_to } = event {
                end.associations.reserved(peer, 0..up_to);
            }
        }
        while let Some(released) = end.associations.poll_released() {
            end.take(released.segment, self.segments);
        }
    }

    /// Delivers one that was captured, the last first, whole or with an octet changed.
    fn deliver(&mut self, back: usize, change: Option<(usize, u8)>) {
        let Some(place) = self.captured.len().checked_sub(1 + back % MAX_CAPTURED) else { return };
        let (to, mut datagram) = self.captured[place].clone();
        if let Some((place, flip)) = change {
            let place = place % datagram.len();
            datagram[place] ^= flip;
        }
        self.hand(to, datagram);
    }

    fn hand(&mut self, to: usize, mut datagram: Vec<u8>) {
        let end = &mut self.ends[to];
        let arrived = end.associations.handle(self.now, address(1 - to), &mut datagram);
        if let Some(arrived) = arrived {
            end.take(datagram[arrived.segment].to_vec(), self.segments);
        }
        self.collect(to);
    }

    fn pass(&mut self, ns: u64) {
        self.now = self.now.after(ns);
        for at in [0, 1] {
            let associations = &mut self.ends[at].associations;
            if associations.deadline().is_some_and(|at| at <= self.now) {
                associations.handle_timeout(self.now);
            }
            assert!(associations.deadline().is_none_or(|at| at > self.now), "a timer that fired is over");
            self.collect(at);
        }
    }
}

impl End {
    fn take(&mut self, segment: Vec<u8>, sent: u32) {
        let number = segment.first_chunk().map(|number| u32::from_be_bytes(*number));
        assert!(
            segment.len() == 4 && number.is_some_and(|number| (1..=sent).contains(&number)),
            "{segment:?}"
        );
        assert!(self.delivered.insert(segment), "a segment came twice");
    }
}
