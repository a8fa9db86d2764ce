//! No round trips, and hardly a word back.

use std::sync::Arc;
use std::time::Duration;

use skyhaul_files::{ReceiveOptions, send, silent};
use tokio::io::AsyncReadExt as _;

use crate::streams::Recorded;
use crate::support::*;

#[tokio::test]
async fn everything_is_sent_before_anything_comes_back() {
    let (mut ends, len) = (ends(4_000_000), 3_000_000);
    let sources = vec![memory("a", noise(len, 1)), memory("b", b"hello"), memory("c", b"")];
    let sending = send(ends.sender.0, ends.sender.1, sources, silent);
    let _ = tokio::time::timeout(Duration::from_millis(300), sending).await;
    let mut stream = Vec::new();
    ends.receiver.0.read_to_end(&mut stream).await.unwrap();
    let folder = Folder::new();
    let (received, _) = feed(&stream, &folder).await;
    assert!(received.unwrap().all_delivered());
}

/// Runs a transfer and gives how many octets the receiver wrote.
async fn answer_len(sources: Vec<skyhaul_files::Source>) -> usize {
    let (folder, ends) = (Folder::new(), ends(64 * 1024));
    let writer = Recorded::new(ends.receiver.1);
    let octets = Arc::clone(&writer.octets);
    let receiver = (ends.receiver.0, writer);
    let (sent, _) = run(sources, ends.sender, receiver, &folder, &ReceiveOptions::default()).await;
    assert!(sent.unwrap().all_delivered());
    octets.lock().unwrap().len()
}

#[tokio::test]
async fn one_file_costs_thirty_six_octets_back() {
    assert_eq!(answer_len(vec![memory("a", noise(5_000_000, 1))]).await, 36);
}

#[tokio::test]
async fn many_small_files_cost_hardly_more() {
    let sources = (0..500).map(|i| memory(format!("f{i}"), noise(1000, i))).collect();
    let len = answer_len(sources).await;
    assert!(len <= 36 * 20, "{len} octets back for 500 files");
}
