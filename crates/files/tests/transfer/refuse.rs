//! Offers that a receiver refuses.

use std::fs;
use std::os::unix::fs::symlink;

use skyhaul_files::{
    Code, Destination, DestinationError, Event, Fault, ReceiveOptions, Side, Violation, silent,
};

use crate::craft;
use crate::support::*;

#[tokio::test]
async fn an_existing_name_is_refused_and_stays() {
    let folder = Folder::new();
    folder.put("a", b"old");
    let sources = vec![memory("a", b"new"), memory("b", b"new")];
    let (sent, received) = transfer(sources, &folder, &ReceiveOptions::default()).await;
    assert_eq!(codes(&sent), [Some(Code::Exists), None]);
    assert_eq!(codes(&received), codes(&sent));
    assert_eq!(sent.files[0].failure().unwrap().side, Side::Receiver);
    assert_eq!((folder.read("a"), folder.read("b")), (b"old".to_vec(), b"new".to_vec()));
}

#[tokio::test]
async fn a_refusal_stops_the_data_soon() {
    let folder = Folder::new();
    folder.put("a", b"old");
    let (mut moved, mut total, len) = (0, 0, 40 * CHUNK);
    let watch = |event: &Event<'_>| {
        if let Event::Moved { bytes, total: all } = event {
            (moved, total) = (*bytes, *all);
        }
    };
    let sources = vec![memory("a", noise(len, 1)), memory("b", b"new")];
    let (sent, _) = watched(sources, 64 * 1024, &folder, watch, silent).await;
    assert_eq!(codes(&sent), [Some(Code::Exists), None]);
    assert!(moved < 3 * CHUNK as u64, "{moved}");
    assert_eq!(moved, total, "what is not sent any more is not to be moved");
}

/// Over a link of 100 kbit/s the rest of a chunk would take twenty seconds.
#[tokio::test]
async fn a_refusal_of_the_last_file_ends_the_session_in_the_middle_of_a_chunk() {
    let folder = Folder::new();
    folder.put("a", b"old");
    folder.put("b", b"old");
    let (mut moved, mut total) = (0, 0);
    let watch = |event: &Event<'_>| {
        if let Event::Moved { bytes, total: all } = event {
            (moved, total) = (*bytes, *all);
        }
    };
    let sources = vec![memory("a", b"new"), memory("b", noise(CHUNK, 1))];
    let (sent, received) = watched(sources, 4 * 1024, &folder, watch, silent).await;
    assert_eq!((codes(&sent), codes(&received)), (vec![Some(Code::Exists); 2], codes(&sent)));
    assert!(moved < CHUNK as u64 / 4, "{moved}");
    assert_eq!(moved, total, "what is not sent any more is not to be moved");
}

#[tokio::test]
async fn a_refusal_in_the_middle_of_a_queue_costs_the_others_nothing() {
    let folder = Folder::new();
    folder.put("b", b"old");
    let (mut moved, mut total) = (0, 0);
    let at_receiver = |event: &Event<'_>| {
        if let Event::Moved { bytes, total: all } = event {
            (moved, total) = (*bytes, *all);
        }
    };
    let names = ["a", "b", "c", "d"];
    let sources = names.map(|name| memory(name, noise(3 * CHUNK, 7))).to_vec();
    let (sent, received) = watched(sources, 64 * 1024, &folder, silent, at_receiver).await;
    assert_eq!(codes(&sent), [None, Some(Code::Exists), None, None]);
    assert_eq!((codes(&received), folder.names().len()), (codes(&sent), 4));
    assert_eq!((moved, total), (9 * CHUNK as u64, 9 * CHUNK as u64));
}

#[tokio::test]
async fn overwriting_replaces_files_and_links_but_nothing_else() {
    let folder = Folder::new();
    folder.put("a", b"old");
    let elsewhere = Folder::new();
    let precious = elsewhere.put("precious", b"precious");
    symlink(&precious, folder.path("link")).unwrap();
    fs::create_dir(folder.path("dir")).unwrap();
    let sources = ["a", "link", "dir"].map(|name| memory(name, b"new")).to_vec();
    let options = ReceiveOptions { overwrite: true, ..Default::default() };
    let (sent, _) = transfer(sources, &folder, &options).await;
    assert_eq!(codes(&sent), [None, None, Some(Code::Exists)]);
    assert_eq!((folder.read("a"), folder.read("link")), (b"new".to_vec(), b"new".to_vec()));
    assert_eq!(fs::read(precious).unwrap(), b"precious");
    assert!(folder.path("dir").is_dir());
}

