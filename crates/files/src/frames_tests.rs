//! Reading records in pieces, and giving up a read halfway.

use std::time::Duration;

use tokio::io::{AsyncWriteExt as _, duplex};

use super::*;
use crate::codec::{CUT, Record, Version, chunk_head, portion, portioned_bytes};
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

/// Opening of version 3 and a chunk in three portions; of its data in portions this many octets.
fn in_portions(octets: usize, last: Option<u8>) -> (Vec<u8>, Vec<u8>) {
    let content: Vec<u8> = (0..2 * PORTION_BYTES + 5).map(|place| (place % 251) as u8).collect();
    let mut data = content.clone();
    data.resize(portioned_bytes(content.len()), 0);
    portion(&mut data, content.len());
    data.truncate(octets);
    data.extend(last);
    let opening = SessionOpening { version: Version::Three, files: 1, bytes: 5 };
    let head = chunk_head(0, 0, content.len(), &chunk_digest(0, 1, &content));
    ([&opening.encode()[..], &head, &data].concat(), content)
}

/// Reads to the first record, from a stream that gives `step` octets a time; payload that was told before it.
async fn first_record(octets: &[u8], step: usize) -> Result<(Vec<u8>, bool, usize), Fault> {
    let (mut near, far) = duplex(step);
    let writing = async {
        let _ = near.write_all(octets).await;
        drop(near);
    };
    let reading = async {
        let mut frames = Frames::new(far, Side::Sender);
        frames.opening().await?;
        let mut told = 0;
        loop {
            match frames.step().await? {
                FrameStep::Data { bytes, .. } => told += bytes,
                FrameStep::Frame => {
                    let frame = frames.frame()?;
                    return Ok((frame.data.to_vec(), frame.is_cut, told));
                }
                FrameStep::End => panic!("no record"),
            }
        }
    };
    tokio::join!(writing, reading).1
}

#[tokio::test]
async fn portions_are_put_together_and_what_stands_between_them_is_no_payload() {
    for step in [1, 2, 4095, 4096, 4097, 4098, 1 << 16] {
        let (octets, content) = in_portions(usize::MAX, None);
        let expected = (content.clone(), false, content.len());
        assert_eq!(first_record(&octets, step).await.unwrap(), expected, "{step} octets a time");
        for portions in 1..=2 {
            let kept = portions * PORTION_BYTES;
            let (octets, _) = in_portions(kept + portions - 1, Some(CUT));
            let expected = (content[..kept].to_vec(), true, kept);
            assert_eq!(first_record(&octets, step).await.unwrap(), expected, "{step} octets a time");
        }
        let (octets, _) = in_portions(PORTION_BYTES, Some(7));
        let fault = first_record(&octets, step).await.unwrap_err();
        assert!(matches!(fault, Fault::Protocol(Violation::Field(_))), "{fault}");
        let (octets, _) = in_portions(PORTION_BYTES, None);
        let fault = first_record(&octets, step).await.unwrap_err();
        assert!(matches!(fault, Fault::Ended("in the middle of a record")), "{fault}");
    }
}
