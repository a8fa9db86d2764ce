//! Transfers in which nothing goes wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use skyhaul_files::codec::{HEAD_BYTES, Head, RecordKind};
use skyhaul_files::{
    Event, ReceiveOptions, Side, Source, Version, WIDE_WINDOW_FILES, WINDOW_FILES, receive, send, send_as,
    silent,
};
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use crate::support::*;

#[tokio::test]
async fn every_size_around_a_chunk_arrives() {
    for len in [0, 1, 1023, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 5_000_000] {
        let (folder, content) = (Folder::new(), noise(len, len as u64));
        let (sent, received) =
            transfer(vec![memory("a", content.clone())], &folder, &ReceiveOptions::default()).await;
        assert!(folder.read("a") == content, "{len}");
        assert_eq!(folder.names(), [b"a"]);
        assert_eq!(sent, received);
        assert_eq!(digests(&sent)["a"], b3sum(&content));
        assert_eq!(sent.delivered_bytes(), len as u64);
    }
}

#[tokio::test]
async fn many_more_files_than_the_window_arrive() {
    let (here, there) = (Folder::new(), Folder::new());
    let contents: Vec<_> = (0..400).map(|i| (format!("f{i:03}"), noise(i * 37, i as u64))).collect();
    let put = |(name, content): &(String, Vec<u8>)| Source::open(here.put(name, content)).unwrap();
    let sources = contents.iter().map(put).collect();
    let (sent, received) = transfer(sources, &there, &ReceiveOptions::default()).await;
    assert!(sent.all_delivered() && received.all_delivered());
    assert_eq!(here.names(), there.names());
    assert!(contents.iter().all(|(name, content)| there.read(name) == *content));
}

#[tokio::test]
async fn a_transfer_of_nothing_is_a_transfer() {
    let (sent, received) = transfer(vec![], &Folder::new(), &ReceiveOptions::default()).await;
    assert_eq!((sent.files.len(), received.files.len()), (0, 0));
}

#[tokio::test]
async fn odd_names_arrive_as_they_are() {
    let names: [&[u8]; 9] = [
        b"two words",
        b"line\nbreak",
        b"-rf",
        "ümläut".as_bytes(),
        "🛰️ 👩‍🚀".as_bytes(),
        b"\xff\xfe\x80",
        b"...",
        b"a\\b;$(c)`d`",
        &[b'x'; 255],
    ];
    let folder = Folder::new();
    let sources = names.iter().map(|name| memory(*name, name.to_vec())).collect();
    let (sent, _) =
        transfer(sources, &folder, &ReceiveOptions { any_name: true, ..Default::default() }).await;
    assert!(sent.all_delivered());
    let mut expected: Vec<_> = names.iter().map(|name| name.to_vec()).collect();
    expected.sort();
    assert_eq!(folder.names(), expected);
}

#[tokio::test]
async fn the_executable_bit_travels() {
    let (here, there) = (Folder::new(), Folder::new());
    let paths = [here.put("plain", b"1"), here.put("program", b"2")];
    fs::set_permissions(&paths[0], fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(&paths[1], fs::Permissions::from_mode(0o4755)).unwrap();
    let sources = paths.map(|path| Source::open(path).unwrap()).to_vec();
    let _ = transfer(sources, &there, &ReceiveOptions::default()).await;
    let mode = |name: &str| fs::metadata(there.path(name)).unwrap().permissions().mode() & 0o7777;
    let usual = fs::metadata(here.put("usual", b"")).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("plain"), usual);
    assert_eq!(mode("program"), usual | ((usual & 0o444) >> 2));
}

#[tokio::test]
async fn a_stream_that_goes_both_ways_will_do() {
    let (folder, content) = (Folder::new(), noise(700_000, 1));
    let (near, far) = tokio::io::duplex(1000);
    let ((a, b), (c, d)) = (tokio::io::split(near), tokio::io::split(far));
    let (destination, options) = (folder.destination(), ReceiveOptions::default());
    let (sent, received) = tokio::join!(
        send(a, b, vec![memory("a", content.clone())], silent),
        receive(c, d, &destination, &options, silent)
    );
    assert_eq!(sent.unwrap(), received.unwrap());
    assert!(folder.read("a") == content);
}