#[tokio::test]
async fn a_link_at_the_final_name_counts_as_existing() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    symlink(elsewhere.path("target"), folder.path("a")).unwrap();
    let (sent, _) = transfer(vec![memory("a", b"new")], &folder, &ReceiveOptions::default()).await;
    assert_eq!(codes(&sent), [Some(Code::Exists)]);
    assert!(elsewhere.is_empty());
}

#[tokio::test]
async fn of_two_equal_names_in_a_transfer_the_first_wins_even_when_overwriting() {
    for overwrite in [false, true] {
        let folder = Folder::new();
        let sources =
            vec![memory("a", b"first"), memory("a", b"second"), memory("b", b"third"), memory("a", b"4")];
        let options = ReceiveOptions { overwrite, ..Default::default() };
        let (sent, received) = transfer(sources, &folder, &options).await;
        assert_eq!(codes(&sent), [None, Some(Code::Exists), None, Some(Code::Exists)]);
        assert_eq!(sent, received);
        assert_eq!(folder.read("a"), b"first");
    }
}

#[tokio::test]
async fn a_name_is_free_again_when_its_file_failed() {
    let folder = Folder::new();
    let options = ReceiveOptions { max_bytes: Some(10), ..Default::default() };
    let sources = vec![memory("a", b"much too long"), memory("a", b"short")];
    let (sent, _) = transfer(sources, &folder, &options).await;
    assert_eq!(codes(&sent), [Some(Code::TooLarge), None]);
    assert_eq!(folder.read("a"), b"short");
}

#[tokio::test]
async fn of_two_sessions_that_race_for_a_name_one_wins() {
    let folder = Folder::new();
    let options = ReceiveOptions::default();
    let contents = [noise(2 * CHUNK, 1), noise(2 * CHUNK, 2)];
    let [one, two] = contents.clone().map(|content| transfer(vec![memory("a", content)], &folder, &options));
    let ((one, _), (two, _)) = tokio::join!(one, two);
    let mut results = [codes(&one)[0], codes(&two)[0]];
    assert!(contents.contains(&folder.read("a")));
    results.sort_by_key(Option::is_some);
    assert_eq!(results, [None, Some(Code::Exists)]);
    assert_eq!(folder.names(), [b"a"]);
}

#[tokio::test]
async fn files_over_the_limit_are_refused() {
    let folder = Folder::new();
    let options = ReceiveOptions { max_bytes: Some(5), ..Default::default() };
    let sources = vec![memory("five", b"12345"), memory("six", b"123456")];
    let (sent, _) = transfer(sources, &folder, &options).await;
    assert_eq!(codes(&sent), [None, Some(Code::TooLarge)]);
    let text = sent.files[1].failure().unwrap().to_string();
    assert_eq!(text, "receiver: the file has 6 bytes, the receiver accepts at most 5");
}

#[tokio::test]
async fn names_that_lead_out_are_refused_and_nothing_is_written() {
    let outer = Folder::new();
    fs::create_dir(outer.path("inner")).unwrap();
    let names: [&[u8]; 9] = [
        b"../x",
        b"..",
        b".",
        b"/tmp/skyhaul-escape",
        b"a/b",
        b"a\0b",
        b"inner/../../x",
        b".x.skyhaul-part",
        b"x/",
    ];
    let files: Vec<(&[u8], &[u8])> = names.iter().map(|name| (*name, &b"evil"[..])).collect();
    let mut stream = craft::stream(&files);
    // One honest file at the end: the session itself goes on.
    stream[..28].copy_from_slice(&craft::opening(10));
    stream.extend(craft::whole(9, b"good", b"good"));
    let destination = Destination::open(outer.path("inner")).unwrap();
    let options = ReceiveOptions::default();
    let report =
        skyhaul_files::receive(&stream[..], Vec::new(), &destination, &options, silent).await.unwrap();
    assert_eq!(codes(&report)[..9], [Some(Code::Name); 9]);
    assert_eq!(codes(&report)[9], None);
    assert_eq!(outer.names(), [b"inner"]);
    assert_eq!(fs::read_dir(outer.path("inner")).unwrap().count(), 1);
    assert!(!fs::exists("/tmp/skyhaul-escape").unwrap());
}

#[tokio::test]
async fn a_destination_that_was_moved_away_is_still_the_destination() {
    let outer = Folder::new();
    fs::create_dir(outer.path("inner")).unwrap();
    let destination = Destination::open(outer.path("inner")).unwrap();
    fs::rename(outer.path("inner"), outer.path("moved")).unwrap();
    symlink("/", outer.path("inner")).unwrap();
    let stream = craft::stream(&[(b"skyhaul-escape", b"x")]);
    let options = ReceiveOptions::default();
    let report =
        skyhaul_files::receive(&stream[..], Vec::new(), &destination, &options, silent).await.unwrap();
    assert!(report.all_delivered());
    assert!(outer.path("moved/skyhaul-escape").exists() && !fs::exists("/skyhaul-escape").unwrap());
}

