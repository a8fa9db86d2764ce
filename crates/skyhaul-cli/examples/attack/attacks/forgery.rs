//! Forgery and replay beside a connection whose addresses and ports are known. The attacker speaks by the
//! sockets of a relay: the receiver takes him for the sender, and the sender for the receiver.

use std::io;
use std::time::Duration;

use skyhaul_core::{ResetReason, Stream};
use skyhaul_stp::segment::{Report, Segment};

use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::honest::{Way, newcomer};
use crate::receiver::Receiver;
use crate::relay::Relay;
use crate::wire::{FILES_PORT, datagram};

const SCENE: Scene = Scene { is_relayed: true, ..Scene::PLAIN };

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "reset-guesses",
        place: Place::Off,
        octets: "1.8 MB: 40,000 resets",
        aim: "the connection ends: one of 2^32 pairs of instance and number",
        scene: SCENE,
        run: |field| guess(field, true, |_, blank| Segment { rst: Some(ResetReason::Aborted), ..blank }),
    },
    Attack {
        name: "report-guesses",
        place: Place::Off,
        octets: "2.1 MB: 40,000 USTATs with ENDAK",
        aim: "the sender forgets what has not arrived: one of 2^26 and more",
        scene: SCENE,
        run: |field| {
            guess(field, false, |random, blank| {
                let report =
                    Report { next: random as u32 & 0xFF_FFFF, window_bytes: 1 << 20, ..Report::default() };
                Segment { ustat: Some(report), endak: true, ..blank }
            })
        },
    },
    Attack {
        name: "data-guesses",
        place: Place::Off,
        octets: "1.9 MB: 40,000 packets of an octet",
        aim: "wrong data: one of 2^18 pairs of instance and number",
        scene: SCENE,
        run: |field| guess(field, true, |_, blank| Segment { data: Some((b"x", b"")), ..blank }),
    },
    Attack {
        name: "reflected",
        place: Place::On,
        octets: "as many as the transfer has",
        aim: "everything is sent back to whoever sent it, the opening, too",
        scene: Scene { comes_first: true, ..SCENE },
        run: reflect,
    },
    Attack {
        name: "replayed-session",
        place: Place::On,
        octets: "the session, once",
        aim: "a session that was captured delivers its file to a receiver that was restarted",
        scene: Scene::PLAIN,
        run: replay,
    },
];

/// Floods one end with what `make` makes of random octets, with a random instance and number.
fn guess(
    field: &Field<'_>,
    is_to_receiver: bool,
    make: impl Fn(u64, Segment<'static>) -> Segment<'static>,
) -> io::Result<()> {
    let relay = field.relay()?;
    let (Some(port), Some((front, sender))) = (relay.port(), relay.as_receiver()) else {
        return Err(io::Error::other("the relay has seen no sender"));
    };
    let ((socket, to), ports) = if is_to_receiver {
        ((relay.as_sender(), field.receiver), (port, FILES_PORT))
    } else {
        ((front, sender), (FILES_PORT, port))
    };
    let mut random = Stream::new(u64::from(std::process::id()), "guesses");
    field.pace(40_000, u32::MAX, |i| {
        let drawn = random.next_u64();
        let (instance, number) = (drawn as u16, (drawn >> 16) as u32 & 0xFF_FFFF);
        let (source_port, destination_port) = ports;
        let blank = Segment { source_port, destination_port, instance, number, ..Segment::default() };
        field.send_to(socket, &datagram(&make(drawn >> 40, blank)), to);
        if i == 40_000 {
            field.stand();
        }
    });
    Ok(())
}

/// The relay does it.
fn reflect(field: &Field<'_>) -> io::Result<()> {
    field.relay()?.reflect();
    field.stand();
    while field.goes_on() {
        field.wait(Duration::from_secs(1));
    }
    Ok(())
}

/// Beside the honest transfer: a receiver of its own, which is restarted.
fn replay(field: &Field<'_>) -> io::Result<()> {
    let scene = Scene::PLAIN;
    let (sources, first) = (tempfile::tempdir()?, Receiver::start(field.binary, scene, None)?);
    let (address, relay) = (first.address, Relay::start(first.address)?);
    newcomer(field.binary, sources.path(), Way { to: relay.address()?, machines: None }, false)?;
    let session = relay.kept();
    drop(first);
    let second = Receiver::at(address, field.binary, scene)?;
    for datagram in &session {
        field.send_to(relay.as_sender(), datagram, address);
    }
    field.stand();
    field.wait(Duration::from_secs(2));
    let is_stored = second.folder.path().join("newcomer.bin").exists();
    let what = if is_stored { "stored once more" } else { "not stored once more" };
    field.achieve(format!("{} datagrams replayed: {what}", session.len()));
    Ok(())
}
