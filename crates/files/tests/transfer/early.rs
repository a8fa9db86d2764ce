//! Chunks that end early, since their file was refused: version 3, beside what those before it do.

use skyhaul_files::codec::{
    CUT, HEAD_BYTES, Head, MORE, PORTION_BYTES, Record, SessionOpening, chunk_data_len, chunk_head, portion,
    portioned_bytes,
};
use skyhaul_files::{
    Code, Digest, Event, Fault, RawName, ReceiveOptions, SessionReport, Side, Source, Version, Violation,
    chunk_digest, receive, send_as, silent,
};

use crate::craft;
use crate::streams::*;
use crate::support::*;

const VERSIONS: [Version; 3] = [Version::One, Version::Two, Version::Three];
/// Octets that the stream holds beside what is read.
const PIPE: usize = 4 * 1024;

/// Sends in this version; gives the sender's report, all that it wrote, and the payload that it said it wrote
/// of how much.
async fn sent_as(
    version: Version,
    sources: Vec<Source>,
    folder: &Folder,
) -> (SessionReport, Vec<u8>, (u64, u64)) {
    let (ends, destination) = (ends(PIPE), folder.destination());
    let writer = Recorded::new(ends.sender.1);
    let log = std::sync::Arc::clone(&writer.octets);
    let options = ReceiveOptions::default();
    let mut moved = (0, 0);
    let watch = |event: &Event<'_>| {
        if let Event::Moved { bytes, total } = event {
            moved = (*bytes, *total);
        }
    };
    let (sent, received) = tokio::join!(
        send_as(version, ends.sender.0, writer, sources, watch),
        receive(ends.receiver.0, ends.receiver.1, &destination, &options, silent)
    );
    let (sent, received) = (sent.unwrap(), received.unwrap());
    assert_eq!(codes(&sent), codes(&received));
    let written = log.lock().unwrap().clone();
    (sent, written, moved)
}

/// Octets of a stream that belong to file 1, as it was sent in versions 1 and 2.
fn of_second_file(mut stream: &[u8]) -> usize {
    let mut octets = 0;
    stream = &stream[28..];
    while let Some((head, rest)) = stream.split_first_chunk::<HEAD_BYTES>() {
        let head = Head::decode(head, Side::Sender).unwrap();
        let body = &rest[..head.sealed_body_bytes() - 4];
        let record = HEAD_BYTES + head.sealed_body_bytes() + chunk_data_len(&head, body).unwrap();
        octets += if head.file == 1 { record } else { 0 };
        stream = &stream[record..];
    }
    octets
}

#[tokio::test]
async fn a_refusal_in_the_middle_of_a_queue_costs_what_is_under_way_and_no_chunk() {
    for version in VERSIONS {
        let folder = Folder::new();
        folder.put("b", b"old");
        let contents = [noise(2 * CHUNK, 1), noise(9 * CHUNK, 2), noise(CHUNK + 5, 3)];
        let names = ["a", "b", "c"];
        let sources = std::iter::zip(names, &contents).map(|(name, content)| memory(name, content.clone()));
        let (sent, written, (moved, total)) = sent_as(version, sources.collect(), &folder).await;
        assert_eq!(codes(&sent), [None, Some(Code::Exists), None], "{version:?}");
        assert!(folder.read("a") == contents[0] && folder.read("c") == contents[2], "{version:?}");
        assert_eq!(moved, total, "what is not sent any more is not to be moved");
        let others = contents[0].len() + contents[2].len();
        let refused = written.len() - others;
        if version == Version::Three {
            // The last term: heads of all records, and what stands between portions of the others.
            assert!(refused < 2 * PIPE + PORTION_BYTES + 1000, "{refused} octets");
        } else {
            let chunk = of_second_file(&written);
            assert!((CHUNK..CHUNK + 300).contains(&chunk), "its first chunk, whole: {chunk} octets");
        }
    }
}

#[tokio::test]
async fn every_size_around_a_portion_arrives() {
    let sizes = [PORTION_BYTES - 1, PORTION_BYTES, PORTION_BYTES + 1, 2 * PORTION_BYTES, CHUNK, CHUNK + 1];
    for size in sizes {
        let (folder, content) = (Folder::new(), noise(size, size as u64));
        let (sent, written, moved) =
            sent_as(Version::Three, vec![memory("a", content.clone())], &folder).await;
        assert!(sent.all_delivered() && folder.read("a") == content, "{size}");
        assert_eq!(moved, (size as u64, size as u64));
        let (chunks, between) = (size.div_ceil(CHUNK), (size.min(CHUNK) - 1) / PORTION_BYTES);
        // Opening, FILE, CHUNK before its data, END.
        assert_eq!(written.len(), 28 + 25 + chunks * 56 + 48 + size + between, "{size}");
    }
}