#[tokio::test]
async fn the_sessions_can_be_spawned() {
    let (folder, ends) = (Folder::new(), ends(100));
    let destination = folder.destination();
    let receiving = tokio::spawn(async move {
        let options = ReceiveOptions::default();
        receive(ends.receiver.0, ends.receiver.1, &destination, &options, silent).await
    });
    let sending = tokio::spawn(async move {
        send(ends.sender.0, ends.sender.1, vec![memory("a", b"hello")], |_: &Event<'_>| {}).await
    });
    assert!(sending.await.unwrap().unwrap().all_delivered());
    assert!(receiving.await.unwrap().unwrap().all_delivered());
}

#[tokio::test]
async fn observers_see_a_transfer_in_order() {
    let (folder, len) = (Folder::new(), 3 * CHUNK + 5);
    let (mut at_sender, mut at_receiver) = (Vec::new(), Vec::new());
    let (mut sent_bytes, mut received_bytes) = (Vec::new(), Vec::new());
    let sources = vec![memory("a", noise(len, 1)), memory("empty", b"")];
    let log = |log: &mut Vec<String>, bytes: &mut Vec<u64>, event: &Event<'_>| match event {
        Event::Started { files, bytes } => log.push(format!("started {files} {bytes}")),
        Event::File { file, name, bytes } => log.push(format!("file {file} {name} {bytes}")),
        Event::Moved { bytes: moved, total } => {
            assert_eq!(*total, len as u64);
            bytes.push(*moved);
        }
        Event::Arrived { file } => log.push(format!("arrived {file}")),
        Event::Whole { file } => log.push(format!("whole {file}")),
        Event::Settled { file, report } => log.push(format!("settled {file} {}", report.digest().is_some())),
        _ => panic!("{event:?}"),
    };
    let (mut reads, mut is_reading) = (0, false);
    let sender = |event: &Event<'_>| match event {
        Event::Reading => assert!(!std::mem::replace(&mut is_reading, true)),
        Event::Read => {
            assert!(std::mem::take(&mut is_reading));
            reads += 1;
        }
        _ => log(&mut at_sender, &mut sent_bytes, event),
    };
    let receiver = |event: &Event<'_>| log(&mut at_receiver, &mut received_bytes, event);
    let _ = watched(sources, 10_000, &folder, sender, receiver).await;
    assert!(reads >= len / CHUNK && !is_reading, "a chunk at a time, each begun and ended");
    let begin = format!("started 2 {len}");
    let first = format!("file 0 a {len}");
    assert_eq!(at_sender, [&*begin, &*first, "file 1 empty 0", "settled 0 true", "settled 1 true"]);
    at_receiver.retain(|line| !line.starts_with("settled"));
    assert_eq!(
        at_receiver,
        [&*begin, &*first, "arrived 0", "whole 0", "file 1 empty 0", "arrived 1", "whole 1"]
    );
    for bytes in [sent_bytes, received_bytes] {
        assert!(bytes.is_sorted() && bytes.len() > len / 10_000);
        assert_eq!(bytes.last(), Some(&(len as u64)));
    }
}

/// Sends in this version; gives both reports.
async fn transfer_as(version: Version, sources: Vec<Source>, folder: &Folder) -> (Sent, Received) {
    let (ends, destination) = (ends(64 * 1024), folder.destination());
    let options = ReceiveOptions::default();
    tokio::join!(
        send_as(version, ends.sender.0, ends.sender.1, sources, silent),
        receive(ends.receiver.0, ends.receiver.1, &destination, &options, silent)
    )
}

#[tokio::test]
async fn times_of_modification_are_kept_where_the_version_has_them() {
    for (version, kept) in [(Version::One, false), (Version::Two, true), (Version::Three, true)] {
        let (from, to) = (Folder::new(), Folder::new());
        let path = from.put("old", b"content");
        let time = std::time::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let sources = vec![Source::open(&path).unwrap(), memory("new", b"content")];
        let (sent, received) = transfer_as(version, sources, &to).await;
        assert!(sent.unwrap().all_delivered() && received.unwrap().all_delivered());
        assert_eq!(fs::metadata(to.path("old")).unwrap().modified().unwrap() == time, kept, "{version:?}");
        assert!(fs::metadata(to.path("new")).unwrap().modified().unwrap() > time);
    }
}

#[tokio::test]
async fn version_two_has_four_times_as_many_files_under_way() {
    let sources = || (0..600).map(|i| memory(format!("f{i}"), b"")).collect::<Vec<_>>();
    let wide = [Version::Two, Version::Three].map(|version| (version, WIDE_WINDOW_FILES));
    for (version, window) in [(Version::One, WINDOW_FILES)].into_iter().chain(wide) {
        let ends = ends(1 << 20);
        let sending = tokio::spawn(send_as(version, ends.sender.0, ends.sender.1, sources(), silent));
        let (mut from_sender, _to_sender) = ends.receiver;
        let (mut begun, mut octets) = (0, vec![0; 28]);
        from_sender.read_exact(&mut octets).await.unwrap();
        while let Ok(Ok(head)) = timeout(Duration::from_millis(200), async {
            let mut head = [0; HEAD_BYTES];
            from_sender.read_exact(&mut head).await.map(|_| Head::decode(&head, Side::Sender).unwrap())
        })
        .await
        {
            begun += usize::from(head.kind == RecordKind::File);
            from_sender.read_exact(&mut vec![0; head.sealed_body_bytes()]).await.unwrap();
        }
        assert_eq!(begun, window, "{version:?}");
        sending.abort();
        let folder = Folder::new();
        let (sent, received) = transfer_as(version, sources(), &folder).await;
        assert!(sent.unwrap().all_delivered() && received.unwrap().all_delivered(), "{version:?}");
        assert_eq!(folder.names().len(), 600);
    }
}
