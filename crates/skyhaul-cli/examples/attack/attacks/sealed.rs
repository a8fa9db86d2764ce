//! Strangers beside a sealed transfer: datagrams that are nobody's, and first messages of a known peer that
//! are sent again. And peers beside it, who attack under a name of their own.

use std::fs::File;
use std::io;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::files::refused_lists;
use super::places::{silent, slow, slow_files};
use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::honest::noise;
use crate::machines::GROUND;
use crate::process::{Process, skyhaul};
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

/// Senders of a peer's that are killed: more than there are places.
const KILLED: usize = 40;
/// Sessions of a peer's with many files each, and the files of one.
const MANY: usize = 2;
const FILES: usize = 4000;

const SCENE: Scene = Scene { is_sealed: true, ..Scene::PLAIN };

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "sealed-alien",
        place: Place::On,
        octets: "27 MB",
        aim: "strangers' records and replayed first messages take the time of a sealed transfer over geo",
        scene: SCENE,
        run: strangers,
    },
    Attack {
        name: "sealed-killed",
        place: Place::Peer,
        octets: "none: bad luck",
        aim: "40 senders of another peer that were killed hold all sessions",
        scene: SCENE,
        run: killed,
    },
    Attack {
        name: "sealed-many",
        place: Place::Peer,
        octets: "what the receiver takes",
        aim: "another peer's empty files, thousands a session; CPU, disk",
        scene: SCENE,
        run: many,
    },
    Attack {
        name: "sealed-silent",
        place: Place::Peer,
        octets: "some 1600: 16 addresses of a peer",
        aim: "16 connections of another peer that say nothing hold all sessions",
        scene: SCENE,
        run: silent,
    },
    Attack {
        name: "sealed-slow",
        place: Place::Peer,
        octets: "some 6200: 16 addresses of a peer",
        aim: "another peer's openings come octet by octet, one in 5 s",
        scene: SCENE,
        run: slow,
    },
    Attack {
        name: "sealed-slow-files",
        place: Place::Peer,
        octets: "some 1600: 16 addresses of a peer",
        aim: "another peer's valid openings, and then nothing",
        scene: SCENE,
        run: slow_files,
    },
    Attack {
        name: "sealed-lists",
        place: Place::Peer,
        octets: "38 MB, once: 2 sessions",
        aim: "another peer's lists of 65,536 refused files; memory, CPU",
        scene: SCENE,
        run: refused_lists,
    },
];

/// `send` of the peer who attacks, at a declared rate.
fn sender(field: &Field<'_>, rate: &str, paths: &[PathBuf]) -> io::Result<Process> {
    let paths = paths.iter().map(|path| path.display().to_string());
    let words = ["send", "-q", "--no-memory", "--rate", rate].map(str::to_string).into_iter().chain(paths);
    let words: Vec<String> = words.chain([format!("{GROUND}@{}", field.receiver)]).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = skyhaul(field.binary, &words);
    field.machines()?.rogue.runs(&mut command);
    Process::start(&mut command)
}

/// Senders that are killed while their file is under way.
fn killed(field: &Field<'_>) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("zeros.bin");
    File::create(&path)?.set_len(1 << 30)?;
    let senders: io::Result<Vec<Process>> =
        (0..KILLED).map(|_| sender(field, "200k", std::slice::from_ref(&path))).collect();
    field.wait(Duration::from_secs(5));
    drop(senders?);
    field.stand();
    while field.goes_on() {
        field.wait(Duration::from_secs(1));
    }
    Ok(())
}

/// Sessions one behind the other, of new files each.
fn many(field: &Field<'_>) -> io::Result<()> {
    let stored = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let stored = &stored;
        let in_turn = |lane| scope.spawn(move || many_in_turn(field, lane, stored));
        let sessions: Vec<_> = (0..MANY).map(in_turn).collect();
        let failed = || io::Error::other("a session panicked");
        sessions.into_iter().try_for_each(|session| session.join().map_err(|_| failed())?)
    })?;
    field.achieve(format!("{} files stored", stored.load(Ordering::Relaxed)));
    Ok(())
}

/// Counts the files of each session that ended well.
fn many_in_turn(field: &Field<'_>, lane: usize, stored: &AtomicUsize) -> io::Result<()> {
    for turn in 0.. {
        let folder = tempfile::tempdir()?;
        let path = |file| folder.path().join(format!("many{lane}-{turn}-{file}"));
        let paths: Vec<PathBuf> = (0..FILES).map(path).collect();
        paths.iter().try_for_each(|path| File::create(path).map(drop))?;
        let mut process = sender(field, "100M", &paths)?;
        field.stand();
        let status = loop {
            match process.ended_within(Duration::from_millis(100))? {
                Some(status) => break status,
                None if field.goes_on() => {}
                None => return Ok(()),
            }
        };
        if status.success() {
            stored.fetch_add(FILES, Ordering::Relaxed);
        }
    }
    Ok(())
}

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
