//! Entries that are kept come back; those from elsewhere, torn or absurd do not, and harm nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use skyhaul_core::{MS, SECOND};

use super::*;

const NOW: u64 = 1_800_000_000;
const FOUND: PathEstimate =
    PathEstimate { rate_bps: 9_876_543, rtt_min_ns: 551 * MS, confirmed_bytes: 20_000_000 };

const MTU: Option<u32> = Some(1400);

fn key(last: u8) -> PathKey {
    PathKey { local: [192, 0, 2, 1].into(), peer: [198, 51, 100, last].into() }
}

fn memory(folder: &tempfile::TempDir) -> PathMemory {
    PathMemory::at(folder.path().join("state/skyhaul/paths"))
}

/// One with a path to 7 in it.
fn filled(folder: &tempfile::TempDir) -> PathMemory {
    let memory = memory(folder);
    memory.keep(key(7), Some(FOUND), MTU, NOW).unwrap();
    memory
}

fn text(memory: &PathMemory) -> String {
    fs::read_to_string(memory.place()).unwrap()
}

#[test]
fn what_was_found_out_comes_back_with_its_age() {
    let folder = tempfile::tempdir().unwrap();
    let memory = filled(&folder);
    let saved = memory.recall(key(7), NOW + 60).unwrap().unwrap();
    assert_eq!(saved, SavedPath { rate_bps: 9_876_543, rtt_min_ns: 551 * MS, age_ns: 60 * SECOND });
    let turned = PathKey { local: key(7).peer, peer: key(7).local };
    for other in [key(8), turned, PathKey { local: [10, 0, 0, 1].into(), ..key(7) }] {
        assert_eq!(memory.recall(other, NOW).unwrap(), None, "{other:?}");
    }
    let v6 = PathKey { local: "2001:db8::1".parse().unwrap(), peer: "2001:db8::7".parse().unwrap() };
    memory.keep(v6, Some(FOUND), MTU, NOW).unwrap();
    assert!(memory.recall(v6, NOW).unwrap().is_some() && memory.recall(key(7), NOW).unwrap().is_some());
}

#[test]
fn the_size_of_packets_comes_back_from_a_file_of_this_version_and_none_from_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let memory = filled(&folder);
    assert_eq!(memory.recall_mtu(key(7), NOW + 60).unwrap(), MTU);
    assert_eq!(memory.recall_mtu(key(8), NOW + 60).unwrap(), None);
    assert_eq!(memory.recall_mtu(key(7), NOW + 25 * 3600).unwrap(), None, "too old");
    for absurd in [68, 575, 65_536, u32::MAX] {
        memory.keep(key(7), Some(FOUND), Some(absurd), NOW).unwrap();
        assert_eq!(memory.recall_mtu(key(7), NOW).unwrap(), None, "{absurd}");
    }
    let old = "skyhaul-paths 1\n192.0.2.1 198.51.100.7 9876543 551000000 1800000000\n";
    fs::write(memory.place(), format!("{old}end 1 0383\n")).unwrap();
    assert_eq!(memory.recall_mtu(key(7), NOW).unwrap(), None);
    assert_eq!(memory.recall(key(7), NOW).unwrap().unwrap().rate_bps, 9_876_543);
}

#[test]
fn a_file_that_is_not_there_remembers_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(memory(&folder).recall(key(7), NOW).unwrap(), None);
    memory(&folder).keep(key(7), None, MTU, NOW).unwrap();
    assert!(!memory(&folder).place().exists(), "nothing to forget: nothing is written");
}

#[test]
fn only_the_user_can_read_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let memory = filled(&folder);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(memory.place()), mode(memory.place().parent().unwrap())), (0o600, 0o700));
    let left: Vec<_> = fs::read_dir(memory.place().parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left beside it");
}

#[test]
fn a_new_measurement_takes_the_place_of_the_old_one_and_a_contradicted_path_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let memory = filled(&folder);
    memory.keep(key(8), Some(FOUND), MTU, NOW).unwrap();
    memory.keep(key(7), Some(PathEstimate { rate_bps: 5_000_000, ..FOUND }), MTU, NOW + 1).unwrap();
    assert_eq!(memory.recall(key(7), NOW + 1).unwrap().unwrap().rate_bps, 5_000_000);
    memory.keep(key(7), None, MTU, NOW + 2).unwrap();
    assert_eq!(memory.recall(key(7), NOW + 2).unwrap(), None);
    assert!(memory.recall(key(8), NOW + 2).unwrap().is_some());
}

#[test]
fn the_oldest_paths_leave() {
    let folder = tempfile::tempdir().unwrap();
    let memory = memory(&folder);
    let key =
        |n: usize| PathKey { local: [10, 0, 0, 1].into(), peer: [10, 1, (n >> 8) as u8, n as u8].into() };
    let all: Vec<Entry> = (0..MAX_PATHS)
        .map(|n| Entry {
            key: key(n),
            rate_bps: 1_000_000,
            rtt_min_ns: MS,
            saved_unix_s: NOW + n as u64,
            mtu_bytes: None,
        })
        .collect();
    write(memory.place(), text::encode(&all).as_bytes()).unwrap();
    let later = NOW + MAX_PATHS as u64;
    memory.keep(key(MAX_PATHS), Some(FOUND), MTU, later).unwrap();
    assert_eq!(memory.recall(key(0), later).unwrap(), None);
    assert!(memory.recall(key(1), later).unwrap().is_some());
    assert_eq!(text(&memory).lines().count(), MAX_PATHS + 2);
    assert!(text(&memory).len() < 64 * 1024);
}

