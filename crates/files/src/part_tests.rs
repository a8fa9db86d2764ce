//! Publishing, racing for a name, and leaving nothing behind.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::*;
use crate::limits::PART_SUFFIX;

fn name(text: &str) -> FileName {
    FileName::new(text).unwrap()
}

/// A folder of which unfinished files have hidden names, as on systems that know nothing else.
fn setting() -> (tempfile::TempDir, Destination) {
    let (folder, destination) = own_setting();
    (folder, destination.with_names_only())
}

/// A folder of which unfinished files are what this system can do best.
fn own_setting() -> (tempfile::TempDir, Destination) {
    let folder = tempfile::tempdir().unwrap();
    let destination = Destination::open(folder.path()).unwrap();
    (folder, destination)
}

fn entries(folder: &tempfile::TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn it_is_hidden_and_private_until_it_is_published() {
    let (folder, destination) = setting();
    let mut part = PartFile::create(&destination, name("a"), Traits::default()).unwrap();
    write(&part.file(), b"content", 0).unwrap();
    let [hidden] = &entries(&folder)[..] else { panic!() };
    assert!(hidden.starts_with('.') && hidden.ends_with(PART_SUFFIX));
    let mode = fs::metadata(folder.path().join(hidden)).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    part.publish(false).unwrap();
    drop(part);
    assert_eq!(entries(&folder), ["a"]);
}

#[test]
fn dropping_it_removes_it() {
    let (folder, destination) = setting();
    drop(PartFile::create(&destination, name("a"), Traits::default()).unwrap());
    assert!(entries(&folder).is_empty());
}

#[test]
fn of_two_that_race_for_a_name_one_wins() {
    let (folder, destination) = setting();
    let mut parts = [b"first", b"later"].map(|content| {
        let part = PartFile::create(&destination, name("a"), Traits::default()).unwrap();
        write(&part.file(), content, 0).unwrap();
        part
    });
    assert_eq!(parts[0].publish(false), Ok(()));
    assert_eq!(parts[1].publish(false).unwrap_err().code, Code::Exists);
    drop(parts);
    assert_eq!(entries(&folder), ["a"]);
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"first");
}

#[test]
fn linking_is_as_careful_as_renaming() {
    let (folder, destination) = setting();
    let part = PartFile::create(&destination, name("a"), Traits::default()).unwrap();
    fs::write(folder.path().join("taken"), b"old").unwrap();
    let directory = destination.directory();
    let hidden = part.hidden.clone().unwrap();
    assert_eq!(link_then_unlink(directory, &hidden, b"taken"), Err(Errno::EXIST));
    assert_eq!(link_then_unlink(directory, &hidden, b"a"), Ok(()));
    drop(part);
    let mut left = entries(&folder);
    left.sort();
    assert_eq!(left, ["a", "taken"]);
}

#[test]
fn a_link_under_the_final_name_is_never_followed() {
    let (folder, destination) = setting();
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, b"precious").unwrap();
    symlink(&elsewhere, folder.path().join("a")).unwrap();
    let mut part = PartFile::create(&destination, name("a"), Traits::default()).unwrap();
    assert_eq!(part.publish(false).unwrap_err().code, Code::Exists);
    part.publish(true).unwrap();
    assert_eq!(fs::read(elsewhere).unwrap(), b"precious");
    assert!(fs::symlink_metadata(folder.path().join("a")).unwrap().is_file());
}

#[test]
fn the_umask_decides_the_final_mode() {
    let (folder, destination) = setting();
    fs::write(folder.path().join("usual"), b"").unwrap();
    let usual = fs::metadata(folder.path().join("usual")).unwrap().permissions().mode() & 0o777;
    let mode = |executable| destination.final_mode(executable).as_raw_mode();
    assert_eq!(mode(false), usual);
    assert_eq!(mode(true), usual | ((usual & 0o444) >> 2));
}

#[test]
fn it_gets_the_time_that_it_was_told() {
    let (folder, destination) = setting();
    for (seconds, nanos) in [(1_000_000_000, 123_456_789), (-1, 0)] {
        let traits = Traits { modified: Some(Modified { seconds, nanos }), ..Traits::default() };
        let mut part = PartFile::create(&destination, name("a"), traits).unwrap();
        write(&part.file(), b"content", 0).unwrap();
        part.seal();
        part.publish(true).unwrap();
        let found = fs::metadata(folder.path().join("a")).unwrap();
        assert_eq!((found.mtime(), found.mtime_nsec()), (seconds, i64::from(nanos)));
    }
}

#[test]
fn what_nobody_holds_is_removed_and_nothing_else() {
    let (folder, destination) = setting();
    let held = PartFile::create(&destination, name("a"), Traits::default()).unwrap();
    let abandoned = format!(".0123456789abcdef{PART_SUFFIX}");
    let others = [format!(".short{PART_SUFFIX}"), format!("0123456789abcdef{PART_SUFFIX}"), "plain".into()];
    for name in others.iter().chain([&abandoned]) {
        fs::write(folder.path().join(name), b"x").unwrap();
    }
    symlink("plain", folder.path().join(format!(".fedcba9876543210{PART_SUFFIX}"))).unwrap();
    assert_eq!(destination.remove_abandoned(), 1);
    assert_eq!(entries(&folder).len(), 5, "the held one, three others, and a link");
    assert!(!entries(&folder).contains(&abandoned));
    drop(held);
    assert_eq!((destination.remove_abandoned(), entries(&folder).len()), (0, 4));
}

#[test]
fn it_has_no_name_where_the_system_can_and_behaves_alike() {
    let (folder, destination) = own_setting();
    let mut part = PartFile::create(&destination, name("a"), Traits::default()).unwrap();
    if part.hidden.is_some() {
        return; // this file system has only files with names
    }
    write(&part.file(), b"content", 0).unwrap();
    assert!(entries(&folder).is_empty(), "nothing is left of it however the process ends");
    let mut late = PartFile::create(&destination, name("a"), Traits::default()).unwrap();
    write(&late.file(), b"replaced", 0).unwrap();
    part.publish(false).unwrap();
    assert_eq!(late.publish(false).unwrap_err().code, Code::Exists);
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"content");
    late.publish(true).unwrap();
    drop((part, late));
    assert_eq!(entries(&folder), ["a"]);
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"replaced");
}

#[test]
fn what_was_put_in_its_place_is_not_called_delivered() {
    for overwrite in [false, true] {
        let (folder, destination) = setting();
        let mut part = PartFile::create(&destination, name("a"), Traits::default()).unwrap();
        write(&part.file(), b"content", 0).unwrap();
        let [hidden] = &entries(&folder)[..] else { panic!() };
        fs::remove_file(folder.path().join(hidden)).unwrap();
        symlink("/etc/passwd", folder.path().join(hidden)).unwrap();
        let reason = part.publish(overwrite).unwrap_err();
        assert_eq!(reason.code, Code::Storage);
        assert!(reason.text().contains("look who can write"), "{reason}");
        assert!(!folder.path().join("a").exists());
    }
}
