//! Streams that end or break at any point.

use std::sync::Arc;

use skyhaul_files::{Fault, ReceiveOptions, Source};

use crate::streams::*;
use crate::support::*;

fn tiny() -> Vec<Source> {
    vec![memory("a", b"some data"), memory("b", b"")]
}

/// How many octets each direction has in a transfer.
async fn lengths(sources: Vec<Source>) -> (usize, usize) {
    let ends = ends(1000);
    let (sender, receiver) = (Recorded::new(ends.sender.1), Recorded::new(ends.receiver.1));
    let logs = [Arc::clone(&sender.octets), Arc::clone(&receiver.octets)];
    let folder = Folder::new();
    let (sender, receiver) = ((ends.sender.0, sender), (ends.receiver.0, receiver));
    let (sent, _) = run(sources, sender, receiver, &folder, &ReceiveOptions::default()).await;
    assert!(sent.unwrap().all_delivered());
    let [there, back] = logs.map(|log| log.lock().unwrap().len());
    (there, back)
}

fn ended(fault: &Fault) -> bool {
    matches!(fault, Fault::Ended(_) | Fault::Stream { .. })
}

#[tokio::test]
async fn the_way_there_can_end_at_every_octet() {
    let (there, _) = lengths(tiny()).await;
    for (left, error) in (0..there).flat_map(|left| [(left, false), (left, true)]) {
        let (folder, ends) = (Folder::new(), ends(1000));
        let reader = Cut { inner: ends.receiver.0, left, error };
        let receiver = (reader, ends.receiver.1);
        let (sent, received) = run(tiny(), ends.sender, receiver, &folder, &ReceiveOptions::default()).await;
        let (sent, received) = (sent.unwrap_err(), received.unwrap_err());
        assert!(ended(&sent.cause) && ended(&received.cause), "{sent} / {received}");
        assert!(!folder.has_unfinished(), "cut at {left}");
        let delivered: Vec<_> = received.report.files.iter().filter(|file| file.digest().is_some()).collect();
        assert_eq!(delivered.len(), folder.names().len(), "the report tells what is there; cut at {left}");
    }
}

#[tokio::test]
async fn the_way_back_can_end_at_every_octet() {
    // One file, since the replies to two come as one record or as two.
    let one = || vec![memory("a", b"some data")];
    let (_, back) = lengths(one()).await;
    for (left, error) in (0..back).flat_map(|left| [(left, false), (left, true)]) {
        let (folder, ends) = (Folder::new(), ends(1000));
        let reader = Cut { inner: ends.sender.0, left, error };
        let sender = (reader, ends.sender.1);
        let (sent, received) = run(one(), sender, ends.receiver, &folder, &ReceiveOptions::default()).await;
        let sent = sent.unwrap_err();
        assert!(ended(&sent.cause), "{sent}");
        assert!(!folder.has_unfinished(), "cut at {left}");
        let report = received.unwrap_or_else(|error| error.report);
        let delivered = report.files.iter().filter(|file| file.digest().is_some()).count();
        assert_eq!(delivered, folder.names().len(), "cut at {left}");
        assert!(!folder.names().contains(&b"a".to_vec()) || folder.read("a") == b"some data");
    }
}

#[tokio::test]
async fn a_stream_of_which_nothing_is_left_is_an_error_at_once() {
    let (folder, ends) = (Folder::new(), ends(1000));
    drop(ends.receiver);
    let sent = skyhaul_files::send(ends.sender.0, ends.sender.1, tiny(), &mut skyhaul_files::silent).await;
    assert!(ended(&sent.unwrap_err().cause));
    let (received, _) = feed(b"", &folder).await;
    let received = received.unwrap_err();
    assert_eq!(
        received.to_string(),
        "the other side closed the stream before the transfer began; start the transfer again"
    );
}

#[tokio::test]
async fn what_is_damaged_when_the_stream_ends_is_lost() {
    let mut stream = crate::craft::stream(&[(b"a", b"some data")]);
    let folder = Folder::new();
    let data = stream.len() - 48 - 5;
    stream[data] ^= 1;
    let (received, answer) = feed(&stream, &folder).await;
    assert!(matches!(received.unwrap_err().cause, Fault::Ended(_)));
    assert!(folder.is_empty());
    assert_eq!(answer[0], 0x83, "it asked for the chunk");
}
