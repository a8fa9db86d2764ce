//! Damage on the way is repaired, or fails cleanly; it never reaches a file.

use skyhaul_files::{Code, Fault, ReceiveOptions, Source, Violation};

use crate::streams::*;
use crate::support::*;

/// Where the data of the first chunk begins if the first file's name has one octet.
const FIRST_DATA: u64 = 28 + (12 + 9 + 4) + 56;
/// From one chunk's data to the next.
const STRIDE: u64 = CHUNK as u64 + 56;
/// In four chunks of seven.
const SCATTERED: &[u64] =
    &[FIRST_DATA, FIRST_DATA + STRIDE + 5, FIRST_DATA + 2 * STRIDE + 77, FIRST_DATA + 6 * STRIDE + 98];

async fn through(
    damage: impl FnMut(u64, u8) -> u8 + Unpin,
    sources: Vec<Source>,
    folder: &Folder,
) -> (Sent, Received) {
    let ends = ends(64 * 1024);
    let (reader, writer) = ends.receiver;
    run(sources, ends.sender, (Tampered::new(reader, damage), writer), folder, &ReceiveOptions::default())
        .await
}

#[tokio::test]
async fn damaged_chunks_are_fetched_again() {
    let (folder, content) = (Folder::new(), noise(6 * CHUNK + 99, 1));
    let ends = ends(64 * 1024);
    let reader = flip_at(ends.receiver.0, SCATTERED);
    let sources = vec![memory("a", content.clone())];
    let (sent, received) =
        run(sources, ends.sender, (reader, ends.receiver.1), &folder, &ReceiveOptions::default()).await;
    let (sent, received) = (sent.unwrap(), received.unwrap());
    assert_eq!(sent, received);
    assert_eq!(sent.files[0].chunks_again, 4);
    assert_eq!(digests(&sent)["a"], b3sum(&content));
    assert!(folder.read("a") == content);
}

#[tokio::test]
async fn a_single_chunk_is_fetched_again_as_well() {
    let folder = Folder::new();
    let once = |offset, octet| if offset == FIRST_DATA + 2 { octet ^ 1 } else { octet };
    let (sent, received) = through(once, vec![memory("a", b"hello")], &folder).await;
    assert_eq!((sent.unwrap().chunks_again(), received.unwrap().chunks_again()), (1, 1));
    assert_eq!(folder.read("a"), b"hello");
}

/// Files of which each has marks that can be damaged.
fn marked(files: usize, chunks: usize) -> Vec<Source> {
    let content = |file| {
        let mut content = noise(chunks * CHUNK, file as u64);
        content.chunks_mut(CHUNK).for_each(|chunk| chunk[100..116].copy_from_slice(&MARK));
        content
    };
    (0..files).map(|file| memory(format!("f{file}"), content(file))).collect()
}

#[tokio::test]
async fn repairs_and_later_files_share_the_stream() {
    let (folder, ends) = (Folder::new(), ends(64 * 1024));
    let reader = damage_marks(ends.receiver.0, 11);
    let receiver = (reader, ends.receiver.1);
    let (sent, received) =
        run(marked(8, 4), ends.sender, receiver, &folder, &ReceiveOptions::default()).await;
    let (sent, received) = (sent.unwrap(), received.unwrap());
    assert_eq!(sent, received);
    assert!(sent.all_delivered());
    assert_eq!(sent.chunks_again(), 11);
    assert_eq!(folder.names().len(), 8);
}

#[tokio::test]
async fn a_chunk_that_never_gets_through_fails_its_file_only() {
    let (folder, ends) = (Folder::new(), ends(64 * 1024));
    let receiver = (damage_marks(ends.receiver.0, usize::MAX), ends.receiver.1);
    let mut sources = marked(2, 1);
    sources.insert(1, memory("good", noise(CHUNK, 3)));
    let (sent, received) = run(sources, ends.sender, receiver, &folder, &ReceiveOptions::default()).await;
    let (sent, received) = (sent.unwrap(), received.unwrap());
    assert_eq!(codes(&sent), [Some(Code::Damaged), None, Some(Code::Damaged)]);
    assert_eq!(sent, received);
    assert_eq!(sent.files[0].chunks_again, 8);
    assert_eq!(folder.names(), [b"good"]);
    let said = sent.files[0].failure().unwrap().to_string();
    assert_eq!(said, "receiver: 1 chunks came damaged 8 times more; check the stream");
}

#[tokio::test]
async fn too_much_damage_is_given_up() {
    let folder = Folder::new();
    let every_chunk = |offset: u64, octet: u8| {
        let data =
            offset.checked_sub(FIRST_DATA).is_some_and(|past| past % STRIDE == 9 && past / STRIDE <= 1024);
        if data { !octet } else { octet }
    };
    let sources = vec![memory("a", vec![0; 1030 * CHUNK]), memory("b", b"")];
    let (sent, received) = through(every_chunk, sources, &folder).await;
    let (sent, received) = (sent.unwrap(), received.unwrap());
    assert_eq!(codes(&sent), [Some(Code::Damaged), None]);
    assert_eq!(codes(&received), codes(&sent));
    assert_eq!(folder.names(), [b"b"]);
}

#[tokio::test]
async fn a_damaged_octet_anywhere_is_repaired_or_ends_the_session() {
    let stream = crate::craft::stream(&[(b"a", b"some data"), (b"b", b"")]);
    let mut repaired = 0;
    for at in 0..stream.len() as u64 {
        let folder = Folder::new();
        let once = |offset, octet: u8| if offset == at { octet ^ 0x40 } else { octet };
        let sources = vec![memory("a", b"some data"), memory("b", b"")];
        let (sent, received) = through(once, sources, &folder).await;
        assert_eq!(sent.is_ok(), received.is_ok(), "at {at}");
        assert!(!folder.has_unfinished());
        if let (Ok(sent), Ok(_)) = (&sent, &received) {
            assert!(sent.all_delivered() && sent.chunks_again() == 1);
            repaired += 1;
        }
        if let (Err(sent), Err(received)) = (sent, received) {
            assert!(matches!(sent.cause, Fault::Stopped(_)), "{sent}");
            assert!(matches!(received.cause, Fault::Protocol(_)), "{received}");
        }
        assert!(!folder.names().contains(&b"a".to_vec()) || folder.read("a") == b"some data");
    }
    assert_eq!(repaired, 9, "the octets of the data and no others can be damaged without ending the session");
}

#[tokio::test]
async fn both_sides_say_what_was_damaged() {
    let once = |offset, octet| if offset == 30 { octet ^ 1 } else { octet };
    let (sent, received) = through(once, vec![memory("a", noise(3 * CHUNK, 1))], &Folder::new()).await;
    let (sent, received) = (sent.unwrap_err(), received.unwrap_err());
    assert_eq!(sent.to_string(), "the receiver gave up: a record's head is damaged");
    assert!(matches!(received.cause, Fault::Protocol(Violation::Check(_))));
    assert_eq!(codes(&sent.report), [Some(Code::Interrupted)]);
}

#[tokio::test]
async fn damaged_replies_end_the_session() {
    let (folder, ends) = (Folder::new(), ends(1000));
    let sender = (flip_at(ends.sender.0, &[3]), ends.sender.1);
    let sources = vec![memory("a", b"x")];
    let (sent, received) = run(sources, sender, ends.receiver, &folder, &ReceiveOptions::default()).await;
    assert!(matches!(sent.unwrap_err().cause, Fault::Protocol(_)));
    // The receiver has done its part.
    assert!(received.unwrap().all_delivered());
}
