//! Anything on the stream: an error, never a panic, a hang or a wrong file.

use proptest::prelude::*;
use skyhaul_files::codec::{ChunkRange, Modified, Record, Reply, chunk_head, frame, receipt};
use skyhaul_files::{Code, Digest, Fault, Reason, Violation, chunk_digest, send, silent};

use crate::craft;
use crate::support::*;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Feeds the receiver and checks what must always hold.
fn feed_safely(octets: &[u8]) -> (Received, Vec<u8>) {
    let folder = Folder::new();
    let (received, answer) = block_on(feed(octets, &folder));
    assert!(!folder.has_unfinished());
    let report = received.as_ref().unwrap_or_else(|error| &error.report);
    let delivered = report.files.iter().filter(|file| file.digest().is_some());
    let mut names: Vec<Vec<u8>> = delivered.clone().map(|file| file.name.as_bytes().to_vec()).collect();
    names.sort();
    assert_eq!(names, folder.names(), "exactly the delivered files are there");
    for file in delivered {
        let content = folder.read(std::str::from_utf8(file.name.as_bytes()).unwrap());
        assert_eq!(file.digest().unwrap().to_string(), b3sum(&content));
    }
    (received, answer)
}

fn violation(octets: &[u8]) -> Violation {
    match feed_safely(octets).0.unwrap_err().cause {
        Fault::Protocol(violation) => violation,
        other => panic!("{other}"),
    }
}

fn valid() -> Vec<u8> {
    craft::stream(&[(b"a", b"some data"), (b"b", b""), (b"c", &[7; 3000])])
}

