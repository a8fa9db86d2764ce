//! When the receiver tells of delivered files.

use super::*;
use crate::codec::{HEAD_BYTES, Head};
use crate::report::Side;

const NONE: Digest = Digest([0; 32]);

/// Replies since the last call: the first file and the number of files of each record.
async fn said(replies: &mut Replies) -> Vec<(u32, u32)> {
    let mut octets = Vec::new();
    while replies.out.wants() {
        replies.out.drive(&mut octets).await.unwrap();
    }
    let record = |record: &[u8]| {
        let head = Head::decode(record.first_chunk().unwrap(), Side::Receiver).unwrap();
        let body = &record[HEAD_BYTES..record.len() - 4];
        match Reply::decode(&head, body).unwrap() {
            Reply::Delivered { count, .. } => (head.file, count),
            other => panic!("{other:?}"),
        }
    };
    octets.chunks(36).map(record).collect()
}

#[tokio::test(start_paused = true)]
async fn the_first_is_told_at_once_and_the_next_ones_a_second_later() {
    let (mut replies, start) = (Replies::default(), Instant::now());
    assert_eq!(replies.due(), None);
    replies.delivered(0, NONE);
    assert_eq!(replies.due(), Some(start));
    replies.release(start);
    assert_eq!(said(&mut replies).await, [(0, 1)]);
    for file in [5, 2, 1, 3, 9] {
        replies.delivered(file, NONE);
    }
    assert_eq!(replies.due(), Some(start + SPACING));
    replies.release(start + SPACING);
    assert_eq!(said(&mut replies).await, [(1, 3), (5, 1), (9, 1)]);
    assert!(replies.is_empty());
}

#[tokio::test(start_paused = true)]
async fn half_a_window_and_the_last_file_do_not_wait() {
    let (mut replies, start) = (Replies::default(), Instant::now());
    replies.release(start);
    for file in 0..WINDOW_FILES as u32 / 2 {
        assert_ne!(replies.due(), Some(start));
        replies.delivered(file, NONE);
    }
    assert_eq!(replies.due(), Some(start));
    replies.release(start);
    replies.delivered(64, NONE);
    assert_ne!(replies.due(), Some(start));
    replies.hurry();
    assert_eq!(replies.due(), Some(start));
}
