//! Places: connections and sessions that keep others out.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use skyhaul_files::codec::{Record, SessionOpening};
use skyhaul_files::{Code, MAX_FILES, RawName, Reason, Version};
use skyhaul_stp::segment::Segment;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::peer::{Connected, Liar, crowd};
use crate::process::Process;
use crate::wire::{blank, datagram, opening, socket, sockets};

/// Openings that an endpoint takes without proof.
const UNPROVEN: u32 = 32;
/// Transfers that `receive` takes at once.
const SESSIONS: u8 = 16;

const NEWCOMER_STAYS: Scene = Scene { takes_a_while: true, ..Scene::PLAIN };

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "forged-openings",
        place: Place::Off,
        octets: "73: 1.2 openings, after 32 at once",
        aim: "no newcomer gets in",
        scene: Scene::PLAIN,
        run: |field| forged(field, true),
    },
    Attack {
        name: "forged-flood",
        place: Place::Off,
        octets: "2.4 MB: 40,000 openings",
        aim: "no newcomer gets in; CPU",
        scene: Scene::PLAIN,
        run: |field| forged(field, false),
    },
    Attack {
        name: "silent-proven",
        place: Place::Peer,
        octets: "some 350: 16 addresses",
        aim: "16 proven connections that say nothing hold all sessions",
        scene: Scene::PLAIN,
        run: silent,
    },
    Attack {
        name: "silent-and-forged",
        place: Place::Peer,
        octets: "some 350, and 2 kB once",
        aim: "16 silent ones, then 32 forged openings",
        scene: Scene::PLAIN,
        run: silent_and_forged,
    },
    Attack {
        name: "slow-openings",
        place: Place::Peer,
        octets: "some 500: 16 addresses",
        aim: "the opening of the files comes octet by octet, one in 5 s",
        scene: Scene::PLAIN,
        run: slow,
    },
    Attack {
        name: "slow-files",
        place: Place::Peer,
        octets: "some 400: 16 addresses",
        aim: "a valid opening, and then nothing",
        scene: Scene::PLAIN,
        run: slow_files,
    },
    Attack {
        name: "refused-slowly",
        place: Place::Peer,
        octets: "some 3300: 32 of two addresses",
        aim: "a refused file every 2.7 s passes for progress",
        scene: Scene::PLAIN,
        run: |field| crowd(field, 2, 16, |stream| Box::pin(refused_slowly(stream))),
    },
    Attack {
        name: "one-address",
        place: Place::Peer,
        octets: "26 kB: 1024 connections",
        aim: "one address holds all connections",
        scene: Scene::PLAIN,
        run: |field| crowd(field, 1, 1024, |_| Box::pin(pending())),
    },
    Attack {
        name: "fresh-silent",
        place: Place::Peer,
        octets: "some 19 kB: 60 of 40 addresses",
        aim: "proven connections that say nothing, so many that all are new",
        scene: NEWCOMER_STAYS,
        run: |field| fresh(field, 40, 60, None),
    },
    Attack {
        name: "fresh-files",
        place: Place::Peer,
        octets: "some 35 kB: 100 of 64 addresses",
        aim: "valid openings, and then nothing, so many that all are new",
        scene: NEWCOMER_STAYS,
        run: |field| fresh(field, 64, 100, Some(&announced())),
    },
    Attack {
        name: "fresh-addresses",
        place: Place::Peer,
        octets: "some 35 kB: 100, an address each",
        aim: "the same, each from an address of its own",
        scene: NEWCOMER_STAYS,
        run: |field| fresh(field, u32::MAX, 100, Some(&announced())),
    },
    Attack {
        name: "killed-senders",
        place: Place::Peer,
        octets: "none: bad luck",
        aim: "16 senders that were killed hold all sessions",
        scene: Scene::PLAIN,
        run: killed,
    },
    Attack {
        name: "echo-service",
        place: Place::Off,
        octets: "2 kB, once: 32 openings",
        aim: "an echo service answers what was forged in its name",
        scene: Scene::PLAIN,
        run: echo_service,
    },
];

fn bgn(i: u32) -> Vec<u8> {
    datagram(&Segment { bgn: Some(opening(i)), ..blank(5000_u16.wrapping_add(i as u16)) })
}

fn forged(field: &Field<'_>, is_slow: bool) -> io::Result<()> {
    let sockets = sockets(256)?;
    if !is_slow {
        field.flood(40_000, &sockets, bgn);
        return Ok(());
    }
    for i in 0.. {
        if !field.goes_on() {
            break;
        }
        field.send(&sockets[i as usize % sockets.len()], &bgn(i));
        if i >= UNPROVEN {
            field.stand();
            field.wait(Duration::from_millis(833));
        }
    }
    Ok(())
}

