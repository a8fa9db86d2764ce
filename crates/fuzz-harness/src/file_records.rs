//! Records of files: a receiver that hears any stream, and a sender that hears any replies.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use skyhaul_files::codec::{
    BODY_CHECK_BYTES, CUT, ChunkRange, HEAD_BYTES, Head, MORE, Modified, OPENING_BYTES, PORTION_BYTES,
    Record, Reply, SessionOpening, Version, chunk_data_len, chunk_head, portion, portioned_bytes, receipt,
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
    match shape & (2 | 64) {
        0 | 64 => Version::One,
        2 => Version::Two,
        _ => Version::Three,
    }
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
                let data = if odd & 8 != 0 { vec![odd; data.len()] } else { data };
                stream.extend(if version(shape) == Version::Three { in_portions(data, odd) } else { data });
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

/// Data of a chunk in portions, after the first of which it may end.
fn in_portions(mut data: Vec<u8>, odd: u8) -> Vec<u8> {
    let bytes = data.len();
    data.resize(portioned_bytes(bytes), 0);
    portion(&mut data, bytes);
    if odd & 16 != 0 && bytes > PORTION_BYTES {
        data.truncate(PORTION_BYTES);
        data.push(CUT);
    }
    data
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

/// What a sender says can be decoded, as far as it has come; only a chunk of a file that it was told of a
/// failure of ends early, and then the file is given up.
fn check_records(version: Version, failed: &BTreeSet<usize>, said: &[u8]) {
    let Some((_, mut said)) = said.split_at_checked(OPENING_BYTES) else { return };
    let mut cut = None;
    while let Some((head, rest)) = said.split_first_chunk::<HEAD_BYTES>() {
        let head = Head::decode(head, Side::Sender).expect("what is said can be decoded");
        let Some((sealed, rest)) = rest.split_at_checked(head.sealed_body_bytes()) else { return };
        let body = &sealed[..sealed.len() - BODY_CHECK_BYTES];
        let record = Record::decode(&head, body).expect("what is said can be decoded");
        if cut.take().is_some_and(|file| file == head.file) {
            assert!(matches!(record, Record::Abort { .. }), "{record:?} behind a chunk that ended early");
        }
        let data = chunk_data_len(&head, body).expect("no other length is said");
        let Some((is_cut, rest)) = skip_data(version, data, rest) else { return };
        assert!(!is_cut || failed.contains(&(head.file as usize)), "{head:?} ended early");
        cut = is_cut.then_some(head.file);
        said = rest;
    }
}

/// What stands behind the data of a chunk, and if it ended early; `None` if not all of it is there.
fn skip_data(version: Version, mut data: usize, mut said: &[u8]) -> Option<(bool, &[u8])> {
    while version == Version::Three && data > PORTION_BYTES {
        let behind = *said.get(PORTION_BYTES)?;
        assert!(behind == MORE || behind == CUT, "{behind} between portions");
        said = &said[PORTION_BYTES + 1..];
        if behind == CUT {
            return Some((true, said));
        }
        data -= PORTION_BYTES;
    }
    Some((false, said.get(data..)?))
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
    let (sent, heard) = tokio::join!(send_as(version(shape), reader, writer, sources, silent), talk);
    let Heard { receipts, failed, said } = heard;
    check_records(version(shape), &failed, &said);
    let report = sent.unwrap_or_else(|error| error.report);
    assert!(report.files.len() <= count);
    for (number, file) in report.files.iter().enumerate().filter(|(_, file)| file.digest().is_some()) {
        assert!(receipts.contains(&number), "nobody has confirmed {file:?}");
    }
}

/// Answers that were given to a sender, and all that it said.
#[derive(Default)]
struct Heard {
    /// Files that a right receipt was given for.
    receipts: BTreeSet<usize>,
    /// Files whose failure was told.
    failed: BTreeSet<usize>,
    said: Vec<u8>,
}

/// Talks as a receiver of files with these digests.
async fn answer(stream: tokio::io::DuplexStream, digests: &[Digest], input: &mut Input<'_>) -> Heard {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let (mut heard, mut room) = (Heard::default(), vec![0; 1 << 16]);
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
                    match read {
                        Ok(Ok(count @ 1..)) => heard.said.extend(&room[..count]),
                        _ => break,
                    }
                }
                continue;
            }
            3 | 4 => {
                let count = 1 + usize::from(odd >> 3 & 3);
                let right = digests.get(file..file + count).filter(|_| odd & 64 == 0);
                let receipt = right.map_or([odd; 16], receipt);
                heard.receipts.extend(right.into_iter().flat_map(|_| file..file + count));
                Reply::Delivered { count: count as u32, receipt }.encode(file as u32)
            }
            5 => {
                let ranges =
                    vec![ChunkRange { first: u32::from(odd >> 6), count: 1 + u16::from(odd >> 5 & 1) }];
                Reply::Again { ranges }.encode(file as u32)
            }
            6 if odd & 128 == 0 => {
                heard.failed.insert(file);
                Reply::Failed { reason: reason() }.encode(file as u32)
            }
            6 => Reply::Stop { reason: reason() }.encode(0),
            _ => input.take(usize::from(odd)).to_vec(),
        };
        if writer.write_all(&words).await.is_err() {
            break;
        }
    }
    let _ = writer.shutdown().await;
    // The sender is not to wait for room.
    while let Ok(count @ 1..) = reader.read(&mut room).await {
        heard.said.extend(&room[..count]);
    }
    heard
}
