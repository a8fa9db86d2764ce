//! Memory: windows that are filled and never emptied.

use std::io;

use skyhaul_stp::segment::Segment;

use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::peer::Liar;
use crate::wire::{blank, datagram, opening, socket};

/// Connections that fill theirs.
const CONNECTIONS: u16 = 8;
/// Packets that fill a window of 64 MiB, and then some.
const PACKETS: u32 = 50_000;
/// Packets a second; so fast they can be heard.
const PER_S: u64 = 40_000;

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "forged-windows",
        place: Place::Off,
        octets: "58 MB for 10 s",
        aim: "8 forged connections fill their windows behind a gap",
        scene: Scene::PLAIN,
        run: forged,
    },
    Attack {
        name: "proven-windows",
        place: Place::Peer,
        octets: "58 MB for 10 s",
        aim: "8 proven connections fill their windows behind a gap",
        scene: Scene::PLAIN,
        run: proven,
    },
];

fn forged(field: &Field<'_>) -> io::Result<()> {
    for n in 0..CONNECTIONS {
        let (socket, blank) = (socket([66, 2, n as u8])?, blank(4001 + n));
        field.pace(PER_S, PACKETS, |number| {
            let bgn = (number == 0).then(|| opening(u32::from(n)));
            let data: Option<(&[u8], &[u8])> = (number > 0).then_some((&[7; 1400], &[]));
            field.send(&socket, &datagram(&Segment { number, bgn, data, ..blank.clone() }));
        });
        field.stand();
    }
    stay(field);
    Ok(())
}

fn proven(field: &Field<'_>) -> io::Result<()> {
    let open = |n: u16| Liar::open(field, 4001 + n, opening(u32::from(n)));
    let liars: io::Result<Vec<Liar>> = (0..CONNECTIONS).map(open).collect();
    for liar in &liars? {
        field.pace(PER_S, PACKETS, |i| liar.say(field, &liar.packet(1 + i, &[7; 1400])));
        field.stand();
    }
    stay(field);
    Ok(())
}

fn stay(field: &Field<'_>) {
    while field.goes_on() {
        field.wait(std::time::Duration::from_secs(1));
    }
}
