//! Files that hold what a receiver has little of: descriptors, memory, sessions.

use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use skyhaul_files::codec::{HEAD_BYTES, Head, Record, SessionOpening, Version, chunk_head};
use skyhaul_files::{Code, Digest, MAX_FILES, MAX_NAME_BYTES, RawName, Reason, Side, chunk_digest};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use crate::attack::{Attack, Place, Scene};
use crate::field::Field;
use crate::peer::{Connected, crowd};

const SCENE: Scene = Scene { has_few_descriptors: true, ..Scene::PLAIN };

/// Files of a session that may be begun and have no result.
const FILES: u32 = 512;

/// Sessions of whole files at a time.
const FAREWELLS: u32 = 400;

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "hungry-list",
        place: Place::Peer,
        octets: "350 kB, once: 4 sessions",
        aim: "512 damaged files a session hold the descriptors of a receiver that has 256",
        scene: SCENE,
        run: damaged,
    },
    Attack {
        name: "refused-lists",
        place: Place::Peer,
        octets: "38 MB, once: 2 sessions",
        aim: "65,536 refused files a session with the longest names; memory, CPU",
        scene: Scene::PLAIN,
        run: refused_lists,
    },
    Attack {
        name: "refused-lists-json",
        place: Place::Peer,
        octets: "38 MB, once: 2 sessions",
        aim: "the same at a receiver that tells every file of a session: memory",
        scene: Scene { is_json: true, ..Scene::PLAIN },
        run: refused_lists,
    },
    Attack {
        name: "refused-lists-verbose",
        place: Place::Peer,
        octets: "38 MB, once: 2 sessions",
        aim: "the same at a receiver that lists every file: output",
        scene: Scene { is_verbose: true, ..Scene::PLAIN },
        run: refused_lists,
    },
    Attack {
        name: "hungry-lists",
        place: Place::Peer,
        octets: "46 MB, once: 20 sessions",
        aim: "each lists half of what is free of the memory for lists, and stays",
        scene: Scene::PLAIN,
        run: hungry,
    },
    Attack {
        name: "small-files",
        place: Place::Peer,
        octets: "16 sessions of some 500 octets",
        aim: "whole files of an octet, each a transfer whose result is written",
        scene: Scene::PLAIN,
        run: |field| crowd(field, 1, 16, |stream| Box::pin(small(stream))),
    },
    Attack {
        name: "small-files-json",
        place: Place::Peer,
        octets: "100 sessions of some 500 octets",
        aim: "the same at a receiver whose results a program reads, of ten addresses",
        scene: Scene { is_json: true, ..Scene::PLAIN },
        run: |field| crowd(field, 10, 10, |stream| Box::pin(small(stream))),
    },
    Attack {
        name: "many-files",
        place: Place::Peer,
        octets: "what the receiver takes",
        aim: "empty files, tens of thousands a session; CPU, disk",
        scene: Scene::PLAIN,
        run: |field| crowd(field, 2, 1, |stream| Box::pin(many(stream))),
    },
    Attack {
        name: "farewells",
        place: Place::Peer,
        octets: "some 150 kB, once: 400 sessions",
        aim: "whole files of an octet whose senders say no farewell hold all sessions",
        scene: Scene::PLAIN,
        run: |field| {
            crowd(field, 1, FAREWELLS, |stream| {
                Box::pin(async move {
                    stream.write_all(&whole("whole".into())).await?;
                    while stream.read(&mut [0; 4096]).await? > 0 {}
                    Err(io::ErrorKind::UnexpectedEof.into())
                })
            })
        },
    },
];

/// Sessions with as many files as there may be, all of which are refused.
pub(super) fn refused_lists(field: &Field<'_>) -> io::Result<()> {
    crowd(field, 2, 1, |stream| Box::pin(list(stream, refused_files(MAX_FILES as u32, MAX_FILES as u32))))
}

/// Sessions that list half of what is left each, one after the other. Whoever has to go comes again.
fn hungry(field: &Field<'_>) -> io::Result<()> {
    const SESSIONS: u32 = 20;
    /// Number of the next session, and how many have listed what they want.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    static DONE: AtomicU32 = AtomicU32::new(0);
    crowd(field, 2, SESSIONS / 2, |stream| {
        Box::pin(async move {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            while DONE.load(Ordering::Relaxed) < number.min(SESSIONS) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            // Nearly half of what those before left of 128 MiB: 894 bytes for each with the longest name.
            let take = |free: u32| (free * 15 / 32).min(MAX_FILES as u32 - 1);
            let files = take((0..number % SESSIONS).fold((128 << 20) / 894, |free, _| free - take(free)));
            let listed = list_in_part(stream, files).await;
            DONE.fetch_add(1, Ordering::Relaxed);
            listed?;
            while stream.read(&mut [0; 4096]).await? > 0 {}
            Err(io::ErrorKind::UnexpectedEof.into())
        })
    })
}