#[derive(Clone, Debug)]
enum Mutation {
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Repeat(usize, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let bytes = proptest::collection::vec(any::<u8>(), 1..80);
    prop_oneof![
        (any::<usize>(), 1u8..).prop_map(|(at, bits)| Mutation::Flip(at, bits)),
        (any::<usize>(), bytes).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        (any::<usize>(), 1usize..200).prop_map(|(at, len)| Mutation::Remove(at, len)),
        (any::<usize>(), 1usize..200).prop_map(|(at, len)| Mutation::Repeat(at, len)),
    ]
}

fn mutate(octets: &mut Vec<u8>, mutation: &Mutation) {
    let place = |at: usize| at % octets.len().max(1);
    match mutation {
        Mutation::Flip(at, bits) => {
            let at = place(*at);
            octets.get_mut(at).into_iter().for_each(|octet| *octet ^= bits);
        }
        Mutation::Insert(at, bytes) => {
            let at = place(*at);
            octets.splice(at..at, bytes.iter().copied());
        }
        Mutation::Remove(at, len) => {
            let at = place(*at);
            octets.drain(at..octets.len().min(at + len));
        }
        Mutation::Repeat(at, len) => {
            let at = place(*at);
            let again = octets[at..octets.len().min(at + len)].to_vec();
            octets.splice(at..at, again);
        }
    }
}

/// Records that are sound in themselves, in any order.
fn any_record() -> impl Strategy<Value = Vec<u8>> {
    let content = || prop_oneof![Just(b"".to_vec()), Just(b"hello".to_vec()), Just(vec![9; 300_000])];
    let file = || 0u32..4;
    prop_oneof![
        4 => (file(), content()).prop_map(|(n, c)| craft::file(n, format!("f{n}").as_bytes(), c.len() as u64)),
        3 => (file(), content()).prop_map(|(n, c)| craft::chunks(n, &c)),
        3 => (file(), content()).prop_map(|(n, c)| craft::end(n, &c)),
        1 => file().prop_map(|n| Record::Abort { reason: Reason::new(Code::Other, "no") }.encode(n)),
        2 => (file(), content()).prop_map(|(n, c)| craft::whole(n, format!("g{n}").as_bytes(), &c)),
    ]
}

fn any_reply() -> impl Strategy<Value = Vec<u8>> {
    let reason = || Reason::new(Code::Other, "no");
    let digest = Digest(*blake3::hash(b"hello").as_bytes());
    let file = || 0u32..3;
    prop_oneof![
        (file(), 0u32..3).prop_map(move |(n, count)| {
            Reply::Delivered { count, receipt: receipt(vec![&digest; count as usize]) }.encode(n)
        }),
        file().prop_map(move |n| Reply::Failed { reason: reason() }.encode(n)),
        (file(), 0u32..2).prop_map(|(n, first)| {
            Reply::Again { ranges: vec![ChunkRange { first, count: 1 }] }.encode(n)
        }),
        file().prop_map(move |n| Reply::Stop { reason: reason() }.encode(n)),
        proptest::collection::vec(any::<u8>(), 1..30),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_receiver_survives_any_octets(octets in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(feed_safely(&octets).0.is_err());
    }

    #[test]
    fn a_receiver_survives_any_octets_after_an_opening(
        octets in proptest::collection::vec(any::<u8>(), 1..600),
    ) {
        prop_assert!(feed_safely(&[craft::opening(3), octets].concat()).0.is_err());
    }

    #[test]
    fn a_receiver_survives_mutated_streams(mutations in proptest::collection::vec(mutation(), 1..4)) {
        let mut octets = valid();
        for mutation in &mutations {
            mutate(&mut octets, mutation);
        }
        let _ = feed_safely(&octets);
    }

    #[test]
    fn a_receiver_survives_any_records(
        records in proptest::collection::vec(any_record(), 1..12), files in 0u32..6,
    ) {
        let _ = feed_safely(&[craft::opening(files), records.concat()].concat());
    }

    #[test]
    fn a_sender_survives_any_replies(replies in proptest::collection::vec(any_reply(), 0..12)) {
        let sources = vec![memory("a", b"hello"), memory("b", b"hello")];
        // All is sent before the first reply is looked at, or the replies come first: both ways.
        let replies = replies.concat();
        let _ = block_on(send(&replies[..], Vec::new(), sources.clone(), silent));
        let _ = block_on(async {
            let (ends, replies) = (ends(1 << 20), replies);
            let (mut back, _there) = (ends.receiver.1, ends.receiver.0);
            let answering = async {
                tokio::task::yield_now().await;
                let _ = tokio::io::AsyncWriteExt::write_all(&mut back, &replies).await;
                drop(back);
            };
            tokio::join!(send(ends.sender.0, ends.sender.1, sources, silent), answering).0
        });
    }
}

#[test]
fn a_valid_stream_is_valid() {
    assert!(feed_safely(&valid()).0.unwrap().all_delivered());
}

#[test]
fn records_out_of_place_are_named() {
    let opened = |records: &[Vec<u8>]| violation(&[craft::opening(2), records.concat()].concat());
    let order = |what, file| Violation::Order { what, file };
    let begun = || craft::file(0, b"a", 5);
    assert_eq!(opened(&[craft::file(1, b"a", 5)]), order("a beginning", 1));
    assert_eq!(opened(&[begun(), craft::file(1, b"b", 5)]), order("a beginning", 1));
    assert_eq!(opened(&[craft::end(0, b"")]), order("an end", 0));
    assert_eq!(opened(&[craft::chunks(0, b"hello")]), order("a chunk", 0));
    assert_eq!(opened(&[begun(), craft::end(0, b"hello")]), order("an early end", 0));
    assert_eq!(opened(&[begun(), craft::chunks(0, b"hell")]), order("a chunk of a wrong length", 0));
    assert_eq!(
        opened(&[begun(), craft::chunks(0, b"hello"), craft::chunks(0, b"hello")]),
        order("a chunk", 0)
    );
    assert_eq!(opened(&[begun(), craft::chunk(0, 1, 2, b"hello")]), order("a chunk of a wrong length", 0));
    let done = [craft::whole(0, b"a", b"x"), craft::whole(1, b"b", b"x")].concat();
    assert_eq!(opened(&[done, craft::file(2, b"c", 0)]), order("a beginning", 2));
}

#[test]
fn a_window_that_is_too_wide_is_noticed() {
    // Damaged files that are never repaired stay unfinished.
    let unfinished = |number| {
        let mut octets = craft::whole(number, format!("f{number}").as_bytes(), b"hello");
        let data = octets.len() - 48 - 1;
        octets[data] ^= 1;
        octets
    };
    let files: Vec<u8> = (0..129).flat_map(unfinished).collect();
    assert_eq!(violation(&[craft::opening(200), files].concat()), Violation::Window { file: 128 });
}

#[test]
fn a_file_that_does_not_fit_its_own_digest_is_refused() {
    let octets =
        [craft::opening(1), craft::file(0, b"a", 5), craft::chunks(0, b"hello"), craft::end(0, b"other")];
    let report = feed_safely(&octets.concat()).0.unwrap();
    assert_eq!(codes(&report), [Some(Code::Digest)]);
}

#[test]
fn repairs_must_fit_what_was_stated_first() {
    let stated = chunk_digest(0, 1, b"hello");
    let damaged = [&chunk_head(0, 0, 5, &stated)[..], b"jello"].concat();
    let other = craft::chunks(0, b"other");
    let begun = [craft::opening(1), craft::file(0, b"a", 5), damaged, craft::end(0, b"hello")].concat();
    let round = [other, craft::end(0, b"hello")].concat();
    let good = [craft::chunks(0, b"hello"), craft::end(0, b"hello")].concat();
    let seven_bad_rounds = [&begun[..], &round.repeat(7), &good].concat();
    assert!(feed_safely(&seven_bad_rounds).0.unwrap().all_delivered());
    let eight_bad_rounds = [&begun[..], &round.repeat(8)].concat();
    assert_eq!(codes(&feed_safely(&eight_bad_rounds).0.unwrap()), [Some(Code::Damaged)]);
    let unasked = [&begun[..], &craft::chunk(0, 1, 2, b"x")].concat();
    assert!(matches!(violation(&unasked), Violation::Order { .. }));
}

#[test]
fn text_of_strangers_is_cut_and_escaped() {
    let reason = [&[0u8][..], b"\x1b[2Jboo", &[0xff; 200]].concat();
    let octets = [
        craft::opening(1),
        craft::file(0, b"a", 5),
        frame(skyhaul_files::codec::RecordKind::Abort, 0, 0, &reason),
    ];
    let report = feed_safely(&octets.concat()).0.unwrap();
    let failure = report.files[0].failure().unwrap();
    assert!(failure.reason.text().len() <= 255);
    assert!(failure.to_string().starts_with("sender: \\u{1b}[2Jboo"));
}

#[tokio::test]
async fn a_time_in_version_one_is_a_violation() {
    let time = Modified { seconds: 1, nanos: 2 };
    let name = skyhaul_files::RawName::new("a");
    let file = Record::File { size: 0, executable: false, modified: Some(time), name }.encode(0);
    let (received, _) = feed(&[craft::opening(1), file].concat(), &Folder::new()).await;
    assert!(matches!(received.unwrap_err().cause, Fault::Protocol(Violation::Field(_))));
}