#[test]
fn a_destination_must_be_a_directory_that_exists() {
    let folder = Folder::new();
    let file = folder.put("file", b"");
    assert!(matches!(Destination::open(file), Err(DestinationError::NotADirectory { .. })));
    let missing = Destination::open(folder.path("mis\nsing")).unwrap_err().to_string();
    assert!(missing.contains("mis\\nsing' as the destination: No such file"), "{missing}");
}

#[tokio::test]
async fn a_destination_that_is_removed_fails_the_files() {
    let outer = Folder::new();
    fs::create_dir(outer.path("inner")).unwrap();
    let destination = Destination::open(outer.path("inner")).unwrap();
    fs::remove_dir(outer.path("inner")).unwrap();
    let stream = craft::stream(&[(b"a", b"x")]);
    let options = ReceiveOptions::default();
    let report =
        skyhaul_files::receive(&stream[..], Vec::new(), &destination, &options, silent).await.unwrap();
    assert_eq!(codes(&report), [Some(Code::Storage)]);
}

#[tokio::test]
async fn too_many_files_are_refused_before_anything_is_sent() {
    let sources = vec![memory("a", b""); 65_537];
    let mut written = Vec::new();
    let sent = skyhaul_files::send(&b""[..], &mut written, sources, silent).await.unwrap_err();
    assert!(matches!(sent.cause, Fault::TooManyFiles(65_537)));
    assert!(written.is_empty());
}

#[tokio::test]
async fn another_version_is_told_so() {
    let mut stream = craft::opening(1);
    stream[8] = 4;
    let check = skyhaul_files::codec::check(&stream[..24]);
    stream[24..].copy_from_slice(&check);
    let (received, answer) = feed(&stream, &Folder::new()).await;
    assert!(matches!(received.unwrap_err().cause, Fault::Protocol(Violation::Version(4))));
    let sent =
        skyhaul_files::send(&answer[..], Vec::new(), vec![memory("a", b"x")], silent).await.unwrap_err();
    let text = "the receiver gave up: version 4 of the file protocol is not known here, only versions 1 to 3";
    assert_eq!(sent.to_string(), text);
}

#[tokio::test]
async fn hidden_and_disguised_names_need_a_permission() {
    let names: [&[u8]; 4] = [b".bashrc", b"a\nb", "photo\u{202e}gpj.sh".as_bytes(), b"\x1b]0;title\x07"];
    for any_name in [false, true] {
        let folder = Folder::new();
        let options = ReceiveOptions { any_name, ..Default::default() };
        let sources = names.iter().chain([&&b"plain"[..]]).map(|name| memory(*name, b"x")).collect();
        let (sent, _) = transfer(sources, &folder, &options).await;
        let refusal = (!any_name).then_some(Code::Name);
        assert_eq!(codes(&sent), [refusal, refusal, refusal, refusal, None]);
        assert_eq!(folder.names().len(), if any_name { 5 } else { 1 });
        if !any_name {
            let text = sent.files[0].failure().unwrap().to_string();
            assert!(
                text.ends_with("begins with a dot; a receiver takes such names with --any-name"),
                "{text}"
            );
        }
    }
}

/// Everything was refused until the receiver was started anew.
#[tokio::test]
async fn a_folder_that_was_removed_and_made_anew_is_gone_on_in() {
    let around = Folder::new();
    let inbox = around.path("inbox");
    fs::create_dir(&inbox).unwrap();
    let destination = Destination::open(&inbox).unwrap();
    let send_one = async |name: &str| {
        let Ends { sender, receiver } = ends(64 * 1024);
        let options = ReceiveOptions::default();
        let (sent, received) = tokio::join!(
            skyhaul_files::send(sender.0, sender.1, vec![memory(name, b"content")], silent),
            skyhaul_files::receive(receiver.0, receiver.1, &destination, &options, silent)
        );
        assert_eq!(codes(&received.unwrap()), codes(sent.as_ref().unwrap()));
        let failure = sent.unwrap().files[0].failure().map(|failure| failure.reason.clone());
        failure.map(|reason| (reason.code, reason.text().to_owned()))
    };
    assert_eq!(send_one("first").await, None);
    fs::remove_dir_all(&inbox).unwrap();
    let (code, text) = send_one("second").await.unwrap();
    assert_eq!(code, Code::Storage);
    assert!(text.starts_with("the destination was removed"), "{text}");
    fs::create_dir(&inbox).unwrap();
    assert_eq!(send_one("third").await, None);
    assert_eq!(fs::read(inbox.join("third")).unwrap(), b"content");
}
