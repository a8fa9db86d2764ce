//! Cookies that are kept come back; those that others may read, torn or absurd do not, and harm nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::memory::MAX_PATHS;

const NOW: u64 = 1_800_000_000;

fn key(last: usize) -> PathKey {
    PathKey { local: [10, 78, 0, 2].into(), peer: [10, 77, (last >> 8) as u8, last as u8].into() }
}

fn facts() -> FastOpenFacts {
    let cookie = FastOpenCookie::new(&[0, 1, 2, 3, 4, 5, 0xfe, 0xff]);
    FastOpenFacts { cookie, mss_bytes: Some(1460), lost_openings: 0, spared_ns: 0 }
}

fn memory(folder: &tempfile::TempDir) -> CookieMemory {
    CookieMemory::at(folder.path().join("skyhaul/cookies"))
}

fn text(memory: &CookieMemory) -> String {
    fs::read_to_string(memory.place()).unwrap()
}

#[test]
fn cookies_of_every_length_come_back_to_their_own_path_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let memory = memory(&folder);
    assert_eq!(memory.recall(key(1), NOW).unwrap(), FastOpenFacts::default());
    for length in [4, 6, 8, 10, 12, 14, 16] {
        let cookie = FastOpenCookie::new(&vec![0xa0 + length as u8; length]);
        assert!(cookie.is_some(), "{length}");
        memory.keep(key(length), FastOpenFacts { cookie, ..facts() }, NOW).unwrap();
    }
    for length in [4, 6, 8, 10, 12, 14, 16] {
        let cookie = memory.recall(key(length), NOW + 9).unwrap().cookie.unwrap();
        assert_eq!(cookie.as_bytes(), vec![0xa0 + length as u8; length]);
    }
    let turned = PathKey { local: key(8).peer, peer: key(8).local };
    for other in [key(5), turned] {
        assert_eq!(memory.recall(other, NOW).unwrap(), FastOpenFacts::default());
    }
}

#[test]
fn a_path_that_lost_openings_is_spared_until_its_time_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let memory = memory(&folder);
    let lost = FastOpenFacts { lost_openings: 2, spared_ns: 120 * SECOND - 1, ..facts() };
    memory.keep(key(1), lost, NOW).unwrap();
    let later = memory.recall(key(1), NOW + 30).unwrap();
    assert_eq!(later, FastOpenFacts { spared_ns: 90 * SECOND, ..lost });
    assert_eq!(memory.recall(key(1), NOW + 120).unwrap().spared_ns, 0);
}

#[test]
fn nobody_else_can_read_a_cookie() {
    let folder = tempfile::tempdir().unwrap();
    let memory = memory(&folder);
    memory.keep(key(1), facts(), NOW).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(memory.place()), mode(memory.place().parent().unwrap())), (0o600, 0o700));
    fs::set_permissions(memory.place(), fs::Permissions::from_mode(0o644)).unwrap();
    let before = text(&memory);
    assert!(matches!(memory.recall(key(1), NOW), Err(FileError::Readable(0o644))));
    assert!(memory.keep(key(2), facts(), NOW).is_err() && text(&memory) == before);
}

#[test]
fn the_oldest_cookies_leave_and_those_too_old_or_of_the_future_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let memory = memory(&folder);
    for n in 0..=MAX_PATHS {
        memory.keep(key(n), facts(), NOW + n as u64).unwrap();
    }
    let now = NOW + MAX_PATHS as u64;
    assert_eq!(memory.recall(key(0), now).unwrap(), FastOpenFacts::default());
    assert_eq!(memory.recall(key(1), now).unwrap(), facts());
    assert_eq!(text(&memory).lines().count(), MAX_PATHS + 2);
    assert!(text(&memory).len() < MAX_BYTES as usize / 2);
    for absurd in [now + MAX_AGE_S + 1, NOW - 1] {
        assert_eq!(memory.recall(key(MAX_PATHS), absurd).unwrap(), FastOpenFacts::default());
    }
}

#[test]
fn facts_that_say_nothing_are_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let memory = memory(&folder);
    memory.keep(key(1), FastOpenFacts::default(), NOW).unwrap();
    assert!(!memory.place().exists(), "nothing to forget: nothing is written");
    memory.keep(key(1), facts(), NOW).unwrap();
    memory.keep(key(1), FastOpenFacts::default(), NOW).unwrap();
    assert_eq!(text(&memory).lines().count(), 2);
}

#[test]
fn every_part_of_a_file_every_changed_bit_and_every_absurd_line_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let memory = memory(&folder);
    memory.keep(key(1), facts(), NOW).unwrap();
    let whole = fs::read(memory.place()).unwrap();
    for length in 0..whole.len() {
        fs::write(memory.place(), &whole[..length]).unwrap();
        assert!(memory.recall(key(1), NOW).is_err(), "{length}");
    }
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(memory.place(), &changed).unwrap();
        assert!(memory.recall(key(1), NOW).is_err(), "{at}");
    }
    let good = "10.78.0.2 10.77.0.1 00010203 1460 0 0 1800000000";
    for absurd in
        ["0001020", "000102", "00", "zzzzzzzz", "0001020304050607080910111213141516", "\u{e9}\u{e9}"]
    {
        let line = good.replace("00010203", absurd);
        fs::write(memory.place(), TABLE.encode([&line]).as_bytes()).unwrap();
        assert!(matches!(memory.recall(key(1), NOW), Err(FileError::Damaged)), "{line}");
    }
    for absurd in [format!("{good} 1"), good.replace("1460", "65536"), good.replace(" 0 0", " 0")] {
        fs::write(memory.place(), TABLE.encode([&absurd]).as_bytes()).unwrap();
        assert!(matches!(memory.recall(key(1), NOW), Err(FileError::Damaged)), "{absurd}");
    }
    memory.keep(key(1), facts(), NOW).unwrap();
    assert_eq!(memory.recall(key(1), NOW).unwrap(), facts(), "a damaged file is replaced");
}

#[test]
fn the_example_of_the_page_is_such_a_file() {
    let page = include_str!("../../../../docs/spec/remembered-paths.md");
    let example = page[page.find("skyhaul-cookies 1\n").unwrap()..].split_once("```").unwrap().0;
    let folder = tempfile::tempdir().unwrap();
    let memory = memory(&folder);
    memory.keep(key(2), facts(), NOW).unwrap();
    assert_eq!(text(&memory), example);
}
