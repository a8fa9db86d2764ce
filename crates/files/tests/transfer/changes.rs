//! Files that move while they are sent.

use std::fs;
use std::path::Path;

use skyhaul_files::{Code, Event, SessionReport, Side, Source, silent};

use crate::support::*;

/// Sends three files; `act` happens when the middle one begins.
async fn with_middle(content: &[u8], act: impl Fn(&Path) + Send) -> (Folder, SessionReport, SessionReport) {
    let (here, there) = (Folder::new(), Folder::new());
    let middle = here.put("middle", content);
    let sources = vec![memory("first", b"1"), Source::open(&middle).unwrap(), memory("last", b"3")];
    let watch = |event: &Event<'_>| {
        if let Event::File { file: 1, .. } = event {
            act(&middle);
        }
    };
    let (sent, received) = watched(sources, 1000, &there, watch, silent).await;
    (there, sent, received)
}

fn append(path: &Path, more: &[u8]) {
    use std::io::Write as _;
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(more).unwrap();
}

fn only_the_middle_failed(there: &Folder, sent: &SessionReport, received: &SessionReport, text: &str) {
    assert_eq!(codes(sent), [None, Some(Code::Changed), None]);
    assert_eq!(codes(received), codes(sent));
    for report in [sent, received] {
        let failure = report.files[1].failure().unwrap();
        assert_eq!((failure.side, failure.reason.text()), (Side::Sender, text));
    }
    assert_eq!(there.names(), [&b"first"[..], b"last"]);
}

#[tokio::test]
async fn a_file_that_shrinks_fails_alone() {
    let shrink = |path: &Path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(99).unwrap();
    let (there, sent, received) = with_middle(&noise(2 * CHUNK, 1), shrink).await;
    only_the_middle_failed(&there, &sent, &received, "the file shrank while it was being sent");
}

#[tokio::test]
async fn a_file_that_grows_fails_alone() {
    let (there, sent, received) = with_middle(&noise(2 * CHUNK, 1), |path| append(path, b"more")).await;
    only_the_middle_failed(&there, &sent, &received, "the file grew while it was being sent");
}

#[tokio::test]
async fn a_file_that_grows_from_nothing_fails_alone() {
    let (there, sent, received) = with_middle(b"", |path| append(path, b"more")).await;
    only_the_middle_failed(&there, &sent, &received, "the file grew while it was being sent");
}

#[tokio::test]
async fn a_file_that_changes_in_place_fails_alone() {
    let touch = |path: &Path| {
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"other", 0).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    };
    let (there, sent, received) = with_middle(&noise(2 * CHUNK, 1), touch).await;
    only_the_middle_failed(&there, &sent, &received, "the file changed while it was being sent");
}

#[tokio::test]
async fn a_file_that_is_removed_while_it_is_open_still_arrives() {
    let content = noise(2 * CHUNK, 1);
    let (there, sent, _) = with_middle(&content, |path| fs::remove_file(path).unwrap()).await;
    assert!(sent.all_delivered());
    assert!(there.read("middle") == content);
}

#[tokio::test]
async fn a_file_that_vanished_before_its_turn_fails_alone() {
    let (here, there) = (Folder::new(), Folder::new());
    let path = here.put("middle", b"2");
    let sources = vec![memory("first", b"1"), Source::open(&path).unwrap(), memory("last", b"3")];
    fs::remove_file(path).unwrap();
    let (sent, received) = transfer(sources, &there, &skyhaul_files::ReceiveOptions::default()).await;
    only_the_middle_failed(&there, &sent, &received, "the file vanished before it was its turn");
}

#[tokio::test]
async fn a_file_that_grew_before_its_turn_arrives_as_it_is() {
    let (here, there) = (Folder::new(), Folder::new());
    let path = here.put("log", b"one");
    let source = Source::open(&path).unwrap();
    append(&path, b", two");
    let (sent, _) = transfer(vec![source], &there, &skyhaul_files::ReceiveOptions::default()).await;
    assert_eq!((sent.files[0].bytes, there.read("log")), (8, b"one, two".to_vec()));
}
