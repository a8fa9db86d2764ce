//! Payload is counted when it was written, and not before.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::*;
use crate::codec::{MORE, portion};

/// Takes a few octets a time.
struct Trickle(Vec<u8>);

impl AsyncWrite for Trickle {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, octets: &[u8]) -> Poll<io::Result<usize>> {
        let taken = octets.len().min(3);
        self.0.extend_from_slice(&octets[..taken]);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn what_waits_is_not_counted() {
    let (mut out, mut stream) = (Outbox::default(), Trickle(Vec::new()));
    out.put(b"head");
    out.room(5).copy_from_slice(b"DATA!");
    out.commit(5, 5);
    let mut moved = Vec::new();
    while out.wants() {
        moved.push(out.moved());
        out.drive(&mut stream).await.unwrap();
    }
    assert_eq!(stream.0, b"headDATA!");
    assert_eq!(moved, [0, 0, 2, 5]);
    out.take_back(3);
    assert_eq!(out.moved(), 2);
}

#[tokio::test]
async fn octets_may_be_added_while_others_wait() {
    let (mut out, mut stream) = (Outbox::default(), Trickle(Vec::new()));
    out.put(b"one, ");
    out.drive(&mut stream).await.unwrap();
    out.put(b"two");
    while out.wants() {
        out.drive(&mut stream).await.unwrap();
    }
    assert_eq!(stream.0, b"one, two");
}

#[tokio::test]
async fn a_stream_that_takes_nothing_is_an_error() {
    let mut out = Outbox::default();
    out.put(b"x");
    let nothing: &mut [u8] = &mut [];
    let error = out.drive(&mut io::Cursor::new(nothing)).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WriteZero);
}

/// Octets of data of a chunk in three portions.
const DATA: usize = 2 * PORTION_BYTES + 7;

/// A record and a chunk of file 5 behind it.
fn with_a_chunk() -> Outbox {
    let mut out = Outbox::default();
    out.put(b"head");
    let room = out.room(CHUNK_HEAD_BYTES + portioned_bytes(DATA));
    let (head, data) = room.split_at_mut(CHUNK_HEAD_BYTES);
    head.fill(b'h');
    (0..).zip(&mut data[..DATA]).for_each(|(place, octet): (usize, _)| *octet = (place % 251) as u8);
    portion(data, DATA);
    out.commit_portions(5, DATA);
    out
}

#[test]
fn a_chunk_is_cut_behind_the_portion_under_way_wherever_that_is() {
    let whole = with_a_chunk().storage;
    let begin = 4 + CHUNK_HEAD_BYTES;
    let ends = [1, 2].map(|portions| begin + portions * (PORTION_BYTES + 1));
    assert_eq!((whole[ends[0] - 1], whole[ends[1] - 1]), (MORE, MORE));
    for written in 0..whole.len() {
        let mut out = with_a_chunk();
        out.written(written);
        let before = out.moved();
        let dropped = out.cut(5) as usize;
        let said = [&whole[..written], &out.storage[out.start..out.end]].concat();
        let (end, kept) = match written {
            0..=4 => (4, 0),
            _ if written < ends[0] => (ends[0], PORTION_BYTES),
            _ if written < ends[1] => (ends[1], 2 * PORTION_BYTES),
            _ => (whole.len(), DATA),
        };
        assert_eq!((said.len(), DATA - dropped), (end, kept), "{written} octets written");
        assert!(out.moved() >= before && out.moved() <= kept as u64, "{written} octets written");
        let is_cut = end > 4 && end < whole.len();
        let same = end - usize::from(is_cut);
        assert!(said[..same] == whole[..same] && (!is_cut || said[same] == CUT), "{written} octets written");
    }
}

#[test]
fn nothing_else_is_cut() {
    let mut out = with_a_chunk();
    out.written(100);
    assert_eq!(out.cut(4), 0, "another file");
    let mut out = with_a_chunk();
    out.written(100);
    out.put(b"end");
    assert_eq!(out.cut(5), 0, "there is something behind it");
    let mut out = with_a_chunk();
    out.written(out.len());
    out.put(b"end");
    assert_eq!((out.cut(5), out.len()), (0, 3), "it is gone");
    let mut out = with_a_chunk();
    out.written(100);
    assert!(out.cut(5) > 0 && out.cut(5) == 0, "it is cut");
}

#[tokio::test]
async fn memory_of_what_comes_is_taken_where_nothing_waits() {
    let (mut out, mut stream) = (Outbox::default(), Trickle(Vec::new()));
    let mut record = b"first, ".to_vec();
    let memory = record.as_ptr();
    out.fill_room(&mut record);
    out.commit(7, 7);
    assert_eq!(out.storage.as_ptr(), memory, "without a copy");
    let mut record = b"second".to_vec();
    out.fill_room(&mut record);
    out.commit(6, 6);
    assert_eq!(record, b"second", "copied");
    while out.wants() {
        out.drive(&mut stream).await.unwrap();
    }
    assert_eq!((stream.0.as_slice(), out.moved()), (&b"first, second"[..], 13));
}
