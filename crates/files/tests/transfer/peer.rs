//! A sender against a receiver that is played by hand.

use std::time::Duration;

use skyhaul_files::codec::{ChunkRange, HEAD_BYTES, Head, Record, Reply, chunk_data_len, receipt};
use skyhaul_files::{Code, Digest, Fault, Reason, Side, Source, Violation, send, silent};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::task::JoinHandle;

use crate::support::*;

struct Peer {
    from_sender: DuplexStream,
    to_sender: DuplexStream,
    sending: JoinHandle<Sent>,
}

impl Peer {
    /// A sender that has written its opening.
    async fn of(sources: Vec<Source>, capacity: usize) -> Self {
        let ends = ends(capacity);
        let sending = tokio::spawn(send(ends.sender.0, ends.sender.1, sources, silent));
        let (mut from_sender, to_sender) = ends.receiver;
        from_sender.read_exact(&mut [0; 28]).await.unwrap();
        Self { from_sender, to_sender, sending }
    }

    /// The next record of the sender.
    async fn next(&mut self) -> (u32, Record) {
        let mut head = [0; HEAD_BYTES];
        self.from_sender.read_exact(&mut head).await.unwrap();
        let head = Head::decode(&head, Side::Sender).unwrap();
        let mut body = vec![0; head.sealed_body_bytes()];
        self.from_sender.read_exact(&mut body).await.unwrap();
        let body = &body[..body.len() - 4];
        let mut data = vec![0; chunk_data_len(&head, body).unwrap()];
        self.from_sender.read_exact(&mut data).await.unwrap();
        (head.file, Record::decode(&head, body).unwrap())
    }

    /// Reads until the end of some file, and gives its digest.
    async fn until_end(&mut self) -> Digest {
        loop {
            if let (_, Record::End { digest }) = self.next().await {
                return digest;
            }
        }
    }

    async fn says_no_more(&mut self) -> bool {
        tokio::time::timeout(Duration::from_millis(50), self.next()).await.is_err()
    }

    async fn say(&mut self, file: u32, reply: Reply) {
        self.to_sender.write_all(&reply.encode(file)).await.unwrap();
    }

    async fn result(mut self) -> Sent {
        let mut rest = Vec::new();
        let _ = self.from_sender.read_to_end(&mut rest).await;
        self.sending.await.unwrap()
    }
}

fn again(first: u32, count: u16) -> Reply {
    Reply::Again { ranges: vec![ChunkRange { first, count }] }
}

fn delivered(digests: &[Digest]) -> Reply {
    Reply::Delivered { count: digests.len() as u32, receipt: receipt(digests) }
}

fn failed() -> Reply {
    Reply::Failed { reason: Reason::new(Code::Storage, "the disk burns") }
}

#[tokio::test]
async fn chunks_that_are_asked_for_are_sent_again_and_nothing_else() {
    let mut peer = Peer::of(vec![memory("a", noise(5 * CHUNK, 1))], 4096).await;
    let digest = peer.until_end().await;
    peer.say(0, again(1, 2)).await;
    let numbers = [peer.next().await, peer.next().await].map(|(_, record)| match record {
        Record::Chunk { number, .. } => number,
        other => panic!("{other:?}"),
    });
    assert_eq!(numbers, [1, 2]);
    assert_eq!(peer.next().await, (0, Record::End { digest }));
    assert!(peer.says_no_more().await);
    peer.say(0, delivered(&[digest])).await;
    assert_eq!(peer.result().await.unwrap().files[0].chunks_again, 2);
}

