//! Sources that can be sent, and changes of files under the reader.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn folder_with(name: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    (folder, path)
}

fn not_a_file(path: &Path) -> &'static str {
    match Source::open(path) {
        Err(SourceError::NotAFile { kind, .. }) => kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_regular_files_pass() {
    let (folder, path) = folder_with("a", b"content");
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_eq!(Source::open(path).unwrap().size(), 7);
    assert_eq!(not_a_file(folder.path()), "directory");
    assert_eq!(not_a_file(&pipe), "named pipe");
    assert_eq!(not_a_file(&socket), "socket");
    assert_eq!(not_a_file(Path::new("/dev/null")), "device");
}

#[test]
fn a_link_to_a_file_is_followed_and_keeps_its_own_name() {
    let (folder, path) = folder_with("a", b"content");
    let link = folder.path().join("b");
    symlink(path, &link).unwrap();
    assert_eq!(Source::open(link).unwrap().name().as_bytes(), b"b");
}

#[test]
fn what_is_missing_is_named_and_escaped() {
    let error = Source::open("/no/such\nfile").unwrap_err().to_string();
    assert!(error.starts_with("cannot open '/no/such\\nfile': No such file"), "{error}");
}

#[test]
fn unfinished_files_are_not_sent() {
    let (_folder, path) = folder_with(".x.skyhaul-part", b"half");
    assert!(matches!(Source::open(path), Err(SourceError::Name { source: NameError::Unfinished, .. })));
}

#[test]
fn the_executable_bit_is_seen() {
    let (_folder, path) = folder_with("run", b"#!/bin/sh");
    let source = Source::open(&path).unwrap();
    assert!(!source.begin().unwrap().executable());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(source.begin().unwrap().executable());
}

fn complaint(reading: &Reading) -> String {
    reading.unchanged().unwrap_err().to_string()
}

#[test]
fn changes_while_reading_are_noticed() {
    let (_folder, path) = folder_with("a", b"0123456789");
    let begin = || Source::open(&path).unwrap().begin().unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();

    let reading = begin();
    assert_eq!(reading.unchanged(), Ok(()));
    file.set_len(11).unwrap();
    assert_eq!(complaint(&reading), "the file grew while it was being sent");

    let reading = begin();
    file.set_len(5).unwrap();
    assert_eq!(complaint(&reading), "the file shrank while it was being sent");
    assert_eq!(
        reading.read(0, &mut [0; 11]).unwrap_err().to_string(),
        "the file shrank while it was being sent"
    );

    let reading = begin();
    file.write_all(b"x").unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(complaint(&reading), "the file changed while it was being sent");
}

#[test]
fn a_file_that_vanished_before_its_turn_is_called_so() {
    let (_folder, path) = folder_with("a", b"0123456789");
    let source = Source::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let reason = begin_reason(&source.begin().unwrap_err());
    assert_eq!((reason.code, reason.text()), (Code::Changed, "the file vanished before it was its turn"));
}

#[test]
fn a_file_that_hides_its_size_is_not_sent_as_empty() {
    let Ok(source) = Source::open("/proc/self/status") else { return eprintln!("skipped: no /proc here") };
    let reading = source.begin().unwrap();
    assert_eq!(reading.size(), 0);
    let said = complaint(&reading);
    assert!(
        said.starts_with("the file says that it is empty, and is not") && said.contains("send -"),
        "{said}"
    );
}

/// A stream that fails after some bytes.
struct Failing(usize);

impl io::Read for Failing {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.min(room.len());
        self.0 -= bytes;
        if bytes == 0 { Err(io::Error::other("the producer is gone")) } else { Ok(bytes) }
    }
}

#[test]
fn a_stream_is_kept_until_its_size_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let content: Vec<u8> = (0..600_000u32).map(|i| (i % 251) as u8).collect();
    let name = || FileName::new("stdin").unwrap();
    for place in [folder.path(), Path::new("/nowhere")] {
        let source = Source::spool(&content[..], name(), place).unwrap();
        assert_eq!(source.size(), 600_000);
        let reading = source.begin().unwrap();
        let mut room = vec![0; 1000];
        reading.read(500_000, &mut room).unwrap();
        assert_eq!(room, content[500_000..501_000]);
        reading.unchanged().unwrap();
    }
    let error = Source::spool(Failing(300_000), name(), folder.path()).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the standard input: the producer is gone");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

/// Of a file that was closed while its result is waited for chunks may be wanted again.
#[test]
fn what_was_closed_is_read_anew_if_it_is_the_file_of_before() {
    let (folder, path) = folder_with("file", b"content");
    let mut reading = Source::open(&path).unwrap().begin().unwrap();
    assert!(reading.close() && !reading.close(), "it is closed once");
    let mut room = [0; 4];
    reading.read(3, &mut room).unwrap();
    assert_eq!(&room, b"tent");
    reading.unchanged().unwrap();
    fs::write(folder.path().join("other"), b"contents").unwrap();
    fs::rename(folder.path().join("other"), &path).unwrap();
    assert!(complaint(&reading).contains("grew") && reading.read(3, &mut room).is_err());
    fs::remove_file(&path).unwrap();
    assert!(complaint(&reading).contains("vanished"), "{}", complaint(&reading));
    assert!(!Source::from_bytes("m", "x").unwrap().begin().unwrap().close(), "nothing is open");
}
