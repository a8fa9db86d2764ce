//! Records of files: a receiver that hears any stream, and a sender that hears any replies.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use skyhaul_files::codec::{
    BODY_CHECK_BYTES, ChunkRange, HEAD_BYTES, Head, Modified, Record, Reply, SessionOpening, Version,
    chunk_head, receipt,
};
use skyhaul_files::{
    Code, Destination, Digest, FileName, RawName, Reason, ReceiveOptions, SessionReport, Side, Source,
    chunk_count, chunk_digest, chunk_len, receive, send_as, silent,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::input::Input;

/// Records of one run.
const MAX_RECORDS: usize = 100;
/// Largest file that is taken: a fuzzer has better things to do than to fill a disk.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Octets that a stream in memory holds.
const PIPE_BYTES: usize = 16 * 1024;

/// Interprets bytes as what a peer says. Nothing may panic or hang; the folder has the files that were
/// reported, with the digest that was announced, and nothing else; a sender believes in no delivery that it
/// has no receipt of; all that is said can be decoded.
///
/// # Panics
///
/// If that does not hold.
pub fn file_records(bytes: &[u8]) {
    let mut input = Input(bytes);
    let shape = input.byte();
    // Virtual time: nobody waits for a farewell.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime without a driver needs nothing");
    if shape & 1 == 0 {
        runtime.block_on(hear_sender(shape, &mut input));
    } else {
        runtime.block_on(hear_receiver(shape, &mut input));
    }
}

fn version(shape: u8) -> Version {
    if shape & 2 == 0 { Version::One } else { Version::Two }
}

async fn hear_sender(shape: u8, input: &mut Input<'_>) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let destination = Destination::open(folder.path()).expect("it can be opened");
    let options = ReceiveOptions {
        overwrite: shape & 4 != 0,
        max_bytes: Some(MAX_FILE_BYTES),
        any_name: shape & 8 != 0,
        max_open_files: (shape & 16 != 0).then_some(4),
    };
    let (stream, mut said) = (words(shape, input), Vec::new());
    let report = match receive(&stream[..], &mut said, &destination, &options, silent).await {
        Ok(report) => report,
        Err(error) => error.report,
    };
    check_folder(folder.path(), &report);
    check_replies(&said);
}

/// Stream of a sender that keeps most of the rules.
fn words(shape: u8, input: &mut Input<'_>) -> Vec<u8> {
    let files = if shape & 32 == 0 { u32::from(input.byte() % 8) } else { input.word() };
    let bytes = u64::from(input.word());
    let mut stream = SessionOpening { version: version(shape), files, bytes }.encode().to_vec();
    let (mut file, mut size, mut number) = (u32::MAX, 0, 0);
    let mut digests = Vec::new();
    for _ in 0..MAX_RECORDS {
        if input.is_empty() {
            break;
        }
        let begun = stream.len();
        let (kind, odd) = (input.byte() % 8, input.byte());
        let other_file = if odd & 1 != 0 { file.wrapping_sub(u32::from(odd >> 4)) } else { file };
        match kind {
            0 => {
                file = file.wrapping_add(1);
                // Sizes about the ends of a chunk, and small ones.
                let sizes = [0, 1, 200, 262_143, 262_144, 262_145, 524_288, u64::from(input.word()) << 16];
                (size, number) = (sizes[usize::from(odd >> 1 & 7)], 0);
                digests.clear();
                let length = 1 + usize::from(input.byte() % 40);
                let name = input.take(length);
                let name = RawName::new(if name.is_empty() { b"n".to_vec() } else { name.to_vec() });
                let time = Modified { seconds: i64::from(input.byte()) << (odd >> 3), nanos: 5 };
                let modified = (odd & 32 != 0).then_some(time);
                stream.extend(Record::File { size, executable: odd & 64 != 0, modified, name }.encode(file));
            }
            1..=3 => {
                let at = if odd & 2 != 0 { u32::from(input.byte()) } else { number };
                let data = vec![odd | 1; chunk_len(size.min(MAX_FILE_BYTES), at)];
                let digest = chunk_digest(at, chunk_count(size), &data);
                if at == number {
                    digests.push(digest);
                    number += 1;
                }
                let length = if odd & 4 != 0 { input.word() as usize } else { data.len() };
                stream.extend(chunk_head(other_file, at, length, &digest));
                stream.extend(if odd & 8 != 0 { vec![odd; data.len()] } else { data });
            }
            4 | 5 => {
                let digest = root(&digests);
                let digest = if odd & 2 != 0 { Digest([odd; 32]) } else { digest };
                stream.extend(Record::End { digest }.encode(other_file));
            }
            6 => {
                let reason = Reason::new(Code::from_octet(odd), "words");
                stream.extend(Record::Abort { reason }.encode(other_file));
            }
            _ => stream.extend(input.take(usize::from(odd))),
        }
        if odd & 128 != 0 && stream.len() > begun && input.byte().is_multiple_of(8) {
            let at = begun + usize::from(input.byte()) % (stream.len() - begun);
            stream[at] ^= 1;
        }
    }
    stream
}

/// Digest of a file with these chunks.
fn root(chunks: &[Digest]) -> Digest {
    if chunks.is_empty() {
        return Digest(*blake3::hash(b"").as_bytes());
    }
    let mut tree = skyhaul_files::Tree::default();
    for &chunk in chunks {
        tree.push(chunk);
    }
    tree.root()
}

fn check_folder(folder: &Path, report: &SessionReport) {
    let mut told = BTreeSet::new();
    for file in &report.files {
        let Some(digest) = file.digest() else { continue };
        let name = FileName::new(file.name.as_bytes().to_vec()).expect("no other name is given to a file");
        let content = fs::read(folder.join(name.as_os_str())).expect("what was delivered is there");
        let is_last = told.insert(name.as_os_str().to_os_string());
        assert!(is_last, "two files of one transfer replaced each other");
        assert_eq!(content.len() as u64, file.bytes, "{name:?}");
        assert_eq!(blake3::hash(&content).as_bytes(), &digest.0, "{name:?}");
    }
    let entries = fs::read_dir(folder).expect("it can be listed");
    let names: BTreeSet<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names, told, "files that were not delivered, or delivered ones that are not there");
}

