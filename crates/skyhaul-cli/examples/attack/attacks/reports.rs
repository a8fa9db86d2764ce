//! Reports that cost their maker much.

use std::io;

use skyhaul_stp::segment::{Poll, Segment};

use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::peer::Liar;
use crate::wire::opening;

/// Packets that a receiver keeps behind a gap, if each is charged 256 octets of a window of 64 MiB.
const KEPT: u32 = 262_000;
/// Timestamps of POLLs rise, by as much.
const STEP: u32 = 1 << 12;

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "hungry-stat",
        place: Place::Peer,
        octets: "7.9 kB: 100 POLLs; before: 11 MB",
        aim: "each POLL makes a list of 262,000 gaps",
        scene: Scene::PLAIN,
        run: |field| polls(field, KEPT, 100),
    },
    Attack {
        name: "hungry-flood",
        place: Place::Peer,
        octets: "2 MB: 40,000 POLLs; before: 11 MB",
        aim: "the same, as fast as can be",
        scene: Scene::PLAIN,
        run: |field| polls(field, KEPT, 40_000),
    },
    Attack {
        name: "polls",
        place: Place::Peer,
        octets: "2 MB: 40,000 POLLs",
        aim: "each POLL makes a STAT",
        scene: Scene::PLAIN,
        run: |field| polls(field, 0, 40_000),
    },
];

/// Sends so many packets of an octet, every other one missing, and then POLLs.
fn polls(field: &Field<'_>, packets: u32, per_s: u64) -> io::Result<()> {
    let liar = Liar::open(field, 4001, opening(0))?;
    field.pace(40_000, packets, |i| liar.say(field, &liar.packet(1 + 2 * i, b"x")));
    field.stand();
    field.pace(per_s, u32::MAX, |i| {
        let (timestamp, next) = ((1 + i).wrapping_mul(STEP), 1 + 2 * packets);
        let poll = Some(Poll { timestamp, next, ..Poll::default() });
        liar.say(field, &Segment { number: next, poll, ..liar.blank.clone() });
    });
    Ok(())
}
