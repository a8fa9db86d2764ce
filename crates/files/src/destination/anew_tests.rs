//! A directory that is removed, and what stands in its place.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::PathBuf;

use super::*;

/// A directory that was opened and removed, and the folder around it.
fn removed() -> (tempfile::TempDir, PathBuf, Destination) {
    let folder = tempfile::tempdir().unwrap();
    let inbox = folder.path().join("inbox");
    fs::create_dir(&inbox).unwrap();
    let destination = Destination::open(&inbox).unwrap();
    assert!(!destination.is_removed());
    fs::remove_dir(&inbox).unwrap();
    assert!(destination.is_removed());
    (folder, inbox, destination)
}

#[test]
fn a_directory_that_was_made_anew_is_gone_on_in() {
    let (_folder, inbox, destination) = removed();
    fs::create_dir(&inbox).unwrap();
    let anew = destination.made_anew().unwrap();
    assert!(!anew.is_removed() && destination.is_removed());
    drop(anew.create_part().unwrap());
    assert_eq!(fs::read_dir(&inbox).unwrap().count(), 0, "the checks leave nothing");
}

#[test]
fn nothing_at_its_place_is_said_and_may_come_later() {
    let (_folder, inbox, destination) = removed();
    let refused = destination.made_anew().unwrap_err();
    assert_eq!(refused.code, Code::Storage);
    assert!(refused.text().starts_with("the destination was removed, and there is none"), "{refused}");
    fs::write(&inbox, b"a file").unwrap();
    assert!(destination.made_anew().is_err());
    fs::remove_file(&inbox).unwrap();
    fs::create_dir(&inbox).unwrap();
    assert!(destination.made_anew().is_ok());
}

/// Whoever may write around it could have files delivered wherever the receiver may write.
#[test]
fn no_link_in_its_place_and_nobody_elses_directory_is_taken() {
    let (folder, inbox, destination) = removed();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &inbox).unwrap();
    assert!(destination.made_anew().is_err());
    fs::remove_file(&inbox).unwrap();
    fs::create_dir(&inbox).unwrap();
    if chown(&inbox, Some(1234), None).is_ok() {
        assert!(destination.made_anew().unwrap_err().text().ends_with("another owner"));
    }
}

#[test]
fn a_link_that_the_user_named_is_followed_to_where_it_led() {
    let folder = tempfile::tempdir().unwrap();
    let (inbox, link) = (folder.path().join("inbox"), folder.path().join("link"));
    fs::create_dir(&inbox).unwrap();
    symlink(&inbox, &link).unwrap();
    let destination = Destination::open(&link).unwrap();
    fs::remove_dir(&inbox).unwrap();
    fs::create_dir(&inbox).unwrap();
    assert!(destination.made_anew().is_ok());
}