#[tokio::test]
async fn damaged_chunks_in_portions_are_fetched_again() {
    let (folder, ends) = (Folder::new(), ends(PIPE));
    let mut content = noise(3 * CHUNK, 1);
    content.chunks_mut(CHUNK).for_each(|chunk| chunk[5000..5016].copy_from_slice(&MARK));
    let (reader, options) = (damage_marks(ends.receiver.0, 2), ReceiveOptions::default());
    let destination = folder.destination();
    let (sent, received) = tokio::join!(
        send_as(Version::Three, ends.sender.0, ends.sender.1, vec![memory("a", content.clone())], silent),
        receive(reader, ends.receiver.1, &destination, &options, silent)
    );
    assert_eq!((sent.unwrap().chunks_again(), received.unwrap().chunks_again()), (2, 2));
    assert!(folder.read("a") == content);
}

/// Stream of version 3 with one file of three portions: its opening, its beginning, and its chunk with these
/// octets between the portions.
fn in_portions(name: &[u8], between: [u8; 2]) -> Vec<u8> {
    let content = noise(3 * PORTION_BYTES, 7);
    let mut data = content.clone();
    data.resize(portioned_bytes(content.len()), 0);
    portion(&mut data, content.len());
    for (number, octet) in between.into_iter().enumerate() {
        let place = (number + 1) * (PORTION_BYTES + 1) - 1;
        assert_eq!(std::mem::replace(&mut data[place], octet), MORE);
        if octet == CUT {
            data.truncate(place + 1);
            break;
        }
    }
    let size = content.len() as u64;
    let file = Record::File { size, executable: false, modified: None, name: RawName::new(name) };
    let digest = chunk_digest(0, 1, &content);
    [
        &SessionOpening { version: Version::Three, files: 1, bytes: size }.encode()[..],
        &file.encode(0),
        &chunk_head(0, 0, content.len(), &digest),
        &data,
    ]
    .concat()
}

fn abort() -> Vec<u8> {
    let reason = skyhaul_files::Reason::new(Code::Refused, "stopped");
    Record::Abort { reason }.encode(0)
}

#[tokio::test]
async fn only_a_chunk_of_a_file_that_was_refused_may_end_early() {
    let end =
        Record::End { digest: Digest(*blake3::hash(&noise(3 * PORTION_BYTES, 7)).as_bytes()) }.encode(0);
    let whole = [in_portions(b"a", [MORE; 2]), end].concat();
    assert!(feed(&whole, &Folder::new()).await.0.unwrap().all_delivered());
    for (between, kept) in [([CUT, MORE], 1), ([MORE, CUT], 2)] {
        let folder = Folder::new();
        let stream = [in_portions(b"a", between), abort()].concat();
        let cause = feed(&stream, &folder).await.0.unwrap_err().cause;
        let expected = Violation::Order { what: "a chunk that ends early", file: 0 };
        assert!(matches!(cause, Fault::Protocol(violation) if violation == expected), "{kept}: {cause}");
        folder.put("a", b"old");
        let report = feed(&stream, &folder).await.0.unwrap();
        assert_eq!(codes(&report), [Some(Code::Exists)], "after {kept} portions");
    }
}

#[tokio::test]
async fn another_octet_between_portions_ends_the_session() {
    let folder = Folder::new();
    folder.put("a", b"old");
    for octet in [1, 0x7f, 0xfe] {
        let stream = [in_portions(b"a", [MORE, octet]), abort()].concat();
        let cause = feed(&stream, &folder).await.0.unwrap_err().cause;
        let expected = Violation::Field("an octet between portions of a chunk");
        assert!(matches!(cause, Fault::Protocol(violation) if violation == expected), "{octet}: {cause}");
    }
}

/// The octets of versions 1 and 2 are data alone, also where a version 3 would end the chunk.
#[tokio::test]
async fn chunks_of_versions_one_and_two_have_no_portions() {
    let content = vec![CUT; 2 * PORTION_BYTES];
    for version in [Version::One, Version::Two] {
        let opening = SessionOpening { version, files: 1, bytes: 0 }.encode();
        let stream = [&opening[..], &craft::whole(0, b"a", &content)].concat();
        let folder = Folder::new();
        assert!(feed(&stream, &folder).await.0.unwrap().all_delivered(), "{version:?}");
        assert!(folder.read("a") == content);
        let sources = vec![memory("b", content.clone())];
        let (_, written, _) = sent_as(version, sources, &folder).await;
        let records = craft::whole(0, b"b", &content);
        assert!(written[28..] == records[..], "{version:?}: as it was written by hand");
    }
}
