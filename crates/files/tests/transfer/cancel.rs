//! Sessions that are dropped.

use std::time::Duration;

use skyhaul_files::{Event, ReceiveOptions, receive, send, silent};

use crate::support::*;

#[tokio::test]
async fn a_receiver_that_is_dropped_leaves_nothing() {
    let (folder, ends, enough) = (Folder::new(), ends(1000), tokio::sync::Notify::new());
    let (destination, options) = (folder.destination(), ReceiveOptions::default());
    let watch = |event: &Event<'_>| {
        if let Event::Moved { bytes, .. } = event
            && *bytes > 2 * CHUNK as u64
        {
            enough.notify_one();
        }
    };
    let sources = vec![memory("a", noise(3 * CHUNK, 1))];
    let amid = async {
        enough.notified().await;
        folder.open_files() == 1
    };
    tokio::select! {
        biased;
        unfinished = amid => assert!(unfinished, "it was amid the file"),
        _ = receive(ends.receiver.0, ends.receiver.1, &destination, &options, watch) => panic!(),
        _ = send(ends.sender.0, ends.sender.1, sources, silent) => panic!(),
    }
    assert!(folder.is_empty());
}

#[tokio::test]
async fn a_receiver_dropped_at_any_turn_leaves_a_whole_file_or_nothing() {
    let stream = crate::craft::stream(&[(b"a", b"some data")]);
    let mut whole = 0;
    for turns in 0..30 {
        let (folder, mut answer) = (Folder::new(), Vec::new());
        {
            let (destination, options) = (folder.destination(), ReceiveOptions::default());
            let reader = slowly(&stream);
            let receiving = receive(reader, &mut answer, &destination, &options, silent);
            tokio::pin!(receiving);
            for _ in 0..turns {
                if tokio::time::timeout(Duration::ZERO, &mut receiving).await.is_ok() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        assert!(!folder.has_unfinished());
        if !folder.is_empty() {
            assert_eq!(folder.read("a"), b"some data");
            whole += 1;
        }
    }
    assert!(whole > 0 && whole < 30, "{whole}");
}

/// Gives ten octets a turn.
fn slowly(octets: &[u8]) -> impl tokio::io::AsyncRead + Unpin {
    let (mut near, far) = tokio::io::duplex(10);
    let octets = octets.to_vec();
    tokio::spawn(async move {
        let _ = tokio::io::AsyncWriteExt::write_all(&mut near, &octets).await;
    });
    far
}

#[tokio::test]
async fn a_sender_that_is_dropped_ends_the_receiver_with_an_error() {
    let (folder, ends) = (Folder::new(), ends(1000));
    let (destination, options) = (folder.destination(), ReceiveOptions::default());
    let enough = tokio::sync::Notify::new();
    let watch = |event: &Event<'_>| {
        if let Event::Moved { bytes: 1.., .. } = event {
            enough.notify_one();
        }
    };
    let sending = async {
        let sources = vec![memory("a", noise(3 * CHUNK, 1))];
        tokio::select! {
            biased;
            () = enough.notified() => {}
            _ = send(ends.sender.0, ends.sender.1, sources, watch) => panic!(),
        }
    };
    let receiving = receive(ends.receiver.0, ends.receiver.1, &destination, &options, silent);
    let ((), received) = tokio::join!(sending, receiving);
    let received = received.unwrap_err();
    assert!(received.to_string().starts_with("the other side closed the stream"), "{received}");
    assert!(folder.is_empty());
}