fn silent_and_forged(field: &Field<'_>) -> io::Result<()> {
    std::thread::scope(|scope| {
        let forger = scope.spawn(|| {
            field.wait(Duration::from_secs(2));
            let sockets = sockets(32)?;
            for (i, socket) in (0..).zip(&sockets) {
                field.send(socket, &bgn(i));
            }
            Ok(())
        });
        let silent = silent(field);
        let forged = forger.join().map_err(|_| io::Error::other("the forger panicked"))?;
        silent.and(forged)
    })
}

/// Connections that say nothing.
pub(super) fn silent(field: &Field<'_>) -> io::Result<()> {
    crowd(field, SESSIONS, 1, |_| Box::pin(pending()))
}

pub(super) fn slow(field: &Field<'_>) -> io::Result<()> {
    crowd(field, SESSIONS, 1, |stream| {
        Box::pin(async move {
            for octet in (SessionOpening { version: Version::Two, files: 1, bytes: 1 }).encode() {
                stream.write_all(&[octet]).await?;
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
            pending().await
        })
    })
}

pub(super) fn slow_files(field: &Field<'_>) -> io::Result<()> {
    crowd(field, SESSIONS, 1, |stream| {
        Box::pin(async move {
            stream.write_all(&SessionOpening { version: Version::Two, files: 1, bytes: 1 }.encode()).await?;
            stream.read_u8().await.map(drop)
        })
    })
}

/// Opening of a transfer of one file.
fn announced() -> Vec<u8> {
    SessionOpening { version: Version::Two, files: 1, bytes: 1 }.encode().to_vec()
}

/// So many connections a second, of so many addresses in turn, each of which is proven, says this with its
/// opening, and nothing more.
fn fresh(field: &Field<'_>, addresses: u32, per_s: u64, early: Option<&[u8]>) -> io::Result<()> {
    /// Connections whose sockets stay: the system answers for others that nobody is there.
    const HELD: usize = 400;
    let (mut held, mut failed) = (VecDeque::new(), None);
    field.pace(per_s, u32::MAX, |i| {
        let [_, high, middle, low] = (1 + i % addresses).to_be_bytes();
        let from = ([77 + high, middle, low], 5000_u16.wrapping_add(i as u16));
        match Liar::open_from(field, from, opening(i), early) {
            Ok(liar) => held.push_back(liar),
            Err(error) => failed = failed.take().or(Some(error)),
        }
        if held.len() > HELD {
            held.pop_front();
        }
        if u64::from(i) == 3 * per_s {
            field.stand();
        }
    });
    // Whoever is not answered any more has no effect: the attack is told as what it was.
    failed.filter(|_| !field.stands()).map_or(Ok(()), Err)
}

/// A file whose name is refused, and another one, and another one.
async fn refused_slowly(stream: &mut dyn Connected) -> io::Result<()> {
    let files = MAX_FILES as u32;
    stream.write_all(&SessionOpening { version: Version::Two, files, bytes: 0 }.encode()).await?;
    for number in 0..files {
        let file = Record::File { size: 1, executable: false, modified: None, name: RawName::new(".x") };
        let abort = Record::Abort { reason: Reason::new(Code::Interrupted, "") };
        stream.write_all(&[file.encode(number), abort.encode(number)].concat()).await?;
        tokio::time::sleep(Duration::from_millis(2700)).await;
    }
    Ok(())
}

/// Senders that are killed while their files are under way.
fn killed(field: &Field<'_>) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("zeros.bin");
    std::fs::File::create(&path)?.set_len(1 << 30)?;
    let send = |_| {
        let mut command = Command::new(field.binary);
        command
            .args(["send", "--plain", "-q", "--no-memory", "--rate", "200k"])
            .arg(&path)
            .arg(field.receiver.to_string());
        Process::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))
    };
    let senders: io::Result<Vec<Process>> = (0..SESSIONS).map(send).collect();
    field.wait(Duration::from_secs(3));
    drop(senders?);
    field.stand();
    while field.goes_on() {
        field.wait(Duration::from_secs(1));
    }
    Ok(())
}

/// What such a service does with the datagrams that come to it.
fn echo_service(field: &Field<'_>) -> io::Result<()> {
    let service = socket([67, 0, 7])?;
    service.set_read_timeout(Some(Duration::from_millis(20)))?;
    for i in 0..UNPROVEN {
        field.send(&service, &bgn(i));
    }
    field.stand();
    let mut buffer = vec![0; 1 << 16];
    while field.goes_on() {
        if let Ok((bytes, from)) = service.recv_from(&mut buffer) {
            let _ = service.send_to(&buffer[..bytes], from);
        }
    }
    Ok(())
}
