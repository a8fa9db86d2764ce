//! Receivers that lie to senders. The honest transfer beside says what that does to the machine.

use std::io;

use skyhaul_core::units::show_rate;

use crate::attack::{Attack, Place, Scene};
use crate::false_receiver::{Heard, Lies, lie};
use crate::field::Field;

/// Largest payload of an honest receiver.
const PAYLOAD_BYTES: u16 = 1400;
/// Window of one.
const WINDOW_BYTES: u32 = 1 << 24;
/// What a false receiver's way takes, for sure more than the honest transfer's.
const TAKEN_BPS: u64 = 10_000_000;

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "tiny-payload",
        place: Place::Receiver,
        octets: "some 2 kB",
        aim: "a largest payload of 1 makes `send` emit tiny packets",
        scene: Scene::PLAIN,
        run: |field| emitted(field, Lies { max_payload_bytes: 1, ..LIES }),
    },
    Attack {
        name: "optimistic-stats",
        place: Place::Receiver,
        octets: "some 2 kB",
        aim: "what its way of 10 Mbit/s loses is confirmed, so that `send` emits ever more",
        scene: Scene::PLAIN,
        run: |field| emitted(field, LIES),
    },
    Attack {
        name: "window-0",
        place: Place::Receiver,
        octets: "some 100",
        aim: "`send` waits for ever for a window",
        scene: Scene::PLAIN,
        run: |field| kept(field, Lies { window_bytes: 0, ..LIES }),
    },
    Attack {
        name: "no-result",
        place: Place::Receiver,
        octets: "some 100",
        aim: "`send` waits for ever for the result of a file",
        scene: Scene::PLAIN,
        run: |field| kept(field, LIES),
    },
];

const LIES: Lies =
    Lies { max_payload_bytes: PAYLOAD_BYTES, window_bytes: WINDOW_BYTES, taken_bps: TAKEN_BPS };

fn emitted(field: &Field<'_>, lies: Lies) -> io::Result<()> {
    let Heard { packets, octets, seconds, given_up } = lie(field, lies, 100 << 30)?;
    let mean = octets as f64 / packets.max(1) as f64;
    let (rate, per_s) = (show_rate(8.0 * octets as f64 / seconds), packets as f64 / seconds);
    let given_up = given_up.map_or(String::new(), |(s, code)| format!("; ended after {s:.0} s: {code}"));
    field.achieve(format!("`send` emitted {rate}, {per_s:.0} packets/s of {mean:.0} octets{given_up}"));
    Ok(())
}

fn kept(field: &Field<'_>, lies: Lies) -> io::Result<()> {
    let heard = lie(field, lies, 100_000)?;
    field.achieve(match heard.given_up {
        Some((seconds, code)) => format!("`send --give-up 8s` ended after {seconds:.0} s: {code}"),
        None => "`send --give-up 8s` was still there".into(),
    });
    Ok(())
}