#[test]
fn every_part_of_a_file_is_told_from_the_whole_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let memory = filled(&folder);
    memory.keep(key(8), Some(FOUND), MTU, NOW).unwrap();
    let whole = text(&memory);
    for length in 0..whole.len() {
        fs::write(memory.place(), &whole[..length]).unwrap();
        assert!(memory.recall(key(7), NOW).is_err(), "{length}");
    }
    fs::write(memory.place(), &whole[..whole.len() / 2]).unwrap();
    memory.keep(key(9), Some(FOUND), MTU, NOW).unwrap();
    assert!(memory.recall(key(9), NOW).unwrap().is_some());
}

#[test]
fn every_changed_digit_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let memory = filled(&folder);
    let whole = text(&memory).into_bytes();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(memory.place(), &changed).unwrap();
        assert!(memory.recall(key(7), NOW).is_err(), "{at}");
    }
}

#[test]
fn what_is_too_old_from_the_future_or_absurd_is_not_used_and_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let memory = memory(&folder);
    let entry =
        Entry { key: key(7), rate_bps: 1_000_000, rtt_min_ns: MS, saved_unix_s: NOW, mtu_bytes: None };
    for bad in [
        Entry { saved_unix_s: NOW + 1, ..entry },
        Entry { saved_unix_s: u64::MAX, ..entry },
        Entry { saved_unix_s: 0, ..entry },
        Entry { saved_unix_s: NOW - 25 * 3600, ..entry },
        Entry { rate_bps: 0, ..entry },
        Entry { rate_bps: u64::MAX, ..entry },
        Entry { rtt_min_ns: 0, ..entry },
        Entry { rtt_min_ns: u64::MAX, ..entry },
    ] {
        write(memory.place(), text::encode(&[bad]).as_bytes()).unwrap();
        assert_eq!(memory.recall(key(7), NOW).unwrap(), None, "{bad:?}");
        memory.keep(key(8), Some(FOUND), MTU, NOW).unwrap();
        assert_eq!(text(&memory).lines().count(), 3, "{bad:?} leaves");
    }
}

#[test]
fn what_is_not_ours_is_neither_used_nor_replaced() {
    let folder = tempfile::tempdir().unwrap();
    for foreign in ["a letter\n", "skyhaul-paths 3\nsomething later\n", "skyhaul-pathology 1\n", "\u{0}"] {
        let memory = PathMemory::at(folder.path().join("paths"));
        fs::write(memory.place(), foreign).unwrap();
        assert!(memory.recall(key(7), NOW).is_err(), "{foreign:?}");
        assert!(memory.keep(key(7), Some(FOUND), MTU, NOW).is_err(), "{foreign:?}");
        assert_eq!(text(&memory), foreign);
    }
}

#[test]
fn folders_links_large_files_and_those_that_others_may_write_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let memory = filled(&folder);
    let refused = |memory: &PathMemory| {
        let (recalled, kept) = (memory.recall(key(7), NOW), memory.keep(key(7), None, MTU, NOW));
        recalled.is_err() && kept.is_err()
    };
    assert!(refused(&PathMemory::at(folder.path().to_path_buf())), "a folder");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(memory.place(), &link).unwrap();
    assert!(refused(&PathMemory::at(link)), "a link");
    assert!(refused(&PathMemory::at("/dev/null".into())), "a device");
    fs::set_permissions(memory.place(), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(refused(&memory), "others may write it");
    let large = PathMemory::at(folder.path().join("large"));
    fs::write(large.place(), vec![b' '; 70_000]).unwrap();
    assert!(refused(&large), "large");
}

#[test]
fn what_cannot_be_written_leaves_the_old_file_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let beneath = PathMemory::at(filled(&folder).place().join("beneath/paths"));
    assert!(beneath.keep(key(7), Some(FOUND), MTU, NOW).is_err(), "a file is no folder");
    let taken = folder.path().join("taken");
    fs::create_dir(&taken).unwrap();
    assert!(write(&taken, b"text").is_err(), "written, but no file can take the place of a folder");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left of it");
    let gone = PathMemory::at("/proc/none/paths".into());
    assert!(matches!(gone.keep(key(7), Some(FOUND), MTU, NOW), Err(FileError::Io(_))));
    assert!(memory(&folder).recall(key(7), NOW).unwrap().is_some());
}

#[test]
fn the_example_of_the_page_is_such_a_file() {
    let page = include_str!("../../../../docs/spec/remembered-paths.md");
    let begins = page.find("skyhaul-paths 2\n").unwrap();
    let example = page[begins..].split_once("```").unwrap().0;
    let entries = text::decode(example.as_bytes()).unwrap();
    assert_eq!((entries.len(), entries[0].key), (1, key(7)));
    assert_eq!(*text::encode(&entries), example);
}
