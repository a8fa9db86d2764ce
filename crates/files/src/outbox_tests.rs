//! Payload is counted when it was written, and not before.

use std::pin::Pin;
use std::task::{Context, Poll};

use super::*;

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
