//! Description of an attack.

use std::fmt;
use std::io;

use crate::attacks::{files, forgery, junk, memory, once, output, places, reports, sealed, senders};
use crate::field::Field;

/// Where the attacker must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Anywhere, with forged source addresses.
    Off,
    /// At an address that he can be answered at.
    Peer,
    /// Where he sees what he sends again.
    On,
    /// At the address that `send` sends to.
    Receiver,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Off => "off",
            Self::Peer => "peer",
            Self::On => "on",
            Self::Receiver => "receiver",
        })
    }
}

/// Circumstances of the receiver and the honest transfer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scene {
    /// `receive --once`; there is no newcomer then.
    pub(crate) is_once: bool,
    /// Nobody reads what the receiver writes.
    pub(crate) is_blocked: bool,
    /// The receiver may open 256 descriptors.
    pub(crate) has_few_descriptors: bool,
    /// The honest sender's packets pass the attacker's relay, whose address the receiver knows it by.
    pub(crate) is_relayed: bool,
    /// The attack begins before the honest transfer.
    pub(crate) comes_first: bool,
    /// Receiver and honest senders are peers, with the link of `geo` between them: all is sealed.
    pub(crate) is_sealed: bool,
    /// `receive --json`.
    pub(crate) is_json: bool,
    /// `receive --verbose`.
    pub(crate) is_verbose: bool,
    /// The newcomer's file takes a while, so that it needs a place: what is there before needs none.
    pub(crate) takes_a_while: bool,
}

impl Scene {
    /// A receiver as most have it.
    pub(crate) const PLAIN: Self = Self {
        is_once: false,
        is_blocked: false,
        has_few_descriptors: false,
        is_relayed: false,
        comes_first: false,
        is_sealed: false,
        is_json: false,
        is_verbose: false,
        takes_a_while: false,
    };
}

/// An attack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    /// IP octets a second, in words.
    pub(crate) octets: &'static str,
    /// What the attacker wants.
    pub(crate) aim: &'static str,
    pub(crate) scene: Scene,
    /// Attacks for as long as the field says.
    pub(crate) run: fn(&Field<'_>) -> io::Result<()>,
}

/// All of them, in the order of the list.
pub(crate) fn all() -> impl Iterator<Item = Attack> {
    let themes = [
        once::ATTACKS,
        places::ATTACKS,
        output::ATTACKS,
        reports::ATTACKS,
        memory::ATTACKS,
        senders::ATTACKS,
        forgery::ATTACKS,
        junk::ATTACKS,
        files::ATTACKS,
        sealed::ATTACKS,
    ];
    themes.into_iter().flatten().copied()
}