#[tokio::test]
async fn a_failure_amid_repairs_is_answered_by_an_abort() {
    let mut peer = Peer::of(vec![memory("a", noise(5 * CHUNK, 1)), memory("b", b"")], 4096).await;
    peer.until_end().await;
    let b = peer.until_end().await;
    peer.say(0, again(0, 5)).await;
    peer.say(0, failed()).await;
    let mut chunks = 0;
    let reason = loop {
        match peer.next().await {
            (0, Record::Chunk { .. }) => chunks += 1,
            (0, Record::Abort { reason }) => break reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(reason.code, Code::Refused);
    assert!(chunks < 3, "{chunks}");
    peer.say(1, delivered(&[b])).await;
    let report = peer.result().await.unwrap();
    assert_eq!(codes(&report), [Some(Code::Storage), None]);
}

#[tokio::test]
async fn a_failure_after_the_end_needs_no_answer() {
    let mut peer = Peer::of(vec![memory("a", b"hello")], 4096).await;
    peer.until_end().await;
    peer.say(0, failed()).await;
    let mut rest = Vec::new();
    peer.from_sender.read_to_end(&mut rest).await.unwrap();
    assert!(rest.is_empty());
    assert_eq!(codes(&peer.result().await.unwrap()), [Some(Code::Storage)]);
}

#[tokio::test]
async fn the_ninth_request_for_a_file_is_one_too_many() {
    let mut peer = Peer::of(vec![memory("a", b"hello")], 4096).await;
    peer.until_end().await;
    for _ in 0..8 {
        peer.say(0, again(0, 1)).await;
        peer.until_end().await;
    }
    peer.say(0, again(0, 1)).await;
    broke(peer, "a request for chunks").await;
}

async fn broke(peer: Peer, expected: &str) {
    match peer.result().await.unwrap_err().cause {
        Fault::Protocol(Violation::Order { what, file: 0 }) => assert_eq!(what, expected),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn replies_that_cannot_be_are_noticed() {
    for (reply, expected) in [
        (again(1, 1), "a request for chunks"),
        (delivered(&[Digest([0; 32])]), "a receipt"),
        (delivered(&[]), "a receipt"),
    ] {
        let mut peer = Peer::of(vec![memory("a", b"hello")], 4096).await;
        peer.until_end().await;
        peer.say(0, reply).await;
        broke(peer, expected).await;
    }
}

#[tokio::test]
async fn replies_before_their_time_are_noticed() {
    for (reply, expected) in [
        (again(0, 1), "a request for chunks"),
        (delivered(&[Digest(*blake3::hash(&noise(5 * CHUNK, 1)).as_bytes())]), "a receipt"),
    ] {
        let mut peer = Peer::of(vec![memory("a", noise(5 * CHUNK, 1))], 100).await;
        peer.say(0, reply).await;
        broke(peer, expected).await;
    }
}

#[tokio::test]
async fn the_window_is_kept() {
    let sources = (0..200).map(|i| memory(format!("f{i}"), b"")).collect();
    let mut peer = Peer::of(sources, 1 << 20).await;
    let mut digest = Digest([0; 32]);
    for _ in 0..128 {
        digest = peer.until_end().await;
    }
    assert!(peer.says_no_more().await);
    peer.say(0, delivered(&[digest; 3])).await;
    peer.say(77, failed()).await;
    for _ in 0..4 {
        peer.until_end().await;
    }
    assert!(peer.says_no_more().await);
}

/// Else it would stay for several round trips, to answer the receiver's end.
#[tokio::test]
async fn a_sender_that_gave_its_last_file_up_ends_behind_the_receiver() {
    let here = Folder::new();
    let path = here.put("gone", b"1");
    let source = Source::open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let mut peer = Peer::of(vec![source], 4096).await;
    assert!(matches!(peer.next().await, (0, Record::File { .. })));
    assert!(matches!(peer.next().await, (0, Record::Abort { .. })));
    let ends = tokio::time::timeout(Duration::from_millis(200), peer.from_sender.read_u8()).await;
    assert!(ends.is_err(), "{ends:?}");
    peer.to_sender.shutdown().await.unwrap();
    let ends = tokio::time::timeout(Duration::from_secs(2), peer.from_sender.read_u8()).await;
    assert!(matches!(ends, Ok(Err(_))), "{ends:?}");
    assert_eq!(codes(&peer.result().await.unwrap()), [Some(Code::Changed)]);
}
