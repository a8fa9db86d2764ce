//! Target `pairing`: two ends, and somebody between them who cuts, changes, inserts and ends what they say.

use std::collections::VecDeque;

use skyhaul_association::pairing::{Card, Code, Invitation, Paired, Pairing, PairingEvent};
use skyhaul_association::{Identity, Secret};
use skyhaul_core::envelope::Mode;

use super::input::Input;

/// Steps of one run: enough for every message to arrive octet by octet.
const MAX_STEPS: usize = 1024;

/// Both ends with what is under way between them.
struct Scene {
    ends: [Pairing; 2],
    under_way: [VecDeque<u8>; 2],
    paired: [Option<Paired>; 2],
    is_one_code: bool,
}

const OPENER: usize = 0;
const ACCEPTOR: usize = 1;

/// Whatever happens to a stream, nothing panics, nobody is paired by another code or with a stranger, and
/// what both ends know is one thing.
///
/// # Panics
/// If that does not hold.
pub fn pairing(bytes: &[u8]) {
    let mut input = Input(bytes);
    let mut scene = Scene::new(input.byte());
    for _ in 0..MAX_STEPS {
        if input.is_empty() {
            break;
        }
        scene.step(&mut input);
    }
    scene.check();
}

fn code(octet: u8) -> Code {
    Code::new(&Secret::new([octet; 32]))
}

fn identity(end: usize) -> Identity {
    Identity::new(Secret::new([end as u8 + 1; 32]))
}

fn card(mode: Mode) -> Card {
    Card { name: "machine".parse().expect("it is a name"), mode, callsign: None }
}

impl Scene {
    fn new(choice: u8) -> Self {
        let is_one_code = choice & 1 == 0;
        let other_mode = if choice & 2 == 0 { Mode::Encrypted } else { Mode::Authenticated };
        let mut invitation = Invitation::new(code(0), identity(ACCEPTOR), card(other_mode));
        let typed = code(u8::from(!is_one_code));
        let opener = Pairing::open(&typed, identity(OPENER), card(Mode::Encrypted), &Secret::new([8; 32]));
        let acceptor = invitation.session(&Secret::new([9; 32])).expect("it is the first one");
        let ends = [opener, acceptor];
        Self { ends, under_way: Default::default(), paired: [None, None], is_one_code }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        self.collect();
        let choice = input.byte();
        let to = usize::from(choice & 1);
        match choice >> 1 & 7 {
            0..=2 => self.deliver(to, usize::MAX, 0),
            3 => self.deliver(to, usize::from(input.byte()), 0),
            4 => self.deliver(to, usize::from(input.byte()), input.byte()),
            5 => {
                let length = usize::from(input.byte());
                self.ends[to].handle(input.take(length));
            }
            6 => drop(self.under_way[to].pop_front()),
            _ => self.ends[to].end(),
        }
        self.collect();
    }

    /// Delivers octets, the last of them changed.
    fn deliver(&mut self, to: usize, most: usize, flip: u8) {
        let length = most.min(self.under_way[to].len());
        let mut octets: Vec<u8> = self.under_way[to].drain(..length).collect();
        if let Some(last) = octets.last_mut() {
            *last ^= flip;
        }
        self.ends[to].handle(&octets);
    }

    /// Takes what the ends have to say; the acceptor's owner keeps whoever is paired.
    fn collect(&mut self) {
        for from in [OPENER, ACCEPTOR] {
            match self.ends[from].poll_event() {
                Some(PairingEvent::Met(_)) => {
                    assert!(
                        from == OPENER && self.paired[from].is_none(),
                        "it meets whom it does not know yet"
                    );
                    self.ends[from].confirm();
                }
                Some(PairingEvent::Paired(paired)) => {
                    assert!(self.paired[from].is_none(), "once");
                    self.paired[from] = Some(paired);
                    self.ends[from].confirm();
                }
                Some(PairingEvent::Failed(_)) | None => {}
            }
            while let Some(octets) = self.ends[from].poll_transmit() {
                self.under_way[1 - from].extend(octets);
            }
        }
    }

    fn check(&self) {
        for end in [OPENER, ACCEPTOR] {
            if let Some(paired) = &self.paired[end] {
                assert!(self.is_one_code && paired.card.mode == Mode::Encrypted);
                assert_eq!(paired.key, identity(1 - end).public());
            }
        }
        if let [Some(opener), acceptor] = &self.paired {
            let acceptor = acceptor.as_ref().expect("the acceptor has kept the opener before it says so");
            assert_eq!(opener.psk.octets(), acceptor.psk.octets());
        }
    }
}
