//! Reading records in pieces, and giving up a read halfway.

use std::time::Duration;

use tokio::io::{AsyncWriteExt as _, duplex};

use super::*;
use crate::codec::{Record, Version, chunk_head};
use crate::digest::chunk_digest;

fn stream() -> Vec<u8> {
    let digest = chunk_digest(0, 1, b"hello");
    let end = Record::End { digest };
    [
        &SessionOpening { version: Version::One, files: 1, bytes: 5 }.encode()[..],
        &chunk_head(0, 0, 5, &digest),
        b"hello",
        &end.encode(0),
    ]
    .concat()
}

#[tokio::test(start_paused = true)]
async fn a_read_that_is_given_up_loses_nothing() {
    let (mut near, far) = duplex(1024);
    let mut frames = Frames::new(far, Side::Sender);
    let (mut seen, mut data) = (Vec::new(), 0);
    let writing = async {
        for octet in stream() {
            near.write_all(&[octet]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(7)).await;
        }
        drop(near);
    };
    let reading = async {
        frames.opening().await.unwrap();
        loop {
            match tokio::time::timeout(Duration::from_millis(3), frames.step()).await {
                Err(_) => {}
                Ok(Ok(FrameStep::Data { bytes, .. })) => data += bytes,
                Ok(Ok(FrameStep::Frame)) => seen.push(frames.frame().unwrap().head.kind),
                Ok(Ok(FrameStep::End)) => break,
                Ok(Err(fault)) => panic!("{fault}"),
            }
        }
    };
    tokio::join!(writing, reading);
    assert_eq!((seen, data), (vec![crate::codec::RecordKind::Chunk, crate::codec::RecordKind::End], 5));
}

#[tokio::test]
async fn the_data_of_a_chunk_is_told_apart() {
    let octets = stream();
    let mut frames = Frames::new(&octets[..], Side::Sender);
    assert_eq!(frames.opening().await.unwrap().files, 1);
    assert!(matches!(frames.step().await, Ok(FrameStep::Data { file: 0, bytes: 5 })));
    assert!(matches!(frames.step().await, Ok(FrameStep::Frame)));
    assert_eq!(frames.frame().unwrap().data, b"hello");
    assert!(matches!(frames.step().await, Ok(FrameStep::Frame)));
    assert!(matches!(frames.step().await, Ok(FrameStep::End)));
}

#[tokio::test]
async fn an_end_inside_a_record_is_an_error() {
    let octets = stream();
    let mut frames = Frames::new(&octets[..octets.len() - 1], Side::Sender);
    frames.opening().await.unwrap();
    let fault = loop {
        if let Err(fault) = frames.step().await {
            break fault;
        }
    };
    assert!(matches!(fault, Fault::Ended("in the middle of a record")), "{fault}");
}