fn check_replies(mut said: &[u8]) {
    while let Some((head, rest)) = said.split_first_chunk::<HEAD_BYTES>() {
        let head = Head::decode(head, Side::Receiver).expect("what is said can be decoded");
        let (sealed, rest) = rest.split_at_checked(head.sealed_body_bytes()).expect("all of it was said");
        let body = &sealed[..sealed.len() - BODY_CHECK_BYTES];
        Reply::decode(&head, body).expect("what is said can be decoded");
        said = rest;
    }
    assert_eq!(said, b"");
}

async fn hear_receiver(shape: u8, input: &mut Input<'_>) {
    let count = 1 + usize::from(shape >> 2 & 3);
    let contents: Vec<Vec<u8>> = (0..count)
        .map(|i| vec![i as u8; [0, 5, 70_000, 300_000][(i + usize::from(shape >> 4)) % 4]])
        .collect();
    let source = |(i, content): (usize, &Vec<u8>)| Source::from_bytes(format!("f{i}"), content.clone());
    let sources: Vec<Source> =
        contents.iter().enumerate().map(|file| source(file).expect("a plain name")).collect();
    let (here, there) = tokio::io::duplex(PIPE_BYTES);
    let (reader, writer) = tokio::io::split(here);
    let digests: Vec<Digest> =
        contents.iter().map(|content| Digest(*blake3::hash(content).as_bytes())).collect();
    let talk = answer(there, &digests, input);
    let (sent, receipts) = tokio::join!(send_as(version(shape), reader, writer, sources, silent), talk);
    let report = sent.unwrap_or_else(|error| error.report);
    assert!(report.files.len() <= count);
    for (number, file) in report.files.iter().enumerate().filter(|(_, file)| file.digest().is_some()) {
        assert!(receipts.contains(&number), "nobody has confirmed {file:?}");
    }
}

/// Talks as a receiver of files with these digests; files that a right receipt was given for.
async fn answer(
    stream: tokio::io::DuplexStream,
    digests: &[Digest],
    input: &mut Input<'_>,
) -> BTreeSet<usize> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let (mut receipts, mut room) = (BTreeSet::new(), vec![0; 1 << 16]);
    for _ in 0..MAX_RECORDS {
        if input.is_empty() {
            break;
        }
        let (kind, odd) = (input.byte() % 8, input.byte());
        let file = usize::from(odd & 7);
        let reason = || Reason::new(Code::from_octet(odd >> 3), "words");
        let words = match kind {
            0..=2 => {
                // As much as is there by then, and no more.
                for _ in 0..=odd {
                    let most = tokio::time::Duration::from_millis(1);
                    let read = tokio::time::timeout(most, reader.read(&mut room)).await;
                    if !read.is_ok_and(|read| read.is_ok_and(|count| count > 0)) {
                        break;
                    }
                }
                continue;
            }
            3 | 4 => {
                let count = 1 + usize::from(odd >> 3 & 3);
                let right = digests.get(file..file + count).filter(|_| odd & 64 == 0);
                let receipt = right.map_or([odd; 16], receipt);
                receipts.extend(right.into_iter().flat_map(|_| file..file + count));
                Reply::Delivered { count: count as u32, receipt }.encode(file as u32)
            }
            5 => {
                let ranges =
                    vec![ChunkRange { first: u32::from(odd >> 6), count: 1 + u16::from(odd >> 5 & 1) }];
                Reply::Again { ranges }.encode(file as u32)
            }
            6 if odd & 128 == 0 => Reply::Failed { reason: reason() }.encode(file as u32),
            6 => Reply::Stop { reason: reason() }.encode(0),
            _ => input.take(usize::from(odd)).to_vec(),
        };
        if writer.write_all(&words).await.is_err() {
            break;
        }
    }
    let _ = writer.shutdown().await;
    // The sender is not to wait for room.
    while reader.read(&mut room).await.is_ok_and(|count| count > 0) {}
    receipts
}
