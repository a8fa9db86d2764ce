//! Many files at once, and few that may be open.

use std::cell::Cell;
use std::sync::mpsc;
use std::time::Duration;

use skyhaul_files::codec::{Record, SessionOpening, Version};
use skyhaul_files::{Code, Event, MIN_OPEN_FILES, Reason, ReceiveOptions, receive};
use tokio::time::Instant;

use crate::craft;
use crate::support::*;

/// Records of a file of one chunk, which is damaged.
fn damaged(number: u32) -> Vec<u8> {
    let name = format!("d{number}");
    let mut records = craft::file(number, name.as_bytes(), 4);
    records.extend(craft::chunk(number, 0, 1, b"good"));
    *records.last_mut().unwrap() ^= 1;
    records.extend(craft::end(number, b"good"));
    records
}

/// Receives a stream; what came of each file, and the most files that were open at a time.
async fn most_open(stream: &[u8], folder: &Folder, max_open_files: usize) -> (Vec<Option<Code>>, usize) {
    let options = ReceiveOptions { max_open_files: Some(max_open_files), ..Default::default() };
    let mut most = 0;
    let watch = |_: &Event<'_>| most = most.max(folder.open_files());
    let destination = folder.destination();
    let report = receive(stream, Vec::new(), &destination, &options, watch).await.unwrap();
    (codes(&report), most)
}

#[tokio::test]
async fn files_that_wait_for_repairs_never_hold_every_descriptor() {
    const OPEN: usize = 8;
    const WAITING: usize = OPEN / 2 - 1;
    let mut stream = craft::opening(129);
    (0..128).for_each(|number| stream.extend(damaged(number)));
    stream.extend(craft::whole(128, b"honest", b"content"));
    for number in 0..WAITING as u32 {
        let reason = Reason::new(Code::Changed, "enough");
        stream.extend(Record::Abort { reason }.encode(number));
    }
    let folder = Folder::new();
    let (codes, most) = most_open(&stream, &folder, OPEN).await;
    assert_eq!(codes[..WAITING], [Some(Code::Changed); WAITING]);
    assert_eq!(codes[WAITING..128], [Some(Code::Damaged); 128 - WAITING]);
    assert_eq!(codes[128], None, "an honest one has its place");
    assert!(most <= OPEN, "{most}");
    assert_eq!(folder.names(), [b"honest"]);
}

#[tokio::test]
async fn more_files_than_may_be_open_wait_for_each_other() {
    let names: Vec<String> = (0..300).map(|number| format!("f{number}")).collect();
    let files: Vec<(&[u8], &[u8])> = names.iter().map(|name| (name.as_bytes(), &b"content"[..])).collect();
    let folder = Folder::new();
    let (codes, most) = most_open(&craft::stream(&files), &folder, MIN_OPEN_FILES).await;
    assert!(codes.iter().all(Option::is_none), "{codes:?}");
    assert_eq!(folder.names().len(), 300);
    assert!((1..=MIN_OPEN_FILES).contains(&most), "{most}");
}

/// Turns that others of the thread have beside a session with so many refused files. All of it is there to be
/// read.
async fn turns_beside(count: usize, observer: impl FnMut(&Event<'_>)) -> usize {
    let files = vec![(&b".hidden"[..], &b"x"[..]); count];
    let (stream, folder) = (craft::stream(&files), Folder::new());
    let (destination, options) = (folder.destination(), ReceiveOptions::default());
    let mut turns = 0;
    let others = async {
        loop {
            turns += 1;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        report = receive(&stream[..], Vec::new(), &destination, &options, observer) => {
            assert_eq!(codes(&report.unwrap()), vec![Some(Code::Name); count]);
        }
        () = others => unreachable!("it has no end"),
    }
    turns
}

#[tokio::test]
async fn thousands_of_refused_files_leave_other_sessions_of_the_thread_their_turns() {
    let turns = turns_beside(5000, |_| {}).await;
    assert!(turns > 5000 / 256, "{turns} turns");
}

/// Others waited for 256 steps, however long the system took for each.
#[tokio::test]
async fn files_that_take_the_system_long_leave_others_a_turn_behind_each() {
    let takes_long = |event: &Event<'_>| {
        if matches!(event, Event::File { .. }) {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(2) {}
        }
    };
    let turns = turns_beside(100, takes_long).await;
    assert!(turns >= 100, "{turns} turns");
}

/// Most files that get their names between two turns of others, of so many empty ones that are all here
/// before the disk has brought the first of them anywhere.
async fn most_named_in_a_turn(count: u32) -> usize {
    let opening = SessionOpening { version: Version::Two, files: count, bytes: 0 };
    let mut stream = opening.encode().to_vec();
    for number in 0..count {
        stream.extend(craft::file(number, format!("f{number}").as_bytes(), 0));
        stream.extend(craft::end(number, b""));
    }
    let (disk, waits) = mpsc::channel::<()>();
    let blocked = tokio::task::spawn_blocking(move || waits.recv());
    let (disk, whole) = (Cell::new(Some(disk)), Cell::new(0));
    let observer = |event: &Event<'_>| {
        whole.set(whole.get() + u32::from(matches!(event, Event::Whole { .. })));
        if whole.get() == count {
            drop(disk.take());
        }
    };
    let folder = Folder::new();
    let (destination, options) = (folder.destination(), ReceiveOptions::default());
    let (mut named, mut most) = (0, 0);
    let others = async {
        loop {
            let now = folder.names().len();
            most = most.max(now - named);
            named = now;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        report = receive(&stream[..], Vec::new(), &destination, &options, observer) => {
            assert_eq!(codes(&report.unwrap()), vec![None; count as usize]);
        }
        () = others => unreachable!("it has no end"),
    }
    assert!(blocked.await.unwrap().is_err(), "all were here by then");
    most.max(folder.names().len() - named)
}

/// Others waited until every file of a round had its name.
#[test]
fn files_that_get_their_names_together_leave_others_their_turns() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(1).build().unwrap();
    let most = runtime.block_on(most_named_in_a_turn(500));
    assert!((1..=256).contains(&most), "{most} of 500 at once");
}