/// Lists so many files of one more, and hears that each is refused.
async fn list_in_part(stream: &mut dyn Connected, files: u32) -> io::Result<()> {
    let (reader, mut writer) = tokio::io::split(stream);
    let (body, mut reader) = (refused_files(files, files + 1), BufReader::new(reader));
    let hears = async {
        for _ in 0..files {
            let mut head = [0; HEAD_BYTES];
            reader.read_exact(&mut head).await?;
            let head = Head::decode(&head, Side::Receiver).map_err(io::Error::other)?;
            reader.read_exact(&mut vec![0; head.sealed_body_bytes()]).await?;
        }
        Ok(())
    };
    tokio::try_join!(writer.write_all(&body), hears).map(drop)
}

/// Says all of it, and hears what comes.
async fn list(stream: &mut dyn Connected, body: Vec<u8>) -> io::Result<()> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let write = async {
        writer.write_all(&body).await?;
        writer.shutdown().await
    };
    let read = async {
        let mut heard = [0; 4096];
        while reader.read(&mut heard).await? > 0 {}
        Ok(())
    };
    tokio::try_join!(write, read).map(drop)
}

/// So many files of those announced, each with a name that is refused, and given up at once.
fn refused_files(count: u32, files: u32) -> Vec<u8> {
    let mut stream = SessionOpening { version: Version::Two, files, bytes: files.into() }.encode().to_vec();
    let name = RawName::new([b".", &[0xFF; MAX_NAME_BYTES - 1][..]].concat());
    for number in 0..count {
        let name = name.clone();
        stream.extend(Record::File { size: 1, executable: false, modified: None, name }.encode(number));
        stream.extend(Record::Abort { reason: Reason::new(Code::Interrupted, "") }.encode(number));
    }
    stream
}

/// Stores a file of an octet, and comes again after a second.
async fn small(stream: &mut dyn Connected) -> io::Result<()> {
    /// Number of the next file: each has a name of its own.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    stream.write_all(&whole(format!("small{}", NEXT.fetch_add(1, Ordering::Relaxed)))).await?;
    stream.shutdown().await?;
    stream.read_to_end(&mut Vec::new()).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(())
}

/// Stores as many empty files as a session may have, each with a name of its own; and again.
async fn many(stream: &mut dyn Connected) -> io::Result<()> {
    /// Number of the next session.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let session = NEXT.fetch_add(1, Ordering::Relaxed);
    let files = MAX_FILES as u32;
    let mut body = SessionOpening { version: Version::Two, files, bytes: 0 }.encode().to_vec();
    for number in 0..files {
        let name = RawName::new(format!("many{session}-{number}"));
        body.extend(Record::File { size: 0, executable: false, modified: None, name }.encode(number));
        body.extend(Record::End { digest: Digest(*blake3::hash(b"").as_bytes()) }.encode(number));
    }
    list(stream, body).await
}

/// A transfer of one file of an octet. Of several with one name the first is stored, the others are refused.
fn whole(name: String) -> Vec<u8> {
    let mut stream = SessionOpening { version: Version::Two, files: 1, bytes: 1 }.encode().to_vec();
    stream.extend(whole_file(0, name));
    stream
}

/// Records of a file of an octet.
pub(super) fn whole_file(number: u32, name: String) -> Vec<u8> {
    let file = Record::File { size: 1, executable: false, modified: None, name: RawName::new(name) };
    let mut records = file.encode(number);
    records.extend(chunk_head(number, 0, 1, &chunk_digest(0, 0, b"x")));
    records.extend(b"x");
    records.extend(Record::End { digest: Digest(*blake3::hash(b"x").as_bytes()) }.encode(number));
    records
}

fn damaged(field: &Field<'_>) -> io::Result<()> {
    /// Number of the next session, for names of its own.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    crowd(field, 4, 1, |stream| {
        Box::pin(async move {
            stream.write_all(&damaged_files(NEXT.fetch_add(1, Ordering::Relaxed))).await?;
            pending().await
        })
    })
}

/// Files of one chunk, each damaged, all of which wait for repairs.
fn damaged_files(salt: u32) -> Vec<u8> {
    let mut stream = SessionOpening { version: Version::Two, files: FILES, bytes: 0 }.encode().to_vec();
    let digest = Digest(*blake3::hash(b"good").as_bytes());
    for number in 0..FILES {
        let name = RawName::new(format!("damaged{number}-{salt}"));
        stream.extend(Record::File { size: 4, executable: false, modified: None, name }.encode(number));
        stream.extend(chunk_head(number, 0, 4, &chunk_digest(0, 1, b"good")));
        stream.extend(b"evil");
        stream.extend(Record::End { digest }.encode(number));
    }
    stream
}
